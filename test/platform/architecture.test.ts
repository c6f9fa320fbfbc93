import { env } from 'cloudflare:workers'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { partnerCustomerTable } from '../../src/ingest/db/record-table.ts'
import { customers } from '../../src/ingest/trading/definitions.ts'
import { forex } from '../../src/ingest/trading/forex.ts'
import { propTrading } from '../../src/ingest/trading/prop-trading.ts'
import { defineResource, PERSONAL_FIELDS } from '../../src/ingest/trading/resource.ts'
import * as shared from '../../src/ingest/trading/shared.ts'
import * as tables from '../../src/platform/db/tables.ts'
import { findRings } from '../rings.ts'

/**
 * The rooms and root files of `src`, from the bottom. A file imports only from its own room and from those before it,
 * and examples.
 */
const ROOMS = [
  ...['platform', 'webhooks', 'attribution', 'ingest', 'ledger', 'commission', 'fraud', 'books'],
  ...[
    'reports',
    'affiliates',
    'payouts',
    'exports',
    'people',
    'accounts',
    'api',
    'pages',
    'console',
    'portal',
    'jobs',
    'app',
    'index',
  ],
]

/** The files that may import each library. No file may import any other library. */
const LIBRARY_USERS: Record<string, RegExp> = {
  hono: /^(?!platform\/(db|validation|parquet)\/)/,
  valibot: /^(?!platform\/(db|directory|parquet)\/|jobs\/)/,
  jose: /^(platform\/auth\/|attribution\/code)/,
  'drizzle-orm': /^platform\/db\/schema\.ts$/,
  hyparquet: /^platform\/parquet\/file\.ts$/,
  'hyparquet-writer': /^platform\/parquet\/file\.ts$/,
  '@noble': /^platform\/validation\/wallets\.ts$/,
  ibantools: /^(payouts\/fields|platform\/validation\/mask-numbers)\.ts$/,
  saxes: /^payouts\/answers\/xml\.ts$/,
  leven: /^platform\/validation\/suggest\.ts$/,
  'cloudflare:workflows': /^jobs\/statement-run\.ts$/,
  'cloudflare:workers':
    /^(platform\/auth\/(token|client)-gate|jobs\/statement-run|accounts\/erasure\/erasure-journal)\.ts$/,
}

/** The text of each file of `src`, `scripts`, `chaos` and `bench`, by its path. */
const sources: Record<string, string> = await (await fetch('http://sources.local/')).json()

const files = Object.entries(sources)
  .filter(([path]) => path.startsWith('src/'))
  .map(([path, source]) => [path.slice('src/'.length), source] as const)

/** Returns everything that a source imports, statically or dynamically. */
const importsOf = (source: string) =>
  [
    ...withoutComments(source).matchAll(/(?<!['"`:])\b(?:from|import)\s*\(?\s*['"]([^'"\s]+)['"]/g),
  ].map(([, to]) => to!)
const withoutComments = (source: string) => source.replace(/\/\*\*[\s\S]*?\*\/|\/\/ .*/g, '')
const directoryOf = (path: string) => path.replace(/\.tsx?$/, '').split('/')[0]!
const isRelative = (to: string) => to.startsWith('.')

/** Returns the paths of the files in `src` that a file imports. */
const localImports = (path: string, source: string) =>
  importsOf(source)
    .filter(isRelative)
    .map((to) => new URL(to, `file:///${path}`).pathname.slice(1))

/** Returns the imports of a file that are not allowed. */
function forbiddenImports(path: string, source: string): string[] {
  const ownDirectory = directoryOf(path)
  const mayUse = (to: string) => {
    if (!isRelative(to)) return LIBRARY_USERS[to.split('/')[0]!]?.test(path) ?? false
    const directory = directoryOf(new URL(to, `file:///${path}`).pathname.slice(1))
    return directory === 'examples' || ROOMS.indexOf(directory) <= ROOMS.indexOf(ownDirectory)
  }
  return importsOf(source).filter((to) => !mayUse(to))
}

test('each room of src is in ROOMS', () => {
  const directories = new Set(files.map(([path]) => directoryOf(path)))
  expect([...directories].toSorted()).toEqual(ROOMS.toSorted())
})

test('each file imports only from its room and from rooms below', () => {
  const forbidden = files.flatMap(([path, source]) =>
    forbiddenImports(path, source).map((to) => `${path} imports ${to}`),
  )
  expect(forbidden).toEqual([])
})

test('statements are sent in batches: one that is sent alone checks no door', () => {
  const alone = files.filter(([, source]) =>
    /\)\s*\.(?:run|all|first)(?:<[^(]*>)?\(\)/.test(source),
  )
  expect(alone.map(([path]) => path)).toEqual([])
})

/** An operation is described by its words. */
const IS_OPERATION = /^export const \w+ = (?:operation|list)\(/

test('each export has a comment of at least one sentence', () => {
  const undocumented = files.flatMap(([path, source]) => {
    const exported = [...source.matchAll(/^export (?:async )?(?:const )?\w+ (\w+)/gm)].filter(
      ({ index }) => !IS_OPERATION.test(source.slice(index, index + 200)),
    )
    const commentOf = ({ index }: RegExpExecArray) =>
      source.slice(source.lastIndexOf('/**', index), index)
    const without = exported.filter((one) => !/\.\s[\s\S]*?\*\/\n$/.test(commentOf(one)))
    return without.map(([, name]) => `${path}: ${name}`)
  })
  expect(undocumented).toEqual([])
})

const scripts = Object.entries(sources).filter(([path]) => !path.startsWith('src/'))

test.each([
  ['src', files],
  ['the commands', scripts],
])('imports of %s never form a cycle, type imports included', (_, sources) => {
  expect(sources.length).toBeGreaterThan(100)
  const imports = sources.map(([path, source]) => [path, localImports(path, source)] as const)

  expect(findRings(new Map(imports))).toEqual([])
})

/** Returns the folder of a file within its room; the files beside the folders are one, too. */
const folderOf = (path: string) => {
  const [room, folder] = path.split('/')
  return path.split('/').length > 2 ? `${room}/${folder}` : `${room}/.`
}

/** The rooms in which folders still import in a circle. */
const ROOMS_WITH_CIRCLES = ['console', 'fraud', 'payouts']

test('folders of a room never import in a circle, but in three rooms', () => {
  const graph = new Map<string, string[]>()
  for (const [path, source] of files) {
    const from = folderOf(path)
    const own = localImports(path, source).map(folderOf)
    const others = own.filter((to) => to !== from && directoryOf(to) === directoryOf(from))
    graph.set(from, [...(graph.get(from) ?? []), ...others])
  }
  expect(findRings(graph).map(([folder]) => directoryOf(folder!))).toEqual(ROOMS_WITH_CIRCLES)
})

test.each([
  ['ingest/trading/rows.ts', "const { sql } = await import('drizzle-orm')"],
  ['platform/http/read.ts', "import '../../ingest/trading/rows.ts'"],
  ['platform/db/list.ts', "export * from 'valibot'"],
  ['ingest/trading/rows.ts', 'import { SignJWT } from "jose"'],
  ['platform/auth/bearer.ts', "import { env } from 'cloudflare:workers'"],
  ['app.ts', "import _ from 'lodash'"],
])('the check refuses in %s: %s', (path, source) => {
  expect(forbiddenImports(path, source)).toHaveLength(1)
})

/** Where SQL is written. What is done to a whole account knows all tables. */
const HAS_SQL = /(^|\/)db\/|^platform\/directory\/|^accounts\/(move|erasure)\/|^fraud\/kinds\//

test('SQL statements stand only where a room keeps its SQL', () => {
  const filesWithSql = files.filter(([, source]) =>
    /\b(select|insert into|update|delete from)\b[^'"]+\b(from|values|set|where)\b/.test(
      withoutComments(source),
    ),
  )
  expect(filesWithSql.map(([path]) => path).filter((path) => !HAS_SQL.test(path))).toEqual([])
})

/** The rooms of tables that no SQL inserts into by name, or only that of a room above. */
const OWNERS: Record<string, string> = {
  // Every batch checks the door of its account.
  doors: 'platform',
  // Their SQL is that of the passkeys of affiliates, too.
  member_passkeys: 'platform',
  // Their SQL is built from the fields of records; a trigger writes the owners.
  ...{ customers: 'ingest', transactions: 'ingest', activity: 'ingest', events: 'ingest' },
  customer_owners: 'ingest',
  // Its SQL is built for each kind of members.
  affiliate_passkeys: 'affiliates',
  // A trigger writes them.
  webhook_messages: 'webhooks',
  // The way in heeds them; `accounts` writes them.
  ...{ erasures: 'ingest', resets: 'ingest' },
  // Fraud rules and invoices heed them; `payouts` writes them.
  payees: 'fraud',
  // What is booked; `books` books it.
  ...{ closed_periods: 'ledger', open_affiliates: 'ledger' },
  ...{ payments: 'ledger', payment_returns: 'ledger' },
}

/** The tables above a room that its SQL names, and why. */
const UPWARD: Record<string, string> = {
  'books transfers': 'a payment names the batch of the transfer that made it',
  'ingest closed_periods': 'a record of a closed day is noted for the correction of its statements',
  'ingest plan_versions': 'only plans have closed periods',
  'ingest statements': 'an approved statement closes its period for its affiliate',
  'ledger transfers': 'what a transfer pays is not due',
  'platform links': 'whose affiliate is within the scope of a member, theirs are the links',
}

const roomRank = (room: string) => ROOMS.indexOf(room)

/** The files with SQL, each with its room and its text. */
const withSql = files
  .filter(([path]) => HAS_SQL.test(path))
  .map(([path, source]) => [directoryOf(path), withoutComments(source)] as const)

/** Returns the room of each table: the lowest one that inserts into it, unless `OWNERS` names it. */
const ownersOfTables = () => {
  const inserting = withSql.toSorted(([a], [b]) => roomRank(b) - roomRank(a))
  const inserted = inserting.flatMap(([room, source]) =>
    [...source.matchAll(/\binsert into (\w+)/g)].map(([, table]) => [table!, room] as const),
  )
  return { ...Object.fromEntries(inserted), ...OWNERS }
}

/** Returns the tables that SQL names, at the beginning of a fragment, too. */
const tablesOf = (source: string) =>
  [
    ...source.matchAll(
      /\b(?:from|join|into|update)\s+(\w+)|['"`](\w+)(?= (?:\w )?(?:where|indexed|not indexed|cross)\b)/g,
    ),
  ].map(([, first, second]) => first ?? second!)

/** Returns what the SQL of a room names of tables above it. */
const upwardOf = (room: string, source: string, owners: Record<string, string>) =>
  tablesOf(source)
    .filter((table) => roomRank(owners[table] ?? '') > roomRank(room))
    .map((table) => `${room} ${table}`)

test('SQL names only tables of its room and of rooms below, but for six', () => {
  const owners = ownersOfTables()
  const names = Object.values(tables).map((table) => table.name)
  expect(names.filter((name) => !(name in owners))).toEqual([])

  const upward = withSql.flatMap(([room, source]) => upwardOf(room, source, owners))
  expect([...new Set(upward)].toSorted()).toEqual(Object.keys(UPWARD))
  expect(Object.keys(UPWARD).length).toBeLessThanOrEqual(6)
})

test.each([
  ['platform', '`select 1 from customers`'],
  ['ingest', "'fraud_cases c where c.account = :account'"],
  ['attribution', '`update totals set held = 0`'],
  ['commission', '`from statements s cross join\n  transfers t`'],
])('the check refuses in the SQL of %s: %s', (room, source) => {
  expect(upwardOf(room, source, ownersOfTables())).toHaveLength(1)
})

test('a field without a column does not compile', () => {
  const schema = { ...shared.customer, colour: v.string() }
  // @ts-expect-error 'a field has no column'
  expect(defineResource(tables.customers, customers, schema)).toBeDefined()
})

test('error messages never quote any personal column of a partner', () => {
  expect([...PERSONAL_FIELDS].sort()).toEqual([...partnerCustomerTable.personalColumns].sort())
})

test('a field whose type differs from its column does not compile', () => {
  const schema = { ...shared.customer, lang_id: v.number() }
  // @ts-expect-error 'a field disagrees with its column'
  expect(defineResource(tables.customers, customers, schema)).toBeDefined()
})

test('every table of the migrations is STRICT and, unless its rows are long, WITHOUT ROWID', async () => {
  const { results } = await env.DB.prepare(
    "select name, sql from sqlite_schema where type = 'table' and name not like '\\_%' escape '\\'",
  ).all<{ name: string; sql: string }>()
  for (const { name, sql } of results) {
    const isLong = ['statements', 'statement_lines'].includes(name)
    expect(sql).toMatch(isLong ? /\) STRICT$/ : /\) STRICT, WITHOUT ROWID$/)
  }
})

test('both verticals have the same three resources in the same shape', () => {
  const shapeOf = ({ resources }: typeof forex) =>
    resources.map(({ name, key, hasItemRoute, groups }) => ({ name, key, hasItemRoute, groups }))

  expect(shapeOf(forex)).toEqual(shapeOf(propTrading))
  expect(forex.resources.map(({ name }) => name)).toEqual([
    'customers',
    'transactions',
    'trading-activity',
  ])
})

test('check constraints of the database refuse invalid rows', async () => {
  const insert = (values: string) =>
    env.DB.exec(
      `insert into transactions (account, transaction_id, customer_id, transaction_type, amount_currency, currency, transaction_date, status, day, held, delivery, idx, revision) values (${values})`,
    )
  const valid = "'a', 't', 'c', 'deposit', 1, 'EUR', 5, 'ok', 20727, 0, 'd', 0, 1"
  await insert(valid)
  for (const [from, to] of [
    ["'t'", "''"],
    ["'c'", "''"],
    ["'EUR'", "'EURO'"],
    ['20727', "'2026-10-01'"],
    ['20727', '1790812800000'],
    [', 0, ', ', 2, '],
    ['0, 1', '0, 0'],
    ['1, ', "'much', "],
  ] as const) {
    await expect(insert(valid.replace("'a'", "'b'").replace(from, to))).rejects.toThrow()
  }
})
