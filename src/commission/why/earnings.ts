import { readStoredRecords } from '../../ingest/db/stored-record.ts'
import { resourcesOf } from '../../ingest/verticals.ts'
import { ApiError } from '../../platform/errors.ts'
import { dayNumber, periodOf } from '../../platform/money/calendar.ts'
import type { FactResource } from '../engine/facts.ts'
import { payingEntries } from '../engine/judge.ts'
import { type Earning, earningsOf, type FactReport, reportFacts } from '../engine/records.ts'
import type { OpenAccount } from '../run/account.ts'
import { lineId, statementId } from '../run/ids.ts'
import { openPeriod } from '../run/on-request.ts'
import type { RecordEarnings } from '../shapes/explanations.ts'
import type { AccountReader } from './explain.ts'
import { recordQueries } from './record-queries.ts'
import { evaluatedCustomers, HELD } from './unearned.ts'

/** A record by its resource, and its id as `unearned/facts` lists it. */
export interface RecordKey {
  readonly resource: FactResource
  readonly id: string
}

/** Evaluates a record by all that is known now; returns null if it is not a fact. */
async function evaluateRecord(
  account: OpenAccount,
  { resource, id, customer_id, day: on }: RecordKey & { customer_id: string; day: string },
): Promise<{ readonly report: FactReport; readonly earnings: readonly Earning[] } | null> {
  const entriesOf = payingEntries(account)
  const day = dayNumber(on)
  const queries = recordQueries(account, { first: day, last: day })
  const onDay = { ...periodOf(day, 'month'), first: day, last: Number.POSITIVE_INFINITY }
  for await (const evaluated of evaluatedCustomers(account, { customer_id }, queries)) {
    for (const report of reportFacts(account, entriesOf, evaluated, onDay)) {
      const { fact } = report
      if (fact.resource !== resource || fact.id !== id) continue
      return { report, earnings: earningsOf(account, entriesOf, evaluated, fact) }
    }
  }
  return null
}

const NO_RECORD = 'This account has no record with this key. Ids are case-sensitive.'

/**
 * Returns the lines that count a record, or the reasons why none does, by all that is known now.
 *
 * @throws ApiError `not_found`
 */
export async function readEarnings(
  env: Env,
  reader: AccountReader,
  key: RecordKey,
): Promise<RecordEarnings> {
  const { grant, session } = reader
  const views = resourcesOf(grant.vertical).filter(({ name }) => name === key.resource)
  const [stored] = await readStoredRecords(session, views, grant.account, key.id)
  if (!stored) throw new ApiError('not_found', { detail: NO_RECORD })
  const { id, customer_id, day } = stored
  const record = { resource: key.resource, id, customer_id, day }
  if (stored.held === 1) {
    return { ...record, affiliate_id: null, state: HELD, lines: [], rules: [] }
  }
  const account = await openPeriod(env, grant, session, periodOf(dayNumber(day), 'month'))
  const found = await evaluateRecord(account, record)
  if (!found) throw new ApiError('not_found', { detail: NO_RECORD })
  const { report, earnings } = found
  const { affiliate_id, state, rules } = report
  const lines = await Promise.all(
    earnings.map(async (one) => {
      const statement = await statementId(one.affiliate_id, one.plan, one.period)
      return { line_id: await lineId(statement, one, 0), ...one }
    }),
  )
  return { ...record, affiliate_id, state, lines, rules }
}
