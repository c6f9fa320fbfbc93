import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { MIGRATIONS } from '../bench/schema.ts'
import { type Database, localDatabases, parseInfo } from '../scripts/capacity/databases.ts'
import { needsOf, USUAL } from '../scripts/capacity/model.ts'
import type { Usage } from '../scripts/capacity/prices.ts'
import { report } from '../scripts/capacity/report.ts'
import { newDeliveryId } from '../src/ingest/delivery-id.ts'

// `npm run capacity` for a local database, for a remote one through a stand-in for wrangler, and on paper.

const SCRIPT = resolve('scripts/capacity.ts')
const folder = mkdtempSync(join(tmpdir(), 'tributary-capacity-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const capacity = (cwd: string, ...args: string[]) =>
  spawnSync(process.execPath, [SCRIPT, ...args], { cwd, encoding: 'utf8' })

describe('a local database', () => {
  const state = join(folder, 'state')
  const delivered = (account: string, daysAgo: number, listed: number) => {
    const at = Date.now() - daysAgo * 86_400_000
    return `insert into deliveries (account, id, attempt, received_at, resource, form, dry_run, lenient,
      received, errors_total, rejected, refused, held, stale, reused, yesterday, today, created,
      listed)
      values ('${account}', '${newDeliveryId(at)}', 1, ${at}, 'transactions', 'array', 0, 0,
      ${listed}, 0, 0, 0, 0, 0, 0, 0, 0, ${listed}, ${listed})`
  }
  before(async () => {
    const { databases, end } = await localDatabases(state)
    try {
      const statements = [
        ...MIGRATIONS,
        // The first is too old to count as growth.
        delivered('acme', 20, 700),
        delivered('acme', 4, 150),
        delivered('other', 2, 50),
        // The totals also count records of older deliveries, which the log no longer has.
        'delete from totals',
        `insert into totals (account, resource, total) values ('acme', 'transactions', 600), ('acme', 'customers', 150),
           ('other', 'customers', 250), ('empty', 'customers', 0)`,
        // Of the hours that are counted, one is part of the bytes already.
        `insert into storage (account, bytes, until_hour) values ('acme', 500000, 400000)`,
        `delete from arrivals`,
        `insert into arrivals (account, hour, resource, deliveries, received, refused, last_at,
           yesterday, today, logged_bytes, written_bytes)
         values ('acme', 399999, 'customers', 1, 1, 0, 0, 0, 0, 1, 100000),
           ('acme', 400000, 'customers', 1, 1, 0, 0, 0, 0, 100000, 400000),
           ('other', 400000, 'customers', 1, 1, 0, 0, 0, 0, 500, 1000)`,
        `insert into accounts (id, name, vertical, mode, unknown_customer, created_at, binding,
           storage_quota)
         values ('acme', 'A', 'forex', 'live', 'hold', '', 'DB', 6000000000),
           ('empty', 'E', 'forex', 'live', 'hold', '', 'DB', 7000000000),
           ('elsewhere', 'E', 'forex', 'live', 'hold', '', 'DB_2', 7000000000)`,
      ]
      // One by one they would take ten times as long, and D1 accepts 100 KB at once.
      for (let i = 0; i < statements.length; i += 100) {
        await databases[0]!.query(statements.slice(i, i + 100).join(';\n'))
      }
    } finally {
      await end()
    }
  })

  test('is reported with its size, its accounts with the largest first, and its growth', () => {
    const { stdout, stderr, status } = capacity('.', '--local', '--persist-to', state)

    assert.equal(status, 0, stderr)
    const [first = '', ...lines] = stdout.trimEnd().split('\n')
    const [, kilobytes] = /^DB \(tributary, local\): ([\d.]+) kB, 0\.0 % of 10\.00 GB$/.exec(first)!
    assert.deepEqual(lines.slice(0, 5), [
      '  1,000 records, accounts: 2',
      '    acme: 750 (75.0 %), 1.0 MB of 6.00 GB',
      '    other: 250 (25.0 %), 1.5 kB',
      '  quotas: 13.00 GB for 2 accounts, 130.0 % of 10.00 GB',
      '  OVERCOMMITTED: it can be full before an account reaches its quota',
    ])
    // 200 of 1000 records arrived in four days: a twentieth a day.
    const [, a_day] = /^ {2}grows by about ([\d.]+) kB a day: full in [\d,]+ days$/.exec(lines[5]!)!
    assert.ok(Math.abs(Number(a_day) - Number(kilobytes) / 20) < 0.2, `${a_day} of ${kilobytes}`)
    assert.equal(lines.length, 6)
  })
})

describe('a database of Cloudflare', () => {
  /** The output of `wrangler d1 info` 4.135. */
  const info = (bytes: number) => ({
    uuid: '00000000-0000-0000-0000-000000000000',
    name: 'tributary-production',
    created_at: '2026-09-01T00:00:00.000Z',
    num_tables: 20,
    running_in_region: 'WEUR',
    read_replication: { mode: 'disabled' },
    ...(bytes > 0 ? { database_size: bytes } : { file_size: 0 }),
    read_queries_24h: 10,
    write_queries_24h: 20,
    rows_read_24h: 30,
    rows_written_24h: 12_345,
  })

  /** Returns a folder whose wrangler prints fixed answers. */
  const folderWith = (bytes: number) => {
    const world = mkdtempSync(join(folder, 'world-'))
    cpSync('wrangler.toml', join(world, 'wrangler.toml'))
    mkdirSync(join(world, 'node_modules/.bin'), { recursive: true })
    const stub = join(world, 'node_modules/.bin/wrangler')
    writeFileSync(
      stub,
      `#!${process.execPath}
const line = process.argv.slice(2).join(' ')
const meta = { duration: 1 }
const answers = [
  [/^d1 info DB --json --env production$/, ${JSON.stringify(info(bytes))}],
  [/^d1 execute DB --remote --command [^]*from totals group by[^]* --json --env production$/,
    [{ results: [{ account: 'acme', records: 1000, bytes: 2e9 }], success: true, meta }]],
  [/^d1 execute DB --remote --command select id[^]* from accounts --json --env production$/,
    [{ results: [{ account: 'acme', binding: 'DB', quota: 4e9 }], success: true, meta }]],
  [/^d1 execute DB --remote --command [^]*join deliveries[^]* --json --env production$/,
    [{ results: [{ listed: null, since: null }], success: true, meta }]],
]
const [, answer] = answers.find(([form]) => form.test(line)) ?? process.exit(3)
console.log(JSON.stringify(answer, null, 2))
`,
    )
    chmodSync(stub, 0o755)
    return world
  }

  const QUOTAS = [{ account: 'acme', binding: 'DB', quota: 4e9 }]

  /** The lines about a database of this size. */
  const lines = (gigabytes: number, share: string, warning: string | null) => [
    `DB (tributary-production): ${gigabytes.toFixed(2)} GB, ${share} of 10.00 GB`,
    '  1,000 records, accounts: 1',
    '    acme: 1,000 (100.0 %), 2.00 GB of 4.00 GB',
    '  quotas: 4.00 GB for 1 account, 40.0 % of 10.00 GB',
    '  12,345 rows written in 24 h',
    ...(warning ? [`${warning}, see docs/runbook.md`] : []),
  ]

  const FILLING = '  filling up: create new accounts in another database soon'
  const FULL = '  NEARLY FULL: create new accounts in another database now'
  for (const [gigabytes, share, warning] of [
    [6.99, '69.9 %', null],
    [7, '70.0 %', FILLING],
    [8.99, '89.9 %', FILLING],
    [9, '90.0 %', FULL],
  ] as const) {
    test(`at ${share} it ${warning ? 'warns' : 'does not warn'}, with exit code ${warning === FULL ? 1 : 0}`, async () => {
      const query = async (sql: string) => {
        if (sql.includes('from accounts')) return QUOTAS
        return sql.includes('from totals group by')
          ? [{ account: 'acme', records: 1000, bytes: 2e9 }]
          : [{ listed: null, since: null }]
      }
      const database = {
        binding: 'DB',
        name: 'tributary-production',
        query: query as Database['query'],
        ...parseInfo(JSON.stringify(info(gigabytes * 1e9))),
      }
      const printed: string[] = []
      const exitCode = await report([database], Date.now(), (text) => printed.push(text))
      assert.deepEqual(printed.join('\n').split('\n'), lines(gigabytes, share, warning))
      assert.equal(exitCode, warning === FULL ? 1 : 0)
    })
  }

  test('a database that is nearly full is reported through wrangler, with exit code 1', () => {
    const result = capacity(folderWith(9e9), '--env', 'production')

    assert.equal(result.status, 1, result.stderr)
    assert.deepEqual(result.stdout.trimEnd().split('\n'), lines(9, '90.0 %', FULL))
  })

  test('output without a size is refused; an empty database has a size', () => {
    assert.deepEqual(parseInfo(JSON.stringify(info(0))), { bytes: 0, writtenToday: 12_345 })
    assert.throws(() => parseInfo('{"uuid": "…"}'), /reports no size/)
  })
})

test('a database that does not answer exits with 2, which does not mean full', () => {
  const empty = join(folder, 'empty')
  const run = () => capacity('.', '--local', '--persist-to', empty)
  const absent = run()
  assert.equal(absent.status, 2)
  assert.equal(absent.stderr, `${empty} has no local database. \`npm run dev\` creates it.\n`)
  mkdirSync(empty)
  const unmigrated = run()
  assert.equal(unmigrated.status, 2)
  assert.equal(
    unmigrated.stderr,
    'capacity: D1_ERROR: no such table: totals: SQLITE_ERROR. `npm run dev` creates the tables.\n',
  )
})

test('an unknown environment is refused with the known ones', () => {
  const { status, stderr } = capacity('.', '--env', 'nowhere')
  assert.equal(status, 2)
  assert.match(
    stderr,
    /^Option `--env <environment>` argument `nowhere` is invalid. Use staging, production.\n$/,
  )
})

describe('on paper', () => {
  test('rows of activity alone: every figure by hand', () => {
    const mix = {
      ...USUAL,
      customers: 0,
      transactions: 0,
      updates: 50,
      replays: 50,
      rules: 0,
      exports: 0,
    }
    const needs = needsOf({ accounts: 12, records: 120_000_000 }, mix)

    // Ten million records a month are sent twice, in 200,000 deliveries.
    assert.equal(needs.monthly.requests, 200_000)
    assert.equal(needs.monthly.objectGbSeconds, 200_000 * 0.64)
    assert.equal(needs.monthly.cpuMs, 20_000_000 * 0.02 + 200_000)
    const days = 365 / 12
    // A row for each record, one for each update, four for each delivery, and eleven for each run.
    const written = 10_000_000 + 5_000_000 + 800_000 + 12 * days * 11
    assert.equal(needs.monthly.rowsWritten, written)
    // Ten rows for each record that is sent. On an average morning half a month is open.
    const read = 20_000_000 * 10 + 5_000_000 * 3 * days
    assert.ok(Math.abs(needs.monthly.rowsRead - read) < 1)
    // 119 bytes and 60 of the kept fact; the log has 30 days of deliveries.
    const bytes = 120_000_000 * 179 + (200_000 * 440 * 30) / days
    assert.ok(Math.abs(needs.bytes - bytes) < 1)
    assert.equal(needs.databases, 5)
    // No clicks: jobs of five databases and twelve accounts, each written, read and deleted.
    const messages = 5 * (24 * 60 + 24 * 2) + 12 * 3.9
    assert.ok(Math.abs(needs.monthly.queueOperations - messages * days * 3) < 1)
    // Only storage is beyond what the plan includes.
    assert.ok(Math.abs(needs.dollars - (5 + (bytes / 1e9 - 5) * 0.75)) < 0.001)
    assert.equal(needs.peakRecordsPerSecond, 120_000_000 / 365 / 7200)
    assert.ok(Math.abs(needs.runShare - (5_000_000 * 3) / 5 / 570_000 / 3600) < 1e-9)
  })

  test('more years raise what is stored, and what rules read up to 400 days', () => {
    const size = { accounts: 10_000, records: 1_000_000_000 }
    const after = (years: number) => needsOf(size, { ...USUAL, exports: 0, years })
    const [one, two, three] = [after(1), after(2), after(3)] as const
    assert.ok(Math.abs(three.bytes - 2 * two.bytes + one.bytes) < 1)
    assert.equal(two.monthly.rowsRead, three.monthly.rowsRead)
    // Facts of 35 days more: 95 % of the records, 8 rows each, each morning.
    const more = ((1_000_000_000 * 0.95) / 365) * 35 * 8 * (365 / 12)
    assert.ok(Math.abs(two.monthly.rowsRead - one.monthly.rowsRead - more) < 100)
  })

  test('exports read what may have changed: every figure by hand', () => {
    const size = { accounts: 12, records: 120_000_000 }
    const mix = { ...USUAL, customers: 10, transactions: 40, exports: 50, years: 2 }
    const [without, needs] = [{ ...mix, exports: 0 }, mix].map((one) => needsOf(size, one))
    const more = (meter: keyof Usage) =>
      (needs!.monthly[meter] - without!.monthly[meter]) / (365 / 12)

    // Of half of the accounts: a month and a half of ten million records, and the customers of 24 months.
    const records = 5_000_000 * 1.5
    const close = (found: number, expected: number) =>
      assert.ok(Math.abs(found / expected - 1) < 1e-6, `${found}, not ${expected}`)
    close(more('rowsRead'), records + 500_000 * 24 + 6 * 3 * 730 * 4.3)
    close(more('cpuMs'), records * 0.015)
    // Two months of three resources, and one more file for each 100,000 records.
    const files = 6 * 3 * 2 + records / 100_000
    close(more('r2Writes'), files)
    close(more('r2Reads'), files)
    close(more('rowsWritten'), files * 5.7)
    close(more('queueOperations'), (6 + records / 500_000) * 3)
    close(needs!.objectBytes, (12_000_000 * (10 * 36 + 40 * 72 + 50 * 31)) / 10)
    assert.equal(without!.objectBytes, 0)
    assert.equal(needs!.bytes, without!.bytes)
  })

  test('the archive takes the records of months after the thirteenth: every figure by hand', () => {
    const size = { accounts: 12, records: 120_000_000 }
    const mix = { ...USUAL, customers: 0, transactions: 40, exports: 0 }
    assert.deepEqual(needsOf(size, mix, true), needsOf(size, mix))
    const [without, archived] = [false, true].map((isArchived) =>
      needsOf(size, { ...mix, years: 3 }, isArchived),
    )
    // 23 months of four million transactions and six million rows of activity.
    assert.equal(without!.bytes - archived!.bytes, 23e6 * (4 * 156 + 6 * 111))
    assert.equal(archived!.objectBytes, 23e6 * (4 * 51 + 6 * 25))
    const more = (meter: keyof Usage) =>
      Math.round(archived!.monthly[meter] - without!.monthly[meter])
    assert.equal(more('rowsRead'), 1e6 * 4 * 9.3 + 1e6 * 6 * 8.3)
    assert.equal(more('rowsWritten'), 1e6 * 4 * 2.3 + 1e6 * 6 * 1.3)
    assert.equal(more('cpuMs'), 1e6 * 4 * 0.029 + 1e6 * 6 * 0.014)
    const objects = 10_000_000 / 20_000 + 12 * 2
    assert.deepEqual([more('r2Writes'), more('r2Reads')], [objects, objects * 2])
  })

  test('its table stands in docs/scale.md', () => {
    const { stdout, status } = capacity('.', '--model')
    assert.equal(status, 0)
    assert.ok(readFileSync('docs/scale.md', 'utf8').includes(stdout.trim()))
  })

  test('shares of more than 100 percent, and records without accounts, are refused', () => {
    const refusals = [
      capacity('.', '--model', '--customers', '60', '--transactions', '50'),
      capacity('.', '--model', '--records', '5'),
    ]
    assert.deepEqual(
      refusals.map(({ status, stderr }) => [status, stderr]),
      [
        [2, '--customers and --transactions are together more than 100 percent.\n'],
        [2, 'Use --records and --accounts together.\n'],
      ],
    )
  })
})
