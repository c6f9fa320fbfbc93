import { dayNumber, periodOf } from '../commission/engine/calendar.ts'
import { type RateLookup, rateFinder, rateLookup } from '../commission/engine/convert.ts'
import { statusMembersOf, wordsFor } from '../commission/statements/select-facts.ts'
import { loadRates } from '../db/commission/rates.ts'
import { findAccount } from '../db/directory/accounts.ts'
import { listDefinitions } from '../db/directory/event-definitions.ts'
import { linksOf } from '../db/directory/links.ts'
import { readMapping } from '../db/directory/status-maps.ts'
import {
  countDaysSql,
  countOwn,
  divideDaySql,
  linkAffiliates,
  type OwnWay,
  type ReadBatch,
  type ReportNeeds,
  type ReportRow,
  readInTurn,
  type Source,
} from '../db/reports/read-report.ts'
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
import { presentReport } from './present-report.ts'
import {
  eventCount,
  eventKpi,
  type Part,
  type Report,
  type ReportQuery,
  type Selection,
  selectMetrics,
} from './report.ts'
import { addCount, convertDays, neededRates, type Sums } from './sums.ts'
import { tooLarge, tooManyRecords } from './too-large.ts'

/** What receives the rows that are read. */
interface RowConsumer {
  /** Adds rows of a part. */
  readonly addRows: (part: Part, rows: readonly ReportRow[]) => void
  /** Called when all records before a day are added. */
  readonly endDays: (before: number) => Promise<void>
}

/** About how many pieces the reader makes of a step that exceeded its limits. */
const PIECES = 8

/** Counts the records of a report, and reads them in steps. */
async function readSteps(
  selection: Selection,
  range: Range,
  values: Readonly<Record<string, string | number>>,
  readBatch: ReadBatch,
  { addRows, endDays }: RowConsumer,
): Promise<void> {
  const sql = new Map(selection.statements)
  const counting = { ...selection.shape, values, readBatch }
  const counts = await countDays(counting, sourcesOf([...sql.keys()], selection.shape), range)
  for (const [source, days] of counts) {
    if (sumOf(days) > REPORT_LIMITS.records) throw tooManyRecords(source, range.from, days)
  }
  const { steps, cost } = scheduleSteps(selection, counts, range)
  const used = { kpis: 0, searched: 0 }
  for (let step = steps.shift(); step; step = steps.shift()) {
    if (step.pieces > 1) {
      steps.unshift(...(await divideStep(counting, step, sourcesOf(step.parts, selection.shape))))
      continue
    }
    const { parts, pieces, ...bounds } = step
    const limits = parts.map((part) => limitsOf(part, bounds, cost))
    const results = await readBatch(
      parts.map((part, i) => [sql.get(part) ?? '', { ...values, ...bounds, ...limits[i] }]),
      steps.length === 0,
    )
    const excess: Part[] = []
    for (const [i, part] of parts.entries()) {
      const rows = results[i] ?? []
      // The values of KPIs do not say how many events were read.
      const isWhole = isWithin(rows, limits[i]!) && !(part === 'kpis' && excess.includes('events'))
      if (isWhole) {
        addRows(part, rows)
        used.kpis += total(rows, 'values')
        used.searched += total(rows, 'searched')
      } else excess.push(part)
    }
    if (used.kpis > REPORT_LIMITS.kpis) throw tooLarge('kpis')
    if (used.searched > REPORT_LIMITS.searched) throw tooLarge('searched')
    if (excess.includes('commission')) throw tooLarge('sums')
    if (excess.length > 0 && isOfOne(bounds)) throw tooLarge('customer')
    if (excess.length > 0) steps.unshift({ ...step, parts: excess, pieces: PIECES })
    // The last steps can have first deposits of all days.
    await endDays(steps[0]?.from ?? Number.POSITIVE_INFINITY)
  }
}

/** What one statement may read and return. */
interface Limits {
  readonly records: number
  readonly searched: number
  readonly rows: number
}

/** Returns the limits of a statement. The records of one customer cannot be divided. */
function limitsOf(part: Part, bounds: Range, cost: number): Limits {
  const { records, customer, searched, rows } = REPORT_LIMITS
  if (part === 'clicks' || part === 'commission') return { records, searched, rows }
  return isOfOne(bounds)
    ? { records: customer, searched, rows }
    : { records: REPORT_STEPS.excess + cost, searched: REPORT_STEPS.searched, rows }
}

const total = (rows: readonly ReportRow[], name: string): number =>
  rows.reduce((sum, row) => sum + Number(row[name] ?? 0), 0)

/** Returns whether a statement has read and returned all that it should. */
function isWithin(rows: readonly ReportRow[], limits: Limits): boolean {
  const records = total(rows, rows[0]?.records === undefined ? 'count' : 'records')
  return (
    rows.length <= limits.rows &&
    records <= limits.records &&
    total(rows, 'searched') <= limits.searched
  )
}

/** How records are counted before they are read. */
interface Counting {
  readonly own: OwnWay | null
  readonly values: Readonly<Record<string, string | number>>
  readonly readBatch: ReadBatch
}

/** All records are counted where own ones are found among them: that is what reading them costs. */
const countedWay = (source: Source, own: OwnWay | null): OwnWay | null =>
  own === 'scan' && source !== 'clicks' ? null : own

/** Counts the records of each day of a range, by source. */
async function countDays(
  { own, values, readBatch }: Counting,
  sources: readonly Source[],
  { from, to, first, end }: Range,
): Promise<Counts> {
  if (sources.length === 0) return new Map()
  const all = { ...values, from, to, first, end, records: REPORT_LIMITS.records }
  const results = await readBatch(
    sources.map((source) => [countDaysSql(source, countedWay(source, own)), all]),
  )
  return new Map(
    sources.map((source, i) => [
      source,
      new Map((results[i] ?? []).map(({ day, count }) => [Number(day), Number(count)])),
    ]),
  )
}

/** Divides a step by its customers, at those of the source and day with the most records. */
async function divideStep(
  counting: Counting,
  step: Step,
  sources: readonly Source[],
): Promise<Step[]> {
  const { own, readBatch } = counting
  const { parts, pieces, ...bounds } = step
  // Clicks have links, so they are divided by links only if they are alone.
  const customers = sources.filter((source) => source !== 'clicks')
  const counts = await countDays(counting, customers.length > 0 ? customers : sources, bounds)
  const days = [...counts].flatMap(([source, days]) =>
    [...days].map(([day, count]) => ({ source, day, count })),
  )
  const [largest] = days.sort((a, b) => b.count - a.count)
  if (!largest) return [{ ...step, pieces: 1 }]
  const size = Math.floor(largest.count / pieces)
  const values = { ...counting.values, ...bounds, day: largest.day, size }
  const { source } = largest
  const [rows = []] = await readBatch([[divideDaySql(source, countedWay(source, own)), values]])
  return divide(
    { ...step, pieces: 1 },
    rows.map(({ id }) => String(id)),
  )
}

/** Records of some days, of customers with an id from `first` on and before `end`; null: without an end. */
interface Range {
  /** In days since 1970-01-01. */
  readonly from: number
  readonly to: number
  readonly first: string
  readonly end: string | null
}

/** A range of records, and what one batch reads of it. */
interface Step extends Range {
  readonly parts: readonly Part[]
  /** Roughly how many steps the reader makes of this step, by customer, before it reads them. */
  readonly pieces: number
}

/** The number of records of each day, by source. Days without records are absent. */
type Counts = ReadonlyMap<Source, ReadonlyMap<number, number>>

/** What reading a record costs, and whose records a part reads; those of `active` depend on the shape. */
const READ: Readonly<Record<Part, readonly [cost: number, sources: readonly Source[]]>> = {
  clicks: [0.5, ['clicks']],
  signups: [0.5, ['customers']],
  transactions: [1.5, ['transactions']],
  first_deposits: [1.2, ['transactions']],
  activity: [1, ['activity']],
  events: [1, ['events']],
  kpis: [4, ['events']],
  active: [0.8, []],
  commission: [0, []],
}

const sourcesOfPart = (part: Part, { active }: Selection['shape']): readonly Source[] =>
  part === 'active' ? active : READ[part][1]

/** Returns the sources whose records parts read. */
export const sourcesOf = (parts: readonly Part[], shape: Selection['shape']): Source[] => [
  ...new Set(parts.flatMap((part) => sourcesOfPart(part, shape))),
]

/** The steps of a report in order, and what one of them costs. */
interface ReadingSchedule {
  readonly steps: Step[]
  readonly cost: number
}

/** Parts for which a customer counts once: their records are divided by customer, not by day. */
const isOfCustomers = (part: Part): boolean => part === 'active' || part === 'first_deposits'

/**
 * Schedules the steps in which records are read: by day, and on a day with many of them by customer. Parts that
 * are only divided by customer come last.
 */
function scheduleSteps(
  { statements, shape }: Selection,
  counts: Counts,
  range: Range,
): ReadingSchedule {
  const parts = statements.map(([part]) => part)
  const daily = parts.filter((part) => part !== 'commission' && !isOfCustomers(part))
  const others = parts.filter(isOfCustomers)
  const days = costsOfDays(daily, shape, counts)
  const othersCost = sumOf(costsOfDays(others, shape, counts))
  const sum = sumOf(days) + othersCost
  const cost = Math.max(REPORT_STEPS.cost, Math.ceil(sum / REPORT_STEPS.count))
  if (sum <= cost) return { steps: [{ ...range, parts, pieces: 1 }], cost }
  const piecesOf = (part: number) => (part > 2 * cost ? Math.ceil(part / cost) : 1)
  const steps = [
    { ...range, parts: parts.filter((part) => part === 'commission'), pieces: 1 },
    ...runsOfDays(days, cost).map((run) => ({
      ...range,
      from: run.from,
      to: run.to,
      parts: daily,
      pieces: piecesOf(run.cost),
    })),
    { ...range, parts: others, pieces: piecesOf(othersCost) },
  ]
  return { steps: steps.filter((step) => step.parts.length > 0), cost }
}

/** Returns the sum of the values of days. */
const sumOf = (days: ReadonlyMap<number, number>): number =>
  [...days.values()].reduce((sum, value) => sum + value, 0)

/** Returns what reading the records of each day costs. */
function costsOfDays(
  parts: readonly Part[],
  shape: Selection['shape'],
  counts: Counts,
): ReadonlyMap<number, number> {
  const costs = new Map<number, number>()
  for (const part of parts) {
    for (const source of sourcesOfPart(part, shape)) {
      for (const [day, count] of counts.get(source) ?? []) {
        costs.set(day, (costs.get(day) ?? 0) + READ[part][0] * count)
      }
    }
  }
  return costs
}

/** Divides days into runs that cost at most `most`; a day that costs more is a run of its own. */
function runsOfDays(costs: ReadonlyMap<number, number>, most: number) {
  const runs: { from: number; to: number; cost: number }[] = []
  for (const [day, cost] of [...costs].sort(([a], [b]) => a - b)) {
    const last = runs.at(-1)
    if (last && last.cost + cost <= most) {
      last.to = day
      last.cost += cost
    } else runs.push({ from: day, to: day, cost })
  }
  return runs
}

/** Divides a range at ids. If the first customer exceeds a step, it gets a range of its own. */
export function divide<T extends Range>(range: T, ids: readonly string[]): T[] {
  const bounds = ids.map((id) => (id === range.first ? afterId(id) : id))
  return [range.first, ...bounds].map((first, i) => ({
    ...range,
    first,
    end: bounds[i] ?? range.end,
  }))
}

/** The end of a range that has one id only: no other text lies between. */
const afterId = (id: string): string => `${id}\u0001`

/** Returns whether all records of a range are of one customer. */
const isOfOne = ({ first, end }: Range): boolean => end === afterId(first)

/** The databases of a report: with the account's records, and with its settings, links and the rates. */
interface ReportDatabases {
  readonly session: D1DatabaseSession
  readonly directory: D1Database
}

/** The account of a report. */
interface ReportAccount {
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
 * @throws ApiError `validation_failed` if the report is too large, `rate_limited` while another
 * computation of the account runs.
 */
export async function computeReport(
  { session, directory }: ReportDatabases,
  { account, vertical }: ReportAccount,
  query: ReportQuery,
  now: number,
  of: ReportedAffiliates | null = null,
): Promise<Report> {
  const clicksFrom = Math.floor(now / DAY_MS) - CLICK_DAYS
  const { links, ...settings } = await readSettings(directory, account, vertical, query, of)
  const days = { first: dayNumber(query.from), last: dayNumber(query.to) }
  const byLink = affiliatesByLink(vertical, links)
  const own = of && chooseWay(await countOwn(session, account, of.ids, byLink), days)
  const selection = selectMetrics(vertical, query, { ...settings, own })
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
    kpis: REPORT_LIMITS.kpis,
  }
  const range = { from: days.first, to: days.last, first: '', end: null }
  const collected = nothingCollected()
  const collecting = { ...settings, collected, groups: query.groups }
  let commission: readonly ReportRow[] = []
  const consumer: RowConsumer = {
    addRows(part, rows) {
      if (part === 'commission') commission = rows
      else collectPart(collecting, selection, part, rows, links)
    },
    async endDays(before) {
      if (unconvertedSums(collected) <= REPORT_STEPS.sums) return
      await convertCollected(directory, collected, query.currency, before)
      if (unconvertedSums(collected) > REPORT_LIMITS.sums) throw tooLarge('sums')
    },
  }
  await readInTurn(session, account, needsOf(selection, days), (readBatch) =>
    readSteps(selection, range, values, readBatch, consumer),
  )
  const scope = collectCommission(collecting, commission, days)
  await convertCollected(directory, collected, query.currency, Number.POSITIVE_INFINITY)
  const known = { days, commission: scope, clicksFrom, defined: settings.defined }
  return presentReport(query, selection, collected, known)
}

const RESOURCES: Readonly<Partial<Record<Source, string>>> = {
  transactions: 'transactions',
  activity: 'trading-activity',
  events: 'activities',
}

/** Returns which records a report needs. */
function needsOf(
  { statements, shape }: Selection,
  { first, last }: { readonly first: number; readonly last: number },
): ReportNeeds {
  const parts = [...new Map(statements).keys()]
  const resources = sourcesOf(parts, shape).flatMap((source) => RESOURCES[source] ?? [])
  return {
    first_of_report: first,
    last_of_report: last,
    resources: JSON.stringify(resources),
  }
}

/** Returns how the records of affiliates are found: by searches, unless reading all records costs less. */
function chooseWay(
  { customers, records }: { customers: number; records: number },
  { first, last }: { first: number; last: number },
): OwnWay {
  const all = Math.min(records, REPORT_LIMITS.records)
  const searches = customers * (last - first + 1)
  return searches <= Math.max(all, REPORT_STEPS.ownSearches) ? 'search' : 'scan'
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
