/** A record as a lane sent it. */
export interface SentRecord {
  /** Its resource and what identifies it there, such as `transactions p0-T-7`. */
  readonly key: string
  readonly record: Readonly<Record<string, unknown>>
  /** The customer of the record; null if it is a customer itself. */
  readonly customer: string | null
}

/** What one lane has stored in one account. No other lane writes these records. */
export interface Ledger {
  /** The ids of the customers. */
  readonly customers: Set<string>
  /** The records by key, each as it was sent last. */
  readonly records: Map<string, SentRecord>
}

/** Makes an empty ledger. */
export const newLedger = (): Ledger => ({ customers: new Set(), records: new Map() })

/** Returns the resource of a record. */
export const resourceOf = ({ key }: SentRecord): string => key.slice(0, key.indexOf(' '))

const text = (members: object) =>
  JSON.stringify(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)))

/** Returns whether two records have the same members, in any order. */
export const isEqual = (one: object, other: object): boolean => text(one) === text(other)

/** Returns whether a record waits for its customer. */
export const isHeld = ({ customers }: Ledger, { customer }: SentRecord): boolean =>
  customer !== null && !customers.has(customer)

/** Returns the summary that a bulk is to be answered with. */
export function predict(ledger: Ledger, sent: readonly SentRecord[]) {
  const summary = { created: 0, updated: 0, unchanged: 0, held: 0 }
  for (const one of sent) {
    const before = ledger.records.get(one.key)
    if (isHeld(ledger, one)) summary.held += 1
    else if (!before) summary.created += 1
    else summary[isEqual(before.record, one.record) ? 'unchanged' : 'updated'] += 1
  }
  return summary
}

/** Enters the records of a bulk. */
export function enter({ customers, records }: Ledger, sent: readonly SentRecord[]): void {
  for (const one of sent) {
    records.set(one.key, one)
    if (one.customer === null) customers.add(one.key.slice(one.key.indexOf(' ') + 1))
  }
}

/** The members of a record that form its group in the control totals, and those that are added up. */
const GROUPS: Record<string, readonly [group: readonly string[], sums: readonly string[]]> = {
  transactions: [['transaction_type', 'status', 'currency'], ['amount_currency']],
  'trading-activity': [['currency'], ['lots_traded', 'pnl']],
  activities: [
    ['eventname', 'product', 'Currency'],
    ['Value', 'GGR'],
  ],
}

/** The members with the day of a record. */
const DAYS = ['transaction_date', 'date', 'createtime', 'signup_date', 'regtime']

const hundredths = (value: unknown) => Math.round(Number(value) * 100)

/** Returns the control totals of ledgers: a count and sums in hundredths, by resource, day and group. */
export function totalsOf(ledgers: readonly Ledger[]): Map<string, string> {
  const groups = new Map<string, { count: number; sums: Record<string, number> }>()
  const stored = ledgers.flatMap((one) =>
    [...one.records.values()].filter((record) => !isHeld(one, record)),
  )
  for (const one of stored) {
    const { record } = one
    const resource = resourceOf(one)
    const [names, summed] = GROUPS[resource] ?? [[], []]
    const day = String(record[DAYS.find((one) => one in record) ?? '']).slice(0, 10)
    const members = names.map((name) => [name, record[name] ?? null])
    const name = text({ resource, day, ...Object.fromEntries(members) })
    const group = groups.get(name) ?? { count: 0, sums: {} }
    groups.set(name, group)
    group.count += 1
    for (const sum of summed.filter((member) => member in record)) {
      group.sums[sum] = (group.sums[sum] ?? 0) + hundredths(record[sum])
    }
  }
  return new Map([...groups].map(([name, { count, sums }]) => [name, `${count} ${text(sums)}`]))
}

/** Returns the answer of `GET totals` in the same form. */
export const readTotals = (
  data: readonly { count: number; sums: Record<string, string> }[],
): Map<string, string> =>
  new Map(
    data.map(({ count, sums, ...group }) => {
      const parsed = Object.entries(sums).map(([name, sum]) => [name, hundredths(sum)])
      return [text(group), `${count} ${text(Object.fromEntries(parsed))}`]
    }),
  )

/** Describes how control totals differ from those of ledgers. Returns an empty text if they are equal. */
export function difference(expected: Map<string, string>, found: Map<string, string>): string {
  const names = new Set([...expected.keys(), ...found.keys()])
  const other = [...names].filter((name) => expected.get(name) !== found.get(name))
  const [first = ''] = other
  return other.length === 0
    ? ''
    : `${other.length} groups differ, such as ${first}: ${found.get(first)} is stored, ${expected.get(first)} was acknowledged`
}
