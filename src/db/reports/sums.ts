import { EVENT_STATUS } from '../commission/fact-columns.ts'
import { IS_OUTFLOW, magnitudeOf } from '../commission/facts-sql.ts'
import { limbsOf } from '../records/totals-sql.ts'
import {
  customerJoin,
  groupColumns,
  groupNames,
  ownColumns,
  type ReportShape,
  recordsSql,
  withClause,
} from './sources.ts'

const columnList = (columns: readonly (readonly [name: string, sql: string])[]) =>
  columns.map(([name, sql]) => `${sql} as ${name}`).join(', ')

const limbs = (name: string) => columnList(limbsOf(name, name))

/** Sums 0 where no record has a value; the limbs of a null are null. */
const quoted = (types: readonly string[]) => types.map((type) => `'${type}'`).join(', ')

const IS_APPROVED = 't.status in (select value from json_each(:approved))'

const DEPOSITS = `r.transaction_type = 'deposit'
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
    select ${groups.join(', ')}, count(*) as count, ${limbs('amount')}, ${limbs('usd')}
    from (
      select ${groupColumns(shape, 'transactions').join(', ')},
        iif(t.transaction_type in (${quoted(shape.types)}), t.transaction_type, null) as type,
        ${IS_APPROVED} as approved, ${amountColumns(shape)}
      from (${recordsSql('transactions', TRANSACTION_COLUMNS)}) t ${customerJoin(shape)}
    )
    group by ${groups.join(', ')} limit :rows + 1`
}

/** How many days from the signup on are searched for every customer, without a limit. */
const FIRST_DAYS = 7

/** The condition that a customer has an approved deposit from one day on and before another. */
const hasDeposit = (first: string, end: string) => `exists (
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
 * Sums the first approved deposit of each customer since its signup day, if it is of one of the days.
 * For a customer who signed up before them, the days since then are searched for an earlier one, in
 * order: most customers deposit soon. The last row has the number of the further days that all others
 * have, and of the deposits that were read. If the days are more than `:searched`, it is the only row.
 */
export function firstDepositsSql(shape: ReportShape): string {
  const groups = [...groupNames(shape), ...AMOUNT_GROUPS]
  const columns = [...TRANSACTION_COLUMNS, 'transaction_date', 'transaction_id']
  const amounts = [...limbsOf('amount', 'amount'), ...limbsOf('usd', 'usd')]
  const nulls = (list: readonly unknown[]) => list.map(() => 'null').join(', ')
  return `${withClause(
    shape,
    `deposits as materialized (
      select t.*, t.day >= d.day as counts,
        max(d.day, (select min(day) from transactions where account = :account)) as since,
        row_number() over (
          partition by t.customer_id order by t.day < d.day, t.day, t.transaction_date, t.transaction_id
        ) as n
      from (${recordsSql('transactions', columns, DEPOSITS)}) t
      cross join customers d on d.account = :account and d.customer_id = t.customer_id
    )`,
    `later as materialized (
      select * from deposits t
      where t.n = 1 and t.counts and not ${hasDeposit('t.since', `min(t.since + ${FIRST_DAYS}, :from)`)}
    )`,
    `span as materialized (
      select total(max(:from - since - ${FIRST_DAYS}, 0)) as searched,
        (select count(*) from deposits) as records
      from later
    )`,
  )}
    select ${groups.join(', ')}, count(*) as count, ${columnList(amounts)}, null as searched,
      null as records
    from (
      select ${groupColumns(shape, 'transactions').join(', ')}, ${amountColumns(shape)}
      from later t ${customerJoin(shape)}
      where iif((select searched > :searched from span), 0,
        not ${hasDeposit(`t.since + ${FIRST_DAYS}`, ':from')})
    )
    group by ${groups.join(', ')}
    union all
    select ${nulls(groups)}, 0, ${nulls(amounts)}, searched, records from span
    limit :rows + 1`
}

/** Sums amounts of trading activity. */
export function activitySql(shape: ReportShape): string {
  const isMoney = shape.activity.some((name) => name !== 'lots_traded')
  const keepsDay = shape.byDay ? 't.day' : 'iif(t.currency = :currency, null, t.day)'
  const groups = [...groupNames(shape), 'currency', 'rate_day']
  const columns = ['customer_id', 'currency', ...ownColumns(shape, 'activity'), ...shape.activity]
  return `${withClause(shape)}
    select ${groups.join(', ')}, count(*) as count, ${shape.activity.map(limbs).join(', ')}
    from (
      select ${groupColumns(shape, 'activity').join(', ')}, ${isMoney ? 't.currency' : 'null as currency'},
        ${isMoney ? keepsDay : 'null'} as rate_day, ${shape.activity.map((name) => `t.${name}`).join(', ')}
      from (${recordsSql('activity', columns)}) t ${customerJoin(shape)}
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
    select ${groups.join(', ')}, count(*) as count, ${limbs('amount')}
    from (
      select ${eventColumns(shape)}, ${amount} as amount
      from (${recordsSql('events', columns)}) t ${customerJoin(shape)}
    )
    group by ${groups.join(', ')} limit :rows + 1`
}

/** Sums each KPI of events by its name: one value more than a report may read. */
export function kpisSql(shape: ReportShape): string {
  const groups = [...groupNames(shape), 'event', 'approved', 'kpi', 'currency', 'rate_day']
  const columns = [...readColumns(shape), ...ownColumns(shape, 'events'), 'kpis']
  return `${withClause(shape)}
    select ${groups.join(', ')}, count(*) as "values", ${limbs('amount')}
    from (
      select ${eventColumns(shape)}, k.key as kpi, k.value as amount
      from (${recordsSql('events', columns)}) t ${customerJoin(shape)} cross join json_each(t.kpis) k
      limit :kpis + 1
    )
    group by ${groups.join(', ')} limit :rows + 1`
}

/** The statements of periods that share a day with the report, by period and currency. */
export const commissionSql = (byAffiliate: boolean): string => `
    select period, affiliate_id, currency, scale, sum(units) as units, count(*) as count
    from (
      select period, ${byAffiliate ? 'affiliate_id' : 'null as affiliate_id'},
        statement ->> 'currency' as currency,
        cast(replace(statement ->> 'total', '.', '') as integer) as units,
        iif(instr(statement ->> 'total', '.') = 0, 0,
          length(statement ->> 'total') - instr(statement ->> 'total', '.')) as scale
      from statements
      where account = :account and statement is not null
        and ((length(period) = 7 and period between :first_month and :last_month)
          or (length(period) = 8 and period between :first_week and :last_week))
    )
    group by period, affiliate_id, currency, scale limit :rows + 1`
