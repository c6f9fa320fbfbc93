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
}

/** The groups of a statement, in the order of their first lines. */
export type LineGroups = Map<string, LineGroup>

/** Returns a text that is the same for lines that differ only in whom or what they are for. */
const equalityKey = ({ id: _id, scope: _scope, fx: _fx, ...line }: StatementLine): string =>
  JSON.stringify(line)

/** Adds lines to the groups of a statement, whose parts are added one after the other. */
export function addToGroups(groups: LineGroups, lines: readonly StatementLine[]): void {
  for (const line of lines) {
    const { rule, version, kind } = line
    const name = JSON.stringify([rule, version])
    const found = groups.get(name) ?? { rule, version, kind, count: 0, sum: ZERO, equal: new Map() }
    groups.set(name, { ...found, ...more(found, line) })
    const key = equalityKey(line)
    const same = found.equal.get(key) ?? { line, count: 0, sum: ZERO }
    found.equal.set(key, { ...same, ...more(same, line) })
  }
}

/** Returns the number and the sum of lines with one more. */
const more = ({ count, sum }: { count: number; sum: Decimal }, { amount }: StatementLine) => ({
  count: count + 1,
  sum: add(sum, decimal(amount)),
})

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
