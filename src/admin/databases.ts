import { Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { databaseBindings, jurisdictionOf, resolveDatabase } from '../db/database.ts'
import { countAccounts, putSizes, readSizes, type SizeSpan } from '../db/directory/databases.ts'
import { toDay } from '../db/records/arrivals.ts'
import { ALARM_SHARE, MAX_DATABASE_BYTES, PLANNED_BYTES } from '../db/records/storage-limits.ts'
import { withD1Retry } from '../db/retry.ts'
import { DAY_MS } from '../durations.ts'
import { readQuery } from '../http/query.ts'
import { raiseAlarm } from './alarms.ts'
import { logFailure } from './log-failure.ts'

/** The days whose growth a forecast continues, and the fewest of which it is made. */
const GROWTH_DAYS = 30
const LEAST_DAYS = 7

/** A database that grows so slowly that it is not full within these days has no day on which it is full. */
const FORESEEN_DAYS = 3650

/** How many days before the last database of a jurisdiction is full the team is told. */
const ALARM_DAYS = 30

/** When a database is full, as its growth of the last days tells. */
export interface Forecast {
  /** The bytes by which it grew, and in how many days; null before it was measured on seven days. */
  readonly growth_bytes: number | null
  readonly growth_days: number | null
  /** The day (UTC) on which it reaches 5 GB; null if none is in sight. */
  readonly full_on: string | null
  /** - `no_history`: it was not measured for seven days yet. `steady`: it does not fill up in ten years. */
  readonly forecast: 'no_history' | 'steady' | 'growing' | 'full'
}

/** Returns when a database is full that had these sizes. `today` is the number of days since 1970. */
export function forecastOf(sizes: SizeSpan | undefined, today: number): Forecast {
  const unknown = { growth_bytes: null, growth_days: null, full_on: null }
  if (!sizes) return { ...unknown, forecast: 'no_history' }
  const { first_day, first_bytes, last_day, last_bytes } = sizes
  const days = last_day - first_day
  const grown = last_bytes - first_bytes
  const isKnown = days >= LEAST_DAYS
  const growth = isKnown ? { growth_bytes: grown, growth_days: days } : unknown
  if (last_bytes >= PLANNED_BYTES) {
    return { ...unknown, ...growth, full_on: toDay(today), forecast: 'full' }
  }
  if (!isKnown) return { ...unknown, forecast: 'no_history' }
  const left = Math.floor(((PLANNED_BYTES - last_bytes) * days) / grown)
  if (grown <= 0 || left > FORESEEN_DAYS) {
    return { ...unknown, ...growth, full_on: null, forecast: 'steady' }
  }
  // What was not measured lately has gone on growing.
  const full_on = toDay(Math.max(today, last_day + left))
  return { ...unknown, ...growth, full_on, forecast: 'growing' }
}

/** A database, and when it is full. */
interface DatabaseState extends Forecast {
  readonly binding: string
  readonly jurisdiction: string | null
  readonly accounts: number
  /** The last measured size; null before the first measurement. */
  readonly bytes: number | null
}

/** Returns the databases of this deployment, in the order of its bindings, at `now` (milliseconds). */
async function readDatabases(env: Env, now: number): Promise<DatabaseState[]> {
  const today = Math.floor(now / DAY_MS)
  const [sizes, accounts] = await Promise.all([
    readSizes(env.DB, today - GROWTH_DAYS),
    countAccounts(env.DB),
  ])
  return databaseBindings(env).map((binding) => {
    const size = sizes.find((one) => one.binding === binding)
    return {
      binding,
      jurisdiction: jurisdictionOf(binding),
      accounts: accounts.get(binding) ?? 0,
      bytes: size?.last_bytes ?? null,
      ...forecastOf(size, today),
    }
  })
}

/** The databases of a jurisdiction, which take its new accounts. */
interface Pool {
  readonly jurisdiction: string | null
  readonly databases: number
  /** The day (UTC) on which the last of them is full; null if none is in sight. */
  readonly full_on: string | null
  /** Whether that is within 30 days. */
  readonly is_filling: boolean
}

/** Returns the pools of some databases. `DB` belongs to one only while it has no other database. */
export function poolsOf(databases: readonly DatabaseState[], now: number): Pool[] {
  const alarm = toDay(Math.floor(now / DAY_MS) + ALARM_DAYS)
  return [...Map.groupBy(databases, ({ jurisdiction }) => jurisdiction)].map(
    ([jurisdiction, all]) => {
      const shards = all.filter(({ binding }) => binding !== 'DB')
      const members = shards.length > 0 ? shards : all
      const days = members.map(({ full_on }) => full_on)
      const last = days.includes(null) ? null : (days.toSorted().at(-1) ?? null)
      const is_filling = last !== null && last <= alarm
      return { jurisdiction, databases: members.length, full_on: last, is_filling }
    },
  )
}

/** The route that shows how full the databases are. */
export const databases = new Hono<AppEnv>().get('/', async (c) => {
  readQuery(c.req.url)
  const now = Date.now()
  const data = await readDatabases(c.env, now)
  return c.json({ data, pools: poolsOf(data, now) })
})

/** Raises an alarm for each pool that is full within 30 days. */
export async function logFillingPools(env: Env, now: number): Promise<void> {
  for (const { jurisdiction, is_filling, full_on } of poolsOf(await readDatabases(env, now), now)) {
    if (!is_filling) continue
    const line = { pool_alarm: jurisdiction ?? 'none', full_on }
    await raiseAlarm(env, { type: 'pool_alarm', subject: line.pool_alarm }, line, now)
  }
}

/** Stores the size of each database, and logs those that have used much of it. */
export async function measureDatabases(env: Env, now: number): Promise<void> {
  const sizes: [binding: string, bytes: number][] = []
  await Promise.all(
    databaseBindings(env).map((binding) =>
      logFailure(binding, async () => {
        const db = resolveDatabase(env, binding)
        const { meta } = await withD1Retry(() => db.prepare('select 1').run())
        sizes.push([binding, meta.size_after])
      }),
    ),
  )
  for (const [binding, bytes] of sizes) {
    if (bytes < MAX_DATABASE_BYTES * ALARM_SHARE) continue
    const limit = MAX_DATABASE_BYTES
    const line = { storage_alarm: 'database', binding, bytes, limit } as const
    await raiseAlarm(env, { type: 'storage_alarm', subject: binding }, line, now)
  }
  await logFailure('DB', () => putSizes(env.DB, Math.floor(now / DAY_MS), sizes))
}

/**
 * Returns the database of a new account: the smallest of its jurisdiction. Those that were not measured yet come
 * last, because a new one has no tables before it is migrated. Without a database of the jurisdiction it is `DB`.
 */
export async function placeAccount(env: Env, jurisdiction: string | null): Promise<string> {
  const shards = databaseBindings(env).filter(
    (binding) => binding !== 'DB' && jurisdictionOf(binding) === jurisdiction,
  )
  if (shards.length === 0) return 'DB'
  const sizes = await readSizes(env.DB, 0)
  const measured = sizes
    .filter(({ binding }) => shards.includes(binding))
    .toSorted((a, b) => a.last_bytes - b.last_bytes)
  const unmeasured = jurisdiction === null ? 'DB' : (shards[0] ?? 'DB')
  return measured[0]?.binding ?? unmeasured
}
