import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { watchMarks } from '../marks.ts'
import { bothWays, OPEN, randomBrand, randomPartner } from './random-firms.ts'
import { randomSource } from './worlds.ts'

// `npm run worlds -- model` tries more worlds.

watchMarks()

const WORLDS = env.MODEL_RUNS || 3
const CHANGES = env.MODEL_RUNS ? 60 : 24

test.each([
  ['partner', randomPartner],
  ['brand', randomBrand],
] as const)(
  'statements of a random %s from what closed periods left are those from the first record on',
  async (kind, open) => {
    let begun = 0
    for (let seed = env.SEED * 1000; seed < env.SEED * 1000 + WORLDS; seed++) {
      const from = randomSource(seed)
      const firm = await open(`${kind}-${seed}`, from)
      for (let n = 0; n < 12; n++) await firm.change()
      for (let n = 0; n < CHANGES; n++) {
        if (!from.oneIn(4)) await firm.change()
        if (from.oneIn(4)) await firm.close()
        if (from.oneIn(6)) await firm.run(from.oneIn(4) ? '2030-09' : OPEN)
        if (!from.oneIn(3)) continue
        const { stored, records, unread } = await bothWays(
          firm.account,
          from.pick([OPEN, '2030-11']),
        )
        expect(stored, `seed ${seed}, change ${n}`).toEqual(records)
        if (unread > 0) begun += 1
      }
    }
    expect(begun).toBeGreaterThan(WORLDS)
  },
)
