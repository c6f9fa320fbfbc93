import type { Computation } from '../drafts/computation.ts'
import { explanationText } from '../engine/explain-text.ts'
import type { Explanation } from '../engine/explanation.ts'
import type { LineJson } from '../engine/line.ts'
import { adjustmentText } from './adjustment-text.ts'
import type { LineReader } from './compute-line.ts'
import { escapeStrings } from './escape-strings.ts'
import { closedLine, explainAdjustment } from './explain-adjustment.ts'
import { explainComputed } from './explain-line.ts'
import { findAdjustment, isAdjustmentId } from './find-adjustment.ts'
import { type LineHint, type LinePlace, lineGone } from './find-line.ts'

/**
 * Explains a line or an adjustment by its id: as an object, or in sentences if `isText`.
 *
 * @throws ApiError `not_found`
 */
export async function explainById(
  env: Env,
  reader: LineReader,
  id: string,
  hint: LineHint,
  isText: boolean,
): Promise<object | string> {
  if (isAdjustmentId(id)) {
    const found = await findAdjustment(env, reader, id, hint)
    const explanation = await explainAdjustment(reader, found)
    return isText ? adjustmentText(escapeStrings(explanation)) : explanation
  }
  const explanation = await explainLineById(reader, id, hint)
  return isText ? explanationText(escapeStrings(explanation)) : explanation
}

/** Explains a line, with what was approved of it or what the stored statement has if that differs. */
async function explainLineById(
  reader: LineReader,
  id: string,
  hint: LineHint,
): Promise<Explanation & { id: string }> {
  const { place, source, computed } = await reader.computeLine(id, hint)
  const { stored } = place
  if (!computed) {
    if (stored === null || stored.status === 'draft') throw lineGone(place)
    return explainGone(reader, source, place, stored.line)
  }
  const explanation = await explainComputed(computed)
  if (computed.found.result.closed) {
    const closed = await closedLine(reader, place)
    return { id, ...explanation, closed }
  }
  const isChanged = stored !== null && stored.amount !== explanation.line.amount
  const { amount = '', computed_at = '' } = stored ?? {}
  return { id, ...explanation, ...(isChanged && { stored: { amount, computed_at } }) }
}

/** Returns what was approved of a line, without steps: its statement, computed now, has no such line. */
async function explainGone(
  reader: LineReader,
  { inForce }: Computation['source'],
  place: LinePlace,
  line: LineJson,
): Promise<Explanation & { id: string }> {
  const { id, affiliate_id, plan, period } = place
  const currency = inForce.plans.get(plan)?.first.currency ?? ''
  const closed = await closedLine(reader, place)
  return { id, affiliate_id, plan, period: period.id, currency, line, steps: [], closed }
}
