import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { readTotals } from '../../src/db/records/totals.ts'
import { computeReport } from '../../src/reports/compute.ts'
import { type Figures, groupsOf } from '../../src/reports/report.ts'
import { resourcesOf } from '../../src/verticals.ts'
import { add, parse, plain, ZERO } from '../commission/oracle/rational.ts'
import { randomSource } from '../commission/worlds.ts'
import { storeWorld } from './store-world.ts'
import { randomWorld, type World } from './world.ts'

const FROM = '2026-09-01'
const TO = '2026-11-30'

/** The metric of a sum in the control totals; null if reports have none. */
function metricOf(
  total: Record<string, unknown>,
  field: string,
  { statusMap }: World,
): string | null {
  const { resource, transaction_type, status, eventname } = total
  if (resource === 'transactions') {
    const state = statusMap[String(status)] ?? status
    return `${transaction_type}${state === 'approved' ? '' : '_unapproved'}_amount`
  }
  if (resource === 'activities') {
    return `${String(eventname).replaceAll('.', '\\.')}.${field === 'count' ? '\\count' : field}`
  }
  return field === 'commission' ? 'commission_charged' : field
}

/** Adds a decimal to a sum of a map. */
function addTo(sums: Map<string, ReturnType<typeof parse>>, key: string, text: string) {
  sums.set(key, add(sums.get(key) ?? ZERO, parse(text)))
}

const present = (sums: ReadonlyMap<string, ReturnType<typeof parse>>) =>
  [...sums].flatMap(([key, sum]) => (sum.n === 0n ? [] : [`${key}: ${plain(sum)}`])).sort()

/** Without any rate, an amount is either in the currency of the report or in `unconverted`. */
function byCurrency(
  rows: readonly Figures[],
  currency: string,
  isSum: (metric: string) => boolean,
) {
  const sums = new Map<string, ReturnType<typeof parse>>()
  for (const { metrics, unconverted } of rows) {
    for (const [metric, figure] of Object.entries(metrics)) {
      if (typeof figure === 'string' && isSum(metric)) addTo(sums, `${metric} ${currency}`, figure)
    }
    for (const one of unconverted) {
      if (isSum(one.metric)) addTo(sums, `${one.metric} ${one.currency}`, one.amount)
    }
  }
  return present(sums)
}

test.each(['prop-trading', 'forex', 'igaming'] as const)(
  'the sums of every report of %s are those of the control totals',
  async (vertical) => {
    const world: World = { ...randomWorld(env.SEED + 50, vertical), rates: [], eventCurrencies: {} }
    // `amount_usd` stands for amounts that have no rate; control totals sum what was sent.
    world.transactions = world.transactions.map((one) => ({ ...one, usd: null }))
    await storeWorld(env.DB, world)
    const session = env.DB.withSession('first-primary')
    const resources = resourcesOf(vertical)
    const totals = await readTotals(session, resources, world.account, FROM, TO, async () => {})
    const expected = new Map<string, ReturnType<typeof parse>>()
    const counts = new Map<string, number>()
    for (const total of totals) {
      const { resource, currency = total.Currency, count, sums } = total
      for (const [field, sum] of Object.entries(sums)) {
        if (field === 'lots_traded' || field === 'volume_usd') continue
        addTo(expected, `${metricOf(total, field, world)} ${currency}`, sum)
      }
      const metric =
        resource === 'customers'
          ? 'signups'
          : metricOf(total, 'x', world)!.replace(/(amount|x)$/, 'count')
      if (resource !== 'trading-activity') counts.set(metric, (counts.get(metric) ?? 0) + count)
    }
    expect(expected.size).toBeGreaterThan(10)
    const isSum = (metric: string) =>
      [...expected.keys()].some((key) => key.startsWith(`${metric} `))

    const from = randomSource(env.SEED)
    const all = groupsOf(vertical)
    for (const groups of [[], ...all.map((name) => [name, from.pick(all)])]) {
      const currency = from.pick(['EUR', 'USD', 'HUF', 'CHF'])
      const report = await computeReport(
        { session, directory: env.DB },
        { account: world.account, vertical },
        { from: FROM, to: TO, groups: [...new Set(groups)], currency, metrics: null },
        Date.parse(TO),
      )
      for (const rows of [report.data, [report.totals]]) {
        expect(byCurrency(rows, currency, isSum)).toEqual(present(expected))
        for (const [metric, count] of counts) {
          const sum = rows.reduce((total, { metrics }) => total + Number(metrics[metric]), 0)
          expect(`${metric}: ${sum}`).toBe(`${metric}: ${count}`)
        }
      }
    }
  },
)
