import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { KEEPING } from '../../src/commission/statements/kept.ts'
import { KEPT_LIMITS } from '../../src/db/commission/kept.ts'
import { watchMarks } from '../marks.ts'
import { bothWays, keepEagerly, OPEN, randomBrand, randomPartner, rowsOf } from './kept-firms.ts'
import { randomSource } from './worlds.ts'

// `npm run worlds -- model` tries more worlds.

watchMarks()

const WORLDS = env.MODEL_RUNS || 3
const CHANGES = env.MODEL_RUNS ? 45 : 24

const USUAL = { ...KEEPING }
const LIMITS = { ...KEPT_LIMITS }
beforeEach(() => keepEagerly())
afterEach(() => {
  Object.assign(KEEPING, USUAL)
  Object.assign(KEPT_LIMITS, LIMITS)
})

test.each([
  ['partner', randomPartner],
  ['brand', randomBrand],
] as const)(
  'statements of a random %s with kept facts are those from the records alone',
  async (kind, open) => {
    const errors = vi.spyOn(console, 'error')
    let compared = 0
    let rows = 0
    for (let seed = env.SEED * 1000; seed < env.SEED * 1000 + WORLDS; seed++) {
      const from = randomSource(seed)
      // In every other world most customers are read in parts, and some have too many facts.
      Object.assign(KEPT_LIMITS, { facts: seed % 2 === 0 ? LIMITS.facts : 9 })
      const firm = await open(`${kind}-${seed}`, from)
      for (let n = 0; n < 12; n++) await firm.change()
      for (let n = 0; n < CHANGES; n++) {
        await firm.change()
        if (from.oneIn(6)) await firm.run(from.oneIn(4) ? '2030-09' : OPEN)
        if (!from.oneIn(3)) continue
        const { kept, records, usable } = await bothWays(firm.account, from.pick([OPEN, '2030-11']))
        expect(kept, `seed ${seed}, change ${n}`).toEqual(records)
        if (usable.some(({ changed }) => changed !== '[]')) compared += 1
      }
      rows += (await rowsOf('kept_facts', firm.account)).length
    }
    expect(compared).toBeGreaterThan(WORLDS)
    expect(rows).toBeGreaterThan(WORLDS * 3)
    expect(errors).not.toHaveBeenCalled()
  },
)
