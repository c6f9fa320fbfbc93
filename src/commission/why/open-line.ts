import { ApiError } from '../../errors.ts'
import type { Computation } from '../drafts/computation.ts'
import { explanationText } from '../engine/explain-text.ts'
import type { Explanation } from '../engine/explanation.ts'
import type { LineJson } from '../engine/line.ts'
import { adjustmentText } from './adjustment-text.ts'
import { escapeStrings } from './escape-strings.ts'
import { closedLine, explainAdjustment } from './explain-adjustment.ts'
import { explain } from './explain-line.ts'
import { findAdjustment, isAdjustmentId } from './find-adjustment.ts'
import { type LineHint, type LinePlace, lineGone } from './find-line.ts'
import type { ComputedLine, LineReading } from './opened-line.ts'

/** Finds a line, or the line that an adjustment corrects, and computes the statement that it stands in. */
export async function openLine(env: Env, reader: LineReading, id: string, hint: LineHint) {
  if (!isAdjustmentId(id)) return openOwnLine(reader, id, hint)
  const { adjustment, affiliate_id } = await findAdjustment(env, reader, id, hint)
  const { line, period } = adjustment.of
  if (line === null) throw new ApiError('not_found', { detail: NO_CORRECTED_LINE })
  return openOwnLine(reader, line, { affiliate_id, period })
}

const NO_CORRECTED_LINE =
  'This adjustment restores what a statement dropped. It corrects no line, so that no records are behind it.'

async function openOwnLine(reader: LineReading, id: string, hint: LineHint): Promise<ComputedLine> {
  const { place, computed } = await reader.open(id, hint)
  if (!computed) throw lineGone(place)
  return computed
}

async function explainOwnLine(
  reader: LineReading,
  id: string,
  hint: LineHint,
): Promise<Explanation & { id: string }> {
  const { place, source, computed } = await reader.open(id, hint)
  const { stored } = place
  if (!computed) {
    if (stored === null || stored.status === 'draft') throw lineGone(place)
    return explainGone(reader, source, place, stored.line)
  }
  const explanation = await explain(computed)
  if (computed.found.result.closed) {
    const closed = await closedLine(reader, place)
    return { id, ...explanation, closed }
  }
  const isChanged = stored !== null && stored.amount !== explanation.line.amount
  const { amount = '', computed_at = '' } = stored ?? {}
  return { id, ...explanation, ...(isChanged && { stored: { amount, computed_at } }) }
}

/** Explains an approved line that the records no longer make: what was approved of it, without steps. */
async function explainGone(
  reader: LineReading,
  { book }: Computation['source'],
  place: LinePlace,
  line: LineJson,
): Promise<Explanation & { id: string }> {
  const { id, affiliate_id, plan, period } = place
  const currency = book.plans.get(plan)?.first.currency ?? ''
  const closed = await closedLine(reader, place)
  return { id, affiliate_id, plan, period: period.id, currency, line, steps: [], closed }
}

/** Explains a line or an adjustment: as an object, or in sentences. */
export async function explainById(
  env: Env,
  reader: LineReading,
  id: string,
  hint: LineHint,
  isText: boolean,
): Promise<object | string> {
  if (isAdjustmentId(id)) {
    const found = await findAdjustment(env, reader, id, hint)
    const explanation = await explainAdjustment(reader, found)
    return isText ? adjustmentText(escapeStrings(explanation)) : explanation
  }
  const explanation = await explainOwnLine(reader, id, hint)
  return isText ? explanationText(escapeStrings(explanation)) : explanation
}
