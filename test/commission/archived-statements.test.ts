import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { KEEPING } from '../../src/commission/statements/kept.ts'
import { RecordsArchived } from '../../src/db/archive/needed.ts'
import { archivedResources, archiveMonths, keepTotals, restoreWanted } from '../archive-steps.ts'
import { ada } from '../partner.ts'
import {
  asRunsCompute,
  bothWays,
  keepEagerly,
  OPEN,
  randomBrand,
  randomPartner,
} from './kept-firms.ts'
import { randomSource } from './worlds.ts'

// Statements whose records are archived are those of before, or their months come back first.

const USUAL = { ...KEEPING }
beforeEach(() => keepEagerly())
afterEach(() => {
  Object.assign(KEEPING, USUAL)
})

const CUSTOMERS = Array.from({ length: 10 }, (_, i) => ({
  ...{ ...ada, customer_id: `c-${i}`, affiliate_id: 'a-1', signup_date: '2029-03-03T08:00:00Z' },
}))

const MONTHS = ['2029', '2030'].flatMap((year) =>
  Array.from({ length: 11 }, (_, i) => `${year}-${String(i + 1).padStart(2, '0')}`),
)

/** Archives the months of an account that may be archived. Returns their number. */
async function archiveAll(account: string, vertical: string) {
  await keepTotals(account, vertical, '2029-01-01', '2030-12-31')
  return archiveMonths(account, archivedResources(vertical), MONTHS)
}

/** Does work again until it needs no archived months. Returns its result, and how often months came back. */
async function whenBack<T>(work: () => Promise<T>): Promise<{ result: T; times: number }> {
  for (let times = 0; ; times++) {
    try {
      return { result: await work(), times }
    } catch (error) {
      if (!(error instanceof RecordsArchived)) throw error
      expect(await restoreWanted()).toBeGreaterThan(0)
    }
  }
}

test.each([
  ['partner', 'forex', randomPartner],
  ['brand', 'igaming', randomBrand],
] as const)(
  'statements of a random %s whose records are archived are those of before',
  async (kind, vertical, open) => {
    const errors = vi.spyOn(console, 'error')
    let fromKept = 0
    let cameBack = 0
    for (let seed = env.SEED * 1000; seed < env.SEED * 1000 + (env.MODEL_RUNS || 4); seed++) {
      const from = randomSource(seed)
      const firm = await open(`${kind}-${seed}`, from)
      for (let n = 0; n < 30; n++) await firm.change()
      // A record that waits for its customer keeps its month in the database.
      if (vertical === 'forex') await firm.post('customers', CUSTOMERS)
      await firm.run(OPEN)
      const { kept, records } = await bothWays(firm.account)
      expect(kept).toEqual(records)
      expect(await archiveAll(firm.account, vertical)).toBeGreaterThan(3)
      const again = await whenBack(() => asRunsCompute(firm.account))
      expect(again.result).toEqual(kept)
      if (again.times === 0) fromKept += 1
      const run = await whenBack(() => firm.run(OPEN))
      cameBack += run.times
      const all = await whenBack(() => bothWays(firm.account))
      expect([all.result.kept, all.result.records]).toEqual([kept, records])
      cameBack += all.times
    }
    expect(fromKept).toBeGreaterThan(0)
    expect(cameBack).toBeGreaterThan(0)
    expect(errors.mock.calls).toEqual([])
  },
)
