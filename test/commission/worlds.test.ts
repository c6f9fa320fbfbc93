import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { evaluate as evaluateByEngine } from './engine.ts'
import { evaluate as evaluateByOracle } from './oracle/evaluate.ts'
import { RULE_REASONS } from './oracle/reasons.ts'
import type { Outcome, World } from './world.ts'
import { periodsOf, randomWorld, zonedWorld } from './worlds.ts'

// The engine against the oracle, which was written from the contract alone: every byte of every line,
// hold, reason and carry of random worlds must be the same. `npm run worlds` tries more.

/** The number of worlds in `npm test`, without those that have a book zone. They reach all of `REQUIRED`. */
const USUAL_WORLDS = 100
const WORLDS = env.MODEL_RUNS || USUAL_WORLDS
/** From the seed of `npm test` on, the usual number reaches all of `REQUIRED`. */
const FIRST_SEED = env.SEED * 1_000_000 + 352

/** What the worlds must have met, so that none of these comparisons is empty. */
const REQUIRED = [
  'once',
  'share',
  'unit',
  'override',
  'capped',
  'carried',
  'recouped',
  'fenced',
  'slice',
  'hold',
  'dropped',
  'transferred',
  'transferred to the other kind of period',
  'a transferred debt',
  'received',
  'organic',
  'unknown_affiliate',
  'refused',
  'no_plan',
  'pending',
  'unmapped',
  'declined',
  'reversed',
  ...RULE_REASONS,
]

/** Returns a copy in which nothing is shared, as if it had been sent. */
const copyOf = (world: World): World => JSON.parse(JSON.stringify(world))

function* eventsIn({ statements, facts }: Outcome): Generator<string> {
  for (const { lines, holds, dropped, transferred, received, period } of statements) {
    if (transferred) {
      yield 'transferred'
      if (transferred.amount.startsWith('-')) yield 'a transferred debt'
      if (transferred.period.includes('W') !== period.includes('W'))
        yield 'transferred to the other kind of period'
    }
    if (received.length > 0) yield 'received'
    if (holds.length > 0) yield 'hold'
    if (Number(dropped) !== 0) yield 'dropped'
    for (const line of lines) {
      yield line.kind
      if (Number(line.capped) !== 0) yield 'capped'
      if (Number(line.carried_out) !== 0) yield 'carried'
      if (Number(line.recouped) !== 0) yield 'recouped'
      if (Number(line.fence?.fenced ?? 0) !== 0) yield 'fenced'
      if (Array.isArray(line.step)) yield 'slice'
    }
  }
  for (const { state } of facts) yield state
}

test('engine and oracle agree on random worlds', { timeout: 3_600_000 }, () => {
  const met = new Set<string>()
  for (let seed = FIRST_SEED; seed < FIRST_SEED + WORLDS; seed++) {
    const world = randomWorld(seed)
    const periods = periodsOf(world)
    const expected = evaluateByOracle(copyOf(world), periods)
    expect(evaluateByEngine(copyOf(world), periods), `the world of seed ${seed}`).toEqual(expected)
    for (const outcome of expected) for (const event of eventsIn(outcome)) met.add(event)
  }
  expect(REQUIRED.filter((event) => !met.has(event))).toEqual([])
})

test('engine and oracle agree on worlds with a book zone', { timeout: 3_600_000 }, () => {
  let compared = 0
  // A quarter of the other number. Worlds of brands have no book zone.
  for (let seed = FIRST_SEED; compared < WORLDS / 4; seed++) {
    const world = zonedWorld(seed)
    if (world === null) continue
    compared++
    const periods = periodsOf(world)
    const expected = evaluateByOracle(copyOf(world), periods)
    expect(evaluateByEngine(copyOf(world), periods), `the world of seed ${seed}`).toEqual(expected)
  }
})
