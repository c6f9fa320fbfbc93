import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { exitWithUsageError, parseCommand, wholeNumber } from '../scripts/command-line.ts'
import { fractions } from '../scripts/dev/fractions.ts'
import { startReceiver } from '../test-node/receiver.ts'
import { keepBooks, prepareHooks } from './books.ts'
import { checkFiles, checkWorld } from './checks.ts'
import { runFaults } from './faults.ts'
import { EMAIL, newLanes, runLane } from './load.ts'
import { runPairs } from './pairs.ts'
import { migrate, newHome, newSecrets, runCron, serve } from './service.ts'
import { FAULTS, type Fault, type World } from './world.ts'

/** How many faults are drawn at once if none is named. */
const DRAWN = 3

/** The time between two crons: their clock, after which what was interrupted is due, and ours, in milliseconds. */
const CRON_MS = 900_000
const PAUSE_MS = 8000

/** How often a broken promise is printed at most. */
const PRINTED = 20

/** Loads the service while faults happen, and checks what is left. Returns the number of broken promises. */
async function run(faults: readonly Fault[], options: Record<string, number>): Promise<number> {
  const { seconds = 60, lanes = 3, seed = 0 } = options
  const { folder, script, end } = await newHome()
  const [state, secrets, receiver] = [join(folder, 's'), await newSecrets(), await startReceiver()]
  const random = fractions(seed)
  const sensitive = new Set<string>([...Object.values(secrets), EMAIL])
  let broken = 0
  const check: World['check'] = (isKept, message) => {
    if (!isKept && ++broken <= PRINTED) console.log(`BROKEN: ${message}`)
  }
  const log = (line: string) => {
    const leaked = [...sensitive].some((one) => line.includes(one))
    check(!leaked, `the log has a secret or a personal value: ${line.slice(0, 300)}`)
  }
  const serving = { script, state, secrets, log, isLimited: faults.includes('heap') }
  const world: World = {
    ...{ service: await serve(serving), restarted: Promise.resolve(), receiver, sensitive, check },
    ...{ lanes: [], begins: 0, ends: 0, isDone: false, faults: new Set(faults) },
    below: (n) => Math.floor(random() * n),
    counts: { requests: 0, refused: 0, unanswered: 0, kills: 0 },
    get url() {
      return this.service.url
    },
    admin: (...request) => world.service.admin(...request),
  }
  const restart = async () => {
    world.counts.kills += 1
    const restarted = world.service.kill().then(async () => {
      checkFiles(world, state, false)
      world.service = await serve(serving)
    })
    world.restarted = restarted
    await restarted
  }
  let found = 'not checked'
  try {
    await migrate(world.service)
    world.lanes = await newLanes(world, lanes)
    for (const secret of world.lanes.flatMap(({ secrets }) => secrets)) sensitive.add(secret)
    await prepareHooks(world)
    Object.assign(world, { begins: Date.now(), ends: Date.now() + seconds * 1000 })
    runCrons(world)
    const loads = world.lanes.map((lane) => runLane(world, lane))
    await Promise.all([...loads, keepBooks(world), runFaults(world, restart)])
    found = await checkWorld(world, script, join(folder, 'calm'))
  } catch (error) {
    check(false, (error as Error).stack ?? JSON.stringify(error))
  }
  world.isDone = true
  await world.service.end()
  await receiver.stop()
  const files = checkFiles(world, state, true)
  end()
  const { requests, refused, unanswered, kills } = world.counts
  const counts = `${refused} refused, ${unanswered} unanswered, ${kills} kills`
  console.log(
    `${requests} requests of ${world.lanes.length} lanes, ${counts}; ${found}; ${files} files.`,
  )
  return broken
}

/** Runs the cron of every minute again and again, faster than the clock. */
async function runCrons(world: World): Promise<void> {
  for (let clock = Date.now() + CRON_MS; !world.isDone; clock += CRON_MS) {
    await world.restarted
    await runCron(world, 'propagate', clock).catch(() => {})
    await wait(PAUSE_MS)
  }
}

const KINDS = ['none', 'pairs', ...FAULTS]
const command = parseCommand(
  'npm run chaos',
  `Sends requests of two accounts while something goes wrong, and checks that nothing is lost, doubled,
unpaid or leaked. Kinds: ${KINDS.join(', ')}; without one the seed draws ${DRAWN}. Several happen at once.
\`pairs\` lets every call to the platform fail, and every two requests meet, in tests of their own.`,
  (own) =>
    own
      .argument('[kinds...]', 'what goes wrong')
      .option('--seconds <number>', 'how long requests are sent', wholeNumber(3, 3600), 60)
      .option('--lanes <number>', 'clients of each account', wholeNumber(1, 8), 3)
      .option('--every <number>', '`pairs` tries one case in so many', wholeNumber(1, 1000), 1)
      .option('--seed <number>', 'repeats a run', wholeNumber(0, 2 ** 31), Date.now() % 1_000_000),
)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))
const options = command.opts<Record<'seed' | 'seconds' | 'lanes' | 'every', number>>()
const kinds = command.args
const unknown = kinds.find((kind) => !KINDS.includes(kind))
if (unknown) exitWithUsageError(`Unknown kind ${unknown}. Use ${KINDS.join(', ')}.`)
if (kinds.includes('pairs')) {
  process.exitCode = await runPairs(options.every)
} else {
  const random = fractions(options.seed)
  const ranked = FAULTS.map((fault) => ({ fault, rank: random() }))
  const drawn = ranked.sort((a, b) => a.rank - b.rank).slice(0, DRAWN)
  const named = FAULTS.filter((fault) => kinds.includes(fault))
  const faults = kinds.length === 0 ? drawn.map(({ fault }) => fault) : named
  console.log(`${faults.join(', ') || 'No fault'}. --seed ${options.seed} repeats this run.`)
  const broken = await run(faults, options)
  console.log(broken === 0 ? 'All promises were kept.' : `${broken} promises were broken.`)
  process.exitCode = Number(broken > 0)
}
