import type { Context } from 'hono'
import type { Child } from 'hono/jsx'
import type { Values } from '../pages/base/page.ts'
import { type Input, InputField } from '../pages/parts/forms.tsx'
import { Problem } from '../pages/passkeys/parts.tsx'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { ApiError } from '../platform/errors.ts'
import { showOnce, takeShownOnce } from '../platform/http/shown-once.ts'
import { portalPath } from './layout.tsx'
import { readMemberForm } from './sign-in.tsx'
import { type MemberVisit, useMemberVisit } from './visit.ts'

/** What was typed into a form that was refused, and why. */
export interface Refused {
  readonly values: Values
  readonly problem: string
  readonly error: ApiError
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

/**
 * Returns a handler of the forms of a page. `make` makes the change and returns the address to show next. If the
 * change is refused, `show` shows the page again with what was typed, and why.
 */
export const changesOf =
  (page: {
    make: (visit: MemberVisit, values: Values, c: Context<AppEnv>) => Promise<string>
    /** Returns why a change was refused, in the language of the affiliate; throws what has no words. */
    problemOf: (visit: MemberVisit, error: ApiError, change: string) => string
    show: (c: Context<AppEnv>, visit: MemberVisit, refused: Refused) => Promise<Response>
  }) =>
  async (c: Context<AppEnv>, visit: MemberVisit): Promise<Response> => {
    const values = await readMemberForm(c, visit)
    try {
      return c.redirect(await page.make(visit, values, c), 303)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const problem = page.problemOf(visit, error, values('change'))
      return page.show(c, visit, { values, problem, error })
    }
  }

/** Renders a form of a member. `at` is the path below that of the account, and `values` what it sends unseen. */
export const MemberForm = (
  {
    at,
    values,
    submit,
    label,
    isPlain,
    refused,
    fields = [],
    id,
    children,
  }: {
    at: string
    values: Readonly<Record<string, string>>
    submit: string
    /** What the button says to a screen reader, if that differs. */
    label?: string
    /** Whether it is not the main thing to do. */
    isPlain?: boolean
    /** Why it was refused. */
    refused?: Refused | null
    /** Its fields. Their ids begin with `id`, which no other form of the page has. */
    fields?: readonly Input[]
    id?: string
    children?: Child
  },
  visit = useMemberVisit(),
) => {
  const isShort = children === undefined && fields.length === 0
  return (
    <>
      {refused && <Problem text={refused.problem} />}
      <form
        method="post"
        action={portalPath(visit.account.id, at)}
        class={isShort ? undefined : 'change'}
      >
        <input type="hidden" name="csrf" value={visit.csrf} />
        {Object.entries(values).map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        {fields.map(({ value, ...field }) => (
          <InputField
            {...field}
            id={id ? `${id}-${field.name}` : field.name}
            value={refused?.values(field.name) ?? value}
          />
        ))}
        {children}
        <button type="submit" class={isPlain ? 'plain' : undefined} aria-label={label}>
          {submit}
        </button>
      </form>
    </>
  )
}

/** Renders a text with a button that copies it. */
export const Copied = ({ text }: { text: string }, visit = useMemberVisit()) => (
  <code class="secret" data-copy={visit.words.copy} data-copied={visit.words.copied}>
    {text}
  </code>
)
