// Lists as CSV. They are made of the JSON that the affiliate may see, so that CSV hides what JSON hides.

type Members = Readonly<Record<string, unknown>>

/** A list as CSV: its columns, which are members of its items, and the items that its answer has. */
interface ListFormat {
  readonly columns: readonly string[]
  readonly itemsOf?: (item: Members) => readonly Members[]
}

const membersOf = (value: unknown): Members[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : []

/** Returns a row for each state of a customer; one without a state for a customer who has none. */
function statesOf({ states, ...customer }: Members): Members[] {
  const all = membersOf(states)
  return all.length === 0 ? [customer] : all.map((state) => ({ ...customer, ...state }))
}

const FORMATS: Readonly<Record<string, ListFormat>> = {
  clicks: { columns: ['day', 'link_id', 'clicks'] },
  customers: {
    columns: [
      ...['customer', 'signup_day', 'link', 'country_code', 'plan', 'version', 'rule', 'status'],
      ...['qualified_on', 'amount', 'currency', 'missing', 'until', 'refused_by', 'closed'],
    ],
    itemsOf: statesOf,
  },
  ledger: {
    columns: [
      ...['id', 'kind', 'plan', 'period', 'statement', 'currency', 'amount', 'reference', 'at'],
    ],
  },
  payouts: {
    columns: [
      ...['reference', 'currency', 'amount', 'paid_on', 'statements', 'at', 'return_reference'],
      ...['returned_on', 'reason'],
    ],
  },
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
  'sub-affiliates': {
    columns: ['affiliate_id', 'level', 'from', 'to', 'signups', 'active_customers'],
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
