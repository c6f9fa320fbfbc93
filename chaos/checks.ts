import { cpSync, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { until } from './ask.ts'
import { checkRate, expectStatus } from './lanes.ts'
import { difference, isHeld, readTotals, totalsOf } from './ledger.ts'
import { asTeam, MONTHS, OLD_MONTH, type World } from './world.ts'

/** How long a click may wait in its queue, in milliseconds: alone, and if its database has failed. */
const QUEUED_MS = 8000
const RETRIED_MS = 45_000

/** The account and resource of each stored record that is not held, against the table of their numbers. */
const COUNTS = `
  select account, resource, sum(n) as n from (
    select account, 'customers' as resource, count(*) as n from customers group by 1
    union all select account, 'transactions', count(*) from transactions where held = 0 group by 1
    union all select account, 'activities', count(*) from events where held = 0 group by 1
    union all select account, resource, records from archived_months where state = 'archived'
    union all select account, resource, -total from totals
      where resource in ('customers', 'transactions', 'activities'))
  group by 1, 2 having sum(n) <> 0`

/**
 * Opens copies of all SQLite files of a state that no process uses. SQLite recovers them from their logs as
 * workerd will, and the originals stay. `isAtRest` compares the table of totals, too. Returns the number of files.
 */
export function checkFiles({ check }: World, state: string, isAtRest: boolean): number {
  const copy = `${state}-copy`
  cpSync(state, copy, { recursive: true, filter: (path) => !path.endsWith('-shm') })
  const files = readdirSync(copy, { recursive: true, encoding: 'utf8' })
  const stores = files.filter((path) => path.endsWith('.sqlite'))
  for (const path of stores) {
    const database = new DatabaseSync(join(copy, path))
    const all = (sql: string) => database.prepare(sql).all() as Record<string, unknown>[]
    const flaws = all('pragma integrity_check').filter((one) => one.integrity_check !== 'ok')
    const isOurs = all(`select 1 from sqlite_master where name = 'deliveries'`).length > 0
    if (isOurs && isAtRest) flaws.push(...all(COUNTS))
    database.close()
    check(flaws.length === 0, `${basename(path)}: ${JSON.stringify(flaws)}`)
  }
  rmSync(copy, { recursive: true })
  return stores.length
}

/** Checks that what each lane has stored is there once: the control totals, and what waits for its customer. */
async function checkTotals(world: World): Promise<number> {
  let records = 0
  for (const account of ['prop', 'forex', 'brand'] as const) {
    const get = async (path: string) => (await asTeam(world, account, ['GET', path])).body
    const lanes = world.lanes.filter((lane) => lane.account === account)
    const ledgers = lanes.map(({ ledger }) => ledger)
    const stored = ledgers.flatMap((one) => [...one.records.values()].map((r) => isHeld(one, r)))
    records += stored.length
    const held = stored.filter(Boolean).length
    const isReleased = async () => (await get('/held?per_page=1')).meta.total === held
    world.check(await until(isReleased, 120), `${account} does not hold ${held} records`)
    const old = await get(`/totals?from=${OLD_MONTH}-01&to=${OLD_MONTH}-31`)
    const own = await get(`/totals?from=${MONTHS[0]}-01&to=${dayText(Date.now())}`)
    const problem = difference(totalsOf(ledgers), readTotals([...old.data, ...own.data]))
    world.check(problem === '', `control totals of ${account}: ${problem}`)
  }
  return records
}

const dayText = (ms: number) => new Date(ms).toISOString().slice(0, 'YYYY-MM-DD'.length)

/** Checks that tokens are live or revoked as before, and that no request was forgotten or counted twice. */
async function checkTokens(world: World): Promise<void> {
  for (const lane of world.lanes) {
    checkRate(world, lane, await expectStatus(world, lane, 200, ['GET', 'account']))
    for (const ask of lane.revoked)
      await expectStatus(world, { ...lane, ask }, 401, ['GET', 'account'])
  }
}

/** Checks that answered clicks are stored once. A kill may lose those that were still in their queue. */
async function checkClicks(world: World): Promise<number> {
  const clicks = world.lanes.flatMap((lane) => lane.clicks)
  const waits = world.faults.has('database') ? RETRIED_MS : QUEUED_MS
  const isSafe = ({ at }: { at: number }) =>
    world.kills.every((kill) => kill < at || kill > at + waits)
  const least = clicks.filter((one) => one.isAnswered && isSafe(one)).length
  const path = `/clicks?from=${dayText(world.begins)}&to=${dayText(Date.now())}`
  const stored = async () => {
    const found = await Promise.all(
      (['prop', 'forex'] as const).map((account) => asTeam(world, account, ['GET', path])),
    )
    const groups: { clicks: number }[] = found.flatMap(({ body }) => body.data)
    return groups.reduce((sum, one) => sum + one.clicks, 0)
  }
  await until(async () => (await stored()) >= least, RETRIED_MS / 1000 + 30)
  const count = await stored()
  world.check(
    count >= least && count <= clicks.length,
    `${count} clicks are stored, not ${least} to ${clicks.length}`,
  )
  return count
}

/** Checks what must hold whatever has gone wrong. */
export async function checkWorld(world: World): Promise<string> {
  const records = await checkTotals(world)
  await checkTokens(world)
  return `${records} records, ${await checkClicks(world)} clicks`
}
