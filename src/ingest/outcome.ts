import type { Delivery } from '../db/schema.ts'

/** What became of a record, in the contract's words (§4). */
export type Outcome = 'created' | 'updated' | 'unchanged' | 'stale' | 'held' | 'rejected'

/** How many records a request brought, and what became of them. */
export type Summary = { received: number } & Record<Outcome, number>

/** The numbers that a request's status and summary follow from. */
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

/** The status of the answer: the log of deliveries tells the same. */
export function statusOf({ form, received, rejected, refused, created }: Counts) {
  if (refused > 0 || received === rejected) return 422
  if (rejected > 0) return 207
  return form === 'object' && created === 1 ? 201 : 200
}

/** The summary of the answer: the log of deliveries tells the same. */
export function summaryOf(counts: Counts): Summary {
  const { received, rejected, held, stale, created, written, held_written } = counts
  if (statusOf(counts) === 422) {
    return { received, created: 0, updated: 0, unchanged: 0, stale: 0, held: 0, rejected }
  }
  const updated = written - held_written - created
  const unchanged = received - rejected - held - stale - created - updated
  return { received, created, updated, unchanged, stale, held, rejected }
}

/** What became of one record that broke no rule and may be stored. */
export function outcomeOf(revision: number | undefined, held: boolean, stale: boolean): Outcome {
  if (held) return 'held'
  if (stale) return 'stale'
  if (revision === undefined) return 'unchanged'
  return revision === 1 ? 'created' : 'updated'
}
