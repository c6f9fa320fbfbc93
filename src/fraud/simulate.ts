import { TooManyFacts } from '../commission/run/customers.ts'
import { compareText } from '../platform/compare-text.ts'
import { addFindings, type Case, onDay } from './cases.ts'
import { bySubject } from './findings.ts'
import { judge } from './judge.ts'
import { BACK_TEST_LIMITS, EVALUATION_LIMITS } from './limits.ts'
import { type AnyVersion, ruleDaysOf } from './rule-days.ts'
import type { ViewSource } from './views.ts'

// A back-test: the cases that a rule would have opened if it had run each morning. It stores nothing, and knows of no
// decision.

/** The versions of a rule, and the days on which they are tested. */
export interface BackTest {
  readonly versions: readonly AnyVersion[]
  readonly first: number
  readonly last: number
}

/** A case that would have been opened. */
export interface SimulatedCase extends Case {
  readonly affiliate_id: string
}

/** The cases of a subject, and the keys of their records. */
interface Found {
  readonly cases: SimulatedCase[]
  readonly known: Set<string>
}

/**
 * Returns the cases that a rule would have opened, in order of the day for which they were opened, affiliate and
 * subject. A customer who changes affiliate has cases with each of them. The days are judged as evaluations judge them.
 *
 * @throws TooManyFacts if it reads more records than the limits allow.
 */
export async function simulateRule(
  from: ViewSource,
  { versions, first, last }: BackTest,
  affiliates: readonly string[],
): Promise<SimulatedCase[]> {
  const all = new Map<string, Found>()
  const left = { facts: BACK_TEST_LIMITS.facts, evidence: BACK_TEST_LIMITS.evidence }
  for (let start = first; start <= last; start += EVALUATION_LIMITS.days) {
    const end = Math.min(last, start + EVALUATION_LIMITS.days - 1)
    for (const rule of ruleDaysOf(versions, start, end)) {
      for await (const { findings, facts } of judge(from, rule, affiliates)) {
        left.facts -= facts
        for (const { affiliate_id, subject, found } of bySubject(findings)) {
          const key = JSON.stringify([affiliate_id, subject])
          const own = all.get(key) ?? { cases: [], known: new Set() }
          all.set(key, own)
          for (const { evidence } of found) left.evidence -= evidence.length
          for (const one of addFindings(own.cases.at(-1) ?? null, own.known, found, rule)) {
            own.cases[one.position] = { ...one, affiliate_id }
          }
        }
        if (left.facts < 0 || left.evidence < 0) throw new TooManyFacts()
      }
    }
  }
  return [...all.values()]
    .flatMap(({ cases }) => cases.map((one) => onDay(one, last)))
    .sort(inOrder)
}

const inOrder = (a: SimulatedCase, b: SimulatedCase): number =>
  a.opened_for - b.opened_for ||
  compareText(a.affiliate_id, b.affiliate_id) ||
  compareText(a.subject, b.subject) ||
  a.position - b.position
