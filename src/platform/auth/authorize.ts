import type { Context, Next } from 'hono'
import type { Account } from '../db/schema.ts'
import type { AffiliateProfile } from '../directory/affiliates.ts'
import { ApiError } from '../errors.ts'
import type { CallingAffiliate, Grant } from './grant.ts'
import { withObjectRetry } from './object-retry.ts'
import { REQUESTS_PER_WINDOW, WINDOW_MS } from './rate.ts'
import type { Member, Role, Shows } from './roles.ts'
import type { Admission } from './token-gate.ts'

/** What is read of an affiliate who calls. */
export interface ReadAffiliate extends CallingAffiliate {
  readonly account: Account
  readonly profile: AffiliateProfile
  /** The language of the affiliate, or else the one that the request prefers; null if neither is known. */
  readonly language: AffiliateProfile['language']
  /** Returns what they see of an answer. */
  show(answer: object): Promise<object>
  /** Returns the id of what they see under another name; null if there is nothing. */
  lineIdOf(name: string): Promise<string | null>
  customerIdOf(name: string): Promise<string | null>
}

/** The bindings and variables that handlers use. */
export interface AppEnv {
  Bindings: Env
  Variables: {
    requestId: string
    /** The grant of the caller, once admitted. It is the only source of the account. */
    grant: Grant
    /** The member of the integrations team that makes the request. */
    actor: string
    /** The role of this member. */
    role: Role
    /** This member; absent if somebody else makes the request. */
    member: Member
    /** Returns what a member of the team with own affiliates sees of an answer; absent if they have all. */
    show?: (answer: object) => Promise<object>
    /** What is read of an affiliate who calls; absent if somebody else does. */
    affiliate?: ReadAffiliate
    /** Whether an answer passed through `show`. */
    isShown?: boolean
    /** The pages of the console. */
    pages: readonly { readonly path: string; readonly shows: Shows }[]
    /** The delivery, for the request log. */
    delivery?: { delivery_id: string; outcomes: object }
  }
}

/**
 * Counts a request of its token, and of its affiliate: the keys and sessions of one share a limit, since each new
 * session would otherwise bring another. Returns null if the token is not live.
 */
export async function admitRequest(env: Env, objectName: string): Promise<Admission | null> {
  const own = await withObjectRetry(() => env.TOKEN_GATE.getByName(objectName).admit())
  const { account, affiliate } = own?.grant ?? {}
  const isOfTeam = affiliate?.member === null && affiliate.key === null
  if (!own || own.retryAfter > 0 || !affiliate || isOfTeam) return own
  const name = `affiliate ${JSON.stringify([account, affiliate.id])}`
  return { ...own, ...(await withObjectRetry(() => env.TOKEN_GATE.getByName(name).count())) }
}

/**
 * Admits a request, runs its handlers, and adds the rate limit headers. One call to the token's object returns whether
 * the token is live, its grant, and the requests that remain.
 *
 * `unknownToken` returns the error for a token that is not live; `checkGrant` returns the grant or throws.
 *
 * @throws ApiError `rate_limited`, and the errors of both functions.
 */
export async function authorize(
  c: Context<AppEnv>,
  next: Next,
  objectName: string,
  unknownToken: () => ApiError,
  checkGrant: (grant: Grant) => Grant | Promise<Grant>,
): Promise<void> {
  const admission = await admitRequest(c.env, objectName)
  if (!admission) throw unknownToken()
  try {
    if (admission.retryAfter > 0) throw rateLimited(admission)
    c.set('grant', await checkGrant(admission.grant))
    await next()
  } finally {
    // Not `c.header`, which copies the finished response for each header.
    const { headers } = c.res
    headers.set('RateLimit-Policy', `"token";q=${REQUESTS_PER_WINDOW};w=${WINDOW_MS / 1000}`)
    headers.set('RateLimit', `"token";r=${admission.remaining};t=${admission.reset}`)
  }
}

/** Returns the error of a request that is one too many. */
export const rateLimited = ({ retryAfter }: Admission) =>
  new ApiError('rate_limited', {
    detail: `The limit is ${REQUESTS_PER_WINDOW} requests per minute. Retry after ${retryAfter} seconds.`,
    headers: { 'Retry-After': String(retryAfter) },
  })
