import { dimensionSql, isAttributedSql, needsCustomer, OWNERS, type Source } from './dimensions.ts'

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
}

/**
 * The tables, and how their records are found: by day, and on each day by customer; clicks by link.
 */
const TABLES: Readonly<Record<Source, { from: string; day: string; id: string }>> = {
  customers: { from: 'customers r indexed by customers_day', day: 'day', id: 'customer_id' },
  transactions: { from: 'transactions r not indexed', day: 'day', id: 'customer_id' },
  activity: { from: 'activity r not indexed', day: 'date', id: 'customer_id' },
  events: { from: 'events r not indexed', day: 'day', id: 'customer_id' },
  clicks: { from: 'clicks r not indexed', day: 'day', id: 'link_id' },
}

/** The end of all ids: in SQLite a blob is greater than each text. */
const END = `coalesce(:end, x'')`

/** Finds the records of a day with an id from `:first` on and before `:end`. */
const recordsOfDay = (source: Source, of: string): string => {
  const { from, day, id } = TABLES[source]
  return `${from} where r.account = :account and r.${day} = ${of} and r.${id} >= :first and r.${id} < ${END}`
}

/**
 * Returns a query that counts the records of each day with any from `:from` to `:to`. It ends with the
 * day by which they exceed `:records` together, so it counts few more.
 */
export const countDaysSql = (source: Source): string => `
    with recursive counted(day, total) as (
      select :from - 1, 0
      union all
      select c.day + 1, c.total + (select count(*) from (
        select 1 from ${recordsOfDay(source, 'c.day + 1')} limit :records + 1))
      from counted c where c.day < :to and c.total <= :records
    )
    select day, count from (
      select day, total - lag(total) over (order by day) as count from counted
    ) where count > 0`

/**
 * Returns a query that divides the ids of a day, from `:first` on and before `:end`. Between two returned
 * ids are at most `:size` records, plus all records of the first id.
 */
export const divideDaySql = (source: Source): string => {
  const { id } = TABLES[source]
  const next = (condition: string) => `(
        select r.${id} from ${recordsOfDay(source, ':day')} ${condition}
        order by r.${id} limit 1 offset :size)`
  return `
    with recursive bounds(id) as (
      select ${next('')}
      union all
      select ${next(`and r.${id} > bounds.id`)} from bounds where id is not null
    )
    select id from bounds where id is not null`
}

/**
 * Selects the records of the days from `:from` to `:to` with an id from `:first` on and before `:end`,
 * without those that are held: one more than a statement may read.
 */
export function recordsSql(source: Source, columns: readonly string[], condition = ''): string {
  const { day } = TABLES[source]
  const isNotHeld = source === 'customers' || source === 'clicks' ? '' : ' and r.held = 0'
  const read = [day === 'day' ? 'r.day' : `r.${day} as day`, ...columns.map((name) => `r.${name}`)]
  return `select ${[...new Set(read)].join(', ')} from (
        with recursive days(day) as (
          select :from union all select day + 1 from days where day < :to
        ) select day from days
      ) d cross join ${recordsOfDay(source, 'd.day')}${isNotHeld}${condition && ` and ${condition}`}
      limit :records + 1`
}

/** Returns the names of the groups in rows. A report without groups has one that is null. */
export const groupNames = ({ groups }: ReportShape): string[] =>
  groups.length === 0 ? ['g0'] : groups.map((_, i) => `g${i}`)

/** Returns the columns with the groups of the records of a source. */
export function groupColumns({ groups }: ReportShape, source: Source): string[] {
  if (groups.length === 0) return ['null as g0']
  return groups.map((group, i) => `${dimensionSql(group, source)} as g${i}`)
}

/** Joins the customer of each record where a group depends on it. */
export const customerJoin = ({ groups }: ReportShape): string =>
  groups.some(needsCustomer)
    ? `left join customers c on c.account = :account and c.customer_id = t.customer_id`
    : ''

/** Returns whether a statement needs the affiliates of links. */
export const needsOwners = ({ groups }: ReportShape): boolean => groups.includes('affiliate_id')

/** Returns the beginning of a statement: the affiliates of links where a group needs them. */
export const withClause = (shape: ReportShape, ...others: readonly string[]): string => {
  const all = [...(needsOwners(shape) ? [OWNERS] : []), ...others]
  return all.length === 0 ? '' : `with ${all.join(', ')}`
}

/** Counts customers by their signup day, and those with a configured affiliate. */
export function signupsSql(shape: ReportShape, attributed: boolean): string {
  const own = attributed ? `, ${isAttributedSql} as attributed` : ', null as attributed'
  const withOwners = attributed ? `with ${OWNERS}` : withClause(shape)
  const join = attributed
    ? 'left join customers c on c.account = :account and c.customer_id = t.customer_id'
    : customerJoin(shape)
  return `${withOwners}
    select ${groupNames(shape).join(', ')}, count(*) as count, sum(attributed) as attributed
    from (
      select ${groupColumns(shape, 'customers').join(', ')}${own}
      from (${recordsSql('customers', ['customer_id'])}) t ${join}
    )
    group by ${groupNames(shape).join(', ')} limit :rows + 1`
}

/** Counts clicks. Where the affiliate is a group, its value is the link. */
export const clicksSql = (shape: ReportShape): string => `
    select ${groupNames(shape).join(', ')}, count(*) as count
    from (
      select ${groupColumns(shape, 'clicks').join(', ')}
      from (${recordsSql('clicks', ['link_id'])}) t
    )
    group by ${groupNames(shape).join(', ')} limit :rows + 1`

/** Counts the customers with records of some sources, in each group and in all. */
export function activeSql(shape: ReportShape): string {
  const { active: sources } = shape
  const names = groupNames(shape).join(', ')
  const parts = sources.map(
    (source) => `
      select ${groupColumns(shape, source).join(', ')}, t.customer_id as customer_id,
        ${sources.map((one) => `count(*) * ${Number(one === source)} as ${one}`).join(', ')}
      from (${recordsSql(source, ['customer_id', ...ownColumns(shape, source)])}) t ${customerJoin(shape)}
      group by ${names}, t.customer_id`,
  )
  const records = sources.map((one) => `ifnull(sum(${one}), 0)`)
  return `${withClause(
    shape,
    `seen as materialized (
      select ${names}, customer_id, ${sources.map((one) => `sum(${one}) as ${one}`).join(', ')}
      from (${parts.join(' union all ')}) group by ${names}, customer_id
    )`,
  )}
    select ${names}, count(*) as count, null as records from seen group by ${names}
    union all
    select ${groupNames(shape)
      .map(() => 'null')
      .join(', ')}, count(distinct customer_id), max(${['0', ...records].join(', ')}) from seen
    limit :rows + 1`
}

/** Returns the columns of a source that are groups. */
export const ownColumns = ({ groups }: ReportShape, source: Source): string[] =>
  groups.filter((group) => dimensionSql(group, source) === `t.${group}` && group !== 'day')
