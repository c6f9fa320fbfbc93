import { isAssertionFailure } from '../../platform/db/retry.ts'
import { withAudit } from '../../platform/directory/audit.ts'
import { ApiError, errorName } from '../../platform/errors.ts'
import { validationFailed } from '../../platform/http/read-fields.ts'
import { dayText } from '../../platform/money/calendar.ts'
import { FileFailure, isZip, readBytes, unzip } from '../../platform/unzip.ts'
import { pointerStep } from '../../platform/validation/pointer.ts'
import { RATE_SOURCE, type RateTable, readDifferences, storeRates } from '../db/rates.ts'
import { parseEcb } from './parse-ecb.ts'

/** Who imports a file, when, and whether it may replace stored rates. */
interface ImportRequest {
  readonly actor: string
  readonly isCorrection: boolean
  /** In milliseconds. */
  readonly now: number
}

/** What an import did. */
interface ImportResult {
  readonly source: typeof RATE_SOURCE
  /** The first and the last day of the file. */
  readonly first_day: string
  readonly last_day: string
  /** The number of rates that were new, the same as stored, and replaced. */
  readonly created: number
  readonly unchanged: number
  readonly corrected: number
}

/**
 * Stores the rates of a file, all or none. A file whose rates are all stored writes nothing. Where a
 * rate is stored with another value, a correction replaces it and keeps the old one.
 *
 * @throws ApiError `validation_failed` for other values without correction, `conflict` if another
 * import gets in between.
 */
export async function importRates(
  db: D1Database,
  table: RateTable,
  { actor, isCorrection, now }: ImportRequest,
): Promise<ImportResult> {
  const rated = table.filter(({ rates }) => Object.keys(rates).length > 0)
  const differences = await readDifferences(db, rated)
  const changes = differences.flatMap(({ day, sent, stored }) => changesOf(day, sent, stored))
  const replaced = changes.filter((one) => one.stored !== undefined)
  if (replaced.length > 0 && !isCorrection) throw differs(table, replaced)
  const result = resultOf(table, changes.length - replaced.length, replaced.length)
  if (changes.length === 0) return result
  const entry = { actor, action: 'fx-rates.put', account: null, details: { ...result } }
  await withAudit(db, entry, storeRates(db, differences, now)).catch((cause) => {
    if (!isAssertionFailure(cause)) throw cause
    const detail = 'Another import changed the rates at the same time. Repeat the request.'
    throw new ApiError('conflict', { detail, cause })
  })
  return result
}

/** A sent rate that is not stored, or with another value. */
interface RateChange {
  readonly day: string
  readonly currency: string
  readonly rate: string
  readonly stored: string | undefined
}

/** Returns the rates of a day that differ from those that are stored; both are JSON. */
function changesOf(day: number, sent: string, stored: string | null): RateChange[] {
  const known: Readonly<Record<string, string>> = JSON.parse(stored ?? '{}')
  const rates: Readonly<Record<string, string>> = JSON.parse(sent)
  return Object.entries(rates)
    .map(([currency, rate]) => ({ day: dayText(day), currency, rate, stored: known[currency] }))
    .filter((one) => one.rate !== one.stored)
}

function resultOf(table: RateTable, created: number, corrected: number): ImportResult {
  const ordered = table.map(({ day }) => day).sort()
  const sent = table.reduce((sum, { rates }) => sum + Object.keys(rates).length, 0)
  return {
    source: RATE_SOURCE,
    first_day: ordered[0] ?? '',
    last_day: ordered.at(-1) ?? '',
    created,
    unchanged: sent - created - corrected,
    corrected,
  }
}

/** Returns the error of a file that has other values for stored rates. */
function differs(table: RateTable, replaced: readonly RateChange[]): ApiError {
  const rows = new Map(table.map(({ day }, i) => [day, i]))
  return validationFailed(
    replaced.map(({ day, currency, rate, stored }) => ({
      pointer: `/rows/${rows.get(day)}${pointerStep(currency)}`,
      code: 'rate_differs',
      expected: `${stored}, the rate of ${day}`,
      value: rate,
    })),
  )
}

/** The limits of a fetched file. */
const TIMEOUT_MS = 30_000
const MAX_BYTES = 6 * 1024 * 1024

/**
 * Fetches the file of `FX_URL` and imports it, if the variable is set. A file that is not valid, or
 * that differs from stored rates, is refused whole. Logs the outcome and never throws: the cron runs several
 * times a day.
 */
export async function fetchRates(env: Env, now: number): Promise<void> {
  if (!env.FX_URL) return
  try {
    const text = await fetchFile(env.FX_URL)
    const table = parseEcb(text, new Date().toISOString().slice(0, 10))
    const request = { actor: 'cron', isCorrection: false, now }
    const imported = await importRates(env.DB, table, request)
    console.log(JSON.stringify({ fx_rates: imported }))
  } catch (error) {
    const reason = reasonOf(error)
    console.error(JSON.stringify({ fault: 'fx_rates', source: RATE_SOURCE, reason }))
  }
}

/** Fetches the text of the file, which may be in a ZIP archive. */
async function fetchFile(url: string): Promise<string> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const { status, body } = await fetch(url, { signal, headers: { Accept: 'text/csv' } })
  if (status !== 200 || !body) {
    await body?.cancel()
    throw new FileFailure(`status ${status}`)
  }
  const bytes = await readBytes(body, MAX_BYTES)
  const [only, ...more] = isZip(bytes) ? unzip(bytes) : []
  if (more.length > 0) throw new FileFailure('more than one file')
  const csv = only ? await readBytes(only(), MAX_BYTES) : bytes
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(csv)
  // A file that was cut within its last rate would have a wrong rate, which nobody would notice.
  if (!text.endsWith('\n')) throw new FileFailure('no line break at the end')
  return text
}

/** Returns what the log may say of a failure: its message may quote what was fetched. */
function reasonOf(error: unknown): string {
  if (error instanceof FileFailure) return error.message
  if (!(error instanceof ApiError)) return errorName(error)
  return error.code === 'validation_failed' ? 'refused' : error.code
}
