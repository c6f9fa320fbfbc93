import { createAffiliateKey, endAffiliateKeyNow } from '../affiliates/operations/affiliate-keys.ts'
import type { Values } from '../pages/base/page.ts'
import { Data } from '../pages/parts/data.tsx'
import { InputField } from '../pages/parts/forms.tsx'
import type { Confirmation } from '../pages/passkeys/confirmed.ts'
import { PasskeyForm } from '../pages/passkeys/parts.tsx'
import { typedName } from '../pages/passkeys/sign-in.tsx'
import { parseAffiliateActor } from '../platform/auth/grant.ts'
import type { AffiliateKeyRow } from '../platform/directory/affiliate-keys.ts'
import { fill } from '../platform/languages.ts'
import { Copied, MemberForm } from './form.tsx'
import { timeText } from './member-page.tsx'
import { type MemberVisit, useMemberVisit } from './visit.ts'

/** The path of the page with keys and passkeys below that of the account's portal. */
export const KEYS_AT = '/passkeys'

/** A key as it is shown once. */
export type NewKey = Pick<Awaited<ReturnType<typeof createAffiliateKey>>, 'affiliate_key' | 'name'>

const isAlive = ({ ends_at }: AffiliateKeyRow, now: number): boolean =>
  ends_at === null || ends_at > now

/** Says who made a key, when, what it may do, and when it ends. */
function keyText(visit: MemberVisit, key: AffiliateKeyRow): string {
  const { words, account } = visit
  const { scope, created_at, created_by, ends_at, last_used_on } = key
  const isOwn = parseAffiliateActor(created_by) !== null
  const made = fill(isOwn ? words.key_made_here : words.key_made_by_firm, {
    account: account.name,
    time: timeText(created_at, visit),
  })
  const can = scope === 'read' ? words.key_reads : words.key_changes
  return [
    made,
    can,
    last_used_on === null
      ? words.key_unused
      : fill(words.key_used, { day: visit.speech.day(last_used_on) }),
    ...(ends_at === null
      ? []
      : [fill(words.key_ends, { time: timeText(new Date(ends_at).toISOString(), visit) })]),
  ].join(' ')
}

const callerOf = ({ page: { env }, actor }: MemberVisit) => ({ env, actor })

const OneKey = ({ shown }: { shown: AffiliateKeyRow }, visit = useMemberVisit()) => {
  const { words } = visit
  return (
    <li>
      <p>
        <strong>
          <Data text={shown.name} />
        </strong>
      </p>
      <p class="note">
        <Data text={keyText(visit, shown)} />
      </p>
      <MemberForm
        at={KEYS_AT}
        values={{ change: 'end-key', key: shown.id }}
        submit={words.key_end}
        label={`${words.key_end}: ${shown.name}`}
        isPlain
      />
    </li>
  )
}

/** Renders a key that was made, which is not shown again. */
export const MadeKey = (
  { made, base }: { made: NewKey; base: string },
  { words } = useMemberVisit(),
) => {
  const line = `curl ${base}/affiliate/v1/me -H "Authorization: Bearer ${made.affiliate_key}"`
  return (
    <section class="notice good made-key" role="status">
      <p>
        <Data text={fill(words.key_is_made, { name: made.name })} />
      </p>
      <p>
        <Copied text={made.affiliate_key} />
      </p>
      <p>{words.key_try}</p>
      <p>
        <Copied text={line} />
      </p>
    </section>
  )
}

/** Renders the valid keys of the affiliate, and the form that makes one. */
export const Keys = (
  {
    keys,
    confirmation,
    typed,
  }: {
    keys: readonly AffiliateKeyRow[]
    /** What a new key is confirmed with: it would outlive the stolen session that made it. */
    confirmation: Confirmation
    /** What was typed into the form. */
    typed: Values
  },
  { words, csrf, now } = useMemberVisit(),
) => {
  const alive = keys.filter((key) => isAlive(key, now))
  return (
    <>
      <h2 id="keys">{words.keys}</h2>
      <p>
        {words.keys_lead} <a href="/docs/affiliates">{words.guide}</a>
      </p>
      {alive.length > 0 && (
        <ul class="passkeys">
          {alive.map((key) => (
            <OneKey shown={key} />
          ))}
        </ul>
      )}
      <PasskeyForm {...confirmation} submit={words.key_make} values={{ csrf, change: 'make-key' }}>
        <InputField
          id="key-name"
          name="name"
          label={words.key_name}
          value={typed('name')}
          required
          attributes={{ maxlength: 100 }}
        />
        <InputField
          id="key-scope"
          name="scope"
          label={words.key_may}
          value={typed('scope')}
          options={[
            ['read', words.key_reads],
            ['read links', words.key_changes],
          ]}
        />
      </PasskeyForm>
    </>
  )
}

/** Makes a key of the affiliate by a form. Throws `conflict` if they have as many as they may have. */
export async function makeKey(visit: MemberVisit, form: Values): Promise<NewKey> {
  const { account, session, words } = visit
  const { affiliate_key, name } = await createAffiliateKey(
    callerOf(visit),
    account,
    session.affiliate_id,
    {
      name: typedName(form('name'), words.keys),
      scope: form('scope') === 'read links' ? 'read links' : 'read',
    },
  )
  return { affiliate_key, name }
}

/** Ends a key of the affiliate at once. Throws `not_found`. */
export const endKey = (visit: MemberVisit, id: string): Promise<void> =>
  endAffiliateKeyNow(callerOf(visit), visit.account.id, visit.session.affiliate_id, id)
