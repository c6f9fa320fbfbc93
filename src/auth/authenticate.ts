import { findClient } from '../db/directory/clients.ts'
import { ApiError } from '../errors.ts'
import { clientAddress } from './address.ts'
import { type Credentials, invalidClient } from './client-credentials.ts'
import { withObjectRetry } from './object-retry.ts'
import { digest, isWellFormed } from './secret.ts'

/** Too much of something for now; `seconds` later it is allowed again. */
export const tooManyAttempts = (detail: string, seconds: number) =>
  new ApiError('temporarily_unavailable', {
    detail: `${detail} Try again in ${seconds} s.`,
    headers: { 'Retry-After': String(seconds) },
  })

/**
 * The client that these credentials belong to, with its account.
 *
 * Guesses are counted by address, and there by client, so a stranger's never lock a client out from
 * elsewhere, and an unknown client is answered as a known one is: nobody learns which exist.
 *
 * @throws ApiError `invalid_client`, or `temporarily_unavailable` after too many guesses.
 */
export async function authenticate(env: Env, headers: Headers, sent: Credentials, now: number) {
  const gate = () => env.CLIENT_GATE.getByName(`address:${clientAddress(headers)}`)
  const [client, secret] = await Promise.all([digest(sent.client_id), digest(sent.client_secret)])
  const [wait, found] = await Promise.all([
    withObjectRetry(() => gate().guessingWait(client)),
    isWellFormed(sent.client_secret, 'tcs') ? findClient(env.DB, sent.client_id, secret) : null,
  ])
  if (wait > 0) throw tooManyAttempts('Too many wrong secrets.', wait)
  if (found && isValidSecret(found, secret, now) && !found.account.disabled) return found

  const waitNow = await withObjectRetry(() => gate().recordWrongSecret(client))
  throw waitNow > 0 ? tooManyAttempts('Too many wrong secrets.', waitNow) : invalidClient()
}

interface Found {
  client: { secret_digest: string; revoked: number }
  ends_at: number | null
}

// What is compared are digests of 256 random bits: its time tells nothing of the secret.
const isValidSecret = ({ client, ends_at }: Found, secret: string, now: number) =>
  !client.revoked && (client.secret_digest === secret || now < (ends_at ?? 0))
