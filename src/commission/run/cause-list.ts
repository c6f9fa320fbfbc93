import { compareText } from '../../platform/compare-text.ts'
import { CAUSE_LIMITS } from '../limits.ts'
import type { Cause, Causes } from './cause.ts'

const KINDS = [
  'record',
  'corrected_early',
  'rate',
  'setting',
] as const satisfies readonly Cause['kind'][]

/** Returns the text by which causes are ordered: by kind, then by day and id. */
function sortKey(cause: Cause): string {
  const kind = KINDS.indexOf(cause.kind)
  const { customer_id = '', day = '', id = '' } = cause as Record<string, string | undefined>
  return JSON.stringify([kind, day, customer_id, id, cause])
}

/** Returns the causes of an adjustment in order, each once. */
export function listCauses(causes: readonly Cause[]): Causes {
  const byKey = new Map(causes.map((cause) => [sortKey(cause), cause]))
  const sorted = [...byKey].sort(([a], [b]) => compareText(a, b))
  return {
    causes: sorted.slice(0, CAUSE_LIMITS.listed).map(([, cause]) => cause),
    causes_total: Math.min(sorted.length, CAUSE_LIMITS.counted),
  }
}
