import { digest } from '../../auth/secret.ts'
import type { StoredDraft } from '../../db/commission/drafts.ts'
import { byteLength } from '../../db/records/json-chunks.ts'
import { canonicalJson } from '../../validation/canonical-json.ts'
import type { PlanResult } from '../engine/account-input.ts'
import { versionOn } from '../engine/book.ts'
import { dayText, type Period } from '../engine/calendar.ts'
import type { LineJson } from '../engine/line.ts'
import { NO_STATE } from '../engine/state.ts'
import type { StatementJson } from '../engine/statement.ts'
import { lineIds, statementId } from './ids.ts'
import { PART_LIMITS } from './limits.ts'

/** A line on the wire (§13). */
export type StatementLine = LineJson & { readonly id: string }

/** A statement on the wire (§13), without its lines, its hash, its status and times. */
export interface StatementHead extends Omit<StatementJson, 'lines'> {
  readonly id: string
  readonly adjustments: readonly never[]
  readonly manual: readonly never[]
  readonly lines_total: number
  /** The day on which it is payable: the last day of the period + `hold_days`. */
  readonly payable_on: string
}

/** A statement that was computed. */
export interface Draft {
  readonly head: StatementHead
  readonly lines: readonly StatementLine[]
  readonly hash: string
}

/** Returns the statement of a result; null if it has none. */
export async function toDraft(
  { plan, statement }: PlanResult,
  { last, id: period }: Period,
): Promise<Draft | null> {
  if (statement === null) return null
  const id = await statementId(statement.affiliate_id, statement.plan, period)
  const { lines: own, ...rest } = statement
  const ids = await lineIds(id, own)
  const lines = own.map((line, index) => ({ id: ids[index] ?? '', ...line }))
  const { holdDays } = versionOn(plan, last)
  const head: StatementHead = {
    id,
    ...rest,
    adjustments: [],
    manual: [],
    lines_total: lines.length,
    payable_on: dayText(last + holdDays),
  }
  return { head, lines, hash: await hashOf(head, lines) }
}

/** Returns the SHA-256 of the statement's canonical JSON less `id`, `hash`, status and times (§16.18). */
async function hashOf(
  { id: _id, lines_total: _total, ...hashed }: StatementHead,
  lines: readonly StatementLine[],
): Promise<string> {
  return digest(canonicalJson({ ...hashed, lines }))
}

/** Divides lines into parts that a row of the database holds; there is at least one. */
export function partsOf(lines: readonly StatementLine[]): string[] {
  const parts: string[] = []
  let texts: string[] = []
  let bytes = 0
  for (const line of lines) {
    const text = JSON.stringify(line)
    const size = byteLength(text)
    if (
      texts.length === PART_LIMITS.lines ||
      (texts.length > 0 && bytes + size > PART_LIMITS.bytes)
    ) {
      parts.push(`[${texts.join()}]`)
      texts = []
      bytes = 0
    }
    texts.push(text)
    bytes += size
  }
  parts.push(`[${texts.join()}]`)
  return parts
}

/**
 * Returns a result as it is stored; null if it has neither a statement nor anything to carry. Equal
 * results have an equal digest.
 */
export async function toStored(result: PlanResult, period: Period): Promise<StoredDraft | null> {
  const draft = await toDraft(result, period)
  const state = canonicalJson(result.state)
  if (draft === null && state === canonicalJson(NO_STATE)) return null
  const { affiliate, plan } = result
  const id = draft?.head.id ?? (await statementId(affiliate, plan.plan, period.id))
  const statement = draft && JSON.stringify(draft.head)
  const parts = partsOf(draft?.lines ?? [])
  const hash = draft?.hash ?? ''
  return {
    ...{ period: period.id, affiliate_id: affiliate, plan: plan.plan, id, hash },
    payable: draft?.head.payable ?? '0',
    closing: result.state.closing,
    ...{ statement, parts, state },
    digest: await digest(JSON.stringify([statement, hash, state])),
  }
}
