import { type CustomerHistory, readHistories } from '../../ingest/db/histories.ts'
import { type LateChange, readLateChanges } from '../../ingest/db/late-changes.ts'
import { deliveryTime, firstIdAt } from '../../ingest/delivery-id.ts'
import { firstDifference, partOn } from '../../platform/db/history.ts'
import { readNewRates, readSettingChanges, readWritten, type SettingChange } from '../db/changed.ts'
import { dayText, parsePeriod } from '../engine/calendar.ts'
import { MAX_RATE_AGE } from '../engine/convert.ts'
import { type FactNeeds, factNeeds } from '../engine/fact-needs.ts'
import { memoize } from '../engine/memoize.ts'
import type { OverrideRule, Rule } from '../engine/plan.ts'
import { versionsOf } from '../engine/plans-in-force.ts'
import type { AccountBooks, LastSettled } from './books.ts'
import { type Cause, type CausesOf, type CorrectedLine, NO_CAUSES } from './cause.ts'
import { listCauses } from './cause-list.ts'
import type { Computation, ComputedPeriod } from './compute.ts'
import type { AccountSource } from './source.ts'

// What changed a line of a closed period is looked up where it was noted in the batch of the change: records in
// `late_changes`, settings in the audit log, rates with the time at which they became known. A correction names what was
// noted since the last approval of its period began to read, as far as the rules of its line depend on it.

/** The audited actions that can change what closed periods come to. */
export const SETTING_ACTIONS = [
  'status.put',
  'event-definition.put',
  'event-definition.delete',
  'affiliates.put',
  'assignments.put',
  'assignment.delete',
  'plan.put',
  'plan.withdraw',
  'affiliations.put',
  'refusal.put',
  'refusal.delete',
  'customer.erase',
]

/** Returns the least id that an audit entry of a time, in milliseconds, can have. */
export const auditIdAt = (time: number): string => firstIdAt(time).slice('dlv_'.length)

/** What the lines of a rule and a closed period depend on. Lines over the downline are told apart by affiliate. */
interface Group extends Pick<LastSettled, 'since'> {
  readonly plan: string
  readonly period: { readonly first: number; readonly last: number }
  /** The affiliates whose customers have an effect. */
  readonly affiliates: ReadonlySet<string>
  /** The affiliates whose places in the tree have an effect; none for lines over the affiliate's own customers. */
  readonly tree: ReadonlySet<string>
  /** The records that the rules name. */
  readonly needs: FactNeeds
  /** Whether the signup triggers one of them. */
  readonly signup: boolean
  /** Whether earlier periods have an effect. */
  readonly remembers: boolean
  /** How many days after the period `void_by` may take a line back. */
  readonly daysAfter: number
  /** Whether lines of several customers have an effect on each other. */
  readonly shared: boolean
  /** The currencies for whose rates records waited at the approval. */
  readonly waiting: ReadonlySet<string>
}

/** Something of a customer that changed. */
interface CustomerChange {
  /** Returns the cause that it is for what was approved at a time, in milliseconds. */
  readonly causeSince: (since: number) => Cause
  readonly customer_id: string
  /** The affiliates of whom it changes something. */
  readonly affiliates: readonly (string | null)[]
  /** When it was noted, in milliseconds. */
  readonly at: number
  readonly concerns: (group: Group) => boolean
}

/** Returns the change that the rows of the journal note of one place, the latest first. */
function recordChange(
  rows: readonly [LateChange, ...LateChange[]],
  histories: ReadonlyMap<string, CustomerHistory>,
): CustomerChange {
  const [{ resource, day: stored, id, kind, delivery, at, after, ...row }] = rows
  const { customer_id } = row
  const day = dayText(stored)
  const affiliations = histories.get(customer_id)?.affiliations ?? []
  const isCustomer = resource === 'customers'
  const found = isCustomer ? affiliations : [partOn(affiliations, day)]
  return {
    customer_id,
    at,
    affiliates: found.map((part) => part?.affiliate_id ?? null),
    causeSince: (since) =>
      kind === 'corrected_early' && isCustomer
        ? { kind, customer_id, delivery_id: delivery }
        : {
            kind: 'record',
            resource,
            customer_id,
            day,
            delivery_id: delivery,
            id: idOf(resource, id, customer_id, day),
            before: figuresOf(rows.findLast((one) => one.at >= since)?.before),
            after: figuresOf(after),
          },
    concerns: (group) =>
      stored <= group.period.last + group.daysAfter &&
      // What changes of a customer counts from the signup on.
      (isCustomer || group.remembers || stored >= group.period.first) &&
      (isCustomer ? group.signup || kind !== 'received' : namesRecord(group.needs, resource, kind)),
  }
}

const figuresOf = (json: string | null | undefined) => (json ? JSON.parse(json) : null)

/** Returns the id of a record as facts have it. */
function idOf(resource: LateChange['resource'], id: string, customer: string, day: string): string {
  if (resource === 'customers') return customer
  if (resource === 'transactions' || resource === 'activities') return id
  const [instrument, currency]: string[] = JSON.parse(id)
  return `${day}|${customer}|${instrument}|${currency}`
}

function namesRecord(
  { transactions, activity, events }: FactNeeds,
  resource: LateChange['resource'],
  kind: string,
): boolean {
  if (resource === 'trading-activity') return activity.single.size + activity.summed.size > 0
  const { single, summed } = resource === 'transactions' ? transactions : events
  return single.has(kind) || summed.has(kind)
}

/** Returns the change of a customer that an entry of the audit log notes; null if it is about something else. */
function auditedChange(
  { id: audit_id, action, at, details }: SettingChange,
  histories: ReadonlyMap<string, CustomerHistory>,
): CustomerChange | null {
  const customer_id = String(details.customer_id)
  const isBefore = (from: string | null | undefined) => (group: Group) =>
    from !== undefined && (from === null || from <= dayText(group.period.last))
  const own = histories.get(customer_id)?.affiliations ?? []
  const change = { customer_id, at: Date.parse(at), affiliates: idsIn(own) }
  if (action === 'affiliations.put') {
    const [before, after] = [details.before, details.affiliations] as (typeof own)[]
    const from = firstDifference(before ?? [], after ?? [], (one) => one.affiliate_id)
    return {
      ...change,
      affiliates: [...idsIn(before ?? []), ...idsIn(after ?? [])],
      causeSince: () => ({ kind: 'affiliation', customer_id, audit_id }),
      concerns: isBefore(from),
    }
  }
  if (action === 'customer.erase') {
    return {
      ...change,
      causeSince: () => ({ kind: 'setting', action, at, audit_id }),
      concerns: () => true,
    }
  }
  if (!action.startsWith('refusal.')) return null
  const days = [details, details.before].flatMap((one) =>
    one ? [(one as { from: string | null }).from] : [],
  )
  return {
    ...change,
    causeSince: () => ({ kind: 'refusal', customer_id, audit_id }),
    concerns: (group) => days.some((from) => isBefore(from)(group)),
  }
}

const idsIn = (parts: readonly { readonly affiliate_id: string | null }[]) =>
  parts.map(({ affiliate_id }) => affiliate_id)

/** Returns the causes that a setting of the account is for the lines of a group. */
function settingCauses(
  group: Group,
  { id: audit_id, action, at, details }: SettingChange,
): Cause[] {
  const setting: Cause = { kind: 'setting', action, at, audit_id }
  const { needs, affiliates, tree } = group
  const last = dayText(group.period.last)
  const isAssigned = ({ affiliate_id, from }: Record<string, unknown>): boolean =>
    (affiliate_id === '*' || affiliates.has(String(affiliate_id))) && String(from) <= last
  switch (action) {
    case 'status.put':
      return needs.transactions.single.size + needs.transactions.summed.size > 0 ? [setting] : []
    case 'event-definition.put':
    case 'event-definition.delete':
      return namesRecord(needs, 'activities', String(details.eventname)) ? [setting] : []
    // The terms of the affiliate's own closed periods never change.
    case 'plan.put':
    case 'plan.withdraw':
      return tree.size > 0 && String(details.effective_from) <= last ? [setting] : []
    case 'assignments.put': {
      const sent = details.first as Record<string, unknown>[]
      return tree.size > 0 && (sent.length < Number(details.assignments) || sent.some(isAssigned))
        ? [setting]
        : []
    }
    case 'assignment.delete':
      return tree.size > 0 && isAssigned(details) ? [setting] : []
    case 'affiliates.put':
      return treeCauses(group, details, setting, audit_id)
    default:
      return []
  }
}

/** Returns the causes that a change of affiliates is: of their parents, or of which affiliates are configured. */
function treeCauses(
  { affiliates, tree }: Group,
  { ids, affiliates: sent, before }: SettingChange['details'],
  setting: Cause,
  audit_id: string,
): Cause[] {
  const named = ids as string[]
  const known = new Set(idsIn(before as { affiliate_id: string }[]))
  // A parent has no effect on lines over the affiliate's own customers.
  const own = named.filter((id) => tree.has(id) || (affiliates.has(id) && !known.has(id)))
  if (own.length > 0) return own.map((affiliate_id) => ({ kind: 'tree', affiliate_id, audit_id }))
  return named.length < Number(sent) ? [setting] : []
}

/** Returns the rules of plans in all versions. */
const rulesOf = ({ inForce }: Pick<AccountSource, 'inForce'>, plans: readonly string[]): Rule[] =>
  [...new Set(plans)].flatMap((plan) =>
    versionsOf(inForce, plan).flatMap(({ source }) => source.rules),
  )

/** Returns the rules on which a line depends: its own, or those of the lines below, and those that these measure or recoup. */
function rulesBehind(
  source: Pick<AccountSource, 'inForce'>,
  { plan, line: { rule } }: Corrected,
  downline: Downline | null,
): Rule[] {
  const ofAffiliate = (affiliate: string) =>
    rulesOf(
      source,
      source.inForce.assignmentsOf(affiliate).map((one) => one.plan),
    )
  const all = downline ? ofAffiliate(downline.below) : rulesOf(source, [plan])
  const overrides = (downline ? ofAffiliate(downline.upline) : []).filter(
    (one) => one.kind === 'override' && one.id === rule,
  ) as OverrideRule[]
  const isPaid = ({ kind, id }: Rule) =>
    overrides.some(({ of }) =>
      'lines' in of
        ? of.lines.some((one) => one === kind)
        : 'once' in of && kind === 'once' && id === of.once,
    )
  const own = all.filter((one) => (downline ? isPaid(one) : one.id === rule))
  return [...overrides, ...own, ...all.filter((one) => refersTo(own, one))]
}

/** Whether one of some rules measures or recoups another. */
const refersTo = (rules: readonly Rule[], { id, kind }: Rule): boolean =>
  kind === 'once' &&
  rules.some(
    (rule) =>
      (rule.tiers?.by && 'once' in rule.tiers.by && rule.tiers.by.once === id) ||
      (rule.kind === 'share' && rule.recoups === id),
  )

/** Whether earlier periods have an effect on a rule. */
function remembers(rule: Rule): boolean {
  if ((rule.tiers?.window ?? 'period') !== 'period') return true
  if (rule.kind === 'once') return true
  if (rule.kind !== 'share') return false
  return rule.negative === 'carry' || rule.fence !== undefined || rule.recoups !== undefined
}

const isShared = (rule: Rule): boolean =>
  rule.tiers !== undefined ||
  rule.max !== undefined ||
  (rule.kind === 'once' && rule.max_count !== undefined)

const daysAfter = (rule: Rule): number =>
  rule.kind === 'once' ? (rule.void_by?.within_days ?? 0) : 0

/** The affiliates of a line over the downline: who has the override, and whose records it pays for. */
interface Downline {
  readonly upline: string
  readonly below: string
}

/** Returns the affiliates of a line over the downline, which may be one that the affiliate pays for; null of other lines. */
function downlineOf(
  { context }: Computation,
  affiliate: string,
  scope: string,
  day: number,
): Downline | null {
  if (!scope.startsWith('affiliate:')) return null
  const other = scope.slice('affiliate:'.length)
  return context.tree.uplines(affiliate, day).includes(other)
    ? { upline: other, below: affiliate }
    : { upline: affiliate, below: other }
}

/** A corrected line that is one of a period, not what a period dropped. */
type Corrected = CorrectedLine & { readonly line: NonNullable<CorrectedLine['line']> }

function groupOf(
  computation: Computation,
  line: Corrected,
  settledOf: AccountBooks['settledOf'],
): Group {
  const { source, dependenciesOf, context } = computation
  const { affiliate_id: affiliate, plan } = line
  const { rule, scope } = line.line
  const period = parsePeriod(line.period) ?? { first: 0, last: 0 }
  const downline = downlineOf(computation, affiliate, scope, period.last)
  const rules = rulesBehind(source, line, downline)
  const isNetwork = rules.some(({ tiers }) => tiers?.over === 'network')
  const below = downline?.below ?? affiliate
  const affiliates = isNetwork ? dependenciesOf(affiliate).read : new Set([below])
  const settled = settledOf(line)
  return {
    plan,
    period,
    affiliates,
    since: settled.since,
    tree: new Set(
      isNetwork || downline
        ? [affiliate, ...affiliates, ...context.tree.uplines(below, period.last)]
        : [],
    ),
    needs: factNeeds([{ rules }]),
    signup: rules.some((one) => one.kind === 'once' && 'signup' in one.trigger),
    remembers: rules.some(remembers),
    daysAfter: Math.max(0, ...rules.map(daysAfter)),
    shared: rules.some(isShared),
    waiting: new Set(
      settled.holds.flatMap((one) => (one.rule === rule && one.currency ? [one.currency] : [])),
    ),
  }
}

/** Returns the customer of a line's scope; null if the line has several customers. */
const customerOf = ({ line: { scope } }: Corrected): string | null =>
  scope.startsWith('customer:') ? scope.slice('customer:'.length) : null

/** Returns the key of the group of a line. */
const groupKey = ({ affiliate_id, plan, period, line: { rule, scope } }: Corrected): string =>
  JSON.stringify([affiliate_id, plan, period, rule, scope.startsWith('affiliate:') ? scope : ''])

/** Returns the lines that the statements of a computation correct. */
const correctedLines = (computed: readonly ComputedPeriod[]): Corrected[] =>
  computed.flatMap(({ results }) =>
    results.flatMap(({ statement }) => {
      const { affiliate_id = '', plan = '', adjustments = [] } = statement ?? {}
      return adjustments.flatMap(({ period, line }) =>
        line === null ? [] : [{ affiliate_id, plan, period, line }],
      )
    }),
  )

/** What changed since the first approval of a corrected period. */
interface Found {
  readonly byCustomer: ReadonlyMap<string, readonly CustomerChange[]>
  readonly byAffiliate: ReadonlyMap<string, readonly CustomerChange[]>
  readonly settings: readonly SettingChange[]
  readonly rates: Awaited<ReturnType<typeof readNewRates>>
}

async function readFound(
  { source }: Computation,
  groups: readonly Group[],
  voidable: readonly (readonly [Group, customer: string])[],
): Promise<Found> {
  const { db, directory, account } = source
  const since = Math.min(...groups.map((one) => one.since))
  const logs = account.binding === 'DB' ? [directory] : [directory, db]
  const [late, written, rates, ...logged] = await Promise.all([
    readLateChanges(db, account.id, since),
    // What `void_by` takes back, records of open days do, too.
    readWritten(db, account.id, {
      customers: [...new Set(voidable.map(([, id]) => id))],
      first: Math.min(...voidable.map(([{ period }]) => period.last + 1)),
      last: Math.max(...voidable.map(([{ period, daysAfter }]) => period.last + daysAfter)),
      since: firstIdAt(since),
    }),
    // A rate may apply to later days, and shows that the rates before it are complete.
    readNewRates(directory, {
      first: Math.min(...groups.map(({ period }) => period.first)) - MAX_RATE_AGE,
      last: Math.max(...groups.map(({ period }) => period.last)) + MAX_RATE_AGE,
      since,
    }),
    ...logs.map((log) => readSettingChanges(log, account.id, auditIdAt(since), SETTING_ACTIONS)),
  ])
  const settings = logged.flat()
  const rows = [...late, ...written.map((row) => ({ ...row, at: deliveryTime(row.delivery) }))]
  const ids = new Set([
    ...rows.map(({ customer_id }) => customer_id),
    ...settings.flatMap(({ details }) =>
      details.customer_id ? [String(details.customer_id)] : [],
    ),
  ])
  const histories = await readHistories(source, account.id, [...ids])
  const changes = [
    ...byPlace(rows).map((found) => recordChange(found, histories)),
    ...settings.flatMap((one) => auditedChange(one, histories) ?? []),
  ]
  const byAffiliate = new Map<string, CustomerChange[]>()
  for (const change of changes) {
    for (const affiliate of new Set(change.affiliates)) {
      if (affiliate === null) continue
      const own = byAffiliate.get(affiliate)
      if (own) own.push(change)
      else byAffiliate.set(affiliate, [change])
    }
  }
  const byCustomer = Map.groupBy(changes, ({ customer_id }) => customer_id)
  return { byCustomer, byAffiliate, settings, rates }
}

/** Returns changes by the place of their record; they come the latest first. */
const byPlace = (rows: readonly LateChange[]) =>
  [
    ...Map.groupBy(rows, ({ resource, customer_id, day, id, kind }) =>
      JSON.stringify([resource, customer_id, day, id, kind === 'corrected_early']),
    ).values(),
  ] as [LateChange, ...LateChange[]][]

/** Returns what changed of some customers for a group. */
const concerning = (group: Group, changes: readonly CustomerChange[] = []): Cause[] =>
  changes.flatMap(({ causeSince, at, concerns }) =>
    at >= group.since && concerns(group) ? [causeSince(group.since)] : [],
  )

/** Returns the settings and rates that changed for a group. */
function settingsOf({ source }: Computation, { settings, rates }: Found, group: Group): Cause[] {
  const { since, period, waiting } = group
  const from = auditIdAt(since)
  const planCurrency = source.inForce.plans.get(group.plan)?.first.currency ?? ''
  const published = rates.filter(
    ({ currency, day, first_known }) =>
      first_known >= since &&
      day >= period.first - MAX_RATE_AGE &&
      day <= period.last + MAX_RATE_AGE &&
      (waiting.has(currency) || (waiting.size > 0 && currency === planCurrency)),
  )
  return [
    ...settings.flatMap((one) => (one.id >= from ? settingCauses(group, one) : [])),
    ...published.map(({ currency }): Cause => ({ kind: 'rate', currency })),
  ]
}

/**
 * Finds the causes of all corrections of a computation: what has changed since the last approval of each
 * corrected period. Reads nothing if there are no corrections.
 */
export async function findCauses(
  computation: Computation,
  computed: readonly ComputedPeriod[],
  settledOf: AccountBooks['settledOf'],
): Promise<CausesOf> {
  const lines = correctedLines(computed)
  if (lines.length === 0) return NO_CAUSES
  const groups = new Map<string, Group>()
  for (const line of lines) {
    const key = groupKey(line)
    if (!groups.has(key)) groups.set(key, groupOf(computation, line, settledOf))
  }
  const groupFor = (line: Corrected) => groups.get(groupKey(line)) as Group
  const voidable = lines.flatMap((line) => {
    const group = groupFor(line)
    const customer = customerOf(line)
    return customer !== null && group.daysAfter > 0 ? [[group, customer] as const] : []
  })
  const found = await readFound(computation, [...groups.values()], voidable)
  const settings = memoize((group: Group) => settingsOf(computation, found, group))
  const ofAll = memoize((group: Group) =>
    [...group.affiliates].flatMap((one) => concerning(group, found.byAffiliate.get(one))),
  )
  const causesOf = (line: Corrected): Cause[] => {
    const group = groupFor(line)
    const customer = customerOf(line)
    if (customer === null) return [...ofAll(group), ...settings(group)]
    const own = [...concerning(group, found.byCustomer.get(customer)), ...settings(group)]
    // Nothing of the customer changed: something did that the lines share.
    return own.length === 0 && group.shared ? ofAll(group) : own
  }
  return ({ affiliate_id, plan, period, line }) => {
    const corrected = line
      ? [{ affiliate_id, plan, period, line }]
      : lines.filter(
          (one) => one.affiliate_id === affiliate_id && one.plan === plan && one.period === period,
        )
    return listCauses(corrected.flatMap(causesOf))
  }
}
