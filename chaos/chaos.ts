import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { exitWithUsageError, parseCommand, wholeNumber } from '../scripts/command-line.ts'
import { fractions } from '../scripts/dev/fractions.ts'
import { startReceiver } from '../test-node/receiver.ts'
import { expectBody } from './ask.ts'
import { checkFiles, checkWorld } from './checks.ts'
import { runFaults, storeOldMonth } from './faults.ts'
import { EMAIL, newLane, runLane } from './lanes.ts'
import { checkBooks, keepBooks, prepareBooks } from './money.ts'
import { runPairs } from './pairs.ts'
import { newBrand, newFirm, newToken } from './parties.ts'
import { migrate, newHome, newSecrets, runCron, serve } from './service.ts'
import { ACCOUNTS, FAULTS, type Fault, oneOf, type World } from './world.ts'

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
  const below = (n: number) => Math.floor(random() * n)
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
    ...{ service: await serve(serving), restarted: Promise.resolve(), receiver, sensitive },
    ...{ below, check, lanes: [], kills: [], clock: Date.now(), begins: 0, ends: 0, isDone: false },
    faults: new Set(faults),
    struck: faults.includes('database') ? oneOf({ below }, ['prop', 'forex'] as const) : null,
    counts: { requests: 0, refused: 0, unanswered: 0 },
    get url() {
      return this.service.url
    },
    admin: (...request) => world.service.admin(...request),
  }
  const restart = () => {
    world.kills.push(Date.now())
    const restarted = world.service.kill().then(async () => {
      checkFiles(world, state, false)
      world.service = await serve(serving)
      for (const { losses } of world.lanes) losses.push(Date.now())
    })
    world.restarted = restarted
    return restarted
  }
  let found = 'not checked'
  try {
    await prepare(world, lanes)
    Object.assign(world, { begins: Date.now(), ends: Date.now() + seconds * 1000 })
    runCrons(world)
    const loads = world.lanes.map((lane) => runLane(world, lane))
    await Promise.all([...loads, keepBooks(world), runFaults(world, restart)])
    found = `${await checkWorld(world)}, ${await checkBooks(world)}`
  } catch (error) {
    check(false, (error as Error).stack ?? JSON.stringify(error))
  }
  world.isDone = true
  await world.service.end()
  await receiver.stop()
  const files = checkFiles(world, state, true)
  end()
  const { requests, refused, unanswered } = world.counts
  const counts = `${refused} refused, ${unanswered} unanswered, ${world.kills.length} kills`
  console.log(
    `${requests} requests of ${world.lanes.length} lanes, ${counts}; ${found}; ${files} files.`,
  )
  return broken
}

/** Creates the accounts and their lanes: a firm that rejects, a firm that holds, and a brand. */
async function prepare(world: World, lanes: number): Promise<void> {
  await migrate(world.service)
  const prop = await newFirm(world, 'prop', 'prop-trading', 'reject', ACCOUNTS.prop)
  const forex = await newFirm(world, 'forex', 'forex', 'hold', ACCOUNTS.forex)
  await newBrand(world, 'brand')
  for (const { client_secret } of [prop, forex]) world.sensitive.add(client_secret)
  const affiliates = Array.from({ length: lanes }, (_, i) => `f${i}`)
  await prepareBooks(world, affiliates)
  for (let i = 0; i < lanes; i++) {
    const body = { overlap: '7d' }
    const made = world.admin('POST', 'accounts/brand/brand-tokens', { body })
    const { brand_token } = await expectBody(201, made)
    for (const lane of [
      { account: 'prop', name: `p${i}`, firm: prop, token: await newToken(world, prop) },
      { account: 'forex', name: `f${i}`, firm: forex, token: await newToken(world, forex) },
      { account: 'brand', name: `b${i}`, firm: null, token: brand_token },
    ] as const) {
      world.lanes.push(await newLane(world, lane))
    }
  }
  if (world.faults.has('move')) await storeOldMonth(world)
}

/** Runs the cron of every minute again and again, faster than the clock. */
async function runCrons(world: World): Promise<void> {
  while (!world.isDone) {
    await world.restarted
    world.clock += CRON_MS
    await runCron(world, 'propagate', world.clock).catch(() => {})
    await wait(PAUSE_MS)
  }
}

const KINDS = ['none', 'pairs', ...FAULTS]
const command = parseCommand(
  'npm run chaos',
  `Sends requests of three accounts while something goes wrong, and checks that nothing is lost, doubled,
unpaid or leaked. Kinds: ${KINDS.join(', ')}; without one the seed draws ${DRAWN}. Several happen at once.
\`pairs\` lets every call to the platform fail, alone, in tests of their own.`,
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
