import {
  listWarnings,
  unknownAffiliate,
  type WarningList,
} from '../commission/plans/assignments.ts'
import type { Issue } from '../validation/issue.ts'
import { quote } from '../validation/quote.ts'
import { validateAt } from './body.ts'
import { affiliation, MAX_AFFILIATIONS } from './history-fields.ts'

/** An affiliate of a customer as sent. */
export interface SentAffiliation {
  from: string | null
  affiliate_id: string | null
}

/**
 * Returns the affiliations of a body, and the issues of all. The first holds from the beginning, the
 * others begin in order, none after `today`: what the account sends today must come after them.
 */
export function readAffiliations(
  sent: readonly unknown[],
  today: string,
): { affiliations: SentAffiliation[]; issues: Issue[] } {
  if (sent.length < 1 || sent.length > MAX_AFFILIATIONS) {
    const expected = `1 to ${MAX_AFFILIATIONS} affiliations`
    const issue = { pointer: '/affiliations', code: 'length', expected } as const
    return { affiliations: [], issues: [{ ...issue, received: String(sent.length) }] }
  }
  const issues: Issue[] = []
  let previous = ''
  const affiliations = sent.map((item, i): SentAffiliation => {
    const pointer = `/affiliations/${i}`
    const { issues: own, output } = validateAt(item, affiliation, pointer)
    const { from = null, affiliate_id = null } = output
    const expected = own.length > 0 ? null : expectedDay(i, from, previous, today)
    if (expected) {
      own.push({ pointer: pointer + DAY_POINTER, code: 'pattern', expected, value: from })
    }
    issues.push(...own)
    previous = from ?? previous
    return { from, affiliate_id }
  })
  return { affiliations, issues }
}

/** Returns what the day of an affiliation must be, in words; null if it is valid. */
function expectedDay(index: number, from: string | null, previous: string, today: string) {
  if (index === 0) return from === null ? null : 'null in the first entry'
  if (from === null) return 'a day, since only the first entry holds from the beginning'
  if (from <= (previous || '0000-01-01')) return `a day after ${quote(previous || '0000-01-01')}`
  return from > today ? `a day up to today, ${quote(today)}` : null
}

/** Returns a warning for each affiliate that is not configured; at most 100 are listed. */
export function affiliationWarnings(
  affiliations: readonly SentAffiliation[],
  unconfigured: ReadonlySet<string>,
): WarningList {
  const unknown = affiliations.flatMap(({ affiliate_id }, i) =>
    affiliate_id !== null && unconfigured.has(affiliate_id)
      ? [unknownAffiliate(`/affiliations/${i}/affiliate_id`, affiliate_id)]
      : [],
  )
  return listWarnings(unknown)
}

/** The pointer to the day within an affiliation. */
const DAY_POINTER = '/from'
