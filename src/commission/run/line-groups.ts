import { isPercentRule } from '../plans/plan-words.ts'
import type { Rule } from '../plans/types.ts'
import type { StatementLine } from './draft.ts'

// What a line of a statement is for, and what its rate is, for pages that show it to people.

/** Returns whether the rate of a line is a percentage. Without its rule, which a share always has, it is none. */
export const isPercentRate = (kind: StatementLine['kind'], rule: Rule | undefined): boolean =>
  kind === 'share' || (rule !== undefined && isPercentRule(rule))

/** Whom or what a line is for: all records of the affiliate, or a customer, a product, an affiliate below. */
export interface LineScope {
  readonly of: 'all' | 'customer' | 'product' | 'affiliate'
  readonly id: string
}

/** Parses the scope of a line, such as `customer:C-1`. */
export function parseScope(scope: string): LineScope {
  const [, of, id = ''] = /^(customer|product|affiliate):([\s\S]*)$/.exec(scope) ?? []
  return of === 'customer' || of === 'product' || of === 'affiliate'
    ? { of, id }
    : { of: 'all', id: '' }
}
