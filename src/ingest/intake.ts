import type { Grant } from '../auth/grant.ts'
import type { Parcel } from '../db/deliver.ts'
import type { Shelf } from '../db/shelf.ts'
import { type Form, pointerOf } from './envelope.ts'
import { type Entity, type Judged, MAX_PER_RECORD } from './judge.ts'
import type { Issue } from './words.ts'

/** A resource, as far as writing it is concerned: how it is judged and where it is kept. */
export interface Intake {
  /** The noun in its address. */
  readonly name: string
  readonly shelf: Shelf
  /** The member that refers to what must be known, if there is one. */
  readonly reference: string | null
  /** What it is judged by; where that depends on the account, the gate is waited for. */
  readonly entity: (admitted: Promise<Grant>) => Entity | Promise<Entity>
  /** What is kept of the records; it may add warnings to those that are good. */
  readonly rowsOf: (judged: Judged, arrival: Arrival) => Promise<Rows>
  /** A record's key as it was sent, of the columns of its key; null: it was no good. */
  readonly keyFrom: (values: readonly (string | null)[]) => Record<string, string> | undefined
  /** What the account wants done with a record that refers to what is not known. */
  readonly policy: (grant: Grant) => Parcel['policy']
  /** Whether an Idempotency-Key makes a request repeatable. */
  readonly repeatable: boolean
}

/** What is kept of a request: see `Parcel`. */
export type Rows = Pick<Parcel, 'rows' | 'later' | 'strays'>

/** Whose request it is, and what is known of it beside its records. */
export interface Arrival {
  env: Env
  grant: Grant
  id: string
  receivedAt: number
  idempotencyKey: string | null
}

/** The code of a reference to what is not known, by the table where it should be. */
const UNKNOWN = { customers: 'unknown_customer', affiliates: 'unknown_affiliate' } as const

/** A record, as far as an issue names it. */
interface Named {
  form: Form
  index: number
  key: Record<string, string> | undefined
}

/** The issue of a record that refers to what is not known. */
export function unknownReference(
  { shelf, reference }: Pick<Intake, 'shelf' | 'reference'>,
  { form, index, key }: Named,
  value: unknown,
): Issue {
  const pointer = `${pointerOf(form, index)}/${reference}`
  return { index, ...(key && { key }), pointer, code: UNKNOWN[shelf.refers!.table], value }
}

/** Errors of the door and of the database in the order of the records, of each as many as may be. */
export function byRecord<T extends { index?: number }>(errors: readonly T[]): T[] {
  const counts = new Map<number | undefined, number>()
  const hasRoom = ({ index }: T) => {
    const count = counts.get(index) ?? 0
    counts.set(index, count + 1)
    return index === undefined || count < MAX_PER_RECORD
  }
  return errors.filter(hasRoom).sort((a, b) => (a.index ?? -1) - (b.index ?? -1))
}
