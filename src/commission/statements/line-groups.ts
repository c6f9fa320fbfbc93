import { add, type Decimal, decimal, ZERO } from '../engine/decimal.ts'
import type { Rule } from '../engine/plan.ts'
import type { StatementLine } from './draft.ts'

// The lines of a statement by rule, for pages that show them to people.

/** Lines that differ only in whom or what they are for. */
export interface EqualLines {
  /** The first of them. */
  readonly line: StatementLine
  readonly count: number
  readonly sum: Decimal
}

/** The lines of one version of a rule. */
export interface LineGroup {
  readonly rule: string
  readonly version: number
  readonly kind: StatementLine['kind']
  readonly count: number
  readonly sum: Decimal
  /** Its lines; those that are equal once, by their `equalityKey`. */
  readonly equal: Map<string, EqualLines>
  /** The number and the sum of the lines that are not among them, beyond the limit of a page. */
  readonly others: { readonly count: number; readonly sum: Decimal }
}

/** The groups of a statement, in the order of their first lines. */
export type LineGroups = Map<string, LineGroup>

/** Returns a text that is the same for lines that differ only in whom or what they are for. */
export const equalityKey = ({ id: _id, scope: _scope, fx: _fx, ...line }: StatementLine): string =>
  JSON.stringify(line)

/**
 * Adds lines to the groups of a statement, whose parts are added one after the other.
 *
 * @param most The maximum number of lines of a group that are kept, of those that differ. The others are counted.
 */
export function addToGroups(
  groups: LineGroups,
  lines: readonly StatementLine[],
  most = Number.POSITIVE_INFINITY,
): LineGroups {
  for (const line of lines) {
    const { rule, version, kind } = line
    const name = JSON.stringify([rule, version])
    const group = groups.get(name) ?? {
      ...{ rule, version, kind, count: 0, sum: ZERO },
      equal: new Map<string, EqualLines>(),
      others: { count: 0, sum: ZERO },
    }
    groups.set(name, withLine(group, line, most))
  }
  return groups
}

/** Returns a group with one more line. Its map is changed. */
function withLine(group: LineGroup, line: StatementLine, most: number): LineGroup {
  const amount = decimal(line.amount)
  const more = { ...group, count: group.count + 1, sum: add(group.sum, amount) }
  const key = equalityKey(line)
  const same = group.equal.get(key)
  if (!same && group.equal.size >= most) {
    const { count, sum } = group.others
    return { ...more, others: { count: count + 1, sum: add(sum, amount) } }
  }
  const { count, sum, line: first } = same ?? { line, count: 0, sum: ZERO }
  group.equal.set(key, { line: first, count: count + 1, sum: add(sum, amount) })
  return more
}

/** Returns whether the rate of a line is a percentage. Without its rule, which a share always has, it is none. */
export const isPercentRate = (kind: StatementLine['kind'], rule: Rule | undefined): boolean =>
  kind === 'share' ||
  (rule !== undefined &&
    (('percent' in rule && rule.percent !== undefined) ||
      rule.tiers?.steps.some(({ percent }) => percent !== undefined) === true))

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
