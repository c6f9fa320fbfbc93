import { ADMIN_KEY_ACTOR } from '../platform/auth/admin-keys.ts'
import { listApprovers } from '../platform/auth/approvers.ts'
import { isAtLeast } from '../platform/auth/roles.ts'
import { ApiError } from '../platform/errors.ts'
import type { Call } from '../platform/http/operation.ts'
import { quote } from '../platform/validation/quote.ts'

// Where an account asks for two persons, nobody sends money alone (§20, law 9).

type Of = Pick<Call, 'env' | 'account'>

const areTwo = ({ account }: Of): boolean => account.approvals > 1

/** Returns the approvers who may decide what others have prepared or entered. */
export async function listOthers(call: Of, persons: ReadonlySet<string>): Promise<string[]> {
  const all = await listApprovers(call.env)
  return areTwo(call) ? all.filter((name) => !persons.has(name)) : [ADMIN_KEY_ACTOR, ...all]
}

async function samePerson(call: Of, why: string, persons: ReadonlySet<string>) {
  const others = (await listOthers(call, persons)).map((name) => quote(name)).join(', ')
  const who = others
    ? `These may: ${others}.`
    : 'Nobody else is an approver: give another person a key in ADMIN_KEYS, or a role in ACCESS_ROLES.'
  return new ApiError('same_person', {
    detail: `${why} This account asks for two persons. ${who}`,
  })
}

/** Refuses the admin key of the service, which nobody has alone, where two persons are asked for. Throws `same_person`. */
export async function requirePerson(call: Of & Pick<Call, 'actor'>): Promise<void> {
  if (!areTwo(call) || call.actor !== ADMIN_KEY_ACTOR) return
  throw await samePerson(call, 'The key of the service is not a person.', new Set())
}

/** Returns whether a caller is an approver, and none of those who prepared or entered what they would decide. */
export const mayDecide = (
  { actor, role, account }: Pick<Call, 'actor' | 'role' | 'account'>,
  persons: ReadonlySet<string>,
): boolean =>
  isAtLeast(role, 'approver') &&
  (account.approvals < 2 || (actor !== ADMIN_KEY_ACTOR && !persons.has(actor)))

/**
 * Refuses those who prepared or entered what they would decide. Throws `same_person`.
 *
 * @param rest What was done nevertheless, as a sentence after a space.
 */
export async function requireOther(
  call: Of & Pick<Call, 'actor'>,
  persons: ReadonlySet<string>,
  rest = '',
): Promise<void> {
  await requirePerson(call)
  if (!areTwo(call) || !persons.has(call.actor)) return
  const why = 'You prepared it, or entered bank details that it uses, so another person decides.'
  throw await samePerson(call, why + rest, persons)
}
