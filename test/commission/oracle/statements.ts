import type { OutcomeLine, OutcomeStatement } from '../world.ts'
import { type Books, keyOf, linesOf, place, ruleOrderOf, sumHolds } from './books.ts'
import { lastDay } from './calendar.ts'
import { money } from './currency.ts'
import type { Draft } from './drafts.ts'
import { compareText } from './facts.ts'
import { inForce, type Version } from './plan.ts'
import {
  add,
  compare,
  isNegative,
  isZero,
  parse,
  plain,
  plain12,
  type Rational,
  sum,
  ZERO,
} from './rational.ts'

/** Writes a line (§16.18). */
function writeLine(line: Draft): OutcomeLine {
  const { currency } = line.version
  const text = (amount: Rational) => money(amount, currency)
  return {
    rule: line.rule.id,
    version: (line.paidFor ?? line).version.version,
    kind: line.rule.kind,
    scope: line.scope,
    base: line.base && plain(line.base),
    units: line.units && plain(line.units),
    measure: line.measure && plain12(line.measure),
    step: line.step,
    rate: line.rate && plain(line.rate),
    amount: text(line.amount),
    carried_in: text(line.carriedIn),
    carried_out: text(line.carriedOut),
    capped: text(line.capped),
    recouped: text(line.recouped),
    deficit: text(line.deficit),
    fence: line.fence && {
      base: plain(line.fence.base),
      paid_back: plain(line.fence.paidBack),
      fenced: plain(line.fence.fenced),
    },
    fx: line.fx.map((one) => ({
      currency: one.currency,
      amount: plain(one.amount),
      converted: plain(one.converted),
    })),
  }
}

/** Orders lines by rule, version and scope; those that pay for overrides of uplines come last. */
function inOrder(ruleOrder: string[]) {
  const number = (line: Draft) => (line.paidFor ?? line).version.version
  return (a: Draft, b: Draft): number => {
    if (!a.paidFor !== !b.paidFor) return a.paidFor ? 1 : -1
    const byScope = compareText(a.scope, b.scope)
    if (a.paidFor && b.paidFor)
      return (
        byScope ||
        compareText(a.rule.id, b.rule.id) ||
        number(a) - number(b) ||
        compareText(lastDay(a.paidFor.period), lastDay(b.paidFor.period)) ||
        compareText(a.paidFor.version.plan, b.paidFor.version.plan)
      )
    const byRule = place(ruleOrder, a.rule.id) - place(ruleOrder, b.rule.id)
    return byRule || number(a) - number(b) || byScope
  }
}

/** Sets the total against what was open: what is payable, what stays open, what is dropped. */
function settle(version: Version, opening: Rational, total: Rational) {
  const x = add(opening, total)
  if (isNegative(x))
    return version.negative === 'zero'
      ? { payable: ZERO, closing: ZERO, dropped: x }
      : { payable: ZERO, closing: x, dropped: ZERO }
  return compare(x, parse(version.minimum_payout)) < 0
    ? { payable: ZERO, closing: x, dropped: ZERO }
    : { payable: x, closing: ZERO, dropped: ZERO }
}

/** Returns the statements of one affiliate and plan, period after period (§13). */
export function statementsOf(books: Books, affiliate: string, versions: Version[]) {
  const [{ plan, currency, period: kind }] = versions as [Version]
  const ruleOrder = ruleOrderOf(versions)
  const statements: OutcomeStatement[] = []
  let opening = ZERO
  for (const period of books.periods[kind]) {
    const lines = linesOf(books, affiliate, plan, period)
      .filter((line) => !line.isDropped)
      .sort(inOrder(ruleOrder))
    const holds = books.holds.get(keyOf(affiliate, plan, period)) ?? []
    const total = sum(lines.map((line) => line.amount))
    const result = settle(inForce(versions, lastDay(period)), opening, total)
    if (lines.length > 0 || holds.length > 0 || !isZero(opening))
      statements.push({
        affiliate_id: affiliate,
        plan,
        period,
        currency,
        opening: money(opening, currency),
        lines: lines.map(writeLine),
        total: money(total, currency),
        payable: money(result.payable, currency),
        closing: money(result.closing, currency),
        dropped: money(result.dropped, currency),
        holds: sumHolds(holds, ruleOrder),
      })
    opening = result.closing
  }
  return statements
}
