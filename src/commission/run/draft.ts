import type * as v from 'valibot'
import { digest } from '../../platform/auth/secret.ts'
import { byteLength } from '../../platform/db/json-chunks.ts'
import type { Fixed } from '../../platform/http/operation-words.ts'
import { dayText } from '../../platform/money/calendar.ts'
import { canonicalJson } from '../../platform/validation/canonical-json.ts'
import type { StoredDraft } from '../db/drafts.ts'
import { keyedLines } from '../engine/books.ts'
import { lineJson } from '../engine/line.ts'
import { versionOn } from '../engine/plans-in-force.ts'
import type { PlanResult } from '../engine/settlement.ts'
import { NO_STATE } from '../engine/state.ts'
import type { AdjustmentJson, StatementJson } from '../engine/statement.ts'
import { writeSteps } from '../engine/trace.ts'
import { PART_LIMITS } from '../limits.ts'
import type { LineJson } from '../shapes/line-json.ts'
import type { adjustment, line, statement } from '../shapes/statements.ts'
import type { Step } from '../shapes/steps.ts'
import type { CausesOf } from './cause.ts'
import { adjustmentId, lineId, statementId } from './ids.ts'

/** A line on the wire (§13). */
export type StatementLine = Fixed<v.InferOutput<typeof line>>

/** A statement on the wire (§13), without lines and adjustments, its hash, its status and times. */
export type StatementHead = Omit<
  Fixed<v.InferOutput<v.ObjectSchema<typeof statement, undefined>>>,
  'status' | 'approved_at' | 'paid' | 'returned' | 'hash' | 'computed_at'
>

/** An adjustment on the wire (§13). */
export type Adjustment = Fixed<v.InferOutput<typeof adjustment>>

/** A statement that was computed. */
export interface Draft {
  readonly head: StatementHead
  readonly lines: readonly StatementLine[]
  readonly adjustments: readonly Adjustment[]
  readonly hash: string
  /**
   * Writes how a line came about, and of an adjustment how the corrected line comes about now; undefined if it is none
   * now. Written one by one, since all together would fill the memory.
   */
  readonly stepsOf: (id: string) => StoredSteps | undefined
}

/** How a line comes about; of a line that a later statement corrects, with the line. */
export interface StoredSteps {
  readonly steps: readonly Step[]
  readonly line?: LineJson
}

/** Returns the statement of a result; null if it has none. */
export async function toDraft(
  {
    plan,
    period: { id: period, last },
    statement,
    lines: settled,
    corrections: corrected,
  }: PlanResult,
  causesOf: CausesOf,
): Promise<Draft | null> {
  if (statement === null) return null
  const id = await statementId(statement.affiliate_id, statement.plan, period)
  const { lines: own, adjustments: corrections, ...rest } = statement
  const ids = await Promise.all(keyedLines(own).map((one) => lineId(id, one, one.occurrence)))
  const lines = own.map((line, index) => ({ id: ids[index] ?? '', ...line }))
  const adjustments = await Promise.all(
    corrections.map((one) => toAdjustment(id, statement, one, causesOf)),
  )
  const explained = new Map([
    ...settled.map((line, index) => [ids[index] ?? '', line] as const),
    ...corrected.map(({ now }, index) => [adjustments[index]?.id ?? '', now] as const),
  ])
  const stepsOf = (one: string): StoredSteps | undefined => {
    const line = explained.get(one)
    if (line === undefined) return undefined
    const steps = writeSteps(line.trace)
    return one.startsWith('adj_') ? { steps, line: lineJson(line, plan.first.digits) } : { steps }
  }
  const { hold_days } = versionOn(plan, last).source
  const head: StatementHead = {
    id,
    ...rest,
    lines_total: lines.length,
    adjustments_total: adjustments.length,
    payable_on: dayText(last + hold_days),
  }
  return { head, lines, adjustments, hash: await hashOf(head, lines, adjustments), stepsOf }
}

async function toAdjustment(
  statement: string,
  { affiliate_id, plan }: StatementJson,
  { period, line, droppedIn, amount }: AdjustmentJson,
  causesOf: CausesOf,
): Promise<Adjustment> {
  const { rule = null, version = null, scope = null, occurrence = 0 } = line ?? {}
  const corrected =
    line && (await lineId(await statementId(affiliate_id, plan, period), line, occurrence))
  const { causes, causes_total } = causesOf({ affiliate_id, plan, period, line })
  return {
    id: await adjustmentId(statement, corrected ?? `${period} ${droppedIn}`),
    of: { period, line: corrected, dropped_in: droppedIn },
    rule,
    version,
    scope,
    occurrence,
    amount,
    causes,
    causes_total,
  }
}

/**
 * Returns the SHA-256 of the statement's canonical JSON without `id`, `hash`, status and times
 * (§16.18).
 */
async function hashOf(
  { id: _id, lines_total: _lines, adjustments_total: _adjustments, ...hashed }: StatementHead,
  lines: readonly StatementLine[],
  adjustments: readonly Adjustment[],
): Promise<string> {
  return digest(canonicalJson({ ...hashed, lines, adjustments }))
}

/** Divides texts into groups of a number, and about of bytes; at least one group. */
function* groupsOf(texts: Iterable<string>, most: number, room: number): Generator<string> {
  let group: string[] = []
  let bytes = 0
  for (const text of texts) {
    const size = byteLength(text)
    if (group.length === most || (group.length > 0 && bytes + size > room)) {
      yield group.join()
      group = []
      bytes = 0
    }
    group.push(text)
    bytes += size
  }
  yield group.join()
}

/** Writes the steps of items as members of an object, one by one. */
function* stepsBy(items: readonly { readonly id: string }[], stepsOf: Draft['stepsOf']) {
  for (const { id } of items) {
    const found = stepsOf(id)
    if (found) yield `${JSON.stringify(id)}:${stepsText(found)}`
  }
}

/**
 * Divides lines and adjustments into JSON arrays, and their steps by id into JSON objects, both within `PART_LIMITS`
 * and at least one: a row stores one of each.
 */
function partsOf(draft: Draft | null): Pick<StoredDraft, 'lines' | 'steps'> {
  const items = draft ? [...draft.lines, ...draft.adjustments] : []
  const { lines, bytes, stepBytes } = PART_LIMITS
  const texts = items.map((item) => JSON.stringify(item))
  const steps = draft ? stepsBy(items, draft.stepsOf) : []
  return {
    lines: [...groupsOf(texts, lines, bytes)].map((group) => `[${group}]`),
    steps: [...groupsOf(steps, lines, stepBytes)].map((group) => `{${group}}`),
  }
}

/** The most bytes of the steps of a line with the days and records of their lists. */
const STEPS_BYTES = 32_768

/** Returns a step without the days and records of its lists. */
function withoutDetails(step: Step): Step {
  if (step.step === 'qualification') {
    return { ...step, conditions: step.conditions.map((one) => ({ ...one, records: [] })) }
  }
  if (step.step !== 'base') return step
  const terms = step.terms.map((term) => ({
    ...term,
    currencies: term.currencies.map((one) => ({ ...one, days: [] })),
  }))
  return { ...step, terms }
}

/** Writes the steps of a line as JSON, without days and records if they are too long. */
export function stepsText(stored: StoredSteps): string {
  const text = JSON.stringify(stored)
  if (byteLength(text) <= STEPS_BYTES) return text
  return JSON.stringify({ ...stored, steps: stored.steps.map(withoutDetails) })
}

/**
 * Returns a result as it is stored; null if it has neither a statement nor anything to carry. Equal
 * results have an equal digest.
 *
 * @param previous The digest of the row before it, of the same affiliate and plan; '' if there is none.
 */
export async function toStored(
  result: PlanResult,
  previous: string,
  causesOf: CausesOf,
): Promise<StoredDraft | null> {
  const draft = await toDraft(result, causesOf)
  const state = canonicalJson(result.state)
  if (draft === null && state === canonicalJson(NO_STATE)) return null
  const { affiliate, plan, period } = result
  const id = draft?.head.id ?? (await statementId(affiliate, plan.plan, period.id))
  const statement = draft && JSON.stringify(draft.head)
  const { lines, steps } = partsOf(draft)
  const hash = draft?.hash ?? ''
  return {
    period: period.id,
    affiliate_id: affiliate,
    plan: plan.plan,
    id,
    hash,
    previous,
    payable: draft?.head.payable ?? '0',
    closing: result.state.closing,
    statement,
    lines,
    steps,
    state,
    digest: await digest(JSON.stringify([statement, hash, state, previous, ...steps])),
  }
}
