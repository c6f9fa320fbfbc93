import { join } from 'node:path'
import { newBrand, newFirm } from './parties.ts'
import { runProgram, type Setting } from './program.ts'
import { migrate, type Service, serveLimited } from './service.ts'
import type { Actor, ActorContext } from './soak/actor.ts'
import { brandActor } from './soak/brand.ts'
import { drawAction, newDraw, type WeightedAction } from './soak/draw.ts'
import { startEvictions } from './soak/evictions.ts'
import { checkClicks, checkSums } from './soak/final-checks.ts'
import { firmActor } from './soak/firm.ts'
import { checkMemory, sampleMemory } from './soak/memory-samples.ts'
import { documentActions, newVisitors } from './soak/others.ts'
import { brandPool, exceedRateLimit, firmPool } from './soak/pools.ts'
import { newResponseLog, type ResponseLog } from './soak/response-log.ts'
import { teamActions } from './soak/team.ts'
import { temporaryAccountActions } from './soak/temporary-accounts.ts'

// Sends all kinds of requests at once for some minutes, with the heap limit of the platform. At the end
// all sums are exact, and memory is flat.
// `npm run soak [-- --minutes 1 --lanes 8 --heap 5 --process 10 --seed N]`.

interface Limits {
  minutes: number
  lanes: number
  /** How much the isolate's heap and the process may grow over the second half, in percent. */
  heap: number
  process: number
}

/** Loads the service for a number of minutes from a number of lanes. */
export async function proveSoak(setting: Setting, limits: Limits): Promise<void> {
  const service = await serveLimited(setting.script, join(setting.folder, 'soaked'))
  try {
    await migrate(service)
    await soak(setting, service, limits)
  } finally {
    await service.end()
  }
}

async function soak(setting: Setting, service: Service, limits: Limits): Promise<void> {
  const { random, print, check } = setting
  const { minutes, lanes } = limits
  const draw = newDraw(random)
  const responses = newResponseLog((message) => check(false, message))
  const parties = await newParties(service)
  const { accounts, pools } = parties
  const visitors = await newVisitors(service, responses, accounts)
  await exceedRateLimit(setting, service, parties.prop)

  const actors = Array.from({ length: lanes }, (_, i) =>
    newActors({ service, responses, draw, lane: `L${i}` }, parties),
  )
  const others = [
    ...visitors.actions(draw),
    ...documentActions(service, responses),
    ...teamActions(service, responses, draw, accounts, visitors.links),
    ...temporaryAccountActions(service, responses, draw),
  ]
  const evictions = startEvictions(service, Object.values(pools), draw, responses.reportProblem)
  const memorySamples = await sampleMemory(service, minutes * 60_000, print)
  await runLanes(actors, others, { minutes, random, responses })
  evictions.end()
  await memorySamples.end()
  // Every operation runs at least once, even if none was drawn.
  for (const [, run] of others) await run()

  print(responses.summary())
  print(
    `${responses.requests()} requests in ${minutes} min, ${evictions.count()} objects evicted in addition to those that were idle for 10 s.`,
  )
  for (const name of ['prop', 'forex', 'brand'] as const) {
    const all = actors.map((actor) => actor[name])
    await checkSums(setting, name, pools[name].ask, all)
  }
  await checkClicks(setting, service, visitors.clicks())
  printOperations(setting, responses)
  checkMemory(setting, memorySamples, limits)
}

/** The accounts of a soak, and the tokens of each. */
type Parties = Awaited<ReturnType<typeof newParties>>

/** Creates a firm that rejects unknown customers, one that holds their records, and a brand. */
async function newParties(service: Service) {
  const prop = await newFirm(service, 'soak-prop', 'prop-trading', 'reject')
  const forex = await newFirm(service, 'soak-forex', 'forex', 'hold')
  const brand = 'soak-brand'
  await newBrand(service, brand)
  const pools = {
    prop: await firmPool(service, prop),
    forex: await firmPool(service, forex),
    brand: await brandPool(service, brand),
  }
  return { prop, forex, pools, accounts: { firms: [prop.account, forex.account], brand } }
}

/** The actors of one lane. */
type LaneActors = Record<keyof Parties['pools'], Actor>

const newActors = (
  context: Omit<ActorContext, 'ask'>,
  { prop, forex, pools }: Parties,
): LaneActors => ({
  prop: firmActor({ ...context, ask: pools.prop.ask }, prop),
  forex: firmActor({ ...context, ask: pools.forex.ask }, forex),
  brand: brandActor({ ...context, ask: pools.brand.ask }),
})

/** Runs random actions in all lanes at once until the time is over. */
async function runLanes(
  actors: readonly LaneActors[],
  others: readonly WeightedAction[],
  { minutes, random, responses }: { minutes: number; random: () => number; responses: ResponseLog },
): Promise<void> {
  const until = Date.now() + minutes * 60_000
  const runLane = async (actions: readonly WeightedAction[]) => {
    while (Date.now() < until) {
      await drawAction(actions, random)().catch((error) =>
        responses.reportProblem(`no response: ${error}`),
      )
    }
  }
  await Promise.all(
    actors.map((actor) =>
      runLane([...Object.values(actor).flatMap(({ actions }) => actions), ...others]),
    ),
  )
}

/** Prints how many operations of openapi.json were requested. The tests request each of them. */
function printOperations({ print }: Setting, { operations }: ResponseLog): void {
  const { count, unrequested } = operations
  print(`${count - unrequested().length} of ${count} operations of openapi.json were requested.`)
}

await runProgram(
  import.meta.url,
  'Sends all kinds of requests at once and checks totals, clicks and memory.',
  {
    minutes: { help: 'how long requests are sent', value: 1, least: 1, most: 600 },
    lanes: { help: 'clients at once', value: 8, least: 1, most: 32 },
    heap: { help: 'percent by which the heap may grow', value: 5, least: 1, most: 1000 },
    process: { help: 'percent by which the process may grow', value: 10, least: 1, most: 1000 },
  },
  proveSoak,
)
