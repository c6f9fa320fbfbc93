import { decode, encode } from '../../db/column-types.ts'
import {
  type ChangedDays,
  type ChangedRow,
  type ChangedTable,
  type CurrencyDay,
  customersPerCall,
  type MovingDelivery,
  type RateChange,
  type ReleasedRecord,
  readChangedRows,
  readCurrencyDays,
  readMovedFacts,
  readMovingDeliveries,
  readNewRates,
  readReleased,
  readSettingChanges,
  type SettingChange,
} from '../../db/commission/books/changed.ts'
import { findCustomersOf } from '../../db/commission/customers-of.ts'
import { mapFactTables } from '../../db/commission/fact-tables.ts'
import type { FoundCustomer } from '../../db/commission/found-customer.ts'
import {
  type CustomerFields,
  type Databases,
  type FieldValues,
  MAX_CUSTOMERS,
  readHistories,
} from '../../db/commission/histories.ts'
import { COUNTED_RESOURCES } from '../../db/records/reset.ts'
import { customers, transactions } from '../../db/schema.ts'
import { firstIdAt } from '../../ingest/delivery-id.ts'
import { dayText, parsePeriod } from '../engine/calendar.ts'
import { MAX_RATE_AGE } from '../engine/convert.ts'
import { type FactNeeds, factNeeds } from '../engine/fact-needs.ts'
import { memoize } from '../engine/memoize.ts'
import type { Rule } from '../engine/plan.ts'
import { versionsOf } from '../engine/plans-in-force.ts'
import { type LastSettled, type LastSettledOf, lastSettled } from './books.ts'
import {
  type Cause,
  type Causes,
  type CausesOf,
  type CorrectedLine,
  NO_CAUSES,
  type RecordCause,
} from './cause.ts'
import { addCause, type CauseList, joinCauses, noCauses } from './cause-list.ts'
import type { Computation, ComputedPeriod } from './compute.ts'
import type { AccountSource } from './source.ts'

/** Returns the cause that a record is. */
function recordCause(table: ChangedTable, row: ChangedRow, customer_id: string): RecordCause {
  const day = dayText(row.day)
  return {
    kind: 'record',
    resource: COUNTED_RESOURCES[table as keyof typeof COUNTED_RESOURCES],
    id: idOf(table, row, customer_id, day),
    customer_id,
    day,
    delivery_id: row.delivery ?? '',
  }
}

/** Returns the id of a record as facts have it. */
function idOf(table: ChangedTable, { id }: ChangedRow, customer: string, day: string): string {
  if (table === 'customers') return customer
  if (table === 'transactions') return String(decode(transactions.transaction_id, id))
  if (table === 'events') return id
  const [instrument, currency]: string[] = JSON.parse(id)
  return `${day}|${customer}|${instrument}|${currency}`
}

/** Whether records that moved to other customers may have caused a correction of a group. */
const mayHaveLost = ({ rest, byCustomer, hasLost }: CauseGroup): boolean => {
  const isEmpty = ({ likely }: typeof rest): boolean => likely.total === 0
  const own = [...byCustomer.values()]
  return hasLost || own.some(isEmpty) || (own.length === 0 && isEmpty(rest))
}

/** Adds the records that deliveries moved to other customers to the groups that may have lost them. */
async function addMovedAway(
  { db, account }: Computation['source'],
  all: readonly CauseGroup[],
  moving: readonly MovingDelivery[],
): Promise<void> {
  const groups = all.filter(mayHaveLost)
  if (groups.length === 0 || moving.length === 0) return
  for (const { table, rows } of await readMovedFacts(db, account.id, moving)) {
    for (const row of rows) {
      const customer_id = String(decode(customers.customer_id, row.customer_id))
      const cause = recordCause(table, row, customer_id)
      for (const group of groups) {
        const isSince = cause.delivery_id >= group.sinceId
        if (isSince && namesRecord(group, table, row.kind)) addCause(group.movedAway, cause)
      }
    }
  }
}

/** A change of a customer or of one of the customer's records. */
interface Change {
  readonly table: ChangedTable
  readonly row: ChangedRow
  readonly customer: FoundCustomer
  /** Whether the delivery moved the record to this customer. */
  readonly isMoved: boolean
  /** The records that waited for the customer. */
  readonly releases: readonly ReleasedRecord[]
}

/** Adds to each group the records and histories that deliveries have changed since its approval. */
async function addRecordCauses(
  computation: Computation,
  groups: readonly CauseGroup[],
): Promise<void> {
  const { source } = computation
  const { db, account } = source
  const since = groups.map(({ lateId }) => lateId).sort()[0] ?? ''
  const moving = await readMovingDeliveries(db, account.id, since)
  const moved = new Map(moving.map((one) => [one.id, one.moved]))
  const days = daysOf(computation, groups, moving)
  const byAffiliate = groupsByAffiliate(groups)
  const to = dayText(computation.range.lastDay)
  for await (const found of customersOfAffiliates(computation, [...byAffiliate.keys()], days)) {
    const byId = new Map(found.map((one) => [storedId(one), one]))
    const read = await readChangedRows(db, account.id, days, [...byId.keys()].sort(), since)
    const fields = await changedFields(source, read)
    const released = await readReleasedRecords(computation, groups, days, read)
    for (const { table, rows } of read) {
      for (const row of rows) {
        const customer = byId.get(row.customer_id)
        if (!customer) continue
        const isMoved = moved.get(row.delivery ?? '')?.has(row.idx) ?? false
        for (const group of groupsOf(byAffiliate, customer, to)) {
          const releases = released.get(row.customer_id) ?? []
          addChange(group, { table, row, customer, isMoved, releases }, fields)
        }
      }
    }
  }
  await addMovedAway(source, groups, moving)
}

/** Returns the days whose facts have an effect on any group, and the days to which records were moved. */
function daysOf(
  { range }: Computation,
  groups: readonly CauseGroup[],
  moving: readonly MovingDelivery[],
): ChangedDays {
  const first = Math.min(...groups.map((one) => one.first))
  const last = Math.max(...groups.map((one) => one.last))
  const movedTo = new Set(moving.flatMap((one) => one.days))
  return mapFactTables(range.days, ({ single, summed }) =>
    [...new Set([...single, ...summed, ...movedTo])]
      .filter((day) => (day >= first && day <= last) || movedTo.has(day))
      .sort((a, b) => a - b),
  )
}

/** Returns the records that waited for the customers who changed, by stored customer id. */
async function readReleasedRecords(
  { source: { db, account } }: Computation,
  groups: readonly CauseGroup[],
  days: ChangedDays,
  read: Awaited<ReturnType<typeof readChangedRows>>,
): Promise<Map<string, ReleasedRecord[]>> {
  const rows = read.find(({ table }) => table === 'customers')?.rows ?? []
  const ids = [...new Set(rows.map(({ customer_id }) => customer_id))].sort()
  const before =
    groups
      .map(({ sinceId }) => sinceId)
      .sort()
      .at(-1) ?? ''
  const released = await readReleased(db, account.id, days, ids, before)
  return Map.groupBy(released, ({ customer_id }) => customer_id)
}

/** Whether a record that waited for its customer has an effect on a group. */
const isReleased =
  (group: CauseGroup) =>
  ({ table, kind, day, delivery }: ReleasedRecord): boolean =>
    delivery < group.sinceId &&
    day >= group.first &&
    day <= group.last &&
    namesRecord(group, table, kind)

/** Adds a change to the list of a group that it belongs to, or to none. */
function addChange(group: CauseGroup, change: Change, fields: FieldChanges): void {
  const { table, row, customer, isMoved, releases } = change
  const { delivery, day, kind } = row
  if (delivery === null || delivery < group.lateId) return
  const isSince = delivery >= group.sinceId
  const found = foundOf(group, customer.customer_id)
  if (table === 'customer_affiliations' || table === 'customer_fields') {
    // A change holds from its day on.
    if (day > group.last || !isSince) return
    const causes = causeOfHistory(table, row, customer.customer_id, fields)
    for (const cause of causes) addCause(found.likely, cause)
    return
  }
  const cause = recordCause(table, row, customer.customer_id)
  const isInside = isMoved || (day >= group.first && day <= group.last)
  const isNamed = isInside && namesRecord(group, table, kind)
  const isWaitedFor = table === 'customers' && releases.some(isReleased(group))
  if (isSince && (isNamed || isWaitedFor)) addCause(found.likely, cause)
  // Other days were read only for other groups.
  else if (isInside || table === 'customers') addCause(isSince ? found.others : found.late, cause)
}

/** Returns the id of a customer as it is stored. */
export const storedId = ({ customer_id }: FoundCustomer): string =>
  String(encode(customers.customer_id, customer_id))

/** Returns the groups of each affiliate whose customers have an effect on them. */
function groupsByAffiliate(groups: readonly CauseGroup[]): Map<string, CauseGroup[]> {
  const found = new Map<string, CauseGroup[]>()
  for (const group of groups) {
    for (const affiliate of group.affiliates) {
      const own = found.get(affiliate)
      if (own) own.push(group)
      else found.set(affiliate, [group])
    }
  }
  return found
}

/**
 * Returns the groups on which a customer has or had an effect up to a day, each once. Affiliates of later
 * days are left out: whether such a customer is read depends on the other groups.
 */
export function groupsOf(
  byAffiliate: ReadonlyMap<string, readonly CauseGroup[]>,
  { affiliations }: FoundCustomer,
  to: string,
): Set<CauseGroup> {
  const begun = affiliations.filter(({ from }) => from === null || from <= to)
  return new Set(begun.flatMap(({ affiliate_id }) => byAffiliate.get(affiliate_id ?? '') ?? []))
}

/** Yields the customers that affiliates have or had, as many at a time as one query may have. */
async function* customersOfAffiliates(
  { source, range }: Computation,
  affiliates: readonly string[],
  days: ChangedDays,
): AsyncGenerator<FoundCustomer[]> {
  const size = customersPerCall(days)
  const to = dayText(range.lastDay)
  const query = { account: source.account.id, affiliates, from: '0000-01-01', to }
  const seen = new Set<string>()
  for (let cursor: Parameters<typeof findCustomersOf>[2] = null; ; ) {
    const page = await findCustomersOf(source, query, cursor)
    const found = page.customers.filter(({ customer_id }) => !seen.has(customer_id))
    for (const { customer_id } of found) seen.add(customer_id)
    for (let i = 0; i < found.length; i += size) yield found.slice(i, i + size)
    if (page.next === null) return
    cursor = page.next
  }
}

/** The names of the changed customer fields, by customer id and then by day. */
type FieldChanges = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>

/** Reads which fields changed, for the customers with a changed row of `customer_fields`. */
async function changedFields(
  source: Databases & Pick<AccountSource, 'account'>,
  read: readonly { readonly table: ChangedTable; readonly rows: readonly ChangedRow[] }[],
): Promise<FieldChanges> {
  const rows = read.find(({ table }) => table === 'customer_fields')?.rows ?? []
  const ids = [
    ...new Set(rows.map((row) => String(decode(customers.customer_id, row.customer_id)))),
  ]
  if (ids.length === 0) return new Map()
  const histories = await readHistories(source, source.account.id, ids)
  return new Map([...histories].map(([id, { fields }]) => [id, changesOf(fields)]))
}

function changesOf(parts: readonly CustomerFields[]): Map<string, string[]> {
  return new Map(
    parts.flatMap(({ from, values }, i) => {
      const before = parts[i - 1]?.values ?? {}
      const names = Object.keys({ ...before, ...values }) as (keyof FieldValues)[]
      const changed = names.filter((name) => values[name] !== before[name])
      return from === null ? [] : [[from, changed.sort()] as const]
    }),
  )
}

/** Returns the causes that a changed row of a history represents. */
function causeOfHistory(
  table: 'customer_affiliations' | 'customer_fields',
  { day: stored, kind, delivery }: ChangedRow,
  customer_id: string,
  fields: FieldChanges,
): Cause[] {
  const day = dayText(stored)
  if (delivery === null) return []
  if (kind === 'corrected_early') return [{ kind, customer_id, delivery_id: delivery }]
  if (table === 'customer_affiliations') {
    return [{ kind: 'affiliation', customer_id, day, delivery_id: delivery, audit_id: null }]
  }
  const changed = fields.get(customer_id)?.get(day) ?? []
  return changed.map((field) => ({
    kind: 'customer_field',
    customer_id,
    field,
    day,
    delivery_id: delivery,
  }))
}

/** A group, and the rates that may have an effect on it. */
interface RatedGroup {
  readonly group: CauseGroup
  readonly planCurrency: string
  readonly rates: readonly RateChange[]
}

/**
 * Adds to each group the rates that have an effect on a record of its lines: rates that were not known
 * when the period was approved, and rates that were corrected before it was approved (§16.2).
 */
async function addRateCauses(
  computation: Computation,
  groups: readonly CauseGroup[],
): Promise<void> {
  const { source } = computation
  // A rate may apply to later days, and shows that the rates before it are complete.
  const all = await readNewRates(source.directory, {
    first: Math.min(...groups.map(({ period }) => period.first)) - MAX_RATE_AGE,
    last: Math.max(...groups.map(({ period }) => period.last)) + MAX_RATE_AGE,
    since: Math.min(...groups.map((one) => one.since)),
  })
  const rated = groups.flatMap((group) => {
    const planCurrency = source.inForce.plans.get(group.plan)?.first.currency ?? ''
    const rates = all.filter((rate) => mayApply(group, planCurrency, rate))
    return rates.length > 0 ? [{ group, planCurrency, rates }] : []
  })
  if (rated.length === 0) return
  const add = rateAdder(computation)
  for (const one of rated) {
    // An override over lines converts their sums on the last day.
    const { rules, waiting, period } = one.group
    const isOverLines = rules.below !== null || rules.needs === null
    if (isOverLines) add(one, one.group.settings, waiting, period.last)
  }
  await addByRecords(computation, rated, add)
  for (const { group, rates } of rated) {
    for (const rate of rates) {
      const isFirst = rate.known_from === rate.first_known
      const isAwaited = isFirst && group.waiting.includes(rate.currency)
      if (isAwaited) addCause(group.otherSettings, causeOf(rate, group))
    }
  }
}

/** Whether a rate may have an effect on a group, whatever records the group has. */
function mayApply(
  { since, closedAt, waiting, period }: CauseGroup,
  planCurrency: string,
  { currency, day, known_from, first_known }: RateChange,
): boolean {
  if (known_from < since || day < period.first - MAX_RATE_AGE || day > period.last + MAX_RATE_AGE) {
    return false
  }
  if (first_known < since) return known_from <= closedAt
  return waiting.includes(currency) || (waiting.length > 0 && currency === planCurrency)
}

const causeOf = ({ currency, day, first_known }: RateChange, { since }: CauseGroup): Cause => ({
  kind: 'rate',
  currency,
  day: dayText(day),
  change: first_known < since ? 'corrected' : 'published',
})

type Add = (one: RatedGroup, list: CauseList, currencies: readonly string[], day: number) => void

/** Returns a function that adds to a list, once each, the rates that convert amounts of a day. */
function rateAdder({ context }: Computation): Add {
  const added = new Map<CauseList, Set<string>>()
  return ({ group, planCurrency, rates }, list, currencies, day) => {
    const known = added.get(list) ?? new Set<string>()
    added.set(list, known)
    for (const currency of new Set([...currencies, planCurrency])) {
      const own = rates.filter((one) => one.currency === currency)
      if (own.length === 0) continue
      const applied = context.rateDay?.(currency, day)
      if (applied === null) continue
      // A day waits for the rates of a later one, even if an earlier rate applies to it then.
      const found =
        own.find((one) => one.day === applied) ??
        own.find((one) => one.day >= day && one.first_known >= group.since)
      const key = JSON.stringify([found?.currency, found?.day])
      if (!found || known.has(key)) continue
      known.add(key)
      addCause(list, causeOf(found, group))
    }
  }
}

/** Adds the rates that records of the groups' periods use. */
async function addByRecords(
  computation: Computation,
  rated: readonly RatedGroup[],
  add: Add,
): Promise<void> {
  const { source, range } = computation
  const groups = rated.map(({ group }) => group)
  const ratedOf = new Map(rated.map((one) => [one.group, one]))
  const byAffiliate = groupsByAffiliate(groups)
  const first = Math.min(...groups.map(({ period }) => period.first))
  const last = Math.max(...groups.map(({ period }) => period.last))
  const days = mapFactTables(range.days, ({ single, summed }) =>
    [...new Set([...single, ...summed])].filter((day) => day >= first && day <= last),
  )
  const currencies = currenciesOf(rated)
  const to = dayText(range.lastDay)
  for await (const found of customersOfAffiliates(computation, [...byAffiliate.keys()], days)) {
    const byId = new Map(found.map((one) => [storedId(one), one]))
    const ids = [...byId.keys()].sort()
    const rows = await readCurrencyDays(source.db, source.account.id, days, ids, currencies)
    for (const row of rows) {
      const customer = byId.get(row.customer_id)
      for (const group of customer ? groupsOf(byAffiliate, customer, to) : []) {
        const one = ratedOf.get(group)
        if (!customer || !one || !isOfGroup(group, row)) continue
        const list = foundOf(group, customer.customer_id).likely
        add(one, list, currenciesOfRow(group, row), row.day)
      }
    }
  }
}

const isOfGroup = (group: CauseGroup, { table, kind, day }: CurrencyDay): boolean =>
  day >= group.period.first && day <= group.period.last && namesRecord(group, table, kind)

/** The currencies of records to read; null: all, because a rate was corrected before an approval. */
function currenciesOf(rated: readonly RatedGroup[]): string[] | null {
  const isCorrected = rated.some(({ group, rates }) =>
    rates.some(({ first_known }) => first_known < group.since),
  )
  return isCorrected ? null : [...new Set(rated.flatMap(({ group }) => group.waiting))]
}

/** The currencies of a row; an event without one has the currency of its definition. */
function currenciesOfRow({ waiting }: CauseGroup, { currency, usd }: CurrencyDay): string[] {
  const own = currency === null ? waiting : [currency]
  return usd === 1 ? [...own, 'USD'] : [...own]
}

/** The audited actions that change settings on which commissions may depend. */
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
  'account.change',
  'link.create',
  'link.change',
]

/** Returns the least id that an audit entry of a time, in milliseconds, can have. */
export const auditIdAt = (time: number): string => firstIdAt(time).slice('dlv_'.length)

/** Adds to each group the settings that have changed since its approval. */
async function addSettingCauses(
  { source }: Computation,
  groups: readonly CauseGroup[],
): Promise<void> {
  const { db, directory, account } = source
  const earliest = Math.min(...groups.map((one) => one.since))
  const logs = account.binding === 'DB' ? [directory] : [directory, db]
  const changes = await Promise.all(
    logs.map((log) => readSettingChanges(log, account.id, auditIdAt(earliest), SETTING_ACTIONS)),
  )
  const affiliatesOf = await affiliatesOfRefused(source, changes.flat())
  for (const group of groups) {
    const from = auditIdAt(group.since)
    for (const change of changes.flat()) {
      if (change.id >= from) addSettingsChange(group, change, affiliatesOf)
    }
  }
}

const isRefusal = ({ action }: SettingChange): boolean => action.startsWith('refusal.')

/** The affiliates of customers, by customer. */
type AffiliatesOf = ReadonlyMap<string, readonly (string | null)[]>

/** Returns the affiliates of the customers whose refusals changed. */
async function affiliatesOfRefused(
  source: Computation['source'],
  changes: readonly SettingChange[],
): Promise<AffiliatesOf> {
  const refused = changes.filter(isRefusal).map(({ details }) => String(details.customer_id))
  const ids = [...new Set(refused)].slice(0, MAX_CUSTOMERS)
  if (ids.length === 0) return new Map()
  const histories = await readHistories(source, source.account.id, ids)
  return new Map(
    [...histories].map(([id, { affiliations }]) => [
      id,
      affiliations.map(({ affiliate_id }) => affiliate_id),
    ]),
  )
}

/** Adds an entry of the audit log to the list of a group that it belongs to, or to none. */
function addSettingsChange(
  group: CauseGroup,
  change: SettingChange,
  affiliatesOf: AffiliatesOf,
): void {
  const { id: audit_id, at, action, details } = change
  const setting: Cause = { kind: 'setting', action, at, audit_id }
  const customer_id = String(details.customer_id ?? '')
  if (action === 'affiliations.put') {
    const isOwn = [details.before, details.affiliations].some((parts) => namesAny(group, parts))
    const cause: Cause = {
      kind: 'affiliation',
      customer_id,
      day: null,
      delivery_id: null,
      audit_id,
    }
    if (isOwn) addCause(foundOf(group, customer_id).likely, cause)
  } else if (isRefusal(change)) {
    const cause: Cause = { kind: 'refusal', customer_id, audit_id }
    const affiliates = affiliatesOf.get(customer_id) ?? []
    const isOwn = affiliates.some((id) => group.affiliates.has(id ?? ''))
    if (isOwn) addCause(foundOf(group, customer_id).likely, cause)
  } else if (action === 'affiliates.put') {
    addTree(group, details, audit_id, setting)
  } else addCause(concerns(group, change) ? group.settings : group.otherSettings, setting)
}

const namesAny = ({ affiliates }: CauseGroup, parts: unknown): boolean =>
  Array.isArray(parts) && parts.some((part) => affiliates.has(part?.affiliate_id))

/** Whether a change only gave an affiliate another parent: it was configured before. */
const onlyMoved = (before: unknown, id: string): boolean =>
  Array.isArray(before) && before.some((part) => part?.affiliate_id === id)

/** Adds a change of affiliates: of their parents, or of which affiliates are configured. */
function addTree(
  group: CauseGroup,
  { ids, affiliates, before }: SettingChange['details'],
  audit_id: string,
  setting: Cause,
): void {
  const named: string[] = Array.isArray(ids) ? ids : []
  const { below, network, needs } = group.rules
  // A parent has no effect on lines over the affiliate's own facts.
  const usesTree = below !== null || network || needs === null
  const own = named.filter(
    (id) =>
      (id === group.affiliate || group.affiliates.has(id)) && (usesTree || !onlyMoved(before, id)),
  )
  for (const affiliate_id of own) addCause(group.settings, { kind: 'tree', affiliate_id, audit_id })
  const isComplete = named.length === affiliates
  if (own.length === 0) addCause(isComplete ? group.otherSettings : group.settings, setting)
}

/** Whether a change of a setting has an effect on the lines of a group. */
function concerns(group: CauseGroup, { action, details }: SettingChange): boolean {
  const last = dayText(group.period.last)
  const { needs, below } = group.rules
  switch (action) {
    case 'status.put':
      return needs === null || needs.transactions.single.size + needs.transactions.summed.size > 0
    case 'event-definition.put':
    case 'event-definition.delete': {
      const name = String(details.eventname)
      return needs === null || needs.events.single.has(name) || needs.events.summed.has(name)
    }
    case 'plan.put':
    case 'plan.withdraw': {
      const isOwn = details.plan === group.plan || below !== null || group.rules.network
      return isOwn && String(details.effective_from) <= last
    }
    case 'assignments.put': {
      const sent = Array.isArray(details.first) ? details.first : []
      const isComplete = sent.length === details.assignments
      return !isComplete || sent.some((one) => isAssigned(group, one, last))
    }
    case 'assignment.delete':
      return isAssigned(group, details, last)
    default:
      return false
  }
}

function isAssigned(
  { affiliate, affiliates }: CauseGroup,
  { affiliate_id, from }: Record<string, unknown>,
  last: string,
): boolean {
  const id = String(affiliate_id)
  return (id === '*' || id === affiliate || affiliates.has(id)) && String(from) <= last
}

/** What the rules behind a line depend on. */
interface LineRules {
  /** The facts that they name; null: any facts. */
  readonly needs: FactNeeds | null
  /** Whether the line's rule is a `once` rule. */
  readonly once: boolean
  /** Whether the signup triggers one of them. */
  readonly signup: boolean
  /** Whether facts of earlier periods have an effect. */
  readonly remembers: boolean
  /** The days after the period whose facts may have an effect. */
  readonly daysAfter: number
  /** The affiliate below that an override pays for. */
  readonly below: string | null
  /** Whether lines of several customers have an effect on each other. */
  readonly shared: boolean
  /** Whether facts of other affiliates have an effect, too. */
  readonly network: boolean
}

const ANYTHING: LineRules = {
  needs: null,
  once: false,
  signup: true,
  remembers: true,
  daysAfter: 0,
  below: null,
  shared: true,
  network: true,
}

/** Returns what a line depends on: its own rule in all versions, and the rules to which that refers. */
export function rulesOf(
  { inForce }: Pick<AccountSource, 'inForce'>,
  { plan, line }: Pick<CorrectedLine, 'plan' | 'line'>,
): LineRules {
  if (line === null) return ANYTHING
  const all = versionsOf(inForce, plan).flatMap(({ source }) => source.rules)
  const own = all.filter(({ id }) => id === line.rule)
  const isOfAffiliate = line.scope.startsWith('affiliate:')
  const overrides = own.filter((rule) => rule.kind === 'override')
  // If the affiliate pays for an upline's override, the rule belongs to the plan of the upline.
  if (own.length === 0 || isOfAffiliate !== overrides.length > 0) return ANYTHING
  const below = isOfAffiliate ? line.scope.slice('affiliate:'.length) : null
  const paidFor = below === null ? [] : rulesBelow(inForce, below, overrides)
  const rules = [...own, ...all.filter((rule) => refersTo(own, rule)), ...paidFor]
  return {
    needs: factNeeds([{ rules }]),
    once: own.some(({ kind }) => kind === 'once'),
    signup: rules.some((rule) => rule.kind === 'once' && 'signup' in rule.trigger),
    remembers: rules.some(remembers),
    daysAfter: Math.max(0, ...rules.map(daysAfter)),
    below,
    shared: own.some(isShared),
    network: own.some(({ tiers }) => tiers?.over === 'network'),
  }
}

/** Whether one of some rules measures or recoups another. */
const refersTo = (rules: readonly Rule[], { id, kind }: Rule): boolean =>
  kind === 'once' &&
  rules.some(
    (rule) =>
      (rule.tiers?.by && 'once' in rule.tiers.by && rule.tiers.by.once === id) ||
      (rule.kind === 'share' && rule.recoups === id),
  )

/** Returns the rules of an affiliate whose lines overrides pay for. */
function rulesBelow(
  inForce: AccountSource['inForce'],
  below: string,
  overrides: readonly Extract<Rule, { kind: 'override' }>[],
): Rule[] {
  const plans = new Set(inForce.assignmentsOf(below).map(({ plan }) => plan))
  const all = [...plans].flatMap((plan) =>
    versionsOf(inForce, plan).flatMap(({ source }) => source.rules),
  )
  const paid = all.filter((rule) =>
    overrides.some(({ of }) => {
      if ('lines' in of) return of.lines.some((kind) => kind === rule.kind)
      return 'once' in of && rule.kind === 'once' && rule.id === of.once
    }),
  )
  return [...paid, ...all.filter((rule) => refersTo(paid, rule))]
}

const isShared = (rule: Rule): boolean =>
  rule.tiers !== undefined ||
  rule.max !== undefined ||
  (rule.kind === 'once' && rule.max_count !== undefined)

/** Whether earlier periods have an effect on a rule. */
function remembers(rule: Rule): boolean {
  if ((rule.tiers?.window ?? 'period') !== 'period') return true
  if (rule.kind === 'once') return true
  if (rule.kind !== 'share') return false
  return rule.negative === 'carry' || rule.fence !== undefined || rule.recoups !== undefined
}

/** Returns how long after its period the facts of a rule can have an effect. */
function daysAfter(rule: Rule): number {
  if (rule.kind !== 'once') return 0
  const atEnd = (rule.qualify ?? []).flatMap((one) =>
    'sum' in one && one.at === 'end' ? [one.within_days ?? 0] : [],
  )
  return Math.max(0, rule.void_by?.within_days ?? 0, ...atEnd)
}

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
interface FoundCauses {
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
const foundOf = ({ byCustomer, rest }: CauseGroup, customer: string): FoundCauses =>
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
function namesRecord(
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

/**
 * Finds the causes of all corrections of a computation: what has changed since the last approval of each
 * corrected period. Reads nothing if there are no corrections.
 */
export async function findCauses(
  computation: Computation,
  computed: readonly ComputedPeriod[],
): Promise<CausesOf> {
  const lines = correctedLines(computed)
  if (lines.length === 0) return NO_CAUSES
  const affiliates = [...new Set(lines.map((line) => line.affiliate_id))]
  const settledOf = await lastSettled(computation.source, affiliates)
  const groups = groupLines(computation, lines, settledOf)
  const all = [...groups.values()]
  // Records first: the search for records that moved away depends on which records were found.
  await addRecordCauses(computation, all)
  await addSettingCauses(computation, all)
  await addRateCauses(computation, all)
  return causesFrom(groups)
}

/** Returns a function that returns the causes of a line from those found for the groups, by `groupKey`. */
function causesFrom(groups: ReadonlyMap<string, CauseGroup>): CausesOf {
  const wideOf = memoize(wideCauses)
  const byPeriod = Map.groupBy(groups.values(), (group) =>
    periodKey(group.affiliate, group.plan, group.periodId),
  )
  return (line) => {
    if (line.line !== null) return causesOfLine(groups.get(groupKey(line)), line, wideOf)
    const ofPeriod = byPeriod.get(periodKey(line.affiliate_id, line.plan, line.period)) ?? []
    return joinCauses(
      ofPeriod.flatMap((group) => [
        ...allFound(group).map(({ likely }) => likely),
        group.movedAway,
        group.settings,
      ]),
    )
  }
}

/** Returns the lines that the statements of a computation correct. */
function correctedLines(computed: readonly ComputedPeriod[]): CorrectedLine[] {
  return computed.flatMap(({ results }) =>
    results.flatMap(({ statement }) => {
      const { affiliate_id = '', plan = '', adjustments = [] } = statement ?? {}
      return adjustments.flatMap(({ period, line, amount }) => {
        const isReduction = amount.startsWith('-')
        return line === null ? [] : [{ affiliate_id, plan, period, line, isReduction }]
      })
    }),
  )
}

const periodKey = (affiliate: string, plan: string, period: string): string =>
  JSON.stringify([affiliate, plan, period])

const isFound = ({ total }: CauseList): boolean => total > 0

const allFound = ({ byCustomer, rest }: CauseGroup): FoundCauses[] => [...byCustomer.values(), rest]

/** The causes found for all customers of a group, joined once for all of its lines. */
interface WideCauses {
  /** The lists that are not empty. */
  readonly likely: readonly CauseList[]
  readonly others: readonly CauseList[]
  readonly late: readonly CauseList[]
  /** Returns the joined causes of one of these. */
  readonly joined: (lists: readonly CauseList[]) => Causes
}

function wideCauses(group: CauseGroup): WideCauses {
  const found = allFound(group)
  return {
    likely: found.map(({ likely }) => likely).filter(isFound),
    others: [...found.map(({ others }) => others), group.otherSettings].filter(isFound),
    late: found.map(({ late }) => late).filter(isFound),
    joined: memoize(joinCauses),
  }
}

/**
 * Returns the most likely causes of a line, from the first of these lists that has any:
 *
 * 1. likely causes of the line's own customer, and settings; also records that moved to other customers,
 *    if the customer has no likely cause or lost a `once` line;
 * 2. likely causes of all customers, if the rule measures or limits several lines together;
 * 3. other changes;
 * 4. deliveries that were possibly stored late.
 */
function causesOfLine(
  group: CauseGroup | undefined,
  line: CorrectedLine,
  wideOf: (group: CauseGroup) => WideCauses,
): Causes {
  if (!group) return NO_CAUSES(line)
  const { settings, otherSettings, rules, movedAway } = group
  const customer = customerOf(line)
  const found = customer === null ? null : foundOf(group, customer)
  const wide = wideOf(group)
  const likely = found ? [found.likely].filter(isFound) : wide.likely
  const hasMoved = (rules.once && line.isReduction) || likely.length === 0
  const own = [...likely, settings, ...(hasMoved ? [movedAway] : [])]
  if (own.some(isFound)) return joinCauses(own)
  if (found && !rules.shared) {
    const others = [found.others, otherSettings]
    return joinCauses(others.some(isFound) ? others : [found.late])
  }
  const lists = [wide.likely, wide.others, wide.late].find(({ length }) => length > 0)
  return lists ? wide.joined(lists) : NO_CAUSES(line)
}
