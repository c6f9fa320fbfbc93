import { roundMoney } from './currency.ts'
import type { Draft } from './drafts.ts'
import {
  add,
  compare,
  greatest,
  isNegative,
  isPositive,
  least,
  parse,
  type Rational,
  subtract,
  sum,
  ZERO,
} from './rational.ts'

/** Limits a `once` percentage, then rounds, then applies `max_per_customer` and `max_count`. */
export function roundAndCap(line: Draft) {
  const { rule, version } = line
  if (rule.min_amount !== undefined) line.amount = greatest(line.amount, parse(rule.min_amount))
  if (rule.max_amount !== undefined) line.amount = least(line.amount, parse(rule.max_amount))
  line.amount = roundMoney(line.amount, version.currency)
  const limits = rule.kind === 'once' || rule.per === 'customer'
  if (limits && rule.max_per_customer !== undefined)
    cut(line, least(line.amount, parse(rule.max_per_customer)))
  if (line.overCount) cut(line, ZERO)
}

function cut(line: Draft, to: Rational) {
  line.capped = add(line.capped, subtract(line.amount, to))
  line.amount = to
}

/** Applies `negative` of a `share`. */
export function applyNegative(line: Draft, carried: Rational) {
  if (line.rule.negative === 'zero') line.amount = greatest(line.amount, ZERO)
  if (line.rule.negative !== 'carry') return
  const set = add(line.amount, carried)
  line.carriedIn = carried
  line.carriedOut = least(set, ZERO)
  line.amount = greatest(set, ZERO)
}

/** Cuts the lines of a rule id to `max`, from the last line backwards. */
export function applyMax(lines: Draft[], max: string | undefined) {
  if (max === undefined) return
  let excess = subtract(sum(lines.map((line) => line.amount)), parse(max))
  for (const line of lines.toReversed()) {
    if (!isPositive(excess)) return
    const taken = least(excess, greatest(line.amount, ZERO))
    cut(line, subtract(line.amount, taken))
    excess = subtract(excess, taken)
  }
}

/** Sets a share against what a `once` rule paid in advance; returns the new deficit. */
export function applyAdvance(share: Rational, advanced: Rational, deficit: Rational) {
  const paid = subtract(subtract(share, advanced), deficit)
  const owed = subtract(add(deficit, advanced), share)
  return {
    amount: isNegative(paid) ? ZERO : paid,
    deficit: compare(owed, ZERO) > 0 ? owed : ZERO,
  }
}
