import * as v from 'valibot'
import { balances, currency, presentBalances } from '../../books/operations/ledger.ts'
import { withEveryone } from '../../commission/engine/plans-in-force.ts'
import type { Affiliate } from '../../platform/directory/affiliates.ts'
import { list } from '../../platform/http/operation.ts'
import { dayNumber, latestPeriods } from '../../platform/money/calendar.ts'
import { fromUnits, moneyText } from '../../platform/money/money.ts'
import { day, money } from '../../platform/validation/answer-fields.ts'
import { described } from '../../platform/validation/described.ts'
import { member, nullable, optional, said } from '../../platform/validation/fields.ts'
import { todayOf } from '../../platform/zone.ts'
import {
  type AffiliateFigures,
  type AssignedPlan,
  readAffiliateFigures,
} from '../db/affiliate-figures.ts'
import { listAffiliates } from '../db/affiliates.ts'
import { status } from './affiliate-keys.ts'

/** A part of what an affiliate is called. */
export const search = optional(
  v.string(),
  said(
    'Returns only affiliates whose id, name or e-mail address has this text. Case does not matter.',
    'IB',
  ),
)

/** The periods of each kind whose earnings are listed, the current one among them. */
const PERIODS = 3

/** Returns the ids of the last three months and weeks on a day (`YYYY-MM-DD`). */
export const latestIds = (today: string): string[] =>
  (['month', 'week'] as const).flatMap((kind) =>
    latestPeriods(dayNumber(today), kind, PERIODS).map(({ id }) => id),
  )

interface Sum {
  readonly currency: string
  readonly units: string
}

/** Returns a sum as money. */
export const amountOf = ({ currency, units }: Sum): string =>
  moneyText(fromUnits(units, currency), currency)

const presentPlan = ({ plan, from, affiliate_id }: AssignedPlan) => ({
  plan,
  from,
  for_all: affiliate_id === '*',
})

/** Returns an affiliate with its figures, as the list shows it. */
function present(row: Affiliate, figures: AffiliateFigures) {
  const { affiliate_id, parent, display_name, contact_email, status } = row
  const { assigned, balances, earned } = figures
  const isOwn = (row: { affiliate_id: string }) => row.affiliate_id === affiliate_id
  const forAll = assigned.filter((one) => one.affiliate_id === '*')
  const governing = withEveryone(assigned.filter(isOwn), forAll)
  const plan = governing.findLast(({ is_next }) => is_next === 0)
  const next = governing.find(({ is_next }) => is_next === 1)
  return {
    affiliate_id,
    display_name,
    contact_email,
    status,
    parent,
    plan: plan ? presentPlan(plan) : null,
    next_plan: next ? presentPlan(next) : null,
    balances: presentBalances(balances.filter(isOwn)),
    earned: earned
      .filter(isOwn)
      .map((sum) => ({ period: sum.period, currency: sum.currency, total: amountOf(sum) })),
  }
}

const plan = described(() =>
  v.object({
    plan: member(v.string(), 'Its id.'),
    from: member(day, 'The first day of the assignment.'),
    for_all: member(v.boolean(), 'Whether it is assigned by `*`.'),
  }),
)
export const listAffiliateFigures = list({
  topic: 'affiliates',
  path: '/affiliates/figures',
  id: 'listAffiliateFigures',
  shows: 'affiliate',
  params: {
    affiliate_id: optional(v.string(), said('Returns only this affiliate.', 'IB-07')),
    search,
    without_plan: optional(
      v.boolean(),
      said('Returns only affiliates without a plan, neither of their own nor by `*`.', true),
    ),
  },
  words: described(() => ({
    description:
      'Lists the configured affiliates, each with its plan, balance and earnings of the last periods.',
    answer: v.object({
      affiliate_id: member(v.string(), 'Identifies the affiliate.'),
      display_name: nullable(v.string(), 'What the team calls them, or null.'),
      contact_email: nullable(v.string(), 'Their e-mail address, or null.'),
      status,
      parent: nullable(v.string(), 'The affiliate who referred them, or null.'),
      plan: nullable(plan, 'The plan of customers who sign up today, or null.'),
      next_plan: nullable(plan, 'The next plan that is assigned from a later day on, or null.'),
      balances: member(balances, 'By currency.'),
      earned: member(
        v.array(
          v.object({
            period: member(v.string(), 'The month or ISO week.'),
            currency,
            total: member(money, 'The sum of `earned` of the statements.'),
          }),
        ),
        'What the statements earned, without manual entries, of the last three months and weeks, the current ones among them, by period and currency.',
      ),
    }),
    command: { name: 'affiliates figures' },
  })),
  async list({ db, account }, { without_plan, ...filter }, page) {
    const today = todayOf(account)
    const found = await listAffiliates(db, account.id, page, {
      ...filter,
      ...(without_plan && { without_plan_on: today }),
    })
    const ids = found.data.map(({ affiliate_id }) => affiliate_id)
    const days = { today, periods: latestIds(today) }
    const figures = await readAffiliateFigures(db, account.id, ids, days)
    return { ...found, data: found.data.map((row) => present(row, figures)) }
  },
})
