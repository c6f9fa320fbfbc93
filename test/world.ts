import { reset } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { OBJECTS_EMPTIED, takeObjects, usedObjects } from './objects.ts'

// What a test has stored in the databases, and an empty world for the next test.

/** What test files share that run in one process. */
const shared = globalThis as {
  /** The schema that the migrations make, as few statements as D1 accepts. */
  schema?: readonly string[]
  /** The query that describes a database, and its result for one that is migrated and empty. */
  overview?: { query: string; ofEmpty: Overview }
  /** The triggers that forbid deletions or follow insertions, by table. */
  triggers?: Map<string, Trigger[]>
  /** The databases that were used since the last empty world. */
  usedDatabases?: Set<D1Database>
  /** Whether an object was stored in a bucket since the last empty world. */
  isBucketUsed?: boolean
}

/** A trigger: the statements that drop and create it, and whether it forbids deletions. */
interface Trigger {
  drop: string
  create: string
  isGuard: boolean
}

/** The databases of the service. */
const databases = () => [env.DB, env.DB_2]

/** Records every use of a database. Returns the record. */
function recordUse() {
  const used = new Set(databases())
  const prototype = Object.getPrototypeOf(env.DB)
  for (const method of ['prepare', 'batch', 'exec', 'withSession']) {
    const original = prototype[method]
    prototype[method] = function (this: D1Database, ...args: unknown[]) {
      // An object has bindings of its own, which do not show which database they are.
      for (const db of databases().includes(this) ? [this] : databases()) used.add(db)
      return original.apply(this, args)
    }
  }
  return used
}
function recordBuckets() {
  const prototype = Object.getPrototypeOf(env.EXPORTS)
  for (const method of ['put', 'createMultipartUpload']) {
    const original = prototype[method]
    prototype[method] = function (this: R2Bucket, ...args: unknown[]) {
      shared.isBucketUsed = true
      return original.apply(this, args)
    }
  }
}
if (!shared.usedDatabases) recordBuckets()
shared.usedDatabases ??= recordUse()
const { usedDatabases } = shared

/** Whether a database was used since the last empty world. */
export const hasUsedDatabases = () => usedDatabases.size > 0

/** A database without its rows. */
interface Overview {
  /** The name of each table, index and trigger, with the length of its definition in place of the text. */
  schema: string
  /** The bytes of its file. */
  size: number
  /** The tables that have rows. */
  filled: string[]
}

/**
 * The free bytes that an empty database may keep in its file, so that it can be used again. A trigger
 * that is dropped and created again takes a page, and rows leave their pages.
 */
const MOST_FREE_BYTES = 65_536

const isEmpty = ({ schema, size, filled }: Overview) => {
  const { ofEmpty } = shared.overview!
  return filled.length === 0 && schema === ofEmpty.schema && size <= ofEmpty.size + MOST_FREE_BYTES
}

/** The characters of a statement: D1 accepts 100 KB. */
const MOST_CHARACTERS = 80_000

/** Applies the migrations to an empty database and returns its schema as few statements. */
async function migrate(db: D1Database): Promise<string[]> {
  await db.batch(env.MIGRATIONS.flatMap(({ queries }) => queries).map((sql) => db.prepare(sql)))
  const { results } = await db
    .prepare("select sql from sqlite_schema where sql is not null and name not glob '_cf*'")
    .all<{ sql: string }>()
  const parts = ['']
  for (const { sql } of results) {
    const last = parts.length - 1
    if (parts[last]!.length + sql.length > MOST_CHARACTERS) parts.push(sql)
    else parts[last] += `;\n${sql}`
  }
  return parts
}

/** Returns the names of all tables of a database. */
async function namesOfTables(db: D1Database): Promise<string[]> {
  const { results } = await db
    .prepare("select name from sqlite_schema where type = 'table' and name not glob '_cf*'")
    .all<{ name: string }>()
  return results.map(({ name }) => name)
}

function overviewIn({ results, meta }: D1Result): Overview {
  const { schema, ...has } = results[0] as Record<string, unknown>
  const filled = Object.keys(has).filter((table) => has[table] === 1)
  return { schema: String(schema), size: meta.size_after, filled }
}

/** Learns the query that describes a database, from one that is migrated and empty. */
async function learnOverview(db: D1Database) {
  const columns = (await namesOfTables(db)).map(
    (name) => `exists (select 1 from ${name}) as ${name}`,
  )
  const query = `select (
      select group_concat(name || length(sql), ',' order by name) from sqlite_schema
      where name not glob '_cf*'
    ) as schema, ${columns.join(', ')}`
  shared.overview = { query, ofEmpty: overviewIn(await db.prepare(query).all()) }
  const { results: triggers } = await db
    .prepare(
      `select name, tbl_name as "table", sql as "create", sql like '%before delete on%' as isGuard
       from sqlite_schema where type = 'trigger' and (sql like '%before delete on%' or sql like '%insert on%')`,
    )
    .all<{ name: string; table: string; create: string; isGuard: number }>()
  shared.triggers = Map.groupBy(
    triggers.map(({ name, table, create, isGuard }) => ({
      ...{ table, drop: `drop trigger ${name}`, create, isGuard: isGuard === 1 },
    })),
    ({ table }) => table,
  )
}

/** Returns the triggers of some tables that forbid deletions, or the others. */
const triggersOf = (tables: readonly string[], isGuard: boolean) =>
  tables
    .flatMap((table) => shared.triggers?.get(table) ?? [])
    .filter((trigger) => trigger.isGuard === isGuard)

async function create(db: D1Database, schema: readonly string[]) {
  for (const part of schema) await db.prepare(part).run()
}

/**
 * Deletes everything that is stored and creates the tables as a deployment does. The pool isolates
 * storage per file, not per test. Few statements that create the final schema take a third of the
 * time that the migrations take.
 */
export async function emptyWorld(): Promise<void> {
  for (;;) {
    await reset()
    usedObjects.clear()
    await emptyBucket()
    try {
      const { schema } = shared
      if (schema) await Promise.all(databases().map((db) => create(db, schema)))
      else [shared.schema = []] = await Promise.all(databases().map(migrate))
      if (!shared.overview) await learnOverview(env.DB)
      usedDatabases.clear()
      return
    } catch (error) {
      // Work that a test left running may have created a database after the reset.
      if (!/already exists/.test(String(error))) throw error
    }
  }
}

/** The content of a database. */
export interface Content {
  /** The rows of the tables that have some; none if they were not read. */
  tables: Record<string, unknown[]>
  /** Its overview; null if it lacks a table. */
  overview: Overview | null
}

/** Returns all rows of these tables. */
async function rowsOf(db: D1Database, tables: readonly string[]) {
  if (tables.length === 0) return {}
  const all = await db.batch(tables.map((name) => db.prepare(`select * from "${name}"`)))
  return Object.fromEntries(tables.map((name, i) => [name, all[i]!.results]))
}

async function contentOf(db: D1Database, hasRows: boolean): Promise<Content> {
  const answer =
    shared.overview &&
    (await db
      .prepare(shared.overview.query)
      .all()
      .catch(() => null))
  if (!answer) return { tables: await rowsOf(db, await namesOfTables(db)), overview: null }
  const overview = overviewIn(answer)
  return { tables: hasRows ? await rowsOf(db, overview.filled) : {}, overview }
}

/** Returns the content of the databases that were used since the last empty world, with or without rows. */
export const contentsOfDatabases = async (hasRows: boolean): Promise<Contents> =>
  new Map(
    await Promise.all(
      [...usedDatabases].map(
        async (db) => [db, await contentOf(db, hasRows)] as [D1Database, Content],
      ),
    ),
  )

/** The content of each database that is not empty. */
export type Contents = ReadonlyMap<D1Database, Content>

/** What was built in an empty world of this test file: what it has returned, and the rows that it left. */
const built = new Map<string, { result: string; contents: Contents }>()

/**
 * Builds something in an empty world once, and stores its rows again where another test needs it: that takes a tenth
 * of the time. It returns JSON, and leaves nothing elsewhere than in the databases.
 */
export async function builtOnce<T>(name: string, build: () => Promise<T>): Promise<T> {
  if (hasUsedDatabases()) return build()
  const known = built.get(name)
  if (known) {
    await Promise.all([...known.contents].map(([db, content]) => storeContent(db, content)))
    return JSON.parse(known.result)
  }
  const result = await build()
  built.set(name, { result: JSON.stringify(result), contents: await contentsOfDatabases(true) })
  return result
}

/** Stores rows as they were, without what triggers would do. */
async function storeContent(db: D1Database, { tables }: Content) {
  const triggers = triggersOf(Object.keys(tables), false)
  const insertions = Object.entries(tables).map(([table, rows]) => {
    const columns = Object.keys(rows[0] as object)
    const values = columns.map((column) => `value ->> '$.${column}'`)
    return db
      .prepare(`insert into ${table} (${columns}) select ${values} from json_each(?)`)
      .bind(JSON.stringify(rows))
  })
  await db.batch([
    ...triggers.map(({ drop }) => db.prepare(drop)),
    ...insertions,
    ...triggers.map(({ create }) => db.prepare(create)),
  ])
}

/** Deletes the rows of a database whose schema is that of an empty one, and its size nearly so. */
async function emptyDatabase(db: D1Database, { overview }: Content): Promise<boolean> {
  if (overview && isEmpty(overview)) return true
  if (!overview || !isEmpty({ ...overview, filled: [] })) return false
  // A table refers only to tables that were created before it.
  const guards = triggersOf(overview.filled, true)
  const deletions = [
    ...guards.map(({ drop }) => drop),
    ...overview.filled.toReversed().map((table) => `delete from ${table}`),
    ...guards.map(({ create }) => create),
  ]
  const answers = await db.batch(
    [...deletions, shared.overview!.query].map((sql) => db.prepare(sql)),
  )
  return isEmpty(overviewIn(answers.at(-1)!))
}

async function emptyBucket(): Promise<void> {
  if (!shared.isBucketUsed) return
  const { objects } = await env.EXPORTS.list()
  if (objects.length > 0) await env.EXPORTS.delete(objects.map(({ key }) => key))
  shared.isBucketUsed = false
}

/** Deletes everything that a test has stored, given what it left in the databases that it used. */
export async function leaveEmptyWorld(contents: Contents): Promise<void> {
  if (usedObjects.size > OBJECTS_EMPTIED) return emptyWorld()
  if (usedObjects.size > 0) await takeObjects()
  await emptyBucket()
  const emptied = await Promise.all(
    [...usedDatabases].map(async (db) =>
      emptyDatabase(db, contents.get(db) ?? (await contentOf(db, false))),
    ),
  )
  if (!emptied.every(Boolean)) await emptyWorld()
  usedDatabases.clear()
}
