import * as v from 'valibot'
import { clickTime } from '../attribution/code.ts'
import { dayText } from '../commission/engine/calendar.ts'
import { compareText } from '../commission/engine/facts.ts'
import type { Connection } from '../platform/db/database.ts'
import type { FoundPage, Page } from '../platform/db/paginate.ts'
import type { Fixed } from '../platform/http/operation-words.ts'
import { count, day } from '../platform/validation/answer-fields.ts'
import { described, named } from '../platform/validation/described.ts'
import { member } from '../platform/validation/fields.ts'
import { parseEvidence } from './case-rows.ts'
import type { StoredCase } from './db/cases.ts'
import {
  partsFrom,
  type RecordKeys,
  type RecordValues,
  readMainValues,
  storedKey,
} from './db/evidence.ts'
import { evidenceKey } from './findings.ts'
import type { Evidence } from './kind.ts'

// The records of a stored case, in the order in which findings named them.

/** A record, and its place. */
interface Placed extends FoundEvidence {
  readonly place: readonly [part: number, index: number]
}

/** Yields the records of a case from a part on. */
async function* evidenceFrom(
  db: Connection,
  account: string,
  { id }: StoredCase,
  first = 0,
): AsyncGenerator<Placed> {
  for await (const { part, day, evidence } of partsFrom(db, account, id, first)) {
    for (const [index, one] of parseEvidence(evidence).entries()) {
      yield { one, day, place: [part, index] }
    }
  }
}

/** A record of a case, and the day whose finding named it. */
export interface FoundEvidence {
  readonly one: Evidence
  /** In days since 1970. */
  readonly day: number
}

/** Returns the records of a case. */
export async function evidenceOf(
  db: Connection,
  account: string,
  found: StoredCase,
): Promise<Placed[]> {
  const all: Placed[] = []
  for await (const placed of evidenceFrom(db, account, found)) all.push(placed)
  return all
}

/** A customer of a case, and how many of its records are theirs. */
export const customerOfCase = described(() =>
  named(
    'FraudCustomer',
    v.object({
      customer_id: member(v.string(), 'The customer.'),
      records: member(count, 'How many records of the case are theirs.'),
    }),
  ),
)

/** Reads one page of the customers who have records in a case, in order of id. */
export async function pageCustomers(
  db: Connection,
  account: string,
  found: StoredCase,
  { number, size, after }: Page,
): Promise<FoundPage<Fixed<v.InferOutput<typeof customerOfCase>>>> {
  const counts = new Map<string, number>()
  for await (const { one } of evidenceFrom(db, account, found)) {
    if (one.customer_id === null) continue
    counts.set(one.customer_id, (counts.get(one.customer_id) ?? 0) + 1)
  }
  const ids = [...counts.keys()].sort(compareText)
  const [last] = after ?? []
  const rest =
    last === undefined
      ? ids.slice((number - 1) * size)
      : ids.filter((id) => compareText(id, String(last)) > 0)
  const shown = rest.slice(0, size)
  return {
    data: shown.map((customer_id) => ({ customer_id, records: counts.get(customer_id) ?? 0 })),
    ...{ total: ids.length, isLimited: false },
    last: rest.length > size ? shown.slice(-1) : null,
  }
}

/** A record of a case. */
export const fraudEvidence = described(() =>
  named(
    'FraudEvidence',
    v.object({
      resource: member(
        v.picklist(['customers', 'transactions', 'trading-activity', 'activities', 'statements']),
        'The resource of the record, or `statements`.',
      ),
      id: member(
        v.string(),
        'The id of the record. Of trading activity: day, customer, instrument and currency.',
      ),
      customer_id: v.nullable(member(v.string(), 'The customer. Null for a statement.')),
      day: member(day, 'The day of the record.'),
      delivery_id: v.nullable(
        member(v.string(), 'The delivery that had last written the record. Null for a statement.'),
      ),
      values: v.nullable(
        member(
          v.record(v.string(), v.nullable(v.union([v.string(), v.number()]))),
          'The main values of the record, by the names of its fields. Null if it is gone or archived.',
        ),
      ),
      changed: member(
        v.boolean(),
        'Whether the record was changed since the case names it, or is not in the database.',
      ),
    }),
  ),
)

/** A record of a case, as it is answered. */
export type PresentedEvidence = Fixed<v.InferOutput<typeof fraudEvidence>>

/** Reads one page of the records of a case, with their main values. */
export async function pageEvidence(
  db: Connection,
  account: string,
  found: StoredCase,
  { number, size, after }: Page,
): Promise<FoundPage<PresentedEvidence>> {
  const [first = 0, last = -1] = (after ?? []).map(Number)
  const isBehind = ({ place: [part, index] }: Placed) =>
    part > first || (part === first && index > last)
  let skipped = after ? 0 : (number - 1) * size
  const page: Placed[] = []
  for await (const placed of evidenceFrom(db, account, found, first)) {
    if (!isBehind(placed)) continue
    if (skipped > 0) skipped--
    else page.push(placed)
    if (page.length > size) break
  }
  const shown = page.slice(0, size)
  const end = page.length > size ? shown.at(-1) : undefined
  return {
    data: await withValues(
      db,
      account,
      shown.map(({ one }) => one),
    ),
    total: found.evidence_count,
    isLimited: false,
    last: end ? [...end.place] : null,
  }
}

const CURRENCY_LENGTH = 3

/** Returns the key of a row of trading activity, whose id has day, customer, instrument and currency. */
function activityKey({ id, day, customer_id }: Evidence): RecordKeys['trading-activity'][number] {
  const rest = id.slice(`${dayText(day)}|${customer_id}|`.length)
  const instrument = rest.slice(0, -CURRENCY_LENGTH - 1)
  return [day, storedKey(customer_id ?? ''), instrument, rest.slice(-CURRENCY_LENGTH)]
}

async function withValues(
  db: Connection,
  account: string,
  evidence: readonly Evidence[],
): Promise<PresentedEvidence[]> {
  const byResource = Map.groupBy(evidence, ({ resource }) => resource)
  const of = (resource: Evidence['resource']) => byResource.get(resource) ?? []
  const keys = {
    customers: of('customers').map(({ id }) => storedKey(id)),
    transactions: of('transactions').map(({ id }) => storedKey(id)),
    'trading-activity': of('trading-activity').map(activityKey),
    activities: of('activities').map(({ id }) => id),
    statements: of('statements').map(({ id }) => id),
  }
  const values = await readMainValues(db, account, keys)
  const byRecord = new Map(
    Object.entries(values).flatMap(([resource, rows]) => {
      const own = of(resource as Evidence['resource'])
      return rows.flatMap((row) => {
        const one = own[row.key]
        return one ? [[evidenceKey(one), row] as const] : []
      })
    }),
  )
  return evidence.map((one) => {
    const row = byRecord.get(evidenceKey(one)) ?? null
    const delivery_id = one.delivery_id ?? null
    return {
      ...{ ...one, day: dayText(one.day), delivery_id, values: row && presentValues(row) },
      changed: row === null || (row.delivery ?? null) !== delivery_id,
    }
  })
}

const TIMES = new Set(['signup_date', 'transaction_date', 'createtime'])

const instant = (value: string | number | null) =>
  value === null ? null : new Date(value).toISOString()

/** Presents the values of a record; of the code in `tracking_data` only the time of its click. */
const presentValues = ({ key: _, delivery: __, tracking_data: code, ...values }: RecordValues) => ({
  ...Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, TIMES.has(name) ? instant(value) : value]),
  ),
  ...(code !== undefined && { clicked_at: instant(clickTime(String(code ?? ''))) }),
})
