import type { Grant } from '../auth/token-gate.ts'
import type { Parcel } from '../db/deliver.ts'
import type { Shelf } from '../db/shelf.ts'
import { type Form, pointerOf } from './envelope.ts'
import { type Entity, MAX_PER_RECORD } from './judge.ts'
import type { Issue } from './words.ts'

/** A resource, as far as writing it is concerned: how it is judged and where it is kept. */
export interface Intake extends Entity {
  /** The noun in its address. */
  readonly name: string
  readonly shelf: Shelf
  /** A record that is good, by column. */
  readonly toValues: (record: Record<string, unknown>) => Record<string, unknown>
  /** What the account wants done with a record that refers to what is not known. */
  readonly policy: (grant: Grant) => Parcel['policy']
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
  { refers }: Shelf,
  { form, index, key }: Named,
  value: unknown,
): Issue {
  const pointer = `${pointerOf(form, index)}/${refers.column}`
  return { index, ...(key && { key }), pointer, code: UNKNOWN[refers.table], value }
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
