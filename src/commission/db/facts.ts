import type { Connection } from '../../platform/db/database.ts'
import { all } from '../../platform/db/query.ts'
import { isTooLong } from '../../platform/db/retry.ts'
import { bindStatement, pairs, readBatch, type Statement } from '../../platform/db/statement.ts'
import { FIRST_BOOKED, type FirstBooked } from './closed-terms.ts'
import {
  EVERYTHING,
  FACT_LIMITS,
  FACT_TABLES,
  type FactSelection,
  mapFactTables,
  type StatusMembers,
} from './fact-tables.ts'
import type { FactStatements } from './facts-sql.ts'
import * as sql from './facts-sql.ts'

/** A kind of rows. Rows of a `summed_…` kind add up several records. */
export type RowKind =
  | 'transactions'
  | 'summed_transactions'
  | 'activity'
  | 'summed_activity'
  | 'events'
  | 'summed_events'

/** A query for the rows of one kind. */
export interface FactQuery {
  readonly kind: RowKind
  readonly statements: FactStatements
  /** The values of the statements besides `:account`, `:days` and `:ids`. */
  readonly values: Readonly<Record<string, unknown>>
  /** The days whose records are read, in days since 1970. */
  readonly days: readonly number[]
}

const factQuery = (
  kind: RowKind,
  statements: FactStatements,
  days: readonly number[],
  values: Record<string, unknown> = {},
): FactQuery => ({ kind, statements, days, values })

/** The days to read from each table: `single` for records read one by one, `summed` for sums. */
export type FactDays = Readonly<
  Record<
    'transactions' | 'activity' | 'events',
    { readonly single: readonly number[]; readonly summed: readonly number[] }
  >
>

const hasAny = (members: StatusMembers): boolean => Object.keys(members).length > 0

/** Returns the values by which statements find the status of events. */
const statusValues = (members: StatusMembers): Record<string, string> =>
  hasAny(members) ? { status_members: JSON.stringify(members) } : {}

/**
 * Returns the queries that read a selection on some days. Leaves out queries without days.
 *
 * @param members The members with the status of events.
 */
export function factQueries(
  selection: FactSelection | typeof EVERYTHING,
  days: FactDays,
  members: StatusMembers,
): FactQuery[] {
  const { transactions, activity, events } = days
  const queries =
    selection === EVERYTHING
      ? [
          factQuery('transactions', sql.ALL_TRANSACTIONS, transactions.single),
          factQuery('activity', sql.ALL_ACTIVITY, activity.single),
          factQuery('events', sql.allEvents(hasAny(members)), events.single, statusValues(members)),
        ]
      : [
          ...transactionQueries(selection, days),
          ...activityQueries(selection, days),
          ...eventQueries(selection, days, members),
        ]
  return queries.filter((one) => one.days.length > 0)
}

function transactionQueries(
  { transactions, statuses }: FactSelection,
  { transactions: days }: FactDays,
): FactQuery[] {
  const { single, summed, currency, subtypes } = transactions
  const list = (types: readonly string[], words: readonly string[]) => ({
    types: JSON.stringify(types),
    statuses: JSON.stringify(words),
    currency,
  })
  const singleValues = list(single, statuses.single)
  const summedValues = list(summed, statuses.summed)
  return [
    ...(single.length > 0
      ? [factQuery('transactions', sql.SINGLE_TRANSACTIONS, days.single, singleValues)]
      : []),
    ...(summed.length > 0
      ? [
          factQuery(
            'summed_transactions',
            sql.summedTransactions(subtypes, transactions.signed),
            days.summed,
            summedValues,
          ),
        ]
      : []),
  ]
}

function activityQueries(
  { activity: { single, summed, fields, instruments } }: FactSelection,
  { activity: days }: FactDays,
): FactQuery[] {
  if (single) return [factQuery('activity', sql.singleActivity(fields), days.single)]
  if (summed.length === 0) return []
  // A customer has at most one record for a day, instrument and currency: there is nothing to sum.
  if (instruments) return [factQuery('activity', sql.singleActivity(fields), days.summed)]
  return [factQuery('summed_activity', sql.summedActivity(summed), days.summed)]
}

function eventQueries(
  { events: { single, summed, kpis, outflows }, statuses }: FactSelection,
  { events: days }: FactDays,
  members: StatusMembers,
): FactQuery[] {
  const hasStatus = hasAny(members)
  const values = (names: readonly string[], words: readonly string[]) => ({
    types: JSON.stringify(names),
    ...statusValues(members),
    ...(hasStatus && { statuses: JSON.stringify(words) }),
  })
  const singleValues = values(single, statuses.single)
  const summedValues = {
    ...values(summed, statuses.summed),
    ...(outflows.length > 0 && { outflows: JSON.stringify(outflows) }),
    ...Object.fromEntries(kpis.map((name, i) => [`kpi_${i}`, name])),
  }
  const sums = () => sql.summedEvents(kpis.length, hasStatus, outflows.length > 0)
  return [
    ...(single.length > 0
      ? [factQuery('events', sql.singleEvents(hasStatus), days.single, singleValues)]
      : []),
    ...(summed.length > 0 ? [factQuery('summed_events', sums(), days.summed, summedValues)] : []),
  ]
}

/** Returns the maximum number of customers for one call of `readFactRows`. */
export function customersPerBatch(queries: readonly FactQuery[]): number {
  const days = Math.max(1, ...queries.map((one) => one.days.length))
  return Math.max(1, Math.min(FACT_LIMITS.customers, Math.floor(FACT_LIMITS.searches / days)))
}

/** A row that a fact query returns: stored values by column. */
export type FactRow = Record<string, string | number | null>

/** A fact query for some customers. */
export interface CustomerFactQuery {
  readonly query: FactQuery
  /** The stored ids of the customers. */
  readonly ids: readonly string[]
  /** The share of these customers, 0 to 1, among all whose ids lie between their first and last id. */
  readonly share: number
}

/** From this share of wanted customers on, all records between the first and the last of them are read. */
const DENSE_SHARE = 0.4

/**
 * Reads the rows of each query in one round trip, or in several if those of a day are too long for D1. May also return
 * rows of customers who were not asked for.
 */
export async function readFactRows(
  db: Connection,
  account: string,
  queries: readonly CustomerFactQuery[],
): Promise<FactRow[][]> {
  if (queries.length === 0) return []
  const bindQuery = ({ query, ids, share }: CustomerFactQuery) =>
    bindStatement(
      db,
      query.statements[share < DENSE_SHARE ? 'search' : 'range'],
      valuesOf(account, query, ids),
    )
  try {
    const found = await readBatch<{ records: string }[][]>(db, queries.map(bindQuery))
    return pairs(queries, found).map(([{ query }, days]) =>
      days.flatMap(({ records }) => unpack(query.statements.columns, records)),
    )
  } catch (error) {
    if (!isTooLong(error) || queries.every(({ ids }) => ids.length === 1)) throw error
    return Promise.all(queries.map((one) => readHalves(db, account, one)))
  }
}

/** Reads the rows of half of the customers of a query, and then those of the others. */
async function readHalves(
  db: Connection,
  account: string,
  whole: CustomerFactQuery,
): Promise<FactRow[]> {
  const { ids } = whole
  const middle = Math.ceil(ids.length / 2)
  const rows: FactRow[] = []
  for (const half of [ids.slice(0, middle), ids.slice(middle)]) {
    if (half.length === 0) continue
    for (const row of (await readFactRows(db, account, [{ ...whole, ids: half }])).flat()) {
      rows.push(row)
    }
  }
  return rows
}

const valuesOf = (account: string, { values, days }: FactQuery, ids: readonly string[]) => ({
  ...values,
  account,
  days: JSON.stringify(days),
  ids: JSON.stringify(ids),
  // -1 means no limit. SQLite does not merge a subquery with a limit into the outer query, and thus
  // computes the columns of each record once.
  records: -1,
})

/** Returns the rows of a packed JSON array. */
function unpack(columns: readonly string[], packed: string): FactRow[] {
  const records: FactRow[string][][] = JSON.parse(packed)
  return records.map((values) => {
    const row: FactRow = {}
    columns.forEach((name, i) => {
      row[name] = values[i] ?? null
    })
    return row
  })
}

/** Where the records and the books of an account begin. */
export interface AccountBeginnings {
  /** The days on which each table has records, in order of time. */
  readonly days: Readonly<Record<keyof typeof FACT_TABLES, readonly number[]>>
  /** The day on which the first customer signed up; null if there is none. */
  readonly signupDay: number | null
  readonly booked: FirstBooked
}

const DAYS = mapFactTables(FACT_TABLES, sql.factDays)

type Day = { day: number }

/** Finds where the records and the books of an account begin, in one round trip. */
export async function readBeginnings(db: Connection, account: string): Promise<AccountBeginnings> {
  // Days before and after all stored days.
  const values = { account, first_day: -719_528, last_day: 2_932_896 }
  const bind = (statement: Statement) => bindStatement(db, statement, values)
  type Booked = Omit<FirstBooked, 'periods'> & { periods: string }
  type Lists = [[{ day: number | null }], [Booked], Day[], Day[], Day[]]
  const [[signup], [booked], transactions, activity, events] = await readBatch<Lists>(db, [
    bind(sql.FIRST_SIGNUP),
    bind(FIRST_BOOKED),
    bind(DAYS.transactions),
    bind(DAYS.activity),
    bind(DAYS.events),
  ])
  return {
    days: mapFactTables({ transactions, activity, events }, (rows) => rows.map(({ day }) => day)),
    signupDay: signup.day,
    booked: { ...booked, periods: JSON.parse(booked.periods) },
  }
}

/** When a customer signed up: the instant if it is known, and the day. */
export interface SignupRow {
  readonly customer_id: string
  /** The day in control totals. */
  readonly day: number
  readonly signup_date: number | null
  /** The day of the signup: an earlier one if events of a brand waited for the customer. */
  readonly signup_day: number
  readonly delivery: string
}

/** Reads when customers signed up; `ids` are stored ids. */
export async function readSignups(
  db: Connection,
  account: string,
  ids: readonly string[],
): Promise<SignupRow[]> {
  const values = { account, ids: JSON.stringify(ids) }
  return all<SignupRow>(db, sql.SIGNUPS, values)
}
