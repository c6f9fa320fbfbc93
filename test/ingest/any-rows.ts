import { describeTables, type MovedTable } from '../../src/accounts/move/tables.ts'
import { withoutTriggers } from '../../src/accounts/move/write.ts'

// Rows with random values for every table of an account, of every type and form that its columns allow.

/** Texts, integers and numbers that are easily lost on the way. */
const TEXTS = [
  '',
  ' ',
  "it's",
  '"',
  '\\',
  'a\0b',
  '\n\u2028',
  '😀',
  'é',
  '\ufffd',
  '123',
  '1e3',
  'null',
  '[]',
]
const INTEGERS = ['0', '1', '-1', '9007199254740991', '9007199254740993', '-9223372036854775808']
const REALS = [
  0,
  1,
  -0.1,
  0.1 + 0.2,
  1e21,
  5e-324,
  1.7976931348623157e308,
  123456789.12345679,
  1 / 3,
]

/** A random number of at least 0 and below 1. */
export type Random = () => number

const pick = <T>(random: Random, list: readonly T[]): T =>
  list[Math.floor(random() * list.length)] as T

/** Returns a random value for a column, as its CHECK constraints allow. */
function anyValue(random: Random, name: string, type: string, sql: string): unknown {
  const has = (pattern: string) => new RegExp(pattern.replaceAll('$', name)).test(sql)
  const [, list] = new RegExp(`\\(${name} IN \\(([^)]*)\\)`).exec(sql) ?? []
  if (list) {
    // Another column may stand among the values.
    const values = list.split(',').filter((one) => /['\d]/.test(one))
    return pick(random, values).trim().replaceAll("'", '')
  }
  const [, length] = new RegExp(`length\\(${name}\\) (?:=|IN \\(0,) (\\d+)`).exec(sql) ?? []
  if (length)
    return Array.from({ length: Number(length) }, () => pick(random, [...'aé9"'])).join('')
  if (has("json_type\\($\\) = 'array'")) return JSON.stringify([pick(random, TEXTS)])
  if (has("json_type\\($\\) = 'object'|json_valid\\($\\)")) {
    return JSON.stringify({ text: pick(random, TEXTS) })
  }
  if (has("$ GLOB '\\?\\?\\?\\?-")) return `2026-0${1 + Math.floor(random() * 9)}-11`
  if (has("$ GLOB '-?\\[0-9\\]")) return `${Math.floor(random() * 1e6)}.25`
  if (type === 'INTEGER') {
    if (has('$ BETWEEN')) return Math.floor(random() * 40000)
    return has('$ (>= [012]|<?> 0)') ? 2 + Math.floor(random() * 1000) : pick(random, INTEGERS)
  }
  if (type === 'REAL') {
    const number = pick(random, REALS)
    return has('$ >= 0') ? Math.abs(number) : number
  }
  return `${pick(random, TEXTS)}${Math.floor(random() * 50)}`
}

/** A table with the SQL that creates it. */
export interface AnyTable extends MovedTable {
  readonly sql: string
}

/** Returns every table of accounts in a database. */
export async function anyTables(db: D1Database): Promise<AnyTable[]> {
  const { tables } = await describeTables(db)
  const { results } = await db
    .prepare("select name, sql from sqlite_schema where type = 'table'")
    .all<{ name: string; sql: string }>()
  const sqlOf = new Map(results.map(({ name, sql }) => [name, sql]))
  return tables.map((table) => ({ ...table, sql: sqlOf.get(table.name) ?? '' }))
}

/** Returns the statement that stores a random row of an account. */
function insertAny(db: D1Database, random: Random, table: AnyTable, account: string) {
  const row = Object.fromEntries(
    table.columns.map(({ name, type }) => [name, anyValue(random, name, type, table.sql)]),
  )
  row.account = account
  if (table.name === 'audit_log') row.id = `${account}-${row.id}`
  const names = Object.keys(row)
  const sql = `insert into ${table.name} (${names.map((one) => `"${one}"`).join()})
    values (${names.map((_, i) => `?${i + 1}`).join()}) on conflict do nothing`
  return db.prepare(sql).bind(...Object.values(row))
}

/** Stores random rows of every table for an account, past the triggers of the schema. */
export async function fillTables(
  db: D1Database,
  random: Random,
  account: string,
  each: number,
): Promise<void> {
  const all = (await anyTables(db)).flatMap((table) => {
    const list = Array.from({ length: each }, () => insertAny(db, random, table, account))
    return withoutTriggers(db, table, list)
  })
  await db.batch(all)
}

/** Returns every row of an account as text that has each byte. */
export async function bytesOf(
  db: D1Database,
  account: string,
  except: readonly string[] = [],
): Promise<Record<string, string[]>> {
  const tables = (await anyTables(db)).filter(({ name }) => !except.includes(name))
  const statements = tables.map(({ name, columns }) => {
    const values = columns.map(
      ({ name: column, type }) =>
        `typeof("${column}"), ${type === 'REAL' ? `printf('%!.26g', "${column}")` : `hex("${column}")`}`,
    )
    return db
      .prepare(`select json_array(${values.slice(0, 16).join()}) || json_array(${values.slice(16, 32).join()})
        || json_array(${values.slice(32).join()}) as bytes from ${name} where account = ?`)
      .bind(account)
  })
  const found = await db.batch<{ bytes: string }>(statements)
  return Object.fromEntries(
    tables.map(({ name }, i) => [name, found[i]!.results.map(({ bytes }) => bytes).sort()]),
  )
}
