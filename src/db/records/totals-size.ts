import { MAX_PAGE_BYTES } from '../paginate.ts'
import type { KeptGroup } from './day-sums.ts'
import { MAX_TOTALS } from './totals-sql.ts'

/** The largest totals of a resource in a response, in bytes. */
export const MAX_BYTES = MAX_PAGE_BYTES

/** The size of the totals of one resource in a response. */
export interface AnswerSize {
  readonly groups: number
  readonly kpis: number
  readonly bytes: number
}

/** Returns a size with the groups of a day added to it, or with `sign` -1 subtracted from it. */
export function addToSize(
  size: AnswerSize,
  groups: readonly KeptGroup[],
  bytes: number,
  sign: 1 | -1 = 1,
): AnswerSize {
  const kpis = groups.reduce((sum, [, , , ofGroup]) => sum + Object.keys(ofGroup).length, 0)
  return {
    groups: size.groups + sign * groups.length,
    kpis: size.kpis + sign * kpis,
    bytes: size.bytes + sign * bytes,
  }
}

/** Whether a response may not have totals of this size. */
export const isTooLarge = ({ groups, kpis, bytes }: AnswerSize): boolean =>
  groups > MAX_TOTALS || kpis > MAX_TOTALS || bytes > MAX_BYTES
