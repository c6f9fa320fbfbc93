import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose'
import { JOSEError } from 'jose/errors'
import { ApiError, badSecret, unavailable } from '../errors.ts'
import { parseAccessRoles } from './access-roles.ts'
import { memoizePerSecret } from './key-cache.ts'
import { highestOf, type Member, type Role } from './roles.ts'

/** The header that Cloudflare Access adds to requests of a signed-in user. */
export const ASSERTION_HEADER = 'Cf-Access-Jwt-Assertion'

/** The public keys of the Access team. jose fetches them when needed and caches them. */
const keysOf = memoizePerSecret((team: string) =>
  createRemoteJWKSet(new URL('/cdn-cgi/access/certs', team)),
)

/** The codes of jose's errors for public keys that could not be fetched. */
const KEY_FETCH_ERRORS = new Set(['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID'])

/** What an assertion says about a user. Identity providers put `groups` there if they are told to. */
interface Claims extends JWTPayload {
  email?: string
  common_name?: string
  groups?: unknown
  custom?: { groups?: unknown }
}

/**
 * Returns the member that an assertion names, or null if the Access team did not sign it for this
 * application.
 *
 * @throws ApiError `unavailable` if the public keys cannot be fetched, `insufficient_role` if the
 * member has no role.
 */
export async function readAssertion(assertion: string, env: Env): Promise<Member | null> {
  const claims = await verify(assertion, env)
  // A service token has a `common_name` instead of an e-mail address. Identity providers keep the letter
  // case that somebody typed: without it, one person could approve a statement twice.
  const actor = claims?.email?.toLowerCase() ?? claims?.common_name ?? claims?.sub
  if (!claims || !actor) return null
  const role = roleOf(claims, actor, env)
  if (role) return { actor, role }
  throw new ApiError('insufficient_role', {
    detail: 'Cloudflare Access admits you, but ACCESS_ROLES gives you no role.',
  })
}

async function verify(assertion: string, { ACCESS_TEAM, ACCESS_AUD }: Env) {
  if (!ACCESS_TEAM || !ACCESS_AUD) return null
  try {
    const { payload } = await jwtVerify<Claims>(assertion, keysOf(ACCESS_TEAM), {
      issuer: ACCESS_TEAM,
      audience: ACCESS_AUD,
      algorithms: ['RS256'],
      requiredClaims: ['exp', 'iat'],
    })
    return payload
  } catch (error) {
    const isInvalid = error instanceof JOSEError && !KEY_FETCH_ERRORS.has(error.code)
    if (!isInvalid) throw unavailable(error)
    return null
  }
}

const accessRoles = memoizePerSecret(parseAccessRoles)

/** Returns the highest role of a user; null if there is none. Without ACCESS_ROLES, all are approvers. */
function roleOf(claims: Claims, actor: string, { ACCESS_ROLES }: Env): Role | null {
  if (!ACCESS_ROLES) return 'approver'
  const { success, output: roles } = accessRoles(ACCESS_ROLES)
  if (!success) throw badSecret('ACCESS_ROLES')
  const names = [actor, ...namesOf(claims.groups), ...namesOf(claims.custom?.groups)]
  const found = names.map((name) => roles.get(name.toLowerCase()))
  return highestOf(found.filter((role) => role !== undefined))
}

/** Returns the names in a claim: some identity providers send one text for one group. */
const namesOf = (groups: unknown): string[] =>
  [groups].flat().filter((group) => typeof group === 'string')
