// The SQL of what a report groups by. A source reads records as `t`, which has `day`, and joins their
// customer as `c`. Days are numbers of days since 1970-01-01.

/** What the records of a source have. */
export type Source = 'customers' | 'transactions' | 'activity' | 'events' | 'clicks'

/** The columns that only the records of one source have. */
const OWN_COLUMNS: Readonly<Record<string, Source>> = {
  transaction_type: 'transactions',
  instrument: 'activity',
  eventname: 'events',
  product: 'events',
}

/**
 * The first day of a week or a month. 1970-01-01 was a Thursday. A multiple of 7 is added so that `%` never
 * gets a negative number: the first day is -719528.
 */
const DAYS: Readonly<Record<string, string>> = {
  day: 't.day',
  week: 't.day - (t.day + 3 + 7 * 102790) % 7',
  month: `unixepoch(t.day * 86400, 'unixepoch', 'start of month') / 86400`,
}

/** Returns the SQL of a value that records of a source have for a group; `null` if they have none. */
export function dimensionSql(group: string, source: Source): string {
  const days = DAYS[group]
  if (days !== undefined) return days
  const owner = OWN_COLUMNS[group]
  if (owner !== undefined) return owner === source ? `t.${group}` : 'null'
  // A click has no customer. The affiliate of its link is found after the clicks are counted.
  if (source === 'clicks')
    return group === 'link' || group === 'affiliate_id' ? 't.link_id' : 'null'
  if (group === 'affiliate_id') return affiliateSql
  return group === 'link' ? linkSql : fieldSql(group)
}

/** Returns whether a group depends on the customer of a record. */
export const needsCustomer = (group: string): boolean =>
  DAYS[group] === undefined && OWN_COLUMNS[group] === undefined

const changes = (table: string, condition = '') =>
  `from ${table} h where h.account = :account and h.customer_id = t.customer_id${condition && ` and ${condition}`}`

/**
 * Returns a value by the history of affiliates: that of the last change on or before the day, or what
 * held before the first change. Without changes it is the value of the customer.
 */
const byAffiliations = (own: string, current: string): string =>
  `case when not exists (select 1 ${changes('customer_affiliations')}) then ${current}
    when exists (select 1 ${changes('customer_affiliations', 'h.day <= t.day')})
    then (select h.${own} ${changes('customer_affiliations', 'h.day <= t.day')} order by h.day desc limit 1)
    else (select h.previous_${own} ${changes('customer_affiliations')} order by h.day limit 1) end`

/** The link of a customer of a brand is part of the history of affiliates. */
const brandLinkSql = byAffiliations('link', 'iif(c.first_day is null, null, c.link)')

/** The link's affiliate is used where there is none; `:links` maps links to affiliates. */
const affiliateSql = `ifnull(${byAffiliations('affiliate_id', 'c.affiliate_id')},
    (select o.affiliate_id from owners o where o.link = ${brandLinkSql}))`

/** Returns a field of the customer as it was on the day. Its first value holds from the beginning. */
function fieldSql(field: string): string {
  const later = changes('customer_fields', 'h.day > t.day')
  const known = changes('customer_fields', `h.day <= t.day and h.${field} is not null`)
  return `case when not exists (select 1 ${changes('customer_fields')}) then c.${field}
    when exists (select 1 ${known}) then iif(exists (select 1 ${later}),
      (select h.${field} ${later} order by h.day limit 1), c.${field})
    else ifnull((select h.${field} ${later} and h.${field} is not null order by h.day limit 1),
      c.${field}) end`
}

const linkSql = `iif(c.first_day is null, ${fieldSql('link')}, ${brandLinkSql})`

/** Whether the customer of a record has an affiliate on its day that is configured now. */
export const isAttributedSql = `exists (select 1 from affiliates a
    where a.account = :account and a.affiliate_id = ${affiliateSql})`

/** The affiliates of the account's links; `:links` is a JSON object. */
export const OWNERS = `owners(link, affiliate_id) as materialized (
    select key, value from json_each(:links)
  )`
