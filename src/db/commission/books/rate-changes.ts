import { all } from '../../query.ts'
import { JSON_EACH } from '../../records/sql-fragments.ts'
import { compileStatement } from '../../statement.ts'
import { RATE_SOURCE } from '../rates.ts'

/**
 * Finds the times at which rates of closed days became known or were corrected after these days were
 * closed. A rate may apply to the 7 days after its own day.
 */
export const RATE_CHANGES = compileStatement(`
  with bands(first_day, last_day, closed_at) as (
    select value ->> 0 - 7, value ->> 1, value ->> 2 from ${JSON_EACH}(:bands)
  )
  select distinct f.known_from as at from bands b cross join fx_rates f
    on f.source = :source and f.day between b.first_day and b.last_day
    and f.known_from > b.closed_at
  union
  select distinct f.known_until from fx_rates f cross join bands b
    on f.day between b.first_day and b.last_day and f.known_until > b.closed_at
  where f.known_until is not null and f.source = :source
  order by at`)

/** Closed days, and when they were first closed, in milliseconds. */
export interface ClosedBand {
  readonly first: number
  readonly last: number
  readonly at: number
}

/** Returns the times at which rates of closed days changed, in milliseconds and in order. */
export async function readRateChanges(
  directory: D1Database,
  bands: readonly ClosedBand[],
): Promise<number[]> {
  if (bands.length === 0) return []
  const values = {
    source: RATE_SOURCE,
    bands: JSON.stringify(bands.map(({ first, last, at }) => [first, last, at])),
  }
  const results = await all<{ at: number }>(directory, RATE_CHANGES, values)
  return results.map(({ at }) => at)
}
