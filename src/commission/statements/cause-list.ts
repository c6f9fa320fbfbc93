import { compareText } from '../engine/facts.ts'
import type { Cause, Causes } from './cause.ts'

/** The maximum number of causes that an adjustment lists, and of those that it counts. */
export const CAUSE_LIMITS = { listed: 20, counted: 1000 }

const KINDS = [
  'record',
  'affiliation',
  'corrected_early',
  'customer_field',
  'refusal',
  'rate',
  'tree',
  'setting',
] as const satisfies readonly Cause['kind'][]

/** Returns the text by which causes are ordered: by kind, then by day and id. */
function sortKey(cause: Cause): string {
  const kind = KINDS.indexOf(cause.kind)
  const { customer_id = '', day = '', id = '' } = cause as Record<string, string | null | undefined>
  return JSON.stringify([kind, day ?? '', customer_id, id, cause])
}

/** Causes that were added in any order: the first of them, and their number. */
export interface CauseList {
  readonly listed: { readonly key: string; readonly cause: Cause }[]
  total: number
}

/** Returns a list without causes. */
export const noCauses = (): CauseList => ({ listed: [], total: 0 })

const compareKeys = (a: { key: string }, b: { key: string }): number => compareText(a.key, b.key)

/** Adds a cause, which must not be in the list. */
export function addCause(list: CauseList, cause: Cause): void {
  const { listed } = list
  list.total++
  const entry = { key: sortKey(cause), cause }
  const last = listed.at(-1)
  if (listed.length === CAUSE_LIMITS.listed && last && compareKeys(last, entry) < 0) return
  listed.push(entry)
  listed.sort(compareKeys)
  listed.length = Math.min(listed.length, CAUSE_LIMITS.listed)
}

/** Returns the causes of several lists. A cause of two lists is listed once. */
export function joinCauses(lists: readonly CauseList[]): Causes {
  const all = lists.flatMap(({ listed }) => listed).sort(compareKeys)
  const distinct = all.filter(({ key }, i) => key !== all[i - 1]?.key)
  const repeated = all.length - distinct.length
  const total = lists.reduce((sum, one) => sum + one.total, 0) - repeated
  return {
    causes: distinct.slice(0, CAUSE_LIMITS.listed).map(({ cause }) => cause),
    causes_total: Math.min(total, CAUSE_LIMITS.counted),
  }
}
