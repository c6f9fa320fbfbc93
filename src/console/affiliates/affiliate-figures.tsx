import type { Child } from 'hono/jsx'
import type { listAffiliateFigures } from '../../affiliates/operations/affiliate-figures.ts'
import { periodOf } from '../../commission/engine/calendar.ts'
import { decimal, isZero } from '../../commission/engine/decimal.ts'
import { Amount, Amounts, Badge, dayWords, NOTHING } from '../../pages/parts/data.tsx'
import { PlanLink } from '../../pages/parts/names.tsx'
import { moneyOf, sumByCurrency } from '../../pages/parts/owed.ts'
import { DAY_MS } from '../../platform/durations.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'

// What is shown of an affiliate: plan, balance and earnings.

/** An affiliate as `GET …/affiliates/figures` shows it. */
export type AffiliateFigures = AnswerOf<typeof listAffiliateFigures>['data'][number]

/** What an affiliate earned in a period. */
export type Earned = AffiliateFigures['earned'][number]

/** The balance of an affiliate in a currency. */
export type Balance = AffiliateFigures['balances'][number]

/** Renders the earnings of the current month and week. */
export const EarnedCell = ({ earned, now }: { earned: readonly Earned[]; now: number }): Child => {
  const current = (['month', 'week'] as const).map(
    (kind) => periodOf(Math.floor(now / DAY_MS), kind).id,
  )
  const shown = moneyOf(
    sumByCurrency(
      earned.flatMap(({ period, total, currency }) =>
        current.includes(period) ? [{ amount: total, currency }] : [],
      ),
    ),
  )
  return shown.length === 0 ? NOTHING : <Amounts amounts={shown} />
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
