// Lists as CSV. They are made of the JSON that the affiliate may see, so that CSV hides what JSON hides.

type Members = Readonly<Record<string, unknown>>

/** A list as CSV: its columns, which are members of its items, and the items that its answer has. */
interface ListFormat {
  readonly columns: readonly string[]
  readonly itemsOf?: (item: Members) => readonly Members[]
}

const membersOf = (value: unknown): Members[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : []

const FORMATS: Readonly<Record<string, ListFormat>> = {
  unearned: {
    columns: [
      ...['reason', 'plan', 'version', 'rule', 'condition', 'resource', 'transaction_type'],
      ...['eventname', 'currency', 'count', 'sums'],
    ],
  },
  'unearned/facts': {
    columns: [
      ...['resource', 'id', 'customer_id', 'day', 'transaction_type', 'eventname', 'reason'],
      ...['plan', 'version', 'rule', 'condition', 'currency', 'amounts'],
    ],
  },
}

/** The columns of the lists that are also CSV, by their paths below that of the API. */
export const CSV_COLUMNS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(FORMATS).map(([path, { columns }]) => [path, columns]),
)

/** Returns the text of a cell. What is hidden or null is empty. */
function cellOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(cellOf).join('; ')
  if (typeof value !== 'object') return String(value)
  return Object.entries(value)
    .map(([name, one]) => `${name}: ${cellOf(one)}`)
    .join('; ')
}

/** Returns the columns and rows of the answer of a list. */
export function toRows(path: string, { data }: Members): readonly (readonly string[])[] {
  const { columns, itemsOf } = FORMATS[path] ?? { columns: [] }
  const items = membersOf(data).flatMap((item) => itemsOf?.(item) ?? [item])
  return [columns, ...items.map((item) => columns.map((name) => cellOf(item[name])))]
}
