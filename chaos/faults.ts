import { type ClientRequest, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { newSecret } from '../src/auth/secret.ts'
import { HOUR_MS } from '../src/durations.ts'
import { until } from './ask.ts'
import { deliver } from './lanes.ts'
import { AFFILIATE, newBrand } from './parties.ts'
import { failDatabases, runCron } from './service.ts'
import { execute } from './workerd.ts'
import { ACCOUNTS, asTeam, type Fault, isOver, OLD_MONTH, type World } from './world.ts'

const MIB = 1024 * 1024

/** Callers with invented tokens who send all but the end of a body, and brands who send theirs slowly. */
const SILENT = 40
const SLOW = 6
const SLOW_BYTES_PER_SECOND = 1.1 * MIB

/** How long a move may take, in milliseconds. */
const MOVE_SECONDS = 150

/** Kills workerd at random moments, and starts it again. */
async function kill(world: World, restart: () => Promise<void>): Promise<void> {
  while (!isOver(world)) {
    await wait(1000 + world.below(5000))
    if (!isOver(world)) await restart()
  }
}

/** Opens a request of events whose body has this length. */
function open({ url }: World, token: string, length: number): ClientRequest {
  const headers = { 'x-api-key': token, 'Content-Type': 'application/json' }
  const sent = request(new URL('/tracking/events/activities', url), {
    ...{ method: 'POST', agent: false, headers: { ...headers, 'Content-Length': length } },
  })
  sent.on('response', (response) => response.resume())
  sent.on('error', () => {}) // It is destroyed at the end.
  return sent
}

/** Lets some callers send nothing after the beginning, and others send slowly. */
async function slow(world: World): Promise<void> {
  const token = await newBrand(world, 'slow')
  const space = Buffer.alloc(SLOW_BYTES_PER_SECOND / 10, ' ')
  while (!isOver(world)) {
    await world.restarted
    const silent = Array.from({ length: SILENT }, () => open(world, newSecret('tbt', 'test'), MIB))
    for (const sent of silent) sent.write(Buffer.alloc(MIB - 4096, ' '))
    const slowly = Array.from({ length: SLOW }, () => open(world, token, 8 * MIB - 1024))
    for (let i = 0; i < 50 && !isOver(world); i++) {
      for (const sent of slowly) sent.write(space)
      await wait(100)
    }
    for (const sent of [...silent, ...slowly]) sent.destroy()
  }
}

/** Stores an old month, before the load begins. */
export async function storeOldMonth(world: World): Promise<void> {
  const lane = world.lanes.find(({ account }) => account === 'prop')!
  const customer_id = `${lane.name}-C-0`
  const joined = { signup_date: `${OLD_MONTH}-01T08:00:00.000Z`, tracking_data: 'click-42' }
  const record = { customer_id, affiliate_id: AFFILIATE, ...joined }
  const customers = [{ key: `customers ${customer_id}`, record, customer: null }]
  await deliver(world, lane, 'customers', customers, 'bulk')
  const paid = { customer_id, transaction_type: 'payout', currency: 'EUR', status: 'approved' }
  const transaction_date = `${OLD_MONTH}-15T09:30:00.000Z`
  const transactions = Array.from({ length: 60 }, (_, i) => ({
    key: `transactions old-${i}`,
    record: { ...paid, transaction_id: `old-${i}`, amount_currency: i, transaction_date },
    customer: customer_id,
  }))
  await deliver(world, lane, 'transactions', transactions, 'bulk')
}

const archives = async (world: World): Promise<{ month: string; state: string }[]> =>
  (await asTeam(world, 'prop', ['GET', '/archives?per_page=100'])).body.data

/** Moves an account from database to database, while its old month leaves for the archive. */
async function move(world: World): Promise<void> {
  const days = `from=${OLD_MONTH}-01&to=${OLD_MONTH}-31`
  await asTeam(world, 'prop', ['GET', `/totals?${days}`])
  const database = await world.service.miniflare.getD1Database(ACCOUNTS.prop)
  // Control totals must have been kept for some minutes.
  await execute({ database }, ['update day_totals set checked_at = checked_at - 3600000'])
  await asTeam(world, 'prop', ['POST', '/archives', { body: { month: OLD_MONTH } }], [202])
  await until(async () => (await archives(world)).length > 0)
  for (let moves = 1; moves === 1 || !isOver(world); moves++) {
    const body = { to: moves % 2 === 1 ? 'DB_4' : ACCOUNTS.prop, confirm: true }
    const begun = await asTeam(world, 'prop', ['POST', '/moves', { body }], [202])
    const isDone = async () => {
      const found = await asTeam(world, 'prop', ['GET', `/moves/${begun.body.move}`])
      if (found.body.status !== 'done' && found.body.ended_at !== null) throw found.body
      // After an hour a cron goes on with a Workflow that makes no steps.
      await runCron(world, 'propagate', Date.now() + HOUR_MS).catch(() => {})
      return found.body.status === 'done'
    }
    world.check(await until(isDone, MOVE_SECONDS), `the move to ${body.to} has not ended`)
    console.log(`The account prop moved to ${body.to}.`)
  }
  const isArchived = async () => (await archives(world)).every(({ state }) => state === 'archived')
  world.check(await until(isArchived, MOVE_SECONDS), `${OLD_MONTH} was not archived`)
}

/** Lets the database of an account fail for some seconds, again and again. */
async function database(world: World): Promise<void> {
  const { struck, faults } = world
  // A kill ends the failure, too.
  const fail = (names: readonly string[]) => failDatabases(world, names).catch(() => {})
  while (struck && !isOver(world)) {
    await wait(1000 + world.below(4000))
    await fail([ACCOUNTS[struck]])
    const answer = await world.admin('GET', `accounts/${struck}/deliveries`).catch(() => null)
    const isRefused = answer?.status === 503 || faults.has('kill')
    world.check(isRefused, `a read of a database that fails is answered ${answer?.status}`)
    await wait(2000 + world.below(4000))
    await world.restarted
    await fail([])
  }
}

/** Runs the faults of a world until the load is over. `restart` kills workerd and starts it again. */
export async function runFaults(world: World, restart: () => Promise<void>): Promise<void> {
  const faults: Partial<Record<Fault, (world: World) => Promise<void>>> = { slow, move, database }
  const running = [...world.faults].map((fault) => faults[fault]?.(world))
  if (world.faults.has('kill')) running.push(kill(world, restart))
  await Promise.all(running)
}
