import type { Grant } from '../../src/auth/grant.ts'
import {
  add,
  type Decimal,
  decimal,
  factAmount,
  fromFact,
  plainText,
  ZERO,
} from '../../src/commission/engine/decimal.ts'
import { DAY_MS } from '../../src/durations.ts'
import type { Resource } from '../../src/ingest/resource.ts'
import { dayOf as dayOfInstant } from '../../src/trading/resource.ts'
import { isObject } from '../../src/validation/record-validator.ts'
import { usageError } from '../exit-error.ts'
import type { SendArguments } from './arguments.ts'
import type { Authenticator } from './credentials.ts'
import type { Exchange } from './exchange.ts'
import { readJson } from './get.ts'
import { readRecords } from './read.ts'
import type { Format } from './reader.ts'
import type { Target } from './vertical.ts'

// Compares files with the control totals of the service, for the days that the files have records of.

/** The number of records of a group of control totals, and their sums by field, as decimal text. */
interface Total {
  readonly count: number
  readonly sums: Readonly<Record<string, string>>
}

/** A row of `GET totals`. */
interface TotalRow extends Total {
  readonly resource: string
  readonly [group: string]: unknown
}

/** A group of totals in which the files and the service differ. */
export interface Difference {
  /** The day, and what else tells the group from others. */
  readonly group: Readonly<Record<string, string>>
  readonly file: Total
  readonly service: Total
}

/** What a comparison found. */
export interface Reconciliation {
  readonly from: string
  readonly to: string
  /** The groups of either side. */
  readonly groups: number
  readonly differences: readonly Difference[]
  /** The lines of records that the service would reject, and of those without a day: they are not compared. */
  readonly invalid: readonly Place[]
  readonly withoutDay: readonly Place[]
}

/** A line of a file. */
interface Place {
  readonly file: string
  readonly line: number
}

/** Where to read the totals. */
export interface TotalsSource {
  readonly url: string
  readonly authenticator: Authenticator
  readonly exchange: Exchange
}

/** The settings of an account that the totals depend on. */
type AccountSettings = Pick<Grant, 'time_zone' | 'book_zone'> & Partial<Pick<Grant, 'events'>>

/** `GET totals` has at most 366 days; shorter spans also suit accounts with many totals. */
const SPAN_DAYS = 31

const NOTHING: Total = { count: 0, sums: {} }

/**
 * Compares the records of files with the control totals of their days. Of records with one id the last
 * counts, as in the service.
 *
 * @throws ExitError if a file is malformed or has no record with a day, or if the totals cannot be read.
 */
export async function reconcile(
  { vertical, target, files, renames }: SendArguments,
  formats: readonly Format[],
  source: TotalsSource,
): Promise<Reconciliation> {
  const settings = await readJson<AccountSettings>(`${source.url}/account`, source)
  const { resource } = target
  const grant = {
    events: [],
    statuses: [],
    ...settings,
    vertical: vertical.name,
  } as unknown as Grant
  const validator = await resource.validator(Promise.resolve(grant))
  const records = new Map<string, { columns: Record<string, unknown>; place: Place }>()
  const invalid: Place[] = []
  for (const [i, file] of files.entries()) {
    const position = { bytes: 0, lines: 0 }
    for await (const read of readRecords({ file, position, renames }, formats[i]!, target)) {
      const { text, key, line } = read
      const place = { file, line }
      const record: unknown = JSON.parse(text)
      const check = isObject(record) ? validator.validate(record) : null
      if (!check || check.issues.length > 0) {
        invalid.push(place)
        continue
      }
      const id = idOf(check.output, target, key) ?? `${file} ${line}`
      // What a later record of a brand's customer leaves out is kept.
      const earlier = target.merges ? records.get(id)?.columns : {}
      const sent = Object.entries(check.output).filter(([, value]) => value !== undefined)
      records.set(id, { columns: { ...earlier, ...Object.fromEntries(sent) }, place })
    }
  }
  const zone = settings.book_zone ?? 'UTC'
  const dated = [...records.values()].map((one) => ({
    ...one,
    day: dayOf(resource, one.columns, zone),
  }))
  const days = dated.flatMap(({ day }) => day ?? []).sort()
  const [from, to] = [days[0], days.at(-1)]
  if (from === undefined || to === undefined)
    throw usageError('The files have no valid record with a day.')
  const ours = new Map<string, Total>()
  for (const { columns, day } of dated) {
    if (day !== undefined) addRecord(ours, resource, day, columns)
  }
  const theirs = await readTotals(source, resource, from, to)
  const groups = [...new Set([...ours.keys(), ...theirs.keys()])].sort()
  return {
    from,
    to,
    groups: groups.length,
    differences: groups.flatMap((key) => {
      const [file, service] = [ours.get(key) ?? NOTHING, theirs.get(key) ?? NOTHING]
      if (isEqual(file, service)) return []
      const { count, sums } = service
      return [{ group: JSON.parse(key), file, service: { count, sums } }]
    }),
    invalid,
    withoutDay: dated.flatMap(({ day, place }) => (day === undefined ? [place] : [])),
  }
}

/** Returns the id of which the last record counts; undefined if each record counts. */
const idOf = ({ identity }: Record<string, unknown>, { isId }: Target, key: string | undefined) =>
  typeof identity === 'string' ? identity : key !== undefined && isId(key) ? key : undefined

/** Returns the day on which a record counts; undefined if it depends on when the record arrives. */
function dayOf(
  { timeMember, recordTable }: Resource,
  columns: Record<string, unknown>,
  zone: string,
): string | undefined {
  const { day } = columns
  if (typeof day === 'string' || recordTable.dayOptional) return day as string | undefined
  const time = String(columns[timeMember])
  return time.length === 'YYYY-MM-DD'.length ? time : dayOfInstant(time, zone)
}

/** Returns the name of a column in control totals. */
const wireName = ({ wire = {} }: Resource, column: string) => wire[column] ?? column

function addRecord(
  totals: Map<string, Total>,
  resource: Resource,
  day: string,
  columns: Record<string, unknown>,
): void {
  const named = resource.groups.map(
    (column) => [wireName(resource, column), columns[column]] as const,
  )
  const key = groupKey(resource, { day, ...Object.fromEntries(named) })
  const { count, sums } = totals.get(key) ?? NOTHING
  const kpis = resource.kpis && columns[resource.kpis]
  const amounts: Record<string, unknown> = {
    ...Object.fromEntries(
      resource.sums.map((column) => [wireName(resource, column), columns[column]]),
    ),
    ...(typeof kpis === 'string' && JSON.parse(kpis)),
  }
  const added = Object.entries(amounts).flatMap(([name, value]) =>
    typeof value === 'number' ? [[name, addText(sums[name], value)] as const] : [],
  )
  totals.set(key, { count: count + 1, sums: { ...sums, ...Object.fromEntries(added) } })
}

const decimalOf = (text: string | undefined): Decimal => (text === undefined ? ZERO : decimal(text))

const addText = (sum: string | undefined, value: number) =>
  plainText(add(decimalOf(sum), fromFact(factAmount(value))))

/** Returns the day and the groups of a row of control totals as JSON, without those that it lacks. */
function groupKey(resource: Resource, row: Readonly<Record<string, unknown>>): string {
  const names = ['day', ...resource.groups.map((column) => wireName(resource, column))]
  const present = names.filter((name) => (row[name] ?? null) !== null)
  return JSON.stringify(Object.fromEntries(present.map((name) => [name, row[name]])))
}

async function readTotals(source: TotalsSource, resource: Resource, from: string, to: string) {
  const totals = new Map<string, Total>()
  for (let first = Date.parse(from); first <= Date.parse(to); first += SPAN_DAYS * DAY_MS) {
    const last = Math.min(Date.parse(to), first + (SPAN_DAYS - 1) * DAY_MS)
    const query = `from=${textOf(first)}&to=${textOf(last)}`
    const { data } = await readJson<{ data: TotalRow[] }>(`${source.url}/totals?${query}`, source)
    for (const row of data) {
      if (row.resource === resource.name) totals.set(groupKey(resource, row), row)
    }
  }
  return totals
}

const textOf = (time: number) => new Date(time).toISOString().slice(0, 'YYYY-MM-DD'.length)

function isEqual(a: Total, b: Total): boolean {
  const names = new Set([...Object.keys(a.sums), ...Object.keys(b.sums)])
  const isSame = (name: string) =>
    plainText(decimalOf(a.sums[name])) === plainText(decimalOf(b.sums[name]))
  return a.count === b.count && [...names].every(isSame)
}

/** The differences that the text lists. */
const MAX_LISTED = 20

/** Returns what a comparison found, for a person. */
export function reconciliationText(
  resource: string,
  { from, to, groups, differences, invalid, withoutDay }: Reconciliation,
): string {
  const span = from === to ? from : `${from} to ${to}`
  const lines = differences.slice(0, MAX_LISTED).flatMap(({ group, file, service }) => {
    const names = [...new Set([...Object.keys(file.sums), ...Object.keys(service.sums)])]
    return [
      Object.values(group).join(', '),
      `  records: file ${file.count}, service ${service.count}`,
      ...names
        .map((name) => [name, plainSum(file, name), plainSum(service, name)] as const)
        .filter(([, own, other]) => own !== other)
        .map(([name, own, other]) => `  ${name}: file ${own}, service ${other}`),
    ]
  })
  const more = differences.length - MAX_LISTED
  return [
    ...lines,
    ...(more > 0 ? [`… and ${more} more groups differ.`] : []),
    ...notCompared('is invalid and not compared', 'are invalid and not compared', invalid),
    ...notCompared(
      'has no day and is not compared',
      'have no day and are not compared',
      withoutDay,
    ),
    differences.length === 0
      ? `The files agree with the totals of ${resource} of ${span} (groups: ${groups}).`
      : `The files differ from the totals of ${resource} of ${span} (groups: ${differences.length} of ${groups}).`,
  ].join('\n')
}

const plainSum = ({ sums }: Total, name: string) => plainText(decimalOf(sums[name]))

function notCompared(one: string, many: string, places: readonly Place[]): string[] {
  const [first] = places
  if (!first) return []
  const count = places.length === 1 ? `1 record ${one}` : `${places.length} records ${many}`
  return [`${count}: the first is in ${first.file}, line ${first.line}.`]
}
