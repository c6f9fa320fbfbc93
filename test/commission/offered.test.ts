import { expect, test } from 'vitest'
import { payingEntries } from '../../src/commission/engine/judge.ts'
import { reportFacts } from '../../src/commission/engine/records.ts'
import { ALL_MODIFIERS, MODIFIERS } from '../../src/commission/plans/modifiers/order.ts'
import { parsePeriod } from '../../src/platform/money/calendar.ts'
import { open } from './engine.ts'
import { explainAll } from './explain-all.ts'
import { evaluate } from './oracle/evaluate.ts'
import { CONDITIONS } from './random-plans.ts'
import type { World } from './world.ts'
import { periodsOf, randomWorld } from './worlds.ts'

// Random worlds meet all that the product offers for rules: what one of them never drew, what changes nothing in the
// oracle, or what no explanation names could be wrong, and every comparison of worlds would still be green.

/** So many worlds meet everything; those without anything new are passed over. */
const WORLDS = 300

type Json = Record<string, unknown>
type Rule = Json & { kind: keyof typeof MODIFIERS }

/** The modifier of each member that the product offers for rules. */
const MODIFIER_OF = new Map(
  ALL_MODIFIERS.flatMap((one) => Object.keys(one.members).map((member) => [member, one] as const)),
)

const without = (object: Json, name: string) =>
  Object.fromEntries(Object.entries(object).filter(([key]) => key !== name))

/** Whether a member of plans holds conditions. */
const hasConditions = (key: string, value: unknown) =>
  (key === 'when' || key === 'customer') && typeof value === 'object'

/** Returns a world whose plans lack a modifier or a condition. */
function withoutOffer(world: World, name: string): World {
  const inRule = (rule: Rule) =>
    MODIFIERS[rule.kind].some(({ members }) => name in members) ? without(rule, name) : rule
  const text = JSON.stringify(world.plans, (key, value) => {
    if (key === 'rules' && MODIFIER_OF.has(name)) return value.map(inRule)
    return hasConditions(key, value) && CONDITIONS.includes(name) ? without(value, name) : value
  })
  return { ...world, plans: JSON.parse(text) }
}

/** Returns what explanations of a world name: modifiers of lines, and conditions that records did not meet. */
function explainedBy(world: World): Set<string> {
  const { account, input } = open(world)
  const entriesOf = payingEntries(input)
  const named = new Set<string>()
  for (const id of periodsOf(world)) {
    const period = parsePeriod(id)!
    for (const { line, explanation } of explainAll(account, period)) {
      const steps = explanation.steps.map(({ step }) => step as string)
      for (const [member, { name }] of MODIFIER_OF)
        if (member in line.rule.source && steps.includes(name)) named.add(member)
    }
    for (const evaluated of account.evaluated(period.last))
      for (const { state } of reportFacts(input, entriesOf, evaluated, period))
        named.add(state.condition ?? '')
  }
  return named
}

const textOf = ({ plans }: World) => JSON.stringify(plans)

const resultOf = (world: World) => JSON.stringify(evaluate(world, periodsOf(world)))

test('§12 each modifier and condition is drawn by a world, counts for the oracle, and is explained', () => {
  const offered = [...MODIFIER_OF.keys(), ...CONDITIONS]
  const unmet = { worlds: new Set(offered), oracle: new Set(offered), explained: new Set(offered) }
  const isUnmet = (name: string) => Object.values(unmet).some((names) => names.has(name))
  for (let seed = 0; seed < WORLDS; seed++) {
    const world = randomWorld(seed)
    const drawn = offered.filter(isUnmet).map((name) => [name, withoutOffer(world, name)] as const)
    const changed = drawn.filter(([, other]) => textOf(other) !== textOf(world))
    if (changed.length === 0) continue
    const result = resultOf(world)
    const explained = explainedBy(world)
    for (const [name, other] of changed) {
      unmet.worlds.delete(name)
      if (explained.has(name)) unmet.explained.delete(name)
      if (unmet.oracle.has(name) && resultOf(other) !== result) unmet.oracle.delete(name)
    }
  }
  expect(unmet).toEqual({ worlds: new Set(), oracle: new Set(), explained: new Set() })
})
