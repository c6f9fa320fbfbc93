import { isAtLeast, type Member, mayBeShown, requireRole } from '../auth/roles.ts'
import { accountDatabase } from '../db/database.ts'
import type { Account } from '../db/schema.ts'
import { type Reading, scopedEnv } from '../db/scope.ts'
import { readOwners } from '../directory/affiliates.ts'
import { ApiError } from '../errors.ts'
import type { DescribedOperation } from './operation-words.ts'
import { notFound } from './read-fields.ts'

// The scope of a member of the team: some accounts, and in these all affiliates or their own.

/** Returns whether the role and the scope of a member allow an operation. */
export const mayCall = (
  member: Member,
  { role, shows = 'firm' }: Pick<DescribedOperation, 'role' | 'shows'>,
): boolean => isAtLeast(member.role, role) && mayBeShown(member, shows)

/** Refuses a member whose role or scope does not allow an operation, which it names: `approve statement`. */
export function requireMay({ id, role, shows = 'firm' }: DescribedOperation, member: Member): void {
  const what = id.replaceAll(/[A-Z]+/g, (text) => ` ${text.toLowerCase()}`)
  requireRole(member.role, role, what)
  if (!mayBeShown(member, shows)) throw beyondScope(what)
}

/** Returns the error of what cannot be told for some accounts or affiliates. */
export const beyondScope = (what: string) =>
  new ApiError('insufficient_role', {
    detail: `Only a member of the team for all accounts and affiliates can do this: ${what}.`,
  })

/** What a member with own affiliates has of an account: their ids, and those of their links. */
export type Own = NonNullable<Reading['own']>

/** What a member may read in a call, and how. */
interface Scoped {
  readonly env: Env
  /** Null if they have all affiliates. */
  readonly own: Own | null
}

/** A member of the team who calls. `once` memoizes what the calls of a page share. */
interface ScopedCaller {
  readonly env: Env
  readonly member: Member
  readonly once: <T>(key: string, make: () => Promise<T>) => Promise<T>
}

/** Returns an environment that reads what a member may read in a call about an account, or about none. */
export async function scopeOf(
  { of, shows, method }: DescribedOperation,
  { env, member, once }: ScopedCaller,
  account: Account | null,
): Promise<Scoped> {
  const { accounts, affiliates, id } = member
  const read = () => readOwn(env, id, account)
  const hasAll = affiliates === 'all' || shows === 'public'
  // What a change of the same page has added is theirs.
  const own = hasAll ? null : await (method === 'GET' ? once(`own ${account?.id}`, read) : read())
  const some = of === 'team' && accounts !== 'all' ? { accounts } : {}
  if (!own && !some.accounts) return { env, own }
  return { env: scopedEnv(env, { ...some, ...(own && { own }) }), own }
}

async function readOwn(env: Env, member: string, account: Account | null): Promise<Own> {
  if (!account) return { account: '', owners: [] }
  const databases = { db: accountDatabase(env, account), directory: env.DB }
  return { account: account.id, owners: await readOwners(databases, account.id, member) }
}

/** Refuses a change of an affiliate whom a member does not have, as if there were none. */
export function requireOwn({ owners }: Own, input: unknown): void {
  if (typeof input !== 'object' || input === null) return
  for (const [name, value] of Object.entries(input)) {
    if (name === 'affiliate_id' && !owners.includes(value)) throw notFound('affiliate', value)
    requireOwn({ account: '', owners }, value)
  }
}

/** What stands for an affiliate of somebody else in the scope of a line. */
const ANOTHER = 'affiliate:another affiliate'

/**
 * Returns what a member sees of an answer: of a line for an affiliate of somebody else only what the own one earns.
 *
 * @throws ApiError `insufficient_role` if the answer cannot be told without such an affiliate.
 */
export const visibleTo = (own: Own, answer: object): object => see(own, answer) as object

function see(own: Own, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => see(own, item))
  if (typeof value !== 'object' || value === null) return value
  const isOther = (name: string, one: unknown) =>
    name === 'affiliate_id' && typeof one === 'string' && one !== '*' && !own.owners.includes(one)
  const seen = Object.entries(value).map(([name, one]) => {
    if (isOther(name, one)) throw beyondScope('see what depends on another affiliate')
    return [name, see(own, one)]
  })
  const { scope } = value as { scope?: unknown }
  const [, below] = typeof scope === 'string' ? (/^affiliate:([\s\S]*)$/.exec(scope) ?? []) : []
  const isHidden = below !== undefined && !own.owners.includes(below)
  return {
    ...Object.fromEntries(seen),
    ...(isHidden && { scope: ANOTHER, base: null, units: null }),
  }
}
