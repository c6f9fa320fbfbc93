import { isRole, ROLES, type Role } from './roles.ts'

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch (cause) {
    throw new Error('ACCESS_ROLES is not valid JSON.', { cause })
  }
}

/**
 * Returns the role for each group, e-mail address or service token in ACCESS_ROLES, in lower case.
 *
 * @throws Error that names what is wrong.
 */
export function parseAccessRoles(json: string): ReadonlyMap<string, Role> {
  const value = parseJson(json)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('ACCESS_ROLES must be a JSON object.')
  }
  const roles = Object.entries(value).map(([name, role]): [string, Role] => {
    if (isRole(role)) return [name.toLowerCase(), role]
    throw new Error(`ACCESS_ROLES: the role of ${name} must be one of ${ROLES.join(', ')}.`)
  })
  return new Map(roles)
}
