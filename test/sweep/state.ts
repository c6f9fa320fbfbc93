import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import type { World } from './worlds.ts'

/** The condition of an account's rows, by table; for all others it is the column `account`. */
const CONDITIONS: Record<string, string> = {
  accounts: "id in (?1, ?1 || '-new')",
  client_secrets: 'client_id in (select client_id from clients where account = ?1)',
}

/** The query of a table whose rows differ between runs: a run may cross an hour between two deliveries. */
const QUERIES: Record<string, string> = {
  arrivals: `select account, resource, sum(deliveries) as deliveries, sum(received) as received,
      sum(refused) as refused, max(yesterday) as yesterday, max(today) as today
    from arrivals where account in (?1, ?1 || '-new') group by account, resource`,
}

/** Tables that are not compared: the queue fills the first, and reads keep totals in the others. */
const OMITTED = ['clicks', 'day_totals', 'totals_leases']

/** All tables that are compared. */
export const TABLES = env.MIGRATIONS.flatMap(({ queries }) => queries).flatMap((query) =>
  [...query.matchAll(/CREATE TABLE (\w+)/gi)].flatMap(([, name]) =>
    OMITTED.includes(name!) ? [] : [name!],
  ),
)

/** Tables with a row for each request, even if it changes nothing. */
const LOGS = ['audit_log', 'deliveries', 'arrivals']

import { DAY_MS } from '../../src/durations.ts'

/** Returns whether a time, in milliseconds, is that of a run. */
const isRecent = (time: number) => Math.abs(time - Date.now()) < DAY_MS

/** What differs between runs, and its replacement. */
const VARIES: [RegExp, string | ((text: string) => string)][] = [
  // Every request of a document has its own origin.
  [/(https:\/\/api\.example):\d+/g, '$1'],
  [/dlv_[\dA-Z]{26}/g, 'delivery'],
  [/"[\dA-HJKMNP-TV-Z]{26}"/g, '"line"'],
  [/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, 'uuid'],
  [/\b[\da-f]{64}\b/g, 'digest'],
  [/\b1[7-9]\d{11}\b/g, (time) => (isRecent(Number(time)) ? '0' : time)],
  [/"(hour|lag_seconds)":\d+/g, '"$1":0'],
  [/"attempt":\d/g, '"attempt":1'],
  [/(\blink(?:_id)?\\*":\\*")[^"\\]+/g, '$1link'],
  [new RegExp(`${new Date().toISOString().slice(0, 10)}T[\\d:.]+Z`, 'g'), 'now'],
]

/** Replaces what differs between runs and accounts. */
export const normalized = (text: string, { account }: World) =>
  VARIES.reduce(
    // TypeScript has one overload for a text, and one for a function.
    (result, [pattern, to]) =>
      typeof to === 'string' ? result.replaceAll(pattern, to) : result.replaceAll(pattern, to),
    text.replaceAll(account, 'firm'),
  )

/** Returns the rows of an account without what differs between runs; `lasting` leaves out the logs. */
export async function storedOf(world: World) {
  const databases = new Set([env.DB, env[world.binding]])
  const found = await Promise.all(
    [...databases].map((db) =>
      db.batch<Record<string, unknown>>(
        TABLES.map((table) =>
          db
            .prepare(
              QUERIES[table] ??
                `select * from ${table} where ${CONDITIONS[table] ?? "account in (?1, ?1 || '-new')"}`,
            )
            .bind(world.account),
        ),
      ),
    ),
  )
  const lines = (keep: (table: string) => boolean, ignored: Record<string, object>) =>
    TABLES.filter(keep)
      .flatMap((table) => {
        const results = found.flatMap((tables) => tables[TABLES.indexOf(table)]!.results)
        const masked = ignored[table] ?? {}
        return results
          .map((row) => normalized(JSON.stringify({ table, ...row, ...masked }), world))
          .sort()
      })
      .join('\n')
  return {
    // Whether a change has reached the objects is not compared: a cron propagates it.
    all: lines(() => true, {
      accounts: { version: 0, pushed: 0 },
      clients: { closed: 0 },
      brand_tokens: { closed: 0 },
    }),
    lasting: lines((table) => !LOGS.includes(table), {}),
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
