import { linksOf } from '../attribution/db/links.ts'
import { loadRates } from '../commission/db/rates.ts'
import { currenciesOf, statusMembersOf, wordsFor } from '../commission/run/select-facts.ts'
import { findAccount } from '../platform/directory/accounts.ts'
import { listDefinitions } from '../platform/directory/event-definitions.ts'
import { readMapping } from '../platform/directory/status-maps.ts'
import { DAY_MS } from '../platform/durations.ts'
import { dayNumber, periodOf } from '../platform/money/calendar.ts'
import { rateFinder, rateLookup } from '../platform/money/exchange.ts'
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
import { collectCommission, type Days } from './commission.ts'
import {
  countOwn,
  countSql,
  linkAffiliates,
  type ReportRow,
  type ReportStatement,
  readStatements,
  type Source,
} from './db/read-report.ts'
import { CLICK_DAYS, REPORT_LIMITS } from './limits.ts'
import { presentReport } from './present-report.ts'
import {
  type Part,
  type Report,
  type ReportQuery,
  type Selection,
  selectMetrics,
} from './report.ts'
import { addCount, convertDays, neededDays } from './sums.ts'
import { tooLarge } from './too-large.ts'

/** Parts whose days cannot be read one after the other: a customer counts once, and so does a statement. */
const IS_WHOLE: readonly Part[] = ['active', 'first_deposits', 'commission']

/** Divides days into ranges with about as many records as are read at a time; a day is never divided. */
function rangesOf({ first, last }: Days, records: number): Days[] {
  const days = last - first + 1
  const size = Math.max(1, Math.floor((days * REPORT_LIMITS.range) / Math.max(1, records)))
  return Array.from({ length: Math.ceil(days / size) }, (_, i) => ({
    first: first + i * size,
    last: Math.min(last, first + (i + 1) * size - 1),
  }))
}

/** Reads statements of a report until its deadline. */
type Read = (statements: readonly ReportStatement[]) => Promise<ReportRow[][]>

/** Returns what reads a report with one deadline for all of its statements. */
function readUntil(deadline: number, read: Read): Read {
  return async (statements) => {
    const left = deadline - Date.now()
    if (left <= 0) throw tooLarge('time')
    const { promise: tooLate, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(tooLarge('time')), left)
    return Promise.race([read(statements), tooLate]).finally(() => clearTimeout(timer))
  }
}

/**
 * Counts the records of the days.
 *
 * @throws ApiError `validation_failed` if a report may not read as many.
 */
async function countRecords(
  sources: readonly Source[],
  { first, last }: Days,
  read: Read,
): Promise<number> {
  if (sources.length === 0) return 0
  const { records } = REPORT_LIMITS
  const values = { from: first, to: last, records }
  const found = await read(sources.map((one) => [countSql(one), values]))
  const counts = found.map(([row]) => Number(row?.count))
  if (counts.some((one) => one > records)) throw tooLarge('records')
  return counts.reduce((sum, one) => sum + one, 0)
}

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

/** The affiliates whose records a report has. */
export interface ReportedAffiliates {
  readonly ids: readonly string[]
  /** Whether drafts count as commission. */
  readonly drafts: boolean
}

/**
 * Computes a report of an account, or of some of its affiliates.
 *
 * @param now In milliseconds; it decides of which days clicks are still kept.
 * @param of The affiliates; null: all records.
 * @throws ApiError `validation_failed` if the report is too large.
 */
export async function computeReport(
  { session, directory }: ReportDatabases,
  { account, vertical }: ReportAccount,
  query: ReportQuery,
  now: number,
  of: ReportedAffiliates | null = null,
): Promise<Report> {
  const deadline = Date.now() + REPORT_LIMITS.ms
  const { links, ...settings } = await readSettings(directory, account, vertical, query, of)
  const days = { first: dayNumber(query.from), last: dayNumber(query.to) }
  const byLink = affiliatesByLink(vertical, links)
  if (of) await limitSearches(session, account, of, byLink, days)
  const selection = selectMetrics(vertical, query, { ...settings, own: of !== null })
  const { statements } = selection
  const sources = [...new Set(statements.flatMap(([, of]) => of))]
  const read = readUntil(deadline, (all) => readStatements(session, account, all))
  const values = {
    currency: query.currency,
    approved: JSON.stringify(settings.approved),
    status_members: JSON.stringify(settings.statusMembers),
    outflows: JSON.stringify(settings.outflows),
    links: byLink,
    affiliates: JSON.stringify(of?.ids ?? []),
    own_links: JSON.stringify([...links.keys()]),
    drafts: Number(of?.drafts ?? true),
    ...periodBounds(query),
    rows: REPORT_LIMITS.rows,
  }
  const collected = nothingCollected()
  const collecting = { ...settings, collected, groups: query.groups }
  let scope = collectCommission(collecting, [], days)
  const readParts = async (wanted: Selection['statements'], { first, last }: Days) => {
    if (wanted.length === 0) return
    const results = await read(
      wanted.map(([, , sql]) => [sql, { ...values, from: first, to: last }]),
    )
    for (const [i, [part]] of wanted.entries()) {
      const rows = results[i] ?? []
      if (rows.length > REPORT_LIMITS.rows) throw tooLarge('sums')
      if (part === 'commission') scope = collectCommission(collecting, rows, days)
      else collectPart(collecting, selection, part, rows, links)
    }
    await convertCollected(directory, collected, query.currency)
  }
  const daily = statements.filter(([part]) => !IS_WHOLE.includes(part))
  const ranges = of ? [days] : rangesOf(days, await countRecords(sources, days, read))
  for (const range of ranges) await readParts(daily, range)
  await readParts(
    statements.filter(([part]) => IS_WHOLE.includes(part)),
    days,
  )
  const clicksFrom = Math.floor(now / DAY_MS) - CLICK_DAYS
  const known = { days, commission: scope, clicksFrom, definitions: settings.definitions }
  return presentReport(query, selection, collected, known)
}

/**
 * Limits the searches that find the records of affiliates: one for each customer and day.
 *
 * @throws ApiError `validation_failed` if they are too many.
 */
async function limitSearches(
  session: D1DatabaseSession,
  account: string,
  { ids }: ReportedAffiliates,
  links: string,
  { first, last }: Days,
): Promise<void> {
  const customers = await countOwn(session, account, ids, links)
  if (customers * (last - first + 1) > REPORT_LIMITS.searches) throw tooLarge('customers')
}

/** Reads what a report needs beside records. */
async function readSettings(
  directory: D1Database,
  account: string,
  vertical: string,
  { groups, metrics }: ReportQuery,
  of: ReportedAffiliates | null,
) {
  const isBrand = vertical === 'igaming'
  const needsLinks =
    groups.includes('affiliate_id') || (isBrand && (metrics?.includes('attributed') ?? true))
  const [links, statusMap, definitions, found] = await Promise.all([
    readLinks(directory, account, of, needsLinks),
    readMapping(directory, account),
    isBrand ? listDefinitions(directory, account) : [],
    findAccount(directory, account),
  ])
  const statusMembers = statusMembersOf(definitions)
  return {
    links,
    approved: wordsFor(statusMap, ['approved']),
    eventCurrencies: currenciesOf(definitions),
    definitions,
    statusMembers,
    hasStatus: Object.keys(statusMembers).length > 0,
    outflows: definitions.flatMap(({ eventname, outflow }) => (outflow ? [eventname] : [])),
    signed: found?.amount_signs === 'signed',
  }
}

/** Reads the affiliates of links: of those of some affiliates, or of all where they are needed. */
async function readLinks(
  directory: D1Database,
  account: string,
  of: ReportedAffiliates | null,
  areNeeded: boolean,
): Promise<ReadonlyMap<string, string>> {
  if (of) return linksOf(directory, account, of.ids)
  return areNeeded ? linkAffiliates(directory, account) : new Map()
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

/** Converts all sums. The rates are read after the sums: most reports need few. */
async function convertCollected(
  directory: D1Database,
  { totals, groups }: Collected,
  to: string,
): Promise<void> {
  const days = neededDays(totals, to).map((day) => ({ first: day, last: day }))
  const loaded = days.length > 0 ? await loadRates(directory, days) : { rows: [], lastDay: null }
  const rates = rateLookup(rateFinder(loaded))
  for (const sums of [totals, ...[...groups.values()].map(({ sums }) => sums)]) {
    convertDays(sums, to, rates)
  }
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
    first_deposits: () => collectTransactions(collecting, rows, (_, of) => `first_deposit_${of}`),
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
    const sums = row.is_total ? collected.totals : sumsOf(collected, valuesOf(groups, row))
    addCount(sums, 'active_customers', Number(row.count))
  }
}
