import type { FactQuery } from '../../db/commission/fact-queries.ts'
import { EVERYTHING, type FactSelection } from '../../db/commission/fact-tables.ts'
import type { Period } from '../engine/calendar.ts'
import { type FactNeeds, factNeeds } from '../engine/fact-needs.ts'
import type { PlanTerms } from '../engine/plan.ts'
import type { Version } from '../engine/plans-in-force.ts'
import type { Tree } from '../engine/tree.ts'
import type { IsNeeded } from './read-customers.ts'
import type { AccountSource } from './source.ts'

type RowKind = FactQuery['kind']

/**
 * Returns a function that tells whether a query reads rows that count for a customer: rows that are
 * named by the plans of the customer's affiliates, or by overrides and network tiers of their uplines.
 */
export function neededQueries(
  { inForce, selection }: Pick<AccountSource, 'inForce' | 'selection'>,
  tree: Tree,
  periods: readonly Period[],
): IsNeeded {
  if (selection === EVERYTHING) return () => true
  const days = [...new Set(periods.map(({ last }) => last))]
  const versionsOf = (affiliate: string): Version[] => {
    const plans = new Set(inForce.assignmentsOf(affiliate).map(({ plan }) => plan))
    return [...plans].flatMap((plan) => inForce.plans.get(plan)?.versions ?? [])
  }
  const known = new Map<string, ReadonlySet<RowKind>>()
  const kindsFor = (affiliate: string): ReadonlySet<RowKind> => {
    const found = known.get(affiliate)
    if (found !== undefined) return found
    const uplines = new Set(days.flatMap((day) => tree.uplines(affiliate, day)))
    const kinds = kindsOf(selection, [
      ...versionsOf(affiliate).map(({ source }) => source),
      ...[...uplines].flatMap(versionsOf).map(({ source }) => rulesOverOthers(source)),
    ])
    known.set(affiliate, kinds)
    return kinds
  }
  return ({ affiliations }, { kind }) =>
    affiliations === undefined ||
    affiliations.some(({ affiliate_id: id }) => id !== null && kindsFor(id).has(kind))
}

/** Returns terms with only those rules that count facts of affiliates below. */
const rulesOverOthers = (terms: PlanTerms): PlanTerms => ({
  ...terms,
  rules: terms.rules.filter(({ kind, tiers }) => kind === 'override' || tiers?.over === 'network'),
})

/** Returns the kinds of rows that plans need, as an account's selection reads them. */
function kindsOf(selection: FactSelection, plans: readonly PlanTerms[]): Set<RowKind> {
  const needs: FactNeeds = factNeeds(plans)
  const isNamed = ({ single, summed }: FactNeeds['events'], names: readonly string[]): boolean =>
    names.some((name) => single.has(name) || summed.has(name))
  const { transactions, activity, events } = needs
  const kinds = new Set<RowKind>()
  if (isNamed(transactions, selection.transactions.single)) kinds.add('transactions')
  if (isNamed(transactions, selection.transactions.summed)) kinds.add('summed_transactions')
  if (activity.single.size + activity.summed.size > 0) {
    kinds.add('activity').add('summed_activity')
  }
  if (isNamed(events, selection.events.single)) kinds.add('events')
  if (isNamed(events, selection.events.summed)) kinds.add('summed_events')
  return kinds
}
