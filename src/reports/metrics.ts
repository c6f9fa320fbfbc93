/**
 * What the values of a metric are: whole numbers, amounts in the report's currency, or other
 * decimals.
 */
export type MetricType = 'count' | 'amount' | 'number'

/** A metric. Those of a vertical do not depend on its records; those of events do. */
export interface Metric {
  readonly name: string
  readonly type: MetricType
  /** The sums that are added or subtracted, if they are not the metric's own. */
  readonly of?: readonly (readonly [sum: string, sign: 1 | -1])[]
}

const count = (name: string): Metric => ({ name, type: 'count' })
const amount = (name: string): Metric => ({ name, type: 'amount' })

/** The transaction types of each vertical with transactions. */
const TYPES: Readonly<Record<string, readonly string[]>> = {
  'prop-trading': ['challenge_fee', 'payout', 'reset_fee', 'refund', 'adjustment', 'other'],
  forex: ['deposit', 'withdrawal', 'bonus', 'adjustment', 'ib_rebate', 'other'],
}

/** Returns the names of the metrics of transactions of a type, approved or not. */
export const transactionMetric = (type: string, isApproved: boolean, of: 'count' | 'amount') =>
  `${type}${isApproved ? '' : '_unapproved'}_${of}`

const ofTypes = (vertical: string): Metric[] =>
  (TYPES[vertical] ?? []).flatMap((type) =>
    [true, false].flatMap((isApproved) => [
      count(transactionMetric(type, isApproved, 'count')),
      amount(transactionMetric(type, isApproved, 'amount')),
    ]),
  )

/** The sums of trading activity, by the name of their metric. */
export const ACTIVITY_METRICS: Readonly<Record<string, string>> = {
  lots: 'lots_traded',
  volume: 'volume_usd',
  spread_cost: 'spread_cost',
  commission_charged: 'commission',
  pnl: 'pnl',
}

const SIGNUPS = ['clicks', 'signups', 'attributed'].map(count)
const LOTS: Metric = { name: 'lots', type: 'number' }
const LAST = [count('active_customers'), amount('commission_owed')]

/** The metrics of each vertical, in the order of their columns. */
const METRICS: Readonly<Record<string, readonly Metric[]>> = {
  'prop-trading': [
    ...SIGNUPS,
    ...ofTypes('prop-trading'),
    {
      ...amount('net_revenue'),
      of: [
        ['challenge_fee_amount', 1],
        ['reset_fee_amount', 1],
        ['payout_amount', -1],
        ['refund_amount', -1],
      ],
    },
    LOTS,
    amount('pnl'),
    ...LAST,
  ],
  forex: [
    ...SIGNUPS,
    count('first_deposit_count'),
    amount('first_deposit_amount'),
    ...ofTypes('forex'),
    {
      ...amount('net_deposits'),
      of: [
        ['deposit_amount', 1],
        ['withdrawal_amount', -1],
      ],
    },
    LOTS,
    ...['volume', 'spread_cost', 'commission_charged', 'pnl'].map(amount),
    ...LAST,
  ],
  igaming: [...SIGNUPS, ...LAST],
}

/** Returns the metrics of a vertical. Brands also have a count and sums for each event: see `EVENTS`. */
export const metricsOf = (vertical: string): readonly Metric[] => METRICS[vertical] ?? []

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

/** What a request adds to the name of a KPI that is a plain number, such as a number of games. */
const UNITS = ':units'

/** Returns the name under which a KPI is summed without conversion. */
export const unitsName = (metric: string): string => `${metric}${UNITS}`

/** Removes `:units` from the name of a metric. */
export const withoutUnits = (name: string): string =>
  name.endsWith(UNITS) ? name.slice(0, -UNITS.length) : name

/** Returns the metric of an event that a request names: the end of the name tells its type. */
export function requestedEventMetric(name: string): Metric {
  if (name.endsWith(UNITS)) return { name, type: 'number' }
  return name.endsWith(`.${COUNT}`) ? count(name) : amount(name)
}

/** Returns the transaction types that these sums need. */
export const typesOf = (vertical: string, sums: ReadonlySet<string>): string[] =>
  (TYPES[vertical] ?? []).filter((type) =>
    [true, false].some(
      (isApproved) =>
        sums.has(transactionMetric(type, isApproved, 'count')) ||
        sums.has(transactionMetric(type, isApproved, 'amount')),
    ),
  )
