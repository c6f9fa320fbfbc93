import type { Change, Page, Visit } from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import { Data, timeWords } from '../../pages/parts/data.tsx'
import { ChangeForm, Field, FoldedForm } from '../../pages/parts/forms.tsx'
import { secretOf } from '../../pages/parts/rotation.tsx'
import { Table } from '../../pages/parts/table.tsx'
import {
  askConfirmation,
  type Confirmation,
  requireConfirmed,
} from '../../pages/passkeys/confirmed.ts'
import { ownPasskeys } from '../../pages/passkeys/console.tsx'
import {
  addPasskey,
  confirmNewPasskey,
  type NewPasskey,
  NewPasskeyForm,
  Passkeys,
  removePasskey,
} from '../../pages/passkeys/own-passkeys.tsx'
import { PasskeyForm } from '../../pages/passkeys/parts.tsx'
import type { OwnPasskeys } from '../../pages/passkeys/site.ts'
import { addressDigest, readStops, resumeMail, stopMail } from '../../people/db/recipients.ts'
import { endMyKey, listMyKeys, makeMyKey } from '../../people/operations/me.ts'
import type { Role } from '../../platform/auth/roles.ts'
import { hasMail } from '../../platform/directory/outbox.ts'
import { ApiError } from '../../platform/errors.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { roleOptions } from './team.tsx'

const AT = '/me'

const NOBODY =
  'You are signed in with the root key, which is nobody in particular. It has no passkeys and no keys of its own.'

/** Returns the passkeys of the member. Throws `conflict` for the key of the service. */
function requireOwn(visit: Visit): OwnPasskeys {
  const own = ownPasskeys(visit)
  if (own) return own
  throw new ApiError('conflict', { detail: NOBODY })
}

const changes: Readonly<Record<string, Change>> = {
  'confirm-add': {
    done: '',
    perform: (values, visit) => confirmNewPasskey(requireOwn(visit), AT, values),
    show: (asked) => (
      <>
        <p>Now the device that you want to add makes its passkey.</p>
        <NewPasskeyForm asked={asked as NewPasskey} />
      </>
    ),
  },
  add: {
    done: 'The passkey is added.',
    perform: (values, visit) => addPasskey(requireOwn(visit), values),
  },
  'mail-off': {
    done: 'You get no more e-mails, but those about security.',
    perform: async (_values, visit) =>
      stopMail(visit.c.env.DB, { account: '', address: await addressOf(visit), reason: 'off' }),
  },
  'mail-on': {
    done: 'You get e-mails again.',
    perform: async (_values, visit) => resumeMail(visit.c.env.DB, '', await addressOf(visit)),
  },
  remove: {
    done: 'The passkey is removed. Whoever was signed in with it is signed out.',
    perform: (values, visit) => removePasskey(requireOwn(visit), AT, values),
  },
  'make-key': {
    done: secretOf('The key is made.', 'member_key'),
    async perform(values, visit) {
      await requireConfirmed(requireOwn(visit), AT, values)
      const role = values('role') as Role
      return visit.api.call(makeMyKey, { name: values('name').trim(), role })
    },
  },
  'end-key': calling(endMyKey, 'The key is ended.'),
}

type Key = AnswerOf<typeof listMyKeys>['data'][number]

/** Renders the keys of the member, and the forms that make and end one. */
const Keys = (props: {
  keys: readonly Key[]
  role: Role
  csrf: string
  confirmation: Confirmation
}) => {
  const { keys, role, csrf, confirmation } = props
  return (
    <>
      <h2 id="keys">Keys for programs</h2>
      <p>
        A key lets the command line or a script do what you may do. It is like a password: give it
        to nobody. You have at most 5.
      </p>
      {keys.length > 0 && (
        <Table
          caption="Your keys"
          rows={keys}
          columns={{ Key: ({ name }) => <Data text={name} />, Role: 'role', Made: 'created_at' }}
        />
      )}
      <h3>Make a key</h3>
      <PasskeyForm {...confirmation} submit="Make a key" values={{ csrf, change: 'make-key' }}>
        <Field
          {...{ change: 'make-key', name: 'name', label: 'What the key is for', required: true }}
          attributes={{ maxlength: 100 }}
        />
        <Field
          {...{ change: 'make-key', name: 'role', label: 'What it may do', value: role }}
          options={roleOptions(role)}
        />
      </PasskeyForm>
      {keys.length > 0 && (
        <FoldedForm
          change="end-key"
          title="End a key"
          submit="End the key"
          needs="viewer"
          fields={[
            {
              name: 'key_id',
              label: 'Key',
              options: keys.map(({ id, name }) => [id, name]),
            },
          ]}
        />
      )}
    </>
  )
}

/** Returns the digest of the member's address, for notices. */
const addressOf = ({ member }: Visit) => addressDigest(member.email)

const MAIL = {
  on: 'You get notices by e-mail.',
  off: 'You get no notices by e-mail, but those about security.',
  bounced: 'E-mails to you came back, so nothing is sent to you.',
}

/** Says whether the member gets notices by e-mail, with the button that changes it. */
const ByMail = ({ state }: { state: keyof typeof MAIL }) => (
  <>
    <h2>Notices</h2>
    <p class={state === 'bounced' ? 'notice warn' : undefined}>{MAIL[state]}</p>
    {state === 'on' ? (
      <ChangeForm needs="viewer" change="mail-off" submit="Stop the e-mails" />
    ) : (
      <ChangeForm needs="viewer" change="mail-on" submit="Send me e-mails again" />
    )}
  </>
)

/** The own page of a member: how they sign in, their keys, and how they are told what concerns them. */
export const mePage: Page = {
  path: AT,
  shows: 'public',
  changes,
  async render(visit) {
    const own = ownPasskeys(visit)
    const { member, csrf } = visit
    if (!own) return { title: member.name, body: <p>{NOBODY}</p> }
    const { env } = visit.c
    const address = await addressOf(visit)
    const [keys, confirmation, { data: issued }, stops] = await Promise.all([
      own.list(),
      askConfirmation(own, AT),
      visit.api.call(listMyKeys, {}),
      readStops(env.DB, '', [address]),
    ])
    const body = (
      <>
        <p>
          <Data text={member.email} /> · {member.role}
        </p>
        {keys.length === 0 ? (
          <p class="note">
            You have no passkey. An approver makes a link with which you register one.
          </p>
        ) : (
          <Passkeys
            {...{ own, keys, confirmation }}
            timeText={(instant) => `${timeWords(instant)} UTC`}
          />
        )}
        <Keys {...{ keys: issued, role: member.role, csrf, confirmation }} />
        {hasMail(env) && <ByMail state={stops.get(address) ?? 'on'} />}
      </>
    )
    return { title: member.name, body }
  },
}
