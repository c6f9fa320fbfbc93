import type { FactReading } from '../../db/commission/fact-readings.ts'
import { EVERYTHING, type FactSelection } from '../../db/commission/fact-tables.ts'
import type { Version } from '../engine/book.ts'
import type { Period } from '../engine/calendar.ts'
import { type FactNeeds, factNeeds } from '../engine/fact-needs.ts'
import type { PlanTerms } from '../engine/plan.ts'
import type { Tree } from '../engine/tree.ts'
import type { WantedCustomer } from './read-customers.ts'
import type { AccountSource } from './source.ts'

type RowKind = FactReading['kind']

/**
 * Returns a function that tells whether the plans under which a customer's affiliates earn, or
 * overrides and tiers of their uplines, name any records of a reading.
 */
export function neededReadings(
  { book, selection }: Pick<AccountSource, 'book' | 'selection'>,
  tree: Tree,
  periods: readonly Period[],
): (customer: WantedCustomer, reading: FactReading) => boolean {
  if (selection === EVERYTHING) return () => true
  const days = [...new Set(periods.map(({ last }) => last))]
  const versionsOf = (affiliate: string): Version[] => {
    const plans = new Set(book.assignmentsOf(affiliate).map(({ plan }) => plan))
    return [...plans].flatMap((plan) => book.plans.get(plan)?.versions ?? [])
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

/** The rules that look at facts of affiliates below. */
const rulesOverOthers = (terms: PlanTerms): PlanTerms => ({
  ...terms,
  rules: terms.rules.filter(({ kind, tiers }) => kind === 'override' || tiers?.over === 'network'),
})

/** Returns the kinds of rows in which an account's selection reads what plans need. */
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
