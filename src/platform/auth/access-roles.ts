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
  const roles = new Map<string, Role>()
  for (const [name, role] of Object.entries(value)) {
    if (!isRole(role)) {
      throw new Error(`ACCESS_ROLES: the role of ${name} must be one of ${ROLES.join(', ')}.`)
    }
    const folded = name.toLowerCase()
    if (roles.has(folded))
      throw new Error(`ACCESS_ROLES has ${name} twice, in different letter case.`)
    roles.set(folded, role)
  }
  return roles
}
