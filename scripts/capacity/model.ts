import {
  billed,
  D1_STORAGE,
  METERS,
  type Meter,
  PLAN_FEE,
  PRICES,
  type Usage,
  ZERO_USAGE,
} from './prices.ts'

// What an expected load costs and how many databases it needs, on paper: no database is asked.

/** The accounts of an installation, and the records that they send in a year, each counted once. */
export interface Size {
  accounts: number
  records: number
}

/** What records are like. Shares are in percent. */
export interface Mix {
  /** Of the records; the rest are rows of daily activity. */
  customers: number
  transactions: number
  /** Records that are sent again, of all records: with a change, and without one. */
  updates: number
  replays: number
  /** Records in a delivery. */
  perDelivery: number
  /** Clicks on links for each customer. */
  clicks: number
  /** Accounts that have fraud rules. */
  rules: number
  /** The years of which records are stored. */
  years: number
}

/** The sizes of the table in docs/scale.md. */
export const SIZES: readonly Size[] = [
  { accounts: 10, records: 1e6 },
  { accounts: 1000, records: 100e6 },
  { accounts: 10_000, records: 1e9 },
  { accounts: 100_000, records: 10e9 },
]

/** The mix of the table in docs/scale.md. */
export const USUAL: Mix = {
  customers: 5,
  transactions: 45,
  updates: 20,
  replays: 20,
  perDelivery: 100,
  clicks: 10,
  rules: 100,
  years: 1,
}

/**
 * Figures that were measured: `npm run cost`, `npm run bench -- commissions`, and the bytes of the tables and
 * indexes of 4,000 customers, 40,000 transactions and 40,000 rows of activity with UUIDs as ids.
 */
export const MEASURED = {
  bytesPerCustomer: 281,
  bytesPerTransaction: 220,
  bytesPerActivity: 119,
  bytesPerKeptFact: 60,
  bytesPerDelivery: 440,
  bytesPerClick: 200,
  rowsWrittenPerCustomer: 3,
  rowsWrittenPerTransaction: 2,
  rowsWrittenPerActivity: 1,
  rowsWrittenPerUpdate: 1,
  rowsReadPerRecord: 10,
  rowsWrittenPerDelivery: 4,
  objectRowsWrittenPerDelivery: 0.2,
  cpuMsPerRecord: 0.02,
  cpuMsPerDelivery: 1,
  rowsWrittenPerClick: 1.01,
  rowsReadPerClick: 3.53,
  cpuMsPerClick: 1,
  /** Of each fact of the open month, each morning. */
  runRowsReadPerFact: 3,
  /** Of each fact of the last 400 days, each morning, where an account has fraud rules. */
  ruleRowsReadPerFact: 8,
  ruleDays: 400,
  /** Of each account, each morning. */
  runRowsWritten: 11,
  /** Rows that a database reads in a second of a run. */
  rowsReadPerSecond: 570_000,
}

/** A message of a queue is written, read and deleted. */
const OPERATIONS = 3
/** The jobs of a database in a day: one a minute, and two an hour. */
const DATABASE_MESSAGES = 24 * 60 + 24 * 2
/** Those of an account: its morning, and its part of the messages for 50 accounts, every ten minutes and each morning. */
const ACCOUNT_MESSAGES = 1 + (24 * 6 + 1) / 50

/** The days that clicks and the log of deliveries are kept. */
const KEPT_DAYS = 30

const MONTHS = 12
const YEAR_DAYS = 365
/** A database is planned for half of what it may hold: sums of whole tables begin to fail from here on. */
export const PLANNED_BYTES = 5e9
/** A script has about this many bindings. */
const BINDINGS = 5000
/** The rows of daily activity of a day arrive in the two hours before 06:00 UTC. */
const PEAK_SECONDS = 2 * 3600
/** A token's object is billed for 128 MB until it has paused for 5 s. */
const OBJECT_GB_SECONDS = 0.128 * 5

/** What a size needs. `monthly` is the usage of the last month of the years. */
export interface Needs {
  recordsPerSecond: number
  peakRecordsPerSecond: number
  monthly: Usage
  bytes: number
  databases: number
  /** The share of an hour that a database reads for the runs of a morning. */
  runShare: number
  dollars: number
}

/** The mean bytes of a record of this mix, with its kept fact. */
export const bytesPerRecord = ({ customers, transactions }: Mix): number => {
  const activity = 100 - customers - transactions
  const facts = transactions + activity
  return (
    (customers * MEASURED.bytesPerCustomer +
      transactions * MEASURED.bytesPerTransaction +
      activity * MEASURED.bytesPerActivity +
      facts * MEASURED.bytesPerKeptFact) /
    100
  )
}

/** The cost of stored bytes in US dollars a month, beyond what the plan includes. */
const storageDollars = (bytes: number) =>
  Math.max(0, bytes / 1e9 - D1_STORAGE.includedGb) * D1_STORAGE.perGb

/** Returns what a size needs at the end of the years of a mix. */
export function needsOf({ accounts, records }: Size, mix: Mix): Needs {
  const activityShare = (100 - mix.customers - mix.transactions) / 100
  const month = records / MONTHS
  const sent = month * (1 + (mix.updates + mix.replays) / 100)
  const deliveries = sent / mix.perDelivery
  const customers = (month * mix.customers) / 100
  const clicks = customers * mix.clicks
  const facts = month - customers
  const days = YEAR_DAYS / MONTHS

  const openFacts = facts / 2
  const ruleFacts =
    ((facts * MONTHS) / YEAR_DAYS) * Math.min(mix.years * YEAR_DAYS, MEASURED.ruleDays)
  const morningRowsRead =
    openFacts * MEASURED.runRowsReadPerFact +
    ruleFacts * MEASURED.ruleRowsReadPerFact * (mix.rules / 100)
  // A run keeps the facts of the ended month: one row for each customer of the last year.
  const keptRows = customers * MONTHS

  const bytes =
    records * mix.years * bytesPerRecord(mix) +
    (deliveries * MEASURED.bytesPerDelivery + clicks * MEASURED.bytesPerClick) * (KEPT_DAYS / days)
  const databases = Math.ceil(bytes / PLANNED_BYTES)
  const jobs = (databases * DATABASE_MESSAGES + accounts * ACCOUNT_MESSAGES) * days

  const monthly: Usage = {
    ...ZERO_USAGE,
    requests: deliveries + clicks,
    cpuMs:
      sent * MEASURED.cpuMsPerRecord +
      deliveries * MEASURED.cpuMsPerDelivery +
      clicks * MEASURED.cpuMsPerClick,
    objectRequests: deliveries,
    objectGbSeconds: deliveries * OBJECT_GB_SECONDS,
    objectRowsWritten: deliveries * MEASURED.objectRowsWrittenPerDelivery,
    rowsRead:
      sent * MEASURED.rowsReadPerRecord +
      clicks * MEASURED.rowsReadPerClick +
      morningRowsRead * days,
    rowsWritten:
      customers * MEASURED.rowsWrittenPerCustomer +
      ((month * mix.transactions) / 100) * MEASURED.rowsWrittenPerTransaction +
      month * activityShare * MEASURED.rowsWrittenPerActivity +
      ((month * mix.updates) / 100) * MEASURED.rowsWrittenPerUpdate +
      deliveries * MEASURED.rowsWrittenPerDelivery +
      clicks * MEASURED.rowsWrittenPerClick +
      accounts * days * MEASURED.runRowsWritten +
      keptRows,
    queueOperations: (clicks + jobs) * OPERATIONS,
  }
  return {
    recordsPerSecond: records / YEAR_DAYS / 86_400,
    peakRecordsPerSecond: (records / YEAR_DAYS) * activityShare * (1 / PEAK_SECONDS),
    monthly,
    bytes,
    databases,
    runShare: morningRowsRead / databases / MEASURED.rowsReadPerSecond / 3600,
    dollars: PLAN_FEE + billed(monthly) + storageDollars(bytes),
  }
}

const number = (n: number, digits = 0) =>
  n.toLocaleString('en', { maximumFractionDigits: digits, minimumFractionDigits: digits })
const short = (n: number) => (n >= 100 ? number(n) : n >= 0.05 ? number(n, 1) : '0')
const usd = (n: number) => `$${n < 10 ? number(n, 2) : number(n)}`

/** The meters that a model prints, each in millions a month. */
const PRINTED: readonly Meter[] = METERS.filter((meter) => meter !== 'objectRowsRead')

/** The lines of the table: a title, and the value for a size. */
const LINES: readonly [title: string, value: (size: Size, needs: Needs) => string][] = [
  ['accounts', ({ accounts }) => number(accounts)],
  ['records a second, on average', (_, { recordsPerSecond }) => short(recordsPerSecond)],
  ['from 04:00 to 06:00 UTC', (_, { peakRecordsPerSecond }) => short(peakRecordsPerSecond)],
  ['stored, GB', (_, { bytes }) => short(bytes / 1e9)],
  ['databases of 5 GB', (_, { databases }) => number(databases)],
  [
    'of the hour of runs, the share that a database reads',
    (_, { runShare }) => `${number(runShare * 100, 1)} %`,
  ],
  ...PRINTED.map((meter): [string, (size: Size, needs: Needs) => string] => [
    `${PRICES[meter].title.replace(', of this machine', '')}, millions a month`,
    (_, { monthly }) => short(monthly[meter] / 1e6),
  ]),
  ['dollars a month', (_, { dollars }) => usd(dollars)],
  ['of this for storage', (_, { bytes }) => usd(storageDollars(bytes))],
]

/** Prints what sizes need, as a Markdown table with a column for each, and where the design ends. */
export function describeModel(sizes: readonly Size[], mix: Mix): string {
  const needs = sizes.map((size) => needsOf(size, mix))
  const line = (title: string, cells: readonly string[]) => `| ${title} | ${cells.join(' | ')} |`
  const fitting = PLANNED_BYTES / bytesPerRecord(mix)
  const activity = 100 - mix.customers - mix.transactions
  const years = mix.years === 1 ? 'a year' : `${mix.years} years`
  return [
    `- Of the records ${mix.customers} % are customers, ${mix.transactions} % transactions or events, ${activity} % rows of daily activity.`,
    `- ${mix.updates} % are sent again with a change, ${mix.replays} % without one. A delivery has ${number(mix.perDelivery)} records.`,
    `- Each customer comes with ${number(mix.clicks)} clicks. ${mix.rules} % of the accounts have all fraud rules.`,
    `- Records of ${years} are stored. Accounts are of equal size.`,
    '',
    line(
      'records a year',
      sizes.map(({ records }) => number(records)),
    ),
    `| --- |${' ---: |'.repeat(sizes.length)}`,
    ...LINES.map(([title, value]) =>
      line(
        title,
        sizes.map((size, i) => value(size, needs[i]!)),
      ),
    ),
    '',
    'Where it ends:',
    '',
    `- An account lives in one database. 5 GB hold ${number(fitting / 1e6)} million records of ${number(bytesPerRecord(mix))} bytes. An account that sends more in ${years} does not fit.`,
    `- A script has about ${number(BINDINGS)} bindings. So many databases hold ${number((BINDINGS * fitting) / 1e9)} billion records.`,
  ].join('\n')
}
