import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { evaluate as evaluateByEngine } from '../test/commission/engine.ts'
import { evaluate as evaluateByOracle } from '../test/commission/oracle/evaluate.ts'
import type { World } from '../test/commission/world.ts'
import {
  type ActivityRecord,
  depositWorld,
  lotWorld,
  ratesOf,
  revenueWorld,
  type TransactionRecord,
} from './commission-real/worlds.ts'

// Commissions of real records by the engine and by its oracle. The records are not in the repository, since their
// sources state no licence: REAL_RECORDS names the folder that has them, beside the rates of the ECB. Elsewhere
// nothing is tested here.

const FOLDER = process.env.REAL_RECORDS ?? '../shared/data/real'

const read = (file: string) => readFileSync(join(FOLDER, file), 'utf8')
const records = (name: string) => JSON.parse(read(`${name}.json`))
const rates = () => ratesOf(read('../ecb-euro-reference-rates.csv'))

const months = (first: number, last: number) =>
  Array.from({ length: 12 * (last - first + 1) }, (_, index) => {
    const month = String((index % 12) + 1).padStart(2, '0')
    return `${first + Math.floor(index / 12)}-${month}`
  })

function check(name: string, worldOf: () => World, periods: string[]) {
  if (!existsSync(FOLDER)) return
  test(name, () => {
    const world = worldOf()
    const found = evaluateByEngine(structuredClone(world), periods)
    assert.ok(found.some(({ statements }) => statements.some(({ lines }) => lines.length > 0)))
    assert.deepEqual(found, evaluateByOracle(world, periods))
  })
}

check(
  'CPA for deposits from 1,000 CZK on with 5,000 CZK within 90 days, by branch',
  () =>
    depositWorld(
      records('forex-customers'),
      records('forex-transactions').filter(({ currency }: TransactionRecord) => currency === 'CZK'),
    ),
  months(2005, 2010),
)

check(
  'lots of 2025 by instrument group in EUR; days of 2024 wait for a rate',
  () =>
    lotWorld(
      records('forex-customers'),
      records('forex-trading-activity').filter(({ date }: ActivityRecord) => date >= '2024'),
      rates(),
    ),
  months(2024, 2025),
)

for (const currency of ['EUR', 'USD'] as const) {
  check(`30 % of NGR in ${currency} by month with carry, product by product`, () => {
    const activities = records('igaming-activities')
    return revenueWorld(records('igaming-customers'), activities, rates(), currency)
  }, ['2016-10', '2016-11', '2016-12', '2017-01', '2019-01', '2020-01', '2020-02'])
}
