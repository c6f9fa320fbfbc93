import { dayNumber, dayText } from '../column-types.ts'
import { toJsonChunks } from '../records/json-chunks.ts'
import { JSON_EACH } from '../records/sql-fragments.ts'
import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement, type Statement } from '../statement.ts'

// Exchange rates, in the database `DB`. A rate that is replaced keeps its row, with the time until
// which it was known.

/** The source of the rates. */
export const RATE_SOURCE = 'ECB'

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
export const IMPORT_STATEMENTS = {
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
export interface DifferenceCount {
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
export interface RateDifference {
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
