import * as v from 'valibot'
import { openAccount } from '../../src/commission/engine/account.ts'
import type { AccountInput } from '../../src/commission/engine/account-input.ts'
import { dayText, nextPeriod, periodOf } from '../../src/commission/engine/calendar.ts'
import { ONE } from '../../src/commission/engine/decimal.ts'
import { buildPlansInForce } from '../../src/commission/engine/plans-in-force.ts'
import { NO_STATE } from '../../src/commission/engine/state.ts'
import { buildTree } from '../../src/commission/engine/tree.ts'
import type { StatementSums } from '../../src/db/fraud/view.ts'
import { DAY_MS } from '../../src/durations.ts'
import { findingsOf } from '../../src/fraud/findings.ts'
import type { Kind, Seen, Vertical } from '../../src/fraud/kind.ts'
import { casesIn, type SimulatedCase, type TestedVersion } from '../../src/fraud/simulate.ts'
import { findOf, viewsOf } from '../../src/fraud/views.ts'
import type { Affiliate } from './affiliate.ts'
import { YEAR } from './days.ts'
import { PLANS } from './plans.ts'

/** An affiliate with all that rules read of it. */
export interface Book {
  readonly affiliate: Affiliate
  readonly customers: readonly Seen[]
  readonly input: AccountInput
  readonly statements: readonly StatementSums[]
}

const APPROVED_AFTER = 5
const HOLD_DAYS = 14

/** Returns an affiliate with its statements: approved 5 days after each month, payable 14 days after it, and paid. */
export function bookOf(vertical: Vertical, affiliate: Affiliate, customers: readonly Seen[]): Book {
  const plan = PLANS[vertical][affiliate.plan]
  const input: AccountInput = {
    inForce: buildPlansInForce({
      plans: [{ plan: affiliate.plan, versions: [{ version: 1, terms: plan }] }],
      assignments: [
        { affiliate_id: '*', plan: affiliate.plan, from: YEAR.opened, customers: 'all' },
      ],
      minorDigits: () => 2,
    }),
    tree: buildTree([{ affiliate_id: affiliate.id, parents: [{ from: null, value: null }] }]),
    rates: () => ONE,
    dayStart: (day) => day * DAY_MS,
    customers,
    affiliates: [affiliate.id],
    firstDay: {
      month: periodOf(YEAR.opened, 'month').first,
      week: periodOf(YEAR.opened, 'week').first,
    },
    stateOf: () => NO_STATE,
    booksOf: () => null,
  }
  const account = openAccount(input)
  const statements: StatementSums[] = []
  for (
    let month = periodOf(YEAR.opened, 'month');
    month.last <= YEAR.last;
    month = nextPeriod(month, 1)
  ) {
    for (const { statement } of account.settle(month)) {
      if (!statement) continue
      const { affiliate_id, plan, period, currency, total, payable } = statement
      const payable_on = month.last + HOLD_DAYS
      const isApproved = month.last + APPROVED_AFTER <= YEAR.last
      statements.push({
        ...{ affiliate_id, plan, period, currency, total, payable },
        id: `${affiliate_id}-${period}`,
        payable_on: isApproved ? dayText(payable_on) : null,
        paid_on: payable_on <= YEAR.last ? dayText(payable_on) : null,
      })
    }
  }
  return { affiliate, customers, input, statements }
}

/** A case without a decision or a new record expires after so many days (§17). */
const EXPIRE_DAYS = 90

/** The days of a view of a kind that needs no qualifications: narrow views make short searches. */
const NARROW_DAYS = 30

/**
 * Returns the cases that a rule of a kind opens in the year, as if each held the payouts.
 *
 * @param start The first day whose records are evaluated.
 */
export function casesOfKind(
  kind: Kind,
  { affiliate, customers, input, statements }: Book,
  parameters: object,
  start: number = YEAR.first,
): SimulatedCase[] {
  const terms = v.parse(kind.parameters, parameters)
  const reach = kind.reach(terms)
  const days = { first: start, last: YEAR.last }
  const version: TestedVersion = {
    kind,
    parameters: terms,
    version: null,
    action: 'hold',
    reservePercent: '100',
    isInScope: () => true,
    ...days,
  }
  const test = { versions: [version], expireDays: EXPIRE_DAYS, ...days }
  const isWide = reach.qualified || reach.unitEarnings || reach.periods !== undefined
  const step = isWide ? YEAR.last - start + 1 : NARROW_DAYS
  const views = []
  for (let first = start; first <= YEAR.last; first += step) {
    const wanted = { reach, first, last: Math.min(first + step - 1, YEAR.last) }
    const found = customers.flatMap((one) =>
      findOf(input, one, wanted).map((own) => ({
        ...own,
        clickedAt: one.clickedAt,
        identity: one,
      })),
    )
    views.push(...viewsOf(input, affiliate.id, found, statements, wanted))
  }
  const found = views.flatMap(({ view, first, last }) => findingsOf(version, view, first, last))
  return casesIn(test, affiliate.id, found, statements)
}
