import { ApiError } from '../../errors.ts'
import type { ComputedLine, LineReader } from './compute-line.ts'
import { findAdjustment, isAdjustmentId } from './find-adjustment.ts'
import { type LineHint, lineGone } from './find-line.ts'

const NO_CORRECTED_LINE = 'This adjustment covers a write-off; it has no records of its own.'

/**
 * Computes the line with an id; for the id of an adjustment, the line that it corrects.
 *
 * @throws ApiError `not_found`
 */
export async function computeById(
  env: Env,
  reader: LineReader,
  id: string,
  hint: LineHint,
): Promise<ComputedLine> {
  if (!isAdjustmentId(id)) return computeExisting(reader, id, hint)
  const { adjustment, affiliate_id } = await findAdjustment(env, reader, id, hint)
  const { line, period } = adjustment.of
  if (line === null) throw new ApiError('not_found', { detail: NO_CORRECTED_LINE })
  return computeExisting(reader, line, { affiliate_id, period })
}

async function computeExisting(
  reader: LineReader,
  id: string,
  hint: LineHint,
): Promise<ComputedLine> {
  const { place, computed } = await reader.computeLine(id, hint)
  if (!computed) throw lineGone(place)
  return computed
}
