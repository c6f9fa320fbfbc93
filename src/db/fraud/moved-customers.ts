import { fromOf } from '../commission/history.ts'
import { toJsonChunks } from '../json-chunks.ts'
import { all } from '../query.ts'
import { JSON_EACH } from '../records/sql-fragments.ts'
import { compileStatement } from '../statement.ts'
import { storedKey } from './evidence.ts'
import { HELD } from './hold-log.ts'

// A case goes if its customers are moved to another affiliate. Who looks at the end of its hold wants to know.

/** The customers of a case that are looked at. */
const MOST = 1000

const READ_CUSTOMERS = compileStatement(`
  select c.id, c.affiliate_id, c.customer_id as subject, c.other_customer_id as other, e.value ->> 3 as customer_id, max(e.value ->> 2) as day
  from ${JSON_EACH}(:ids) r
  cross join fraud_cases c on c.account = :account and c.id = r.value
  cross join fraud_findings f on f.account = :account and f.affiliate_id = c.affiliate_id
    and f.rule = c.rule and f.subject = c.subject and f.day between c.opened_for and c.last_day
  cross join json_each(f.evidence) e
  where ${HELD} and e.value ->> 3 is not null
  group by 1, 3 order by 1, 3 limit ${MOST}`)

const READ_AFFILIATIONS = compileStatement(`
  select h.customer_id, h.day, h.affiliate_id
  from ${JSON_EACH}(:ids) r
  cross join customer_affiliations h on h.account = :account and h.customer_id = r.value
  where h.affiliate_id is not null or h.link is null
  order by h.customer_id, h.day`)

interface CustomerOfCase {
  id: string
  affiliate_id: string
  /** The customers that the case is about, as stored; null for an affiliate. */
  subject: string | null
  other: string | null
  customer_id: string
  /** The day of the customer's last record in the case. */
  day: number
}

interface Affiliation {
  customer_id: string
  day: number
  affiliate_id: string | null
}

/**
 * Returns who was moved of the cases that hold payouts and whose records are gone: of each case the first
 * customer whose last record belongs to another affiliate now, with that affiliate, or null, and its first day,
 * or null for the beginning, as JSON. Cases without one are absent.
 */
export async function readMovedCustomers(
  db: D1Database,
  account: string,
  gone: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const moved = new Map<string, string>()
  for (const ids of toJsonChunks(gone)) {
    const found = await all<CustomerOfCase>(db, READ_CUSTOMERS, { account, ids })
    const keys = [...new Set(found.map(({ customer_id }) => storedKey(customer_id)))]
    for (const chunk of toJsonChunks(keys)) {
      const rows = await all<Affiliation>(db, READ_AFFILIATIONS, { account, ids: chunk })
      const histories = Map.groupBy(rows, (row) => row.customer_id)
      for (const { id, affiliate_id, subject, other, customer_id, day } of found) {
        const key = storedKey(customer_id)
        // A case also names earlier customers, of any affiliate, who share an e-mail.
        if (subject !== null && ![subject, other].includes(key)) continue
        const history = histories.get(key) ?? []
        const present = history.findLast((one) => one.day <= day)
        if (moved.has(id) || !present || present.affiliate_id === affiliate_id) continue
        const to = { affiliate_id: present.affiliate_id, from: fromOf(present.day) }
        moved.set(id, JSON.stringify({ customer_id, ...to }))
      }
    }
  }
  return moved
}
