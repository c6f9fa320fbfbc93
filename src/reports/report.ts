import * as v from 'valibot'
import { SUBS } from '../attribution/db/clicks.ts'
import { netRevenue, type RevenuePart } from '../commission/engine/net-revenue.ts'
import { capital } from '../commission/words/english.ts'
import type { Fixed } from '../platform/http/operation-words.ts'
import { invalidQuery, readDayRange } from '../platform/http/query.ts'
import { component, described } from '../platform/validation/described.ts'
import { currency as currencyCode, currencyHint, member } from '../platform/validation/fields.ts'
import { quote, quoteAll } from '../platform/validation/quote.ts'
import { suggest } from '../platform/validation/suggest.ts'
import {
  activeSql,
  activitySql,
  clicksSql,
  commissionSql,
  eventsSql,
  firstDepositsSql,
  kpisSql,
  type ReportShape,
  type Source,
  signupsSql,
  transactionsSql,
} from './db/read-report.ts'
import { REPORT_LIMITS } from './limits.ts'

const TIMES = ['day', 'week', 'month'] as const
const CUSTOMERS = ['affiliate_id', 'link', 'country_code', ...SUBS] as const
const STATUSES = ['kyc_status_id', 'sales_status_id'] as const

/** What the records of each vertical can be grouped by. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'prop-trading': [
    ...TIMES,
    ...CUSTOMERS,
    ...STATUSES,
    'challenge_type',
    'phase',
    'account_size',
    'transaction_type',
    'instrument',
  ],
  forex: [
    ...TIMES,
    ...CUSTOMERS,
    ...STATUSES,
    'trading_account_type',
    'transaction_type',
    'instrument',
  ],
  igaming: [...TIMES, ...CUSTOMERS, 'eventname', 'product'],
}

/** Returns what the records of a vertical can be grouped by. */
export const groupsOf = (vertical: string): readonly string[] => GROUPS[vertical] ?? []

const figuresSchema = described(() =>
  v.object({
    metrics: member(
      v.record(v.string(), v.nullable(v.union([v.number(), v.string()]))),
      'The figures by metric: counts as integers, amounts and other decimals as exact text. Null if it cannot be told; `notes` has the reason.',
    ),
    unconverted: member(
      v.array(
        v.object({
          metric: member(v.string(), 'The metric whose figure lacks the amount.'),
          currency: member(v.nullable(v.string()), 'The currency. Null if the records name none.'),
          reason: member(
            v.picklist(['no_currency', 'fx_pending', 'fx_missing']),
            'Why the amount cannot be converted.',
          ),
          amount: member(v.string(), 'The exact amount in that currency.'),
        }),
      ),
      'What could not be converted, by currency. `metrics` lacks it.',
    ),
  }),
)

/** A report as it is sent. */
export const reportSchema = component('Report', () => ({
  from: member(v.string(), 'The first day.'),
  to: member(v.string(), 'The last day.'),
  currency: member(v.string(), 'The currency of all amounts.'),
  group_by: member(v.array(v.string()), 'The groups.'),
  columns: member(
    v.array(
      v.object({
        name: member(v.string(), 'The name of the group or metric.'),
        type: member(v.picklist(['group', 'count', 'amount', 'number']), 'What its values are.'),
      }),
    ),
    'The groups and metrics in their order.',
  ),
  data: member(
    v.array(
      v.object({
        groups: member(
          v.record(v.string(), v.nullable(v.union([v.string(), v.number()]))),
          'The value of each group. Null for records that do not have it.',
        ),
        ...figuresSchema.entries,
      }),
    ),
    'One row for each group, in the order of the values; null comes last.',
  ),
  totals: member(figuresSchema, 'The figures of all records.'),
  notes: member(
    v.array(
      v.object({
        metric: member(v.string(), 'The metric.'),
        reason: member(
          v.picklist(['not_kept', 'no_statements', 'partial_period', 'finer_than_statement']),
          'Why it is null in some figures.',
        ),
        detail: member(v.string(), 'The same as a sentence.'),
      }),
    ),
    'Why figures are null.',
  ),
}))

/** A report as it is sent. */
export type Report = Fixed<v.InferOutput<typeof reportSchema>>

/** The metrics of some records. */
export type Figures = Report['totals']

/** A row of a report. */
export type Row = Report['data'][number]

/** The value of a group; null for records that do not have it. */
export type GroupValue = Row['groups'][string]

/** The value of a metric: a whole number, a decimal as text, or null if it is unknown. */
export type Figure = Figures['metrics'][string]

/** What could not be converted of a metric. */
export type Unconverted = Figures['unconverted'][number]

/** Why a metric is null somewhere. */
export type Note = Report['notes'][number]

/** A column of a report: a group or a metric. */
export type Column = Report['columns'][number]

/**
 * What the values of a metric are: whole numbers, amounts in the report's currency, or other
 * decimals.
 */
type MetricType = 'count' | 'amount' | 'number'

/** A metric. Those of a vertical do not depend on its records; those of events do. */
export interface Metric {
  readonly name: string
  readonly type: MetricType
  /** What people call it; if absent, its name does. */
  readonly title?: string
  /** The sums that are added or subtracted, if they are not the metric's own. */
  readonly of?: readonly (readonly [sum: string, sign: 1 | -1])[]
}

type Shown = Pick<Metric, 'title'>

const count = (name: string, shown: Shown = {}): Metric => ({ name, type: 'count', ...shown })
const amount = (name: string, shown: Shown = {}): Metric => ({ name, type: 'amount', ...shown })

/** The transaction types of each vertical with transactions, with their plurals. */
const TYPES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'prop-trading': {
    challenge_fee: 'challenge fees',
    payout: 'payouts to traders',
    reset_fee: 'reset fees',
    refund: 'refunds',
    adjustment: 'adjustments',
    other: 'other transactions',
  },
  forex: {
    deposit: 'deposits',
    withdrawal: 'withdrawals',
    bonus: 'bonuses',
    adjustment: 'adjustments',
    ib_rebate: 'IB rebates',
    other: 'other transactions',
  },
}

/** Returns the plural of a type of transactions; undefined if it is not known. */
export const transactionsTitle = (type: string): string | undefined =>
  Object.values(TYPES)
    .flatMap((own) => Object.entries(own))
    .find(([name]) => name === type)?.[1]

/** Returns the names of the metrics of transactions of a type, approved or not. */
export const transactionMetric = (type: string, isApproved: boolean, of: 'count' | 'amount') =>
  `${type}${isApproved ? '' : '_unapproved'}_${of}`

const ofTypes = (vertical: string): Metric[] =>
  Object.entries(TYPES[vertical] ?? {}).flatMap(([type, plural]) =>
    [true, false].flatMap((isApproved) =>
      (['count', 'amount'] as const).map((of): Metric => {
        const name = transactionMetric(type, isApproved, of)
        const title = of === 'count' ? `Number of ${plural}` : capital(plural)
        return { name, type: of, title: isApproved ? title : `${title}, not approved` }
      }),
    ),
  )

/** The sums of trading activity, by the name of their metric. */
export const ACTIVITY_METRICS: Readonly<Record<string, string>> = {
  lots: 'lots_traded',
  volume: 'volume_usd',
  spread_cost: 'spread_cost',
  commission_charged: 'commission',
  pnl: 'pnl',
}

const SIGNUPS = [
  count('clicks'),
  count('signups'),
  count('attributed', { title: 'Attributed signups' }),
]
/** The metric of what the firm earns, which each vertical has. */
export const REVENUE = 'net_revenue'

const NET_REVENUE = amount(REVENUE, { title: 'Net revenue' })

function sumOfPart({ resource, kind, field }: RevenuePart): string {
  if (resource === 'activities') return eventKpi(kind, field, true).name
  if (resource === 'transactions') return transactionMetric(kind, true, 'amount')
  return Object.keys(ACTIVITY_METRICS).find((name) => ACTIVITY_METRICS[name] === field) ?? field
}

/** Returns the metric of the net revenue of a vertical; that of a brand follows from its event definitions. */
export const revenueOf = (
  vertical: string,
  definitions: Parameters<typeof netRevenue>[1] = [],
): Metric => ({
  ...NET_REVENUE,
  of: netRevenue(vertical, definitions).map((part) => [sumOfPart(part), part.sign]),
})

const LOTS: Metric = { name: 'lots', type: 'number' }
const PNL = amount('pnl', { title: 'Profit and loss' })
const LAST = [count('active_customers'), amount('commission_owed', { title: 'Commission owed' })]

/** The metrics of each vertical, in the order of their columns. */
const METRICS: Readonly<Record<string, readonly Metric[]>> = {
  'prop-trading': [
    ...SIGNUPS,
    ...ofTypes('prop-trading'),
    revenueOf('prop-trading'),
    LOTS,
    PNL,
    ...LAST,
  ],
  forex: [
    ...SIGNUPS,
    count('first_deposit_count', { title: 'First deposits' }),
    amount('first_deposit_amount', { title: 'Amount of first deposits' }),
    ...ofTypes('forex'),
    {
      ...amount('net_deposits', { title: 'Net deposits' }),
      of: [
        ['deposit_amount', 1],
        ['withdrawal_amount', -1],
      ],
    },
    LOTS,
    amount('volume', { title: 'Traded volume' }),
    amount('spread_cost', { title: 'Spread' }),
    amount('commission_charged', { title: 'Commission charged to customers' }),
    revenueOf('forex'),
    PNL,
    ...LAST,
  ],
  igaming: [...SIGNUPS, NET_REVENUE, ...LAST],
}

/** Returns the metrics of a vertical. Brands also have a count and sums for each event: see `EVENTS`. */
export const metricsOf = (vertical: string): readonly Metric[] => METRICS[vertical] ?? []

/** Returns the title of a metric that some vertical has; undefined if its name is enough. */
export const titleOfMetric = (name: string): string | undefined =>
  Object.values(METRICS)
    .flat()
    .find((one) => one.name === name)?.title

/** The name that means the counts and KPIs of all events of a brand. */
export const EVENTS = 'events'

/**
 * The name of an event, with a backslash before each dot and backslash, then a dot and what is
 * summed.
 */
const EVENT_METRIC = /^([^\\.\0]|\\[\\.])+\.[^\0]+$/

/** Whether a name is that of a count or a KPI of an event, or means all. */
export const isEventMetric = (name: string): boolean => name === EVENTS || EVENT_METRIC.test(name)

/** What an event of a brand counts as. A KPI of this name is written with a backslash. */
const COUNT = 'count'

const escaped = (eventname: string) => eventname.replaceAll(/[\\.]/g, '\\$&')

/** What is put before the metrics of events whose status is not `approved`. */
const UNAPPROVED = 'unapproved.'

const ofEvent = (eventname: string, isApproved: boolean) =>
  `${escaped(eventname)}.${isApproved ? '' : UNAPPROVED}`

/** Returns the metric that counts events of a name, approved or not. */
export const eventCount = (eventname: string, isApproved: boolean): Metric =>
  count(`${ofEvent(eventname, isApproved)}${COUNT}`)

/** Returns the metric that sums a KPI of events of a name, approved or not. */
export const eventKpi = (eventname: string, kpi: string, isApproved: boolean): Metric =>
  amount(
    `${ofEvent(eventname, isApproved)}${kpi === COUNT || kpi.startsWith(UNAPPROVED) ? `\\${kpi}` : kpi}`,
  )

/** Returns the metric of an event that a request names: the end of the name tells its type. */
export const requestedEventMetric = (name: string): Metric =>
  name.endsWith(`.${COUNT}`) ? count(name) : amount(name)

/** Returns the transaction types that these sums need. */
export const typesOf = (vertical: string, sums: ReadonlySet<string>): string[] =>
  Object.keys(TYPES[vertical] ?? {}).filter((type) =>
    [true, false].some(
      (isApproved) =>
        sums.has(transactionMetric(type, isApproved, 'count')) ||
        sums.has(transactionMetric(type, isApproved, 'amount')),
    ),
  )

/** What the statements of a report read. */
export type Part =
  | 'clicks'
  | 'signups'
  | 'transactions'
  | 'first_deposits'
  | 'activity'
  | 'events'
  | 'kpis'
  | 'active'
  | 'commission'

/** What is read for a report. */
export interface Selection {
  readonly shape: ReportShape
  /** The metrics that do not depend on records, in the order of their columns. */
  readonly metrics: readonly Metric[]
  /** Whether the metrics of events are read. */
  readonly hasEvents: boolean
  readonly statements: readonly PartStatement[]
}

/** A statement: what it reads, the sources of its records, and its SQL. */
type PartStatement = readonly [Part, readonly Source[], string]

/** Groups by which the commission is known: statements have an affiliate and a period. */
const COMMISSION_GROUPS = ['affiliate_id', 'month', 'week']

/** Returns whether the rows of a report can show the commission. */
export const hasCommissionRows = (groups: readonly string[]): boolean =>
  groups.every((group) => COMMISSION_GROUPS.includes(group))

/** What of the settings of an account decides which statements a report needs. */
type ShapeSettings = Pick<ReportShape, 'signed' | 'hasStatus' | 'own'>

/** Decides what a report of a vertical reads. */
export function selectMetrics(
  vertical: string,
  query: ReportQuery,
  settings: ShapeSettings,
): Selection {
  const { groups, currency } = query
  const metrics = metricsOf(vertical).filter(({ name }) => query.metrics?.includes(name) ?? true)
  const sums = new Set(metrics.flatMap(({ name, of }) => of?.map(([sum]) => sum) ?? [name]))
  const isBrand = vertical === 'igaming'
  const needsEvents = (name: string) => name === REVENUE || isEventMetric(name)
  const hasEvents = isBrand && (query.metrics?.some(needsEvents) ?? true)
  const types = typesOf(vertical, sums)
  const activity = Object.entries(ACTIVITY_METRICS).flatMap(([name, column]) =>
    sums.has(name) ? [column] : [],
  )
  const hasFirst = sums.has('first_deposit_count') || sums.has('first_deposit_amount')
  const shape = {
    groups,
    types,
    activity,
    byDay: activity.includes('volume_usd') && currency !== 'USD',
    inUsd: currency === 'USD',
    ...settings,
    active: isBrand ? (['events'] as const) : (['transactions', 'activity'] as const),
  }
  const hasSignups = sums.has('signups') || sums.has('attributed')
  const byAffiliate = hasCommissionRows(groups) && groups.includes('affiliate_id')
  const parts: readonly (readonly [boolean, ...PartStatement])[] = [
    [sums.has('clicks'), 'clicks', ['clicks'], clicksSql(shape)],
    [hasSignups, 'signups', ['customers'], signupsSql(shape, sums.has('attributed'))],
    [types.length > 0, 'transactions', ['transactions'], transactionsSql(shape)],
    [hasFirst, 'first_deposits', ['transactions'], firstDepositsSql(shape)],
    [activity.length > 0, 'activity', ['activity'], activitySql(shape)],
    [hasEvents, 'events', ['events'], eventsSql(shape)],
    [hasEvents, 'kpis', ['events'], kpisSql(shape)],
    [sums.has('active_customers'), 'active', shape.active, activeSql(shape)],
    [sums.has('commission_owed'), 'commission', [], commissionSql(byAffiliate, settings.own)],
  ]
  const statements = parts.flatMap(([isNeeded, ...one]) => (isNeeded ? [one] : []))
  return { shape, metrics, hasEvents, statements }
}

/** The query parameters of a report, as sent. */
export type SentReport = Partial<
  Record<'from' | 'to' | 'group_by' | 'currency' | 'metrics', string>
>

/** A valid request for a report. */
export interface ReportQuery {
  /** The first and the last day, as `YYYY-MM-DD`. */
  readonly from: string
  readonly to: string
  readonly groups: readonly string[]
  /** The currency of all amounts. */
  readonly currency: string
  /** The names of the metrics; null for all of the vertical. */
  readonly metrics: readonly string[] | null
}

const DEFAULT_CURRENCY = 'USD'

/**
 * Validates the parameters of a report of a vertical.
 *
 * @throws ApiError `invalid_query`, which names the parameter.
 */
export function parseReport(
  vertical: string,
  sent: SentReport,
  allowed: readonly string[] = groupsOf(vertical),
): ReportQuery {
  const { from, to } = readDayRange(sent)
  return {
    from,
    to,
    groups: parseGroups(vertical, sent.group_by, allowed),
    currency: parseCurrency(sent.currency ?? DEFAULT_CURRENCY),
    metrics: parseMetrics(vertical, sent.metrics),
  }
}

function parseGroups(
  vertical: string,
  text: string | undefined,
  known: readonly string[],
): string[] {
  if (text === undefined) return []
  const groups = namesOf('group_by', text)
  for (const name of groups) {
    if (!known.includes(name)) throw unknownName('group_by', name, vertical, known)
  }
  const { groupBy: most } = REPORT_LIMITS
  if (groups.length > most) {
    throw invalidQuery(`\`group_by\` names ${groups.length} groups. A report has at most ${most}.`)
  }
  return groups
}

function parseMetrics(vertical: string, text: string | undefined): string[] | null {
  if (text === undefined) return null
  const hasEvents = vertical === 'igaming'
  const known = [...metricsOf(vertical).map(({ name }) => name), ...(hasEvents ? [EVENTS] : [])]
  const metrics = namesOf('metrics', text)
  for (const name of metrics) {
    if (hasEvents && isEventMetric(name)) continue
    if (!known.includes(name)) throw unknownName('metrics', name, vertical, known)
  }
  return metrics
}

/** Returns the names of a list, which are separated by commas. */
function namesOf(parameter: string, text: string): string[] {
  const names = new Set<string>()
  for (const name of text.split(',')) {
    if (name === '') throw invalidQuery(`\`${parameter}\` has an empty name between its commas.`)
    if (names.has(name)) {
      throw invalidQuery(`\`${parameter}\` names ${quote(name)} twice. Name it once.`)
    }
    names.add(name)
  }
  return [...names]
}

function unknownName(parameter: string, name: string, vertical: string, known: readonly string[]) {
  const closest = suggest(name, known)
  const hint = closest ? `Did you mean ${quote(closest)}? ` : ''
  return invalidQuery(
    `\`${parameter}\`: ${quote(name)} is not a ${parameter === 'metrics' ? 'metric' : 'group'} of ${vertical}. ${hint}Supported: ${quoteAll(known)}.`,
  )
}

function parseCurrency(code: string): string {
  if (v.is(currencyCode, code)) return code
  const hint = currencyHint(code)
  throw invalidQuery(
    `\`currency\`: ${quote(code)} is not an ISO 4217 currency code.${hint ? ` ${hint}` : ''}`,
  )
}
