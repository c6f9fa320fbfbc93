import { describe, expect, test } from 'vitest'
import type { Account } from '../../src/commission/engine/account.ts'
import type { AccountInput } from '../../src/commission/engine/account-input.ts'
import { type Period, parsePeriod } from '../../src/commission/engine/calendar.ts'
import { add, compare, ZERO } from '../../src/commission/engine/decimal.ts'
import { explainLine } from '../../src/commission/engine/explain.ts'
import type { ExplainContext } from '../../src/commission/engine/explain-input.ts'
import { isFunded } from '../../src/commission/engine/explain-plan.ts'
import type { Explanation } from '../../src/commission/engine/explanation.ts'
import type { Line } from '../../src/commission/engine/line.ts'
import {
  addPart,
  noLineFacts,
  type Part,
  partOf,
  tallyOfLine,
} from '../../src/commission/engine/line-facts.ts'
import { reduceCustomer } from '../../src/commission/engine/reduce.ts'
import type { PeriodTallies } from '../../src/commission/engine/tallies.ts'
import { uplineRules } from '../../src/commission/engine/uplines.ts'
import { open } from './engine.ts'
import { follow } from './follow.ts'
import { periodsOf, randomWorld } from './worlds.ts'

const SEEDS = Array.from({ length: 300 }, (_, seed) => seed)

interface Explained {
  readonly line: Line
  readonly parts: readonly Part[]
  readonly explanation: Explanation
}

/** Explains every line of a period. */
function explainAll(account: Account, input: AccountInput, period: Period): Explained[] {
  const context: ExplainContext = {
    ...input,
    period,
    settlement: { input, settle: account.settle, tallies: account.tallies },
  }
  const tallies: PeriodTallies = new Map()
  const rulesOf = uplineRules(context)
  const reduced = account
    .judged(period.last)
    .map((judged) => ({ judged, own: reduceCustomer(context, tallies, judged, rulesOf) }))
  return account.settle(period).flatMap((result) =>
    result.lines.map((line) => {
      const target = isFunded(line) ? null : tallyOfLine(tallies, result.affiliate, line)
      const parts = reduced.flatMap(({ judged, own }) => {
        const part = partOf(line, target, judged.customer.customer_id, own, input.rates)
        return part ? [part] : []
      })
      const facts = noLineFacts()
      for (const part of parts) addPart(facts, part)
      const customer = input.customers.find(
        ({ customer_id }) => customer_id === line.once?.customerId,
      )
      const explanation = explainLine(context, { result, line }, facts, customer ?? null)
      return { line, parts, explanation }
    }),
  )
}

describe('an explanation', () => {
  test('its steps, followed by hand, give the amount of the line', () => {
    const seen = new Set<string>()
    for (const seed of SEEDS) {
      const world = randomWorld(seed)
      const { account, input } = open(world)
      for (const id of periodsOf(world)) {
        const period = parsePeriod(id)!
        for (const { line, explanation } of explainAll(account, input, period)) {
          for (const { step } of explanation.steps) seen.add(step)
          try {
            follow(explanation)
          } catch (error) {
            throw new Error(
              `seed ${seed}, ${id}, ${explanation.affiliate_id} ${line.rule.id} ${line.scope}: ${JSON.stringify(explanation, null, 1)}`,
              { cause: error },
            )
          }
        }
      }
    }
    expect([...seen].sort()).toEqual([
      'advance',
      'amount',
      'base',
      'clamp',
      'conversion',
      'facts',
      'fence',
      'floor',
      'funded',
      'max',
      'max_count',
      'max_per_customer',
      'measure',
      'negative',
      'qualification',
      'rate',
      'rounding',
      'sources',
      'trigger',
      'units',
    ])
  })

  test('the parts of a line sum to its base and its units', () => {
    for (const seed of SEEDS) {
      const world = randomWorld(seed)
      const { account, input } = open(world)
      for (const id of periodsOf(world)) {
        for (const { line, parts } of explainAll(account, input, parsePeriod(id)!)) {
          if (line.rule.kind !== 'share' && line.rule.kind !== 'unit') continue
          const fixed = line.rule.kind === 'share' && line.scope === 'affiliate'
          const base = parts.reduce((total, part) => add(total, part.base), ZERO)
          const units = parts.reduce((total, part) => add(total, part.units), ZERO)
          const before = line.fence?.base ?? line.base ?? ZERO
          const whole = fixed && 'base' in line.rule ? add(base, line.rule.base.fixed) : base
          expect(compare(whole, before)).toBe(0)
          if (line.units) expect(compare(units, line.units)).toBe(0)
        }
      }
    }
  })
})
