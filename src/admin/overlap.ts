const HOUR_MS = 3_600_000
const OVERLAPS = { none: 0, '1h': HOUR_MS, '24h': 24 * HOUR_MS, '7d': 7 * 24 * HOUR_MS }

/** When a secret with such an overlap ends; both in milliseconds. */
export const endOf = (said: keyof typeof OVERLAPS | undefined, now: number) =>
  now + OVERLAPS[said ?? 'none']
