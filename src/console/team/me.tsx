import type { Change, Page, Visit } from '../../pages/base/page.ts'
import { timeWords } from '../../pages/parts/data.tsx'
import { askConfirmation } from '../../pages/passkeys/confirmed.ts'
import { ownPasskeys } from '../../pages/passkeys/console.tsx'
import {
  addPasskey,
  confirmNewPasskey,
  type NewPasskey,
  NewPasskeyForm,
  Passkeys,
  removePasskey,
} from '../../pages/passkeys/own-passkeys.tsx'
import type { OwnPasskeys } from '../../pages/passkeys/site.ts'
import { ApiError } from '../../platform/errors.ts'

const AT = '/me'

const NOBODY = 'You are signed in with the key of the service, which is nobody in particular.'

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
    show: (asked) => <NewPasskeyForm asked={asked as NewPasskey} />,
  },
  add: {
    done: 'The passkey is added.',
    perform: (values, visit) => addPasskey(requireOwn(visit), values),
  },
  remove: {
    done: 'The passkey is removed. Whoever was signed in with it is signed out.',
    perform: (values, visit) => removePasskey(requireOwn(visit), AT, values),
  },
}

/** The own page of a member: how they sign in, and their keys. */
export const mePage: Page = {
  path: AT,
  changes,
  async render(visit) {
    const own = ownPasskeys(visit)
    const { member } = visit
    if (!own) return { title: member.name, body: <p>{NOBODY}</p> }
    const [keys, confirmation] = await Promise.all([own.list(), askConfirmation(own, AT)])
    const body = (
      <>
        <Passkeys
          {...{ own, keys, confirmation }}
          timeText={(instant) => `${timeWords(instant)} UTC`}
        />
      </>
    )
    return { title: member.name, body }
  },
}
