import type { Resource } from '../../src/ingest/resource/resource.ts'
import { dayOf as dayOfInstant } from '../../src/ingest/trading/resource.ts'
import type { Grant } from '../../src/platform/auth/grant.ts'
import { DAY_MS } from '../../src/platform/durations.ts'
import {
  add,
  type Decimal,
  decimal,
  factAmount,
  fromFact,
  plainText,
  ZERO,
} from '../../src/platform/money/decimal.ts'
import { isObject } from '../../src/platform/validation/record-validator.ts'
import { usageError } from '../exit-error.ts'
import type { SendArguments } from './arguments.ts'
import type { Client } from './client.ts'
import { requestError } from './problem.ts'
import { readRecords } from './read.ts'

// Compares files with the control totals of the service, for the days that the files have records of.

/** The columns of a record, as the service stores them. */
type Columns = Readonly<Record<string, unknown>>

/** The number of records of a group as `records`, and their sums by field. */
type Total = Map<string, Decimal>

/** A group of control totals: what the files and the service have. */
interface Group {
  readonly file: Total
  readonly service: Total
}

/** A row of `GET totals`. */
interface TotalRow {
  readonly resource: string
  readonly count: number
  readonly sums: Readonly<Record<string, string>>
}

/** `GET totals` has at most 366 days; shorter spans also suit accounts with many totals. */
const SPAN_DAYS = 31

/** The differences that are listed. */
const MAX_LISTED = 20

/**
 * Compares the records of files with the control totals of their days. Of records with one id the last counts, as in
 * the service.
 *
 * @throws ExitError if a file is malformed or has no record with a day, or if the totals cannot be read.
 */
export async function reconcile(
  args: SendArguments,
  client: Client,
): Promise<{ isEqual: boolean; text: string }> {
  const { vertical, target } = args
  const { resource } = target
  const get = async <T>(path: string): Promise<T> => {
    const response = await client(`${vertical.path}/${path}`)
    if (response.status !== 200) throw requestError('Stopped', response)
    return response.body as T
  }
  const settings = await get<Grant>('account')
  const { records, left } = await readFiles(args, settings)
  const groups = new Map<string, Group>()
  const groupOf = (row: Columns): Group => {
    const names = ['day', ...resource.groups.map((column) => wireName(resource, column))]
    const key = JSON.stringify(names.map((name) => row[name] ?? null))
    const group = groups.get(key) ?? { file: new Map(), service: new Map() }
    groups.set(key, group)
    return group
  }
  const days: string[] = []
  for (const { columns, place } of records) {
    const day = dayOf(resource, columns, settings.book_zone)
    if (day === undefined) left.push(place)
    else {
      days.push(day)
      const named = resource.groups.map((column) => [wireName(resource, column), columns[column]])
      addTo(groupOf({ day, ...Object.fromEntries(named) }).file, amountsOf(resource, columns))
    }
  }
  days.sort()
  const [from, to] = [days[0], days.at(-1)]
  if (from === undefined || to === undefined)
    throw usageError('The files have no valid record with a day.')
  for (let first = Date.parse(from); first <= Date.parse(to); first += SPAN_DAYS * DAY_MS) {
    const last = Math.min(Date.parse(to), first + (SPAN_DAYS - 1) * DAY_MS)
    const path = `totals?from=${textOf(first)}&to=${textOf(last)}`
    for (const row of (await get<{ data: (TotalRow & Columns)[] }>(path)).data) {
      if (row.resource !== resource.name) continue
      const sums = Object.entries(row.sums).map(([name, sum]) => [name, decimal(sum)] as const)
      addTo(groupOf(row).service, [['records', decimal(String(row.count))], ...sums])
    }
  }
  const differences = [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1)).flatMap(differenceOf)
  const more = differences.length - MAX_LISTED
  const verdict = differences.length === 0 ? 'agree with' : 'differ from'
  const counts = `${differences.length} of ${groups.size} groups differ`
  const lines = [
    ...differences.slice(0, MAX_LISTED),
    ...(more > 0 ? [`… and ${more} more groups differ.`] : []),
    ...(left.length > 0
      ? [`Not compared, because they are invalid or have no day: ${left.length}, first ${left[0]}.`]
      : []),
    `The files ${verdict} the totals of ${resource.name} of ${from} to ${to} (${counts}).`,
  ]
  return { isEqual: differences.length === 0, text: lines.join('\n') }
}

const textOf = (time: number) => new Date(time).toISOString().slice(0, 'YYYY-MM-DD'.length)

/** Returns the last record of each id, and the places of records that the service would reject. */
async function readFiles({ vertical, target, files, map }: SendArguments, settings: object) {
  const grant = { events: [], statuses: [], ...settings, vertical: vertical.name }
  const validator = target.resource.validator(grant as unknown as Grant)
  const records = new Map<string, { columns: Columns; place: string }>()
  const left: string[] = []
  for (const file of files) {
    for await (const { text, line } of readRecords(file, target, map)) {
      const place = `${file}, line ${line}`
      const record: unknown = JSON.parse(text)
      const check = isObject(record) ? validator.validate(record) : null
      if (!check || check.issues.length > 0) {
        left.push(place)
        continue
      }
      const { output } = check
      const key = target.keyOf(record as object)
      const { identity = key !== undefined && target.isId(key) ? key : place } = output
      const id = String(identity)
      // What a later record of a brand's customer leaves out is kept.
      const earlier = target.merges ? records.get(id)?.columns : {}
      const sent = Object.entries(output).filter(([, value]) => value !== undefined)
      records.set(id, { columns: { ...earlier, ...Object.fromEntries(sent) }, place })
    }
  }
  return { records: records.values(), left }
}

/** Returns the day on which a record counts; undefined if it depends on when the record arrives. */
function dayOf(
  { timeMember, recordTable }: Resource,
  columns: Columns,
  zone: string,
): string | undefined {
  const { day } = columns
  if (typeof day === 'string' || recordTable.timeColumn !== null) return day as string | undefined
  const time = String(columns[timeMember])
  return time.length === 'YYYY-MM-DD'.length ? time : dayOfInstant(time, zone)
}

/** Returns the name of a column in control totals. */
const wireName = ({ wire = {} }: Resource, column: string) => wire[column] ?? column

/** Returns what a record adds to the total of its group. */
function amountsOf(resource: Resource, columns: Columns): (readonly [string, Decimal])[] {
  const kpis = resource.kpis && columns[resource.kpis]
  const amounts = Object.entries({
    records: 1,
    ...Object.fromEntries(
      resource.sums.map((column) => [wireName(resource, column), columns[column]]),
    ),
    ...(typeof kpis === 'string' && JSON.parse(kpis)),
  })
  return amounts.flatMap(([name, value]) =>
    typeof value === 'number' ? [[name, fromFact(factAmount(value))] as const] : [],
  )
}

function addTo(total: Total, amounts: readonly (readonly [string, Decimal])[]): void {
  for (const [name, amount] of amounts) total.set(name, add(total.get(name) ?? ZERO, amount))
}

/** Returns the text of a group in which files and service differ, or nothing. */
function differenceOf([key, { file, service }]: [string, Group]): string[] {
  const names = new Set(['records', ...file.keys(), ...service.keys()])
  const rows = [...names].map((name) => {
    const [own, other] = [file, service].map((total) => plainText(total.get(name) ?? ZERO))
    return { name, own, other }
  })
  if (rows.every(({ own, other }) => own === other)) return []
  const lines = rows
    .filter(({ name, own, other }) => name === 'records' || own !== other)
    .map(({ name, own, other }) => `  ${name}: file ${own}, service ${other}`)
  return [[JSON.parse(key).filter(Boolean).join(', '), ...lines].join('\n')]
}
