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

/** A JSON array of `UnchangedCustomer`s. */
const FOUND = `json_group_array(json_array(
      ${COLUMNS.join(', ')}, c.first_day is not null,
      (select r.day from customer_refusals r
        where r.account = :account and r.customer_id = c.customer_id),
      exists (select 1 from customer_fields f
        where f.account = :account and f.customer_id = c.customer_id),
      ${FIELDS.map((name) => `c.${name}`).join(', ')}))
    filter (where c.customer_id is not null) as found`

/** Selects, of the next `:entries` customers, the wanted ones whose affiliate never changed. */
const selectUnchanged = (isWanted: string) =>
  compileStatement(`
  with ${STEP}
  select s.last, iif(s.last is null, (select count(*) from ${NEXT}), :entries) as searched,
    null as share, ${FOUND}
  from step s
  left join customers c not indexed on ${OF_STEP} and ${isWanted} and ${IS_UNCHANGED}`)

/** Finds customers whose affiliate never changed. */
export const UNCHANGED_OF_ALL = selectUnchanged('true')

/**
 * The customer is of `:affiliates` or, for brands, of `:links`. Where an affiliate is stored it is the one that
 * is paid, whatever the link says.
 */
const IS_OF_SOME = `(c.affiliate_id in (select value from json_each(:affiliates))
      or c.affiliate_id is null and c.link in (select value from json_each(:links)))`

/** Finds customers of some affiliates whose affiliate never changed, among all customers. */
export const UNCHANGED_OF_SOME = selectUnchanged(IS_OF_SOME)

/** Whether a row of `customer_owners` is of `:affiliates` or `:links`. */
const IS_OWNED = `o.account = :account and o.owner in (
      select value from json_each(:affiliates) union all select value from json_each(:links))`

/**
 * Finds the same customers among the next `:entries` whom these affiliates ever had, without a look at others.
 * `share` is the share of these customers among all; null after the first step.
 */
export const UNCHANGED_OF_FEW = compileStatement(`
  with owned as materialized (
    select distinct o.customer_id from customer_owners o
    where ${IS_OWNED} and o.customer_id > :after order by o.customer_id limit :entries
  ), step as materialized (
    select count(*) as searched, iif(count(*) = :entries, max(customer_id), null) as last from owned
  )
  select s.last, s.searched,
    iif(:after = '', (select count(*) from customer_owners o where ${IS_OWNED}) * 1.0
      / (select total from totals where account = :account and resource = 'customers'), null) as share,
    ${FOUND}
  from step s left join owned w
  left join customers c not indexed on c.account = :account and c.customer_id = w.customer_id
    and ${IS_OF_SOME} and ${IS_UNCHANGED}
  group by s.last`)

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
  share: number | null
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

/** Selects the next customers whose affiliate has changed, of those whom a few affiliates ever had. */
export const SELECT_CHANGED_OF_FEW = compileStatement(`
  select distinct o.customer_id from customer_owners o
  where ${IS_OWNED} and o.customer_id > :after and exists (
    select 1 from customer_affiliations h
    where h.account = :account and h.customer_id = o.customer_id)
  order by o.customer_id limit :changed`)
