import { findClient } from '../db/directory/clients.ts'
import { ApiError } from '../errors.ts'
import { clientAddress } from './address.ts'
import { type Credentials, invalidClient } from './client-credentials.ts'
import { withObjectRetry } from './object-retry.ts'
import { digest, isWellFormed } from './secret.ts'

/** Returns a 429 of the OAuth endpoints; `seconds` is when to retry. */
export const tooManyAttempts = (detail: string, seconds: number) =>
  new ApiError('temporarily_unavailable', {
    detail: `${detail} Retry after ${seconds} seconds.`,
    headers: { 'Retry-After': String(seconds) },
  })

/**
 * Returns the client with these credentials, and its account. `now` is in milliseconds.
 *
 * Wrong secrets are counted per address, and per client at that address, so that an attacker cannot
 * lock a client out from elsewhere. An unknown client gets the same response as a wrong secret, so
 * that nobody can find out which clients exist.
 *
 * @throws ApiError `invalid_client`, or `temporarily_unavailable` after too many wrong secrets.
 */
export async function authenticate(
  env: Env,
  headers: Headers,
  credentials: Credentials,
  now: number,
) {
  const { client_id, client_secret } = credentials
  const addressObject = () => env.CLIENT_GATE.getByName(`address:${clientAddress(headers)}`)
  const [client, secret] = await Promise.all([digest(client_id), digest(client_secret)])
  // Check the address before the database is queried.
  const wait = await withObjectRetry(() => addressObject().guessingWait(client))
  if (wait > 0) throw tooManyAttempts('Too many wrong secrets.', wait)
  const match = isWellFormed(client_secret, 'tcs')
    ? await findClient(env.DB, client_id, secret)
    : null
  if (match && isValidSecret(match, secret, now) && !match.account.disabled) return match

  const waitNow = await withObjectRetry(() => addressObject().recordWrongSecret(client))
  throw waitNow > 0 ? tooManyAttempts('Too many wrong secrets.', waitNow) : invalidClient()
}

interface ClientMatch {
  client: { secret_digest: string; revoked: number }
  ends_at: number | null
}

// A plain comparison is safe: both are digests of 256 random bits, so its time reveals nothing.
const isValidSecret = ({ client, ends_at }: ClientMatch, secret: string, now: number) =>
  !client.revoked && (client.secret_digest === secret || now < (ends_at ?? 0))
