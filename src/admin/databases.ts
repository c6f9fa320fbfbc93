import * as v from 'valibot'
import { databaseBindings, jurisdictionOf, resolveDatabase } from '../db/database.ts'
import { countAccounts, putSizes, readSizes, type SizeSpan } from '../db/directory/databases.ts'
import { toDay } from '../db/records/arrivals.ts'
import { ALARM_SHARE, MAX_DATABASE_BYTES, PLANNED_BYTES } from '../db/records/storage-limits.ts'
import { withD1Retry } from '../db/retry.ts'
import { DAY_MS } from '../durations.ts'
import { teamOperation } from '../http/operation.ts'
import { count, day } from '../validation/answer-fields.ts'
import { described, named } from '../validation/described.ts'
import { member } from '../validation/fields.ts'
import { raiseAlarm } from './alarms.ts'
import { logFailure } from './log-failure.ts'

/** The days whose growth a forecast continues, and the fewest of which it is made. */
const GROWTH_DAYS = 30
const LEAST_DAYS = 7

/** A database that grows so slowly that it is not full within these days has no day on which it is full. */
const FORESEEN_DAYS = 3650

/** How many days before the last database of a jurisdiction is full the team is told. */
const ALARM_DAYS = 30

const forecast = described(() => ({
  growth_bytes: v.nullable(
    member(
      v.pipe(v.number(), v.integer()),
      'By how much it grew in `growth_days`. Null before it was measured for seven days.',
    ),
  ),
  growth_days: v.nullable(
    member(count, 'The days of which the growth is known, at most 30. Null before seven.'),
  ),
  full_on: v.nullable(
    member(
      day,
      'The day (UTC) on which it reaches 5 GB if it goes on growing so. Null if none is in sight.',
    ),
  ),
  forecast: member(
    v.picklist(['no_history', 'steady', 'growing', 'full']),
    '`no_history`: it was not measured for seven days, so nothing is known. `steady`: it does not reach 5 GB within ten years. `growing`: on `full_on`. `full`: it has 5 GB.',
  ),
}))

const database = described(() =>
  named(
    'Database',
    v.object({
      binding: member(v.string(), 'The name of its binding.'),
      jurisdiction: v.nullable(
        member(
          v.string(),
          'Where its data stays, which the name of the binding has. Null if it is not restricted.',
        ),
      ),
      accounts: member(count, 'The number of accounts whose records it has.'),
      bytes: v.nullable(
        member(count, 'Its size, measured every 10 minutes. Null before the first measurement.'),
      ),
      ...forecast,
    }),
  ),
)

const pool = described(() =>
  named(
    'DatabasePool',
    v.object({
      jurisdiction: v.nullable(
        member(v.string(), 'The jurisdiction. Null for databases that are not restricted.'),
      ),
      databases: member(
        count,
        'The number of its databases that take new accounts: `DB` only while there is no other one.',
      ),
      full_on: v.nullable(
        member(
          day,
          'The day (UTC) on which the last of them reaches 5 GB. Null if none is in sight.',
        ),
      ),
      is_filling: member(v.boolean(), 'Whether that day is within 30 days.'),
    }),
  ),
)

type Forecast = v.InferOutput<v.ObjectSchema<typeof forecast, undefined>>
type DatabaseState = v.InferOutput<typeof database>
type Pool = v.InferOutput<typeof pool>

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

export const listDatabases = teamOperation({
  id: 'listDatabases',
  topic: 'monitoring',
  method: 'GET',
  path: '/databases',
  role: 'viewer',
  words: described(() => ({
    description:
      'Lists the databases of the deployment: how many accounts each has, how full it is, and when it will have 5 GB. `pools` says the same of the databases of each jurisdiction.',
    answer: v.object({ data: v.array(database), pools: v.array(pool) }),
  })),
  async run({ env }) {
    const now = Date.now()
    const data = await readDatabases(env, now)
    return { data, pools: poolsOf(data, now) }
  },
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
