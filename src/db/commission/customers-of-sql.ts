import { compileStatement } from '../statement.ts'
import { SIGNUP_COLUMNS } from './facts-sql.ts'
import { FIELDS } from './histories.ts'

const COLUMNS = [...SIGNUP_COLUMNS.map((sql) => sql.replace(/ as \w+$/, '')), 'c.affiliate_id']

const NEXT = 'customers not indexed where account = :account and customer_id > :after'

/** The last of the next `:entries` customers after the customer `:after`; null if there are fewer. */
const STEP = `step as materialized (
    select (select customer_id from ${NEXT} order by customer_id limit 1 offset :entries - 1) as last
  )`

/**
 * The customers of a step. The blob `x''` means no upper bound: SQLite sorts every text before
 * it.
 */
const OF_STEP = `c.account = :account and c.customer_id > :after
    and c.customer_id <= ifnull(s.last, x'')`

/** The customer's affiliate never changed. */
const IS_UNCHANGED = `not exists (
    select 1 from customer_affiliations h
    where h.account = :account and h.customer_id = c.customer_id)`

/**
 * Selects, of the next `:entries` customers, the wanted ones whose affiliate never changed, as one JSON
 * array of `UnchangedCustomer`s. An index with the affiliate would make the insertion of each customer
 * more expensive and this statement hardly faster.
 */
const selectUnchanged = (isWanted: string) =>
  compileStatement(`
  with ${STEP}
  select s.last, iif(s.last is null, (select count(*) from ${NEXT}), :entries) as searched,
    json_group_array(json_array(
      ${COLUMNS.join(', ')}, c.first_day is not null,
      (select r.day from customer_refusals r
        where r.account = :account and r.customer_id = c.customer_id),
      exists (select 1 from customer_fields f
        where f.account = :account and f.customer_id = c.customer_id),
      ${FIELDS.map((name) => `c.${name}`).join(', ')}))
    filter (where c.customer_id is not null) as found
  from step s
  left join customers c not indexed on ${OF_STEP} and ${isWanted} and ${IS_UNCHANGED}`)

/** Finds customers whose affiliate never changed. */
export const UNCHANGED_OF_ALL = selectUnchanged('true')
/**
 * Finds customers of `:affiliates` or, for brands, of `:links`, whose affiliate never changed. Where an
 * affiliate is stored it is the one that is paid, whatever the link says.
 */
export const UNCHANGED_OF_SOME = selectUnchanged(
  `(c.affiliate_id in (select value from json_each(:affiliates))
      or c.affiliate_id is null and c.link in (select value from json_each(:links)))`,
)

/** A customer as these statements return it. */
export type UnchangedCustomer = [
  customer_id: string,
  day: number,
  signup_date: number | null,
  signup_day: number,
  delivery: string,
  affiliate_id: string | null,
  is_brand: number,
  /** The first day of a refusal; null if there is none. */
  refused: number | null,
  /** Whether fields that conditions use have changed. */
  has_changed: number,
  ...fields: (string | number | null)[],
]

/** The row of these statements. */
export interface UnchangedRow {
  /** The last of the next `:entries` customers; null if there are fewer. */
  last: string | null
  /** The number of these customers. */
  searched: number
  /** A JSON array of `UnchangedCustomer`s. */
  found: string
}

/**
 * Counts those of the next `:entries` customers whose affiliate never changed, by affiliate or, for
 * brands, by link.
 */
export const COUNT_UNCHANGED = compileStatement(`
  with ${STEP}
  select s.last, c.affiliate_id,
    iif(c.affiliate_id is null and c.first_day is not null, c.link, null) as link,
    count(c.customer_id) as customers
  from step s left join customers c not indexed on ${OF_STEP} and ${IS_UNCHANGED}
  group by 2, 3`)

/** A row of `COUNT_UNCHANGED`. */
export interface CountRow {
  /** The last of the next `:entries` customers; null if there are fewer. */
  last: string | null
  affiliate_id: string | null
  link: string | null
  customers: number
}

/** Selects the next customers whose affiliate has changed. */
export const SELECT_CHANGED = compileStatement(`
  select distinct customer_id from customer_affiliations
  where account = :account and customer_id > :after order by customer_id limit :changed`)
