import { PLANNED_BYTES } from '../../src/db/records/storage-limits.ts'
import { EXPORT_LIMITS } from '../../src/exports/limits.ts'
import {
  billed,
  D1_STORAGE,
  METERS,
  type Meter,
  PLAN_FEE,
  PRICES,
  R2_STORAGE,
  sum,
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
  /** Accounts that are exported each morning. */
  exports: number
  /** The months before the open one of which records change each day, so that their files are written again. */
  changedMonths: number
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
  exports: 100,
  changedMonths: 1,
  years: 1,
}

/** The years for which docs/scale.md has a table. */
export const YEARS: readonly number[] = [1, 3]

/**
 * Figures that were measured: `npm run cost`, `npm run bench -- commissions`, and the bytes of the tables and
 * indexes of 4,000 customers, 40,000 transactions and 40,000 rows of activity with UUIDs as ids. Those of exports
 * and archives come from `npm run objects`, whose CPU time is that of the database as well.
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
  /**
   * Of each record of a month that may have changed, of each day with records of a resource, and of each customer,
   * each morning.
   */
  exportRowsReadPerRecord: 1,
  exportRowsReadPerDay: 4.3,
  exportRowsReadPerCustomer: 1,
  exportRowsWrittenPerFile: 5.7,
  exportCpuMsPerRecord: 0.015,
  exportBytesPerCustomer: 36,
  exportBytesPerTransaction: 72,
  exportBytesPerActivity: 31,
  archiveRowsReadPerTransaction: 9.3,
  archiveRowsReadPerActivity: 8.3,
  archiveRowsWrittenPerTransaction: 2.3,
  archiveRowsWrittenPerActivity: 1.3,
  archiveCpuMsPerTransaction: 0.029,
  archiveCpuMsPerActivity: 0.014,
  archiveBytesPerTransaction: 51,
  archiveBytesPerActivity: 25,
  /** What leaves the database. */
  archiveBytesFreedPerTransaction: 156,
  archiveBytesFreedPerActivity: 111,
  /** Of each object: it is looked for, written, and read back. */
  archiveReadsPerObject: 2,
}

/** The records of an object of the archive. */
const OBJECT_RECORDS = 20_000
/** After how many months records are archived. */
const ARCHIVE_AFTER = 13
/** The records that one message of an export reads: a query has 2,000. */
const EXPORT_MESSAGE_RECORDS = 2000 * EXPORT_LIMITS.queries
/** The resources of a firm, and those among them whose months are archived. */
const RESOURCES = { exported: 3, archived: 2 }

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
  /** Bytes in D1, and in R2. */
  bytes: number
  objectBytes: number
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
const storageDollars = ({ bytes, objectBytes }: Pick<Needs, 'bytes' | 'objectBytes'>) =>
  Math.max(0, bytes / 1e9 - D1_STORAGE.includedGb) * D1_STORAGE.perGb +
  Math.max(0, objectBytes / 1e9 - R2_STORAGE.includedGb) * R2_STORAGE.perGb

/** The days of an average month. */
const DAYS = YEAR_DAYS / MONTHS

/** What arrives in an average month. */
interface Load {
  readonly sent: number
  readonly deliveries: number
  readonly customers: number
  readonly clicks: number
  readonly transactions: number
  readonly activity: number
  /** Transactions and activity. */
  readonly facts: number
}

function loadOf({ records }: Size, mix: Mix): Load {
  const month = records / MONTHS
  const sent = month * (1 + (mix.updates + mix.replays) / 100)
  const customers = (month * mix.customers) / 100
  const transactions = (month * mix.transactions) / 100
  const facts = month - customers
  return {
    ...{ sent, customers, transactions, facts, activity: facts - transactions },
    deliveries: sent / mix.perDelivery,
    clicks: customers * mix.clicks,
  }
}

/** Returns the rows that the runs of a morning read. */
function morningRowsRead({ facts }: Load, mix: Mix): number {
  const openFacts = facts / 2
  const ruleFacts =
    ((facts * MONTHS) / YEAR_DAYS) * Math.min(mix.years * YEAR_DAYS, MEASURED.ruleDays)
  return (
    openFacts * MEASURED.runRowsReadPerFact +
    ruleFacts * MEASURED.ruleRowsReadPerFact * (mix.rules / 100)
  )
}

/** Returns what deliveries, clicks, runs and jobs use in a month. */
function recordUsage({ accounts, records }: Size, mix: Mix, load: Load, databases: number): Usage {
  const { sent, deliveries, customers, clicks, transactions, activity } = load
  // A run keeps the facts of the ended month: one row for each customer of the last year.
  const keptRows = customers * MONTHS
  const jobs = (databases * DATABASE_MESSAGES + accounts * ACCOUNT_MESSAGES) * DAYS
  return {
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
      morningRowsRead(load, mix) * DAYS,
    rowsWritten:
      customers * MEASURED.rowsWrittenPerCustomer +
      transactions * MEASURED.rowsWrittenPerTransaction +
      activity * MEASURED.rowsWrittenPerActivity +
      ((records / MONTHS) * mix.updates * MEASURED.rowsWrittenPerUpdate) / 100 +
      deliveries * MEASURED.rowsWrittenPerDelivery +
      clicks * MEASURED.rowsWrittenPerClick +
      accounts * DAYS * MEASURED.runRowsWritten +
      keptRows,
    queueOperations: (clicks + jobs) * OPERATIONS,
  }
}

/**
 * Returns what exports use in a month. Each morning they read the open month, of which there is half on average, and the
 * months before it that still change. Whether customers have changed, the revisions of all of them say.
 */
function exportUsage(size: Size, mix: Mix, { customers, facts }: Load): Usage {
  const share = mix.exports / 100
  const accounts = size.accounts * share
  const records = (customers + facts) * (1 / 2 + mix.changedMonths) * share
  const stored = customers * MONTHS * mix.years * share
  const listedDays = accounts * RESOURCES.exported * YEAR_DAYS * mix.years
  const files =
    accounts * RESOURCES.exported * (1 + mix.changedMonths) + records / EXPORT_LIMITS.rows
  return {
    ...ZERO_USAGE,
    cpuMs: records * MEASURED.exportCpuMsPerRecord * DAYS,
    rowsRead:
      (records * MEASURED.exportRowsReadPerRecord +
        stored * MEASURED.exportRowsReadPerCustomer +
        listedDays * MEASURED.exportRowsReadPerDay) *
      DAYS,
    rowsWritten: files * MEASURED.exportRowsWrittenPerFile * DAYS,
    queueOperations: (accounts + records / EXPORT_MESSAGE_RECORDS) * DAYS * OPERATIONS,
    r2Reads: files * DAYS,
    r2Writes: files * DAYS,
  }
}

/** Returns what the archiving of a month of each account uses. */
function archiveUsage({ accounts }: Size, { transactions, activity, facts }: Load): Usage {
  const objects = facts / OBJECT_RECORDS + accounts * RESOURCES.archived
  return {
    ...ZERO_USAGE,
    cpuMs:
      transactions * MEASURED.archiveCpuMsPerTransaction +
      activity * MEASURED.archiveCpuMsPerActivity,
    rowsRead:
      transactions * MEASURED.archiveRowsReadPerTransaction +
      activity * MEASURED.archiveRowsReadPerActivity,
    rowsWritten:
      transactions * MEASURED.archiveRowsWrittenPerTransaction +
      activity * MEASURED.archiveRowsWrittenPerActivity,
    r2Writes: objects,
    r2Reads: objects * MEASURED.archiveReadsPerObject,
  }
}

/** The months of records that the archive has after some years. */
const archivedMonths = ({ years }: Mix) => Math.max(0, years * MONTHS - ARCHIVE_AFTER)

/** Returns the bytes that D1 and R2 hold after the years of a mix. */
function bytesOf({ records }: Size, mix: Mix, load: Load, isArchived: boolean) {
  const { customers, transactions, activity, deliveries, clicks } = load
  const archived = isArchived ? archivedMonths(mix) : 0
  const exported =
    customers * MEASURED.exportBytesPerCustomer +
    transactions * MEASURED.exportBytesPerTransaction +
    activity * MEASURED.exportBytesPerActivity
  return {
    bytes:
      records * mix.years * bytesPerRecord(mix) +
      (deliveries * MEASURED.bytesPerDelivery + clicks * MEASURED.bytesPerClick) *
        (KEPT_DAYS / DAYS) -
      archived *
        (transactions * MEASURED.archiveBytesFreedPerTransaction +
          activity * MEASURED.archiveBytesFreedPerActivity),
    objectBytes:
      ((exported * mix.exports) / 100) * MONTHS * mix.years +
      archived *
        (transactions * MEASURED.archiveBytesPerTransaction +
          activity * MEASURED.archiveBytesPerActivity),
  }
}

/** Returns what a size needs at the end of the years of a mix, without the archive or with it. */
export function needsOf(size: Size, mix: Mix, isArchived = false): Needs {
  const load = loadOf(size, mix)
  const stored = bytesOf(size, mix, load, isArchived)
  const databases = Math.ceil(stored.bytes / PLANNED_BYTES)
  const monthly = sum([
    recordUsage(size, mix, load, databases),
    exportUsage(size, mix, load),
    ...(isArchived && archivedMonths(mix) > 0 ? [archiveUsage(size, load)] : []),
  ])
  return {
    recordsPerSecond: size.records / YEAR_DAYS / 86_400,
    peakRecordsPerSecond: (load.activity * MONTHS) / YEAR_DAYS / PEAK_SECONDS,
    monthly,
    ...stored,
    databases,
    runShare: morningRowsRead(load, mix) / databases / MEASURED.rowsReadPerSecond / 3600,
    dollars: PLAN_FEE + billed(monthly) + storageDollars(stored),
  }
}

/** Returns how many records a year an account may send for the years of a mix: then its database is full. */
function mostRecords(mix: Mix, isArchived: boolean): number {
  const size = { accounts: 1, records: 1e6 }
  const { bytes } = bytesOf(size, mix, loadOf(size, mix), isArchived)
  return (size.records * PLANNED_BYTES) / bytes
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
  ['stored in D1, GB', (_, { bytes }) => short(bytes / 1e9)],
  ['stored in R2, GB', (_, { objectBytes }) => short(objectBytes / 1e9)],
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
  ['of this for storage', (_, needs) => usd(storageDollars(needs))],
]

/** Returns the table of some years, with a column for each size. Two values are without the archive and with it. */
function tableOf(sizes: readonly Size[], mix: Mix): string[] {
  const line = (title: string, cells: readonly string[]) => `| ${title} | ${cells.join(' | ')} |`
  const needs = sizes.map((size) =>
    [false, true].map((isArchived) => needsOf(size, mix, isArchived)),
  )
  const cell = (value: (typeof LINES)[number][1], i: number) =>
    [...new Set(needs[i]!.map((one) => value(sizes[i]!, one)))].join(' → ')
  return [
    line(
      'records a year',
      sizes.map(({ records }) => number(records)),
    ),
    `| --- |${' ---: |'.repeat(sizes.length)}`,
    ...LINES.map(([title, value]) =>
      line(
        title,
        sizes.map((_, i) => cell(value, i)),
      ),
    ),
  ]
}

const yearsText = (years: number) => (years === 1 ? 'a year' : `${years} years`)

/** Says how many records a year fit into a database, and into so many databases as a script may have. */
function describeLimits(mix: Mix, years: number): string {
  const [without, archived] = [false, true].map((isArchived) =>
    mostRecords({ ...mix, years }, isArchived),
  ) as [number, number]
  const both = (unit: number) =>
    [...new Set([without, archived].map((most) => number(most / unit)))].join(' → ')
  return `- After ${yearsText(years)}, a database of 5 GB holds an account of ${both(1e6)} million records a year. About ${number(BINDINGS)} databases, which a script may have as bindings, hold ${both(1e9 / BINDINGS)} billion a year.`
}

/** What was measured of a record of each kind. */
const OF_RECORDS: readonly [title: string, ...figures: (number | null)[]][] = [
  [
    'bytes in D1',
    MEASURED.bytesPerCustomer,
    MEASURED.bytesPerTransaction,
    MEASURED.bytesPerActivity,
  ],
  ['bytes of its kept fact', null, MEASURED.bytesPerKeptFact, MEASURED.bytesPerKeptFact],
  [
    'rows written when it is new',
    MEASURED.rowsWrittenPerCustomer,
    MEASURED.rowsWrittenPerTransaction,
    MEASURED.rowsWrittenPerActivity,
  ],
  [
    'bytes in its export',
    MEASURED.exportBytesPerCustomer,
    MEASURED.exportBytesPerTransaction,
    MEASURED.exportBytesPerActivity,
  ],
  [
    'archived: rows read',
    null,
    MEASURED.archiveRowsReadPerTransaction,
    MEASURED.archiveRowsReadPerActivity,
  ],
  [
    'rows written',
    null,
    MEASURED.archiveRowsWrittenPerTransaction,
    MEASURED.archiveRowsWrittenPerActivity,
  ],
  ['CPU-ms', null, MEASURED.archiveCpuMsPerTransaction, MEASURED.archiveCpuMsPerActivity],
  [
    'bytes that leave D1',
    null,
    MEASURED.archiveBytesFreedPerTransaction,
    MEASURED.archiveBytesFreedPerActivity,
  ],
  ['bytes in R2', null, MEASURED.archiveBytesPerTransaction, MEASURED.archiveBytesPerActivity],
]

/** Names all inputs that are not assumed, so that the tables can be computed by hand. */
const describeInputs = (): string[] => [
  '| measured | customer | transaction | activity |',
  '| --- | ---: | ---: | ---: |',
  ...OF_RECORDS.map(
    ([title, ...figures]) => `| ${title} | ${figures.map((one) => one ?? '–').join(' | ')} |`,
  ),
  '',
  `- A record that is sent reads ${MEASURED.rowsReadPerRecord} rows and takes ${MEASURED.cpuMsPerRecord} CPU-ms. One with a change writes ${MEASURED.rowsWrittenPerUpdate} row.`,
  `- A delivery is ${MEASURED.bytesPerDelivery} bytes, ${MEASURED.rowsWrittenPerDelivery} rows written, ${MEASURED.objectRowsWrittenPerDelivery} object rows, ${MEASURED.cpuMsPerDelivery} CPU-ms and ${OBJECT_GB_SECONDS} GB-s; a click ${MEASURED.bytesPerClick} bytes, ${MEASURED.rowsReadPerClick} rows read, ${MEASURED.rowsWrittenPerClick} written, ${MEASURED.cpuMsPerClick} CPU-ms and a message. Both are kept for ${KEPT_DAYS} days.`,
  `- Each morning runs read ${MEASURED.runRowsReadPerFact} rows for each transaction and row of activity of the open month, of which there is half, and fraud rules ${MEASURED.ruleRowsReadPerFact} for each of the last ${MEASURED.ruleDays} days. They write ${MEASURED.runRowsWritten} rows for each account, and once a month one for each customer of a year. A database reads ${number(MEASURED.rowsReadPerSecond)} rows a second.`,
  `- Each morning an export reads ${MEASURED.exportRowsReadPerRecord} row for each record of the months that change, ${MEASURED.exportRowsReadPerCustomer} for each customer and ${MEASURED.exportRowsReadPerDay} for each day of ${RESOURCES.exported} resources, and takes ${MEASURED.exportCpuMsPerRecord} CPU-ms for a record. A file of at most ${number(EXPORT_LIMITS.rows)} records is ${MEASURED.exportRowsWrittenPerFile} rows written, a read and a write of R2; ${number(EXPORT_MESSAGE_RECORDS)} records are a message.`,
  `- An object of the archive has at most ${number(OBJECT_RECORDS)} records of one of ${RESOURCES.archived} resources: a write and ${MEASURED.archiveReadsPerObject} reads of R2.`,
  `- A database is ${number(DATABASE_MESSAGES)} messages a day, an account ${ACCOUNT_MESSAGES}. A message is ${OPERATIONS} operations.`,
]

/** Prints what sizes need after some numbers of years, as Markdown tables, and where the design ends. */
export function describeModel(sizes: readonly Size[], mix: Mix, years: readonly number[]): string {
  const activity = 100 - mix.customers - mix.transactions
  return [
    `- Of the records ${mix.customers} % are customers, ${mix.transactions} % transactions or events, ${activity} % rows of daily activity.`,
    `- ${mix.updates} % are sent again with a change, ${mix.replays} % without one. A delivery has ${number(mix.perDelivery)} records.`,
    `- Each customer comes with ${number(mix.clicks)} clicks. ${mix.rules} % of the accounts have all fraud rules.`,
    `- ${mix.exports} % of the accounts are exported. Besides the open month, ${mix.changedMonths === 1 ? 'one month changes' : `${number(mix.changedMonths)} months change`} each day.`,
    `- The archive takes records after ${ARCHIVE_AFTER} months. Two values are without it → with it. Accounts are of equal size.`,
    ...years.flatMap((one) => [
      '',
      `After ${yearsText(one)}:`,
      '',
      ...tableOf(sizes, { ...mix, years: one }),
    ]),
    '',
    'Where it ends, since an account lives in one database:',
    '',
    ...years.map((one) => describeLimits(mix, one)),
    '',
    'What it is computed from:',
    '',
    ...describeInputs(),
  ].join('\n')
}
