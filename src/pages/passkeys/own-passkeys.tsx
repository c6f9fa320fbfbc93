import type { StoredPasskey } from '../../platform/directory/passkeys.ts'
import type { Words } from '../../platform/documents/texts.ts'
import { ApiError } from '../../platform/errors.ts'
import type { Values } from '../base/page.ts'
import { Data } from '../parts/data.tsx'
import { InputField } from '../parts/forms.tsx'
import { askNewPasskey, type Confirmation, readNewPasskey, requireConfirmed } from './confirmed.ts'
import { PasskeyForm } from './parts.tsx'
import { typedName } from './sign-in.tsx'
import { type OwnPasskeys, passkeyWords } from './site.ts'

// The passkeys of a member who is signed in.

/** The passkeys that a member may have. */
const MAX_PASSKEYS = 20

const purposeOf = ({ session }: OwnPasskeys) => `add ${session.id}`

/** The form that makes a passkey. */
export type NewPasskey = Awaited<ReturnType<typeof askForPasskey>>

/** Returns what the form that makes a passkey asks its member for. `at` is the page below the home of the site. */
async function askForPasskey(own: OwnPasskeys, at: string) {
  const { site, session, owner, csrf } = own
  const whom = { member: session.member, name: owner, keys: await own.list() }
  const asked = await askNewPasskey(site, { at, purpose: purposeOf(own), ...whom })
  return { ...asked, values: { csrf, change: 'add' } }
}

/** Renders the form that makes a passkey, which a passkey has just been asked to confirm. */
export const NewPasskeyForm = ({ asked }: { asked: NewPasskey }) => (
  <PasskeyForm {...asked}>
    <InputField
      id="name"
      name="name"
      label={asked.words.passkey_name}
      attributes={{ maxlength: 100 }}
    />
  </PasskeyForm>
)

/** Renders the passkeys of a member, and the forms that remove one and add another. */
export const Passkeys = (props: {
  own: OwnPasskeys
  keys: readonly StoredPasskey[]
  confirmation: Confirmation
  /** The form that makes one, once this is confirmed. */
  asked?: NewPasskey | undefined
  timeText(instant: string): string
}) => {
  const { own, keys, confirmation, asked, timeText } = props
  const { csrf, session } = own
  const { words } = confirmation
  return (
    <>
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
              {words.passkey_added}: {timeText(key.created_at)} · {words.passkey_used}:{' '}
              {timeText(key.last_used_at)}
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
      {asked ? (
        <NewPasskeyForm asked={asked} />
      ) : (
        <PasskeyForm
          {...confirmation}
          submit={words.passkey_add}
          values={{ csrf, change: 'confirm-add' }}
        />
      )}
    </>
  )
}

const refused = (own: OwnPasskeys, why: keyof Words) =>
  new ApiError('invalid_request', { detail: passkeyWords(own.site).words[why] })

/**
 * Returns the form that makes a passkey, once a passkey has confirmed that: whoever has only the cookie of a session
 * could otherwise add one of their own, and confirm with it. Throws `invalid_request`.
 */
export async function confirmNewPasskey(own: OwnPasskeys, at: string, form: Values) {
  await requireConfirmed(own, at, form)
  return askForPasskey(own, at)
}

/** Removes a passkey of the member, unless it is their last one. Throws `invalid_request`. */
export async function removePasskey(own: OwnPasskeys, at: string, form: Values): Promise<void> {
  await requireConfirmed(own, at, form)
  const credential_id = form('credential_id')
  const keys = await own.list()
  if (keys.every((one) => one.credential_id === credential_id)) throw refused(own, 'passkey_last')
  await own.remove(credential_id)
}

/** Adds a passkey to the member. Throws `invalid_request`. */
export async function addPasskey(own: OwnPasskeys, form: Values): Promise<void> {
  const { site } = own
  const made = await readNewPasskey(site, purposeOf(own), form)
  if (typeof made === 'string') throw refused(own, made)
  const { length } = await own.list()
  if ((await site.find(made.credential_id)) || length >= MAX_PASSKEYS)
    throw refused(own, 'cancelled')
  const { first_passkey } = passkeyWords(site).words
  const other = `${first_passkey.replace('1', '')}${length + 1}`
  await own.insert({ ...made, name: typedName(form('name'), other) })
}
