import type { PlanResult, SettlementInput } from './account-input.ts'
import { nextPeriod, type Period, type PeriodKind } from './calendar.ts'
import { oncePerPeriod } from './memoize.ts'
import { type OwnResults, settleOwn } from './own-lines.ts'
import type { PlansInForce } from './plans-in-force.ts'
import { settleAll, settleAllOverrides } from './statements.ts'
import type { PeriodSums } from './sums.ts'
import { transferredBefore, transferringInto } from './transfer.ts'

/** Computes periods. Each period needs those before it, and is computed only once. */
export interface Settlement {
  /** Returns the results in order of affiliate and plan. */
  readonly settle: (period: Period) => readonly PlanResult[]
}

/**
 * Prepares the settlement of affiliates from what their facts came to. Facts need not be in memory: the
 * sums can be added up from a few customers at a time.
 */
export function openSettlement(
  input: SettlementInput,
  sums: (period: Period) => PeriodSums,
): Settlement {
  const ownBefore = (period: Period): OwnResults | null =>
    isFirst(input, period) ? null : own(nextPeriod(period, -1))
  const own: (period: Period) => OwnResults = oncePerPeriod((period) =>
    settleOwn(input, period, sums, ownBefore(period)),
  )
  const before = (period: Period): readonly PlanResult[] | null =>
    isFirst(input, period) ? null : settled(nextPeriod(period, -1))
  // Most plans have no overrides. Without any, the weeks of a month need not be computed.
  const overrides = oncePerPeriod((period) =>
    hasOverrides(input.inForce, period.kind)
      ? settleAllOverrides(input, period, sums(period), own, before(period))
      : [],
  )
  const sentBefore = transferredBefore(input)
  const settled: (period: Period) => readonly PlanResult[] = oncePerPeriod((period) =>
    settleAll(input, period, sums(period), own(period), overrides, before(period), [
      ...sentBefore,
      ...transferringInto(input, period).flatMap(settled),
    ]),
  )
  return { settle: settled }
}

/** Whether a plan with a kind of period has overrides. */
const hasOverrides = ({ plans }: PlansInForce, kind: PeriodKind): boolean =>
  [...plans.values()].some(
    ({ first, versions }) =>
      first.period === kind &&
      versions.some(({ rules }) => rules.some((rule) => rule.kind === 'override')),
  )

/** Whether a period is the first that is computed: `stateOf` holds what earlier periods left. */
const isFirst = ({ firstDay }: SettlementInput, { kind, first }: Period): boolean =>
  first <= firstDay[kind]
