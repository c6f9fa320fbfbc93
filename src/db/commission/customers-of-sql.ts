import { JSON_EACH } from '../records/sql-fragments.ts'
import { compileStatement } from '../statement.ts'

/**
 * Selects the wanted customers of the next `:entries` whose affiliate never changed, and the last one if
 * there are so many; `:after` is the customer before. An index with the affiliate would make each new
 * customer dearer, and this walk little faster.
 */
const selectUnchanged = (isWanted: string) =>
  compileStatement(`
  with entries as materialized (
    select *, row_number() over (order by customer_id) as n
    from (
      select day, customer_id, affiliate_id, link, first_day from customers not indexed
      where account = :account and customer_id > :after
      order by customer_id limit :entries
    )
  ),
  found as (
    select e.*, iif(${isWanted}, not exists (
      select 1 from customer_affiliations h
      where h.account = :account and h.customer_id = e.customer_id), 0) as is_found
    from entries e
  )
  select day, customer_id, affiliate_id, iif(first_day is null, null, link) as link, n, is_found
  from found where is_found or n = :entries`)

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

/** A row of these statements; `is_found` is 0 in one that only ends a step. */
export interface UnchangedRow {
  day: number
  customer_id: string
  affiliate_id: string | null
  link: string | null
  n: number
  is_found: number
}

/** Selects the next customers whose affiliate has changed. */
export const SELECT_CHANGED = compileStatement(`
  select distinct customer_id from customer_affiliations
  where account = :account and customer_id > :after order by customer_id limit :changed`)

/** Selects the days of customers; `:ids` is a JSON array of stored ids. */
export const SELECT_DAYS = compileStatement(`
  select c.customer_id, c.day from ${JSON_EACH}(:ids) i
  cross join customers c on c.account = :account and c.customer_id = i.value`)
