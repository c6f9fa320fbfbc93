import type { Context } from 'hono'
import type { Child } from 'hono/jsx'
import type { AppEnv } from '../auth/authorize.ts'
import type { Values } from '../console/page.ts'
import { showOnce, takeShownOnce } from '../http/shown-once.ts'
import { portalPath } from './layout.tsx'
import type { MemberVisit } from './visit.ts'

/** What was typed into a form that was refused, and why. */
export interface Refused {
  readonly values: Values
  readonly problem: string
}

const placeOf = ({ session }: MemberVisit) => ({
  cookie: 'tributary_portal_done',
  session: session.id,
})

/** Keeps a new secret for the next page of the session, which shows it once. */
export const keepSecret = (c: Context<AppEnv>, visit: MemberVisit, secret: object): Promise<void> =>
  showOnce(c, placeOf(visit), JSON.stringify(secret))

/** Returns and deletes a secret that the last change has made; an empty object if there is none. */
export async function takeSecret<T extends object>(
  c: Context<AppEnv>,
  visit: MemberVisit,
): Promise<Partial<T>> {
  return JSON.parse((await takeShownOnce(c, placeOf(visit))) ?? '{}')
}

/** Renders a form of a member. `at` is the path below that of the account, and `values` what it sends unseen. */
export const MemberForm = (props: {
  visit: MemberVisit
  at: string
  values: Readonly<Record<string, string>>
  submit: string
  /** What the button says to a screen reader, if that differs. */
  label?: string
  /** Whether it is not the main thing to do. */
  isPlain?: boolean
  children?: Child
}) => {
  const { visit, at, values, submit, label, isPlain, children } = props
  return (
    <form
      method="post"
      action={portalPath(visit.account.id, at)}
      class={children === undefined ? undefined : 'change'}
    >
      <input type="hidden" name="csrf" value={visit.csrf} />
      {Object.entries(values).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      {children}
      <button type="submit" class={isPlain ? 'plain' : undefined} aria-label={label}>
        {submit}
      </button>
    </form>
  )
}

/** Renders a text with a button that copies it. */
export const Copied = ({ visit, text }: { visit: MemberVisit; text: string }) => (
  <code class="secret" data-copy={visit.words.copy} data-copied={visit.words.copied}>
    {text}
  </code>
)
