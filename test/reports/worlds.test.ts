import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { computeReport, type ReportedAffiliates } from '../../src/reports/compute.ts'
import { REPORT_LIMITS } from '../../src/reports/limits.ts'
import { type Figures, groupsOf, type Report } from '../../src/reports/report.ts'
import { randomSource } from '../commission/worlds.ts'
import { restoring } from '../limits.ts'
import { oracle } from './oracle.ts'
import { storeWorld } from './store-world.ts'
import { dayOf, randomWorld, type Vertical, type World } from './world.ts'

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

restoring(REPORT_LIMITS)

type Query = Parameters<typeof computeReport>[2]

/** Computes a report of a world, or of some of its affiliates. */
async function compute(
  { account, vertical }: World,
  query: Query,
  of: ReportedAffiliates | null = null,
) {
  const databases = { session: env.DB.withSession('first-primary'), directory: env.DB }
  return computeReport(databases, { account, vertical }, query, NOW, of)
}

/** The metrics that figures have of columns which both reports have. */
const common = (columns: Report['columns'], metrics: Report['totals']['metrics']) =>
  Object.fromEntries(
    columns.flatMap(({ name }) => (name in metrics ? [[name, metrics[name]]] : [])),
  )

/**
 * Compares the reports of affiliates with the rows that the account's report has of them. A report of an affiliate
 * has no columns of events that only others have.
 */
async function compareAffiliates(vertical: Vertical, every: number) {
  const seed = env.SEED
  const world = randomWorld(seed, vertical)
  await storeWorld(env.DB, world)
  const from = randomSource(seed)
  const all = groupings(vertical, from).filter((one) => !one.includes('affiliate_id'))
  const wanted = all.filter((one, i) => one.length < 3 && (i % every === 0 || one.length === 0))
  let compared = 0
  for (const groups of wanted) {
    const [first, last] = from.pick(SPANS)
    const currency = from.pick(['USD', 'EUR', 'HUF', 'CHF'])
    const query = { from: first, to: last, currency, metrics: null }
    const whole = await compute(world, { ...query, groups: ['affiliate_id'] })
    const firm = await compute(world, { ...query, groups: ['affiliate_id', ...groups] })
    for (const id of ['A', 'B', 'C']) {
      const own = await compute(world, { ...query, groups }, { ids: [id], drafts: true })
      const rows = firm.data.filter((row) => row.groups.affiliate_id === id)
      const [totals] = whole.data.filter((row) => row.groups.affiliate_id === id)
      const at = JSON.stringify([id, groups, query])
      if (groups.length > 0) {
        expect(JSON.stringify(own.data), at).toBe(
          JSON.stringify(
            rows.map(({ groups: { affiliate_id: _, ...values }, metrics, unconverted }) => ({
              groups: values,
              metrics: common(own.columns, metrics),
              unconverted,
            })),
          ),
        )
      }
      compared += own.data.length
      const lacking = new Set(firm.columns.map(({ name }) => name))
      for (const { name } of own.columns) lacking.delete(name)
      lacking.delete('affiliate_id')
      if (totals) {
        const { metrics, unconverted } = totals
        expect(JSON.stringify(own.totals), at).toBe(
          JSON.stringify({ metrics: common(own.columns, metrics), unconverted }),
        )
        for (const name of lacking) expect([0, '0'], `${at} ${name}`).toContain(metrics[name])
      }
      expect(own.notes, at).toEqual(firm.notes)
    }
    const pair = await compute(
      world,
      { ...query, groups: ['affiliate_id', ...groups] },
      { ids: ['A', 'C'], drafts: true },
    )
    const both = firm.data.filter((row) => ['A', 'C'].includes(String(row.groups.affiliate_id)))
    expect(pair.data.map((row) => [row.groups, common(pair.columns, row.metrics)])).toEqual(
      both.map((row) => [row.groups, common(pair.columns, row.metrics)]),
    )
  }
  expect(compared).toBeGreaterThan(wanted.length)
}

const sortedFigures = ({ metrics, unconverted }: Figures) => ({
  metrics,
  unconverted: [...unconverted].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
})

/** Returns the rows and totals of a report in an order that does not depend on it. */
const sortedReport = ({ data, totals }: Pick<Report, 'data' | 'totals'>) => ({
  data: data
    .map(({ groups, ...figures }) => ({ groups, ...sortedFigures(figures) }))
    .sort((a, b) => (JSON.stringify(a.groups) < JSON.stringify(b.groups) ? -1 : 1)),
  totals: sortedFigures(totals),
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
    const report = await compute(world, { ...query, metrics: null })
    const expected = oracle(world, { ...query, clicksFrom: CLICKS_FROM })
    expect(sortedReport(report), JSON.stringify(query)).toEqual(sortedReport(expected))
  }
}

describe.each(VERTICALS)('§15 reports of %s', (vertical) => {
  test('equal those of the oracle by each group, and by some of the pairs', async () => {
    // `npm run worlds` compares all pairs.
    const some = (one: string[], i: number) => one.length < 2 || (i + env.SEED) % 40 === 0
    await compare(vertical, (all) => (env.MODEL_RUNS > 0 ? all : all.filter(some)))
  })

  test('are the same if a day is read at a time', async () => {
    REPORT_LIMITS.range = 1
    await compare(vertical, (all) => all.filter((_, i) => i % 99 === 0))
  })

  test('of an affiliate have the rows of the account', async () => {
    await compareAffiliates(vertical, 72)
  })
})
