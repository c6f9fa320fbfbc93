import { readBeginnings } from '../commission/db/facts.ts'
import { readAccount } from '../commission/run/stored-account.ts'
import { raisePosition } from '../ingest/db/changed.ts'
import { compareText } from '../platform/compare-text.ts'
import { accountDatabase } from '../platform/db/database.ts'
import { isAssertionFailure, isUniqueViolation } from '../platform/db/retry.ts'
import type { Account } from '../platform/db/schema.ts'
import { EXPIRE_DAYS } from '../platform/durations.ts'
import { dayNumber } from '../platform/money/calendar.ts'
import { bookZoneOf, dayInZone } from '../platform/zone.ts'
import { rowsOfCase } from './case-rows.ts'
import { addFindings } from './cases.ts'
import {
  type EvaluatedCase,
  type Evaluator,
  type EvidenceRow,
  readSubjects,
  storeCases,
} from './db/findings.ts'
import {
  advance,
  beginEvaluation,
  checkPlace,
  finishEvaluation,
  type Place,
  type Progress,
  readChangedFrom,
  readProgress,
} from './db/progress.ts'
import { bySubject } from './findings.ts'
import { type Judged, judge } from './judge.ts'
import { EVALUATION_LIMITS } from './limits.ts'
import { openViews } from './read-views.ts'
import { type RuleDays, ruleDaysOf } from './rule-days.ts'
import { type RuleVersion, readStoredRules } from './stored-rules.ts'
import type { ViewSource } from './views.ts'

// The evaluation of the stored rules of an account: of the days that are not evaluated yet, or whose records have
// changed since. It goes from rule to rule. What is found is only added, so that an evaluation which is killed goes on
// with the rule at which it was. Two evaluations at once do no harm: the slower one notices that the progress has moved.

/** What an evaluation has done. */
export interface Evaluated {
  /** The last day that is evaluated by all rules, in days since 1970; null before the first one. */
  readonly through: number | null
  readonly isDone: boolean
  /** The cases that were opened. */
  readonly opened: number
}

/** Returns the last complete day of an account, in days since 1970. */
export const lastCompleteDay = (account: Account, now: number): number =>
  dayNumber(dayInZone(bookZoneOf(account), now)) - 1

/**
 * Evaluates the rules of an account until all complete days are done, or until it has read so many records.
 *
 * @param by Whom the audit log names for the holds that begin.
 */
export async function evaluateRules(
  env: Env,
  account: Account,
  by: Evaluator,
  maxFacts: number,
): Promise<Evaluated> {
  const db = accountDatabase(env, account)
  const last = lastCompleteDay(account, by.now)
  const total = { facts: 0, opened: 0 }
  let progress = await readProgress(db, account.id)
  let views: ViewSource | null = null
  const result = (isDone: boolean): Evaluated => ({
    through: progress?.through ?? null,
    isDone,
    opened: total.opened,
  })
  for (let attempt = 0; attempt < EVALUATION_LIMITS.attempts; ) {
    const place = placeOf(progress)
    const versions = await readStoredRules(db, account.id)
    const [rule] = rulesAfter(versions, place)
    try {
      if (!place) {
        const days = versions.map(({ effective_from }) => dayNumber(effective_from))
        const first = Math.min(Number.POSITIVE_INFINITY, ...days)
        if (!(await begin(db, account.id, { first, last }, progress))) return result(true)
        // What changes from now on is evaluated once more: nothing that was read before may be used then.
        views = null
      } else if (rule === undefined) {
        await finishEvaluation(db, account.id, place, place.last - EXPIRE_DAYS)
      } else {
        if (total.facts >= maxFacts) return result(false)
        views ??= await viewsOf(env, account, place, progress?.position ?? null)
        await evaluateRule({ db, account: account.id, views, place, by }, versions, rule, total)
      }
    } catch (error) {
      // Another evaluation has moved on, a case was decided, or the account was reset meanwhile.
      if (!isAssertionFailure(error) && !isUniqueViolation(error)) throw error
      attempt++
    }
    progress = await readProgress(db, account.id)
  }
  return result(false)
}

/** Returns the rules that are left at a place, in order. */
const rulesAfter = (versions: readonly RuleVersion[], place: Place | null): string[] =>
  [...new Set(versions.map(({ rule }) => rule))]
    .filter((rule) => place && compareText(rule, place.cursor) > 0)
    .sort(compareText)

/** Returns where an evaluation goes on; null if none is under way. */
function placeOf(progress: Progress | null): Place | null {
  if (progress === null || progress.first === null || progress.last === null) return null
  const { first, last, cursor } = progress
  return { first, last, cursor }
}

/** Begins the evaluation of the first days that are not evaluated, or have changed; false if there are none. */
async function begin(
  db: D1Database,
  account: string,
  { first, last }: Omit<Place, 'cursor'>,
  was: Progress | null,
): Promise<boolean> {
  if (first > last) return false
  const position = await raisePosition(db, account)
  const start = was
    ? Math.max(first, Math.min(was.through + 1, await readChangedFrom(db, account, was.position)))
    : first
  if (start > last) return false
  const end = Math.min(last, start + EVALUATION_LIMITS.days - 1)
  const begun = { first: start, last: end, through: start - 1, position }
  await beginEvaluation(db, account, was, begun)
  return true
}

/** Loads what all views of an evaluation need. */
async function viewsOf(
  env: Env,
  account: Account,
  place: Place,
  position: number | null,
): Promise<ViewSource> {
  const source = await readAccount(env, account)
  return openViews(source, await readBeginnings(source.db, source.row.id), place, position)
}

interface Evaluation {
  readonly db: D1Database
  readonly account: string
  readonly views: ViewSource
  readonly place: Place
  readonly by: Evaluator
}

/** Evaluates a rule on the days of a place, stores what is found, and counts it. */
async function evaluateRule(
  evaluation: Evaluation,
  versions: readonly RuleVersion[],
  rule: string,
  total: { facts: number; opened: number },
): Promise<void> {
  const { db, account, views, place } = evaluation
  const own = versions.filter((one) => one.rule === rule)
  const affiliates = views.source.parents.map((one) => one.affiliate_id).sort(compareText)
  for (const days of ruleDaysOf(own, place.first, place.last)) {
    for await (const { findings, facts } of judge(views, days, affiliates)) {
      total.facts += facts
      total.opened += await store(evaluation, days, findings)
    }
  }
  await advance(db, account, place, rule)
}

/** Stores what a version found, in the cases to which it is added. Returns how many are opened. */
async function store(
  { db, account, place, by }: Evaluation,
  rule: RuleDays,
  findings: Judged['findings'],
): Promise<number> {
  const subjects = bySubject(findings)
  if (subjects.length === 0) return 0
  const keys = subjects.map(({ affiliate_id, subject }) => ({
    affiliate_id,
    rule: rule.rule,
    subject,
  }))
  const stored = await readSubjects(db, account, keys)
  const cases: EvaluatedCase[] = []
  const evidence: EvidenceRow[] = []
  let opened = 0
  for (const [i, { last, known }] of stored.entries()) {
    for (const one of addFindings(last, known, subjects[i]!.found, rule)) {
      if (one.position !== last?.position) opened++
      const rows = await rowsOfCase(account, keys[i]!, one)
      cases.push(rows.row)
      evidence.push(...rows.evidence)
    }
  }
  await storeCases(db, account, cases, evidence, by, checkPlace(db, account, place))
  return opened
}
