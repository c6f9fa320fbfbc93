import { dayNumber } from '../commission/engine/calendar.ts'
import { compareText } from '../commission/engine/facts.ts'
import { TooManyFacts } from '../commission/statements/compute.ts'
import { accountDatabase } from '../db/database.ts'
import {
  type EvaluatedCase,
  type Evaluator,
  type FindingRow,
  readSubjects,
  type SubjectOfRule,
  storeCases,
} from '../db/fraud/findings.ts'
import {
  advance,
  beginEvaluation,
  checkPlace,
  finishEvaluation,
  firstDayOfCustomers,
  type Place,
  type Progress,
  readChangedCustomers,
  readChangedFrom,
  readProgress,
} from '../db/fraud/progress.ts'
import { raisePosition } from '../db/records/changed.ts'
import { isAssertionFailure } from '../db/retry.ts'
import type { Account } from '../db/schema.ts'
import { EXPIRE_DAYS } from '../durations.ts'
import { bookZoneOf, dayInZone } from '../zone.ts'
import { firstGroup, sizeOfGroup } from './affiliate-groups.ts'
import { parseSubject, rowsOfCase } from './case-rows.ts'
import { addFindings } from './cases.ts'
import { newFinder, subjectKey, TooManyFindings } from './findings.ts'
import { type EvaluationSource, firstChange, openEvaluation } from './inputs.ts'
import { EVALUATION_LIMITS } from './limits.ts'
import { openViews, readViews, type ViewSource } from './read-views.ts'
import {
  findingsOfDays,
  type RuleDays,
  type RuleFinding,
  reachOf,
  reads,
  ruleDaysOf,
} from './rule-days.ts'

// The evaluation of the stored rules of an account: of the days that are not evaluated yet, or that have
// changed since. It goes from affiliate to affiliate. What is found of a group of them, its cases and the
// progress are written in one batch, so that an evaluation which is killed goes on where it was. Two
// evaluations at once do no harm: the slower one notices that the progress has moved.

/** What an evaluation has done. */
export interface Evaluated {
  /** The last day that is evaluated for all affiliates, in days since 1970; null before the first one. */
  readonly through: number | null
  /** The last complete day. */
  readonly last: number
  readonly isDone: boolean
  /** The affiliates that are left of the days that are being evaluated. */
  readonly left: number
  /** The cases that were opened, and those that expired. */
  readonly opened: number
  readonly closed: number
  /** The affiliates with too many records to be evaluated, in order. */
  readonly tooLarge: readonly string[]
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
  const opened = await openEvaluation(env, account, last)
  const total = { opened: 0, closed: 0 }
  let left = maxFacts
  let most = Math.min(EVALUATION_LIMITS.firstCustomers, EVALUATION_LIMITS.customers)
  let progress: Progress | null = await readProgress(db, account.id)
  let views: ViewSource | null = null
  const result = (isDone: boolean): Evaluated => ({
    ...{ through: progress?.through ?? null, last, isDone, ...total },
    left: opened && progress && !isDone ? affiliatesAfter(opened, progress.cursor).length : 0,
    tooLarge: Object.keys(JSON.parse(progress?.too_large ?? '{}')).sort(compareText),
  })
  if (!opened) return result(true)
  for (let attempt = 0; attempt < EVALUATION_LIMITS.attempts; ) {
    const place = placeOf(opened, progress)
    if (!place) {
      const isDone = !(await begin(db, opened, progress))
      if (isDone) return result(true)
      const begun = await readProgress(db, account.id)
      if (!placeOf(opened, begun)) attempt++
      progress = begun
      // What changes from now on is evaluated once more: nothing that was read before may be used then.
      views = null
      continue
    }
    try {
      const rest = affiliatesAfter(opened, place.cursor)
      if (rest.length === 0) {
        total.closed += await finishEvaluation(db, account.id, place, place.last - EXPIRE_DAYS)
      } else {
        if (left <= 0) return result(false)
        views ??= await viewsOf(opened)
        const evaluation = { db, opened, views, place, by }
        const tooLarge = JSON.parse(progress?.too_large ?? '{}')
        const done = await evaluateGroup(evaluation, rest, most, tooLarge)
        left -= done.facts
        most = done.most
        total.opened += done.opened
        total.closed += done.closed
      }
    } catch (error) {
      // Another evaluation has moved on, or a case was decided meanwhile.
      if (!isAssertionFailure(error)) throw error
      attempt++
    }
    progress = await readProgress(db, account.id)
  }
  return result(false)
}

const affiliatesAfter = ({ source }: EvaluationSource, cursor: string): string[] =>
  source.parents
    .map((one) => one.affiliate_id)
    .filter((one) => compareText(one, cursor) > 0)
    .sort(compareText)

/** Returns where an evaluation goes on; null if none is under way, or if it began with other inputs. */
function placeOf(opened: EvaluationSource, progress: Progress | null): Place | null {
  if (progress === null || progress.first === null || progress.last === null) return null
  const { first, last, cursor } = progress
  if (firstChange(JSON.parse(progress.inputs), opened, last) <= last) return null
  return { first, last, cursor }
}

/** Begins the evaluation of the first days that are not evaluated, or have changed; false if there are none. */
async function begin(
  db: D1Database,
  opened: EvaluationSource,
  was: Progress | null,
): Promise<boolean> {
  const { inputs } = opened
  const account = opened.source.account.id
  const position = await raisePosition(db, account)
  const changed = await readChangedCustomers(db, account)
  let start = opened.first
  if (was) {
    const through = was.last ?? was.through
    const first = Math.min(
      was.first ?? was.through + 1,
      await readChangedFrom(db, account, was.position),
      firstChange(JSON.parse(was.inputs), opened, through),
      await firstChangedDay(db, opened, changed),
    )
    start = Math.max(opened.first, first)
  }
  if (start > opened.last) return false
  const last = Math.min(opened.last, start + EVALUATION_LIMITS.days - 1)
  const days = Object.fromEntries(
    Object.entries(inputs.days).filter(([day]) => Number(day) <= last),
  )
  const begun = { first: start, last, through: start - 1, position }
  const text = JSON.stringify({ ...inputs, days })
  await beginEvaluation(db, account, was, { ...begun, inputs: text }, changed)
  return true
}

function firstChangedDay(
  db: D1Database,
  { source, beginnings, first }: EvaluationSource,
  ids: readonly string[] | null,
): Promise<number> | number {
  if (ids === null) return first
  if (ids.length === 0) return Number.POSITIVE_INFINITY
  return firstDayOfCustomers(db, source.account.id, ids, beginnings.days)
}

/** Loads what all views of an evaluation need. */
const viewsOf = ({ source, beginnings, versions, first, last }: EvaluationSource) =>
  openViews(source, beginnings, {
    reach: reachOf(ruleDaysOf(versions, first, last)),
    ...{ first, last },
  })

interface Evaluation {
  readonly db: D1Database
  readonly opened: EvaluationSource
  readonly views: ViewSource
  readonly place: Place
  readonly by: Evaluator
}

/** What rules found of some affiliates. */
interface Found {
  readonly findings: ReadonlyMap<string, readonly RuleFinding[]>
  readonly facts: number
  /** Whether days are left out because of too many records. */
  readonly isPartial: boolean
}

/**
 * Evaluates the first of some affiliates, as many as fit, and stores what is found.
 *
 * @param most The customers after which the group ends.
 * @returns What was done, and `most` of the next group.
 */
async function evaluateGroup(
  evaluation: Evaluation,
  affiliates: readonly string[],
  most: number,
  tooLarge: Readonly<Record<string, number>>,
) {
  const { opened, place } = evaluation
  const rules = ruleDaysOf(opened.versions, place.first, place.last)
  let facts = 0
  let size = most
  const done = async (group: readonly string[], found: Found) => ({
    facts: facts + found.facts,
    most: nextMost(sizeOfGroup(group, opened.counts), found.facts),
    ...(await store(evaluation, group, found, tooLarge)),
  })
  for (;;) {
    const group = firstGroup(affiliates, opened.counts, size)
    try {
      return await done(group, await findTogether(evaluation, rules, group))
    } catch (error) {
      if (!(error instanceof TooManyFacts)) throw error
      facts += EVALUATION_LIMITS.facts
    }
    const [first] = group
    if (group.length > 1 || first === undefined) {
      size = sizeOfGroup(group, opened.counts) / 2
      continue
    }
    return await done(group, await findApart(evaluation, rules, first))
  }
}

/** Returns after how many customers a group ends so that three quarters of the records that are allowed are read. */
function nextMost(customers: number, facts: number): number {
  const { facts: limit, customers: all } = EVALUATION_LIMITS
  return Math.min(all, Math.ceil((customers * 3 * limit) / (4 * Math.max(1, facts))))
}

/** Evaluates all rules of some affiliates, whose records are read once. */
async function findTogether(
  { views: from, place: { first, last } }: Evaluation,
  rules: readonly RuleDays[],
  group: readonly string[],
): Promise<Found> {
  const own = rules.filter((rule) => group.some((affiliate) => reads(rule, affiliate)))
  if (own.length === 0) return { findings: new Map(), facts: 0, isPartial: false }
  const days = { reach: reachOf(own), first, last }
  const { views, facts } = await readViews(from, group, days, EVALUATION_LIMITS.facts)
  const find = newFinder(EVALUATION_LIMITS.evidence)
  const findings = new Map<string, RuleFinding[]>()
  for (const affiliate of group) {
    const found: RuleFinding[] = []
    for (const rule of own) {
      if (!reads(rule, affiliate)) continue
      found.push(...(await findingsOfDays(find, rule, views.get(affiliate) ?? [])))
    }
    findings.set(affiliate, found)
  }
  return { findings, facts, isPartial: false }
}

/** Evaluates an affiliate with many records: rule by rule, and each in as many parts as are needed. */
async function findApart(
  { views: from }: Evaluation,
  rules: readonly RuleDays[],
  affiliate: string,
): Promise<Found> {
  const findings: RuleFinding[] = []
  let evidence = EVALUATION_LIMITS.evidence
  let facts = 0
  let isPartial = false
  let parts = EVALUATION_LIMITS.parts
  const waiting = rules.filter((rule) => reads(rule, affiliate)).toReversed()
  for (let rule = waiting.pop(); rule; rule = waiting.pop()) {
    const { first, last } = rule
    if (parts-- === 0) return { findings: new Map([[affiliate, findings]]), facts, isPartial: true }
    try {
      const days = { reach: reachOf([rule]), first, last }
      const { views, facts: read } = await readViews(
        from,
        [affiliate],
        days,
        EVALUATION_LIMITS.facts,
      )
      facts += read
      const own = await findingsOfDays(newFinder(evidence), rule, views.get(affiliate) ?? [])
      for (const one of own) {
        findings.push(one)
        evidence -= one.evidence.length
      }
    } catch (error) {
      if (!(error instanceof TooManyFacts)) throw error
      // To read fewer days does not help if too much is found.
      if (first === last || error instanceof TooManyFindings) {
        isPartial = true
        continue
      }
      facts += EVALUATION_LIMITS.facts
      const middle = Math.floor((first + last) / 2)
      waiting.push({ ...rule, first: middle + 1 }, { ...rule, last: middle })
    }
  }
  return { findings: new Map([[affiliate, findings]]), facts, isPartial }
}

const keyOf = (affiliate_id: string, { rule, subject }: RuleFinding): SubjectOfRule => ({
  ...{ affiliate_id, rule, subject: subjectKey(subject) },
})

/** Stores what was found of a group, in the cases to which it is added. */
async function store(
  { db, opened, place, by }: Evaluation,
  group: readonly string[],
  { findings, isPartial }: Found,
  tooLarge: Readonly<Record<string, number>>,
): Promise<{ opened: number; closed: number }> {
  const account = opened.source.account.id
  const all = [...findings].flatMap(([affiliate, own]) =>
    own.map((finding) => ({ key: JSON.stringify(keyOf(affiliate, finding)), finding })),
  )
  const subjects = [...Map.groupBy(all, ({ key }) => key)].map(([key, own]) => ({
    key: JSON.parse(key) as SubjectOfRule,
    found: own.map(({ finding }) => finding).sort((a, b) => a.day - b.day),
  }))
  const stored = await readSubjects(
    db,
    account,
    subjects.map(({ key }) => key),
  )
  const cases: EvaluatedCase[] = []
  const added: FindingRow[] = []
  let newCases = 0
  for (const [i, { key, found }] of subjects.entries()) {
    const { parts, last, known } = parseSubject(stored[i])
    for (const one of addFindings(last, known, found, EXPIRE_DAYS)) {
      const isStored = one.position === last?.position
      if (!isStored) newCases++
      const rows = await rowsOfCase(account, key, one, isStored ? parts : 0)
      cases.push(rows.row)
      added.push(...rows.findings)
    }
  }
  const large = { ...tooLarge }
  for (const affiliate of group) delete large[affiliate]
  if (isPartial) for (const affiliate of group) large[affiliate] = place.first
  await storeCases(db, account, cases, added, by, {
    check: checkPlace(db, account, place),
    advance: advance(db, account, group.at(-1) ?? '', JSON.stringify(large)),
  })
  return { opened: newCases, closed: cases.filter(({ status }) => status === 'expired').length }
}
