import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import type { World } from './worlds.ts'

/** Whether a member is of the account. */
const OF_TEAM = `instr(accounts, '"' || ?1 || '"') > 0`

/** The condition of an account's rows, by table; for all others it is the column `account`. */
const CONDITIONS: Record<string, string> = {
  accounts: "id in (?1, ?1 || '-new')",
  // Of no account.
  database_sizes: '?1 is null',
  members: OF_TEAM,
  ...Object.fromEntries(
    ['member_invitations', 'member_passkeys', 'member_keys'].map((table) => [
      table,
      `member in (select id from members where ${OF_TEAM})`,
    ]),
  ),
}

/** What is compared of a table whose rows differ between runs: a run may cross an hour. */
const VIEWS: Record<string, string> = {
  arrivals: `(select account, resource, sum(received) as received, sum(rejected) as rejected,
    sum(not_stored) as not_stored from arrivals group by account, resource)`,
  // The queue changes since when an endpoint fails.
  webhook_endpoints: `(select account, id, affiliate_id, url, method, events, description, secrets,
      disabled, created_at
    from webhook_endpoints)`,
  // The queue sends them.
  outbox: `(select account, id, kind, cause, recipient, affiliate_id, except_actor, language, at, used_at
    from outbox)`,
  // Each account imports the rates of a day of its own: `firm-12-of-forex` those of day 12.
  fx_rates: `(select 'firm-' || day || '-of-forex' as account, rates, known_until
    from fx_rates)`,
}

/**
 * Tables that are not compared: queues change those of clicks, webhooks and exports, crons
 * those of postbacks.
 */
export const OMITTED = [
  ...['clicks', 'changed', 'webhook_messages'],
  ...['exports', 'export_runs', 'postback_progress'],
]

/** All tables that are compared. */
export const TABLES = env.MIGRATIONS.flatMap(({ queries }) => queries).flatMap((query) =>
  [...query.matchAll(/CREATE TABLE (\w+)/gi)].flatMap(([, name]) =>
    OMITTED.includes(name!) ? [] : [name!],
  ),
)

/** Tables with a row for each request, even if it changes nothing. */
export const LOGS = ['audit_log', 'deliveries', 'arrivals']

import { DAY_MS } from '../../src/platform/durations.ts'

/** Returns whether a time, in milliseconds, is that of a run. */
const isRecent = (time: number) => Math.abs(time - Date.now()) < DAY_MS

/** What differs between runs, and its replacement. */
const VARIES: [RegExp, string | ((text: string) => string)][] = [
  // Every request of a document has its own origin.
  [/(https:\/\/api\.example):\d+/g, '$1'],
  [/dlv_[\dA-Z]{26}/g, 'delivery'],
  [/run_[\dA-Z]{26}/g, 'run'],
  [/mov_[\dA-Z]{26}/g, 'move'],
  [/man_[\dA-Z]{26}/g, 'manual'],
  [/\b[BT][\dA-HJKMNP-TV-Z]{9}\b/g, 'transfer'],
  [/(qst|msg)_[\dA-Z]{26}/g, 'question'],
  [/ntc_[\da-f]{27}/g, 'notice'],
  // The share code of an affiliate.
  [/\b[\da-f]{16}\b/g, 'code'],
  [/note_[\dA-Z]{26}/g, 'note'],
  [/"[\dA-HJKMNP-TV-Z]{26}-v?\d{5}"/g, '"entry"'],
  [/"[\dA-HJKMNP-TV-Z]{26}"/g, '"line"'],
  [/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, 'uuid'],
  [/\b[\da-f]{64}\b/g, 'digest'],
  [/(whk|pbk)_[\dA-Za-z]{22}/g, 'webhook'],
  [/evt_[\da-f]{27}/g, 'event'],
  [/att_[\da-f]{27}/g, 'attempt'],
  [/whsec_[\w+/]{43}=/g, 'secret'],
  [/v1\.[\w-]{16}\.[\w-]+/g, 'sealed'],
  // The day of an account's exchange rates.
  [/\b197\d-\d\d-\d\d\b/g, 'day'],
  [/\b1[7-9]\d{11}\b/g, (time) => (isRecent(Number(time)) ? '0' : time)],
  [/"(hour|lag_seconds)":\d+/g, '"$1":0'],
  [/"attempt":\d/g, '"attempt":1'],
  // An invitation ends three days after it was made.
  [/(invitation)#\w+/g, '$1'],
  [/"(ends_at|invited_until)":(?:\d+|"[^"]+")/g, '"$1":0'],
  [/(\blink(?:_id)?\\*":\\*")[^"\\]+/g, '$1link'],
  [/\/go\/[\w-]{8}/g, '/go/link'],
  [/\bt[a-z]{2}_(?:test|live)_\w{49}/g, 'secret'],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'token'],
  [/\b2\d{3}-\d\d-\d\dT[\d:.]+Z?/g, (time) => (isRecent(Date.parse(time)) ? 'now' : time)],
]

/** Replaces what differs between runs and accounts. */
export const normalized = (text: string, { account }: World) =>
  VARIES.reduce(
    // TypeScript has one overload for a text, and one for a function.
    (result, [pattern, to]) =>
      typeof to === 'string' ? result.replaceAll(pattern, to) : result.replaceAll(pattern, to),
    text.replaceAll(account, 'firm'),
  )

/** D1 allows 32 arguments of a function, which are 16 columns of an object. */
const COLUMNS_PER_OBJECT = 16

/** Returns the query that reads an account's rows of a table as one JSON array. */
async function queryOf(table: string): Promise<string> {
  const source = VIEWS[table] ?? table
  const { columnNames } = await columnsOf(source)
  const parts = Math.ceil(columnNames.length / COLUMNS_PER_OBJECT)
  const objects = Array.from({ length: parts }, (_, i) => {
    const names = columnNames.slice(i * COLUMNS_PER_OBJECT, (i + 1) * COLUMNS_PER_OBJECT)
    return `json_object(${names.map((name) => `'${name}', "${name}"`).join(', ')})`
  })
  return `select json_group_array(json_array(${objects.join(', ')}))
    from ${source} where ${CONDITIONS[table] ?? "account in (?1, ?1 || '-new')"}`
}

/** Returns the names of the columns of a table or a subquery. */
async function columnsOf(source: string) {
  const [columnNames = []] = await env.DB.prepare(`select * from ${source} limit 0`).raw({
    columnNames: true,
  })
  return { columnNames }
}

let query: Promise<string> | undefined

/** Returns the query that reads an account's rows of all tables: one statement for each would take three times as long. */
const queryOfAll = () =>
  (query ??= Promise.all(TABLES.map(queryOf)).then(
    (queries) => `select ${queries.map((one, i) => `(${one}) as "${TABLES[i]}"`).join(', ')}`,
  ))

/** Returns an account's rows in a database as JSON, by table. */
async function rowsIn(db: D1Database, { account }: World) {
  const row = await db
    .prepare(await queryOfAll())
    .bind(account)
    .first<Record<string, string>>()
  return row!
}

/** A column that is never compared: the use of a key is noted after the response. */
const NOTED: Record<string, object> = { affiliate_keys: { last_used_on: null } }

/** Columns that each try raises, also one that is repeated. */
const RAISED: Record<string, object> = { ...NOTED, fraud_progress: { position: 0 } }

/** Columns that are not compared: a cron propagates a change to the objects. */
const PROPAGATED: Record<string, object> = {
  accounts: { version: 0, pushed: 0 },
  ...NOTED,
}

/** The lines of the rows of a world, by their JSON: few tables change from one reading to the next. */
const known = new WeakMap<World, Map<string, string[]>>()

/** Returns a line for each row of a table, without what differs between runs and without `ignored`. */
function linesOf(world: World, table: string, json: string, ignored: object = {}): string[] {
  if (json === '[]') return []
  const ofWorld = known.get(world) ?? new Map<string, string[]>()
  known.set(world, ofWorld)
  const key = `${table} ${JSON.stringify(ignored)} ${json}`
  const lines =
    ofWorld.get(key) ??
    JSON.parse(json).map((parts: object[]) =>
      normalized(JSON.stringify(Object.assign({ table }, ...parts, ignored)), world),
    )
  ofWorld.set(key, lines)
  return lines
}

/** Returns the rows of an account without what differs between runs; `lasting` leaves out the logs. */
export async function storedOf(world: World) {
  const databases = new Set([env.DB, env[world.binding]])
  const found = await Promise.all([...databases].map((db) => rowsIn(db, world)))
  const lines = (tables: readonly string[], ignored: Record<string, object>) =>
    tables
      .flatMap((table) =>
        found.flatMap((rows) => linesOf(world, table, rows[table]!, ignored[table])).sort(),
      )
      .join('\n')
  return {
    all: lines(TABLES, { ...PROPAGATED, ...RAISED }),
    lasting: lines(
      TABLES.filter((table) => !LOGS.includes(table)),
      RAISED,
    ),
  }
}

/** Returns the storage of an account's objects, all or some, without the use of its tokens. */
export async function rememberedBy(world: World, names = Object.keys(world.objects())) {
  const storage: Record<string, string> = {}
  for (const name of names) {
    const entries = await runInDurableObject(world.objects()[name]!, (_, { storage }) =>
      [...storage.kv.list()].filter(([key]) => key !== 'rate'),
    )
    storage[name] = normalized(JSON.stringify(entries), world)
  }
  return storage
}
