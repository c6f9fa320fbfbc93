import { join } from 'node:path'
import { type Bulk, bulksOf } from './kill/bulks.ts'
import { checkStored, checkTokens, checkTotals, repeat } from './kill/checks.ts'
import { inspect } from './kill/disk.ts'
import { load, type Sent } from './kill/load.ts'
import { readStored } from './kill/stored.ts'
import { changeToken, newWorld, revoke, sendersOf } from './kill/world.ts'
import { program, type Setting } from './program.ts'
import { migrate, newSecrets, serve } from './service.ts'

// Kills workerd again and again while bulks arrive, and checks what each kill leaves behind:
// `npm run kill [-- --times 20 --records 200 --seed N]`.

/** Kills the service a number of times. `records` is the size of each bulk. */
export async function proveKill(
  setting: Setting,
  { times, records }: { times: number; records: number },
): Promise<void> {
  const { script, folder, random, say, check } = setting
  const state = join(folder, 'killed')
  const secrets = await newSecrets()
  const look = (when: string) => {
    const { flaws, files, seen } = inspect(state, join(folder, 'copy'), readStored)
    for (const { file, problem } of flaws) check(false, `${when}, ${file}: ${problem}`)
    return { files, stored: seen }
  }
  let service = await serve(script, state, secrets)
  try {
    await migrate(service)
    const world = await newWorld(service)

    let met = 0
    // The first load runs to its end, to measure how long one takes.
    const former: Bulk[] = []
    let bulks = bulksOf(0, records, [], random)
    const started = performance.now()
    await load(sendersOf(service, world), bulks, random)
    let duration = performance.now() - started
    world.lines += bulks.length
    say(`A load of ${bulks.length} bulks of ${records} records takes ${Math.round(duration)} ms.`)

    for (let round = 1; round <= times; round++) {
      former.push(...bulks)
      bulks = bulksOf(round, records, bulks, random)
      await changeToken(service, world)
      const revoking = revoke(service, world)
      const begun = performance.now()
      const loading = load(sendersOf(service, world), bulks, random)
      // On a faster machine the kill comes sooner: a kill after the load proves little.
      loading.then((sent) => {
        const isWhole = bulks.every((bulk) => sent.get(bulk))
        if (isWhole) duration = Math.min(duration, performance.now() - begun)
      })
      const moment = Math.ceil(random() * duration)
      await new Promise((done) => setTimeout(done, moment))
      await service.kill()
      const [sent, revoked] = await Promise.all([loading, revoking])

      if ([...sent.values()].includes(null)) met += 1

      const { files, stored } = look(`after kill ${round}`)
      const there = checkStored(setting, stored, { former, bulks, sent }, world)
      world.lines += there.size
      service = await serve(script, state, secrets)
      world.meter.crashed()
      world.brandMeter.crashed()
      const rates = await checkTokens(setting, service, world, revoked)
      await repeat(setting, service, world, bulks, there)
      await checkTotals(setting, service, world, [...former, ...bulks])
      say(
        `Kill ${round} after ${moment} ms: ${tell(sent, bulks, there)}; ${files} files sound; ${rates}.`,
      )
    }
    check(met >= Math.floor(times / 2), `only ${met} of ${times} kills hit a bulk in flight`)
    await service.kill()
    former.push(...bulks)
    const { files, stored } = look('at the end')
    checkStored(setting, stored, { former, bulks: [], sent: new Map() }, world)
    say(`${met} of ${times} kills hit bulks in flight.`)
    say(`At the end all ${former.length} bulks are stored, each once; ${files} files are sound.`)
  } finally {
    await service.end()
  }
}

/** Describes the outcome of the bulks of one round. */
function tell(sent: Sent, bulks: readonly Bulk[], there: ReadonlySet<Bulk>): string {
  const unanswered = bulks.filter((bulk) => sent.get(bulk) === null)
  const stored = unanswered.filter((bulk) => there.has(bulk)).length
  return [
    `${sent.size - unanswered.length} bulks answered`,
    `of ${unanswered.length} unanswered ${stored} completely stored, ${unanswered.length - stored} not at all`,
    `${bulks.length - sent.size} unsent`,
  ].join(', ')
}

await program(
  import.meta.url,
  'Kills workerd during deliveries and checks what it stored.',
  {
    times: { help: 'kills', value: 20, least: 1, most: 50 },
    records: { help: 'records per bulk', value: 200, least: 1, most: 1000 },
  },
  proveKill,
)
