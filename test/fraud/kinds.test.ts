import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { type DayFinding, findingsOf } from '../../src/fraud/findings.ts'
import type { View } from '../../src/fraud/kind.ts'
import { KINDS } from '../../src/fraud/kinds.ts'
import { customer, times, traded, viewOf } from './view.ts'

// What the random worlds of worlds.test.ts do not have: usual parameters, shared e-mails, crowds, spellings.

const DAY = 20_000

/** Returns what a rule finds on a day, or on several up to it, with the defaults and some parameters. */
function findings(name: string, view: View, parameters: object = {}, first = DAY): DayFinding[] {
  const kind = KINDS.find((one) => one.kind === name)!
  return findingsOf({ kind, parameters: v.parse(kind.parameters, parameters) }, view, first, DAY)
}

describe('hedge_pair', () => {
  test.each([
    ['EURUSD', 'eurusd'],
    ['EURUSD', 'EURUSD.m'],
    ['EURUSDm', 'EURUSD.pro'],
    ['US30-cash', 'US30'],
    ['XAUUSD#', 'xauusd_x'],
  ])('takes %s and %s for the same instrument', (one, other) => {
    const view = viewOf(
      ['C', 'D'].map((id, i) =>
        customer(id, DAY - 40, {
          facts: times(3, (day) =>
            traded(DAY - day, { lots_traded: 2, pnl: i ? -405 : 400 }, [one, other][i]),
          ),
        }),
      ),
    )
    expect(findings('hedge_pair', view)).toMatchObject([{ subject: { customer_ids: ['C', 'D'] } }])
  })

  test.each([
    ['EUR_USD', 'EUR_GBP'],
    ['USOil', 'USO'],
    ['GBPUSD', 'EURUSD'],
  ])('takes %s and %s for different instruments', (...names) => {
    const view = viewOf(
      names.map((name, i) =>
        customer(name, DAY - 40, {
          facts: times(3, (day) => traded(DAY - day, { lots_traded: 2, pnl: i ? -1 : 1 }, name)),
        }),
      ),
    )
    expect(findings('hedge_pair', view)).toEqual([])
  })

  test.each([2, 50, 200, 202, 220, 1500])(
    '§17 size never evades: %i customers on opposite sides are a finding',
    (count) => {
      const crowd = times(count, (i) =>
        customer(`C-${1000 + i}`, DAY - 40, {
          facts: times(3, (day) => traded(DAY - day, { lots_traded: 1, pnl: i % 2 ? 100 : -100 })),
        }),
      )
      const [one, ...others] = findings('hedge_pair', viewOf(crowd))
      const tooMany = {
        subject: { affiliate_id: 'A' },
        figures: [{ name: 'pairs_of_a_day', value: '10001', threshold: '10000' }],
      }
      expect(others).toEqual([])
      expect(one).toMatchObject(
        count > 200 ? tooMany : { subject: { customer_ids: ['C-1000', 'C-1001'] } },
      )
      expect(new Set(one?.evidence.map(({ customer_id }) => customer_id)).size).toBe(count)
    },
  )
})
