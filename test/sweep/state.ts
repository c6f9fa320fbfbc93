import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import type { World } from './worlds.ts'

/** Whose a row is, by table; of all others the column `account`. */
const OWN: Record<string, string> = {
  accounts: "id in (?1, ?1 || '-new')",
  client_secrets: 'client_id in (select client_id from clients where account = ?1)',
}

/** All tables of our migrations, but that of clicks: the queue fills it when it likes. */
export const TABLES = env.MIGRATIONS.flatMap(({ queries }) => queries).flatMap((query) =>
  [...query.matchAll(/CREATE TABLE (\w+)/gi)].flatMap(([, name]) =>
    name === 'clicks' ? [] : [name!],
  ),
)

/** Tables that have a line for each request, whatever it changes. */
const LOGS = ['audit_log', 'deliveries', 'arrivals']

/** What differs from one run to the next, and what stands in its place. */
const VARIES: [RegExp, string][] = [
  // Documents are made once for each origin: every request of theirs has its own.
  [/(https:\/\/api\.example):\d+/g, '$1'],
  [/dlv_[\dA-Z]{26}/g, 'delivery'],
  [/"[\dA-HJKMNP-TV-Z]{26}"/g, '"line"'],
  [/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, 'uuid'],
  [/\b[\da-f]{64}\b/g, 'digest'],
  [/\b1[7-9]\d{11}\b/g, '0'],
  [/"(hour|lag_seconds)":\d+/g, '"$1":0'],
  [/"attempt":\d/g, '"attempt":1'],
  [/(\blink(?:_id)?\\*":\\*")[^"\\]+/g, '$1link'],
  [new RegExp(`${new Date().toISOString().slice(0, 10)}T[\\d:.]+Z`, 'g'), 'now'],
]

/** The same, whenever it was made, and for whom. */
export const shown = (text: string, { account }: World) =>
  VARIES.reduce(
    (said, [pattern, constant]) => said.replaceAll(pattern, constant),
    text.replaceAll(account, 'firm'),
  )

/** What the databases say of an account, as far as it says the same each time; without its logs too. */
export async function storedOf(world: World) {
  const databases = new Set([env.DB, env[world.binding]])
  const found = await Promise.all(
    [...databases].map((db) =>
      db.batch<Record<string, unknown>>(
        TABLES.map((table) =>
          db
            .prepare(
              `select * from ${table} where ${OWN[table] ?? "account in (?1, ?1 || '-new')"}`,
            )
            .bind(world.account),
        ),
      ),
    ),
  )
  const lines = (keep: (table: string) => boolean, ignored: Record<string, object>) =>
    TABLES.filter(keep)
      .flatMap((table) => {
        const results = found.flatMap((one) => one[TABLES.indexOf(table)]!.results)
        const masked = ignored[table] ?? {}
        return results
          .map((row) => shown(JSON.stringify({ table, ...row, ...masked }), world))
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

/** What objects of an account hold, all or those that are named; when its tokens were used is no part of it. */
export async function rememberedBy(world: World, names = Object.keys(world.objects())) {
  const said: Record<string, string> = {}
  for (const name of names) {
    const kept = await runInDurableObject(world.objects()[name]!, (_, { storage }) =>
      [...storage.kv.list()].filter(([key]) => key !== 'rate'),
    )
    said[name] = shown(JSON.stringify(kept), world)
  }
  return said
}
