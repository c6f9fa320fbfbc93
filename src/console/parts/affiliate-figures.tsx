import type { Child } from 'hono/jsx'
import type { listAffiliateFigures } from '../../admin/affiliate-figures.ts'
import { moneyText } from '../../commission/books/money.ts'
import { latestPeriods } from '../../commission/engine/calendar.ts'
import { decimal, isZero, ZERO } from '../../commission/engine/decimal.ts'
import { DAY_MS } from '../../durations.ts'
import type { AnswerOf } from '../../http/operation.ts'

import { Amount, Badge, dayWords, NOTHING, periodWords } from './data.tsx'
import { PlanLink } from './names.tsx'
import { sumByCurrency } from './owed.ts'

// What is shown of an affiliate: plan, balance and earnings.

/** An affiliate as `GET …/affiliates/figures` shows it. */
export type AffiliateFigures = AnswerOf<typeof listAffiliateFigures>['data'][number]

/** What an affiliate earned in a period. */
export type Earned = AffiliateFigures['earned'][number]

/** The balance of an affiliate in a currency. */
export type Balance = AffiliateFigures['balances'][number]

/** The earnings of one currency and kind of period: of each of the last periods, the current one first. */
export interface Series {
  readonly currency: string
  readonly totals: readonly { readonly period: string; readonly total: string }[]
}

/** The periods that are shown, the current one included. */
const PERIODS = 3

/** Returns the earnings by currency and kind of period. Kinds without any are left out. */
export function seriesOf(earned: readonly Earned[], now: number): Series[] {
  const currencies = [...new Set(earned.map(({ currency }) => currency))]
  return (['month', 'week'] as const).flatMap((kind) =>
    currencies.flatMap((currency) => {
      const periods = latestPeriods(Math.floor(now / DAY_MS), kind, PERIODS)
      const rows = earned.filter((one) => one.currency === currency)
      if (!periods.some(({ id }) => rows.some(({ period }) => period === id))) return []
      const totals = periods.map(({ id: period }) => {
        const sum = sumByCurrency(
          rows.flatMap(({ period: own, total }) =>
            own === period ? [{ amount: total, currency }] : [],
          ),
        )
        return { period, total: moneyText(sum.get(currency) ?? ZERO, currency) }
      })
      return [{ currency, totals }]
    }),
  )
}

/** Renders the earnings of the last three periods: that of the current one, and smaller those before. */
export const EarnedCell = ({ earned, now }: { earned: readonly Earned[]; now: number }): Child => {
  const all = seriesOf(earned, now)
  if (all.length === 0) return NOTHING
  return all.map((series) => {
    const [open, ...earlier] = series.totals
    return (
      <div>
        <Amount value={open?.total ?? '0'} currency={series.currency} />
        {earlier.map(({ period, total }) => (
          <small>
            {periodWords(period)} <Amount value={total} />
          </small>
        ))}
      </div>
    )
  })
}

/** Renders balances, each with what is payable of it. */
export const BalanceCell = ({ balances }: { balances: readonly Balance[] }): Child => {
  if (balances.length === 0) return NOTHING
  return balances.map(({ currency, balance, due }) => (
    <div>
      <Amount value={balance} currency={currency} />
      {!isZero(decimal(due)) && <small> payable {due !== balance && <Amount value={due} />}</small>}
    </div>
  ))
}

/** Renders the plan in force, and the one that begins later. */
export const PlanCell = ({
  row: { plan, next_plan },
}: {
  row: Pick<AffiliateFigures, 'plan' | 'next_plan'>
}) => (
  <>
    {plan ? <PlanLink id={plan.plan} /> : <Badge tone="warn">No plan</Badge>}{' '}
    {plan?.for_all && <small>for all</small>}
    {next_plan && (
      <small>
        from {dayWords(next_plan.from)}: <PlanLink id={next_plan.plan} />
        {next_plan.for_all && ', for all'}
      </small>
    )}
  </>
)
