import type { OutcomeLine, OutcomeStatement } from '../world.ts'
import { type Books, joinKey, linesOf, place, ruleOrderOf, sumHolds } from './books.ts'
import { addDays, firstDay, type Kind, lastDay, nextPeriod, periodOf } from './calendar.ts'
import { money } from './currency.ts'
import type { Draft } from './drafts.ts'
import { compareText } from './facts.ts'
import { assignmentsOf, inForce, type Version } from './plan.ts'
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

/** What becomes of a balance: exactly one of these takes it. */
type Fate = 'payable' | 'closing' | 'dropped' | 'transferred'

function fateOf(version: Version, x: Rational, successor: Successor | null): Fate {
  if (isZero(x)) return 'closing'
  if (isNegative(x)) {
    if (version.negative === 'zero') return 'dropped'
    return successor?.receives ? 'transferred' : 'closing'
  }
  if (compare(x, parse(version.minimum_payout)) >= 0) return 'payable'
  if (successor === null) return 'closing'
  return successor.receives ? 'transferred' : 'payable'
}

/** The plan that took over all customers of another one. */
interface Successor {
  plan: string
  /** Its kind of period if its currency is that of the plan that was left, else null. */
  receives: Kind | null
}

/** Returns the successor of a plan that the affiliate has left by the end of a period, or null (§16.6). */
function successorOf(
  { account }: Books,
  affiliate: string,
  left: Version,
  period: string,
): Successor | null {
  const dayAfter = addDays(lastDay(period), 1)
  let successor: string | null = null
  for (const { plan, from, customers } of assignmentsOf(account.world, affiliate)) {
    if (from > dayAfter) break
    if (plan === left.plan) successor = null
    else if (customers === 'all') successor = plan
  }
  if (successor === null) return null
  const version = account.plans.get(successor)?.[0]
  const receives = version && version.currency === left.currency ? version.period : null
  return { plan: successor, receives }
}

/** Returns the first period of a kind whose first day lies after the last day of a period. */
function firstPeriodAfter(period: string, kind: Kind): string {
  const end = lastDay(period)
  const found = periodOf(kind, end)
  return firstDay(found) > end ? found : nextPeriod(found)
}

type Received = OutcomeStatement['received'][number] & { exact: Rational }

/** Returns the statements of one affiliate under all plans, in order of their last days (§13). */
export function affiliateStatements(books: Books, affiliate: string): OutcomeStatement[] {
  const carried = new Map<string, Rational>()
  const moved = new Map<string, Received[]>()
  const all = [...books.account.plans.values()].flatMap((versions) =>
    books.periods[versions[0]!.period].map((period) => ({ versions, period })),
  )
  return all
    .sort((a, b) => compareText(lastDay(a.period), lastDay(b.period)))
    .flatMap(({ versions, period }) => {
      const [{ plan, currency }] = versions as [Version]
      const key = joinKey(plan, period)
      const received = (moved.get(key) ?? []).sort(
        (a, b) => compareText(a.from, b.from) || compareText(a.period, b.period),
      )
      const opening = sum([carried.get(key) ?? ZERO, ...received.map(({ exact }) => exact)])
      const ruleOrder = ruleOrderOf(versions)
      const lines = linesOf(books, affiliate, plan, period)
        .filter((line) => !line.isDropped)
        .sort(inOrder(ruleOrder))
      const holds = books.holds.get(joinKey(affiliate, plan, period)) ?? []
      const total = sum(lines.map((line) => line.amount))
      const x = add(opening, total)
      const successor = successorOf(books, affiliate, versions[0]!, period)
      const fate = fateOf(inForce(versions, lastDay(period)), x, successor)
      const amount = money(x, currency)
      let transferred: OutcomeStatement['transferred'] = null
      if (fate === 'closing') carried.set(joinKey(plan, nextPeriod(period)), x)
      if (fate === 'transferred') {
        const { plan: to, receives } = successor!
        const into = firstPeriodAfter(period, receives!)
        transferred = { to, period: into, amount }
        const target = joinKey(to, into)
        const entry = { from: plan, period, amount, exact: x }
        moved.set(target, [...(moved.get(target) ?? []), entry])
      }
      if (lines.length === 0 && holds.length === 0 && received.length === 0 && isZero(opening))
        return []
      const figure = (of: Fate) => money(of === fate ? x : ZERO, currency)
      return {
        affiliate_id: affiliate,
        plan,
        period,
        currency,
        opening: money(opening, currency),
        lines: lines.map(writeLine),
        total: money(total, currency),
        payable: figure('payable'),
        closing: figure('closing'),
        dropped: figure('dropped'),
        transferred,
        received: received.map(({ exact: _exact, ...one }) => one),
        holds: sumHolds(holds, ruleOrder),
      }
    })
}
