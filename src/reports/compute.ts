import { dayNumber, periodOf } from '../commission/engine/calendar.ts'
import type { RateLookup } from '../commission/engine/convert.ts'
import { rateFinder, rateLookup } from '../commission/engine/rates.ts'
import { statusMembersOf, wordsFor } from '../commission/facts/select-facts.ts'
import { loadRates } from '../db/commission/load-rates.ts'
import { findAccount } from '../db/directory/accounts.ts'
import { listDefinitions } from '../db/directory/event-definitions.ts'
import { readMapping } from '../db/directory/status-maps.ts'
import { linkAffiliates } from '../db/reports/link-affiliates.ts'
import { type ReportRow, readInTurn } from '../db/reports/read-report.ts'
import { DAY_MS } from '../durations.ts'
import {
  type Collected,
  type Collecting,
  collectActivity,
  collectCounts,
  collectEvents,
  collectSignups,
  collectTransactions,
  nothingCollected,
  sumsOf,
  valuesOf,
} from './collect.ts'
import { collectCommission } from './commission.ts'
import { CLICK_DAYS, REPORT_LIMITS, REPORT_STEPS } from './limits.ts'
import { eventCount, eventKpi } from './metrics.ts'
import type { ReportQuery } from './parse-report.ts'
import { presentReport } from './present-report.ts'
import { readSteps } from './read-steps.ts'
import type { Report } from './report.ts'
import { type Part, type Selection, selectMetrics } from './select.ts'
import { addCount, convertDays, neededRates, type Sums } from './sums.ts'
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
  const clicksFrom = Math.floor(now / DAY_MS) - CLICK_DAYS
  const { links, ...settings } = await readSettings(directory, account, vertical, query)
  const selection = selectMetrics(vertical, query, settings)
  const days = { first: dayNumber(query.from), last: dayNumber(query.to) }
  const values = {
    currency: query.currency,
    approved: JSON.stringify(settings.approved),
    status_members: JSON.stringify(settings.statusMembers),
    outflows: JSON.stringify(settings.outflows),
    links: affiliatesByLink(vertical, links),
    ...periodBounds(query),
    kpis: REPORT_LIMITS.kpis,
  }
  const range = { from: days.first, to: days.last, first: '', end: null }
  const collected = nothingCollected()
  const collecting = { ...settings, collected, groups: query.groups }
  let commission: readonly ReportRow[] = []
  await readInTurn(session, account, (readBatch) =>
    readSteps(selection, range, values, readBatch, {
      addRows(part, rows) {
        if (part === 'commission') commission = rows
        else collectPart(collecting, selection, part, rows, links)
      },
      async endDays(before) {
        if (unconvertedSums(collected) <= REPORT_STEPS.sums) return
        await convertCollected(directory, collected, query.currency, before)
        if (unconvertedSums(collected) > REPORT_LIMITS.sums) throw tooLarge('sums')
      },
    }),
  )
  const scope = collectCommission(collecting, commission, days)
  await convertCollected(directory, collected, query.currency, Number.POSITIVE_INFINITY)
  const known = { days, commission: scope, clicksFrom, defined: settings.defined }
  return presentReport(query, selection, collected, known)
}

/** Reads what a report needs beside records. */
async function readSettings(
  directory: D1Database,
  account: string,
  vertical: string,
  { groups, metrics }: ReportQuery,
) {
  const isBrand = vertical === 'igaming'
  const needsLinks =
    groups.includes('affiliate_id') || (isBrand && (metrics?.includes('attributed') ?? true))
  const [links, statusMap, definitions, found] = await Promise.all([
    needsLinks ? linkAffiliates(directory, account) : new Map<string, string>(),
    readMapping(directory, account, 'status'),
    isBrand ? listDefinitions(directory, account) : [],
    findAccount(directory, account),
  ])
  const statusMembers = statusMembersOf(definitions)
  const eventCurrencies = new Map(
    definitions.flatMap(({ eventname, currency }) =>
      currency === null ? [] : [[eventname, currency] as const],
    ),
  )
  const defined = definitions.flatMap(({ eventname, kpis }) => [
    eventCount(eventname, true).name,
    ...['Value', ...kpis].map((kpi) => eventKpi(eventname, kpi, true).name),
  ])
  return {
    links,
    approved: wordsFor(statusMap, ['approved']),
    eventCurrencies,
    defined,
    statusMembers,
    hasStatus: Object.keys(statusMembers).length > 0,
    outflows: definitions.flatMap(({ eventname, outflow }) => (outflow ? [eventname] : [])),
    signed: found?.amount_signs === 'signed',
  }
}

/**
 * Returns the affiliates of links as the statements read them, JSON by link. It is empty for firms: only
 * customers of brands have their affiliate by link.
 */
function affiliatesByLink(vertical: string, links: ReadonlyMap<string, string>): string {
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

const allSums = ({ groups, totals }: Collected): Sums[] => [
  totals,
  ...[...groups.values()].map(({ sums }) => sums),
]

/** Returns the number of sums that are not converted yet. */
const unconvertedSums = (collected: Collected): number =>
  allSums(collected)
    .flatMap(({ amounts }) => [...amounts.values()])
    .reduce((sum, { days }) => sum + days.size, 0)

/** Converts the sums of all days before `before`. The rates are read after the sums: most reports need few. */
async function convertCollected(
  directory: D1Database,
  collected: Collected,
  to: string,
  before: number,
): Promise<void> {
  const rates = await readRates(directory, neededRates(collected.totals, to, before), to)
  for (const sums of allSums(collected)) convertDays(sums, to, rates, before)
}

async function readRates(
  directory: D1Database,
  { currencies, days }: ReturnType<typeof neededRates>,
  to: string,
): Promise<RateLookup> {
  if (days.length === 0) return rateLookup(rateFinder({ rates: [], lastDay: null }))
  const loaded = await loadRates(directory, {
    currencies: [...new Set([...currencies, to, 'USD'])],
    days: days.map((day) => ({ first: day, last: day })),
    at: null,
  })
  return rateLookup(rateFinder(loaded))
}

/** Adds the rows of a part to the sums of their groups. */
function collectPart(
  collecting: Collecting,
  { shape }: Selection,
  part: Exclude<Part, 'commission'>,
  rows: readonly ReportRow[],
  links: ReadonlyMap<string, string>,
): void {
  const add: Readonly<Record<typeof part, () => void>> = {
    clicks: () => collectCounts(collecting, withAffiliates(shape.groups, rows, links), 'clicks'),
    signups: () => collectSignups(collecting, rows),
    transactions: () => collectTransactions(collecting, rows),
    first_deposits: () => {
      const deposits = rows.filter(({ searched }) => searched === null)
      collectTransactions(collecting, deposits, (_, of) => `first_deposit_${of}`)
    },
    activity: () => collectActivity(collecting, rows, shape.activity),
    events: () => collectEvents(collecting, rows),
    kpis: () => collectEvents(collecting, rows),
    active: () => collectActive(collecting, rows),
  }
  add[part]()
}

/** Returns the rows of clicks with the affiliates of their links. */
function withAffiliates(
  groups: readonly string[],
  rows: readonly ReportRow[],
  links: ReadonlyMap<string, string>,
): readonly ReportRow[] {
  const name = `g${groups.indexOf('affiliate_id')}`
  return rows.map((row) =>
    name in row ? { ...row, [name]: links.get(String(row[name])) ?? null } : row,
  )
}

/** Adds customers with records: each counts once in every group, and once in all. */
function collectActive({ collected, groups }: Collecting, rows: readonly ReportRow[]): void {
  for (const row of rows) {
    const isTotal = row.records !== null
    const sums = isTotal ? collected.totals : sumsOf(collected, valuesOf(groups, row))
    addCount(sums, 'active_customers', Number(row.count))
  }
}
