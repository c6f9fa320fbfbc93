import { clickSql } from '../../attribution/db/clicks.ts'
import { EVENT_STATUS, IS_OUTFLOW, magnitudeOf } from '../../commission/db/facts-sql.ts'
import { sumSql } from '../../platform/db/exact-sums.ts'
import { all, only } from '../../platform/db/query.ts'
import { bindStatement, compileStatement, readBatch } from '../../platform/db/statement.ts'

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
  if (source === 'clicks' && isSub(group)) return `t.${group}`
  // A click has no customer. The affiliate of its link is found after the clicks are counted.
  if (source === 'clicks')
    return group === 'link' || group === 'affiliate_id' ? 't.link_id' : 'null'
  if (group === 'affiliate_id') return affiliateSql
  if (isSub(group)) return subSql(group)
  return group === 'link' ? linkSql : fieldSql(group)
}

/** Returns whether a group depends on the customer of a record. */
const needsCustomer = (group: string): boolean =>
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

/** Whether a group is one of the parameters that a click keeps. */
const isSub = (group: string): boolean => /^sub[1-5]$/.test(group)

const linkSql = `iif(c.first_day is null, ${fieldSql('link')}, ${brandLinkSql})`

/**
 * What the click by which a customer came has of a parameter. A code counts only if it is of the link that
 * the customer has on the day.
 */
const subSql = (group: string): string =>
  `iif(substr(c.tracking_data, 4, 8) = ${linkSql}, ${clickSql(group, 'c.tracking_data')}, null)`

/** Whether the customer of a record has an affiliate on its day that is configured now. */
const isAttributedSql = `exists (select 1 from affiliates a
    where a.account = :account and a.affiliate_id = ${affiliateSql})`

/** The affiliates of the account's links; `:links` is a JSON object. */
export const OWNERS = `owners(link, affiliate_id) as materialized (
    select key, value from json_each(:links)
  )`

const LINK_AFFILIATES = compileStatement(`
  select link_id, affiliate_id from links indexed by links_account where account = :account`)

/** Returns the affiliate of each link of an account. */
export async function linkAffiliates(
  db: D1Database,
  account: string,
): Promise<ReadonlyMap<string, string>> {
  type Row = { link_id: string; affiliate_id: string }
  const results = await all<Row>(db, LINK_AFFILIATES, { account })
  return new Map(results.map(({ link_id, affiliate_id }) => [link_id, affiliate_id]))
}

/** What a report reads: its groups, and the columns and amounts that its metrics need. */
export interface ReportShape {
  /** The names of the groups, in order. */
  readonly groups: readonly string[]
  /** The transaction types whose records are summed by type. */
  readonly types: readonly string[]
  /** The amounts of trading activity that are summed. */
  readonly activity: readonly string[]
  /** Whether each day is summed apart, since amounts in USD are converted from it. */
  readonly byDay: boolean
  /** Whether `amount_usd` replaces amounts in other currencies. */
  readonly inUsd: boolean
  /** Whether the amounts of outflows come negative, and their magnitudes are summed. */
  readonly signed: boolean
  /** Whether events have a status, by which they are approved or not. */
  readonly hasStatus: boolean
  /** Whose records make a customer active. */
  readonly active: readonly Source[]
  /** Whether the records of `:affiliates` are read, and not those of the whole account. */
  readonly own: boolean
}

/** The tables, with the columns of the day and of whom it finds the records; the key begins with both. */
const TABLES: Readonly<Record<Source, { from: string; day: string; id: string }>> = {
  customers: { from: 'customers r indexed by customers_day', day: 'day', id: 'customer_id' },
  transactions: { from: 'transactions r not indexed', day: 'day', id: 'customer_id' },
  activity: { from: 'activity r not indexed', day: 'date', id: 'customer_id' },
  events: { from: 'events r not indexed', day: 'day', id: 'customer_id' },
  clicks: { from: 'clicks r not indexed', day: 'day', id: 'link_id' },
}

/**
 * Finds the records of the days from `:from` to `:to`. Own ones are searched for by each customer in `owners`, a table
 * of customers and of the days on which they count, and by each day; customers by themselves, and clicks by each link.
 */
function recordsOf(source: Source, own: boolean, owners: 'own' | 'own_customers'): string {
  const { from, day, id } = TABLES[source]
  if (!own) return `${from} where r.account = :account and r.${day} between :from and :to`
  if (source === 'customers')
    return `${owners} o cross join customers r not indexed where r.account = :account
        and r.customer_id = o.customer_id and r.day between max(o.first, :from) and min(o.last, :to)`
  const [others, condition, value] =
    source === 'clicks'
      ? ['json_each(:own_links)', 'true', 'o.value']
      : [owners, 'd.day between o.first and o.last', 'o.customer_id']
  return `days d cross join ${others} o cross join ${from}
        where ${condition} and r.account = :account and r.${day} = d.day and r.${id} = ${value}`
}

/** The first and the last of all days. */
const [FIRST_DAY, LAST_DAY] = [-719_528, 2_932_896]

/** The affiliate of a row, whose link counts if it has none, is one of `:affiliates`. */
const isOwn = (affiliate: string, link: string, condition = 'true'): string =>
  `ifnull(${affiliate}, (select o.affiliate_id from owners o where o.link = ${link} and ${condition})) in (
      select value from json_each(:affiliates))`

/** The customers whom `:affiliates` ever had. */
const HAD = `(
      select distinct customer_id from customer_owners where account = :account and owner in (
        select value from json_each(:affiliates) union all select link from owners
      ))`

/**
 * On which days each customer had one of `:affiliates`: always if the affiliate never changed; otherwise from each
 * change to the next, and what held before the first.
 */
const OWN = `changes_of_own as materialized (
    select h.*, lead(h.day) over (partition by h.customer_id order by h.day) as next,
      row_number() over (partition by h.customer_id order by h.day) as n
    from ${HAD} k
    cross join customer_affiliations h on h.account = :account and h.customer_id = k.customer_id
  ), own(customer_id, first, last) as materialized (
    select c.customer_id, ${FIRST_DAY}, ${LAST_DAY} from ${HAD} k
    cross join customers c on c.account = :account and c.customer_id = k.customer_id
    where not exists (select 1 from customer_affiliations h
        where h.account = :account and h.customer_id = c.customer_id)
      and ${isOwn('c.affiliate_id', 'c.link', 'c.first_day is not null')}
    union all
    select h.customer_id, h.day, ifnull(h.next - 1, ${LAST_DAY}) from changes_of_own h
    where ${isOwn('h.affiliate_id', 'h.link')}
    union all
    select h.customer_id, ${FIRST_DAY}, h.day - 1 from changes_of_own h
    where h.n = 1 and h.day > ${FIRST_DAY} and ${isOwn('h.previous_affiliate_id', 'h.previous_link')}
  ), own_customers(customer_id, first, last) as materialized (
    select distinct customer_id, ${FIRST_DAY}, ${LAST_DAY} from own
  ), days(day) as materialized (
    select :from union all select day + 1 from days where day < :to
  )`

const COUNT_OWN = compileStatement(`
  select count(*) as customers from customer_owners where account = :account and owner in (
    select value from json_each(:affiliates) union all select key from json_each(:links))`)

/**
 * Returns how many customers some affiliates ever had.
 *
 * @param links The affiliates of links, as JSON by link; `{}` for firms.
 */
export async function countOwn(
  db: D1DatabaseSession,
  account: string,
  affiliates: readonly string[],
  links: string,
): Promise<number> {
  const values = { account, affiliates: JSON.stringify(affiliates), links }
  return (await only<{ customers: number }>(db, COUNT_OWN, values)).customers
}

/** Returns a query that counts the records of the days from `:from` to `:to`, until there are more than `:records`. */
export function countSql(source: Source): string {
  const { from, day } = TABLES[source]
  return `
    select count(*) as count from (
      select 1 from ${from}
      where r.account = :account and r.${day} between :from and :to limit :records + 1)`
}

/** Selects the records of the days from `:from` to `:to`, without those that are held. */
function recordsSql(
  { own }: ReportShape,
  source: Source,
  columns: readonly string[],
  condition = '',
  owners: 'own' | 'own_customers' = 'own',
): string {
  const { day } = TABLES[source]
  const isNotHeld = source === 'customers' || source === 'clicks' ? '' : ' and r.held = 0'
  const read = [day === 'day' ? 'r.day' : `r.${day} as day`, ...columns.map((name) => `r.${name}`)]
  return `select ${[...new Set(read)].join(', ')}
        from ${recordsOf(source, own, owners)}${isNotHeld}${condition && ` and ${condition}`}`
}

/** Returns the names of the groups in rows. A report without groups has one that is null. */
const groupNames = ({ groups }: ReportShape): string[] =>
  groups.length === 0 ? ['g0'] : groups.map((_, i) => `g${i}`)

/** Returns the columns with the groups of the records of a source. */
export function groupColumns({ groups }: ReportShape, source: Source): string[] {
  if (groups.length === 0) return ['null as g0']
  return groups.map((group, i) => `${dimensionSql(group, source)} as g${i}`)
}

/** Joins the customer of each record where a group depends on it. */
const customerJoin = ({ groups }: ReportShape): string =>
  groups.some(needsCustomer)
    ? `left join customers c on c.account = :account and c.customer_id = t.customer_id`
    : ''

/** Returns whether a statement needs the affiliates of links. */
const needsOwners = ({ groups, own }: ReportShape): boolean =>
  own || groups.includes('affiliate_id')

/** Returns the beginning of a statement: the affiliates of links where a group needs them, and own customers. */
const withClause = (shape: ReportShape, ...others: readonly string[]): string => {
  const all = [...(needsOwners(shape) ? [OWNERS] : []), ...(shape.own ? [OWN] : []), ...others]
  return all.length === 0 ? '' : `with recursive ${all.join(', ')}`
}

/** Counts customers by their signup day, and those with a configured affiliate. */
export function signupsSql(shape: ReportShape, attributed: boolean): string {
  const own = attributed ? `, ${isAttributedSql} as attributed` : ', null as attributed'
  const withOwners = attributed && !needsOwners(shape) ? `with ${OWNERS}` : withClause(shape)
  const join = attributed
    ? 'left join customers c on c.account = :account and c.customer_id = t.customer_id'
    : customerJoin(shape)
  return `${withOwners}
    select ${groupNames(shape).join(', ')}, count(*) as count, sum(attributed) as attributed
    from (
      select ${groupColumns(shape, 'customers').join(', ')}${own}
      from (${recordsSql(shape, 'customers', ['customer_id'])}) t ${join}
    )
    group by ${groupNames(shape).join(', ')} limit :rows + 1`
}

/** Counts clicks. Where the affiliate is a group, its value is the link. */
export const clicksSql = (shape: ReportShape): string => `${withClause(shape)}
    select ${groupNames(shape).join(', ')}, count(*) as count
    from (
      select ${groupColumns(shape, 'clicks').join(', ')}
      from (${recordsSql(shape, 'clicks', ['link_id', ...shape.groups.filter(isSub)])}) t
    )
    group by ${groupNames(shape).join(', ')} limit :rows + 1`

/** Counts the customers with records of some sources, in each group and, in the last row, in all. */
export function activeSql(shape: ReportShape): string {
  const names = groupNames(shape)
  const parts = shape.active.map(
    (source) => `
      select ${groupColumns(shape, source).join(', ')}, t.customer_id as customer_id
      from (${recordsSql(shape, source, ['customer_id', ...ownColumns(shape, source)])}) t ${customerJoin(shape)}`,
  )
  return `${withClause(shape, `seen as materialized (select distinct * from (${parts.join(' union all ')}))`)}
    select ${names.join(', ')}, count(*) as count, 0 as is_total from seen group by ${names.join(', ')}
    union all
    select ${names.map(() => 'null').join(', ')}, count(distinct customer_id), 1 from seen
    limit :rows + 1`
}

/** Returns the columns of a source that are groups. */
const ownColumns = ({ groups }: ReportShape, source: Source): string[] =>
  groups.filter((group) => dimensionSql(group, source) === `t.${group}` && group !== 'day')

const sumOf = (name: string) => `${sumSql(name)} as ${name}`

const quoted = (types: readonly string[]) => types.map((type) => `'${type}'`).join(', ')

const IS_APPROVED = 't.status in (select value from json_each(:approved))'

/** Whether a record `r` of transactions is an approved deposit. */
export const DEPOSITS = `r.transaction_type = 'deposit'
        and r.status in (select value from json_each(:approved))`

/**
 * Returns the columns of an amount of transactions. Amounts in the currency of the report are summed
 * over all days, and so are those that `amount_usd` replaces; others by currency and day.
 */
function amountColumns({ inUsd, signed }: ReportShape): string {
  const amount = (name: string) => (signed ? magnitudeOf(`t.${name}`, IS_OUTFLOW) : `t.${name}`)
  const hasUsd = '(t.amount_usd is not null and t.currency <> :currency)'
  const keepsDay = inUsd
    ? `t.currency <> :currency and t.amount_usd is null`
    : 't.currency <> :currency'
  return `t.currency, iif(${keepsDay}, t.day, null) as rate_day, ${hasUsd} as has_usd,
        ${amount('amount_currency')} as amount, iif(${hasUsd}, ${amount('amount_usd')}, null) as usd`
}

const AMOUNT_GROUPS = ['currency', 'rate_day', 'has_usd']

const TRANSACTION_COLUMNS = [
  'customer_id',
  'transaction_type',
  'status',
  'currency',
  'amount_currency',
  'amount_usd',
]

/**
 * Sums the amounts of transactions by type, and by whether they are approved. Other types are only
 * counted.
 */
export function transactionsSql(shape: ReportShape): string {
  const groups = [...groupNames(shape), 'type', 'approved', ...AMOUNT_GROUPS]
  return `${withClause(shape)}
    select ${groups.join(', ')}, count(*) as count, ${sumOf('amount')}, ${sumOf('usd')}
    from (
      select ${groupColumns(shape, 'transactions').join(', ')},
        iif(t.transaction_type in (${quoted(shape.types)}), t.transaction_type, null) as type,
        ${IS_APPROVED} as approved, ${amountColumns(shape)}
      from (${recordsSql(shape, 'transactions', TRANSACTION_COLUMNS)}) t ${customerJoin(shape)}
    )
    group by ${groups.join(', ')} limit :rows + 1`
}

/** The condition that a customer has an approved deposit from one day on and before another. */
export const hasDeposit = (first: string, end: string) => `exists (
        with recursive days(day) as (
          select ${first} where ${first} < ${end}
          union all
          select day + 1 from days where day + 1 < ${end}
        )
        select 1 from days cross join transactions e not indexed
          on e.account = :account and e.day = days.day and e.customer_id = t.customer_id
        where e.transaction_type = 'deposit' and e.held = 0
          and e.status in (select value from json_each(:approved))
      )`

/**
 * Sums the first approved deposit of each customer since its signup day, if it is of one of the days. The days since
 * the signup are searched for an earlier one in order: most customers deposit soon.
 */
export function firstDepositsSql(shape: ReportShape): string {
  const groups = [...groupNames(shape), ...AMOUNT_GROUPS]
  const columns = [...TRANSACTION_COLUMNS, 'transaction_date', 'transaction_id']
  // The first deposit counts for who had the customer on its day.
  const isOwnDeposit = !shape.own
    ? ''
    : ` and exists (select 1 from own o
        where o.customer_id = t.customer_id and t.day between o.first and o.last)`
  return `${withClause(
    shape,
    `deposits as materialized (
      select t.*, max(d.day, (select min(day) from transactions where account = :account)) as since,
        row_number() over (
          partition by t.customer_id order by t.day, t.transaction_date, t.transaction_id
        ) as n
      from (${recordsSql(shape, 'transactions', columns, DEPOSITS, 'own_customers')}) t
      cross join customers d on d.account = :account and d.customer_id = t.customer_id
      where t.day >= d.day
    )`,
  )}
    select ${groups.join(', ')}, count(*) as count, ${sumOf('amount')}, ${sumOf('usd')}
    from (
      select ${groupColumns(shape, 'transactions').join(', ')}, ${amountColumns(shape)}
      from deposits t ${customerJoin(shape)}
      where t.n = 1${isOwnDeposit} and not ${hasDeposit('t.since', ':from')}
    )
    group by ${groups.join(', ')} limit :rows + 1`
}

/** Sums amounts of trading activity. */
export function activitySql(shape: ReportShape): string {
  const isMoney = shape.activity.some((name) => name !== 'lots_traded')
  const keepsDay = shape.byDay ? 't.day' : 'iif(t.currency = :currency, null, t.day)'
  const groups = [...groupNames(shape), 'currency', 'rate_day']
  const columns = ['customer_id', 'currency', ...ownColumns(shape, 'activity'), ...shape.activity]
  return `${withClause(shape)}
    select ${groups.join(', ')}, count(*) as count, ${shape.activity.map(sumOf).join(', ')}
    from (
      select ${groupColumns(shape, 'activity').join(', ')}, ${isMoney ? 't.currency' : 'null as currency'},
        ${isMoney ? keepsDay : 'null'} as rate_day, ${shape.activity.map((name) => `t.${name}`).join(', ')}
      from (${recordsSql(shape, 'activity', columns)}) t ${customerJoin(shape)}
    )
    group by ${groups.join(', ')} limit :rows + 1`
}

/** The columns of events, with the record where its status is read. */
const readColumns = ({ hasStatus }: ReportShape) => [
  'customer_id',
  'eventname',
  'currency',
  ...(hasStatus ? ['record'] : []),
]

/** Whether an event is approved: by its status, or because it has none. */
const isApproved = ({ hasStatus }: ReportShape) =>
  hasStatus ? `ifnull(${EVENT_STATUS} in (select value from json_each(:approved)), 1)` : '1'

const eventColumns = (shape: ReportShape) =>
  `${groupColumns(shape, 'events').join(', ')}, t.eventname as event,
        ${isApproved(shape)} as approved, t.currency,
        iif(t.currency = :currency, null, t.day) as rate_day`

const IS_OUTFLOW_EVENT = 't.eventname in (select value from json_each(:outflows))'

/** Counts events by name, and sums `Value`. */
export function eventsSql(shape: ReportShape): string {
  const groups = [...groupNames(shape), 'event', 'approved', 'currency', 'rate_day']
  const amount = shape.signed ? magnitudeOf('t.amount', IS_OUTFLOW_EVENT) : 't.amount'
  const columns = [...readColumns(shape), ...ownColumns(shape, 'events'), 'amount']
  return `${withClause(shape)}
    select ${groups.join(', ')}, count(*) as count, ${sumOf('amount')}
    from (
      select ${eventColumns(shape)}, ${amount} as amount
      from (${recordsSql(shape, 'events', columns)}) t ${customerJoin(shape)}
    )
    group by ${groups.join(', ')} limit :rows + 1`
}

/** Sums each KPI of events by its name. */
export function kpisSql(shape: ReportShape): string {
  const groups = [...groupNames(shape), 'event', 'approved', 'kpi', 'currency', 'rate_day']
  const columns = [...readColumns(shape), ...ownColumns(shape, 'events'), 'kpis']
  return `${withClause(shape)}
    select ${groups.join(', ')}, ${sumOf('amount')}
    from (
      select ${eventColumns(shape)}, k.key as kpi, k.value as amount
      from (${recordsSql(shape, 'events', columns)}) t ${customerJoin(shape)} cross join json_each(t.kpis) k
    )
    group by ${groups.join(', ')} limit :rows + 1`
}

const IS_WITHIN = `((length(period) = 7 and period between :first_month and :last_month)
          or (length(period) = 8 and period between :first_week and :last_week))`

/** The total of a statement: its currency, digits, and the number of its decimal places. */
const TOTAL = `statement ->> 'currency' as currency,
        cast(replace(statement ->> 'total', '.', '') as integer) as units,
        iif(instr(statement ->> 'total', '.') = 0, 0,
          length(statement ->> 'total') - instr(statement ->> 'total', '.')) as scale`

/**
 * The statements of periods that share a day with the report, by period and currency. Of `:affiliates` alone, without
 * drafts unless `:drafts`; other statements are then without an amount: what is known of an affiliate does not depend on
 * whether they have one.
 */
export function commissionSql(byAffiliate: boolean, own: boolean): string {
  const counts = own
    ? `affiliate_id in (select value from json_each(:affiliates)) and (:drafts or status <> 'draft')`
    : 'true'
  return `
    select period, affiliate_id, currency, scale, sum(units) as units
    from (
      select period, ${byAffiliate ? 'affiliate_id' : 'null as affiliate_id'}, ${TOTAL}
      from statements
      where account = :account and statement is not null and ${IS_WITHIN} and ${counts}
      ${
        own
          ? `union all select distinct period, null, null, null, 0 from statements
      where account = :account and statement is not null and ${IS_WITHIN} and :drafts`
          : ''
      }
    )
    group by period, affiliate_id, currency, scale order by 1 limit :rows + 1`
}

/** A row of a statement of a report: its groups, and what it counts and sums. */
export type ReportRow = Readonly<Record<string, string | number | null>>

/** A statement of a report with its parameters, without the account. */
export type ReportStatement = readonly [
  sql: string,
  values: Readonly<Record<string, string | number | null>>,
]

/** Reads statements of a report in one batch. */
export async function readStatements(
  session: D1DatabaseSession,
  account: string,
  statements: readonly ReportStatement[],
): Promise<ReportRow[][]> {
  const bound = statements.map(([sql, values]) =>
    bindStatement(session, compileStatement(sql), { ...values, account }),
  )
  return readBatch<ReportRow[][]>(session, bound)
}
