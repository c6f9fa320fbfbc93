import {
  readSettingChanges,
  type SettingChange,
} from '../../db/commission/books/changed-settings.ts'
import { MAX_CUSTOMERS, readHistories } from '../../db/commission/histories.ts'
import { firstIdAt } from '../../ingest/delivery-id.ts'
import { dayText } from '../engine/calendar.ts'
import type { Cause } from './cause.ts'
import { type CauseGroup, foundOf } from './cause-groups.ts'
import { addCause } from './cause-list.ts'
import type { Computation } from './computation.ts'

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
export async function addSettingCauses(
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
      if (change.id >= from) addChange(group, change, affiliatesOf)
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
function addChange(group: CauseGroup, change: SettingChange, affiliatesOf: AffiliatesOf): void {
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
