import { dayNumber } from '../../platform/db/column-types.ts'
import type { Connection } from '../../platform/db/database.ts'
import { toJsonChunks } from '../../platform/db/json-chunks.ts'
import { all } from '../../platform/db/query.ts'
import { ABORT, JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement, readBatch } from '../../platform/db/statement.ts'
import {
  type LoadedRates,
  MAX_RATE_AGE,
  type PublishedRates,
} from '../../platform/money/exchange.ts'
import type { DayRange } from './fact-tables.ts'

// Exchange rates, in the database `DB`: a row has those of a day. Rates that are replaced keep their row, with the
// time until which they were known.

/** The source of the rates. */
export const RATE_SOURCE = 'ECB' as const

/** The rates of some days to store, each of at least one currency. */
export type RateTable = readonly {
  readonly day: string
  readonly rates: Readonly<Record<string, string>>
}[]

/** A day whose stored rates differ from sent ones. Rates are JSON; `stored` is null if there are none. */
export interface RateDifference {
  readonly day: number
  readonly sent: string
  readonly stored: string | null
}

const DIFFERENCES = compileStatement(`
  select r.value ->> 0 as day, r.value ->> 1 as sent, f.rates as stored
  from ${JSON_EACH}(:rows) r left join fx_rates f on f.day = r.value ->> 0 and f.known_until is null
  where f.rates is null or json_patch(f.rates, r.value ->> 1) <> f.rates`)

/** Returns the days of which a table has other rates than are stored, or more. */
export async function readDifferences(
  db: D1Database,
  table: RateTable,
): Promise<readonly RateDifference[]> {
  const rows = table.map(({ day, rates }) => [dayNumber(day), JSON.stringify(rates)])
  const statements = toJsonChunks(rows).map((one) => bindStatement(db, DIFFERENCES, { rows: one }))
  return (await readBatch<RateDifference[][]>(db, statements)).flat()
}

/** The statements that store days, in their order: they fail if what is stored of a day was changed meanwhile. */
const STORE = [
  `select ${ABORT} from ${JSON_EACH}(:rows) r
    left join fx_rates f on f.day = r.value ->> 0 and f.known_until is null
    where f.rates is not r.value ->> 1 limit 1`,
  `update fx_rates set known_until = max(:now, known_from + 1)
    where known_until is null and day in (select value ->> 0 from ${JSON_EACH}(:rows))`,
  // They are known from when the old ones end.
  `insert into fx_rates (day, known_from, rates)
    select r.value ->> 0, max(:now, ifnull((
        select max(e.known_until) from fx_rates e where e.day = r.value ->> 0), 0)),
      json_patch(ifnull(r.value ->> 1, '{}'), r.value ->> 2)
    from ${JSON_EACH}(:rows) r`,
].map(compileStatement)

/** Returns the statements that store the rates of days. Rates of other currencies stay. */
export const storeRates = (db: D1Database, days: readonly RateDifference[], now: number) => {
  const rows = days.map(({ day, stored, sent }) => [day, stored, sent])
  return toJsonChunks(rows).flatMap((chunk) =>
    STORE.map((one) => bindStatement(db, one, { rows: chunk, now })),
  )
}

/** Two ranges with at most this many days between them are read as one. */
const NEAR = 30

const LOAD = compileStatement(`
  select f.day, f.rates, f.known_from, f.known_until
  from json_each(:ranges) r cross join fx_rates f on f.day between r.value ->> 0 and r.value ->> 1`)

const LAST_DAY = compileStatement('select max(day) as last from fx_rates')

/** Returns ranges with the days before them whose rates may apply. Two that are near each other become one. */
function withDaysBefore(days: readonly DayRange[]): DayRange[] {
  const ranges: DayRange[] = []
  for (const { first, last } of days.toSorted((a, b) => a.first - b.first)) {
    const before = ranges.at(-1)
    const start = first - MAX_RATE_AGE
    if (before === undefined || start > before.last + NEAR) ranges.push({ first: start, last })
    else ranges[ranges.length - 1] = { first: before.first, last: Math.max(before.last, last) }
  }
  return ranges
}

/** Loads the rates that apply to some days, and those that were replaced. */
export async function loadRates(db: Connection, days: readonly DayRange[]): Promise<LoadedRates> {
  type Stored = Omit<PublishedRates, 'rates'> & { rates: string }
  const ranges = JSON.stringify(withDaysBefore(days).map(({ first, last }) => [first, last]))
  const [rows, [{ last }]] = await readBatch<[Stored[], [{ last: number | null }]]>(db, [
    bindStatement(db, LOAD, { ranges }),
    bindStatement(db, LAST_DAY, {}),
  ])
  return { rows: rows.map((row) => ({ ...row, rates: JSON.parse(row.rates) })), lastDay: last }
}

const IMPORTS = compileStatement(
  'select known_from as at, max(day) as last from fx_rates group by known_from order by known_from',
)

/** Returns a function that returns the last day for which any rate was known at a time; null if there is none. */
export async function readLastDays(db: Connection): Promise<(at: number) => number | null> {
  const imports = await all<{ at: number; last: number }>(db, IMPORTS)
  return (time) => {
    const lasts = imports.flatMap(({ at, last }) => (at <= time ? [last] : []))
    return lasts.length > 0 ? Math.max(...lasts) : null
  }
}
