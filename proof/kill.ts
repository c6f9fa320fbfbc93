import { join } from 'node:path'
import { type Bulk, bulksOf } from './kill/bulks.ts'
import { inspect } from './kill/disk.ts'
import { judgeStored, judgeTokens, judgeTotals, repeat } from './kill/judges.ts'
import { load, type Sent } from './kill/load.ts'
import { readStored } from './kill/stored.ts'
import { changeToken, newWorld, revoke, sendersOf } from './kill/world.ts'
import { program, type Setting } from './program.ts'
import { migrate, newSecrets, serve } from './service.ts'

// Kills workerd while bulks arrive, again and again, and looks at what each kill left behind:
// `npm run kill [-- --times 20 --records 200 --seed N]`.

/** Kills the service so many times; each bulk has so many records. */
export async function proveKill(
  setting: Setting,
  { times, records }: { times: number; records: number },
): Promise<void> {
  const { script, folder, random, say, hold } = setting
  const state = join(folder, 'killed')
  const secrets = await newSecrets()
  const look = (when: string) => {
    const { flaws, files, seen } = inspect(state, join(folder, 'copy'), readStored)
    for (const { file, says } of flaws) hold(false, `${when}, ${file}: ${says}`)
    return { files, stored: seen }
  }
  let service = await serve(script, state, secrets)
  try {
    await migrate(service)
    const world = await newWorld(service)

    let met = 0
    // The first load is let go to its end: it says how long one takes.
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
      // Once the machine is quicker, so is the kill: one after the load would prove little.
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
      const there = judgeStored(setting, stored, { former, bulks, sent }, world)
      world.lines += there.size
      service = await serve(script, state, secrets)
      world.meter.crashed()
      world.brandMeter.crashed()
      const rates = await judgeTokens(setting, service, world, revoked)
      await repeat(setting, service, world, bulks, there)
      await judgeTotals(setting, service, world, [...former, ...bulks])
      say(
        `Kill ${round} after ${moment} ms: ${tell(sent, bulks, there)}; ${files} files sound; ${rates}.`,
      )
    }
    hold(met >= Math.floor(times / 2), `only ${met} of ${times} kills met a bulk on its way`)
    await service.kill()
    former.push(...bulks)
    const { files, stored } = look('at the end')
    judgeStored(setting, stored, { former, bulks: [], sent: new Map() }, world)
    say(`${met} of ${times} kills met bulks on their way.`)
    say(`At the end all ${former.length} bulks are there, each once; ${files} files are sound.`)
  } finally {
    await service.end()
  }
}

/** What became of the bulks of one round. */
function tell(sent: Sent, bulks: readonly Bulk[], there: ReadonlySet<Bulk>): string {
  const unanswered = bulks.filter((bulk) => sent.get(bulk) === null)
  const stored = unanswered.filter((bulk) => there.has(bulk)).length
  return [
    `${sent.size - unanswered.length} bulks answered`,
    `of ${unanswered.length} unanswered ${stored} wholly there, ${unanswered.length - stored} wholly absent`,
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
