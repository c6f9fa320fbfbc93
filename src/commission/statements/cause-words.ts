import { counted, listed } from '../engine/reasons.ts'
import type { Cause, Causes } from './cause.ts'
import type { Adjustment } from './draft.ts'
import { parseScope } from './line-groups.ts'

// Why a statement corrects a closed period, as a manager and an affiliate read it.

/** Writes a day (`YYYY-MM-DD`) in words. */
type DayWords = (day: string) => string

const RESOURCES = {
  customers: 'customer',
  transactions: 'transaction',
  'trading-activity': 'trading activity',
  activities: 'event',
} as const

/** The settings that change what is owed, by the action of the audit log. */
const SETTINGS: Readonly<Record<string, string>> = {
  'status.put': 'the status map of the account',
  'event-definition.put': 'the definition of an event',
  'event-definition.delete': 'the definition of an event',
  'affiliates.put': 'the affiliates',
  'assignments.put': 'the plan of an affiliate',
  'assignment.delete': 'the plan of an affiliate',
  'plan.put': 'the terms of a plan',
  'plan.withdraw': 'the terms of a plan',
  'affiliations.put': 'the affiliate of a customer',
  'customer.erase': 'the data of a customer',
  'account.change': 'the settings of the account',
  'link.create': 'a link',
  'link.change': 'a link',
}

/** Names what changed, without the verb. */
function causeWords(cause: Cause, dayWords: DayWords): string {
  switch (cause.kind) {
    case 'record': {
      const { resource, id, customer_id, day } = cause
      const noun = RESOURCES[resource]
      if (resource === 'customers') return `the customer ${customer_id}`
      // The id of trading activity has the day, the customer, the instrument and the currency.
      const what = resource === 'trading-activity' ? (id.split('|')[2] ?? '') : id
      return `the ${noun} ${what} of ${customer_id} on ${dayWords(day)}`
    }
    case 'affiliation':
      return cause.day === null
        ? `the affiliate of ${cause.customer_id}`
        : `the affiliate of ${cause.customer_id} from ${dayWords(cause.day)} on`
    case 'corrected_early':
      return `the first affiliate of ${cause.customer_id}`
    case 'customer_field':
      return `the ${cause.field.replaceAll('_', ' ')} of ${cause.customer_id} from ${dayWords(cause.day)} on`
    case 'refusal':
      return `whether the customer ${cause.customer_id} is refused`
    case 'rate':
      return `the exchange rate of ${cause.currency} on ${dayWords(cause.day)}`
    case 'tree':
      return `the parent of the affiliate ${cause.affiliate_id}`
    case 'setting':
      return `${SETTINGS[cause.action] ?? 'the settings'} on ${dayWords(cause.at.slice(0, 10))}`
  }
}

/** The causes that a sentence names. */
const NAMED = 3

/** Says why a period is corrected: `since the transaction T-1 of C-1 on 3 Nov 2026 changed`. */
function causesWords({ causes, causes_total }: Causes, dayWords: DayWords): string {
  const named = [...new Set(causes.slice(0, NAMED).map((cause) => causeWords(cause, dayWords)))]
  const more = causes_total - Math.min(causes.length, NAMED)
  if (named.length === 0) return 'since what it was computed from changed after the approval'
  const rest = more > 0 ? [counted(more, 'other thing')] : []
  return `since ${listed([...named, ...rest])} changed after the approval`
}

/** How a correction is written. */
interface Words {
  readonly day: DayWords
  readonly period: (period: string) => string
}

/**
 * Says what a correction corrects and why, after its amount: ` for the customer C-1 by the rule cpa, since …`.
 */
export function correctionWords(adjustment: Adjustment, { day, period }: Words): string {
  const { of, rule, scope } = adjustment
  if (of.line === null || rule === null) {
    return `, to cover the balance of ${period(of.dropped_in ?? of.period)} that was written off`
  }
  const { of: kind, id } = parseScope(scope ?? '')
  const whom = kind === 'all' ? '' : ` for the ${kind} ${id}`
  return `${whom} by the rule ${rule}, ${causesWords(adjustment, day)}`
}
