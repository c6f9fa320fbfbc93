import cpa from '../../../../examples/plans/cpa.json' with { type: 'json' }
import firstDepositCpa from '../../../../examples/plans/first-deposit-cpa.json' with {
  type: 'json',
}
import hybrid from '../../../../examples/plans/hybrid.json' with { type: 'json' }
import ibPerLot from '../../../../examples/plans/ib-per-lot.json' with { type: 'json' }
import igamingHybrid from '../../../../examples/plans/igaming-hybrid.json' with { type: 'json' }
import masterIb from '../../../../examples/plans/master-ib.json' with { type: 'json' }
import ngrShare from '../../../../examples/plans/ngr-share.json' with { type: 'json' }
import propChallenge from '../../../../examples/plans/prop-challenge.json' with { type: 'json' }
import propCpa from '../../../../examples/plans/prop-cpa.json' with { type: 'json' }
import propNetwork from '../../../../examples/plans/prop-network.json' with { type: 'json' }
import revenueShare from '../../../../examples/plans/revenue-share.json' with { type: 'json' }
import { checkPlan } from '../../../commission/plans/check-plan.ts'
import type { PlanTerms } from '../../../commission/plans/types.ts'
import type { Vocabulary } from '../../../commission/plans/vocabulary.ts'
import { DAY_MS } from '../../../platform/durations.ts'
import { dayText, firstDayOf, nextPeriod, periodOf } from '../../../platform/money/calendar.ts'

/** The plans that are ready to use in each vertical, by the names of their files. */
const TEMPLATES: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  forex: { cpa, hybrid, 'ib-per-lot': ibPerLot, 'master-ib': masterIb },
  'prop-trading': {
    'prop-challenge': propChallenge,
    'prop-cpa': propCpa,
    'prop-network': propNetwork,
  },
  igaming: {
    'first-deposit-cpa': firstDepositCpa,
    'ngr-share': ngrShare,
    'igaming-hybrid': igamingHybrid,
    'revenue-share': revenueShare,
  },
}

/** A plan that is ready to use. */
export interface Template {
  readonly template: string
  readonly terms: PlanTerms
}

/** Returns the first day of the period that begins next, or of the one after a day. */
export function nextFirstDay(period: 'month' | 'week', now: number, after = ''): string {
  const today = Math.floor(now / DAY_MS)
  const latest = Math.max(today, Math.floor(Date.parse(after) / DAY_MS) || today)
  return dayText(nextPeriod(periodOf(firstDayOf(latest, period), period), 1).first)
}

/**
 * Returns the templates of a vertical. They begin with the next period, and have a currency of their own if
 * none is given.
 */
export function templatesFor(
  vertical: string,
  vocabulary: Vocabulary,
  now: number,
  currency: string | null,
): Template[] {
  return Object.entries(TEMPLATES[vertical] ?? {}).flatMap(([template, body]) => {
    const { plan } = checkPlan(body, { vocabulary, versions: [] })
    if (!plan) return []
    const effective_from = nextFirstDay(plan.terms.period, now)
    const terms = { ...plan.terms, effective_from, ...(currency && { currency }) }
    return [{ template, terms }]
  })
}

/** The terms with which an empty plan begins. */
export const emptyTerms = (now: number, currency: string | null) => ({
  currency: currency ?? 'EUR',
  period: 'month',
  effective_from: nextFirstDay('month', now),
  terms: 'signup',
  negative: 'carry',
  minimum_payout: '50.00',
  hold_days: 14,
  rules: [],
})
