import type * as v from 'valibot'
import { compareText } from '../../platform/compare-text.ts'
import type { Fixed } from '../../platform/http/operation-words.ts'
import { dayText } from '../../platform/money/calendar.ts'
import { fromFact, plainText } from '../../platform/money/decimal.ts'
import type { group, unearnedRecord as record } from '../shapes/explanations.ts'
import { rankOf } from '../shapes/reasons.ts'
import type { Fact } from './facts.ts'
import type { FactOutcome, FactReport } from './records.ts'

/** Facts with the same outcome and currency: their number, and the sums of their amounts by field. */
export type UnearnedGroup = Fixed<v.InferOutput<typeof group>>

const namesOf = ({ resource, kind }: Fact) => ({
  transaction_type: resource === 'transactions' ? kind : null,
  eventname: resource === 'activities' ? kind : null,
})

/** A group to which facts are added. */
interface OpenGroup extends Omit<UnearnedGroup, 'count' | 'sums'> {
  count: number
  readonly sums: Map<string, bigint>
}

/** Groups by outcome, resource, type or name, and currency. */
export type Groups = Map<string, OpenGroup>

/** Adds a fact to its group. */
export function addToGroups(groups: Groups, outcome: FactOutcome, fact: Fact): void {
  const { resource, kind, currency } = fact
  const { reason, plan, version, rule, condition } = outcome
  const key = JSON.stringify([resource, plan, rule, version, condition, kind, currency, reason])
  const group = groups.get(key) ?? {
    reason,
    plan,
    version,
    rule,
    condition,
    resource,
    ...namesOf(fact),
    currency,
    count: 0,
    sums: new Map(),
  }
  groups.set(key, group)
  group.count += fact.count
  for (const [field, units] of fact.amounts) {
    // The control totals sum a transaction's amount in its own currency only.
    if (field !== 'amount_usd') group.sums.set(field, (group.sums.get(field) ?? 0n) + units)
  }
}

/** Returns the groups in the order of the reasons, then by resource, plan, rule, type or name, and currency. */
export function listGroups(groups: Groups): UnearnedGroup[] {
  return [...groups]
    .sort(([a, one], [b, other]) => rankOf(one.reason) - rankOf(other.reason) || compareText(a, b))
    .map(([, { sums, ...group }]) => ({ ...group, sums: sumTexts(sums) }))
}

/** Writes the sums of amounts by field, in order of its name. */
export const sumTexts = (sums: ReadonlyMap<string, bigint>): Record<string, string> =>
  Object.fromEntries(
    [...sums]
      .sort(([a], [b]) => compareText(a, b))
      .map(([field, units]) => [field, plainText(fromFact(units))]),
  )

/** A record that earned nothing, on the wire. */
export type UnearnedRecord = Fixed<v.InferOutput<typeof record>>

/** Returns a fact that earned nothing, as it is sent. */
export const unearnedRecord = ({
  fact,
  customer_id,
  affiliate_id,
  state,
  rules,
}: FactReport): UnearnedRecord => ({
  resource: fact.resource,
  id: fact.id,
  customer_id,
  affiliate_id,
  day: dayText(fact.day),
  ...namesOf(fact),
  ...state,
  currency: fact.currency,
  amounts: sumTexts(new Map(fact.amounts)),
  rules,
})
