import { type CustomerHistory, readHistories } from '../../ingest/db/histories.ts'
import { type LateChange, readLateChanges } from '../../ingest/db/late-changes.ts'
import { deliveryTime, firstIdAt } from '../../ingest/delivery-id.ts'
import { firstDifference, partOn, type Since } from '../../platform/db/history.ts'
import { STATUSES } from '../../platform/directory/status-maps.ts'
import { memoize } from '../../platform/memoize.ts'
import { dayText, parsePeriod } from '../../platform/money/calendar.ts'
import { MAX_RATE_AGE } from '../../platform/money/exchange.ts'
import {
  readJudged,
  readNewRates,
  readSettingChanges,
  readStored,
  readWaiting,
  type SettingChange,
} from '../db/changed.ts'
import { versionsOf } from '../engine/plans-in-force.ts'
import type { PlanResult } from '../engine/settlement.ts'
import { type FactNeeds, factNeeds } from '../plans/fact-needs.ts'
import type { Assignment } from '../plans/stored-plans.ts'
import type { OverrideRule, Rule } from '../plans/types.ts'
import { dependencies, type OpenAccount } from './account.ts'
import {
  type Cause,
  type CausesOf,
  type CorrectedLine,
  NO_CAUSES,
  type RecordCause,
} from './cause.ts'
import { listCauses } from './cause-list.ts'
import { settledAt } from './read-books.ts'
import { stateOf } from './select-facts.ts'
import type { EarlyCustomer, Start } from './starts.ts'
import type { StoredAccount } from './stored-account.ts'

// What changed a line of a closed period is looked up where it was noted in the batch of the change: records and customers
// in `late_changes`, settings in the audit log, rates with the time at which they became known. A correction names what was
// noted since the last approval of its period, and governs records of the customers of its line: those that its rules name,
// on the days of the period, whatever the day of the change is.

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
interface Group {
  readonly plan: string
  readonly period: { readonly first: number; readonly last: number }
  /** When the period was last approved, in milliseconds. */
  readonly since: number
  /** The affiliates whose customers have an effect. */
  readonly affiliates: ReadonlySet<string>
  /** The affiliates whose places in the tree have an effect; none for lines over the affiliate's own customers. */
  readonly tree: ReadonlySet<string>
  /** Whether all affiliates below are measured. */
  readonly isNetwork: boolean
  /** The ids of the rules, and the records that they name. */
  readonly rules: ReadonlySet<string>
  readonly needs: FactNeeds
  /** Whether the signup triggers one of them. */
  readonly signup: boolean
  /** Whether earlier periods have an effect. */
  readonly remembers: boolean
  /** How many days after the period `void_by` may take a line back. */
  readonly daysAfter: number
  /** Whether lines of several customers have an effect on each other. */
  readonly shared: boolean
}

/** Something that changed, in milliseconds since 1970, and the causes that it is for the lines of a group. */
interface Change {
  readonly at: number
  readonly causesFor: (group: Group) => readonly Cause[]
}

/** Something of a customer that changed, and of which affiliates. */
interface CustomerChange extends Change {
  readonly customer_id: string
  readonly affiliates: readonly (string | null)[]
}

/** Where a record lies, or a signup. */
type Place = Pick<LateChange, 'resource' | 'customer_id' | 'day' | 'kind'>

/** What is stored of customers: their affiliates, and their records on the days of the groups; null if these are too many. */
interface Stored {
  readonly ownersOf: (customer: string) => CustomerHistory['affiliations']
  readonly placesOf: (customer: string) => readonly Place[] | null
}

const idsIn = (parts: readonly { readonly affiliate_id: string | null }[]) =>
  parts.map(({ affiliate_id }) => affiliate_id)

/** Whether the lines of a group depend on a record, or on a signup. */
function dependsOn(
  { period, needs, signup, remembers, daysAfter }: Group,
  { resource, day, kind }: Place,
): boolean {
  if (day > period.last + daysAfter || (!remembers && day < period.first)) return false
  if (resource === 'customers') return signup
  const { transactions, activity, events } = needs
  if (resource === 'trading-activity') return activity.single.size + activity.summed.size > 0
  const { single, summed } = resource === 'transactions' ? transactions : events
  return single.has(kind) || summed.has(kind)
}

/** Returns the change of a record or a signup that the rows of the journal note of its place, the latest first. */
function recordChange(
  rows: readonly LateChange[],
  { ownersOf }: Stored,
  settings: StoredAccount['settings'],
): CustomerChange {
  const latest = rows[0] as LateChange
  const { resource, day: stored, id, kind, delivery: delivery_id, at, after, customer_id } = latest
  const day = dayText(stored)
  const owner = partOn(ownersOf(customer_id), day)
  const isSignup = resource === 'customers'
  const causeSince = (since: number): Cause => {
    const before = figuresOf(rows.findLast((one) => one.at >= since)?.before)
    const figures = { before, after: figuresOf(after) }
    return {
      kind: 'record',
      resource,
      id: idOf(resource, id, customer_id, day),
      type: isSignup || kind === '' ? null : kind,
      change: isSignup ? 'added' : whatChanged(figures, settings),
      customer_id,
      day,
      ...figures,
      delivery_id,
    }
  }
  return {
    customer_id,
    at,
    affiliates: idsIn(owner ? [owner] : []),
    causesFor: (group) => (dependsOn(group, latest) ? [causeSince(group.since)] : []),
  }
}

const figuresOf = (json: string | null | undefined): RecordCause['before'] =>
  json ? JSON.parse(json) : null

/** Says what became of a record: another state, another amount, or something that its figures do not say. */
function whatChanged(
  { before, after }: Pick<RecordCause, 'before' | 'after'>,
  { statusMap }: StoredAccount['settings'],
): RecordCause['change'] {
  if (before === null) return 'added'
  if (after === null) return 'changed'
  const { status: was, ...amounts } = before
  const { status: is, ...amountsNow } = after
  const [from, to] = [was, is].map((word) => stateOf(statusMap, String(word ?? '')))
  const state = STATUSES.find((one) => one === to)
  if (state && from !== to) return state
  return JSON.stringify(amounts) === JSON.stringify(amountsNow) ? 'changed' : 'amount'
}

/** Returns the id of a record as facts have it. */
function idOf(resource: LateChange['resource'], id: string, customer: string, day: string): string {
  if (resource === 'customers') return customer
  if (resource === 'transactions' || resource === 'activities') return id
  const [instrument, currency]: string[] = JSON.parse(id)
  return `${day}|${customer}|${instrument}|${currency}`
}

/** A customer of whom something changed that governs the records from a day on; '' is any day. */
interface Touched {
  readonly customer_id: string
  readonly at: number
  readonly from: string
  readonly cause: Cause
  /** Those of whom it changes something; absent: the customer's. */
  readonly affiliates?: readonly (string | null)[]
}

/** Returns the change of a customer, which concerns the lines that count a record of theirs, also one before the signup. */
function customerChange(
  { customer_id, at, from, cause, affiliates }: Touched,
  { ownersOf, placesOf }: Stored,
): CustomerChange {
  const places = placesOf(customer_id)
  const isGoverned = (group: Group) =>
    places?.some((one) => dayText(one.day) >= from && dependsOn(group, one)) ?? true
  return {
    customer_id,
    at,
    affiliates:
      affiliates ??
      ownersOf(customer_id).flatMap((one) => [one.affiliate_id, one.replaced ?? null]),
    causesFor: (group) => (isGoverned(group) ? [cause] : []),
  }
}

/** Returns the customer whom a row of the journal names as a whole. */
const changedCustomer = ({ customer_id, day, kind, delivery, at }: LateChange): Touched => {
  const own = { customer_id, delivery_id: delivery }
  const figures = { id: customer_id, type: null, day: dayText(day), before: null, after: null }
  const cause: Cause =
    kind === 'corrected_early'
      ? { kind, ...own }
      : { kind: 'record', resource: 'customers', change: 'changed', ...own, ...figures }
  return { customer_id, at, from: '', cause }
}

const settingOf = (
  { id, action, at }: SettingChange,
  of: Partial<Record<'customer_id' | 'affiliate_id', string>> = {},
): Cause => ({
  kind: 'setting',
  action,
  customer_id: of.customer_id ?? null,
  affiliate_id: of.affiliate_id ?? null,
  at,
  audit_id: id,
})

const timeOf = ({ at }: SettingChange): number => Date.parse(at)

/** Returns what an entry of the audit log judges otherwise than before: statuses, or events by their names. */
function judgedBy({ action, details }: SettingChange, { row, settings }: StoredAccount): string[] {
  if (action.startsWith('event-definition.')) return [String(details.eventname)]
  if (action !== 'status.put') return []
  const [before, after] = [details.before, details].map((one) => (one as StatusDetails).status)
  const words = [...Object.keys(before ?? {}), ...Object.keys(after ?? {})]
  const changed = words.filter((word) => stateOf(before ?? {}, word) !== stateOf(after ?? {}, word))
  const isBrand = row.vertical === 'igaming'
  return isBrand && changed.length > 0 ? Object.keys(settings.statusMembers) : changed
}

interface StatusDetails {
  readonly status: Readonly<Record<string, string>>
}

/** Returns the customers whom an entry of the audit log touches one by one. */
function touchedBy(
  entry: SettingChange,
  account: StoredAccount,
  judged: readonly { readonly customer_id: string; readonly word: string }[],
): Touched[] {
  const { action, details } = entry
  const touched = (id: string, from: string, cause = settingOf(entry)): Touched => ({
    customer_id: id,
    at: timeOf(entry),
    from,
    cause,
  })
  const customer_id = String(details.customer_id)
  const own = (from: string) => touched(customer_id, from, settingOf(entry, { customer_id }))
  switch (action) {
    case 'affiliations.put': {
      const [before, after] = [details.before, details.affiliations] as Owner[][]
      const from = firstDifference(before ?? [], after ?? [], (one) => one.affiliate_id)
      const affiliates = idsIn([...(before ?? []), ...(after ?? [])])
      return from === undefined ? [] : [{ ...own(from ?? ''), affiliates }]
    }
    case 'refusal.put':
    case 'refusal.delete': {
      const days = [details, details.before].flatMap((one) => (one ? [(one as Since).from] : []))
      return [own(days.map((day) => day ?? '').sort()[0] ?? '')]
    }
    case 'customer.erase':
      // Customers of brands lose their country, others only what no rule asks for.
      return account.row.vertical === 'igaming' ? [own('')] : []
    default: {
      const words = new Set(judgedBy(entry, account))
      return judged.flatMap((one) => (words.has(one.word) ? [touched(one.customer_id, '')] : []))
    }
  }
}

type Owner = CustomerHistory['affiliations'][number]

/**
 * Returns the change that terms are which were put or taken back. They govern the records of the days from theirs on, and
 * those before a signup that is as late; the first version of a plan governs all days.
 */
function termsChange(
  entry: SettingChange,
  { inForce }: StoredAccount,
  early: readonly EarlyCustomer[],
): Change[] {
  const { action, details } = entry
  const isOfPlan = action.startsWith('plan.')
  if (!isOfPlan && !action.startsWith('assignment')) return []
  const {
    plan,
    version,
    effective_from,
    changed = [details as unknown as SentTerms],
  } = details as unknown as TermsDetails
  const isFirst = inForce.plans.get(plan)?.first.version === version
  const covers = (affiliate: string, last: string): boolean =>
    isOfPlan
      ? (isFirst || effective_from <= last) &&
        inForce.assignmentsOf(affiliate).some((one) => one.plan === plan)
      : changed.some(({ affiliate_id, from }) => {
          const own = inForce.assignmentsOf(affiliate).filter((one) => one.affiliate_id !== '*')
          const isOwn = affiliate_id === '*' && own.every((one) => dayText(one.from) > from)
          return from <= last && (affiliate_id === affiliate || isOwn)
        })
  const causesFor = (group: Group): Cause[] => {
    const { affiliates, tree, period } = group
    if (isOfPlan && tree.size === 0 && plan !== group.plan) return []
    const signups = early.flatMap(({ first, signup, owners }) =>
      first <= period.last && owners.some((one) => affiliates.has(one)) ? [signup] : [],
    )
    const last = dayText(Math.max(period.last, ...signups))
    return [...affiliates, ...tree].some((one) => covers(one, last)) ? [settingOf(entry)] : []
  }
  return [{ at: timeOf(entry), causesFor }]
}

interface TermsDetails {
  readonly plan: string
  readonly version: number
  readonly effective_from: string
  readonly changed?: readonly SentTerms[]
}

type SentTerms = Pick<Assignment, 'affiliate_id' | 'from'>

/** Returns the change that a `PUT` of affiliates is: whom it configures, and who gets another parent. */
function treeChange(entry: SettingChange): Change[] {
  if (entry.action !== 'affiliates.put') return []
  const { added = [], before } = entry.details as unknown as TreeDetails
  const isNew = new Set(added)
  const causesFor = ({ affiliates, tree, isNetwork }: Group): Cause[] => {
    const configured = [...new Set([...affiliates, ...tree])].filter((one) => isNew.has(one))
    // A parent has no effect on lines over the affiliate's own customers. Who was below is not in the tree any more.
    const moved = before.filter(
      ({ affiliate_id, parents }) =>
        tree.has(affiliate_id) || (isNetwork && parents.some((one) => tree.has(one.parent ?? ''))),
    )
    const ids = [...configured, ...moved.map((one) => one.affiliate_id)]
    return ids.map((affiliate_id) => settingOf(entry, { affiliate_id }))
  }
  return [{ at: timeOf(entry), causesFor }]
}

interface TreeDetails {
  readonly added?: readonly string[]
  readonly before: readonly {
    readonly affiliate_id: string
    readonly parents: readonly { readonly parent: string | null }[]
  }[]
}

/** Returns the rules of plans in all versions. */
const rulesOf = ({ inForce }: Pick<StoredAccount, 'inForce'>, plans: readonly string[]): Rule[] =>
  [...new Set(plans)].flatMap((plan) =>
    versionsOf(inForce, plan).flatMap(({ source }) => source.rules),
  )

/** Returns the rules on which a line depends: its own, or those of the lines below, and those that these measure or recoup. */
function rulesBehind(
  account: Pick<StoredAccount, 'inForce'>,
  { plan, line: { rule } }: Corrected,
  downline: Downline | null,
): Rule[] {
  const ofAffiliate = (affiliate: string) =>
    rulesOf(
      account,
      account.inForce.assignmentsOf(affiliate).map((one) => one.plan),
    )
  const all = downline ? ofAffiliate(downline.below) : rulesOf(account, [plan])
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
  { tree }: OpenAccount,
  affiliate: string,
  scope: string,
  day: number,
): Downline | null {
  if (!scope.startsWith('affiliate:')) return null
  const other = scope.slice('affiliate:'.length)
  return tree.uplines(affiliate, day).includes(other)
    ? { upline: other, below: affiliate }
    : { upline: affiliate, below: other }
}

/** A corrected line that is one of a period, not what a period dropped. */
type Corrected = CorrectedLine & { readonly line: NonNullable<CorrectedLine['line']> }

function groupOf(account: OpenAccount, line: Corrected, since: number): Group {
  const { affiliate_id: affiliate, plan } = line
  const period = parsePeriod(line.period) ?? { first: 0, last: 0 }
  const downline = downlineOf(account, affiliate, line.line.scope, period.last)
  const rules = rulesBehind(account, line, downline)
  const isNetwork = rules.some(({ tiers }) => tiers?.over === 'network')
  const below = downline?.below ?? affiliate
  const affiliates = isNetwork ? dependencies(account)(affiliate).read : new Set([below])
  const uplines = account.tree.uplines(below, period.last)
  return {
    plan,
    period,
    since,
    affiliates,
    tree: new Set(isNetwork || downline ? [affiliate, ...affiliates, ...uplines] : []),
    isNetwork,
    rules: new Set(rules.map(({ id }) => id)),
    needs: factNeeds([{ rules }]),
    signup: rules.some((one) => one.kind === 'once' && 'signup' in one.trigger),
    remembers: rules.some(remembers),
    daysAfter: Math.max(0, ...rules.map(daysAfter)),
    shared: rules.some(isShared),
  }
}

/** Returns the customer of a line's scope; null if the line has several customers. */
const customerOf = ({ line: { scope } }: Corrected): string | null =>
  scope.startsWith('customer:') ? scope.slice('customer:'.length) : null

/** Returns the key of the group of a line. */
const groupKey = ({ affiliate_id, plan, period, line: { rule, scope } }: Corrected): string =>
  JSON.stringify([affiliate_id, plan, period, rule, scope.startsWith('affiliate:') ? scope : ''])

/** Returns the lines that the statements of a computation correct. */
const correctedLines = (results: readonly PlanResult[]): Corrected[] =>
  results.flatMap(({ statement }) => {
    const { affiliate_id = '', plan = '', adjustments = [] } = statement ?? {}
    return adjustments.flatMap(({ period, line }) =>
      line === null ? [] : [{ affiliate_id, plan, period, line }],
    )
  })

/** What changed since the first approval of a corrected period: of customers, and what governs all. */
interface Found {
  readonly ofCustomers: readonly CustomerChange[]
  readonly ofAll: readonly Change[]
}

async function readFound(
  account: OpenAccount,
  groups: readonly Group[],
  voidable: readonly string[],
  early: readonly EarlyCustomer[],
): Promise<Found> {
  const { db, directory, row, range } = account
  const since = Math.min(...groups.map((one) => one.since))
  const remembers = groups.some((one) => one.remembers)
  const days = {
    first: remembers ? range.firstDay : Math.min(...groups.map(({ period }) => period.first)),
    last: Math.max(...groups.map(({ period, daysAfter }) => period.last + daysAfter)),
  }
  const logs = row.binding === 'DB' ? [directory] : [directory, db]
  const [late, rates, ...logged] = await Promise.all([
    readLateChanges(db, row.id, { since, last: days.last }),
    ratesChange(account, groups, { ...days, since }),
    ...logs.map((log) => readSettingChanges(log, row.id, auditIdAt(since), SETTING_ACTIONS)),
  ])
  const settings = logged.flat()
  const words = settings.flatMap((entry) => judgedBy(entry, account))
  const judged = await readJudged(db, row.id, days, words)
  const isWhole = ({ resource, kind }: LateChange) =>
    resource === 'customers' && kind !== 'received'
  const touched = [
    // One that gets another day is noted at both; they come the latest first.
    ...new Map(
      late
        .filter(isWhole)
        .toReversed()
        .map((one) => [`${one.kind} ${one.customer_id}`, changedCustomer(one)]),
    ).values(),
    ...settings.flatMap((entry) => touchedBy(entry, account, judged)),
  ]
  const whole = [...new Set([...touched.map((one) => one.customer_id), ...voidable])]
  const ids = new Set([...late.map((one) => one.customer_id), ...whole])
  const [histories, { records, searched }] = await Promise.all([
    readHistories(account, row.id, [...ids]),
    readStored(db, row.id, { ...days, customers: whole }),
  ])
  const places = Map.groupBy([...late, ...records], ({ customer_id }) => customer_id)
  const stored: Stored = {
    ownersOf: (id) => histories.get(id)?.affiliations ?? [],
    placesOf: (id) => (searched.has(id) ? (places.get(id) ?? []) : null),
  }
  // What `void_by` takes back, records of open days do, too: they are not in the journal.
  const noted = Map.groupBy(
    late.filter((one) => !isWhole(one)),
    placeKey,
  )
  for (const one of records) {
    const late = { ...one, at: deliveryTime(one.delivery) }
    const isNew = late.at >= since && voidable.includes(one.customer_id)
    if (isNew && !noted.has(placeKey(late))) noted.set(placeKey(late), [late])
  }
  return {
    ofCustomers: [
      ...[...noted.values()].map((rows) => recordChange(rows, stored, account.settings)),
      ...touched.map((one) => customerChange(one, stored)),
    ],
    ofAll: settings
      .flatMap((entry) => [...termsChange(entry, account, early), ...treeChange(entry)])
      .concat(rates),
  }
}

/** Reads the rates that were published since, and for which records of the groups waited at the approval. */
async function ratesChange(
  { db, directory, row, inForce }: StoredAccount,
  groups: readonly Group[],
  { first, last, since }: { first: number; last: number; since: number },
): Promise<Change[]> {
  // A rate may apply to later days, and shows that the rates before it are complete.
  const days = { first: first - MAX_RATE_AGE, last: last + MAX_RATE_AGE }
  const rates = await readNewRates(directory, { ...days, since })
  if (rates.length === 0) return []
  const affiliates = new Set(groups.flatMap((one) => [...one.affiliates, ...one.tree]))
  const waiting = await readWaiting(db, row.id, [...affiliates])
  const currencyOf = (plan: string) => inForce.plans.get(plan)?.first.currency ?? ''
  const causesFor = ({ period, since, remembers, rules, plan, ...group }: Group): Cause[] => {
    const isNear = (day: number) =>
      (remembers || day >= period.first - MAX_RATE_AGE) && day <= period.last + MAX_RATE_AGE
    const published = new Set(
      rates.flatMap((one) => (one.first_known >= since && isNear(one.day) ? [one.currency] : [])),
    )
    return waiting.flatMap((hold): Cause[] => {
      const own = parsePeriod(hold.period) ?? { first: 0, last: 0 }
      const isOfGroup =
        rules.has(hold.rule) &&
        (group.affiliates.has(hold.affiliate_id) || group.tree.has(hold.affiliate_id)) &&
        own.first <= period.last &&
        (remembers || own.last >= period.first)
      const wanted = [hold.currency, currencyOf(hold.plan), currencyOf(plan)]
      const currency = wanted.find((one) => published.has(one))
      // Rates of a later day, of whatever currency, show that those of the days before are complete.
      const isComplete = hold.reason === 'fx_pending' && published.size > 0
      if (!isOfGroup || (currency === undefined && !isComplete)) return []
      return [{ kind: 'rate', currency: currency ?? hold.currency }]
    })
  }
  return [{ at: Number.POSITIVE_INFINITY, causesFor }]
}

const placeKey = ({ resource, customer_id, day, id }: LateChange): string =>
  JSON.stringify([resource, customer_id, day, id])

/** Returns the causes that changes are for the lines of a group. */
const causesIn = (group: Group, changes: readonly Change[] = []): Cause[] =>
  changes.flatMap(({ at, causesFor }) => (at >= group.since ? causesFor(group) : []))

/**
 * Finds the causes of all corrections of a computation: what has changed since the last approval of each
 * corrected period. Reads nothing if there are no corrections.
 */
export async function findCauses(
  start: Start,
  results: readonly PlanResult[],
  early: readonly EarlyCustomer[],
): Promise<CausesOf> {
  const { account } = start
  const lines = correctedLines(results)
  if (lines.length === 0) return NO_CAUSES
  const groups = new Map<string, Group>()
  for (const line of lines) {
    const key = groupKey(line)
    if (!groups.has(key)) groups.set(key, groupOf(account, line, settledAt(start, line)))
  }
  const groupFor = (line: Corrected) => groups.get(groupKey(line)) as Group
  const voidable = lines.flatMap((line) =>
    groupFor(line).daysAfter > 0 ? (customerOf(line) ?? []) : [],
  )
  const { ofCustomers, ofAll } = await readFound(account, [...groups.values()], voidable, early)
  const byCustomer = Map.groupBy(ofCustomers, ({ customer_id }) => customer_id)
  const others = memoize((group: Group) => causesIn(group, ofAll))
  const byAffiliate = Map.groupBy(
    ofCustomers.flatMap((change) => change.affiliates.map((owner) => ({ owner, change }))),
    ({ owner }) => owner,
  )
  const all = memoize((group: Group) =>
    [...group.affiliates].flatMap((one) =>
      causesIn(
        group,
        byAffiliate.get(one)?.map(({ change }) => change),
      ),
    ),
  )
  const causesOf = (line: Corrected): Cause[] => {
    const group = groupFor(line)
    const customer = customerOf(line)
    if (customer === null) return [...all(group), ...others(group)]
    const own = [...causesIn(group, byCustomer.get(customer)), ...others(group)]
    // Nothing of the customer changed: something did that the lines share.
    return own.length === 0 && group.shared ? all(group) : own
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
