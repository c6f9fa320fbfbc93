import { env } from 'cloudflare:workers'
import { SignJWT } from 'jose'
import { memberKey } from './members.ts'

/** The key of the team's Access; its public half is served by the outbound service of vitest.config.ts. */
export const teamKey = () =>
  crypto.subtle.importKey(
    'jwk',
    JSON.parse(env.TEAM_KEY),
    { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
    false,
    ['sign'],
  ) as Promise<CryptoKey>

/** Stores the member Ada, an approver, and signs the assertion that Cloudflare Access adds to her requests. */
export async function ofTheTeam(claims: object = {}) {
  await memberKey({ name: 'ada', role: 'approver' })
  return assertionOf(claims)
}

/** Signs the assertion that Cloudflare Access adds to a request that it has let through. */
export const assertionOf = async (claims: object = {}) =>
  new SignJWT({ email: 'ada@team.example', ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: 'team' })
    .setIssuer(env.ACCESS_TEAM)
    .setAudience(env.ACCESS_AUD)
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(await teamKey())
