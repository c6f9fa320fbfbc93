import type { Candidate } from '../../db/commission/books/candidates.ts'
import { hasChangedRecords } from '../../db/commission/books/changed-records.ts'
import { hasChangedSettings, readNewRates } from '../../db/commission/books/changed-settings.ts'
import { resolveDatabase } from '../../db/database.ts'
import type { Account } from '../../db/schema.ts'
import { DELIVERY_LOG_MS, firstIdAt } from '../../ingest/delivery-id.ts'
import { auditIdAt, SETTING_ACTIONS } from '../drafts/cause-settings.ts'
import type { Computation } from '../drafts/computation.ts'
import { TooManyFacts } from '../drafts/compute.ts'
import { inTurn, openPeriod } from '../drafts/on-request.ts'
import { computeDrafts } from '../drafts/store.ts'
import type { Period } from '../engine/calendar.ts'
import { BOOK_LIMITS } from './limits.ts'

// A draft shows its records as they were when a run read them. It can be approved only while a
// computation still comes to it (§16.32). If nothing has changed since that run, nothing is computed.

/** The audited actions that can change drafts. */
const ACTIONS = [...SETTING_ACTIONS, 'manual.add', 'erasures.replay']

/** The days before the first and after the last day of a period whose rates can change its drafts. */
const RATE_DAYS = { before: 366, after: 7 }

/**
 * Returns the ids of the drafts that a computation no longer comes to; null if they depend on more facts
 * than one request can read. Of a single draft with so many facts it returns the id if a setting, a rate
 * or a record of a day up to the end of its period has changed.
 *
 * @param vouchedAt When the last run that settled the period began, in milliseconds.
 */
export type FindUnvouched = (
  drafts: readonly Candidate[],
  vouchedAt: number,
) => Promise<ReadonlySet<string> | null>

const NONE: ReadonlySet<string> = new Set()

/** Returns a function that finds drafts of a period which must be computed again before an approval. */
export function unvouchedFinder(env: Env, account: Account, period: Period): FindUnvouched {
  const db = resolveDatabase(env, account.binding)
  let opened: Promise<Computation> | null = null
  const compute = async (affiliates: readonly string[]): Promise<Map<string, string>> => {
    opened ??= openPeriod(env, { account: account.id, vertical: account.vertical }, db, period)
    const { drafts } = await computeDrafts(await opened, affiliates, BOOK_LIMITS.facts)
    return new Map(drafts.map(({ id, digest }) => [id, digest]))
  }
  return async (drafts, vouchedAt) => {
    if (drafts.length === 0) return NONE
    const since = Math.min(...drafts.map(({ read_at }) => Math.max(read_at, vouchedAt)))
    if (!(await hasChanged(env, account, period, since, null))) return NONE
    const affiliates = [...new Set(drafts.map(({ affiliate_id }) => affiliate_id))]
    const ids = drafts.map(({ id }) => id)
    try {
      const digests = await inTurn(account.id, () => compute(affiliates))
      const same = ({ id, chain }: Candidate) => digests.get(id) === chain[0]?.digest
      return new Set(drafts.filter((one) => !same(one)).map(({ id }) => id))
    } catch (error) {
      if (!(error instanceof TooManyFacts)) throw error
      if (affiliates.length > 1) return null
      return (await hasChanged(env, account, period, since, period.last)) ? new Set(ids) : NONE
    }
  }
}

/**
 * Returns whether anything has changed since a time (milliseconds) on which the drafts of a period may
 * depend: records, settings, manual entries or rates.
 *
 * @param lastDay If not null, customers and records of later days do not count.
 */
async function hasChanged(
  env: Env,
  { id, binding }: Account,
  { first, last }: Period,
  since: number,
  lastDay: number | null,
): Promise<boolean> {
  const before = since - BOOK_LIMITS.commitMs
  // The log no longer has the deliveries of that time.
  if (before < Date.now() - DELIVERY_LOG_MS) return true
  const db = resolveDatabase(env, binding)
  const rateDays = { first: first - RATE_DAYS.before, last: last + RATE_DAYS.after }
  const logs = binding === 'DB' ? [env.DB] : [env.DB, db]
  const [records, rates, ...settings] = await Promise.all([
    hasChangedRecords(db, id, { since: firstIdAt(before), since_time: before, last_day: lastDay }),
    readNewRates(env.DB, { ...rateDays, since }),
    ...logs.map((log) => hasChangedSettings(log, id, auditIdAt(since), ACTIONS)),
  ])
  return records || rates.length > 0 || settings.includes(true)
}
