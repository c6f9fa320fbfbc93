import { Table } from 'console-table-printer'
import { escapeText } from '../../src/platform/validation/quote.ts'
import { fillTemplate, type Operation } from './operation.ts'

type Format = Operation['format']
type Row = Record<string, unknown>

/** The width from which a cell of nested values is wrapped. */
const MAX_CELL_WIDTH = 60

/** The text of a missing value. */
const MISSING = '–'

/** The ending of the names of durations. */
const SECONDS = /_seconds$/

const isObject = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Formats a value for people; `name` is the member that has it. */
function cell(value: unknown, name = ''): string {
  if (value === undefined || value === null) return MISSING
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number' && SECONDS.test(name)) return roughDuration(value)
  if (Array.isArray(value)) return value.map((one) => cell(one)).join(', ') || MISSING
  if (!isObject(value)) return escapeText(String(value))
  const members = Object.entries(value).map(([inner, one]) => {
    const text = isObject(one) ? `(${cell(one)})` : cell(one, inner)
    return `${title(inner)}=${text}`
  })
  return members.join(' ') || MISSING
}

/** Returns the name of a member for people: the unit of a duration is in its value. */
const title = (name: string) => escapeText(name.replace(SECONDS, ''))

const UNITS = [
  ['day', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const

/** Formats seconds in the largest whole unit: "45 s", "3 min", "5 h", "2 days". */
export function roughDuration(seconds: number): string {
  const [unit, size] = UNITS.find(([, size]) => seconds >= size) ?? (['s', 1] as const)
  const count = Math.floor(seconds / size)
  return `${count} ${unit}${unit === 'day' && count > 1 ? 's' : ''}`
}

/** Returns the value at a path such as `policies.unknown_customer`. */
const valueAt = (row: unknown, path: string) =>
  path.split('.').reduce((value, name) => (isObject(value) ? value[name] : undefined), row)

const isAbsent = (value: unknown) =>
  value === undefined || (Array.isArray(value) && value.length === 0)

const isNumeric = (values: readonly unknown[]) =>
  values.some((value) => typeof value === 'number') &&
  values.every((value) => typeof (value ?? 0) === 'number')

/** Formats a table with these columns; the title of a column is the last step of its path. */
function table(data: readonly unknown[], all: readonly string[]): string {
  if (data.length === 0) return 'The list is empty.'
  const paths = all.filter((path) => data.some((row) => !isAbsent(valueAt(row, path))))
  const nameOf = (path: string) => path.split('.').at(-1)!
  const columns = paths.map((path, i) => {
    const values = data.map((row) => valueAt(row, path))
    const isWide = values.some(
      (value) => typeof value === 'object' && cell(value).length > MAX_CELL_WIDTH,
    )
    return {
      name: String(i),
      title: title(nameOf(path)),
      alignment: isNumeric(values) ? 'right' : 'left',
      ...(isWide && { maxLen: MAX_CELL_WIDTH }),
    }
  })
  // Colours would also be written to files and pipes.
  const printer = new Table({ columns, shouldDisableColors: true })
  for (const row of data) {
    const cells = paths.map((path, i) => [String(i), cell(valueAt(row, path), nameOf(path))])
    printer.addRow(Object.fromEntries(cells))
  }
  return printer.render()
}

/** Returns the names of all members, in the order in which they first occur. */
const memberNames = (data: readonly unknown[]) => [
  ...new Set(data.filter(isObject).flatMap((row) => Object.keys(row))),
]

/** Returns the paths of all members; those of an object are members of its row. */
const memberPaths = (data: readonly Row[]) =>
  memberNames(data).flatMap((name) => {
    const inner = memberNames(data.map((row) => row[name]))
    return inner.length > 0 ? inner.map((one) => `${name}.${one}`) : [name]
  })

/** The position of a page in its list. */
interface ListMeta {
  total: number
  total_is_limited?: true
  next_cursor?: string
}

/** Returns an item of a list as the rows that one of its members has, each with the other members. */
function rowsOf(item: Row, member: string): Row[] {
  const { [member]: inner, ...others } = item
  return Array.isArray(inner) ? inner.map((row) => ({ ...others, ...row })) : [item]
}

/**
 * Formats a list as a table; without columns it has one for each member. With `member` the rows are what this
 * member of each item lists. What the answer has beside its items comes after them.
 */
export const list =
  (paths?: readonly string[], member?: string): Format =>
  (body, input) => {
    const { data, meta, ...beside } = body as { data: Row[]; meta?: ListMeta }
    const rows = member ? data.flatMap((item) => rowsOf(item, member)) : data
    const text = table(rows, paths ?? memberNames(rows))
    const more = meta?.total_is_limited ? 'more than ' : ''
    return [
      meta?.next_cursor ? `${text}\n${data.length} of ${more}${meta.total}.` : text,
      ...(Object.keys(beside).length > 0 ? [object(beside, input)] : []),
    ].join('\n')
  }

/** Formats an object: one line per member, and a table for each list of objects. */
export const object: Format = (body) => {
  const members = Object.entries(body as Row).flatMap(([name, value]) =>
    isObject(value)
      ? Object.entries(value).map(([inner, one]) => [`${name}.${inner}`, one] as const)
      : [[name, value] as const],
  )
  const isList = (value: unknown) => Array.isArray(value) && value.some(isObject)
  const lines = members.filter(([, value]) => !isList(value))
  const width = Math.max(...lines.map(([name]) => title(name).length))
  return [
    ...lines.map(([name, value]) => `${title(name).padEnd(width)}  ${cell(value, name)}`),
    ...members.flatMap(([name, value]) =>
      isList(value) ? [`${title(name)}:`, table(value as Row[], memberPaths(value as Row[]))] : [],
    ),
  ].join('\n')
}

/** Formats a response without a body as a sentence with the arguments in it. */
export const sentence =
  (template: string): Format =>
  (_, { operands }) =>
    fillTemplate(template, operands)
