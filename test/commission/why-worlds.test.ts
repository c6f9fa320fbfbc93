import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { at } from '../days.ts'
import { explainAllForms } from './explain-forms.ts'
import { OPEN, randomBrand, randomPartner } from './random-firms.ts'
import { randomSource } from './worlds.ts'

// What explains the statements of random firms, whose records and settings change after months are closed.

const WORLDS = env.MODEL_RUNS || 1
const FIRST_SEED = env.SEED * 4000

test.each([
  ['partner', randomPartner],
  ['brand', randomBrand],
] as const)(
  '§14 every line and adjustment of a random %s is explained in every form, and replays to its amount',
  async (kind, open) => {
    let corrected = 0
    let restored = 0
    const isMissing = () => kind === 'partner' && restored === 0
    for (let seed = FIRST_SEED; seed < FIRST_SEED + WORLDS || isMissing(); seed++) {
      const from = randomSource(seed)
      const account = `why-${kind}-${seed}`
      const firm = await open(account, from)
      for (let round = 0; round < 6; round++) {
        at(`2030-12-05T00:0${round + 1}:00.000Z`)
        for (let n = 0; n < 20; n++) await firm.change()
        if (round < 5) await firm.close()
      }
      await firm.run(OPEN)
      const found = await explainAllForms(account)
      corrected += found.length
      restored += found.filter(({ of }) => of.line === null).length
    }
    expect(corrected).toBeGreaterThan(WORLDS)
  },
)
