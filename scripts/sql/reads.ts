import { igaming } from '../../src/brand/igaming.ts'
import { END_LEASE, READ_LEASE, RENEW_LEASE, TAKE_LEASE } from '../../src/db/lease.ts'
import { type ListQuery, type Page, pageText, totalText } from '../../src/db/paginate.ts'
import { deliveriesQuery } from '../../src/db/records/deliveries.ts'
import { countSql, searchSql } from '../../src/db/records/delivery-search-sql.ts'
import {
  customerDaysSql,
  customerQuery,
  type Filter,
  findRecordSql,
  listQuery,
  type RecordView,
} from '../../src/db/records/list.ts'
import { heldKeyOf } from '../../src/db/records/record-table.ts'
import { COUNT_HELD, heldPageSql } from '../../src/db/records/release.ts'
import {
  MEASURED_TABLES,
  measureSql,
  ROLL_UP,
  SELECT_COUNTED,
  SELECT_USAGES,
} from '../../src/db/records/storage-sql.ts'
import {
  BEGIN_DAYS,
  DROP_DAYS,
  KEEP_DAYS,
  keptDaysSql,
  stepEndSql,
  sumKpisStepSql,
  sumStepSql,
} from '../../src/db/records/totals.ts'
import { compileStatement, type Statement } from '../../src/db/statement.ts'
import { forex } from '../../src/trading/forex.ts'
import type { DocumentedFile, DocumentedStatement } from './documented.ts'

const VIEWS: readonly [name: string, view: RecordView][] = [
  ...forex.resources.map((view): [string, RecordView] => [
    view.name === 'customers' ? 'partner-customers' : view.name,
    view,
  ]),
  ...igaming.resources.map((view): [string, RecordView] => [`brand-${view.name}`, view]),
]

/**
 * Returns a file for each resource, one for what an account may ask beside its records, and one for
 * what accounts store.
 */
export const readStatements = (): DocumentedFile[] => [
  ...VIEWS.map(([name, view]) => ({
    name: `${name}-reads`,
    title: `Reads ${name}: lists, one record, control totals.`,
    statements: viewStatements(view),
  })),
  {
    name: 'account-reads',
    title: 'Reads the log of deliveries, and the held records of a partner and of a brand.',
    statements: [
      ...pages('deliveries', 'the log of deliveries', deliveriesQuery('', '')),
      ...searches(),
      ...heldPages('a partner', forex.resources, 'transactions'),
      ...heldPages('a brand', igaming.resources, 'activities'),
      statement('held', 'Reads the number of held records.', COUNT_HELD, []),
    ],
  },
  {
    name: 'control-totals',
    title:
      'Keeps the control totals of days, and lets one computation of an account run at a time.',
    statements: [
      common('takeLease', 'Takes the lease of the account, if it is free.', TAKE_LEASE),
      common('readLease', 'Reads who has the lease.', READ_LEASE),
      common('renewLease', 'Renews the lease with each step.', RENEW_LEASE),
      common('beginDays', 'Marks days as being summed.', BEGIN_DAYS),
      common('keepDays', 'Keeps the totals of days that have not changed since.', KEEP_DAYS),
      common('dropDays', 'Removes the marks of days that are not kept.', DROP_DAYS),
      common('endLease', 'Ends the lease, and notes the time that was used.', END_LEASE),
    ],
  },
  storageStatements(),
]

const common = (name: string, purpose: string, compiled: Statement): DocumentedStatement => ({
  name,
  purpose,
  statement: compiled,
  indexes: [],
})

/** Returns the file of the statements that measure what accounts store. */
const storageStatements = (): DocumentedFile => ({
  name: 'storage',
  title: 'Counts and measures what accounts store.',
  statements: [
    statement('rollUp', 'Adds the counts of past hours to what accounts store.', ROLL_UP, []),
    statement('selectUsages', 'Reads what accounts store.', SELECT_USAGES, []),
    statement(
      'selectCounted',
      'Reads what is counted when a measurement begins.',
      SELECT_COUNTED,
      [],
    ),
    ...MEASURED_TABLES.flatMap((table) => [
      statement('measure', `Measures the first rows of ${table}.`, measureSql(table, true), []),
      statement('measure', `Measures the next rows of ${table}.`, measureSql(table, false), []),
    ]),
  ],
})

function viewStatements(view: RecordView): DocumentedStatement[] {
  const { indexes } = view.recordTable
  const list = (what: string, filter: Filter) => pages('list', what, listQuery(view, '', filter))
  const byDay = indexes.day ? [indexes.day] : []
  const isCustomers = view.name === 'customers'
  return [
    ...list('all records', {}),
    ...(isCustomers
      ? list('the record of a customer', { customer_id: '' })
      : [...customerPages(view), ...list('the records of some days', { from: '', to: '' })]),
    statement('findRecord', 'Reads one record.', findRecordSql(view), []),
    statement(
      'keptDays',
      'Reads the kept totals of the days with records.',
      keptDaysSql(view),
      byDay,
    ),
    statement('stepEnd', 'Finds the last record of a step that sums.', stepEndSql(view), byDay),
    statement('sumStep', 'Sums the records of a step by day.', sumStepSql(view), byDay),
    ...(view.kpis
      ? [
          statement(
            'sumKpisStep',
            'Sums the KPIs of a step by day.',
            sumKpisStepSql(view, view.kpis),
            byDay,
          ),
        ]
      : []),
  ]
}

const FIRST_PAGE: Page = { number: 1, size: 50, after: null }

/** Returns the statements of a list: a page by number, a page by cursor, and the total. */
function pages(
  name: string,
  what: string,
  query: ListQuery,
  indexes: readonly string[] = [],
): DocumentedStatement[] {
  const cursor = { ...FIRST_PAGE, after: query.key.map(() => '') }
  return [
    statement(name, `Reads the first page of ${what}.`, pageText(query, FIRST_PAGE), indexes),
    statement(name, `Reads the page after a cursor of ${what}.`, pageText(query, cursor), indexes),
    statement(name, `Counts ${what}.`, totalText(query), indexes),
  ]
}

/** Returns the statements of the list of one customer: the days with records, then a page. */
function customerPages(view: RecordView): DocumentedStatement[] {
  const query = customerQuery(view, {})
  const cursor = { ...FIRST_PAGE, after: query.key.map(() => '') }
  const days = (what: string, page: Page) =>
    statement('list', what, customerDaysSql(view.recordTable, { from: '', to: '' }, page), [])
  const page = (what: string, page: Page) =>
    statement('list', `Reads the ${what} of a customer.`, pageText(query, page), [])
  return [
    days('Finds the days with records of a customer.', FIRST_PAGE),
    page('first page of the records', FIRST_PAGE),
    days("Finds the days with records of a customer behind a cursor's day.", cursor),
    page('page after a cursor of the records', cursor),
  ]
}

/** Returns the statements of a search in the log of deliveries. */
const searches = (): DocumentedStatement[] =>
  (
    [
      ['by code', { code: '', resource: '' }],
      ['of a record', { recordIds: [], code: '' }],
      ['by status', { status: '200' }],
    ] as const
  ).flatMap(([what, filter]) => [
    statement('search', `Finds deliveries ${what}.`, searchSql(filter, FIRST_PAGE.size, 0), []),
    statement('count', `Counts the deliveries ${what}.`, countSql(filter), []),
  ])

/** Returns the statements of the list of held records: a page by number, and one by cursor. */
function heldPages(
  whose: string,
  resources: readonly RecordView[],
  resource: string,
): DocumentedStatement[] {
  const views = resources.filter(({ recordTable }) => recordTable.canHold)
  const indexes = views.map(({ recordTable }) => `${recordTable.table}_held`)
  const place = views
    .filter(({ name }) => name === resource)
    .flatMap(({ recordTable }) => heldKeyOf(recordTable).map(() => ''))
  const page = (what: string, after: Page['after']) =>
    statement(
      'held',
      `Reads the ${what} of the held records of ${whose}.`,
      heldPageSql(views, { ...FIRST_PAGE, after }),
      indexes,
    )
  return [page('first page', null), page('page after a cursor', [resource, ...place])]
}

const statement = (
  name: string,
  purpose: string,
  sql: string,
  indexes: readonly string[],
): DocumentedStatement => ({
  name,
  purpose,
  statement: compileStatement(sql),
  indexes,
})
