import { join } from 'node:path'
import { mib } from './memory.ts'
import { newBrand, newFirm } from './parties.ts'
import { program, type Setting } from './program.ts'
import { migrate, newSecrets, type Service, serve } from './service.ts'
import { brandDesk } from './soak/brand.ts'
import { growthOf, watchClimate } from './soak/climate.ts'
import { type Act, drawAct, drawing } from './soak/draw.ts'
import { judgeClicks, judgeSums } from './soak/ending.ts'
import { evicting } from './soak/evictions.ts'
import { firmDesk } from './soak/firm.ts'
import { newHeard } from './soak/heard.ts'
import { administration, documents, visiting } from './soak/others.ts'
import { brandPool, firmPool, planned429 } from './soak/pools.ts'

// Everything at once for some minutes; at the end sums are exact, and memory is flat:
// `npm run soak [-- --minutes 1 --lanes 8 --growth 20 --seed N]`.

/** A process goes on taking memory until its caches are full: sooner it proves nothing. */
const WARM_MINUTES = 5

interface Numbers {
  minutes: number
  lanes: number
  /** By how many percent memory may grow over the second half. */
  growth: number
}

/** Loads the service for so many minutes from so many lanes. */
export async function proveSoak(setting: Setting, numbers: Numbers): Promise<void> {
  const service = await serve(setting.script, join(setting.folder, 'soaked'), await newSecrets())
  try {
    await migrate(service)
    await soak(setting, service, numbers)
  } finally {
    await service.end()
  }
}

async function soak(setting: Setting, service: Service, { minutes, lanes, growth }: Numbers) {
  const { random, say, hold } = setting
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
  const { acts: visits, clicks } = await visiting(service, heard, accounts)
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
    ...documents(service, heard, draw),
    ...administration(service, heard, draw, accounts),
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
  climate.end()

  say(heard.summary())
  say(
    `${heard.requests()} requests in ${minutes} min, ${evictions.count()} objects evicted beside those that were idle for 10 s.`,
  )
  for (const name of ['prop', 'forex', 'brand'] as const) {
    const all = desks.map((desk) => desk[name])
    await judgeSums(setting, name, pools[name].ask, all)
  }
  await judgeClicks(setting, service, clicks())
  const [first, last] = [climate.samples[0]!, climate.samples.at(-1)!]
  for (const name of ['resident', 'heap'] as const) {
    const percent = growthOf(climate.samples, name) * 100
    const words = `${name === 'heap' ? "the isolate's heap" : 'the process'} grew by ${percent.toFixed(1)} % over the second half`
    const isJudged = name === 'heap' || minutes >= WARM_MINUTES
    hold(!isJudged || percent <= growth, `${words}, of at most ${growth} %`)
    say(`Memory: ${mib(first[name])} at the begin, ${mib(last[name])} at the end; ${words}.`)
  }
}

await program(
  import.meta.url,
  {
    minutes: { value: 1, least: 1, most: 600 },
    lanes: { value: 8, least: 1, most: 32 },
    growth: { value: 20, least: 1, most: 1000 },
  },
  proveSoak,
)
