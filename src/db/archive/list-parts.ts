import type { Connection } from '../database.ts'
import { KEPT_TOTAL } from '../records/list.ts'
import { bindStatement, compileStatement, readBatch } from '../statement.ts'
import type { ArchivePart } from './months.ts'
import { AWAY } from './touched.ts'

/** The days of a list, inclusive, and its customer; null if it has those of all. Values are those that SQL stores. */
export interface ListedRecords {
  readonly account: string
  readonly resource: string
  readonly first_day: number
  readonly last_day: number
  readonly customer_id: string | null
}

/** An archived month. */
export interface ListedMonth {
  readonly first_day: number
  readonly last_day: number
}

/** An object of an archived month with records of a list. */
export interface ListedPart
  extends ListedMonth,
    Pick<ArchivePart, 'part' | 'sha256' | 'bytes' | 'version' | 'records' | 'groups'> {
  readonly prefix: string
  readonly fault: string | null
  /** How many of its records the list has. */
  readonly listed: number
}

/** What is archived of a list. */
export interface ArchivedList {
  /** The archived months in the days of the list, also those without records of it. */
  readonly months: readonly ListedMonth[]
  /** The objects with records of the list from the page on, in the order of time. */
  readonly parts: readonly ListedPart[]
  /** What was counted; null if nothing was. */
  readonly total: number | null
}

const IN_RANGE = `m.account = :account and m.resource = :resource and m.state in ${AWAY}
    and m.last_day >= :first_day and m.first_day <= :last_day`

const MONTHS = compileStatement(
  `select m.first_day, m.last_day from archived_months m where ${IN_RANGE} order by m.first_day`,
)

const OBJECTS = `cross join archive_objects o on o.account = m.account and o.resource = m.resource
    and o.first_day = m.first_day`

/** The objects with records of a list, each with their number. */
const PARTS = {
  all: `select m.first_day, m.last_day, m.prefix, m.fault, o.part, o.sha256, o.bytes, o.version, o.records,
      o.groups,
      (select sum(d.value ->> 1) from json_each(o.days) d
        where d.value ->> 0 between :first_day and :last_day) as listed
    from archived_months m ${OBJECTS} where ${IN_RANGE}`,
  customer: `select m.first_day, m.last_day, m.prefix, m.fault, o.part, o.sha256, o.bytes, o.version, o.records,
      o.groups,
      (select sum(d.value) from json_each(a.records, '$."' || o.part || '"') d
        where m.first_day + d.key between :first_day and :last_day) as listed
    from archived_months m
    cross join archived_customers a on a.account = m.account and a.resource = m.resource
      and a.first_day = m.first_day and a.customer_id = :customer_id
    ${OBJECTS} where ${IN_RANGE}`,
}

/** Objects without records of the list are left out: `listed` is null there. */
const partsOf = (of: keyof typeof PARTS) => `(select * from (${PARTS[of]}) where listed > 0)`

/** The objects with records of a customer, as SQL. */
export const PARTS_OF_CUSTOMER = partsOf('customer')

const NEXT = (of: keyof typeof PARTS) =>
  compileStatement(`
  select * from ${partsOf(of)} where groups ->> '$[#-1][2][0]' >= :from_day
  order by first_day, part limit :rows`)

/** The objects up to a row of the list, if it had archived records only. */
const UP_TO = (of: keyof typeof PARTS) =>
  compileStatement(`
  select * from (select *, sum(listed) over (order by first_day, part) - listed as before
    from ${partsOf(of)})
  where before < :rows order by first_day, part`)

const TOTAL = (of: keyof typeof PARTS) =>
  compileStatement(`select ifnull(sum(listed), 0) as total from ${partsOf(of)}`)

/** The number of all records of the resource, which each delivery keeps. */
const KEPT = compileStatement(KEPT_TOTAL)

const STATEMENTS = {
  all: { next: NEXT('all'), upTo: UP_TO('all'), total: TOTAL('all') },
  customer: { next: NEXT('customer'), upTo: UP_TO('customer'), total: TOTAL('customer') },
}

/** Where a page begins: at most so many objects from a day on, or all up to a row of the list. */
export type PartsWanted =
  | { readonly from_day: number; readonly rows: number }
  | { readonly rows: number }

/**
 * Reads what is archived of a list, in one round trip.
 *
 * @param counted What is counted: the archived records of the list, or all records of the resource.
 */
export async function readArchivedList(
  db: Connection,
  list: ListedRecords,
  wanted: PartsWanted,
  counted: 'list' | 'resource' | null,
): Promise<ArchivedList> {
  const { next, upTo, total } = STATEMENTS[list.customer_id === null ? 'all' : 'customer']
  const values = { ...list, ...wanted }
  const [months, parts, totals] = await readBatch<
    [ListedMonth[], ListedPart[], { total: number }[]]
  >(db, [
    bindStatement(db, MONTHS, values),
    bindStatement(db, 'from_day' in wanted ? next : upTo, values),
    ...(counted ? [bindStatement(db, counted === 'list' ? total : KEPT, values)] : []),
  ] as [D1PreparedStatement, D1PreparedStatement, D1PreparedStatement])
  return { months, parts, total: counted && (totals[0]?.total ?? 0) }
}
