import { dayNumber, dayText, decode } from '../../platform/db/column-types.ts'
import {
  type Column,
  type SumRow,
  sumSql,
  UNITS_PER_ONE,
  unitsOf,
} from '../../platform/db/exact-sums.ts'
import { byteLength, toJsonChunks } from '../../platform/db/json-chunks.ts'
import { excessOf, limitBytes, MAX_PAGE_BYTES } from '../../platform/db/paginate.ts'
import { withD1Retry } from '../../platform/db/retry.ts'
import { columnList, JSON_EACH } from '../../platform/db/sql-fragments.ts'
import {
  bindStatement,
  compileStatement,
  pairs,
  readBatch,
  required,
  writeBatch,
} from '../../platform/db/statement.ts'
import { ApiError } from '../../platform/errors.ts'
import { isUnchanged, RAISE_NUMBER } from './changed.ts'
import type { RecordView } from './list.ts'
import type { RecordTable } from './record-table.ts'

// Control totals are kept by day, with the position of their reading, so that a day is summed again only after its
// records have changed: see `changed.ts`.

/** What control totals group by, and what they sum. */
export type SummedColumns = Pick<RecordView, 'groups' | 'sums' | 'kpis'>

/**
 * A group of a day: the values of its group columns, the number of records, the sum of each column or null if no
 * record has a value, and the sum of each KPI. Sums are decimal text.
 */
export type TotalsGroup = [
  values: (string | null)[],
  count: number,
  sums: (string | null)[],
  kpis: Record<string, string>,
]

/** The limits of totals. */
export const TOTALS_LIMITS = {
  /** The records, and the values of KPIs, of a resource that one request sums. */
  records: 1_000_000,
  /** The groups, and the sums of KPIs, that a response has of one resource. */
  totals: 50_000,
  /** The bytes of a resource in a response. */
  bytes: MAX_PAGE_BYTES,
  /** The bytes of a day that is kept; D1 allows 2,000,000 in a value. */
  keptBytes: 512 * 1024,
}

/** Returns the error for totals that are too large. */
const tooLarge = (what: string) =>
  new ApiError('validation_failed', {
    detail: `From \`from\` to \`to\`, there are more than ${what}. Ask for fewer days.`,
  })

const tooManyTotals = () => tooLarge('50,000 totals, or 2 MiB of them')

/** A day with records, and its totals as JSON; null if it must be summed. */
interface FoundDay {
  readonly day: number
  readonly totals: string | null
}

/**
 * Returns a query for the days from `:first_day` to `:last_day` that have records, with the kept totals of
 * each, or null if the day must be summed. The totals must have at most `maxBytes` together. It reads a
 * few rows for each day and none of its records.
 */
export function keptDaysSql({ recordTable }: RecordView, maxBytes?: number): string {
  const { dayColumn } = recordTable
  const firstDay = (condition: string) =>
    `select min(${dayColumn}) from ${recordsByDay(recordTable)}
        where account = :account and ${dayColumn} <= :last_day and ${dayColumn} ${condition}`
  return limitBytes(
    ['day', 'totals'],
    `with recursive days(stored_day) as (
        ${firstDay('>= :first_day')}
        union all
        select (${firstDay('> stored_day')}) from days where stored_day is not null
      )
      select d.stored_day as day, totals from days d
      left join day_totals k on k.account = :account and k.resource = :resource
        and k.day = d.stored_day and k.form = :form and ${isUnchanged('k.resource', 'k.day', 'k.position')}
      where d.stored_day is not null`,
    'day',
    maxBytes,
  )
}

/**
 * Returns the records of a table in the order of their days. Left to itself the planner may choose another index,
 * and sort.
 */
export const recordsByDay = ({ table, indexes }: RecordTable) =>
  `${table} ${indexes.day ? `indexed by ${indexes.day}` : 'not indexed'}`

/** Returns the columns that order the records of an account by day, each record once. */
export const stepKey = ({ dayColumn, key }: RecordTable): string[] => [
  ...new Set([dayColumn, 'customer_id', ...key]),
]

/** Returns what the totals of a resource consist of; kept totals of another form are not read. */
export const formOf = ({ groups, sums, kpis = '' }: SummedColumns): string =>
  JSON.stringify([groups, sums, kpis])

/** Returns the query that sums the columns of each group of `:days`. */
export const sumDaysSql = (view: RecordView): string =>
  groupedSql(view, [], view.sums, '', [
    ['count', 'count(*)'],
    ...view.sums.map((name): Column => [name, sumSql(name)]),
  ])

/** Returns the query that sums each KPI of each group of `:days`. */
export const sumKpisSql = (view: RecordView, kpis: string): string =>
  groupedSql(
    view,
    ['kpi'],
    ['k.key as kpi', 'k.value as kpi_value'],
    `cross join json_each(${kpis}) k`,
    [
      ['count', 'count(*)'],
      ['sum', sumSql('kpi_value')],
    ],
  )

/** Returns a query that groups the records of `:days`. It reads one group more than a response may have. */
function groupedSql(
  { recordTable, groups }: RecordView,
  furtherGroups: readonly string[],
  columns: readonly string[],
  join: string,
  aggregates: readonly Column[],
): string {
  const { dayColumn, canHold } = recordTable
  const by = ['day', ...groups, ...furtherGroups]
  const read = [`${dayColumn} as day`, ...groups, ...columns]
  return limitBytes(
    [...by, ...aggregates.map(([name]) => name)],
    `select ${by.join()}, ${aggregates.map(([name, sql]) => `${sql} as ${name}`).join()}
      from (select ${columnList(read)} from ${JSON_EACH}(:days) d cross join ${recordsByDay(recordTable)}
        on account = :account and ${dayColumn} = d.value ${join}
        ${canHold ? 'where held = 0' : ''} limit :most + 1)
      group by ${by.join()} limit ${TOTALS_LIMITS.totals + 1}`,
    by.join(),
  )
}

/** Returns the statements that sum days of a resource, in the order in which `groupsByDay` reads their rows. */
export const sumStatements = (
  session: D1DatabaseSession,
  view: RecordView,
  account: string,
  days: readonly number[],
): D1PreparedStatement[] =>
  [sumDaysSql(view), ...(view.kpis ? [sumKpisSql(view, view.kpis)] : [])].map((sql) =>
    bindStatement(session, compileStatement(sql), {
      account,
      days: JSON.stringify(days),
      most: TOTALS_LIMITS.records,
    }),
  )

/**
 * Returns the totals of days from the rows of their sums.
 *
 * @throws ApiError `validation_failed` if they are too many.
 */
export function groupsByDay(
  view: RecordView,
  days: readonly number[],
  [sums = [], kpis = []]: readonly (readonly SumRow[])[],
): Map<number, TotalsGroup[]> {
  for (const [rows, what] of [[sums, 'records'] as const, [kpis, 'values of KPIs'] as const]) {
    const read = rows.reduce((sum, { count }) => sum + Number(count), 0)
    if (read > TOTALS_LIMITS.records)
      throw tooLarge(`${TOTALS_LIMITS.records.toLocaleString('en')} ${what} to sum`)
    if (rows.length > TOTALS_LIMITS.totals || excessOf(rows) !== null) throw tooManyTotals()
  }
  const byDay = new Map(days.map((day): [number, TotalsGroup[]] => [day, []]))
  const known = new Map<string, TotalsGroup>()
  const keyOf = (row: SumRow) => [row.day, ...view.groups.map((name) => row[name])]
  for (const row of sums) {
    const [day, ...values] = keyOf(row)
    const totals = view.sums.map((name) =>
      row[name] === null ? null : decimalText(unitsOf(row[name])),
    )
    const group: TotalsGroup = [values as (string | null)[], Number(row.count), totals, {}]
    byDay.get(Number(day))?.push(group)
    known.set(JSON.stringify([day, ...values]), group)
  }
  for (const row of kpis) {
    const group = required(known.get(JSON.stringify(keyOf(row))), 'group')
    group[3][String(row.kpi)] = decimalText(unitsOf(row.sum))
  }
  return byDay
}

/** Returns a number of units as decimal text, without zeros at the end of the fraction. */
function decimalText(units: bigint): string {
  const size = units < 0n ? -units : units
  const places = String(size % UNITS_PER_ONE)
    .padStart(String(UNITS_PER_ONE).length - 1, '0')
    .replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${size / UNITS_PER_ONE}${places && `.${places}`}`
}

/** Keeps totals of days that were summed at `:position`, unless later ones are kept. */
export const KEEP_DAYS = compileStatement(`
  insert into day_totals (account, resource, day, form, position, records, totals)
  select :account, :resource, value ->> 0, :form, :position, value ->> 1, value ->> 2
  from ${JSON_EACH}(:rows) where true
  on conflict (account, resource, day) do update set form = excluded.form,
    position = excluded.position, records = excluded.records, totals = excluded.totals
  where day_totals.position <= excluded.position`)

/** The control total of one group and day; sums are exact decimal text. */
export interface Total extends Record<string, unknown> {
  day: string
  resource: string
  count: number
  sums: Record<string, string>
}

type Query = readonly [
  session: D1DatabaseSession,
  views: readonly RecordView[],
  account: string,
  from: string,
  to: string,
  reserveMemory: (bytes: number) => Promise<void>,
]

/**
 * Reads the control totals of each day from `from` to `to`, both inclusive, in order. Days that have changed since
 * they were last summed are summed from their records in one batch, and kept. `reserveMemory` waits until that many
 * bytes of kept totals may be read.
 *
 * @throws ApiError `validation_failed` if there are too many totals, or records to sum.
 */
export async function readTotals(...query: Query): Promise<Total[]> {
  const [session, views, account] = query
  const found = await readDays(...query)
  const missing = pairs(views, found).map(([view, days]) => ({
    view,
    days: days.filter(({ totals }) => totals === null).map(({ day }) => day),
  }))
  const summed = await sumDays(
    session,
    account,
    missing.filter(({ days }) => days.length > 0),
  )
  return pairs(views, found)
    .flatMap(([view, days]) => {
      const byDay = days.map(({ day, totals }): [number, TotalsGroup[]] => [
        day,
        totals === null ? (summed.get(view)?.get(day) ?? []) : JSON.parse(totals),
      ])
      checkSize(byDay.flatMap(([, groups]) => groups))
      return byDay.flatMap(([day, groups]) => groups.map((one) => presentTotal(view, day, one)))
    })
    .sort((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0))
}

/** The days that `keepTotals` has summed at once. */
const DAYS_AT_ONCE = 7

/** Has the totals of days kept, a few days after the other. Days are since 1970. */
export async function keepTotals(
  session: D1DatabaseSession,
  views: readonly RecordView[],
  account: string,
  first: number,
  last: number,
): Promise<void> {
  for (let day = first; day <= last; day += DAYS_AT_ONCE) {
    const [from, to] = [day, Math.min(day + DAYS_AT_ONCE - 1, last)].map(dayText)
    await readTotals(session, views, account, required(from, 'day'), required(to, 'day'), () =>
      Promise.resolve(),
    )
  }
}

function checkSize(groups: readonly TotalsGroup[]): void {
  const kpis = groups.reduce((sum, [, , , own]) => sum + Object.keys(own).length, 0)
  const { totals, bytes } = TOTALS_LIMITS
  if (Math.max(groups.length, kpis) > totals || byteLength(JSON.stringify(groups)) > bytes)
    throw tooManyTotals()
}

/** How many bytes of kept totals a resource may have without memory reserved. */
const SMALL_BYTES = 32 * 1024

/** Returns the days of each resource, with kept totals for which it holds memory if they are large. */
async function readDays(...query: Query): Promise<FoundDay[][]> {
  const [session, views, account, from, to, reserveMemory] = query
  const [first_day, last_day] = [from, to].map(dayNumber)
  for (let maxBytes = SMALL_BYTES; ; ) {
    const found = await readBatch<FoundDay[][]>(
      session,
      views.map((view) =>
        bindStatement(session, compileStatement(keptDaysSql(view, maxBytes)), {
          account,
          resource: view.name,
          form: formOf(view),
          first_day,
          last_day,
        }),
      ),
    )
    const excess = found.flatMap((rows) => excessOf(rows as never)?.bytes ?? [])
    if (excess.length === 0) return found
    maxBytes = Math.max(...excess)
    if (maxBytes > TOTALS_LIMITS.bytes) throw tooManyTotals()
    await reserveMemory(views.length * maxBytes)
  }
}

/** Days of a resource that must be summed. */
interface MissingDays {
  readonly view: RecordView
  readonly days: readonly number[]
}

/** Sums days in one batch, and keeps their totals. */
async function sumDays(
  session: D1DatabaseSession,
  account: string,
  missing: readonly MissingDays[],
): Promise<ReadonlyMap<RecordView, ReadonlyMap<number, TotalsGroup[]>>> {
  if (missing.length === 0) return new Map()
  const [raised, ...rows] = await writeBatch<[{ position: number }[], ...SumRow[][]]>(session, [
    bindStatement(session, RAISE_NUMBER, { account }),
    ...missing.flatMap(({ view, days }) => sumStatements(session, view, account, days)),
  ])
  const { position } = required(raised[0], 'position')
  let next = 0
  const summed = new Map(
    missing.map(({ view, days }) => {
      const own = rows.slice(next, next + (view.kpis ? 2 : 1))
      next += own.length
      return [view, groupsByDay(view, days, own)] as const
    }),
  )
  const kept = keepStatements(session, account, position, summed)
  if (kept.length > 0) await withD1Retry(() => session.batch(kept))
  return summed
}

/** Returns the statements that keep what was summed; a day with large totals is summed each time. */
const keepStatements = (
  session: D1DatabaseSession,
  account: string,
  position: number,
  summed: ReadonlyMap<RecordView, ReadonlyMap<number, TotalsGroup[]>>,
): D1PreparedStatement[] =>
  [...summed].flatMap(([view, byDay]) => {
    const rows = [...byDay].flatMap(([day, groups]) => {
      const records = groups.reduce((sum, [, count]) => sum + count, 0)
      const totals = JSON.stringify(groups)
      return byteLength(totals) <= TOTALS_LIMITS.keptBytes ? [[day, records, totals]] : []
    })
    const values = { account, resource: view.name, form: formOf(view), position }
    return toJsonChunks(rows).map((chunk) =>
      bindStatement(session, KEEP_DAYS, { ...values, rows: chunk }),
    )
  })

function presentTotal(view: RecordView, day: number, group: TotalsGroup): Total {
  const { name, recordTable } = view
  return {
    day: String(decode(recordTable.encoded[recordTable.dayColumn], day)),
    resource: name,
    ...presentGroup(view, group),
  }
}

/** Returns a group under the names of the wire: its values, the number of its records, and the sums. */
export function presentGroup(
  { groups, sums: summed, wire = {} }: SummedColumns & Pick<RecordView, 'wire'>,
  [values, count, sums, kpis]: TotalsGroup,
) {
  const wireName = (column: string) => wire[column] ?? column
  const presentSums = summed.flatMap((sum, i) => {
    const text = sums[i] ?? null
    return text === null ? [] : [[wireName(sum), text] as const]
  })
  return {
    ...Object.fromEntries(groups.map((column, i) => [wireName(column), values[i] ?? null])),
    count,
    sums: Object.fromEntries([...presentSums, ...Object.entries(kpis)]) as Record<string, string>,
  }
}
