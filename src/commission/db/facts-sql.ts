import { SIGNUP, SIGNUP_DAY } from '../../ingest/db/signup.ts'
import { OUTFLOWS } from '../../platform/amount-signs.ts'
import { sumSql } from '../../platform/db/exact-sums.ts'
import { compileStatement, type Statement } from '../../platform/db/statement.ts'
import { ACTIVITY_FIELDS, type ActivityAmount, FACT_TABLES, type FactTable } from './fact-tables.ts'

/** The columns of a transaction. */
const TRANSACTION_NAMES = [
  'customer_id',
  'day',
  'transaction_id',
  'transaction_date',
  'transaction_type',
  'status',
  'transaction_subtype',
  'currency',
  'amount_currency',
  'amount_usd',
  'delivery',
]

/** The columns of a transaction, as SQL. */
export const TRANSACTION_COLUMNS = TRANSACTION_NAMES.map((name) => `t.${name}`).join(', ')

/** The columns of a trading activity. */
const ACTIVITY_NAMES = [
  'customer_id',
  'day',
  'instrument',
  'currency',
  ...ACTIVITY_FIELDS,
  'drawdown',
  'max_drawdown',
  'delivery',
]

/** Returns columns of a trading activity, as SQL. */
const activityColumns = (names: readonly string[]): string =>
  names.map((name) => (name === 'day' ? 't.date as day' : `t.${name}`)).join(', ')

/** The columns of a trading activity, as SQL. */
export const ACTIVITY_COLUMNS = activityColumns(ACTIVITY_NAMES)

/** The columns of an event. */
const EVENT_NAMES = [
  'customer_id',
  'day',
  'id',
  'eventname',
  'createtime',
  'currency',
  'product',
  'amount',
  'kpis',
  'time_length',
  'delivery',
]
/** The status of an event: the member of its record that `:status_members` names, or null. */
export const EVENT_STATUS = `(
  select e.value from json_each(:status_members) m cross join json_each(t.record) e
  where m.key = t.eventname and e.key = m.value)`

/** Returns columns of an event, as SQL. */
export const eventColumns = (names: readonly string[]): string =>
  names
    .map((name) => {
      if (name === 'status') return `${EVENT_STATUS} as status`
      return name === 'time_length'
        ? `length(t.record ->> 'createtime') as time_length`
        : `t.${name}`
    })
    .join(', ')

/** The columns of an event, as SQL. */
export const EVENT_COLUMNS = eventColumns(EVENT_NAMES)

/**
 * How a statement finds the records of customers on each day. `search` searches the index once per customer. `range`
 * reads all records between the first and the last customer, which is faster if many of these are wanted; it also returns
 * those of others.
 */
type Way = 'search' | 'range'

const CUSTOMERS: Record<Way, string> = {
  search: 't.customer_id in (select value from json_each(:ids))',
  range: `t.customer_id between (select min(value) from json_each(:ids))
      and (select max(value) from json_each(:ids))`,
}

/** Returns the SQL after `from` that selects the records of some customers on some days. */
type RecordsOf = (table: FactTable) => string

const recordsBy =
  (way: Way): RecordsOf =>
  ({ table, dayColumn }) =>
    `${table} t not indexed
    where t.account = :account and t.${dayColumn} = d.value and ${CUSTOMERS[way]} and t.held = 0`

/**
 * The statements of a query, one for each way to find the records, and the columns of its rows. They return rows packed:
 * for each day one row, whose column `records` is a JSON array of arrays. D1 returns this four times as fast. SQLite fails
 * at 2 MB of JSON.
 */
export interface FactStatements extends Readonly<Record<Way, Statement>> {
  readonly columns: readonly string[]
}

/** Compiles the statements of a query. A function of D1 has at most 32 arguments, and no query more columns. */
function factStatements(
  columns: readonly string[],
  toSql: (recordsOf: RecordsOf) => string,
): FactStatements {
  const pack = (way: Way) =>
    compileStatement(`
      select (select json_group_array(json_array(${columns.join(', ')}))
        from (${toSql(recordsBy(way))})) as records
      from json_each(:days) d`)
  return { columns, search: pack('search'), range: pack('range') }
}

// The records of some customers on some days are found along the primary key (account, day, customer).
// `:days` and `:ids` are JSON arrays; the days are those on which the account has records at all.

/** Finds the days from `:first_day` to `:last_day` on which an account has records. */
export const factDays = ({ table, dayColumn }: FactTable): Statement => {
  const firstDay = (condition: string) =>
    `select min(${dayColumn}) from ${table} not indexed
      where account = :account and ${dayColumn} <= :last_day and ${dayColumn} ${condition}`
  return compileStatement(`
    with recursive days(found) as (
      ${firstDay('>= :first_day')}
      union all
      select (${firstDay('> found')}) from days where found is not null
    )
    select found as day from days where found is not null order by day`)
}

/** Reads the day of an account's first signup. */
export const FIRST_SIGNUP = compileStatement(
  'select min(day) as day from customers where account = :account',
)

/** Reads when customers signed up. */
export const SIGNUPS = compileStatement(`
  select c.customer_id, c.day, ${SIGNUP} as signup_date, ${SIGNUP_DAY} as signup_day, c.delivery
  from json_each(:ids) i
  cross join customers c on c.account = :account and c.customer_id = i.value`)

const isOneOf = (column: string, parameter: string) =>
  `${column} in (select value from json_each(:${parameter}))`

const namedTransactions = (recordsOf: RecordsOf) =>
  `${recordsOf(FACT_TABLES.transactions)}
    and ${isOneOf('t.transaction_type', 'types')} and ${isOneOf('t.status', 'statuses')}`

/** The columns without which records are computed: deliveries earn nothing. */
const isNoDelivery = (name: string): boolean => name !== 'delivery'

const EARNING_NAMES = TRANSACTION_NAMES.filter(isNoDelivery)

/** Reads transactions of some types and statuses one by one. */
export const SINGLE_TRANSACTIONS = factStatements(
  EARNING_NAMES,
  (recordsOf) => `
  select ${EARNING_NAMES.map((name) => `t.${name}`).join(', ')} from ${namedTransactions(recordsOf)}`,
)

/** Reads all transactions. */
export const ALL_TRANSACTIONS = factStatements(
  TRANSACTION_NAMES,
  (recordsOf) => `
  select ${TRANSACTION_COLUMNS} from ${recordsOf(FACT_TABLES.transactions)}`,
)

const sumOf = (name: string) => `${sumSql(name)} as ${name}`

/** Returns an amount, or its magnitude if a condition holds. */
export const magnitudeOf = (column: string, condition: string): string =>
  `iif(${condition}, abs(${column}), ${column})`

/** Whether the type of a transaction is that of an outflow. */
export const IS_OUTFLOW = `t.transaction_type in (${OUTFLOWS.map((type) => `'${type}'`).join(', ')})`

/**
 * Sums transactions of some types and statuses. One with an amount in USD stays alone unless it is in
 * `:currency`: that amount may stand for it, and each such amount is converted by itself.
 *
 * @param signed Whether outflows come negative: their magnitudes are summed.
 */
export const summedTransactions = (subtypes: boolean, signed: boolean): FactStatements => {
  const amount = (name: string) => (signed ? magnitudeOf(`t.${name}`, IS_OUTFLOW) : `t.${name}`)
  const groups = [
    'customer_id',
    'day',
    'transaction_type',
    'status',
    'currency',
    'amount_usd',
    'alone',
  ]
  if (subtypes) groups.push('transaction_subtype')
  return factStatements(
    [...groups, 'records', 'amount_currency'],
    (recordsOf) => `
    select ${groups.join(', ')}, count(*) as records, ${sumOf('amount_currency')}
    from (
      select t.customer_id, t.day, t.transaction_type, t.status, t.currency,
        ${amount('amount_currency')} as amount_currency, t.transaction_subtype,
        iif(t.currency = :currency, null, ${amount('amount_usd')}) as amount_usd,
        iif(t.amount_usd is null or t.currency = :currency, null, t.transaction_id) as alone
      from ${namedTransactions(recordsOf)} limit :records
    )
    group by ${groups.join(', ')}`,
  )
}

const activityStatements = (names: readonly string[]): FactStatements =>
  factStatements(
    names,
    (recordsOf) => `
  select ${activityColumns(names)}
  from ${recordsOf(FACT_TABLES.activity)}`,
  )

/** Reads trading activity row by row, with deliveries. */
export const ALL_ACTIVITY = activityStatements(ACTIVITY_NAMES)

/** Reads amounts of trading activity row by row. */
export const singleActivity = (fields: readonly ActivityAmount[]): FactStatements =>
  activityStatements(['customer_id', 'day', 'instrument', 'currency', ...fields])

/** Sums amounts of trading activity. Rows that lack one of them are summed apart. */
export const summedActivity = (fields: readonly ActivityAmount[]): FactStatements => {
  const groups = ['customer_id', 'day', 'currency', 'present']
  return factStatements(
    [...groups, 'records', ...fields],
    (recordsOf) => `
    select ${groups.join(', ')}, count(*) as records, ${fields.map(sumOf).join(', ')}
    from (
      select t.customer_id, t.date as day, t.currency, t.instrument,
        ${fields.map((name) => `t.${name}`).join(', ')}, ${presence(fields.map((name) => `t.${name}`))}
      from ${recordsOf(FACT_TABLES.activity)} limit :records
    )
    group by ${groups.join(', ')}`,
  )
}

/** One bit for each value that a record has. */
const presence = (values: readonly string[]) =>
  `${values.map((value, i) => `(${value} is not null) * ${2 ** i}`).join(' + ')} as present`

/** Whether the status of an event is one of `:statuses`. An event without one is approved. */
const HAS_STATUS = `ifnull(${EVENT_STATUS} in (select value from json_each(:statuses)), 1)`

const namedEvents = (recordsOf: RecordsOf, hasStatus: boolean) =>
  `${recordsOf(FACT_TABLES.events)} and ${isOneOf('t.eventname', 'types')}${hasStatus ? ` and ${HAS_STATUS}` : ''}`

const events = (names: readonly string[], from: (recordsOf: RecordsOf) => string): FactStatements =>
  factStatements(names, (recordsOf) => `select ${eventColumns(names)} from ${from(recordsOf)}`)

const withStatus = (names: readonly string[], hasStatus: boolean) =>
  hasStatus ? [...names, 'status'] : names

/** Reads events of some names one by one, those with a status if they have one of some statuses. */
export const singleEvents = (hasStatus: boolean): FactStatements =>
  events(withStatus(EVENT_NAMES.filter(isNoDelivery), hasStatus), (recordsOf) =>
    namedEvents(recordsOf, hasStatus),
  )

/** Reads all events. */
export const allEvents = (hasStatus: boolean): FactStatements =>
  events(withStatus(EVENT_NAMES, hasStatus), (recordsOf) => recordsOf(FACT_TABLES.events))

/**
 * Sums `Value` and `kpis` KPIs of events, whose names are `:kpi_0` and so on. Of the events `:outflows`
 * it sums the magnitude of `Value`.
 */
export const summedEvents = (
  kpis: number,
  hasStatus: boolean,
  hasOutflows: boolean,
): FactStatements => {
  const names = Array.from({ length: kpis }, (_, i) => `kpi_${i}`)
  const kpi = (name: string) => `(select value from json_each(t.kpis) where key = :${name})`
  const amount = hasOutflows
    ? `${magnitudeOf('t.amount', isOneOf('t.eventname', 'outflows'))} as amount`
    : 't.amount'
  const groups = ['customer_id', 'day', 'eventname', 'currency', 'product', 'present']
  const sums = ['amount', ...names]
  return factStatements(
    [...groups, 'records', ...sums],
    (recordsOf) => `
    select ${groups.join(', ')}, count(*) as records, ${sums.map(sumOf).join(', ')}
    from (
      select *, ${presence(sums)} from (
        select t.customer_id, t.day, t.eventname, t.currency, t.product, ${amount}
          ${names.map((name) => `, ${kpi(name)} as ${name}`).join('')}
        from ${namedEvents(recordsOf, hasStatus)} limit :records
      )
    )
    group by ${groups.join(', ')}`,
  )
}
