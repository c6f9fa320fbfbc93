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
  /** Whether `amount_usd` stands for amounts in other currencies. */
  readonly inUsd: boolean
}

/** The tables, and how their records of some days are found in the order of the days. */
const TABLES: Readonly<Record<Source, { from: string; day: string }>> = {
  customers: { from: 'customers indexed by customers_day', day: 'day' },
  transactions: { from: 'transactions not indexed', day: 'day' },
  activity: { from: 'activity not indexed', day: 'date' },
  events: { from: 'events not indexed', day: 'day' },
  clicks: { from: 'clicks not indexed', day: 'day' },
}

/** Selects the records of the days, without those that are held: one more than a report may read. */
export function recordsSql(source: Source, columns: readonly string[], condition = ''): string {
  const { from, day } = TABLES[source]
  const isHeld = source === 'customers' || source === 'clicks' ? '' : ' and held = 0'
  const read = [day === 'day' ? day : `${day} as day`, ...columns]
  return `select ${[...new Set(read)].join(', ')} from ${from}
      where account = :account and ${day} between :from and :to${isHeld}${condition && ` and ${condition}`}
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

/** Counts customers by their signup day, and those with an affiliate. */
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
    group by ${groupNames(shape).join(', ')} limit :sums + 1`
}

/** Counts clicks. Where the affiliate is a group, its value is the link. */
export const clicksSql = (shape: ReportShape): string => `
    select ${groupNames(shape).join(', ')}, count(*) as count
    from (
      select ${groupColumns(shape, 'clicks').join(', ')}
      from (${recordsSql('clicks', ['link_id'])}) t
    )
    group by ${groupNames(shape).join(', ')} limit :sums + 1`

/** Counts the customers with records of some sources, in each group and in all. */
export function activeSql(shape: ReportShape, sources: readonly Source[]): string {
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
    limit :sums + 2`
}

/** Returns the columns of a source that are groups. */
export const ownColumns = ({ groups }: ReportShape, source: Source): string[] =>
  groups.filter((group) => dimensionSql(group, source) === `t.${group}` && group !== 'day')
