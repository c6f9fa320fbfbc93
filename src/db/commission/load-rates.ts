import { all } from '../query.ts'
import { compileStatement } from '../statement.ts'
import { RATE_SOURCE } from './rates.ts'

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
export const LOAD_RATES = compileStatement(`
  with recursive ${KNOWN_CURRENCIES}, ${PUBLISHED},
  wanted(currency) as (select value from json_each(:currencies))
  select null as currency, day, null as rate from published
  union all ${RATES}`)

/** Loads the rates of every currency likewise. Each currency has a row without day before them. */
export const LOAD_ALL_RATES = compileStatement(`
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
export interface RateRange {
  /** Null: all that the source has ever published. */
  readonly currencies: readonly string[] | null
  /** The days to which the rates apply. */
  readonly days: readonly DayRange[]
  /** The time, in milliseconds, at which the rates were known; null: now. */
  readonly at: number | null
}

/** Rates of days and of the 7 days before each, as `rateFinder` of the engine reads them. */
export interface StoredRates {
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
