import { JSON_EACH } from '../records/sql-fragments.ts'
import { compileStatement } from '../statement.ts'

const NEXT = 'customers not indexed where account = :account and customer_id > :after'

/**
 * Selects the wanted customers of the next `:entries` whose affiliate never changed, after the customer
 * `:after`; a row without a customer if there are none. An index with the affiliate would make each new
 * customer dearer, and this walk hardly faster. The blob `x''` stands for no upper bound: SQLite sorts
 * every text before it.
 */
const selectUnchanged = (isWanted: string) =>
  compileStatement(`
  with step as materialized (
    select (select customer_id from ${NEXT} order by customer_id limit 1 offset :entries - 1) as last
  )
  select s.last, iif(s.last is null, (select count(*) from ${NEXT}), :entries) as searched,
    e.day, e.customer_id, e.affiliate_id, iif(e.first_day is null, null, e.link) as link
  from step s
  left join customers e not indexed on e.account = :account and e.customer_id > :after
    and e.customer_id <= ifnull(s.last, x'') and ${isWanted}
    and not exists (
      select 1 from customer_affiliations h
      where h.account = :account and h.customer_id = e.customer_id)
  order by e.customer_id`)

/** Finds customers whose affiliate never changed. */
export const UNCHANGED_OF_ALL = selectUnchanged('true')
/**
 * Finds customers of `:affiliates` or, for brands, of `:links`, whose affiliate never changed. Where an
 * affiliate is stored it is the one that is paid, whatever the link says.
 */
export const UNCHANGED_OF_SOME = selectUnchanged(
  `iif(e.affiliate_id is null, e.link in (select value from json_each(:links)),
      e.affiliate_id in (select value from json_each(:affiliates)))`,
)

/** A row of these statements. */
export interface UnchangedRow {
  /** The last of the next `:entries` customers; null if there are fewer. */
  last: string | null
  /** How many these are. */
  searched: number
  day: number
  /** Null if none of them is wanted. */
  customer_id: string | null
  affiliate_id: string | null
  link: string | null
}

/** Selects the next customers whose affiliate has changed. */
export const SELECT_CHANGED = compileStatement(`
  select distinct customer_id from customer_affiliations
  where account = :account and customer_id > :after order by customer_id limit :changed`)

/** Selects the days of customers; `:ids` is a JSON array of stored ids. */
export const SELECT_DAYS = compileStatement(`
  select c.customer_id, c.day from ${JSON_EACH}(:ids) i
  cross join customers c on c.account = :account and c.customer_id = i.value`)
