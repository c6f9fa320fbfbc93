import { all } from '../query.ts'
import type { Delivery } from '../schema.ts'
import { compileStatement } from '../statement.ts'
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
  from ${JSON_EACH}(:days) n
  cross join delivery_terms t on t.account = :account and t.day = n.value and t.term = 'refused'
  cross join deliveries d on d.account = t.account and d.id = t.delivery
  where t.delivery >= :oldest and d.resource = :resource
  order by d.id desc limit ${MAX_DELIVERIES}`)

/**
 * Reads the latest deliveries of a resource with refused records, newest first, since `oldest`, on some days
 * (numbers of days since 1970).
 */
export const latestRefused = (
  session: D1DatabaseSession,
  account: string,
  since: { resource: string; oldest: string; days: readonly number[] },
): Promise<RefusedDelivery[]> =>
  all(session, SELECT_REFUSED, { account, ...since, days: JSON.stringify(since.days) })

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
