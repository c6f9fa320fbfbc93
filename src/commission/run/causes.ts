import { type CustomerHistory, readHistories } from '../../ingest/db/histories.ts'
import { type LateChange, readLateChanges } from '../../ingest/db/late-changes.ts'
import { deliveryTime, firstIdAt } from '../../ingest/delivery-id.ts'
import { firstDifference, fromOf, partOn, toDay } from '../../platform/db/history.ts'
import { STATUSES } from '../../platform/directory/status-maps.ts'
import { memoize } from '../../platform/memoize.ts'
import { dayText, type Period, storedPeriod } from '../../platform/money/calendar.ts'
import { MAX_RATE_AGE } from '../../platform/money/exchange.ts'
import {
  readNewRates,
  readSettingChanges,
  readStored,
  readWaiting,
  type SettingChange,
} from '../db/changed.ts'
import type { DayRange } from '../db/fact-tables.ts'
import { assignmentsOf, versionsOf } from '../engine/plans-in-force.ts'
import type { PlanResult } from '../engine/settlement.ts'
import { type FactNeeds, factNeeds } from '../plans/fact-needs.ts'
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
import { parseScope } from './line-groups.ts'
import { settledAt } from './read-books.ts'
import { stateOf } from './select-facts.ts'
import type { Start } from './starts.ts'

// What changed a line of a closed period is looked up where it was noted in the batch of the change: records and customers
// in `late_changes`, settings in the audit log, rates with the time at which they became known. A correction names what was
// noted since the last approval of its period and touches the line: records that its rules name, on days of the period, and
// settings that govern such records. Where nothing of this is found, an earlier period, the line of another customer or
// terms of a plan have an effect: the correction names all that touches the affiliates on whom it depends.

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
interface Reach {
  readonly period: Period
  /** When the period was last approved, in milliseconds. */
  readonly since: number
  /** The affiliates whose customers are counted. */
  readonly affiliates: ReadonlySet<string | null>
  /** The affiliates whose places in the tree have an effect; none for lines over the affiliate's own customers. */
  readonly tree: ReadonlySet<string>
  /** The affiliates on whom the statement depends. */
  readonly all: ReadonlySet<string>
  readonly rules: readonly Rule[]
  /** The records that the rules name. */
  readonly needs: FactNeeds
  /** The days whose records count: customers qualify by earlier ones, and `void_by` takes lines back by later ones. */
  readonly days: DayRange
}

/** Something that changed. */
interface Change {
  /** In milliseconds. */
  readonly at: number
  /** The customer whom it changes; null: several. */
  readonly customer_id: string | null
  /** The affiliates whom it concerns; null: all. */
  readonly affiliates: readonly (string | null)[] | null
  /** Whether it governs what the lines count. */
  readonly touches: (reach: Reach) => boolean
  /** Returns it as a cause of lines that were approved at a time. */
  readonly toCause: (since: number) => Cause
}

/** Where a record lies, or a signup. */
type Place = Pick<LateChange, 'resource' | 'customer_id' | 'day' | 'kind'>

/** What is stored of customers, by their ids: their affiliates, and their records on the days of the lines. */
interface Stored {
  readonly histories: ReadonlyMap<string, CustomerHistory>
  readonly places: ReadonlyMap<string, readonly Place[]>
}

const idsIn = (parts: readonly { readonly affiliate_id: string | null }[]) =>
  parts.map(({ affiliate_id }) => affiliate_id)

/** Whether lines count a record, or a signup. */
function counts({ days, needs, rules }: Reach, { resource, day, kind }: Place): boolean {
  if (day < days.first || day > days.last) return false
  if (resource === 'customers') {
    return rules.some((rule) => rule.kind === 'once' && 'signup' in rule.trigger)
  }
  const { transactions, activity, events } = needs
  if (resource === 'trading-activity') return activity.single.size + activity.summed.size > 0
  const { single, summed } = resource === 'transactions' ? transactions : events
  return single.has(kind) || summed.has(kind)
}

/** Whether a row of the journal names a customer as a whole: not a record, or a signup. */
const isWhole = ({ resource, kind }: LateChange): boolean =>
  resource === 'customers' && kind !== 'received'

/** Returns the key of what a row of the journal is about: a customer who gets another day is noted at both. */
const noteKey = (row: LateChange): string => {
  const { resource, customer_id, day, id, kind } = row
  return JSON.stringify(isWhole(row) ? [kind, customer_id] : [resource, customer_id, day, id])
}

/** Returns the change that the rows of the journal with one key note, the latest first. */
function notedChange(
  rows: readonly LateChange[],
  stored: Stored,
  { settings: { statusMap } }: OpenAccount,
): Change {
  const latest = rows[0] as LateChange
  const { resource, kind, delivery: delivery_id, at, customer_id } = latest
  const day = dayText(latest.day)
  const own = { customer_id, delivery_id }
  if (kind === 'corrected_early')
    return customerChange(stored, { at, customer_id, cause: { kind, ...own } })
  const isSignup = resource === 'customers'
  const of = { kind: 'record', resource, id: idOf(latest), day, ...own } as const
  const figures = { type: null, before: null, after: null }
  if (isWhole(latest)) {
    const cause = { ...of, change: 'changed', ...figures } as const
    return customerChange(stored, { at, customer_id, cause })
  }
  const history = stored.histories.get(customer_id)?.affiliations ?? []
  const owner = partOn(history, day)?.affiliate_id ?? null
  return {
    customer_id,
    at,
    affiliates: [owner],
    touches: (reach) => counts(reach, latest) && reach.affiliates.has(owner),
    toCause(since) {
      const before = figuresOf(rows.findLast((one) => one.at >= since)?.before)
      const after = figuresOf(latest.after)
      const change = isSignup ? 'added' : whatChanged({ before, after }, statusMap)
      return { ...of, type: isSignup || kind === '' ? null : kind, change, before, after }
    },
  }
}

const figuresOf = (json: string | null | undefined): RecordCause['before'] =>
  json ? JSON.parse(json) : null

/** Says what became of a record: another state, another amount, or something that its figures do not say. */
function whatChanged(
  { before, after }: Pick<RecordCause, 'before' | 'after'>,
  statusMap: Readonly<Record<string, string>>,
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
function idOf({ resource, id, customer_id, day }: LateChange): string {
  if (resource === 'customers') return customer_id
  if (resource !== 'trading-activity') return id
  const [instrument, currency]: string[] = JSON.parse(id)
  return `${dayText(day)}|${customer_id}|${instrument}|${currency}`
}

/** Something of a customer that changed. */
interface CustomerChange extends Pick<Change, 'at'> {
  readonly customer_id: string
  readonly cause: Cause
  /** The first day that it governs; absent: all days. */
  readonly from?: string | null
  /** Affiliates that are not in the history any more. */
  readonly former?: readonly (string | null)[]
}

/** Returns the change of a customer, which touches the lines that count a record of theirs that it governs. */
function customerChange(
  { histories, places }: Stored,
  { customer_id, at, cause, from = null, former = [] }: CustomerChange,
): Change {
  const own = histories.get(customer_id)?.affiliations ?? []
  const affiliates = [...own.flatMap((one) => [one.affiliate_id, one.replaced ?? null]), ...former]
  const governed = (places.get(customer_id) ?? []).filter(({ day }) => day >= toDay(from))
  return {
    customer_id,
    at,
    affiliates,
    touches: (reach) =>
      affiliates.some((one) => reach.affiliates.has(one)) &&
      governed.some((one) => counts(reach, one)),
    toCause: () => cause,
  }
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

/** Returns the customer whom an entry of the audit log names. */
const customerIn = ({ details }: SettingChange): string | undefined =>
  details.customer_id as string | undefined

/** Returns what an entry of the audit log changes. */
function settingChanges(entry: SettingChange, stored: Stored): Change[] {
  const { action, details } = entry
  const at = Date.parse(entry.at)
  const customer_id = customerIn(entry)
  if (customer_id !== undefined) {
    const own = { customer_id, at, cause: settingOf(entry, { customer_id }) }
    if (action !== 'affiliations.put') {
      const days = details.changes?.from ?? [details.from]
      const first = Math.min(...days.map((day) => toDay((day as string | null) ?? null)))
      return [customerChange(stored, { ...own, from: fromOf(first) })]
    }
    const [before, affiliations] = (details.changes?.affiliations ?? [[], []]) as Owners
    const from = firstDifference(before, affiliations, (one) => one?.affiliate_id)
    const former = idsIn([...before, ...affiliations])
    return from === undefined ? [] : [customerChange(stored, { ...own, from, former })]
  }
  if (action === 'affiliates.put') return treeChanges(entry, at)
  // Terms begin after what is closed, so they have an effect only where nothing else is found.
  const isTerms = action.startsWith('plan.') || action.startsWith('assignment')
  const touches = ({ needs: { transactions, events } }: Reach) =>
    !isTerms && [transactions, events].some(({ single, summed }) => single.size + summed.size > 0)
  return [{ at, customer_id: null, affiliates: null, touches, toCause: () => settingOf(entry) }]
}

/** The affiliates of a customer before and after a correction. */
type Owners = readonly [CustomerHistory['affiliations'], CustomerHistory['affiliations']]

/** Returns the changes that a `PUT` of affiliates is: whom it configures, and who gets another parent. */
function treeChanges(entry: SettingChange, at: number): Change[] {
  const { added = [], before } = entry.details as unknown as TreeDetails
  const isNew = new Set(added)
  return [...before, ...added.map((affiliate_id) => ({ affiliate_id, parents: [] }))].map(
    ({ affiliate_id, parents }) => ({
      at,
      customer_id: null,
      affiliates: [affiliate_id, ...parents.map(({ parent }) => parent)],
      touches: ({ affiliates, tree }) =>
        tree.has(affiliate_id) || (isNew.has(affiliate_id) && affiliates.has(affiliate_id)),
      toCause: () => settingOf(entry, { affiliate_id }),
    }),
  )
}

interface TreeDetails {
  readonly added?: readonly string[]
  readonly before: readonly {
    readonly affiliate_id: string
    readonly parents: readonly { readonly parent: string | null }[]
  }[]
}

/** Reads the rates that were published since, and for which records waited at an approval. */
async function rateChanges(
  { db, directory, row }: OpenAccount,
  reaches: readonly Reach[],
  since: number,
): Promise<Change[]> {
  // A rate may apply to later days, and shows that the rates before it are complete.
  const first = Math.min(...reaches.map(({ period }) => period.first)) - MAX_RATE_AGE
  const last = Math.max(...reaches.map(({ period }) => period.last)) + MAX_RATE_AGE
  const rates = await readNewRates(directory, { first, last, since })
  if (rates.length === 0) return []
  const affiliates = new Set(reaches.flatMap((one) => [...one.all]))
  const waiting = await readWaiting(db, row.id, [...affiliates])
  return waiting.map(({ affiliate_id, period, rule, reason, currency }) => {
    const published = rates.filter((one) => one.currency === currency || reason === 'fx_pending')
    return {
      at: Math.max(...published.map((one) => one.first_known)),
      customer_id: null,
      affiliates: [affiliate_id],
      touches: (reach) => reach.period.id === period && reach.rules.some(({ id }) => id === rule),
      toCause: () => ({ kind: 'rate', currency }),
    }
  })
}

/** A corrected line that is one of a period, not what a period dropped. */
type Corrected = CorrectedLine & { readonly line: NonNullable<CorrectedLine['line']> }

function reachOf(
  account: OpenAccount,
  dependenciesOf: ReturnType<typeof dependencies>,
  { affiliate_id: affiliate, plan, period: id, line: { rule, scope } }: Corrected,
  since: number,
): Reach {
  const { tree, inForce } = account
  const period = storedPeriod(id)
  const rulesOf = (affiliates: readonly string[], plans: readonly string[] = []): Rule[] => {
    const assigned = affiliates.flatMap((one) => assignmentsOf(inForce, one).map((of) => of.plan))
    const versions = [...new Set([...plans, ...assigned])].flatMap((of) => versionsOf(inForce, of))
    return versions.flatMap(({ source }) => source.rules)
  }
  const line = parseScope(scope)
  const isOver = line.of === 'affiliate'
  // A line over the downline may be one that the affiliate pays for.
  const isFunded = isOver && tree.uplines(affiliate, period.last).includes(line.id)
  const below = isOver && !isFunded ? line.id : affiliate
  const own = rulesOf(isOver ? [line.id] : [], [plan]).filter((one) => one.id === rule)
  const paid = own.flatMap((one) => (one.kind === 'override' ? paidBy(one, rulesOf([below])) : []))
  const rules = [...own, ...paid]
  const once = rules.filter((one) => one.kind === 'once')
  const isNetwork = rules.some(({ tiers }) => tiers?.over === 'network')
  const { read } = dependenciesOf(affiliate)
  const affiliates = isNetwork ? read : new Set([below])
  const places = [affiliate, ...affiliates, ...tree.uplines(below, period.last)]
  return {
    period,
    since,
    affiliates,
    tree: new Set(isNetwork || isOver ? places : []),
    all: new Set([...read, ...places]),
    rules,
    needs: factNeeds([{ rules }]),
    days: {
      first: once.length > 0 ? account.range.firstDay : period.first,
      last: period.last + Math.max(0, ...once.map((one) => one.void_by?.within_days ?? 0)),
    },
  }
}

/** Returns those of some rules whose lines an override pays for. */
const paidBy = ({ of }: OverrideRule, rules: readonly Rule[]): Rule[] =>
  rules.filter(({ kind, id }) =>
    'lines' in of ? of.lines.some((one) => one === kind) : 'once' in of && id === of.once,
  )

/** Returns the customer of a line's scope; null if the line has several customers. */
const customerOf = ({ line: { scope } }: Corrected): string | null => {
  const { of, id } = parseScope(scope)
  return of === 'customer' ? id : null
}

/** Returns the key of what a line depends on. */
const reachKey = (line: Corrected): string => {
  const { rule, scope } = line.line
  const own = customerOf(line) === null ? scope : ''
  return JSON.stringify([line.affiliate_id, line.plan, line.period, rule, own])
}

/** Returns the lines that the statements of a computation correct. */
const correctedLines = (results: readonly PlanResult[]): Corrected[] =>
  results.flatMap(({ statement }) => {
    const { affiliate_id = '', plan = '', adjustments = [] } = statement ?? {}
    return adjustments.flatMap(({ period, line }) =>
      line === null ? [] : [{ affiliate_id, plan, period, line }],
    )
  })

/** Reads what has changed since the first approval of the corrected periods. */
async function readChanges(
  account: OpenAccount,
  reaches: readonly Reach[],
  voidable: readonly string[],
): Promise<Change[]> {
  const { db, directory, row } = account
  const since = Math.min(...reaches.map((one) => one.since))
  const first = Math.min(...reaches.map(({ days }) => days.first))
  const last = Math.max(...reaches.map(({ days }) => days.last))
  const logs = row.binding === 'DB' ? [directory] : [directory, db]
  const [late, rates, ...logged] = await Promise.all([
    readLateChanges(db, row.id, { since, last }),
    rateChanges(account, reaches, since),
    ...logs.map((log) => readSettingChanges(log, row.id, auditIdAt(since), SETTING_ACTIONS)),
  ])
  const settings = logged.flat()
  const named = settings.flatMap((entry) => customerIn(entry) ?? [])
  const changed = late.filter(isWhole).map((one) => one.customer_id)
  const customers = [...new Set([...changed, ...named, ...voidable])]
  const [histories, records] = await Promise.all([
    readHistories(account, row.id, [...late.map((one) => one.customer_id), ...customers]),
    readStored(db, row.id, { first, last, customers }),
  ])
  // What `void_by` takes back, records of open days do, too: they are not in the journal.
  const noted = Map.groupBy(late, noteKey)
  const able = new Set(voidable)
  for (const record of records) {
    const one = { ...record, at: deliveryTime(record.delivery) }
    const isNew = one.at >= since && able.has(one.customer_id) && !noted.has(noteKey(one))
    if (isNew) noted.set(noteKey(one), [one])
  }
  const places = Map.groupBy([...late, ...records], ({ customer_id }) => customer_id)
  const stored = { histories, places }
  return [
    ...[...noted.values()].map((rows) => notedChange(rows, stored, account)),
    ...settings.flatMap((entry) => settingChanges(entry, stored)),
    ...rates,
  ]
}

/**
 * Finds the causes of all corrections of a computation: what has changed since the last approval of each
 * corrected period. Reads nothing if there are no corrections.
 */
export async function findCauses(start: Start, results: readonly PlanResult[]): Promise<CausesOf> {
  const { account } = start
  const lines = correctedLines(results)
  if (lines.length === 0) return NO_CAUSES
  const dependenciesOf = dependencies(account)
  const reaches = new Map<string, Reach>()
  for (const line of lines) {
    const key = reachKey(line)
    if (reaches.has(key)) continue
    reaches.set(key, reachOf(account, dependenciesOf, line, settledAt(start, line)))
  }
  const reachFor = (line: Corrected) => reaches.get(reachKey(line)) as Reach
  const voidable = lines.flatMap((line) => {
    const { days, period } = reachFor(line)
    return days.last > period.last ? (customerOf(line) ?? []) : []
  })
  const changes = await readChanges(account, [...reaches.values()], voidable)
  const byAffiliate = Map.groupBy(
    changes.flatMap((change) => (change.affiliates ?? [null]).map((of) => ({ of, change }))),
    ({ of }) => of,
  )
  const concerning = ({ all, since }: Reach): Change[] => {
    const found = [null, ...all].flatMap((one) => byAffiliate.get(one) ?? [])
    return found.map(({ change }) => change).filter(({ at }) => at >= since)
  }
  const touching = memoize((reach: Reach) => {
    const found = concerning(reach).filter((one) => one.touches(reach))
    return { all: found, byCustomer: Map.groupBy(found, ({ customer_id }) => customer_id) }
  })
  const causesOf = (line: Corrected): Cause[] => {
    const [reach, customer] = [reachFor(line), customerOf(line)]
    const { all, byCustomer } = touching(reach)
    const own = [customer, null].flatMap((one) => byCustomer.get(one) ?? [])
    const [found = concerning(reach)] = [customer === null ? all : own, all].filter(
      (some) => some.length > 0,
    )
    return found.map((one) => one.toCause(reach.since))
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
