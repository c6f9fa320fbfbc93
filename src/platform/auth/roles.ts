import { type Member, ROLES, type Role } from '../directory/members.ts'
import { ApiError } from '../errors.ts'

export type { Member, Role } from '../directory/members.ts'

/**
 * Of what an operation or a page shows or changes something, for members with a scope: of affiliates, each of which is
 * one's own or not; of the account as a whole; of the firm; or of nobody, such as plans and rates.
 */
export type Shows = 'affiliate' | 'account' | 'firm' | 'public'

/** Returns whether a role includes what another one may do. */
export const isAtLeast = (role: Role, needed: Role): boolean =>
  ROLES.indexOf(role) >= ROLES.indexOf(needed)

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Returns whether a method only reads. */
export const isSafe = (method: string): boolean => SAFE_METHODS.has(method)

/** Says who can do something, and that a member with a role cannot. */
export const roleWords = (role: Role, needed: Role, what: string): string =>
  `Only ${needed === 'manager' ? 'a manager or an approver' : `an ${needed}`} can do this: ${what}. Your role is ${role}.`

/**
 * Refuses a member whose role is too low.
 *
 * @param what What they want to do.
 * @throws ApiError `insufficient_role`
 */
export function requireRole(role: Role, needed: Role, what: string): void {
  if (isAtLeast(role, needed)) return
  throw new ApiError('insufficient_role', { detail: roleWords(role, needed, what) })
}

/** Returns whether a member may be shown what is of affiliates, of an account, of the firm, or of nobody. */
export const mayBeShown = (
  { accounts, affiliates }: Pick<Member, 'accounts' | 'affiliates'>,
  shows: Shows,
): boolean =>
  affiliates === 'all'
    ? accounts === 'all' || shows !== 'firm'
    : shows === 'affiliate' || shows === 'public'
