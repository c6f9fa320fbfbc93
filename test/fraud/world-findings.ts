import * as v from 'valibot'
import { expect } from 'vitest'
import { netRevenue } from '../../src/commission/engine/net-revenue.ts'
import type { DayFinding, RuleParameters } from '../../src/fraud/findings.ts'
import { findingsOf } from '../../src/fraud/findings.ts'
import type { Figure, Kind, View } from '../../src/fraud/kind.ts'
import { withoutVoids } from '../../src/fraud/qualifications.ts'
import { addRevenue } from '../../src/fraud/revenue.ts'
import { seenBy, viewOf } from '../../src/fraud/views.ts'
import { dayNumber, dayText } from '../../src/platform/money/calendar.ts'
import { open } from '../commission/engine.ts'
import type { FraudWorld, WorldFinding } from './fraud-world.ts'
import type { Days } from './random-worlds.ts'

/** Returns a rule of a kind with the defaults of the parameters that are absent. */
export const ruleOf = (kind: Kind, parameters: object): RuleParameters => ({
  kind,
  parameters: v.parse(kind.parameters, parameters),
})

/** Returns a figure as the oracle writes it: without words. */
export const withoutWords = ({ threshold_is: _, ...figure }: Figure) => figure

/** §17: what a figure is more than is a parameter of its rule, or has a name. */
function expectNamed({ kind, parameters }: RuleParameters, { figures }: DayFinding): void {
  const known = JSON.stringify([parameters, '0'])
  for (const { name, comparison, threshold, threshold_is } of figures) {
    const isNamed = known.includes(`"${threshold}"`) || threshold_is !== undefined
    expect(comparison !== 'more_than' || isNamed, `${kind.kind}: ${name}`).toBe(true)
  }
}

/** Returns findings as the oracle writes them. */
export const written = (found: readonly DayFinding[]): WorldFinding[] =>
  found.map(({ day, subject, figures, evidence }) => ({
    day: dayText(day),
    subject: Object.values(subject).flat(),
    figures: figures.map(withoutWords),
    evidence: evidence.map(({ customer_id, resource, id, day: on }) => ({
      customer_id,
      resource,
      id,
      day: dayText(on),
    })),
  }))

/** Returns the days that a rule needs, as numbers. */
export const wantedDays = ({ kind, parameters }: RuleParameters, { first, last }: Days) => ({
  reach: kind.reach(parameters),
  first: dayNumber(first),
  last: dayNumber(last),
})

/** Returns a function that returns what a rule finds of an affiliate of a world, in memory. */
export function finder(world: FraudWorld) {
  const { input: opened } = open(world)
  const input = { ...opened, inForce: withoutVoids(opened.inForce) }
  const statements = world.statements.map((one) => ({
    ...one,
    payable: '0',
    payable_on: null,
    paid_on: null,
  }))
  const eventnames = [...new Set(world.events.map(({ eventname }) => eventname))]
  const definitions = eventnames.map((eventname) => ({ eventname, kpis: world.kpis }))
  return (rule: RuleParameters, days: Days, affiliate: string): WorldFinding[] => {
    const wanted = wantedDays(rule, days)
    const parts = netRevenue(world.vertical, definitions, wanted.reach.revenue)
    const seen = input.customers
      .flatMap((customer) => seenBy(input, customer, wanted))
      .filter(([one]) => one === affiliate)
      .map(([, one]) => ({ ...one, clickedAt: world.clicks[one.customer_id] ?? null }))
    const own = statements.filter(({ affiliate_id }) => affiliate_id === affiliate)
    const view: View = viewOf(input, affiliate, seen, own, wanted)
    const periods = view.periods.map((period) => ({ view, period }))
    for (const customer of input.customers) {
      addRevenue(parts, customer, new Map([[affiliate, periods]]))
    }
    const found = findingsOf(rule, view, wanted.first, wanted.last)
    for (const one of found) expectNamed(rule, one)
    return written(found)
  }
}
