import type { Context } from 'hono'
import {
  deletePasskey,
  findPasskey,
  insertPasskey,
  listPasskeys,
} from '../affiliates/db/affiliate-passkeys.ts'
import type { Values } from '../pages/base/page.ts'
import { respond } from '../pages/base/respond.ts'
import { Data } from '../pages/parts/data.tsx'
import { InputField } from '../pages/parts/forms.tsx'
import type { AppEnv } from '../platform/auth/authorize.ts'
import {
  creationOptions,
  newChallenge,
  readChallenge,
  useChallenge,
  verifyRegistration,
} from '../platform/auth/passkeys.ts'
import { listAffiliateKeys } from '../platform/directory/affiliate-keys.ts'
import { withAudit } from '../platform/directory/audit.ts'
import { ApiError } from '../platform/errors.ts'
import { askConfirmation, isConfirmed } from './confirmed.ts'
import { keepSecret, takeSecret } from './form.tsx'
import { endKey, KEYS_AT, Keys, MadeKey, makeKey, type NewKey } from './keys.tsx'
import { PasskeyForm, Problem, portalPath } from './layout.tsx'
import { MemberPage, timeText } from './member-page.tsx'
import { readMemberForm, typedName } from './sign-in.tsx'
import type { MemberVisit } from './visit.ts'
import type { Words } from './words.ts'

const AT = KEYS_AT

/** The passkeys that a member may have. */
const MAX_PASSKEYS = 20

const purposeOf = ({ session }: MemberVisit) => `add ${session.id}`

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
  readonly problem?: string
  /** The form that was refused, or that comes back: what was typed stays in its fields. */
  readonly form?: Values
  /** Whether a passkey of the member has just confirmed that another one is added. */
  readonly adds?: true
}

/** Responds with the keys of the affiliate and the passkeys of the member, and the forms that add one. */
export async function showPasskeys(
  c: Context<AppEnv>,
  visit: MemberVisit,
  { problem, form, adds }: News = {},
): Promise<Response> {
  const { account, db, words, session, member, csrf, now } = visit
  const [keys, issued] = await Promise.all([
    listPasskeys(db, session),
    listAffiliateKeys(c.env.DB, account.id, session.affiliate_id),
  ])
  const purpose = purposeOf(visit)
  const confirmation = await askConfirmation(visit, AT)
  // Whoever has only the cookie of a session could otherwise add a passkey of their own, and confirm with it.
  const challenge =
    adds && (await newChallenge(c.env, account.id, purpose, { member: member.id, now }))
  const affiliate = member.display_name ?? member.affiliate_id
  const owner = { member: member.id, name: `${affiliate} · ${account.name}`, service: account.name }
  const { made } = await takeSecret<Made>(c, visit)
  const done = DONE.get(c.req.query('done') ?? '')?.(words)
  return respond(
    c,
    <MemberPage visit={visit} here="passkeys" title={words.passkeys} done={done}>
      {problem && <Problem text={problem} />}
      {made && <MadeKey made={made} base={c.env.BASE_URL.replace(/\/$/, '')} />}
      <h2>{words.passkeys_title}</h2>
      <ul class="passkeys">
        {keys.map((key) => (
          <li class="passkey">
            <p>
              <strong>
                <Data text={key.name} />
              </strong>
              {key.credential_id === session.credential_id && ` ${words.passkey_here}`}
            </p>
            <p class="note">
              {words.passkey_added}: {timeText(key.created_at, visit)} · {words.passkey_used}:{' '}
              {timeText(key.last_used_at, visit)}
            </p>
            {keys.length > 1 && (
              <PasskeyForm
                {...confirmation}
                values={{ csrf, change: 'remove', credential_id: key.credential_id }}
                submit={words.passkey_remove}
                label={`${words.passkey_remove}: ${key.name}`}
                isPlain
              />
            )}
          </li>
        ))}
      </ul>
      {keys.length === 1 && <p class="note">{words.passkey_last}</p>}
      <h3>{words.passkey_add}</h3>
      <p>{words.passkey_add_lead}</p>
      {challenge ? (
        <PasskeyForm
          words={words}
          kind="create"
          action={portalPath(account.id, AT)}
          options={creationOptions(c.env, challenge, owner, keys)}
          state={challenge.state}
          submit={words.register_button}
          values={{ csrf, change: 'add' }}
        >
          <InputField
            id="name"
            name="name"
            label={words.passkey_name}
            attributes={{ maxlength: 100 }}
          />
        </PasskeyForm>
      ) : (
        <PasskeyForm
          {...confirmation}
          submit={words.passkey_add}
          values={{ csrf, change: 'confirm-add' }}
        />
      )}
      <Keys
        keys={issued}
        confirmation={confirmation}
        typed={form?.('change') === 'make-key' ? form : () => ''}
      />
    </MemberPage>,
    problem === undefined ? 200 : 422,
  )
}

/** Makes or ends a key of the affiliate. */
async function changeKeys(c: Context<AppEnv>, visit: MemberVisit, form: Values): Promise<Response> {
  const { words, account } = visit
  if (form('change') === 'end-key') {
    await endKey(visit, form('key'))
    return c.redirect(portalPath(account.id, `${AT}?done=ended`), 303)
  }
  try {
    await keepSecret(c, visit, { made: await makeKey(visit, form) } satisfies Made)
    return c.redirect(portalPath(account.id, AT), 303)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'conflict') throw error
    return showPasskeys(c, visit, { problem: words.keys_full, form })
  }
}

/** Returns the entry of the audit log for a change that a member makes of their passkeys. */
function entryOf({ account, actor, session }: MemberVisit, action: string) {
  const { affiliate_id, member: id } = session
  return { actor, action, account: account.id, details: { affiliate_id, id } }
}

/** The changes that need no fresh passkey: one only takes away, and the other has been confirmed just before. */
const UNCONFIRMED: readonly string[] = ['end-key', 'add']

/** Changes the keys of the affiliate, or adds or removes a passkey of the member. */
export async function changePasskeys(c: Context<AppEnv>, visit: MemberVisit): Promise<Response> {
  const { account, db, words, session, now } = visit
  const form = await readMemberForm(c, visit)
  const change = form('change')
  if (!UNCONFIRMED.includes(change) && !(await isConfirmed(visit, AT, form))) {
    return showPasskeys(c, visit, { problem: words.expired, form })
  }
  if (change.endsWith('-key')) return changeKeys(c, visit, form)
  if (change === 'confirm-add') return showPasskeys(c, visit, { adds: true })
  if (change === 'remove') {
    const credential_id = form('credential_id')
    const others = (await listPasskeys(db, session)).filter(
      (one) => one.credential_id !== credential_id,
    )
    if (others.length === 0) return showPasskeys(c, visit, { problem: words.passkey_last })
    const key = { ...session, credential_id }
    await withAudit(db, entryOf(visit, 'affiliate-passkey.remove'), [deletePasskey(db, key)])
    return c.redirect(portalPath(account.id, `${AT}?done=removed`), 303)
  }
  const keys = await listPasskeys(db, session)
  const state = form('state')
  const expected = await readChallenge(c.env, account.id, purposeOf(visit), { state, now })
  // Otherwise an answer that was seen once could be sent again.
  const isFresh = expected !== null && (await useChallenge(c.env, expected))
  if (!isFresh) return showPasskeys(c, visit, { problem: words.expired })
  const added = await verifyRegistration(c.env, expected.challenge, form('credential'))
  const isKnown =
    added !== null && (await findPasskey(db, account.id, added.credential_id)) !== null
  if (!added || isKnown || keys.length >= MAX_PASSKEYS) {
    return showPasskeys(c, visit, { problem: words.cancelled })
  }
  const at = new Date(now).toISOString()
  const name = typedName(form('name'), `${words.first_passkey.replace('1', '')}${keys.length + 1}`)
  const { affiliate_id, member } = session
  const passkey = { ...added, affiliate_id, member, name, created_at: at, last_used_at: at }
  const entry = entryOf(visit, 'affiliate-passkey.add')
  await withAudit(db, entry, [insertPasskey(db, account.id, passkey)])
  return c.redirect(portalPath(account.id, `${AT}?done=added`), 303)
}
