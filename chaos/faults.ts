import { type ClientRequest, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { newSecret } from '../src/platform/auth/secret.ts'
import { until } from './ask.ts'
import { newBrand } from './parties.ts'
import { failDatabases, runCron } from './service.ts'
import { DATABASES_OF, type Fault, isOver, teamOf, type World } from './world.ts'

const MIB = 1024 * 1024

/** Callers with invented tokens who send all but the end of a body, and brands who send theirs slowly. */
const SILENT = 40
const SLOW = 6
const SLOW_BYTES_PER_SECOND = 1.1 * MIB

/** How often a slow sender sends a piece, and how long it goes on, in milliseconds. */
const PIECE_MS = 100
const SLOW_MS = 5000

/** How long a move may take, in seconds. */
const MOVE_SECONDS = 150

type Restart = () => Promise<void>

/** Kills workerd at random moments, each time within 3.5 seconds, and starts it again. */
async function kill(world: World, restart: Restart): Promise<void> {
  while (!isOver(world)) {
    await wait(1000 + world.below(2500))
    if (!isOver(world)) await restart()
  }
}

/** Opens a request of events whose body has this length. */
function open({ url }: Pick<World, 'url'>, token: string, length: number): ClientRequest {
  const headers = { 'x-api-key': token, 'Content-Type': 'application/json' }
  const sent = request(new URL('/tracking/events/activities', url), {
    ...{ method: 'POST', agent: false, headers: { ...headers, 'Content-Length': length } },
  })
  sent.on('response', (response) => response.resume())
  sent.on('error', () => {}) // It is destroyed at the end.
  return sent
}

/** Lets some callers send nothing after the beginning, and others send slowly, under a Brand Token, for five seconds. */
export async function sendSlowly(at: Pick<World, 'url'>, token: string): Promise<void> {
  const space = Buffer.alloc((SLOW_BYTES_PER_SECOND * PIECE_MS) / 1000, ' ')
  const silent = Array.from({ length: SILENT }, () => open(at, newSecret('tbt', 'test'), MIB))
  for (const sent of silent) sent.write(Buffer.alloc(MIB - 4096, ' '))
  const slowly = Array.from({ length: SLOW }, () => open(at, token, 8 * MIB - 1024))
  for (const end = Date.now() + SLOW_MS; Date.now() < end; await wait(PIECE_MS)) {
    for (const sent of slowly) sent.write(space)
  }
  for (const sent of [...silent, ...slowly]) sent.destroy()
}

async function slow(world: World): Promise<void> {
  const token = await newBrand(world, 'slow')
  while (!isOver(world)) {
    await world.restarted
    await sendSlowly(world, token)
  }
}

/** Moves the firm from database to database. */
async function move(world: World): Promise<void> {
  const team = teamOf(world, 'firm')
  let done = 0
  do {
    // A move that has failed leaves the firm where it was.
    const to = DATABASES_OF.firm[(done + 1) % 2]
    let begun: { move: string; status: string; reason: string | null; ended_at: string | null }
    // It is refused while a run goes on.
    const isBegun = async () => {
      const body = { to }
      const answer = await world.admin('POST', 'accounts/firm/moves', { body }).catch(() => null)
      begun = answer?.body
      return answer?.status === 202
    }
    const isDone = async () => {
      await runCron(world, 'propagate', Date.now()).catch(() => {})
      const { data } = await team('GET', 'moves')
      begun = data.find((one: { move: string }) => one.move === begun.move)
      return begun.ended_at !== null
    }
    world.check(await until(isBegun, MOVE_SECONDS), `no move to ${to} has begun`)
    world.check(await until(isDone, MOVE_SECONDS), `the move to ${to} has not ended`)
    const { status, reason } = begun!
    // A step may have met a database that fails.
    const isRight = status === 'done' || world.faults.has('database')
    world.check(isRight, `the move to ${to} is ${status}: ${reason}`)
    if (status === 'done') done += 1
    console.log(`The move of the firm to ${to} is ${status}.`)
  } while (!isOver(world))
}

/** Lets the databases of the firm fail for some seconds, again and again. */
async function database(world: World): Promise<void> {
  // A kill ends the failure, too.
  const fail = (names: readonly string[]) => failDatabases(world, names).catch(() => {})
  while (!isOver(world)) {
    await wait(1000 + world.below(4000))
    await fail(DATABASES_OF.firm)
    const answer = await world.admin('GET', 'accounts/firm/deliveries').catch(() => null)
    const isRefused = answer?.status === 503 || world.faults.has('kill')
    world.check(isRefused, `a read of a database that fails is answered ${answer?.status}`)
    await wait(2000 + world.below(4000))
    await world.restarted
    await fail([])
  }
}

/** Runs the faults of a world until the load is over. `restart` kills workerd and starts it again. */
export async function runFaults(world: World, restart: Restart): Promise<void> {
  type Run = (world: World, restart: Restart) => Promise<void>
  const faults: Partial<Record<Fault, Run>> = { kill, slow, move, database }
  await Promise.all([...world.faults].map((fault) => faults[fault]?.(world, restart)))
}
