import type { Entry } from '../books.ts'

/** A record as the soak's own books have it. */
export interface Kept {
  record: Record<string, unknown>
  /** Whose it is; null: it is a customer itself. */
  customer: string | null
}

/** What one lane has stored of one account: nobody else touches it, so it knows each answer. */
export interface RecordTable {
  customers: Set<string>
  /** By resource and key. */
  kept: Map<string, Kept>
}

/** What a bulk is to be answered with. */
export type Foretold = Record<'created' | 'updated' | 'unchanged' | 'held', number>

/** An empty one. */
export const newShelf = (): RecordTable => ({ customers: new Set(), kept: new Map() })

/** Whether two records say the same, in whatever order. */
export const isEqual = (one: object, other: object) => text(one) === text(other)

const text = (record: object) =>
  JSON.stringify(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))

/** Whether a record waits for its customer. */
export const isHeld = (shelf: RecordTable, { customer }: Kept) =>
  customer !== null && !shelf.customers.has(customer)

/** How many records wait for their customer. */
export const heldOf = (shelf: RecordTable) =>
  [...shelf.kept.values()].filter((kept) => isHeld(shelf, kept)).length

/**
 * Says what becomes of records, each with its key, and writes it into the books unless it is a dry
 * run.
 */
export function foretell(
  shelf: RecordTable,
  records: readonly (Kept & { key: string })[],
  dryRun = false,
): Foretold {
  const told: Foretold = { created: 0, updated: 0, unchanged: 0, held: 0 }
  for (const { key, ...kept } of records) {
    const before = shelf.kept.get(key)
    const isSame = before && isEqual(before.record, kept.record)
    told[isHeld(shelf, kept) ? 'held' : !before ? 'created' : isSame ? 'unchanged' : 'updated'] += 1
    if (!dryRun) shelf.kept.set(key, kept)
  }
  return told
}

/** Whether an answer's summary is what was foretold. */
export const isAsTold = (summary: Record<string, number> | undefined, told: Foretold) =>
  summary !== undefined && Object.entries(told).every(([name, n]) => summary[name] === n)

/** What is not held, as entries of the control totals. */
export const entriesOf = (
  shelf: RecordTable,
  entryOf: (key: string, kept: Kept) => Entry,
): Entry[] =>
  [...shelf.kept]
    .filter(([, kept]) => !isHeld(shelf, kept))
    .map(([key, kept]) => entryOf(key, kept))
