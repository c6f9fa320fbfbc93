import type { Delivery } from '../schema.ts'
import type { RecordTable } from './record-table.ts'
import { JSON_EACH, type SqlFragments } from './sql-fragments.ts'

/**
 * Selects what an earlier attempt wrote of a chunk, for an attempt that follows a lost response.
 * `is_own` is 0 where another delivery has overwritten the record since.
 */
export const selectEarlierWritesSql = (
  { table }: RecordTable,
  { fromLookup, keyMatches }: SqlFragments,
) => `
      select t.idx as idx, t.revision as revision, 1 as is_own
      from ${JSON_EACH}(:rows) cross join ${table} t on ${keyMatches(fromLookup)}
      where t.delivery = :delivery
      union all
      select value ->> 0, t.revision, 0
      from ${JSON_EACH}(:rows) cross join ${table} t on ${keyMatches(fromLookup)}
      where t.delivery > :delivery`

/** A record that was written, or in a dry run would be. */
export interface WrittenRecord {
  /** Its position in the request. */
  readonly idx: number
  readonly revision: number
  /** In a dry run: 1 if the record is about something else than the stored one. */
  readonly changes_kind?: number
  /** 0 if another delivery has overwritten it since; absent if this attempt wrote it. */
  readonly is_own?: number
}

/**
 * Returns the revisions that the records of a delivery got, by their position in the request.
 *
 * Other deliveries may have overwritten some of these records since. Their outcomes are inferred: the
 * delivery row has the counts of created and updated; subtract the known ones and assign `created` to
 * the lowest revisions first. With several such records the assignment may swap `created` and
 * `updated` between them; the counts are exact.
 */
export function recoverRevisions(
  delivery: Delivery,
  writes: readonly WrittenRecord[],
): Map<number, number> {
  const isOwn = ({ is_own }: WrittenRecord) => is_own !== 0
  const revisions = new Map(writes.filter(isOwn).map(({ idx, revision }) => [idx, revision]))
  const { unknown_at } = delivery
  const held = new Set<number>(delivery.held > 0 && unknown_at ? JSON.parse(unknown_at) : [])
  const isCounted = (idx: number) => !held.has(idx)
  const counted = [...revisions].filter(([idx]) => isCounted(idx))
  const ownCreated = counted.filter(([, revision]) => revision === 1).length

  let created = delivery.created - ownCreated
  let updated =
    delivery.written - delivery.held_written - delivery.created - (counted.length - ownCreated)
  const overwritten = writes
    .filter((write) => !isOwn(write) && isCounted(write.idx))
    .sort((a, b) => a.revision - b.revision)
  for (const { idx } of overwritten) {
    if (created > 0) {
      created -= 1
      revisions.set(idx, 1)
    } else if (updated > 0) {
      updated -= 1
      revisions.set(idx, 2)
    }
  }
  return revisions
}
