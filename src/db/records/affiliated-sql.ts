import { DAY_MS } from '../../durations.ts'
import { BEGINNING } from '../commission/history.ts'
import type { RecordTable } from './record-table.ts'
import type { FromLookup } from './sql-fragments.ts'

/** The stored day `day` as the id of a period, of the kind that `period` has. */
const periodOf = (day: string, period: string) =>
  `strftime(iif(${period} like '%-W%', '%G-W%V', '%Y-%m'), ${day} * 86400, 'unixepoch')`

/**
 * Evaluates to the first day of another affiliate that a customer gets, and 1 if that affiliate holds from
 * the signup on, as a JSON array; null if the customer keeps the affiliate. The trigger
 * `customers_affiliation` stores what is decided here.
 *
 * A partner's first affiliate is replaced from the signup on if the customer was first received less than a
 * day ago, and no statement of that affiliate was approved since whose period the customer can have records
 * in: one that ends on the signup day or later. A change counts from its day otherwise, and for brands.
 *
 * The branches of `iif` keep the history of customers from being read unless the affiliate changes.
 */
export function affiliatedSql(
  column: NonNullable<RecordTable['affiliation']>,
  fromLookup: FromLookup,
): string {
  const sent = fromLookup(column)
  const history = `customer_affiliations h where h.account = :account
              and h.customer_id = ${fromLookup('customer_id')}`
  const latest = (name: string) => `(select h.${name} from ${history} order by h.day desc limit 1)`
  const isFirst = `t.first_seen_at > :received_at - ${DAY_MS}
            and not exists (select 1 from ${history} and (h.day > ${BEGINNING} or h.delivery is null))`
  const isApproved = `exists (select 1 from statements s
              where s.account = :account and s.affiliate_id = t.affiliate_id and s.status <> 'draft'
                and s.approved_at >= t.first_seen_at and s.period >= ${periodOf('t.day', 's.period')})`
  const isEarly = column === 'affiliate_id' ? `(${isFirst} and not ${isApproved})` : 'false'
  const change = `iif(${isEarly}, json_array(${fromLookup('day')}, 1),
            json_array(max(:received_day, ifnull(${latest('day')}, :received_day)), 0))`
  const hasHistory = `exists (select 1 from ${history})`
  return `iif(t.account is null or ${sent} is null or t.${column} is ${sent}, null,
          iif(${hasHistory}, iif(${latest(column)} is ${sent}, null, ${change}),
            iif(t.${column} is null, null, ${change})))`
}
