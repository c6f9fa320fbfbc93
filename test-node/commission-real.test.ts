import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { evaluate as evaluateByEngine } from '../test/commission/engine.ts'
import { evaluate as evaluateByOracle } from '../test/commission/oracle/evaluate.ts'
import { parse, plain, sum } from '../test/commission/oracle/rational.ts'
import type { Outcome, OutcomeLine, World } from '../test/commission/world.ts'
import { FIGURES } from './commission-real/figures.ts'
import * as synthetic from './commission-real/synthetic.ts'
import { depositWorld, lotWorld, ratesOf, revenueWorld } from './commission-real/worlds.ts'

// Commissions of real records. These are not in the repository, since their sources state no licence:
// REAL_RECORDS names the folder that has them, beside the rates of the ECB. Elsewhere, records at random
// in the same shapes take their place, and no figures are expected.

const FOLDER = process.env.REAL_RECORDS ?? '../shared/data/real'
const isReal = existsSync(FOLDER)

/** Returns the real records of a file, or the records in their place. */
const records = <T>(name: string, instead: T[]): T[] =>
  isReal ? JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8')) : instead

const rates = isReal
  ? ratesOf(readFileSync(join(FOLDER, '../ecb-euro-reference-rates.csv'), 'utf8'))
  : [{ day: '2025-06-02', currency: 'USD', rate: '1.1419' }]

const months = (first: number, last: number) =>
  Array.from({ length: 12 * (last - first + 1) }, (_, index) => {
    const month = String((index % 12) + 1).padStart(2, '0')
    return `${first + Math.floor(index / 12)}-${month}`
  })

/** What the figures of a world are sums over. */
type LineKey = (affiliate: string, period: string, line: { rule: string; scope: string }) => string

/** Sums lines, reasons and holds, with the decimals of the oracle. */
function figuresOf(outcomes: readonly Outcome[], lineKeyOf: LineKey) {
  const statements = outcomes.flatMap((one) => one.statements)
  const lines = statements.flatMap(({ affiliate_id, period, lines: all }) =>
    all.map((line) => ({ key: lineKeyOf(affiliate_id, period, line), line })),
  )
  const total = (texts: readonly string[]) => plain(sum(texts.map((text) => parse(text))))
  const grouped = <T>(all: readonly T[], key: (one: T) => string, show: (group: T[]) => string) =>
    [...Map.groupBy(all, key)].map(([name, group]) => `${name}: ${show(group)}`).sort()
  return {
    lines: grouped(
      lines,
      ({ key }) => key,
      (group) => {
        const sumOf = (read: (line: OutcomeLine) => string) =>
          total(group.map(({ line }) => read(line)))
        const quantity = sumOf(({ units, base }) => units ?? base ?? '0')
        const carried = sumOf((line) => line.carried_out)
        const paid = `${group.length} lines of ${quantity} pay ${sumOf(({ amount }) => amount)}`
        return carried === '0' ? paid : `${paid}, carry ${carried}`
      },
    ),
    facts: grouped(
      outcomes.flatMap(({ facts }) => facts),
      ({ resource, state }) => `${resource} ${state}`,
      (group) => String(group.length),
    ),
    holds: grouped(
      statements.flatMap(({ period, holds }) => holds.map((hold) => ({ period, hold }))),
      ({ period, hold }) => `${period.slice(0, 4)} ${hold.rule} ${hold.reason} ${hold.currency}`,
      (group) =>
        `${group.reduce((count, { hold }) => count + hold.count, 0)} of ${total(group.map(({ hold }) => hold.sum))}`,
    ),
  }
}

function check(name: keyof typeof FIGURES, world: World, periods: string[], lineKeyOf: LineKey) {
  test(name, () => {
    const found = evaluateByEngine(structuredClone(world), periods)
    assert.deepEqual(found, evaluateByOracle(world, periods))
    const figures = figuresOf(found, lineKeyOf)
    assert.ok(figures.lines.length > 0)
    if (isReal) assert.deepEqual(figures, FIGURES[name])
  })
}

const customers = records('forex-customers', synthetic.customers)
const brandCustomers = records('igaming-customers', synthetic.brandCustomers)
const brandActivities = records('igaming-activities', synthetic.brandActivities)

check(
  'CPA for deposits from 1,000 CZK on with 5,000 CZK within 90 days, by branch',
  depositWorld(
    customers,
    records('forex-transactions', synthetic.transactions).filter(
      ({ currency }) => currency === 'CZK',
    ),
  ),
  months(2005, 2010),
  (affiliate) => affiliate,
)

check(
  'lots of 2025 by instrument group in EUR; days of 2024 wait for a rate',
  lotWorld(
    customers,
    records('forex-trading-activity', synthetic.activity).filter(({ date }) => date >= '2024'),
    rates,
  ),
  months(2024, 2025),
  (_, period, { rule }) => `${period.slice(0, 4)} ${rule}`,
)

for (const currency of ['EUR', 'USD'] as const) {
  check(
    `30 % of NGR in ${currency} by month with carry, product by product`,
    revenueWorld(brandCustomers, brandActivities, rates, currency),
    ['2016-10', '2016-11', '2016-12', '2017-01', '2019-01', '2020-01', '2020-02'],
    (affiliate, period, { scope }) => `${affiliate} ${period} ${scope}`,
  )
}
