import { readdirSync, readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** An empty database with all migrations, and the names of its tables. */
function migratedDatabase() {
  const database = new DatabaseSync(':memory:')
  for (const file of readdirSync('migrations').sort()) {
    database.exec(readFileSync(`migrations/${file}`, 'utf8'))
  }
  const rows = database.prepare("select name from sqlite_schema where type = 'table'").all()
  return { database, tables: rows.map(({ name }) => String(name)) }
}

const { database, tables } = migratedDatabase()

/** Returns the steps of a statement's query plan, indented by their depth. */
export function queryPlan(sql: string): string[] {
  const depths = new Map<number, number>([[0, -1]])
  return database
    .prepare(`explain query plan ${sql}`)
    .all()
    .map(({ id, parent, detail }) => {
      const depth = (depths.get(Number(parent)) ?? -1) + 1
      depths.set(Number(id), depth)
      return `${'  '.repeat(depth)}${detail}`
    })
}

/** Tables with a row for each account that moves to another database: a scan reads hardly anything. */
const SMALL = ['doors']

/**
 * Returns what is wrong with a plan: it scans a table, builds an index of its own, or uses an index
 * that the statement is not meant to use. A search by the record's key is always allowed, a scan of it
 * is not: it reads the records of all accounts.
 */
export function planFaults(
  sql: string,
  plan: readonly string[],
  indexes: readonly string[],
): string[] {
  return plan.flatMap((step) => {
    const [, verb, name = '', rest = ''] = /^\s*(SCAN|SEARCH) (\S+)(.*)$/.exec(step) ?? []
    const [, index] = /USING (?:COVERING )?INDEX (\S+)/.exec(rest) ?? []
    if (/AUTOMATIC/.test(rest)) return [`builds an index: ${step.trim()}`]
    const isMeant = index !== undefined && indexes.includes(index)
    if (index && !isMeant && !index.endsWith('_key')) return [`uses another index: ${step.trim()}`]
    if (verb === 'SCAN' && SMALL.includes(name)) return []
    if (verb === 'SCAN' && !isMeant && isTable(sql, name)) return [`scans a table: ${step.trim()}`]
    return []
  })
}

/** Whether a name in a plan stands for a table: by itself, or as an alias. */
const isTable = (sql: string, name: string) =>
  tables.includes(name) ||
  tables.some((table) => new RegExp(`\\b${table}"? (?:as )?"?${name}\\b`, 'i').test(sql))
