import type { Context, Next } from 'hono'
import { ApiError } from '../errors.ts'
import type { Grant } from './grant.ts'
import { withObjectRetry } from './object-retry.ts'
import { REQUESTS_PER_WINDOW, WINDOW_MS } from './rate.ts'

/** What a handler knows once a guard stands before it. */
export interface AppEnv {
  Bindings: Env
  Variables: {
    requestId: string
    /**
     * Whose request this is. It is the only source of the account, so nothing can be read or stored
     * before the gate has answered; what needs no account may go on meanwhile.
     */
    grantPromise: Promise<Grant>
    /** Who of the integrations team asks, where one of them does. */
    actor: string
    /** What the request delivered, as its line in the log reports it. */
    delivery?: { delivery_id: string; outcomes: object }
  }
}

/**
 * Asks the gate of this name while the body is read; whatever that finds, a refusal of the gate
 * wins. One call says whether the token lives, whose it is, and how many requests are left.
 */
export async function authorize(
  c: Context<AppEnv>,
  next: Next,
  gate: string,
  unknown: () => ApiError,
  allowed: (grant: Grant) => Grant,
): Promise<void> {
  const answer = withObjectRetry(() => c.env.TOKEN_GATE.getByName(gate).admit())
  const grantPromise = answer.then((admission) => {
    if (!admission) throw unknown()
    if (admission.retryAfter > 0) throw tooFast(admission.retryAfter)
    return allowed(admission.grant)
  })
  grantPromise.catch(() => {}) // It may be refused before anything waits for it.
  c.set('grantPromise', grantPromise)
  await next()
  await grantPromise.finally(async () => {
    const admission = await answer.catch(() => null)
    if (!admission) return
    c.header('RateLimit-Policy', `"token";q=${REQUESTS_PER_WINDOW};w=${WINDOW_MS / 1000}`)
    c.header('RateLimit', `"token";r=${admission.remaining};t=${admission.reset}`)
  })
}

const tooFast = (seconds: number) =>
  new ApiError('rate_limited', {
    detail: `${REQUESTS_PER_WINDOW} requests a minute are allowed. Try again in ${seconds} s.`,
    headers: { 'Retry-After': String(seconds) },
  })
