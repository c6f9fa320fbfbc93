import type { Context } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { fromUnits, moneyText } from '../commission/books/money.ts'
import { dayNumber, latestPeriods } from '../commission/engine/calendar.ts'
import { withEveryone } from '../commission/engine/plans-in-force.ts'
import { resolveDatabase } from '../db/database.ts'
import {
  type AffiliateFigures,
  type AssignedPlan,
  FIGURE_FILTERS,
  FIGURE_SORTS,
  type FigureDays,
  type ListedAffiliate,
  listForFigures,
  readAffiliateFigures,
} from '../db/directory/affiliate-figures.ts'
import { PAGE_PARAMETERS, readPage, respondWithPage } from '../http/pagination.ts'
import { readChoice, readQuery } from '../http/query.ts'
import { todayOf } from '../zone.ts'
import { findRouteAccount } from './accounts.ts'

/** The periods of each kind whose earnings are listed, the current one among them. */
const PERIODS = 3

/** Returns the days and periods of figures on a day (`YYYY-MM-DD`). */
export function daysOf(day: string): FigureDays {
  const last = (['month', 'week'] as const).map((kind) =>
    latestPeriods(dayNumber(day), kind, PERIODS).map(({ id }) => id),
  )
  return { today: day, open: last.flatMap((ids) => ids.slice(0, 1)), periods: last.flat() }
}

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
function present(row: ListedAffiliate, figures: AffiliateFigures) {
  const { affiliate_id, parent, display_name, contact_email, status } = row
  const { assigned, balances, earned, lastSignups } = figures
  const isOwn = (row: { affiliate_id: string }) => row.affiliate_id === affiliate_id
  const forAll = assigned.filter((one) => one.affiliate_id === '*')
  const governing = withEveryone(assigned.filter(isOwn), forAll)
  const plan = governing.findLast(({ is_next }) => is_next === 0)
  const next = governing.find(({ is_next }) => is_next === 1)
  const sums = balances.filter(isOwn)
  const currencies = [...new Set(sums.map(({ currency }) => currency))].sort()
  const sumOf = (currency: string, what: 'balance' | 'due') =>
    amountOf(
      sums.find((sum) => sum.currency === currency && sum.what === what) ?? {
        currency,
        units: '0',
      },
    )
  return {
    affiliate_id,
    display_name,
    contact_email,
    status,
    parent,
    plan: plan ? presentPlan(plan) : null,
    next_plan: next ? presentPlan(next) : null,
    balances: currencies.map((currency) => ({
      currency,
      balance: sumOf(currency, 'balance'),
      due: sumOf(currency, 'due'),
    })),
    earned: earned
      .filter(isOwn)
      .map((sum) => ({ period: sum.period, currency: sum.currency, total: amountOf(sum) })),
    last_signup: lastSignups.get(affiliate_id) ?? null,
  }
}

/** Responds with one page of the affiliates of an account, each with its plan, balance, earnings and last signup. */
export async function getFigures(c: Context<AppEnv>): Promise<Response> {
  const sent = readQuery(c.req.url, ...PAGE_PARAMETERS, 'search', 'only', 'sort')
  const { search, only, sort, ...query } = sent
  const filter = {
    search,
    only: readChoice('only', only, FIGURE_FILTERS),
    sort: readChoice('sort', sort, FIGURE_SORTS),
  }
  const account = await findRouteAccount(c)
  const db = resolveDatabase(c.env, account.binding)
  const context = JSON.stringify([account.id, 'affiliate figures', filter])
  const page = await readPage(c.env, context, query)
  const days = daysOf(todayOf(account))
  const found = await listForFigures(db, account.id, filter, days, page)
  const ids = found.data.map(({ affiliate_id }) => affiliate_id)
  const databases = { db, directory: c.env.DB }
  const figures = await readAffiliateFigures(databases, account.id, ids, days)
  const data = found.data.map((row) => present(row, figures))
  return respondWithPage(c, context, page, { ...found, data })
}
