import cpa from '../../examples/plans/cpa.json'
import firstDepositCpa from '../../examples/plans/first-deposit-cpa.json'
import hybrid from '../../examples/plans/hybrid.json'
import perLot from '../../examples/plans/ib-per-lot.json'
import igamingHybrid from '../../examples/plans/igaming-hybrid.json'
import master from '../../examples/plans/master-ib.json'
import ngrShare from '../../examples/plans/ngr-share.json'
import prop from '../../examples/plans/prop-challenge.json'
import propCpa from '../../examples/plans/prop-cpa.json'
import propNetwork from '../../examples/plans/prop-network.json'
import share from '../../examples/plans/revenue-share.json'
import type { PlanContext } from '../../src/commission/plans/check-plan.ts'
import { vocabularyOf } from '../../src/commission/plans/vocabulary.ts'
import { igaming } from '../../src/ingest/brand/igaming.ts'
import { forex } from '../../src/ingest/trading/forex.ts'
import { propTrading } from '../../src/ingest/trading/prop-trading.ts'

/** The template plans, each with its vertical. */
export const TEMPLATES = [
  ['cpa', 'forex', cpa],
  ['revenue-share', 'igaming', share],
  ['first-deposit-cpa', 'igaming', firstDepositCpa],
  ['ngr-share', 'igaming', ngrShare],
  ['igaming-hybrid', 'igaming', igamingHybrid],
  ['hybrid', 'forex', hybrid],
  ['prop-challenge', 'prop-trading', prop],
  ['prop-cpa', 'prop-trading', propCpa],
  ['prop-network', 'prop-trading', propNetwork],
  ['ib-per-lot', 'forex', perLot],
  ['master-ib', 'forex', master],
] as const

const VERTICALS = [forex, propTrading, igaming]

/** The event definition of the brand in these tests. */
const definition = (eventname: string, kpis: string[] = []) => ({
  eventname,
  kpis,
  granularity: 'event' as const,
  eventid: 'used' as const,
  product: null,
  currency: null,
  outflow: false,
  status_member: null,
})

/** The definitions that the template of a brand names. */
export const DEFINITIONS = [
  definition('DailyStats', ['GGR', 'NGR']),
  definition('Bonus'),
  definition('Deposit'),
  definition('Chargeback'),
]

/** Returns what plans of an account of a vertical are checked by. */
export function contextOf(vertical: string, more: Partial<PlanContext> = {}): PlanContext {
  const { resources } = VERTICALS.find((one) => one.vertical === vertical)!
  return {
    vocabulary: vocabularyOf(resources, DEFINITIONS),
    versions: [],
    ...more,
  }
}

/** The members of a plan beside its rules. */
export const head = {
  name: 'Plan',
  currency: 'EUR',
  period: 'month',
  effective_from: '2026-12-01',
  terms: 'signup',
  negative: 'carry',
  minimum_payout: '50.00',
  hold_days: 14,
}

/** A valid rule of each kind. */
export const rules = {
  once: { id: 'cpa', kind: 'once', trigger: { transactions: ['deposit'] }, amount: '200.00' },
  share: { id: 'share', kind: 'share', percent: '30', base: [{ activity: 'spread_cost' }] },
  unit: { id: 'lots', kind: 'unit', unit: { activity: 'lots_traded' }, amount: '5.00' },
  override: {
    id: 'master',
    kind: 'override',
    level: 1,
    of: { lines: ['share', 'unit'] },
    percent: '10',
  },
}

/** Returns a plan with these rules. */
export const planWith = (...list: unknown[]) => ({ ...head, rules: list })
