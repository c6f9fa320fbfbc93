import { dayNumber, periodOf } from '../commission/engine/calendar.ts'
import type { RateLookup } from '../commission/engine/convert.ts'
import { rateFinder, rateLookup } from '../commission/engine/rates.ts'
import { wordsFor } from '../commission/facts/select-facts.ts'
import { loadRates } from '../db/commission/load-rates.ts'
import { listDefinitions } from '../db/directory/event-definitions.ts'
import { readMapping } from '../db/directory/status-maps.ts'
import { linkAffiliates } from '../db/reports/link-affiliates.ts'
import { type ReportRow, readReport } from '../db/reports/read-report.ts'
import { DAY_MS } from '../durations.ts'
import { neededRates, type Sums } from './cells.ts'
import { nothingCollected } from './collect.ts'
import { collectAll } from './collect-all.ts'
import { collectCommission } from './commission.ts'
import { CLICK_DAYS, REPORT_LIMITS } from './limits.ts'
import type { ReportQuery } from './parse-report.ts'
import { presentReport } from './present-report.ts'
import type { Report } from './report.ts'
import { type Part, type Selection, selectMetrics } from './select.ts'
import { tooLarge } from './too-large.ts'

/** The databases of a report: with the account's records, and with its settings, links and the rates. */
export interface ReportDatabases {
  readonly session: D1DatabaseSession
  readonly directory: D1Database
}

/** The account of a report. */
export interface ReportAccount {
  readonly account: string
  readonly vertical: string
}

/**
 * Computes a report of an account.
 *
 * @param now In milliseconds; it decides of which days clicks are still kept.
 * @throws ApiError `validation_failed` if the report is too large, `rate_limited` while another
 * computation of the account runs.
 */
export async function computeReport(
  { session, directory }: ReportDatabases,
  { account, vertical }: ReportAccount,
  query: ReportQuery,
  now: number,
): Promise<Report> {
  const selection = selectMetrics(vertical, query)
  const { links, ...settings } = await readSettings(directory, account, vertical, selection)
  const statements = selection.statements.map(([, sql]) => sql)
  const results = await readReport(session, statements, {
    ...{ account, from: query.from, to: query.to, currency: query.currency },
    ...{ approved: settings.approved, links: ownersOf(vertical, links) },
    ...periodBounds(query),
    ...{ records: REPORT_LIMITS.records, sums: REPORT_LIMITS.sums },
    ...{ kpis: REPORT_LIMITS.kpis, searched: REPORT_LIMITS.searched },
  })
  const rows = new Map(selection.statements.map(([part], i) => [part, results[i] ?? []]))
  for (const [part, found] of rows) checkSize(part, found)
  const collecting = { ...settings, collected: nothingCollected(), groups: query.groups }
  collectAll(collecting, selection, rows, links)
  const days = { first: dayNumber(query.from), last: dayNumber(query.to) }
  const commission = collectCommission(collecting, rows.get('commission') ?? [], days)
  return presentReport(query, selection, collecting.collected, {
    days,
    rates: await readRates(directory, collecting.collected.totals, query.currency),
    commission,
    clicksFrom: Math.floor(now / DAY_MS) - CLICK_DAYS,
  })
}

/** Reads what a report needs beside records. */
async function readSettings(
  directory: D1Database,
  account: string,
  vertical: string,
  { shape: { groups }, metrics }: Selection,
) {
  const isBrand = vertical === 'igaming'
  const needsLinks =
    groups.includes('affiliate_id') ||
    (isBrand && metrics.some(({ name }) => name === 'attributed'))
  const [links, statusMap, definitions] = await Promise.all([
    needsLinks ? linkAffiliates(directory, account) : new Map<string, string>(),
    isBrand ? {} : readMapping(directory, account, 'status'),
    isBrand ? listDefinitions(directory, account) : [],
  ])
  const eventCurrencies = new Map(
    definitions.flatMap(({ eventname, currency }) =>
      currency === null ? [] : [[eventname, currency] as const],
    ),
  )
  return { links, approved: wordsFor(statusMap, ['approved']), eventCurrencies }
}

/** Returns the affiliates of links as the statements read them. Only customers of brands have theirs by link. */
function ownersOf(vertical: string, links: ReadonlyMap<string, string>): string {
  const json = JSON.stringify(vertical === 'igaming' ? Object.fromEntries(links) : {})
  if (json.length > REPORT_LIMITS.linkBytes) throw tooLarge('links')
  return json
}

function periodBounds({ from, to }: ReportQuery) {
  const [first, last] = [dayNumber(from), dayNumber(to)]
  return {
    first_month: periodOf(first, 'month').id,
    last_month: periodOf(last, 'month').id,
    first_week: periodOf(first, 'week').id,
    last_week: periodOf(last, 'week').id,
  }
}

/** Refuses a report of too many records, values, days or sums. */
function checkSize(part: Part, rows: readonly ReportRow[]): void {
  if (rows.some((row) => row.is_too_long === 1)) throw tooLarge('searched')
  if (rows.length > REPORT_LIMITS.sums) throw tooLarge('sums')
  const recordsOf = (row: ReportRow) => ('records' in row ? row.records : row.count) ?? 0
  const counted = rows.reduce((sum, row) => sum + Number(recordsOf(row)), 0)
  const resource = part === 'kpis' ? 'kpis' : 'records'
  if (counted > REPORT_LIMITS[resource]) throw tooLarge(resource)
}

/** Reads the rates of the days on which sums are converted, after the sums: most reports need few. */
async function readRates(directory: D1Database, totals: Sums, to: string): Promise<RateLookup> {
  const { currencies, days } = neededRates(totals, to)
  if (days.length === 0) return rateLookup(rateFinder({ rates: [], lastDay: null }))
  const loaded = await loadRates(directory, {
    currencies: [...new Set([...currencies, to, 'USD'])],
    days: days.map((day) => ({ first: day, last: day })),
    at: null,
  })
  return rateLookup(rateFinder(loaded))
}
