import { byAge, latestThatReach, sumPayable } from '../commission/books/holds.ts'
import { dayNumber } from '../commission/engine/calendar.ts'
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
import { countUnchanged } from '../db/commission/customers-of.ts'
import type { DecidedCase, Outcome } from '../db/fraud/outcomes.ts'
import type { StatementSums } from '../db/fraud/view.ts'
import { firstGroup, sizeOfGroup } from './affiliate-groups.ts'
import { type Case, type CaseTerms, casesOf, type VersionFinding } from './cases.ts'
import { type Finder, newFinder, type RuleParameters, subjectKey } from './findings.ts'
import { joinReaches } from './kind.ts'
import { BACK_TEST_LIMITS } from './limits.ts'
import { readViews, type ViewSource } from './read-views.ts'
import type { HeldSum } from './simulated-page.ts'
import type { ViewOfDays, WantedDays } from './views.ts'

// A back-test: the cases that a rule would have opened if it had run each morning, and what they would have
// held. It stores nothing, and knows of no decision.

/** A version of a rule, on the days on which it applies. */
export interface TestedVersion extends RuleParameters {
  /** Its number; null if it is not stored. */
  readonly version: number | null
  readonly terms: CaseTerms
  /** Whether it reads the records of an affiliate. */
  readonly isInScope: (affiliate: string) => boolean
  readonly first: number
  readonly last: number
}

/** A rule on some days. */
export interface BackTest {
  /** In order of their days, each of which has at most one. All have the same kind. */
  readonly versions: readonly TestedVersion[]
  readonly expireDays: number
  readonly first: number
  readonly last: number
}

/** A statement that a case would have held. */
export interface HeldStatement {
  readonly id: string
  readonly affiliate_id: string
  readonly currency: string
  readonly amount: Decimal
}

/** A case that would have been opened. */
export interface SimulatedCase extends Case {
  readonly affiliate_id: string
  readonly held: readonly HeldStatement[]
}

/** The cases of some affiliates. */
export interface SimulatedCases {
  /** In order of the day for which they were opened, affiliate and subject. */
  readonly cases: readonly SimulatedCase[]
  /** Those of the other back-test. */
  readonly others: readonly SimulatedCase[]
  /** The affiliates that were read: the first of those that were wanted. */
  readonly affiliates: readonly string[]
  /** The affiliate after these, if it alone has too many records. */
  readonly tooLarge: string | null
}

/** Returns what must be read for a back-test, and for another one of the same days. */
export const daysOf = (
  { versions, first, last }: BackTest,
  other: BackTest | null = null,
): WantedDays => ({
  reach: joinReaches(
    [...versions, ...(other?.versions ?? [])].map(({ kind, parameters }) => kind.reach(parameters)),
  ),
  first,
  last,
})

/**
 * Returns the cases that a rule would have opened for as many affiliates as the limits allow.
 *
 * @param affiliates In order; at least one is read, or found too large.
 * @param maxFacts The most records to read.
 * @param other Another back-test of the same days, which reads the same records.
 */
export async function simulateRule(
  from: ViewSource,
  test: BackTest,
  affiliates: readonly string[],
  maxFacts: number,
  other: BackTest | null = null,
): Promise<SimulatedCases> {
  const counts = await countUnchanged(from.source, from.source.account.id)
  const days = daysOf(test, other)
  const find = newFinder(BACK_TEST_LIMITS.evidence)
  const findOther = newFinder(BACK_TEST_LIMITS.evidence)
  const cases: SimulatedCase[] = []
  const others: SimulatedCase[] = []
  const wanted = affiliates.slice(0, BACK_TEST_LIMITS.affiliates)
  let done = 0
  let left = maxFacts
  let most = BACK_TEST_LIMITS.customers
  for (let groups = 0; groups < BACK_TEST_LIMITS.groups && done < wanted.length; groups++) {
    const group = firstGroup(wanted.slice(done), counts, most)
    try {
      const { views, statements, facts } = await readViews(from, group, days, left)
      for (const affiliate of group) {
        const own = statements.filter(({ affiliate_id }) => affiliate_id === affiliate)
        const found = await foundIn(find, test, affiliate, views.get(affiliate) ?? [])
        cases.push(...casesIn(test, affiliate, found, own))
        if (!other) continue
        const also = await foundIn(findOther, other, affiliate, views.get(affiliate) ?? [])
        others.push(...casesIn(other, affiliate, also, own))
      }
      done += group.length
      left -= facts
    } catch (error) {
      if (!(error instanceof TooManyFacts)) throw error
      // What was read before counts towards the limit; the next page begins anew.
      if (done > 0) break
      if (group.length === 1) {
        return { cases: [], others: [], affiliates: [], tooLarge: group[0] ?? null }
      }
      most = sizeOfGroup(group, counts) / 2
    }
  }
  return {
    cases: cases.sort(inOrder),
    others,
    affiliates: wanted.slice(0, done),
    tooLarge: null,
  }
}

const inOrder = (a: SimulatedCase, b: SimulatedCase): number =>
  a.openedFor - b.openedFor ||
  compareText(a.affiliate_id, b.affiliate_id) ||
  compareText(subjectKey(a.finding.subject), subjectKey(b.finding.subject)) ||
  a.position - b.position

/** Returns what the versions of a rule find in the views of an affiliate. */
async function foundIn(
  find: Finder,
  test: BackTest,
  affiliate_id: string,
  views: readonly ViewOfDays[],
): Promise<VersionFinding[]> {
  const versions = versionsFor(test, affiliate_id)
  const found: VersionFinding[] = []
  for (const { view, first, last } of views) {
    for (const one of versions) {
      const days = [Math.max(first, one.first), Math.min(last, one.last)] as const
      const { version, kind, terms } = one
      for (const finding of await find(one, view, ...days)) {
        found.push({ ...finding, version, kind: kind.kind, terms })
      }
    }
  }
  return found
}

const versionsFor = ({ versions }: BackTest, affiliate: string): TestedVersion[] =>
  versions.filter(({ isInScope }) => isInScope(affiliate))

/**
 * Returns the cases that follow from what was found of an affiliate. A customer who changes affiliate has
 * cases with each of them.
 */
export function casesIn(
  test: BackTest,
  affiliate_id: string,
  found: readonly VersionFinding[],
  statements: readonly StatementSums[],
): SimulatedCase[] {
  const bySubject = Map.groupBy(found, ({ subject }) => subjectKey(subject))
  return [...bySubject.values()].flatMap((findings) =>
    casesOf(findings, test.last, test.expireDays).map((one) => ({
      ...{ ...one, affiliate_id },
      held: one.action === 'hold' ? heldBy(test.last, one, statements) : [],
    })),
  )
}

/**
 * Returns the statements that were payable while a case was open: it opens on the morning after its day. A
 * statement that was paid until then is not held. A case that holds a part holds the latest of them: as few as
 * reach the part.
 */
function heldBy(
  last: number,
  { openedFor, reserve_percent }: Case,
  statements: readonly StatementSums[],
): HeldStatement[] {
  const payable = statements.filter(
    (it) =>
      it.payable_on !== null &&
      isPositive(decimal(it.payable)) &&
      dayNumber(it.payable_on) <= last &&
      (it.paid_on === null || dayNumber(it.paid_on) > openedFor),
  )
  return [...Map.groupBy(payable.toSorted(byAge), ({ currency }) => currency).values()]
    .flatMap((own) => latestThatReach(own, reserve_percent, sumPayable(own)))
    .map((it) => {
      const { id, affiliate_id, currency } = it
      return { id, affiliate_id, currency, amount: decimal(it.payable) }
    })
}

/**
 * Returns the cases that others have, too: each with a case of the same subject and days in common, and each of
 * these once.
 */
export function sharedCases(
  cases: readonly SimulatedCase[],
  others: readonly SimulatedCase[],
): Set<SimulatedCase> {
  const affiliateAndSubject = ({ affiliate_id, finding }: SimulatedCase) =>
    JSON.stringify([affiliate_id, subjectKey(finding.subject)])
  const left = Map.groupBy(others, affiliateAndSubject)
  return new Set(
    cases.filter((one) => {
      const same = left.get(affiliateAndSubject(one)) ?? []
      const at = same.findIndex(
        (other) => other.openedFor <= one.lastEvidenceDay && other.lastEvidenceDay >= one.openedFor,
      )
      if (at >= 0) same.splice(at, 1)
      return at >= 0
    }),
  )
}

/**
 * Returns what persons decided of the stored case that a simulated one corresponds to: of the same subject, with
 * days in common; of several the last one. Null if there is none.
 */
export function outcomeOf(one: SimulatedCase, decided: readonly DecidedCase[]): Outcome | null {
  const subject = subjectKey(one.finding.subject)
  const same = decided.findLast(
    (it) =>
      it.affiliate_id === one.affiliate_id &&
      it.subject === subject &&
      it.opened_for <= one.lastEvidenceDay &&
      it.last_day >= one.openedFor,
  )
  return same?.outcome ?? null
}

/** Adds up what is held by currency. A statement that several cases hold counts once. */
export function sumHeld(held: readonly HeldStatement[]): HeldSum[] {
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
