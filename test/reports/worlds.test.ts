import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test } from 'vitest'
import { computeReport } from '../../src/reports/compute.ts'
import { REPORT_STEPS } from '../../src/reports/limits.ts'
import { groupsOf } from '../../src/reports/report.ts'
import { randomSource } from '../commission/worlds.ts'
import { oracle } from './oracle.ts'
import { sortedReport } from './sorted.ts'
import { storeWorld } from './store-world.ts'
import { dayOf, randomWorld, type Vertical } from './world.ts'

const NOW = Date.parse('2026-11-03T12:00:00Z')
const CLICKS_FROM = dayOf('2026-11-03') - 30

const SPANS = [
  ['2026-09-26', '2026-10-24'],
  ['2026-10-01', '2026-10-31'],
  ['2026-09-01', '2026-11-30'],
  ['2026-09-28', '2026-10-11'],
  ['2026-10-07', '2026-10-07'],
] as const

const VERTICALS = ['prop-trading', 'forex', 'igaming'] as const

/**
 * Whether a pair is reported for this vertical. A pair that several verticals have is reported for one of
 * them in turn; `npm run worlds` reports it for all.
 */
function isReported([a, b]: [string, string], vertical: Vertical): boolean {
  if (env.MODEL_RUNS > 0) return true
  const having = VERTICALS.filter((one) => [a, b].every((name) => groupsOf(one).includes(name)))
  const all = [...new Set(having.flatMap(groupsOf))]
  return having[(all.indexOf(a) + all.indexOf(b)) % having.length] === vertical
}

/** Returns all groups, all pairs, and some triples. */
function groupings(vertical: Vertical, from: ReturnType<typeof randomSource>): string[][] {
  const all = groupsOf(vertical)
  const pairs = all
    .flatMap((a, i) => all.slice(i + 1).map((b): [string, string] => [a, b]))
    .filter((pair) => isReported(pair, vertical))
    .map(([a, b]) => (from.oneIn(2) ? [a, b] : [b, a]))
  const triples = Array.from({ length: 3 }, () => from.pick(pairs)).map((pair) => [
    ...pair,
    from.pick(all.filter((name) => !pair.includes(name))),
  ])
  return [[], ...all.map((name) => [name]), ...pairs, ...triples]
}

const STEPS = { ...REPORT_STEPS }

afterEach(() => {
  Object.assign(REPORT_STEPS, STEPS)
})

/** Compares reports of a random world with those of the oracle. */
async function compare(vertical: Vertical, choose: (all: string[][]) => string[][]) {
  const seed = env.SEED
  const world = randomWorld(seed, vertical)
  await storeWorld(env.DB, world)
  const from = randomSource(seed)
  for (const groups of choose(groupings(vertical, from))) {
    const [first, last] = from.pick(SPANS)
    const query = {
      from: first,
      to: last,
      groups,
      currency: from.pick(['USD', 'EUR', 'HUF', 'CHF']),
    }
    await env.DB.prepare('delete from totals_leases').run()
    const report = await computeReport(
      { session: env.DB.withSession('first-primary'), directory: env.DB },
      { account: world.account, vertical },
      { ...query, metrics: null },
      NOW,
    )
    const expected = oracle(world, { ...query, clicksFrom: CLICKS_FROM })
    expect(sortedReport(report), JSON.stringify(query)).toEqual(sortedReport(expected))
  }
}

describe.each(VERTICALS)('reports of %s', (vertical) => {
  test('equal those of the oracle by all groups and pairs', async () => {
    await compare(vertical, (all) => all)
  })

  test.each([
    [2, 27],
    [30, 9],
  ])('are the same in steps that cost %i', async (cost, every) => {
    const small = { cost, count: 1e6, excess: 2 * cost, searched: 2 * cost, sums: cost }
    Object.assign(REPORT_STEPS, small)
    await compare(vertical, (all) => all.filter((_, i) => i % every === 0))
  })
})
