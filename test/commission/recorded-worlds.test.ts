import { expect, test } from 'vitest'
import { describeWorld } from './recorded-world.ts'

// What the engine says about some random worlds, word for word. Accounts read these sentences and
// reports, so each change of them must be meant. `npm run generate` records them anew.

/** Worlds with short answers that contain most kinds of sentences and reports of 400 random worlds. */
const SEEDS = [
  101, 123, 144, 226, 253, 258, 266, 278, 281, 291, 315, 316, 324, 331, 398, 405, 430, 432,
]

const RECORDED = import.meta.glob<string>('../../recorded/worlds/*.txt', {
  query: '?raw',
  import: 'default',
  eager: true,
})

test.each(SEEDS)(
  'explanations, qualifications and reasons of world %i are as recorded',
  async (seed) => {
    const text = describeWorld(seed)
    if (import.meta.env.MODE === 'record') {
      await fetch(`http://recorder.local/worlds/${seed}`, { method: 'POST', body: text })
    } else
      expect(text, 'changed: npm run generate').toBe(RECORDED[`../../recorded/worlds/${seed}.txt`])
  },
)
