import type { PlanBooks } from '../../src/commission/engine/books.ts'
import type { StatementJson } from '../../src/commission/engine/statement.ts'
import { parsePeriod } from '../../src/platform/money/calendar.ts'
import { decimal } from '../../src/platform/money/decimal.ts'
import { add, negate, parse, plain, type Rational, ZERO } from '../commission/oracle/rational.ts'

// Keeps the books of the model test: what was approved, in plain lists. It is written from §13 and §16,
// and shares nothing with the code that reads books from the database.

/** A manual entry that waits for a statement, or stands in an approved one. */
export interface Entry {
  readonly id: string
  readonly affiliate: string
  readonly plan: string
  readonly amount: string
  booked: boolean
}

const nameOf = (affiliate: string, plan: string) => JSON.stringify([affiliate, plan])

/** Opens empty books. */
export function openBooks() {
  const approved = new Map<string, StatementJson[]>()
  const closed = new Map<string, number>()
  const entries: Entry[] = []
  const approvedOf = (affiliate: string, plan: string) =>
    approved.get(nameOf(affiliate, plan)) ?? []
  const booksOf = (key: string): PlanBooks => {
    const own = approved.get(key) ?? []
    const waiting = entries.filter((one) => nameOf(one.affiliate, one.plan) === key && !one.booked)
    return {
      closedThrough: closed.get(key) ?? Number.NEGATIVE_INFINITY,
      statements: new Map(own.map((one) => [one.period, closedStatement(one)])),
      ...sumsOf(own),
      received: new Set(
        own.flatMap(({ received }) =>
          received.map(({ from, period }) => JSON.stringify([from, period])),
        ),
      ),
      manual: waiting.map(({ id, amount }) => ({
        id,
        amount,
        reason: 'a bonus',
        reference: id,
        at: '2026-01-01T00:00:00.000Z',
      })),
      manualFrom: Number.NEGATIVE_INFINITY,
    }
  }
  return {
    entries,
    approvedOf,
    /** All approved statements. */
    all: () => [...approved.values()].flat(),
    closedThrough: (affiliate: string, plan: string) =>
      closed.get(nameOf(affiliate, plan)) ?? Number.NEGATIVE_INFINITY,
    /** Closes a period for an affiliate and plan, with its statement if it has one. */
    close(affiliate: string, plan: string, period: string, statement: StatementJson | null) {
      const key = nameOf(affiliate, plan)
      closed.set(key, parsePeriod(period)!.last)
      if (statement === null) return
      approved.set(key, [...approvedOf(affiliate, plan), structuredClone(statement)])
      for (const { id } of statement.manual) entries.find((one) => one.id === id)!.booked = true
    },
    /** Returns the books of affiliates and plans as the engine reads them. */
    byPlan(): Map<string, PlanBooks> {
      const waiting = entries.filter(({ booked }) => !booked)
      const entered = waiting.map(({ affiliate, plan }) => nameOf(affiliate, plan))
      return new Map([...new Set([...closed.keys(), ...entered])].map((key) => [key, booksOf(key)]))
    },
  }
}

export type Bookkeeper = ReturnType<typeof openBooks>

const closedStatement = ({ closing, dropped, transferred }: StatementJson) => ({
  closing: decimal(closing),
  dropped: decimal(dropped),
  transfer: transferred && { ...transferred, amount: decimal(transferred.amount) },
})

interface Sum {
  rule: string
  version: number
  scope: string
  occurrence: number
  amount: Rational
}

/** Sums what approved statements have of each line, and what they restored of what periods dropped. */
function sumsOf(
  statements: readonly StatementJson[],
): Pick<PlanBooks, 'booked' | 'corrections' | 'restored'> {
  const booked = new Map<string, Map<string, Sum>>()
  const corrections = new Map<string, Map<string, Rational>>()
  const restored = new Map<string, Map<string, Rational>>()
  const put = (sums: Map<string, Rational>, key: string, amount: Rational) =>
    sums.set(key, add(sums.get(key) ?? ZERO, amount))
  const within = (all: Map<string, Map<string, Rational>>, key: string) => {
    const found = all.get(key) ?? new Map<string, Rational>()
    all.set(key, found)
    return found
  }
  const book = (period: string, line: Omit<Sum, 'amount'>, amount: string) => {
    const lines = booked.get(period) ?? new Map<string, Sum>()
    booked.set(period, lines)
    const key = JSON.stringify([line.rule, line.version, line.scope, line.occurrence])
    lines.set(key, { ...line, amount: add(lines.get(key)?.amount ?? ZERO, parse(amount)) })
  }
  for (const { period, lines, adjustments } of statements) {
    const seen: string[] = []
    for (const { rule, version, scope, amount } of lines) {
      const name = JSON.stringify([rule, version, scope])
      const occurrence = seen.filter((one) => one === name).length
      seen.push(name)
      book(period, { rule, version, scope, occurrence }, amount)
    }
    for (const { period: of, line, droppedIn, amount } of adjustments) {
      put(within(corrections, period), of, parse(amount))
      if (line) book(of, line, amount)
      else put(within(restored, of), String(droppedIn), negate(parse(amount)))
    }
  }
  const decimals = (sums: Map<string, Rational>) =>
    new Map([...sums].map(([key, amount]) => [key, decimal(plain(amount))]))
  const asDecimals = (lines: Map<string, Sum>) =>
    new Map([...lines].map(([key, one]) => [key, { ...one, amount: decimal(plain(one.amount)) }]))
  return {
    booked: new Map([...booked].map(([period, lines]) => [period, asDecimals(lines)])),
    corrections: new Map([...corrections].map(([key, sums]) => [key, decimals(sums)])),
    restored: new Map([...restored].map(([key, sums]) => [key, decimals(sums)])),
  }
}
