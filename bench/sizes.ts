import { type Chapter, formatHundredths, formatInteger, formatTenths } from './chapter.ts'
import { compete, type Results } from './compete.ts'
import { PHASES } from './contestants.ts'
import { median, perSecond } from './figures.ts'
import { expectOk, send } from './http.ts'
import { newBulks } from './records.ts'
import { ratiosOf } from './report.ts'
import type { World } from './world.ts'

/** Records per bulk, and the bulks per phase relative to the full bench. */
const SIZES = [
  [1, 5],
  [10, 3],
  [100, 2],
  [1000, 1 / 2],
] as const

/** Measures bulks by size, and a single record compared with an empty request. */
export async function sizes(world: World): Promise<Chapter> {
  const { scale, peers } = world
  const contestants = await peers()
  const results: Results[] = []
  for (const [size, share] of SIZES)
    results.push(await compete(contestants, newBulks(Math.ceil(scale.bulks * share), size), scale))

  const names = contestants.map(({ name }) => name)
  const head = SIZES.map(([size]) => formatInteger(size))
  const rates = names.map((name) => [
    name,
    ...SIZES.map(([size], i) => formatInteger(perSecond(results[i]!.get(name)!.insert, size))),
  ])
  const ratiosBySize = results.map(ratiosOf)
  const ratios = names
    .slice(1)
    .flatMap((name, i) =>
      PHASES.map((phase) => [
        `ours ÷ ${name}, ${phase}`,
        ...ratiosBySize.map((list) => formatHundredths(list[i]!.ratios[phase].middle)),
      ]),
    )
  return {
    title: 'Small and large bulks',
    notes:
      'Bulks of 1, 10, 100 and 1000 records. The contestants take turns. Tributary also checks the token and its rate and writes a row of the log, once per request; the peers do not.',
    tables: [
      [['records/s, insert, by records a bulk', ...head], ...rates],
      [['ratio, bulk by bulk, by records a bulk', ...head], ...ratios],
      await singles(world),
    ],
  }
}

/** Measures requests of a single object, with the full response. */
async function singles({ us, scale }: World) {
  const url = new URL('/api/v1/forex/transactions', us.running.url)
  const emptyRoute = new URL('/healthz', us.running.url)
  await us.renew()
  const headers = { ...us.authorization(), 'Content-Type': 'application/json' }
  const empty: number[] = []
  const single: number[] = []
  for (const { records } of newBulks(scale.requests, 1)) {
    const body = JSON.stringify(records[0])
    empty.push(await timed(() => send(emptyRoute)))
    single.push(await timed(() => expectOk(url, { body, headers })))
  }
  const row = (name: string, times: number[]) => [
    name,
    formatInteger(1000 / median(times)),
    formatTenths(median(times)),
  ]
  return [
    ['one after the other', 'requests/s', 'ms'],
    row('an empty route', empty),
    row('a single record', single),
    ['ratio', formatHundredths(median(empty) / median(single)), ''],
  ]
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await run()
  return performance.now() - started
}
