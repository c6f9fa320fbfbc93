import type { Delivery } from '../db/schema.ts'

/** The outcome of a record (contract §4). */
export type Outcome = 'created' | 'updated' | 'unchanged' | 'stale' | 'held' | 'rejected'

/** The number of records received, and of each outcome. */
export type Summary = { received: number } & Record<Outcome, number>

/** The columns of a delivery that its status and summary are computed from. */
type Counts = Pick<
  Delivery,
  | 'form'
  | 'lenient'
  | 'received'
  | 'rejected'
  | 'refused'
  | 'held'
  | 'stale'
  | 'created'
  | 'written'
  | 'held_written'
>

/** Returns the status of the response; the log of deliveries shows the same. */
export function statusOf({ form, received, rejected, refused, created }: Counts) {
  if (refused > 0 || received === rejected) return 422
  if (rejected > 0) return 207
  return form === 'object' && created === 1 ? 201 : 200
}

/** Returns the summary of the response; the log of deliveries shows the same. */
export function summaryOf(counts: Counts): Summary {
  const { received, rejected, held, stale, created, written, held_written } = counts
  if (statusOf(counts) === 422) {
    return { received, created: 0, updated: 0, unchanged: 0, stale: 0, held: 0, rejected }
  }
  const updated = written - held_written - created
  const unchanged = received - rejected - held - stale - created - updated
  return { received, created, updated, unchanged, stale, held, rejected }
}

/** Returns the outcome of a valid record. `revision` is undefined if the record was not written. */
export function outcomeOf(
  revision: number | undefined,
  isHeld: boolean,
  isStale: boolean,
): Outcome {
  if (isHeld) return 'held'
  if (isStale) return 'stale'
  if (revision === undefined) return 'unchanged'
  return revision === 1 ? 'created' : 'updated'
}
