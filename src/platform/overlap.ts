import { DAY_MS, HOUR_MS } from './durations.ts'
import * as f from './validation/fields.ts'
import { optional, said } from './validation/fields.ts'

/** How long the old secret remains valid next to a new one, so that no request fails meanwhile. */
export const overlap = optional(
  f.oneOf('none', '1h', '24h', '7d'),
  said(
    'How long the old credential remains valid. Defaults to `24h`. With `none` it ends at once.',
  ),
)

const OVERLAPS_MS = { none: 0, '1h': HOUR_MS, '24h': DAY_MS, '7d': 7 * DAY_MS }

/** How long an old credential remains valid. */
export type Overlap = keyof typeof OVERLAPS_MS

/** The overlap of a request that names none. */
export const DEFAULT_OVERLAP: Overlap = '24h'

/** Returns when the old secret ends, for an overlap that begins at `now`; both in milliseconds. */
export const overlapEnd = (length: Overlap, now: number) => now + OVERLAPS_MS[length]
