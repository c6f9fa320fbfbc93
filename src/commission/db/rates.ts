import { dayNumber, dayText } from '../../platform/db/column-types.ts'
import { toJsonChunks } from '../../platform/db/json-chunks.ts'
import { all } from '../../platform/db/query.ts'
import { withD1Retry } from '../../platform/db/retry.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement, type Statement } from '../../platform/db/statement.ts'

// Exchange rates, in the database `DB`. A rate that is replaced keeps its row, with the time until
// which it was known.

/** The source of the rates. */
export const RATE_SOURCE = 'ECB' as const

/** The rates of some days to store: each day's in the order of `currencies`, null where it has none. */
export interface RateTable {
  readonly currencies: readonly string[]
  readonly days: readonly { readonly day: string; readonly rates: readonly (string | null)[] }[]
}

/** The rates that a request sends: `:rows` is a JSON array of days, each with its rates behind it. */
const SENT = `
  sent(day, currency, rate) as (
    select r.value ->> 0, c.value, r.value ->> (c.key + 1)
    from ${JSON_EACH}(:rows) r cross join json_each(:currencies) c
    where r.value ->> (c.key + 1) is not null
  )`

/** The condition that `f` is the rate that is stored for a sent one. */
const IS_STORED = `f.source = :source and f.currency = sent.currency and f.day = sent.day
    and f.known_until is null`

const COUNT_DIFFERENCES = `
  with ${SENT}
  select count(*) as sent, count(*) filter (where f.rate is null) as missing,
    count(*) filter (where f.rate <> sent.rate) as different
  from sent left join fx_rates f on ${IS_STORED}`

/** Text that is not valid JSON, which aborts a batch: see `isAssertionFailure`. */
const NOT_JSON = 'changed since'

/** Every statement of an import. */
const IMPORT_STATEMENTS = {
  /** Counts the sent rates that are not stored and those that are stored with another value. */
  count: compileStatement(COUNT_DIFFERENCES),
  /** Fails, and so does its batch, if these counts have changed. */
  guard: compileStatement(`
    select iif(missing = :missing and different = :different, null, json('${NOT_JSON}'))
    from (${COUNT_DIFFERENCES})`),
  /** Lists the sent rates that are stored with another value. */
  differences: compileStatement(`
    with ${SENT}
    select sent.day, sent.currency, sent.rate, f.rate as stored
    from sent cross join fx_rates f on ${IS_STORED}
    where f.rate <> sent.rate limit :limit`),
  /** Ends the rates that a correction replaces. */
  end: compileStatement(`
    with ${SENT}
    update fx_rates set known_until = max(:now, known_from + 1)
    where (source, currency, day, known_from) in (
      select f.source, f.currency, f.day, f.known_from from sent cross join fx_rates f on ${IS_STORED}
      where f.rate <> sent.rate
    )`),
  /** Inserts the sent rates that are not stored. A correction is known from when the old rate ends. */
  insert: compileStatement(`
    with ${SENT}
    insert into fx_rates (source, currency, day, rate, known_from)
    select :source, currency, day, rate, max(:now, ifnull((
      select max(e.known_until) from fx_rates e
      where e.source = :source and e.currency = sent.currency and e.day = sent.day), 0))
    from sent where not exists (select 1 from fx_rates f where ${IS_STORED})`),
} satisfies Record<string, Statement>

/** The parameters of an import: the rates in parts, of which each fits one parameter. */
export function importParts({ currencies, days }: RateTable): Record<string, unknown>[] {
  const rows = days.map(({ day, rates }) => [dayNumber(day), ...rates])
  const shared = { source: RATE_SOURCE, currencies: JSON.stringify(currencies) }
  return toJsonChunks(rows).map((chunk) => ({ ...shared, rows: chunk }))
}

/** The number of rates of one part: in all, not stored, and stored with another value. */
interface DifferenceCount {
  readonly sent: number
  readonly missing: number
  readonly different: number
}

/** Counts how the rates of each part differ from those that are stored. */
export async function countDifferences(
  db: D1Database,
  parts: readonly Record<string, unknown>[],
): Promise<DifferenceCount[]> {
  const results = await withD1Retry(() =>
    db.batch<DifferenceCount>(
      parts.map((part) => bindStatement(db, IMPORT_STATEMENTS.count, part)),
    ),
  )
  return results.flatMap(({ results }) => results)
}

/** A rate that is stored with another value than the one that was sent. */
interface RateDifference {
  readonly day: string
  readonly currency: string
  readonly rate: string
  readonly stored: string
}

/** Lists the rates of each part that are stored with another value, at most `limit` of each. */
export async function listDifferences(
  db: D1Database,
  parts: readonly Record<string, unknown>[],
  limit: number,
): Promise<RateDifference[]> {
  type Row = Omit<RateDifference, 'day'> & { day: number }
  const results = await withD1Retry(() =>
    db.batch<Row>(
      parts.map((part) => bindStatement(db, IMPORT_STATEMENTS.differences, { ...part, limit })),
    ),
  )
  return results
    .flatMap(({ results }) => results)
    .map(({ day, ...row }) => ({ day: dayText(day), ...row }))
}

/**
 * Returns the statements that store the parts of an import. Together they fail if the stored rates
 * have changed since they were counted.
 */
export function storeRates(
  db: D1Database,
  parts: readonly Record<string, unknown>[],
  counts: readonly DifferenceCount[],
  now: number,
): D1PreparedStatement[] {
  const guards = parts.map((part, i) =>
    bindStatement(db, IMPORT_STATEMENTS.guard, { ...part, ...counts[i] }),
  )
  const writes = parts.flatMap((part, i) =>
    [...(counts[i]?.different ? [IMPORT_STATEMENTS.end] : []), IMPORT_STATEMENTS.insert].map(
      (statement) => bindStatement(db, statement, { ...part, now }),
    ),
  )
  return [...guards, ...writes]
}

/** The number of days before a range whose rates may apply to its first day. */
const DAYS_BEFORE = 7

/** Two ranges with at most this many days between them are read as one. */
const NEAR = 30

/** After every stored day, and after every time at which a rate is known. */
const END = Number.MAX_SAFE_INTEGER

/** The currencies that the source has ever published. Reads one row for each. */
export const KNOWN_CURRENCIES = `
  known(currency) as (
    select min(currency) from fx_rates where source = :source
    union all
    select (select min(currency) from fx_rates where source = :source and currency > known.currency)
    from known where known.currency is not null
  )`

/** The condition that a rate was known at a time. */
const WAS_KNOWN = 'f.known_from <= :at and ifnull(f.known_until > :at, true)'

/**
 * A day with a rate of any currency, up to which all rates are published: the first day from `:until` on
 * or, if there is none, the last day before it.
 */
const PUBLISHED = `
  published(day) as (
    select max(ifnull((
      select f.day from fx_rates f
      where f.source = :source and f.currency = known.currency and f.day >= :until
        and f.known_from <= :at
      order by f.day limit 1
    ), (
      select f.day from fx_rates f
      where f.source = :source and f.currency = known.currency and f.day < :until
        and f.known_from <= :at
      order by f.day desc limit 1
    ))) from known
  )`

/** The rates of the wanted currencies; `:ranges` is a JSON array of first and last days, in order. */
const RATES = `
  select wanted.currency, f.day, f.rate
  from json_each(:ranges) r cross join wanted cross join fx_rates f
  on f.source = :source and f.currency = wanted.currency
    and f.day between r.value ->> 0 and r.value ->> 1 and ${WAS_KNOWN}`

/** Loads the rates of some currencies, and the last day. The first row is the last day alone. */
const LOAD_RATES = compileStatement(`
  with recursive ${KNOWN_CURRENCIES}, ${PUBLISHED},
  wanted(currency) as (select value from json_each(:currencies))
  select null as currency, day, null as rate from published
  union all ${RATES}`)

/** Loads the rates of every currency likewise. Each currency has a row without day before them. */
const LOAD_ALL_RATES = compileStatement(`
  with recursive ${KNOWN_CURRENCIES}, ${PUBLISHED},
  wanted(currency) as (select currency from known where currency is not null)
  select null as currency, day, null as rate from published
  union all
  select currency, null, null from wanted
  union all ${RATES}`)

/** Days from the first to the last. */
export interface DayRange {
  readonly first: number
  readonly last: number
}

/** The rates that one query reads. Days are numbers of days since 1970-01-01. */
interface RateRange {
  /** Null: all that the source has ever published. */
  readonly currencies: readonly string[] | null
  /** The days to which the rates apply. */
  readonly days: readonly DayRange[]
  /** The time, in milliseconds, at which the rates were known; null: now. */
  readonly at: number | null
}

/** Rates of days and of the 7 days before each, as `rateFinder` of the engine reads them. */
interface StoredRates {
  readonly rates: { readonly currency: string; readonly day: number; readonly rate: string }[]
  /**
   * The last day for which the source published any rate; null if there is none. If `at` is a time,
   * it may be an earlier one, but not before the last of the days.
   */
  readonly lastDay: number | null
  /** The currencies of the range. */
  readonly currencies: readonly string[]
}

/**
 * Returns ranges with the days before them whose rates may apply. Two that are near each other become
 * one: each range is searched for every currency.
 */
function withDaysBefore(days: readonly DayRange[]): DayRange[] {
  const ranges: DayRange[] = []
  for (const { first, last } of days.toSorted((a, b) => a.first - b.first)) {
    const before = ranges.at(-1)
    const start = first - DAYS_BEFORE
    if (before === undefined || start > before.last + NEAR) ranges.push({ first: start, last })
    else ranges[ranges.length - 1] = { first: before.first, last: Math.max(before.last, last) }
  }
  return ranges
}

/** Loads the rates that apply to some days. */
export async function loadRates(db: D1Database, range: RateRange): Promise<StoredRates> {
  const { currencies, days, at } = range
  const ranges = withDaysBefore(days)
  const lastDay = ranges.at(-1)?.last ?? END
  const values = {
    source: RATE_SOURCE,
    at: at ?? END,
    until: at === null ? END : lastDay,
    ranges: JSON.stringify(ranges.map(({ first, last }) => [first, last])),
    ...(currencies && { currencies: JSON.stringify(currencies) }),
  }
  type Row = { currency: string; day: number | null; rate: string | null }
  const statement = currencies ? LOAD_RATES : LOAD_ALL_RATES
  const results = await all<Row>(db, statement, values)
  const [published, ...rows] = results
  return {
    rates: rows.flatMap(({ currency, day, rate }) =>
      day === null || rate === null ? [] : [{ currency, day, rate }],
    ),
    lastDay: published?.day ?? null,
    currencies: currencies ?? [...new Set(rows.map(({ currency }) => currency))],
  }
}

/** Finds the currencies of which a rate was ever published. */
const RATED = compileStatement(`
  with recursive ${KNOWN_CURRENCIES}
  select currency from known where currency is not null`)

/** Returns the currencies of which a rate was ever published, without the euro. */
export async function readRatedCurrencies(db: D1Database): Promise<Set<string>> {
  const results = await all<{ currency: string }>(db, RATED, { source: RATE_SOURCE })
  return new Set(results.map(({ currency }) => currency))
}
