import { join } from 'node:path'
import { newBrand, newFirm } from './parties.ts'
import { program, type Setting } from './program.ts'
import { migrate, type Service, serveLimited } from './service.ts'
import { brandDesk } from './soak/brand.ts'
import { judgeMemory, watchClimate } from './soak/climate.ts'
import { type Act, drawAct, drawing } from './soak/draw.ts'
import { judgeClicks, judgeSums } from './soak/ending.ts'
import { evicting } from './soak/evictions.ts'
import { firmDesk } from './soak/firm.ts'
import { newHeard } from './soak/heard.ts'
import { documents, visiting } from './soak/others.ts'
import { brandPool, firmPool, planned429 } from './soak/pools.ts'
import { spares } from './soak/spare.ts'
import { administration } from './soak/team.ts'

// Everything at once for some minutes, each isolate with the heap that the platform gives it; at the
// end sums are exact, and memory is flat:
// `npm run soak [-- --minutes 1 --lanes 8 --heap 5 --process 10 --seed N]`.

interface Numbers {
  minutes: number
  lanes: number
  /** By how many percent the isolate's heap may grow over the second half, and the process. */
  heap: number
  process: number
}

/** Loads the service for so many minutes from so many lanes. */
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
  const { random, say, hold } = setting
  const { minutes, lanes } = numbers
  const draw = drawing(random)
  const heard = newHeard((words) => hold(false, words))
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
  const { acts: visits, links, clicks } = await visiting(service, heard, accounts)
  await planned429(setting, service, prop)

  const desks = Array.from({ length: lanes }, (_, i) => {
    const place = { service, heard, draw, lane: `L${i}` }
    return {
      prop: firmDesk({ ...place, ask: pools.prop.ask }, prop),
      forex: firmDesk({ ...place, ask: pools.forex.ask }, forex),
      brand: brandDesk({ ...place, ask: pools.brand.ask }),
    }
  })
  const others = [
    ...visits(draw),
    ...documents(service, heard),
    ...administration(service, heard, draw, accounts, links),
    ...spares(service, heard, draw),
  ]
  const evictions = evicting(service, Object.values(pools), draw, heard.odd)
  const climate = await watchClimate(service, minutes * 60_000, say)
  const until = Date.now() + minutes * 60_000
  const lane = async (acts: readonly Act[]) => {
    while (Date.now() < until) {
      await drawAct(acts, random)().catch((error) => heard.odd(`no answer: ${error}`))
    }
  }
  await Promise.all(
    desks.map((desk) => lane([...Object.values(desk).flatMap(({ acts }) => acts), ...others])),
  )
  evictions.end()
  await climate.end()
  // Each of them once more: chance may have left one out.
  for (const [, run] of others) await run()

  say(heard.summary())
  say(
    `${heard.requests()} requests in ${minutes} min, ${evictions.count()} objects evicted beside those that were idle for 10 s.`,
  )
  for (const name of ['prop', 'forex', 'brand'] as const) {
    const all = desks.map((desk) => desk[name])
    await judgeSums(setting, name, pools[name].ask, all)
  }
  await judgeClicks(setting, service, clicks())
  const { count, left } = heard.operations
  for (const name of left())
    hold(false, `${name} was never asked, or never did what it is there for`)
  say(`${count - left().length} of ${count} operations of openapi.json were asked.`)
  judgeMemory(setting, climate, numbers)
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
