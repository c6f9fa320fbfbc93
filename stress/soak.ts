import { join } from 'node:path'
import { newBrand, newFirm } from './parties.ts'
import { program, type Setting } from './program.ts'
import { migrate, type Service, serveLimited } from './service.ts'
import { brandActor } from './soak/brand.ts'
import { type Act, drawAct, drawing } from './soak/draw.ts'
import { evicting } from './soak/evictions.ts'
import { checkClicks, checkSums } from './soak/final-checks.ts'
import { firmActor } from './soak/firm.ts'
import { checkMemory, sampleMemory } from './soak/memory-samples.ts'
import { documents, visiting } from './soak/others.ts'
import { brandPool, firmPool, planned429 } from './soak/pools.ts'
import { newResponseLog } from './soak/response-log.ts'
import { administration } from './soak/team.ts'
import { temporaryAccounts } from './soak/temporary-accounts.ts'

// Sends all kinds of requests at once for some minutes, with the heap limit of the platform. At the end
// all sums are exact, and memory is flat.
// `npm run soak [-- --minutes 1 --lanes 8 --heap 5 --process 10 --seed N]`.

interface Numbers {
  minutes: number
  lanes: number
  /** How much the isolate's heap and the process may grow over the second half, in percent. */
  heap: number
  process: number
}

/** Loads the service for a number of minutes from a number of lanes. */
export async function proveSoak(setting: Setting, numbers: Numbers): Promise<void> {
  const service = await serveLimited(setting.script, join(setting.folder, 'soaked'))
  try {
    await migrate(service)
    await soak(setting, service, numbers)
  } finally {
    await service.end()
  }
}

async function soak(setting: Setting, service: Service, numbers: Numbers) {
  const { random, say, check } = setting
  const { minutes, lanes } = numbers
  const draw = drawing(random)
  const responses = newResponseLog((message) => check(false, message))
  const prop = await newFirm(service, 'soak-prop', 'prop-trading', 'reject')
  const forex = await newFirm(service, 'soak-forex', 'forex', 'hold')
  const brand = 'soak-brand'
  await newBrand(service, brand)
  const accounts = { firms: [prop.account, forex.account], brand }
  const pools = {
    prop: await firmPool(service, prop),
    forex: await firmPool(service, forex),
    brand: await brandPool(service, brand),
  }
  const { acts: visits, links, clicks } = await visiting(service, responses, accounts)
  await planned429(setting, service, prop)

  const actors = Array.from({ length: lanes }, (_, i) => {
    const context = { service, responses, draw, lane: `L${i}` }
    return {
      prop: firmActor({ ...context, ask: pools.prop.ask }, prop),
      forex: firmActor({ ...context, ask: pools.forex.ask }, forex),
      brand: brandActor({ ...context, ask: pools.brand.ask }),
    }
  })
  const others = [
    ...visits(draw),
    ...documents(service, responses),
    ...administration(service, responses, draw, accounts, links),
    ...temporaryAccounts(service, responses, draw),
  ]
  const evictions = evicting(service, Object.values(pools), draw, responses.reportProblem)
  const memorySamples = await sampleMemory(service, minutes * 60_000, say)
  const until = Date.now() + minutes * 60_000
  const lane = async (acts: readonly Act[]) => {
    while (Date.now() < until) {
      await drawAct(acts, random)().catch((error) =>
        responses.reportProblem(`no response: ${error}`),
      )
    }
  }
  await Promise.all(
    actors.map((actor) => lane([...Object.values(actor).flatMap(({ acts }) => acts), ...others])),
  )
  evictions.end()
  await memorySamples.end()
  // Every operation runs at least once, even if none was drawn.
  for (const [, run] of others) await run()

  say(responses.summary())
  say(
    `${responses.requests()} requests in ${minutes} min, ${evictions.count()} objects evicted besides those that were idle for 10 s.`,
  )
  for (const name of ['prop', 'forex', 'brand'] as const) {
    const all = actors.map((actor) => actor[name])
    await checkSums(setting, name, pools[name].ask, all)
  }
  await checkClicks(setting, service, clicks())
  const { count, left } = responses.operations
  for (const name of left()) check(false, `${name} was never requested, or never succeeded`)
  say(`${count - left().length} of ${count} operations of openapi.json were requested.`)
  checkMemory(setting, memorySamples, numbers)
}

await program(
  import.meta.url,
  'Sends mixed traffic for some time and checks totals, clicks and memory.',
  {
    minutes: { help: 'duration', value: 1, least: 1, most: 600 },
    lanes: { help: 'clients at once', value: 8, least: 1, most: 32 },
    heap: { help: 'largest growth of the heap in MiB', value: 5, least: 1, most: 1000 },
    process: { help: 'largest growth of the process in MiB', value: 10, least: 1, most: 1000 },
  },
  proveSoak,
)
