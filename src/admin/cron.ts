import { databaseOf } from '../db/database.ts'
import { allAccounts, bindingsOf } from '../db/directory/accounts.ts'
import { forgetOld } from '../db/records/retention.ts'
import { faultOf } from '../errors.ts'
import { idsFrom, KEPT_MS } from '../ingest/delivery-id.ts'
import { CRONS } from './crons.ts'
import { feedsOf, type NamesOf } from './feeds.ts'
import { pushAll } from './propagate.ts'

const PAGE = 100
const HOUR_MS = 3_600_000

/** Does what is due: tells live tokens of changes, forgets what is old, says which feeds are late. */
export async function scheduled(cron: string, env: Env, namesOf: NamesOf, now: number) {
  if (cron === CRONS.tell) return pushAll(env)
  if (cron === CRONS.forget) return retain(env, now)
  return reportLate(env, namesOf, now)
}

async function retain(env: Env, now: number): Promise<void> {
  const oldest = now - KEPT_MS
  const kept = {
    deliveries: idsFrom(oldest),
    clicks: new Date(oldest).toISOString().slice(0, 10),
    arrivals: Math.floor(oldest / HOUR_MS),
  }
  for (const binding of await bindingsOf(env.DB)) {
    await apart(binding, () => forgetOld(databaseOf(env, binding), kept))
  }
}

/** Does something with one database, so that one that is gone keeps the others not waiting. */
async function apart(binding: string, act: () => Promise<unknown>): Promise<void> {
  try {
    await act()
  } catch (error) {
    console.error(JSON.stringify({ fault: faultOf(error), binding }))
  }
}

/** One line in the log for each feed whose activity of yesterday did not come in time: to alarm on. */
async function reportLate(env: Env, namesOf: NamesOf, now: number): Promise<void> {
  for await (const page of allAccounts(env.DB, PAGE)) {
    for (const [binding, accounts] of Map.groupBy(page, (account) => account.binding)) {
      await apart(binding, async () => {
        for (const one of await feedsOf(env, accounts, namesOf, now)) warnOf(one)
      })
    }
  }
}

function warnOf({ account, feeds }: Awaited<ReturnType<typeof feedsOf>>[number]): void {
  for (const { resource, yesterday, last_delivery_at } of feeds) {
    if (yesterday !== 'late' && yesterday !== 'missing') continue
    console.warn(JSON.stringify({ late_feed: resource, account, yesterday, last_delivery_at }))
  }
}
