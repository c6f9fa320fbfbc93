import { all } from '../query.ts'
import { compileStatement } from '../statement.ts'
import { JSON_EACH } from './sql-fragments.ts'

/** The number of deliveries with an error. */
export interface DeliveryErrorCount {
  readonly code: string
  readonly deliveries: number
  /** The last of them. */
  readonly delivery: string
}

/** The entries of the log's index that one count reads. */
export const COUNTED_ERRORS = 100_000

/** What the terms of codes begin with, and the text after all of them. */
const [PREFIX, END] = ['code ', 'code!']

const COUNT_ERRORS = compileStatement(`
  select substr(term, ${PREFIX.length + 1}) as code, count(*) as deliveries, max(delivery) as delivery
  from (
    select t.term, t.delivery from ${JSON_EACH}(:days) d
    cross join delivery_terms t on t.account = :account and t.day = d.value
      and t.term >= '${PREFIX}' and t.term < '${END}'
    where t.delivery >= :oldest
    limit ${COUNTED_ERRORS + 1}
  )
  group by 1 order by 2 desc, 1`)

/**
 * Counts the deliveries of some days (numbers of days since 1970) by the codes of their errors, the most
 * frequent first; null if these days have more than one count reads. `oldest` is the id from which on
 * deliveries are counted.
 */
export async function countDeliveryErrors(
  session: D1DatabaseSession,
  account: string,
  days: readonly number[],
  oldest: string,
): Promise<DeliveryErrorCount[] | null> {
  const values = { account, days: JSON.stringify(days), oldest }
  const results = await all<DeliveryErrorCount>(session, COUNT_ERRORS, values)
  const counted = results.reduce((sum, { deliveries }) => sum + deliveries, 0)
  return counted > COUNTED_ERRORS ? null : results
}
