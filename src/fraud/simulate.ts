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
import { EXPIRE_DAYS } from '../platform/durations.ts'
import { type Case, casesOf } from './cases.ts'
import type { DecidedCase, Outcome } from './db/outcomes.ts'
import { readStatementSums, type StatementSums } from './db/view.ts'
import { subjectKey } from './findings.ts'
import { judge } from './judge.ts'
import { BACK_TEST_LIMITS, EVALUATION_LIMITS } from './limits.ts'
import type { ViewSource } from './read-views.ts'
import type { RuleDays, RuleFinding } from './rule-days.ts'

// A back-test: the cases that a rule would have opened if it had run each morning, and what they would have
// held. It stores nothing, and knows of no decision.

/** A rule on some days, each of which has at most one version. */
export interface BackTest {
  readonly versions: readonly RuleDays[]
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
  const found = await findingsOfTest(from, test, affiliates)
  const owners = [...new Set(found.map(([affiliate]) => affiliate))]
  const { db, account } = from.source
  const statements = await readStatementSums(db, account.id, owners, {
    // Those of the year before can still be unpaid.
    first: Number(dayText(test.first).slice(0, 4)) - 1,
    last: Number(dayText(test.last).slice(0, 4)),
  })
  const bySubject = Map.groupBy(found, ([affiliate, { subject }]) =>
    JSON.stringify([affiliate, subjectKey(subject)]),
  )
  const cases = [...bySubject.values()].flatMap((own) => {
    const affiliate_id = own[0]?.[0] ?? ''
    const ofAffiliate = statements.filter((one) => one.affiliate_id === affiliate_id)
    const findings = own.map(([, finding]) => finding)
    return casesOf(findings, test.last, EXPIRE_DAYS).map((one) => ({
      ...{ ...one, affiliate_id },
      held: one.action === 'hold' ? heldBy(test.last, one, ofAffiliate) : [],
    }))
  })
  return cases.sort(inOrder)
}

/** Returns what is found, each with its affiliate; that of a subject in order of day. */
async function findingsOfTest(
  from: ViewSource,
  { versions, first, last }: BackTest,
  affiliates: readonly string[],
): Promise<[affiliate: string, RuleFinding][]> {
  const tooLarge = new Set<string>()
  const found: [string, RuleFinding][] = []
  const left = { facts: BACK_TEST_LIMITS.facts, evidence: BACK_TEST_LIMITS.evidence }
  for (let start = first; start <= last; start += EVALUATION_LIMITS.days) {
    const end = Math.min(last, start + EVALUATION_LIMITS.days - 1)
    for (const one of versions) {
      const days = { ...one, first: Math.max(start, one.first), last: Math.min(end, one.last) }
      if (days.first > days.last) continue
      for await (const { findings, facts } of judge(from, days, affiliates, tooLarge)) {
        left.facts -= facts
        for (const [affiliate, own] of findings) {
          for (const finding of own) {
            left.evidence -= finding.evidence.length
            found.push([affiliate, finding])
          }
        }
        if (left.facts < 0 || left.evidence < 0 || tooLarge.size > 0) throw new TooManyFacts()
      }
    }
  }
  return found
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
