import { ApiError } from '../errors.ts'

/** The roles of the integrations team. Each may do what the roles before it may. */
export const ROLES = ['viewer', 'manager', 'approver'] as const

/** What a member of the integrations team may do. */
export type Role = (typeof ROLES)[number]

/** A member of the integrations team. The audit log records the `actor`. */
export interface Member {
  readonly actor: string
  readonly role: Role
}

/** Returns whether a value is the name of a role. */
export const isRole = (value: unknown): value is Role => ROLES.some((role) => role === value)

/** Returns whether a role includes what another one may do. */
export const isAtLeast = (role: Role, needed: Role): boolean =>
  ROLES.indexOf(role) >= ROLES.indexOf(needed)

/** Returns the highest of these roles; null if there is none. */
export const highestOf = (roles: readonly Role[]): Role | null =>
  ROLES.findLast((role) => roles.includes(role)) ?? null

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
