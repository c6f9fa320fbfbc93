import type { Issue } from '../../platform/validation/issue.ts'
import type { Warning } from '../../platform/validation/warnings.ts'
import type { Found } from './find-sql.ts'
import type { RecordTable } from './record-table.ts'

/** What happens to records that refer to something unknown. */
export type Policy = 'reject' | 'hold' | 'warn'

/** The outcomes of records (contract §4). */
export const OUTCOMES = ['created', 'updated', 'unchanged', 'stale', 'held', 'rejected'] as const

/** The outcome of a record. */
export type Outcome = (typeof OUTCOMES)[number]

/** The values of a record by column, as on the wire. */
export type Values = Record<string, unknown>

/** The cells of a record: its position in the request, and what its columns store, in the order of `RecordTable.cells`. */
export type Cells = readonly [index: number, ...cells: unknown[]]

/** A record of a request, from the body to the answer: it is read, then found, then decided on. */
export interface Item {
  /** Its position in the request. */
  readonly index: number
  /** The valid members of its key, as sent; undefined if there are none. */
  readonly key: Record<string, string> | undefined
  /** What is stored of it; null if it is wrong, or is stored with `first`. */
  cells: Cells | null
  /** The earlier record of the same key with which it was merged (brands). */
  first: Item | null
  /** What must be known, if it is valid: the customer, or the affiliate of a customer of a partner. */
  reference: string | null
  /** The first errors of its validation, and their number. */
  readonly issues: readonly Issue[]
  readonly issuesTotal: number
  /** The warnings of its validation. */
  readonly warnings: Warning[]
  /** What is stored of its key; null if it has no cells. */
  found: Found | null
  /** Whether it refers to something unknown, or makes a customer too large. */
  isRefusable: boolean
  outcome: Outcome
  /** What is written of it; null if nothing is. */
  write: Write | null
}

/** A record to write. */
export interface Write {
  readonly item: Item
  readonly found: Found
  readonly revision: number
  readonly isHeld: boolean
  /** Whether it gets another day, customer or state of waiting. */
  readonly moves: boolean
}

/** The form of a body: a single object, an array, or an object with the array `data`. */
export type BodyForm = 'object' | 'array' | 'data'

/** A request whose records were read. */
export interface Delivery {
  readonly id: string
  readonly account: string
  readonly resource: string
  readonly table: RecordTable
  readonly form: BodyForm
  /** When it was received, in milliseconds. */
  readonly receivedAt: number
  /** The day on which it was received, in the account's time zone for brands, in UTC for partners. */
  readonly receivedDay: string
  readonly dryRun: boolean
  readonly lenient: boolean
  /** The bytes that the account may store. */
  readonly storageQuota: number
  /** What happens to records that refer to something unknown. */
  readonly policy: Policy
  /** Its Idempotency-Key, and the digests of its records: the first one is stored. */
  readonly idempotency: { readonly key: string; readonly digests: readonly string[] } | null
  /** The number of its records, which are not read if the body as a whole is wrong. */
  readonly received: number
  readonly items: readonly Item[]
  /** The errors of the body as a whole. */
  readonly issues: readonly Issue[]
}
