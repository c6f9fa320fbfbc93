import { Table } from 'console-table-printer'
import type { Command, Said } from './command.ts'
import { plain } from './plain.ts'

type Show = Command['show']
type Row = Record<string, unknown>

/** A longer cell of free form is broken. */
const WIDE = 60

/** What is not there. */
const NOTHING = '–'

const isObject = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A value as a reader takes it in. */
function cell(value: unknown): string {
  if (value === undefined || value === null) return NOTHING
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.map(cell).join(', ') || NOTHING
  if (!isObject(value)) return plain(String(value))
  const members = Object.entries(value).map(
    ([name, inner]) => `${plain(name)}=${isObject(inner) ? `(${cell(inner)})` : cell(inner)}`,
  )
  return members.join(' ') || NOTHING
}

/** The value at a path such as `policies.unknown_customer`. */
const at = (row: unknown, path: string) =>
  path.split('.').reduce((value, name) => (isObject(value) ? value[name] : undefined), row)

const isNumeric = (values: readonly unknown[]) =>
  values.some((value) => typeof value === 'number') &&
  values.every((value) => typeof (value ?? 0) === 'number')

/** A table with these columns; a title is the last step of its path. */
function tableOf(data: readonly unknown[], paths: readonly string[]): string {
  if (data.length === 0) return 'There are none.'
  const columns = paths.map((path, i) => {
    const values = data.map((row) => at(row, path))
    return {
      name: String(i),
      title: plain(path.split('.').at(-1)!),
      alignment: isNumeric(values) ? 'right' : 'left',
      ...(values.some((value) => isObject(value) && cell(value).length > WIDE) && { maxLen: WIDE }),
    }
  })
  // Colours would be in files and pipes, too.
  const table = new Table({ columns, shouldDisableColors: true })
  for (const row of data) {
    table.addRow(Object.fromEntries(paths.map((path, i) => [String(i), cell(at(row, path))])))
  }
  return table.render()
}

/** All names that rows have, in the order in which they are first met. */
const namesOf = (data: readonly unknown[]) => [
  ...new Set(data.filter(isObject).flatMap((row) => Object.keys(row))),
]

/** A list as a table; without columns it has those that there are. */
export const rows =
  (paths?: readonly string[], rowsOf = (one: Row) => [one]): Show =>
  (body) => {
    const { data, meta } = body as { data: Row[]; meta?: { total: number; next_cursor?: string } }
    const all = data.flatMap(rowsOf)
    const table = tableOf(all, paths ?? namesOf(all))
    return meta?.next_cursor ? `${table}\n${data.length} of ${meta.total}.` : table
  }

/** The feeds of many accounts as one table. */
export const feeds = rows(undefined, ({ account, feeds }) =>
  (feeds as Row[]).map((feed) => ({ account, ...feed })),
)

/** One object: a line a member, and a table for each list of objects in it. */
export const fields: Show = (body) => {
  const members = Object.entries(body as Row).flatMap(([name, value]) =>
    isObject(value)
      ? Object.entries(value).map(([inner, one]) => [`${name}.${inner}`, one] as const)
      : [[name, value] as const],
  )
  const isList = (value: unknown) => Array.isArray(value) && value.some(isObject)
  const lines = members.filter(([, value]) => !isList(value))
  const width = Math.max(...lines.map(([name]) => name.length))
  return [
    ...lines.map(([name, value]) => `${plain(name).padEnd(width)}  ${cell(value)}`),
    ...members.flatMap(([name, value]) =>
      isList(value) ? [`${plain(name)}:`, tableOf(value as Row[], namesOf(value as Row[]))] : [],
    ),
  ].join('\n')
}

/** A map of words, whatever its name is. */
export const words: Show = (body) => {
  const [map = {}] = Object.values(body as Record<string, Row>)
  const data = Object.entries(map).map(([word, means]) => ({ word, means }))
  return tableOf(data, ['word', 'means'])
}

/** A sentence with the operands in it, for what is answered without a body. */
export const done =
  (sentence: string): Show =>
  (_, said) =>
    filled(sentence, said)

/** A sentence with the operands in it. */
export const filled = (sentence: string, { operands }: Said) =>
  sentence.replace(/[A-Z_]{2,}/g, (name) => (operands[name] ? plain(operands[name]) : name))
