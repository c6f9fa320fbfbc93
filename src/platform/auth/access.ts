import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose'
import { JOSEError } from 'jose/errors'
import { findMemberByEmail, listMembers, type Member } from '../directory/members.ts'
import { ApiError, unavailable } from '../errors.ts'
import { memoizePerSecret } from './key-cache.ts'

/** The header that Cloudflare Access adds to requests of a signed-in user. */
export const ASSERTION_HEADER = 'Cf-Access-Jwt-Assertion'

/** The public keys of the Access team. jose fetches them when needed and caches them. */
const keysOf = memoizePerSecret((team: string) =>
  createRemoteJWKSet(new URL('/cdn-cgi/access/certs', team)),
)

/** The codes of jose's errors for public keys that could not be fetched. */
const KEY_FETCH_ERRORS = new Set(['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID'])

/** What an assertion says about a user. A service token has no e-mail address. */
interface Claims extends JWTPayload {
  email?: string
}

/**
 * Returns the member that an assertion names by their e-mail address, letter case aside, or null if the Access team did
 * not sign it for this application.
 *
 * @throws ApiError `unavailable` if the public keys cannot be fetched, `insufficient_role` if there is no such member.
 */
export async function readAssertion(assertion: string, env: Env): Promise<Member | null> {
  const claims = await verify(assertion, env)
  if (!claims) return null
  const member = await findMemberByEmail(env.DB, claims.email ?? '')
  if (member) return member
  const approvers = (await listMembers(env.DB)).filter(({ role }) => role === 'approver')
  const who = approvers.map(({ email }) => email).join(', ')
  throw new ApiError('insufficient_role', {
    detail: `Cloudflare Access admits you, but you are not a member of the team. You can be invited by ${who || 'whoever has the root key'}.`,
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
