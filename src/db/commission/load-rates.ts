import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement } from '../statement.ts'
import { RATE_SOURCE } from './rates.ts'

/** The number of days before a range whose rates may apply to its first day. */
const DAYS_BEFORE = 7

/** After every stored day, and after every time at which a rate is known. */
const END = Number.MAX_SAFE_INTEGER

/** The currencies that the source has ever published. Reads one row for each. */
const KNOWN = `
  known(currency) as (
    select min(currency) from fx_rates where source = :source
    union all
    select (select min(currency) from fx_rates where source = :source and currency > known.currency)
    from known where known.currency is not null
  )`

/** The condition that a rate was known at a time. */
const WAS_KNOWN = 'f.known_from <= :at and ifnull(f.known_until > :at, true)'

/**
 * The last day with a rate of any currency before `:until`, or a day from then on if there is one:
 * whatever lies between was published, too.
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

const IN_RANGE = `f.source = :source and f.currency = wanted.currency
    and f.day between :from - ${DAYS_BEFORE} and :to and ${WAS_KNOWN}`

/** Loads the rates of some currencies, and the last day. The first row is the last day alone. */
export const LOAD_RATES = compileStatement(`
  with recursive ${KNOWN}, ${PUBLISHED},
  wanted(currency) as (select value from json_each(:currencies))
  select null as currency, day, null as rate from published
  union all
  select f.currency, f.day, f.rate from wanted cross join fx_rates f on ${IN_RANGE}`)

/** Loads the rates of every currency likewise. A currency without rates has a row without day. */
export const LOAD_ALL_RATES = compileStatement(`
  with recursive ${KNOWN}, ${PUBLISHED},
  wanted(currency) as (select currency from known where currency is not null)
  select null as currency, day, null as rate from published
  union all
  select wanted.currency, f.day, f.rate from wanted left join fx_rates f on ${IN_RANGE}`)

/** The rates that one query reads. Days are numbers of days since 1970-01-01. */
export interface RateRange {
  /** Null: all that the source has ever published. */
  readonly currencies: readonly string[] | null
  readonly from: number
  readonly to: number
  /** The time, in milliseconds, at which the rates were known; null: those that apply now. */
  readonly at: number | null
}

/** Rates of a range and of the 7 days before it, as `rateFinder` of the engine reads them. */
export interface StoredRates {
  readonly rates: { readonly currency: string; readonly day: number; readonly rate: string }[]
  /**
   * The last day for which the source published any rate; null if there is none. If `at` is a time,
   * it may be an earlier one, but not before the end of the range.
   */
  readonly lastDay: number | null
  /** The currencies of the range. */
  readonly currencies: readonly string[]
}

/** Loads the rates that apply to the days of a range. */
export async function loadRates(db: D1Database, range: RateRange): Promise<StoredRates> {
  const { currencies, from, to, at } = range
  const values = {
    ...{ source: RATE_SOURCE, from, to, at: at ?? END, until: at === null ? END : to },
    ...(currencies && { currencies: JSON.stringify(currencies) }),
  }
  type Row = { currency: string; day: number | null; rate: string | null }
  const statement = currencies ? LOAD_RATES : LOAD_ALL_RATES
  const { results } = await withD1Retry(() => bindStatement(db, statement, values).all<Row>())
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
  with recursive ${KNOWN}
  select currency from known where currency is not null`)

/** Returns the currencies of which a rate was ever published, without the euro. */
export async function readRatedCurrencies(db: D1Database): Promise<Set<string>> {
  const { results } = await withD1Retry(() =>
    bindStatement(db, RATED, { source: RATE_SOURCE }).all<{ currency: string }>(),
  )
  return new Set(results.map(({ currency }) => currency))
}
