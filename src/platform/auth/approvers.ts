import { parseAccessRoles } from './access-roles.ts'
import { namedHolders } from './admin-keys.ts'

/**
 * Returns the names of the approvers whom the service knows: of ADMIN_KEYS, and of the addresses of ACCESS_ROLES. Whom
 * Cloudflare Access admits by a group, it does not know.
 *
 * @throws ApiError `unavailable` if ADMIN_KEYS is unusable.
 */
export async function listApprovers(env: Env): Promise<string[]> {
  const { output, success } = parseAccessRoles(env.ACCESS_ROLES || '{}')
  const byAddress = success ? [...output].filter(([name]) => name.includes('@')) : []
  const named = (await namedHolders(env)).map(({ actor, role }) => [actor, role] as const)
  const approvers = [...named, ...byAddress].filter(([, role]) => role === 'approver')
  return [...new Set(approvers.map(([name]) => name))].sort()
}
