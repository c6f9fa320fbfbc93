import { isAtLeast } from '../auth/roles.ts'
import { approversOf, invitersOf, ROOT_ACTOR } from '../directory/members.ts'
import { ApiError } from '../errors.ts'
import { quote } from '../validation/quote.ts'
import type { Call } from './operation.ts'

// Where an account asks for two persons, nobody sends money alone (§20, law 9).

type Of = Pick<Call, 'env' | 'account'>

const areTwo = ({ account }: Of): boolean => account.approvals > 1

/** Returns the approvers with a passkey who may decide what others have prepared or entered. */
export async function listOthers(call: Of, persons: ReadonlySet<string>): Promise<string[]> {
  const approvers = await approversOf(call.env.DB, call.account.id)
  const all = approvers.map(({ actor }) => actor)
  return areTwo(call) ? all.filter((name) => !persons.has(name)) : [ROOT_ACTOR, ...all]
}

/**
 * Returns persons and, where two decide, who alone has let in one of them: an approver could otherwise invite a manager
 * of another name, and decide what they prepare under it.
 */
export async function withInviters(
  call: Of,
  persons: Iterable<string>,
): Promise<ReadonlySet<string>> {
  const all = [...persons]
  return new Set(areTwo(call) ? [...all, ...(await invitersOf(call.env.DB, all))] : all)
}

async function samePerson(call: Of, why: string, persons: ReadonlySet<string>) {
  const others = (await listOthers(call, persons)).map((name) => quote(name)).join(', ')
  const who = others
    ? `These may: ${others}.`
    : 'Nobody else is an approver who has registered a passkey: invite another person.'
  return new ApiError('same_person', {
    detail: `${why} This account asks for two persons. ${who}`,
  })
}

/** Refuses the root key, which nobody has alone, where two persons are asked for. Throws `same_person`. */
export async function requirePerson(call: Of & Pick<Call, 'actor'>): Promise<void> {
  if (!areTwo(call) || call.actor !== ROOT_ACTOR) return
  throw await samePerson(call, 'The root key is not a person.', new Set())
}

/** Returns whether a caller is an approver, and none of those who prepared or entered what they would decide. */
export const mayDecide = (
  { actor, role, account }: Pick<Call, 'actor' | 'role' | 'account'>,
  persons: ReadonlySet<string>,
): boolean =>
  isAtLeast(role, 'approver') &&
  (account.approvals < 2 || (actor !== ROOT_ACTOR && !persons.has(actor)))

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
  const why =
    'You prepared it, or entered bank details that it uses, or have invited who did, so another person decides.'
  throw await samePerson(call, why + rest, persons)
}
