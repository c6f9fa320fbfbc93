import { resolveDatabase } from '../db/database.ts'
import { accountPages } from '../db/directory/accounts.ts'
import { measureUsage, readUsages, rollUpUsages, type Usage } from '../db/records/storage.ts'
import { ALARM_SHARE, MAX_DATABASE_BYTES } from '../db/records/storage-limits.ts'
import type { Account } from '../db/schema.ts'
import { DAY_MS } from '../durations.ts'
import { logFailure } from './log-failure.ts'

const PAGE = 100

/** An account is measured from this share of its quota on: counts alone err upward. */
const MEASURED_SHARE = 0.5

/** A measurement is repeated when the counts grow by this share of the quota, and every day. */
const GROWN_SHARE = 0.05

/** The statements of one run, and those for one account; the next run goes on. */
const STEPS_PER_RUN = 600
const STEPS_PER_ACCOUNT = 200

interface StoredAccount extends Usage {
  binding: string
  quota: number
}

/**
 * Tracks storage per account: adds what it wrote in past hours, measures accounts that
 * may be near their quota, and logs accounts and databases that fill up.
 */
export async function maintainStorage(env: Env, now: number): Promise<void> {
  const candidates: StoredAccount[] = []
  const sizes = new Map<string, number>()
  for await (const page of accountPages(env.DB, PAGE)) {
    for (const [binding, accounts] of Map.groupBy(page, (account) => account.binding)) {
      await logFailure(binding, async () => {
        const { stored, size } = await rollUp(env, binding, accounts, now)
        sizes.set(binding, size)
        for (const account of stored) {
          if (needsMeasurement(account, now)) candidates.push(account)
          else logFullAccount(account)
        }
      })
    }
  }
  for (const [binding, bytes] of sizes) logFullDatabase(binding, bytes)
  await measure(env, candidates, now)
}

async function rollUp(env: Env, binding: string, accounts: readonly Account[], now: number) {
  const ids = accounts.map(({ id }) => id)
  const { usages, size } = await rollUpUsages(resolveDatabase(env, binding), ids, now)
  const quotas = new Map(accounts.map(({ id, storage_quota }) => [id, storage_quota]))
  const stored = usages.map((usage) => ({
    ...usage,
    binding,
    quota: quotas.get(usage.account) ?? 0,
  }))
  return { stored, size }
}

/** Returns whether a measurement is due, or one that was begun is not complete. */
function needsMeasurement(stored: StoredAccount, now: number): boolean {
  const { bytes, quota, measured_at, measured_bytes, measuring } = stored
  if (measuring !== null) return true
  if (bytes < quota * MEASURED_SHARE) return false
  if (measured_at === null || now - measured_at >= DAY_MS) return true
  return bytes - (measured_bytes ?? 0) >= quota * GROWN_SHARE
}

/** Measures accounts in bounded steps, those first that were never measured or a long time ago. */
async function measure(env: Env, candidates: StoredAccount[], now: number): Promise<void> {
  let steps = STEPS_PER_RUN
  const inOrder = candidates.toSorted((a, b) => (a.measured_at ?? 0) - (b.measured_at ?? 0))
  for (const account of inOrder) {
    if (steps <= 0) return
    await logFailure(account.binding, async () => {
      const db = resolveDatabase(env, account.binding)
      steps -= await measureUsage(db, account, now, Math.min(steps, STEPS_PER_ACCOUNT))
      const [usage] = await readUsages(db, [account.account])
      logFullAccount({ ...account, ...usage })
    })
  }
}

/** Logs an account that stores much of its quota; an alarm can watch for these lines. */
function logFullAccount({ account, binding, bytes, quota }: StoredAccount): void {
  if (bytes < quota * ALARM_SHARE) return
  console.warn(JSON.stringify({ storage_alarm: 'account', account, binding, bytes, quota }))
}

function logFullDatabase(binding: string, bytes: number): void {
  if (bytes < MAX_DATABASE_BYTES * ALARM_SHARE) return
  const limit = MAX_DATABASE_BYTES
  console.warn(JSON.stringify({ storage_alarm: 'database', binding, bytes, limit }))
}
