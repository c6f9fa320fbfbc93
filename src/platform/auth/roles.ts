import { ROLES, type Role } from '../directory/members.ts'
import { ApiError } from '../errors.ts'

export type { Member, Role } from '../directory/members.ts'

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
