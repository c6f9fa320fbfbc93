import type { Entry } from '../books.ts'

/** A record in the soak's own books. */
export interface LedgerRecord {
  record: Record<string, unknown>
  /** The customer of the record; null if it is a customer itself. */
  customer: string | null
}

/** A record with its resource and key. */
export type KeyedRecord = LedgerRecord & { key: string }

/** The records that one lane stores in one account. Only this lane writes them. */
export interface Ledger {
  customers: Set<string>
  /** The records by resource and key. */
  records: Map<string, LedgerRecord>
}

/** The expected summary of a bulk. */
export type Prediction = Record<'created' | 'updated' | 'unchanged' | 'held', number>

/** Makes empty books. */
export const newLedger = (): Ledger => ({ customers: new Set(), records: new Map() })

/** Whether two records have the same members, in any order. */
export const isEqual = (one: object, other: object) => text(one) === text(other)

const text = (record: object) =>
  JSON.stringify(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))

/** Whether a record waits for its customer. */
export const isHeld = (ledger: Ledger, { customer }: LedgerRecord) =>
  customer !== null && !ledger.customers.has(customer)

/** Counts the records that wait for their customer. */
export const heldOf = (ledger: Ledger) =>
  [...ledger.records.values()].filter((record) => isHeld(ledger, record)).length

/** Predicts the summary of a bulk, and enters its records into the books unless it is a dry run. */
export function predict(
  ledger: Ledger,
  records: readonly KeyedRecord[],
  dryRun = false,
): Prediction {
  const prediction: Prediction = { created: 0, updated: 0, unchanged: 0, held: 0 }
  for (const { key, ...sent } of records) {
    const before = ledger.records.get(key)
    const isSame = before && isEqual(before.record, sent.record)
    prediction[
      isHeld(ledger, sent) ? 'held' : !before ? 'created' : isSame ? 'unchanged' : 'updated'
    ] += 1
    if (!dryRun) ledger.records.set(key, sent)
  }
  return prediction
}

/** Whether a summary is the expected one. */
export const isPredicted = (summary: Record<string, number> | undefined, prediction: Prediction) =>
  summary !== undefined && Object.entries(prediction).every(([name, n]) => summary[name] === n)

/** Returns the records that are not held, as entries of the control totals. */
export const entriesOf = (
  ledger: Ledger,
  entryOf: (key: string, record: LedgerRecord) => Entry,
): Entry[] =>
  [...ledger.records]
    .filter(([, record]) => !isHeld(ledger, record))
    .map(([key, record]) => entryOf(key, record))
