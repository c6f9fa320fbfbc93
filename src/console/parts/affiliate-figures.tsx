import type { Child } from 'hono/jsx'
import { moneyText } from '../../commission/books/money.ts'
import { latestPeriods } from '../../commission/engine/calendar.ts'
import { decimal, isZero, ZERO } from '../../commission/engine/decimal.ts'
import { DAY_MS } from '../../durations.ts'
import type { Visit } from '../page.ts'
import type { Status } from './affiliate-status.tsx'
import { Amount, Badge, dayWords, NOTHING, periodWords } from './data.tsx'
import { Sparkline } from './figures.tsx'
import { PlanLink } from './names.tsx'
import { sumByCurrency } from './owed.ts'

// What is shown of an affiliate: plan, balance and earnings.

/** What an affiliate earned in a period. */
export interface Earned {
  readonly period: string
  readonly currency: string
  readonly total: string
}

/** The balance of an affiliate in a currency. */
export interface Balance {
  readonly currency: string
  readonly balance: string
  /** What is approved and not yet paid. */
  readonly due: string
}

/** An assignment that governs an affiliate. */
interface AssignedPlan {
  readonly plan: string
  readonly from: string
  readonly for_all: boolean
}

/** An affiliate as `GET …/affiliates/figures` shows it. */
export interface AffiliateFigures {
  readonly affiliate_id: string
  readonly display_name: string | null
  readonly contact_email: string | null
  readonly status: Status
  readonly parent: string | null
  readonly plan: AssignedPlan | null
  /** The plan that begins later, if any. */
  readonly next_plan: AssignedPlan | null
  readonly balances: readonly Balance[]
  readonly earned: readonly Earned[]
  readonly last_signup: string | null
}

/** The earnings of one currency and kind of period: of each of the last periods, the current one first. */
export interface Series {
  readonly currency: string
  readonly totals: readonly { readonly period: string; readonly total: string }[]
}

/** Returns the earnings by currency and kind of period. Kinds without any are left out. */
export function seriesOf(earned: readonly Earned[], now: number, length: number): Series[] {
  const currencies = [...new Set(earned.map(({ currency }) => currency))]
  return (['month', 'week'] as const).flatMap((kind) =>
    currencies.flatMap((currency) => {
      const periods = latestPeriods(Math.floor(now / DAY_MS), kind, length)
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

/** Draws the earnings of the last periods, the latest last. */
export const EarnedSparkline = ({ series: { currency, totals } }: { series: Series }) => (
  <Sparkline
    values={totals.map(({ total }) => Number(total)).reverse()}
    label={`Earned in ${currency}: ${totals
      .map(({ period, total }) => `${periodWords(period)} ${total}`)
      .join(', ')}`}
  />
)

/** Renders the earnings of the last three periods: that of the current one, and smaller those before. */
export const EarnedCell = ({ earned, now }: { earned: readonly Earned[]; now: number }): Child => {
  const all = seriesOf(earned, now, 3)
  if (all.length === 0) return NOTHING
  return all.map((series) => {
    const [open, ...earlier] = series.totals
    return (
      <div class="earned-cell">
        <EarnedSparkline series={series} />
        <div>
          <Amount value={open?.total ?? '0'} currency={series.currency} />
          {earlier.map(({ period, total }) => (
            <small>
              {periodWords(period)} <Amount value={total} />
            </small>
          ))}
        </div>
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
      {!isZero(decimal(due)) && due !== balance && (
        <small>
          payable <Amount value={due} />
        </small>
      )}
      {!isZero(decimal(due)) && due === balance && <small>payable</small>}
    </div>
  ))
}

/** Renders the plan in force, and the one that begins later. */
export const PlanCell = ({
  visit,
  row: { plan, next_plan },
}: {
  visit: Visit
  row: Pick<AffiliateFigures, 'plan' | 'next_plan'>
}) => (
  <>
    {plan ? <PlanLink visit={visit} id={plan.plan} /> : <Badge tone="warn">No plan</Badge>}
    {plan?.for_all && <small>for all</small>}
    {next_plan && (
      <small>
        from {dayWords(next_plan.from)}: <PlanLink visit={visit} id={next_plan.plan} />
        {next_plan.for_all && ', for all'}
      </small>
    )}
  </>
)
