import * as v from 'valibot'
import { dayText } from '../commission/engine/calendar.ts'
import { compareText } from '../commission/engine/facts.ts'
import type { Connection } from '../db/database.ts'
import type { StoredCase } from '../db/fraud/cases.ts'
import {
  type PartKey,
  partsFrom,
  type RecordKeys,
  type RecordValues,
  readMainValues,
  readSeen,
  storedKey,
} from '../db/fraud/evidence.ts'
import type { FoundPage, Page } from '../db/paginate.ts'
import type { Fixed } from '../http/operation-words.ts'
import { clickTime } from '../tracking/code.ts'
import { count, day } from '../validation/answer-fields.ts'
import { described, named } from '../validation/described.ts'
import { member } from '../validation/fields.ts'
import { parseEvidence } from './derive-cases.ts'
import { evidenceKey } from './findings.ts'
import type { Evidence } from './kind.ts'

// The records of a stored case. They are those of its findings; of records that several cases could have,
// each is in the first one.

const isDecided = ({ status }: StoredCase): boolean =>
  status === 'confirmed' || status === 'dismissed'

/** Before all days. */
const BEGINNING: PartKey = { day: -719_528, part: 0 }

/** A record, and its place. */
interface Placed {
  readonly one: Evidence
  readonly place: readonly [day: number, part: number, index: number]
}

/** Yields the records of a case from a part on, in the order in which findings named them. */
async function* evidenceFrom(
  db: Connection,
  account: string,
  found: StoredCase,
  first: PartKey | null,
): AsyncGenerator<Placed> {
  const { opened_for, last_day, position } = found
  const seen = await readSeen(db, account, found, position)
  const keysOf = (parts: typeof seen) =>
    new Set<string>(parts.flatMap((one) => JSON.parse(one.seen)))
  const earlier = keysOf(seen.filter((one) => one.position < position))
  const own = keysOf(seen.filter((one) => one.position === position))
  const decided = isDecided(found)
  const isOwn = (one: Evidence, day: number): boolean =>
    !earlier.has(evidenceKey(one)) &&
    (decided ? own.has(evidenceKey(one)) : opened_for <= day && day <= last_day)
  const start = first ?? (decided ? BEGINNING : { day: opened_for, part: 0 })
  for await (const { day, part, evidence } of partsFrom(db, account, found, start)) {
    if (!decided && day > last_day) return
    for (const [index, one] of parseEvidence(evidence).entries()) {
      if (isOwn(one, day)) yield { one, place: [day, part, index] }
    }
  }
}

/** A record of a case, and the day whose finding named it. */
export interface FoundEvidence {
  readonly one: Evidence
  /** In days since 1970. */
  readonly day: number
}

/** Returns the records of a case, in the order in which findings named them. */
export async function evidenceOf(
  db: Connection,
  account: string,
  found: StoredCase,
): Promise<FoundEvidence[]> {
  const all: FoundEvidence[] = []
  for await (const { one, place } of evidenceFrom(db, account, found, null)) {
    all.push({ one, day: place[0] })
  }
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
  for await (const { one } of evidenceFrom(db, account, found, null)) {
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
  const [day, part, index] = (after ?? []).map(Number)
  const first = day === undefined || part === undefined ? null : { day, part }
  const isBehind = ({ place }: Placed) =>
    first === null || place[0] !== first.day || place[1] !== first.part || place[2] > (index ?? 0)
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
        return one ? [[evidenceKey(one), presentValues(row)] as const] : []
      })
    }),
  )
  return evidence.map((one) => ({
    ...one,
    day: dayText(one.day),
    delivery_id: one.delivery_id ?? null,
    values: byRecord.get(evidenceKey(one)) ?? null,
  }))
}

const TIMES = new Set(['signup_date', 'transaction_date', 'createtime'])

const instant = (value: string | number | null) =>
  value === null ? null : new Date(value).toISOString()

/** Presents the values of a record; of the code in `tracking_data` only the time of its click. */
const presentValues = ({ key: _, tracking_data: code, ...values }: RecordValues) => ({
  ...Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, TIMES.has(name) ? instant(value) : value]),
  ),
  ...(code !== undefined && { clicked_at: instant(clickTime(String(code ?? ''))) }),
})
