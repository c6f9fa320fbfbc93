import type { ChangedTable } from '../../db/commission/books/changed-records.ts'
import { firstIdAt } from '../../ingest/delivery-id.ts'
import { parsePeriod } from '../engine/calendar.ts'
import type { CorrectedLine } from './cause.ts'
import { type CauseList, noCauses } from './cause-list.ts'
import { type LineRules, rulesOf } from './cause-rules.ts'
import type { Computation } from './computation.ts'
import type { LastSettled, LastSettledOf } from './settled-since.ts'

/** The longest time, in milliseconds, between receiving and storing a delivery. */
const STORED_LATE_MS = 600_000

/** Corrected lines of one rule that have the same possible causes, and the causes found so far. */
export interface CauseGroup extends LastSettled {
  readonly affiliate: string
  readonly plan: string
  readonly periodId: string
  readonly rules: LineRules
  /** Ids of deliveries received since the approval sort after this. */
  readonly sinceId: string
  /** Ids of deliveries that were possibly stored since the approval sort after this. */
  readonly lateId: string
  /** The affiliates whose customers have an effect on the lines. */
  readonly affiliates: ReadonlySet<string>
  /** The days of the closed period. */
  readonly period: { readonly first: number; readonly last: number }
  /** The days whose facts have an effect. */
  readonly first: number
  readonly last: number
  /** The causes found for each customer whose line was corrected. */
  readonly byCustomer: Map<string, FoundCauses>
  /** The causes found for all other customers. */
  readonly rest: FoundCauses
  /** Records that deliveries moved to other customers; the previous customer is not stored. */
  readonly movedAway: CauseList
  /** Whether a customer lost a line of a `once` rule. */
  readonly hasLost: boolean
  /** Settings on which the lines depend. */
  readonly settings: CauseList
  /** Settings that may have an effect. */
  readonly otherSettings: CauseList
}

/** The causes found for one or several customers, the most likely first. */
export interface FoundCauses {
  /** Changes of records that the rules name, on days that have an effect, and of histories. */
  readonly likely: CauseList
  /** Other changes. */
  readonly others: CauseList
  /** Deliveries that were received before the computation and possibly stored after it. */
  readonly late: CauseList
}

const nothingFound = (): FoundCauses => ({
  likely: noCauses(),
  others: noCauses(),
  late: noCauses(),
})

/** Returns the customer of a line's scope; null if the line has several customers. */
export const customerOf = ({ line }: Pick<CorrectedLine, 'line'>): string | null =>
  line?.scope.startsWith('customer:') ? line.scope.slice('customer:'.length) : null

/** Returns the key of the group of a line. */
export const groupKey = ({ affiliate_id, plan, period, line }: CorrectedLine): string => {
  const scope = line?.scope.startsWith('affiliate:') ? line.scope : ''
  return JSON.stringify([affiliate_id, plan, period, line?.rule ?? null, scope])
}

/** Returns the causes found for a customer. */
export const foundOf = ({ byCustomer, rest }: CauseGroup, customer: string): FoundCauses =>
  byCustomer.get(customer) ?? rest

/** Divides corrected lines into groups by `groupKey`. */
export function groupLines(
  computation: Computation,
  lines: readonly CorrectedLine[],
  settledOf: LastSettledOf,
): Map<string, CauseGroup> {
  const groups = new Map<string, CauseGroup>()
  for (const line of lines) {
    const key = groupKey(line)
    const known = groups.get(key) ?? newGroup(computation, line, settledOf(line))
    const group = { ...known, hasLost: known.hasLost || (known.rules.once && line.isReduction) }
    groups.set(key, group)
    const customer = customerOf(line)
    if (customer !== null) group.byCustomer.set(customer, nothingFound())
  }
  return groups
}

function newGroup(
  { source, dependenciesOf }: Computation,
  line: CorrectedLine,
  settled: LastSettled,
): CauseGroup {
  const rules = rulesOf(source, line)
  const { first, last } = parsePeriod(line.period) ?? { first: 0, last: 0 }
  const { affiliate_id: affiliate, plan } = line
  return {
    ...settled,
    affiliate,
    plan,
    periodId: line.period,
    rules,
    period: { first, last },
    sinceId: firstIdAt(settled.since),
    lateId: firstIdAt(settled.since - STORED_LATE_MS),
    affiliates: rules.network
      ? dependenciesOf(affiliate).read
      : new Set([rules.below ?? affiliate]),
    first: rules.remembers ? Number.NEGATIVE_INFINITY : first,
    last: last + rules.daysAfter,
    byCustomer: new Map(),
    rest: nothingFound(),
    movedAway: noCauses(),
    hasLost: false,
    settings: noCauses(),
    otherSettings: noCauses(),
  }
}

/** Whether the rules of a group name facts of a table and kind. */
export function namesRecord(
  { rules: { needs, signup } }: CauseGroup,
  table: ChangedTable,
  kind: string,
): boolean {
  if (table === 'customers') return signup
  if (needs === null) return true
  const { transactions, activity, events } = needs
  if (table === 'transactions')
    return transactions.single.has(kind) || transactions.summed.has(kind)
  if (table === 'events') return events.single.has(kind) || events.summed.has(kind)
  return activity.single.size + activity.summed.size > 0
}
