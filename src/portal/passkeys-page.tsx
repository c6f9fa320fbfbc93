import type { Context } from 'hono'
import type { Values } from '../pages/base/page.ts'
import { respond } from '../pages/base/respond.ts'
import { askConfirmation, requireConfirmed } from '../pages/passkeys/confirmed.ts'
import {
  addPasskey,
  confirmNewPasskey,
  type NewPasskey,
  Passkeys,
  removePasskey,
} from '../pages/passkeys/own-passkeys.tsx'
import { Problem } from '../pages/passkeys/parts.tsx'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { listAffiliateKeys } from '../platform/directory/affiliate-keys.ts'
import type { Words } from '../platform/documents/texts.ts'
import { ApiError } from '../platform/errors.ts'
import { keepSecret, takeSecret } from './form.tsx'
import { endKey, KEYS_AT, Keys, MadeKey, makeKey, type NewKey } from './keys.tsx'
import { portalPath } from './layout.tsx'
import { MemberPage, timeText } from './member-page.tsx'
import { readMemberForm } from './sign-in.tsx'
import type { MemberVisit } from './visit.ts'

const AT = KEYS_AT

/** What a change has done, by the text that follows it in the address. */
const DONE: ReadonlyMap<string, (words: Words) => string> = new Map([
  ['added', (words: Words) => words.passkey_is_added],
  ['removed', (words: Words) => words.passkey_is_removed],
  ['ended', (words: Words) => words.key_is_ended],
])

/** What a change has made that is shown once. */
interface Made {
  readonly made: NewKey
}

/** What the page says of the last change. */
interface News {
  readonly problem?: string | undefined
  /** The form that was refused: what was typed stays in its fields. */
  readonly form?: Values
  /** The form that makes a passkey, which a passkey has just confirmed. */
  readonly asked?: NewPasskey
}

/** Responds with the keys of the affiliate and the passkeys of the member, and the forms that add one. */
export async function showPasskeys(
  c: Context<AppEnv>,
  visit: MemberVisit,
  { problem, form, asked }: News = {},
): Promise<Response> {
  const { account, words, session, passkeys } = visit
  const [keys, issued, confirmation] = await Promise.all([
    passkeys.list(),
    listAffiliateKeys(c.env.DB, account.id, session.affiliate_id),
    askConfirmation(passkeys, AT),
  ])
  const { made } = await takeSecret<Made>(c, visit)
  const done = DONE.get(c.req.query('done') ?? '')?.(words)
  return respond(
    c,
    <MemberPage visit={visit} here="passkeys" title={words.passkeys} done={done}>
      {problem && <Problem text={problem} />}
      {made && <MadeKey made={made} base={c.env.BASE_URL.replace(/\/$/, '')} />}
      <Passkeys
        {...{ own: passkeys, keys, confirmation, asked }}
        timeText={(instant) => timeText(instant, visit)}
      />
      <Keys
        keys={issued}
        confirmation={confirmation}
        typed={form?.('change') === 'make-key' ? form : () => ''}
      />
    </MemberPage>,
    problem === undefined ? 200 : 422,
  )
}

/** Makes a change of keys or passkeys. Returns what follows it in the address, or the form that makes a passkey. */
async function change(c: Context<AppEnv>, visit: MemberVisit, form: Values) {
  const { passkeys } = visit
  switch (form('change')) {
    case 'end-key':
      await endKey(visit, form('key'))
      return '?done=ended'
    case 'make-key':
      await requireConfirmed(passkeys, AT, form)
      await keepSecret(c, visit, { made: await makeKey(visit, form) } satisfies Made)
      return ''
    case 'confirm-add':
      return confirmNewPasskey(passkeys, AT, form)
    case 'remove':
      await removePasskey(passkeys, AT, form)
      return '?done=removed'
    default:
      await addPasskey(passkeys, form)
      return '?done=added'
  }
}

/** Changes the keys of the affiliate, or adds or removes a passkey of the member. */
export async function changePasskeys(c: Context<AppEnv>, visit: MemberVisit): Promise<Response> {
  const form = await readMemberForm(c, visit)
  try {
    const done = await change(c, visit, form)
    if (typeof done !== 'string') return await showPasskeys(c, visit, { asked: done })
    return c.redirect(portalPath(visit.account.id, AT + done), 303)
  } catch (error) {
    const { code, details } = error instanceof ApiError ? error : new ApiError('internal_error')
    if (code === 'conflict') return showPasskeys(c, visit, { problem: visit.words.keys_full, form })
    if (code !== 'invalid_request') throw error
    return showPasskeys(c, visit, { problem: details.detail, form })
  }
}
