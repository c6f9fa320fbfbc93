import { deepEqual, match } from 'node:assert/strict'
import { test } from 'node:test'
import { igaming } from '../src/ingest/brand/igaming.ts'
import { deliveriesQuery } from '../src/ingest/db/deliveries.ts'
import { FIND_REQUEST } from '../src/ingest/db/find-sql.ts'
import { findRecordSql, listQuery, type RecordView } from '../src/ingest/db/list.ts'
import type { RecordTable } from '../src/ingest/db/record-table.ts'
import { COUNT_HELD, heldQuery } from '../src/ingest/db/release.ts'
import { sumDaysSql, sumKpisSql } from '../src/ingest/db/totals.ts'
import { COMMON_STATEMENTS, statementsOf } from '../src/ingest/db/write-sql.ts'
import { forex } from '../src/ingest/trading/forex.ts'
import { pageText, totalText } from '../src/platform/db/paginate.ts'
import { compileStatement, type Statement } from '../src/platform/db/statement.ts'
import { planFaults, queryPlan } from './query-plan.ts'

// No statement that writes or reads records scans a table, or uses an index that it is not meant to.

type Case = readonly [name: string, statement: Statement | string, indexes?: readonly string[]]

const VIEWS = [
  ...forex.resources.map((view) => ['forex', view] as const),
  ...igaming.resources.map((view) => ['igaming', view] as const),
]
const FIRST_PAGE = { number: 1, size: 50, after: null }
const afterKey = (key: readonly unknown[]) => ({ ...FIRST_PAGE, after: key.map(() => '') })

/** The indexes that find the last closed period of a plan, and the approved statements of an affiliate. */
const CLOSED = ['statements_closed', 'statements_affiliate']

/** Returns the statements that store a delivery. */
function writesOf(table: RecordTable): Case[] {
  const { releases, signUp, judge, ...all } = statementsOf(table)
  return [
    ...Object.entries({ ...all, ...judge }).flatMap(([name, statement]): Case[] =>
      statement ? [[name, statement, CLOSED]] : [],
    ),
    ...(signUp ? [['signUp', signUp, ['events_held']] as const] : []),
    ...releases.flatMap((statements, i): Case[] =>
      Object.entries(statements).map(([name, statement]) => [
        ...([name, statement] as const),
        [`${table.releases[i]?.table}_held`, ...CLOSED],
      ]),
    ),
  ]
}

/** Returns the statements that read the records of a resource. */
function readsOf(view: RecordView): Case[] {
  const { day } = view.recordTable.indexes
  const byDay = day ? [day] : []
  const days = { from: '', to: '' }
  const ofCustomer = { ...days, customer_id: '' }
  const filters = view.name === 'customers' ? [{}, days, ofCustomer] : [{}, days]
  const queries = filters.map((filter) => listQuery(view, '', filter))
  const lists = queries.flatMap((query): Case[] => [
    ['first page', pageText(query, FIRST_PAGE), byDay],
    ['page after a cursor', pageText(query, afterKey(query.key)), byDay],
    ['total', totalText(query), byDay],
  ])
  if (view.name !== 'customers') {
    for (const days of [{}, { from: '2026-01-01', to: '2026-12-31' }]) {
      const query = listQuery(view, '', { customer_id: '', ...days })
      for (const page of [FIRST_PAGE, afterKey(query.key)])
        lists.push(['page of a customer', pageText(query, page)])
      lists.push(['total of a customer', totalText(query)])
    }
  }
  return [
    ...lists,
    ['one record', findRecordSql(view)],
    ['sums of days', sumDaysSql(view), byDay],
    ...(view.kpis ? [['sums of KPIs', sumKpisSql(view, view.kpis), byDay] as const] : []),
  ]
}

/** Returns the statements of the list of held records. */
function heldPages(resources: readonly RecordView[]): Case[] {
  const indexes = resources.map(({ recordTable }) => `${recordTable.table}_held`)
  const query = heldQuery(resources, '')
  return [FIRST_PAGE, afterKey(query.key)].map((page) => [
    'held records',
    pageText(query, page),
    indexes,
  ])
}

const deliveries = deliveriesQuery('', {}, '', '')
const ACCOUNT: readonly Case[] = [
  ['deliveries', pageText(deliveries, FIRST_PAGE)],
  ['deliveries after a cursor', pageText(deliveries, afterKey(deliveries.key))],
  ['total of deliveries', totalText(deliveries)],
  ...([{ resource: '' }, { record_id: '' }, { outcome: 'stored' }] as const).flatMap(
    (filter): Case[] => {
      const query = deliveriesQuery('', filter, '', '')
      const indexes = 'outcome' in filter ? [] : ['deliveries_refused']
      return [
        ['search', pageText(query, FIRST_PAGE), indexes],
        ['count', totalText(query), indexes],
      ]
    },
  ),
  ...heldPages(forex.resources),
  ...heldPages(igaming.resources),
  ['number of held records', COUNT_HELD],
  ...Object.entries(COMMON_STATEMENTS),
  ['findRequest', FIND_REQUEST, CLOSED],
]

const GROUPS: Readonly<Record<string, readonly Case[]>> = {
  ...Object.fromEntries(
    VIEWS.map(([vertical, view]) => [
      `${vertical} ${view.name}`,
      [...readsOf(view), ...writesOf(view.recordTable)],
    ]),
  ),
  account: ACCOUNT,
}

const withNames = ({ sql, parameters }: Statement) =>
  sql.replace(/\?(\d+)/g, (_, number: string) => `:${parameters[Number(number) - 1]}`)

for (const [group, cases] of Object.entries(GROUPS)) {
  test(`${group}: no statement scans a table, and all are in ASCII`, () => {
    for (const [name, statement, indexes = []] of cases) {
      const sql = withNames(typeof statement === 'string' ? compileStatement(statement) : statement)
      deepEqual(planFaults(sql, queryPlan(sql), indexes), [], name)
      // A character beyond Latin-1 would double the memory of requests to D1.
      match(sql, /^[\n -~]*$/, name)
    }
  })
}

/** The statements that store a delivery, by the file that shows them. */
const WRITES: Readonly<Record<string, readonly Case[]>> = {
  ...Object.fromEntries(
    VIEWS.map(([vertical, view]) => [`${vertical}-${view.name}`, writesOf(view.recordTable)]),
  ),
  'all-resources': [['findRequest', FIND_REQUEST], ...Object.entries(COMMON_STATEMENTS)],
}

for (const [name, cases] of Object.entries(WRITES)) {
  // For who reads them. After a change that is meant: `npx node --test --test-update-snapshots test-node/sql.test.ts`.
  test(`the statements that store a delivery are those in test/recorded/statements/${name}.sql`, (t) => {
    const texts = cases.map(([name, statement]) => {
      const sql = withNames(typeof statement === 'string' ? compileStatement(statement) : statement)
      return `-- ${name}\n${sql.trim().replace(/\n\s*\n/g, '\n')};\n`
    })
    t.assert.fileSnapshot(texts.join('\n'), `test/recorded/statements/${name}.sql`, {
      serializers: [(text: string) => text],
    })
  })
}

test('a plan that scans a table, or uses another index than it is meant to, is a fault', () => {
  const faultsOf = (sql: string, indexes: string[] = []) =>
    planFaults(sql, queryPlan(sql), indexes).join()
  match(faultsOf('select * from transactions t where t.note = :note'), /scans a table: SCAN t/)
  match(faultsOf('select * from "transactions" q'), /scans a table: SCAN/)
  const byDay = `select count(*) from customers indexed by customers_day
    where account = :account and day > :day`
  match(faultsOf(byDay), /uses another index: SEARCH customers USING/)
  deepEqual(faultsOf(byDay, ['customers_day']), '')
})
