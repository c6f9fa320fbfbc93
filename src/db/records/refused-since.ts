import { all } from '../query.ts'
import type { Delivery } from '../schema.ts'
import { compileStatement } from '../statement.ts'
import { type DeliverySpan, WALK_TERMS } from './delivery-search-sql.ts'
import type { RecordTable } from './record-table.ts'
import { JSON_EACH } from './sql-fragments.ts'

/** The latest deliveries of a resource with refused records that are read. */
const MAX_DELIVERIES = 20

/** A delivery with refused records: what the log keeps of them. */
export type RefusedDelivery = Pick<
  Delivery,
  'id' | 'form' | 'errors' | 'unknown_keys' | 'reused' | 'hold_refused'
>

const SELECT_REFUSED = compileStatement(`
  select d.id, d.form, d.errors, d.unknown_keys, d.reused, d.hold_refused
  from (${WALK_TERMS}) s
  cross join deliveries d on d.account = :account and d.id = s.id
  where d.resource = :resource
  limit ${MAX_DELIVERIES}`)

/**
 * Reads the latest deliveries of a resource with refused records, newest first. Of many, it looks at the
 * latest `SEARCHED_DELIVERIES` of all resources.
 */
export const latestRefused = (
  session: D1DatabaseSession,
  account: string,
  resource: string,
  span: DeliverySpan,
): Promise<RefusedDelivery[]> =>
  all(session, SELECT_REFUSED, {
    account,
    resource,
    oldest: span.oldest,
    before: span.end,
    first_day: span.firstDay,
    last_day: span.lastDay,
    terms: JSON.stringify(['refused']),
  })

/** The key of a refused record in its columns: the last can be a range of texts, up to `end`. */
export interface RefusedKey {
  readonly delivery: string
  readonly values: readonly unknown[]
  readonly end?: string
}

/** Counts the keys under which a later delivery has stored a record. */
export async function countStoredSince(
  session: D1DatabaseSession,
  account: string,
  { table, key }: RecordTable,
  keys: readonly RefusedKey[],
): Promise<number> {
  const cell = (i: number) => `k.value ->> ${i + 2}`
  const matches = key.map((name, i) =>
    i === key.length - 1
      ? `t.${name} >= ${cell(i)} and t.${name} <= ifnull(k.value ->> 1, ${cell(i)})`
      : `t.${name} = ${cell(i)}`,
  )
  const statement = compileStatement(`
  select count(*) as stored from ${JSON_EACH}(:keys) k
  where exists (select 1 from ${table} t
    where t.account = :account and ${matches.join(' and ')} and t.delivery > k.value ->> 0)`)
  const rows = keys.map(({ delivery, values, end = null }) => [delivery, end, ...values])
  const [found] = await all<{ stored: number }>(session, statement, {
    account,
    keys: JSON.stringify(rows),
  })
  return found?.stored ?? 0
}
