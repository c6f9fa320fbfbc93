import { join } from 'node:path'
import type { Answer } from './ask.ts'
import { type Bulk, bulksOf } from './kill/bulks.ts'
import { checkStored, checkTokens, checkTotals, resendBulks } from './kill/checks.ts'
import { inspect } from './kill/disk.ts'
import { load, type Sent } from './kill/load.ts'
import { readStored, type Stored } from './kill/stored.ts'
import { changeToken, newWorld, revoke, sendersOf, type World } from './kill/world.ts'
import { runProgram, type Setting } from './program.ts'
import { migrate, newSecrets, type Service, serve } from './service.ts'

// Kills workerd again and again while bulks arrive, and checks what each kill leaves behind:
// `npm run kill [-- --times 20 --records 200 --seed N]`.

/** The progress of the program. `service` is replaced after each kill. */
interface Progress {
  service: Service
  /** Starts the service again on the same state. */
  restart: () => Promise<Service>
  /** Checks the files that a kill left behind, and reads what they store. */
  readState: (when: string) => { files: number; stored: Stored }
  /** The bulks of former rounds, and those of the last one. */
  former: Bulk[]
  bulks: Bulk[]
  /** The shortest time in which all bulks of a round were answered, in milliseconds. */
  loadMs: number
  /** How many kills left a bulk unanswered. */
  hits: number
}

/** Kills the service a number of times. `records` is the size of each bulk. */
export async function proveKill(
  setting: Setting,
  { times, records }: { times: number; records: number },
): Promise<void> {
  const { print, check } = setting
  const progress = await startProgress(setting)
  try {
    await migrate(progress.service)
    const world = await newWorld(progress.service)
    await measureLoad(setting, progress, world, records)
    for (let round = 1; round <= times; round++) {
      await killOnce(setting, progress, world, { round, records })
    }
    const { hits, former, bulks } = progress
    check(hits >= Math.floor(times / 2), `only ${hits} of ${times} kills hit a bulk in flight`)
    await progress.service.kill()
    former.push(...bulks)
    const { files, stored } = progress.readState('at the end')
    checkStored(setting, stored, { former, bulks: [], sent: new Map() }, world)
    print(`${hits} of ${times} kills hit bulks in flight.`)
    print(`At the end all ${former.length} bulks are stored, each once; ${files} files are sound.`)
  } finally {
    await progress.service.end()
  }
}

async function startProgress({ script, folder, check }: Setting): Promise<Progress> {
  const state = join(folder, 'killed')
  const secrets = await newSecrets()
  const restart = () => serve(script, state, secrets)
  return {
    service: await restart(),
    restart,
    readState(when) {
      const { flaws, files, content } = inspect(state, join(folder, 'copy'), readStored)
      for (const { file, problem } of flaws) check(false, `${when}, ${file}: ${problem}`)
      return { files, stored: content }
    },
    former: [],
    bulks: [],
    loadMs: 0,
    hits: 0,
  }
}

/** Sends the first bulks without a kill, to measure how long they take. */
async function measureLoad(
  { random, print }: Setting,
  progress: Progress,
  world: World,
  records: number,
): Promise<void> {
  progress.bulks = bulksOf(0, records, [], random)
  const { bulks, service } = progress
  const started = performance.now()
  await load(sendersOf(service, world), bulks, random)
  progress.loadMs = performance.now() - started
  world.lines += bulks.length
  const ms = Math.round(progress.loadMs)
  print(`A load of ${bulks.length} bulks of ${records} records takes ${ms} ms.`)
}

/** Kills the service while it stores bulks, restarts it, and checks what it stored. */
async function killOnce(
  setting: Setting,
  progress: Progress,
  world: World,
  { round, records }: { round: number; records: number },
): Promise<void> {
  const { former } = progress
  former.push(...progress.bulks)
  const bulks = bulksOf(round, records, progress.bulks, setting.random)
  progress.bulks = bulks
  await changeToken(progress.service, world)
  const { sent, revoked, moment } = await killDuringLoad(setting, progress, world)
  if ([...sent.values()].includes(null)) progress.hits += 1

  const { files, stored } = progress.readState(`after kill ${round}`)
  const storedBulks = checkStored(setting, stored, { former, bulks, sent }, world)
  world.lines += storedBulks.size
  progress.service = await progress.restart()
  world.meter.noteCrash()
  world.brandMeter.noteCrash()
  const { service } = progress
  const rates = await checkTokens(setting, service, world, revoked)
  await resendBulks(setting, service, world, bulks, storedBulks)
  await checkTotals(setting, service, world, [...former, ...bulks])
  setting.print(
    `Kill ${round} after ${moment} ms: ${describeRound(sent, bulks, storedBulks)}; ${files} files sound; ${rates}.`,
  )
}

/** Sends the bulks and revokes the former token, and kills the service at a random moment. */
async function killDuringLoad(
  { random }: Setting,
  progress: Progress,
  world: World,
): Promise<{ sent: Sent; revoked: Answer | null; moment: number }> {
  const { service, bulks } = progress
  const revoking = revoke(service, world)
  const started = performance.now()
  const loading = load(sendersOf(service, world), bulks, random)
  // On a faster machine the kill comes sooner: a kill after the load proves little.
  loading.then((sent) => {
    const isWhole = bulks.every((bulk) => sent.get(bulk))
    if (isWhole) progress.loadMs = Math.min(progress.loadMs, performance.now() - started)
  })
  const moment = Math.ceil(random() * progress.loadMs)
  await new Promise((done) => setTimeout(done, moment))
  await service.kill()
  const [sent, revoked] = await Promise.all([loading, revoking])
  return { sent, revoked, moment }
}

/** Describes the outcome of the bulks of one round. */
function describeRound(sent: Sent, bulks: readonly Bulk[], storedBulks: ReadonlySet<Bulk>): string {
  const unanswered = bulks.filter((bulk) => sent.get(bulk) === null)
  const stored = unanswered.filter((bulk) => storedBulks.has(bulk)).length
  return [
    `${sent.size - unanswered.length} bulks answered`,
    `of ${unanswered.length} unanswered ${stored} completely stored, ${unanswered.length - stored} not at all`,
    `${bulks.length - sent.size} unsent`,
  ].join(', ')
}

await runProgram(
  import.meta.url,
  'Kills workerd while bulks are sent, and checks that each is stored completely or not at all.',
  {
    times: { help: 'how often workerd is killed', value: 20, least: 1, most: 50 },
    records: { help: 'records per bulk', value: 200, least: 1, most: 1000 },
  },
  proveKill,
)
