import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { DuckDBInstance } from '@duckdb/node-api'
import { runAdmin } from '../scripts/admin/run.ts'
import { adminCalls } from '../scripts/dev/client.ts'
import { type Shared, shareService } from './shared-service.ts'

// The files of a demo account that the guide does not change, downloaded by the command and read by DuckDB with the query of the document.

const ACCOUNT = 'demo-prop'
const ROOT = mkdtempSync(join(tmpdir(), 'warehouse-'))
const FOLDER = join(ROOT, 'warehouse')
let service: Shared

before(async () => {
  service = await shareService('warehouse')
})
after(async () => {
  await service.stop()
  rmSync(ROOT, { recursive: true })
})

/** Runs a command of the team. */
async function admin(...args: string[]): Promise<void> {
  const { base_url, admin_key } = service.demo
  const printed: string[] = []
  const print = (text: string) => printed.push(text)
  const code = await runAdmin(args, {
    env: { TRIBUTARY_BASE_URL: base_url, TRIBUTARY_ADMIN_KEY: admin_key },
    terminal: { input: new PassThrough(), output: new PassThrough() },
    ...{ print, printError: print },
  })
  assert.equal(code, 0, printed.join('\n'))
}

interface Listed {
  exported_at: string | null
  data: { id: string; resource: string; month: string | null; part: number; records: number }[]
}

/** Returns the files of the account once its export has ended. */
async function exported(): Promise<Listed> {
  const call = adminCalls(service.demo.base_url, service.demo.admin_key)
  await admin('accounts', 'change', ACCOUNT, '--exports', 'without_personal_data')
  await admin('exports', 'start', ACCOUNT)
  for (;;) {
    const listed = await call<Listed>('GET', `accounts/${ACCOUNT}/exports?per_page=500`)
    if (listed.exported_at !== null) return listed
    await sleep(500)
  }
}

const DOCUMENT = readFileSync('docs/warehouse.md', 'utf8')
const [, QUERY = ''] = /```sql\n([\s\S]*?)```/.exec(DOCUMENT) ?? []

/** Runs a query in a folder, and returns its rows with every value as text. */
async function query(sql: string): Promise<Record<string, string | null>[]> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const reader = await connection.runAndReadAll(sql.replaceAll("'warehouse/", `'${FOLDER}/`))
  const rows = reader.getRowObjects()
  connection.closeSync()
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [name, value === null ? null : String(value)]),
    ),
  )
}

interface Statement {
  [name: string]: string
  id: string
}

/** Returns an amount with two places: DuckDB shows 12. */
const cents = (value: string | null | undefined) =>
  (value ?? '').replace(/^(-?\d+\.\d\d)0{10}$/, '$1')

test('the query of the document reproduces each statement to the cent', async () => {
  const { data: files } = await exported()
  await admin('exports', 'download', ACCOUNT, '--to', FOLDER)
  const call = adminCalls(service.demo.base_url, service.demo.admin_key)
  const { data } = await call<{ data: Statement[] }>(
    'GET',
    `accounts/${ACCOUNT}/statements?per_page=500`,
  )
  assert.ok(data.length > 0)
  const names = ['id', 'affiliate_id', 'plan', 'period', 'currency', 'status']
  const amounts = [
    'opening',
    'lines_sum',
    'adjustments_sum',
    'manual_sum',
    'total',
    'payable',
    'closing',
  ]
  const rows = new Map((await query(QUERY)).map((row) => [row.id, row]))
  assert.equal(rows.size, data.length)
  for (const statement of data) {
    const row = rows.get(statement.id)
    assert.deepEqual(
      [...names.map((name) => row?.[name]), ...amounts.map((name) => cents(row?.[name]))],
      [...names, ...amounts].map((name) => statement[name]),
    )
  }

  // DuckDB reads every file, and finds the rows and types that the list and the document promise.
  for (const resource of new Set(files.map((file) => file.resource))) {
    const [counted] = await query(
      `select count(*) as rows from read_parquet('warehouse/${resource}/*.parquet')`,
    )
    const records = files.filter((file) => file.resource === resource)
    assert.equal(counted?.rows, String(records.reduce((sum, file) => sum + file.records, 0)))
  }
  const types = await query(
    `describe select amount_currency, day, transaction_date from read_parquet('warehouse/transactions/*.parquet')`,
  )
  assert.deepEqual(
    types.map(({ column_type }) => column_type),
    ['DECIMAL(38,12)', 'DATE', 'TIMESTAMP WITH TIME ZONE'],
  )
})

test('a file that is there is not downloaded again, one that is damaged is', async () => {
  const folder = join(FOLDER, 'transactions')
  const [name = ''] = readdirSync(folder)
  const before = readFileSync(join(folder, name))
  writeFileSync(join(folder, name), 'damaged')
  await admin('exports', 'download', ACCOUNT, '--to', FOLDER)
  assert.deepEqual(readFileSync(join(folder, name)), before)
  assert.deepEqual(
    readdirSync(folder).filter((one) => one.endsWith('.part')),
    [],
  )
})

test('a file that the export does not have any more is deleted, and other files stay', async () => {
  const stale = join(FOLDER, 'transactions', '2025-01-1.parquet')
  const other = join(FOLDER, 'transactions', 'notes.txt')
  for (const path of [stale, other]) writeFileSync(path, 'text')
  await admin('exports', 'download', ACCOUNT, '--to', FOLDER, '--resource', 'customers')
  assert.ok(existsSync(stale))
  await admin('exports', 'download', ACCOUNT, '--to', FOLDER)
  assert.ok(!existsSync(stale))
  assert.ok(existsSync(other))
})

test('a folder of one account takes no files of another one', async () => {
  await assert.rejects(
    admin('exports', 'download', 'demo-forex', '--to', FOLDER),
    /has the files of demo-prop\. Choose another folder\./,
  )
})
