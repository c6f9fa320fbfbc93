import { accessRoleOf } from './access.ts'
import { findByName } from './admin-keys.ts'
import type { Role } from './roles.ts'

/**
 * Returns the role that each of these actors has now, by ADMIN_KEYS or by name in ACCESS_ROLES. Those who have
 * left, have a role only by a group, or are no people, such as `cron`, are absent.
 *
 * @throws ApiError `unavailable` if ADMIN_KEY or ADMIN_KEYS is unusable.
 */
export async function rolesNow(
  actors: readonly string[],
  env: Env,
): Promise<ReadonlyMap<string, Role>> {
  const found = [...new Set(actors)].map(async (actor) => {
    const role = (await findByName(actor, env))?.role ?? accessRoleOf(actor, env)
    return role ? [[actor, role] as const] : []
  })
  return new Map((await Promise.all(found)).flat())
}
