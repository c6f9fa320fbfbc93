import { byAge, latestThatReach, sumPayable } from '../books/holds.ts'
import { dayNumber, dayText } from '../commission/engine/calendar.ts'
import {
  add,
  type Decimal,
  decimal,
  fixedText,
  isPositive,
  ZERO,
} from '../commission/engine/decimal.ts'
import { compareText } from '../commission/engine/facts.ts'
import { minorDigits } from '../commission/minor-digits.ts'
import { TooManyFacts } from '../commission/statements/compute.ts'
import { addFindings, type Case, onDay } from './cases.ts'
import type { DecidedCase, Outcome } from './db/outcomes.ts'
import { readStatementSums, type StatementSums } from './db/view.ts'
import { bySubject } from './findings.ts'
import { judge } from './judge.ts'
import { BACK_TEST_LIMITS, EVALUATION_LIMITS } from './limits.ts'
import type { ViewSource } from './read-views.ts'
import { type AnyVersion, ruleDaysOf } from './rule-days.ts'

// A back-test: the cases that a rule would have opened if it had run each morning, and what they would have
// held. It stores nothing, and knows of no decision.

/** The versions of a rule, and the days on which they are tested. */
export interface BackTest {
  readonly versions: readonly AnyVersion[]
  readonly first: number
  readonly last: number
}

/** A statement that a case would have held. */
export interface HeldStatement {
  readonly id: string
  readonly currency: string
  readonly amount: Decimal
}

/** A case that would have been opened. */
export interface SimulatedCase extends Case {
  readonly affiliate_id: string
  readonly held: readonly HeldStatement[]
}

/**
 * Returns the cases that a rule would have opened, in order of the day for which they were opened, affiliate and
 * subject. A customer who changes affiliate has cases with each of them.
 *
 * @throws TooManyFacts if it reads more records than the limits allow.
 */
export async function simulateRule(
  from: ViewSource,
  test: BackTest,
  affiliates: readonly string[],
): Promise<SimulatedCase[]> {
  const { db, account } = from.source
  const found = await findCases(from, test, affiliates)
  const owners = [...new Set(found.map(({ affiliate_id }) => affiliate_id))]
  const statements = await readStatementSums(db, account.id, owners, {
    // Those of the year before can still be unpaid.
    first: Number(dayText(test.first).slice(0, 4)) - 1,
    last: Number(dayText(test.last).slice(0, 4)),
  })
  const byAffiliate = Map.groupBy(statements, ({ affiliate_id }) => affiliate_id)
  const cases = found.flatMap(({ affiliate_id, cases }) =>
    cases.map((one) => {
      const own = byAffiliate.get(affiliate_id) ?? []
      const held = one.action === 'hold' ? heldBy(test.last, one, own) : []
      return { ...onDay(one, test.last), affiliate_id, held }
    }),
  )
  return cases.sort(inOrder)
}

/** The cases of a subject, and the keys of their records. */
interface Found {
  readonly affiliate_id: string
  readonly cases: Case[]
  readonly known: Set<string>
}

/** Judges the days as evaluations do, and keeps what is found in memory. */
async function findCases(
  from: ViewSource,
  { versions, first, last }: BackTest,
  affiliates: readonly string[],
): Promise<Found[]> {
  const tooLarge = new Set<string>()
  const all = new Map<string, Found>()
  const left = { facts: BACK_TEST_LIMITS.facts, evidence: BACK_TEST_LIMITS.evidence }
  for (let start = first; start <= last; start += EVALUATION_LIMITS.days) {
    const end = Math.min(last, start + EVALUATION_LIMITS.days - 1)
    for (const rule of ruleDaysOf(versions, start, end)) {
      for await (const { findings, facts } of judge(from, rule, affiliates, tooLarge)) {
        left.facts -= facts
        for (const { affiliate_id, subject, found } of bySubject(findings)) {
          const key = JSON.stringify([affiliate_id, subject])
          const own = all.get(key) ?? { affiliate_id, cases: [], known: new Set() }
          all.set(key, own)
          for (const { evidence } of found) left.evidence -= evidence.length
          for (const one of addFindings(own.cases.at(-1) ?? null, own.known, found, rule)) {
            own.cases[one.position] = one
          }
        }
        if (left.facts < 0 || left.evidence < 0 || tooLarge.size > 0) throw new TooManyFacts()
      }
    }
  }
  return [...all.values()]
}

const inOrder = (a: SimulatedCase, b: SimulatedCase): number =>
  a.opened_for - b.opened_for ||
  compareText(a.affiliate_id, b.affiliate_id) ||
  compareText(a.subject, b.subject) ||
  a.position - b.position

/**
 * Returns the statements that were payable while a case was open: it opens on the morning after its day. A
 * statement that was paid until then is not held. A case that holds a part holds the latest of them: as few as
 * reach the part.
 */
function heldBy(
  last: number,
  { opened_for, reserve_percent }: Case,
  statements: readonly StatementSums[],
): HeldStatement[] {
  const payable = statements.filter(
    (it) =>
      it.payable_on !== null &&
      isPositive(decimal(it.payable)) &&
      dayNumber(it.payable_on) <= last &&
      (it.paid_on === null || dayNumber(it.paid_on) > opened_for),
  )
  return [...Map.groupBy(payable.toSorted(byAge), ({ currency }) => currency).values()]
    .flatMap((own) => latestThatReach(own, reserve_percent, sumPayable(own)))
    .map(({ id, currency, payable: amount }) => ({ id, currency, amount: decimal(amount) }))
}

/**
 * Returns what persons decided of the stored case that a simulated one corresponds to: of the same subject, with
 * days in common; of several the last one. Null if there is none.
 */
export function outcomeOf(one: SimulatedCase, decided: readonly DecidedCase[]): Outcome | null {
  const same = decided.findLast(
    (it) =>
      it.affiliate_id === one.affiliate_id &&
      it.subject === one.subject &&
      it.opened_for <= one.last_day &&
      it.last_day >= one.opened_for,
  )
  return same?.outcome ?? null
}

/** Adds up what is held by currency. A statement that several cases hold counts once. */
export function sumHeld(held: readonly HeldStatement[]) {
  const once = [...new Map(held.map((one) => [one.id, one])).values()]
  return [...Map.groupBy(once, ({ currency }) => currency)]
    .map(([currency, own]) => ({
      currency,
      amount: fixedText(
        own.reduce((total, { amount }) => add(total, amount), ZERO),
        minorDigits(currency),
      ),
      statements: own.length,
    }))
    .sort((a, b) => compareText(a.currency, b.currency))
}
