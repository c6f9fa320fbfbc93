import * as v from 'valibot'
import { about } from '../about.ts'
import { oneOf } from '../fields.ts'

const HOUR_MS = 3_600_000
const OVERLAPS = { none: 0, '1h': HOUR_MS, '24h': 24 * HOUR_MS, '7d': 7 * 24 * HOUR_MS }

/** How long an old secret stays good beside a new one. */
export const overlap = v.optional(
  about(
    oneOf('none', '1h', '24h', '7d'),
    'How long the old one stays good; left out it ends before its next request.',
  ),
)

/** When a secret with such an overlap ends; both in milliseconds. */
export const endOf = (said: keyof typeof OVERLAPS | undefined, now: number) =>
  now + OVERLAPS[said ?? 'none']
