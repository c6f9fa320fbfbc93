import { isAssertionFailure, isUniqueViolation, withD1Retry } from '../platform/db/retry.ts'
import { ApiError } from '../platform/errors.ts'
import { type Decision, decide } from './db/decide.ts'
import type { Facts } from './db/find-sql.ts'
import type { Delivery } from './db/item.ts'
import { readFacts } from './db/read-facts.ts'
import { writeDelivery } from './db/write-delivery.ts'
import { describeErrors } from './errors.ts'
import type { Resource } from './resource/resource.ts'

/** How often a request is decided again because others changed what it depends on. */
const MAX_ROUNDS = 8

/** The longest wait before a round for each round before it, in milliseconds: it keeps rivals apart. */
const ROUND_WAIT_MS = 15

/**
 * Stores one request: reads what is stored of its records, decides what becomes of each, and writes all of it with a
 * row of the log in one batch. The batch fails as a whole if anything that was read has changed; then the request is
 * read and decided again. If an attempt was stored although its answer was lost, the next one finds its row, and decides
 * by what that attempt had read.
 *
 * At the quota, a request that changes nothing has its ordinary result, and no row in the log.
 *
 * @throws ApiError `quota_exceeded` if the account stores as much as its quota, `unavailable` while the
 *   account is being reset, if its book zone has just changed, or if others keep changing the same records.
 */
export async function store(
  session: D1DatabaseSession,
  resource: Resource,
  delivery: Delivery,
): Promise<Decision> {
  const attempts: Facts[] = []
  return withD1Retry(async () => {
    for (let round = 1; ; round++) {
      const facts = await readFacts(session, delivery)
      const { attempt, is_closed, usage } = facts.request
      const stored = attempt === null ? undefined : attempts[attempt]
      if (stored) return decide(delivery, stored)
      if (is_closed) throw accountAcceptsNoDeliveries()
      attempts.push(facts)
      const decision = decide(delivery, facts)
      if (decision.writes.length > 0 && usage >= delivery.storageQuota)
        throw quotaExceeded(usage, delivery.storageQuota)
      try {
        const errors = describeErrors(resource, delivery, decision)
        await writeDelivery(session, delivery, {
          facts,
          decision,
          attempt: attempts.length - 1,
          errors,
        })
        return decision
      } catch (error) {
        if (!isAssertionFailure(error) && !isUniqueViolation(error)) throw error
        if (round === MAX_ROUNDS) throw recordsAreChanging()
        await scheduler.wait(Math.random() * ROUND_WAIT_MS * round)
      }
    }
  })
}

/** Returns the error for an account that has reached its quota. Both numbers are bytes; `stored` is an upper bound. */
const quotaExceeded = (stored: number, quota: number) =>
  new ApiError('quota_exceeded', {
    detail: `The account stores an estimated ${stored} bytes; its storage quota is ${quota} bytes. Nothing was stored. The account is now measured: repeat the request after 60 seconds. If it is still refused, ask the integrations team for a larger quota. Reading still works.`,
  })

const RETRY_SECONDS = 5

const recordsAreChanging = () =>
  new ApiError('unavailable', {
    detail: `Other requests keep changing the same records. Nothing was stored. Do not send the same record in parallel requests.`,
    headers: { 'Retry-After': String(RETRY_SECONDS) },
  })

const CONDITION_SECONDS = 60

const accountAcceptsNoDeliveries = () =>
  new ApiError('unavailable', {
    detail: `The account accepts no deliveries now: its records are being deleted. Nothing was stored.`,
    headers: { 'Retry-After': String(CONDITION_SECONDS) },
  })
