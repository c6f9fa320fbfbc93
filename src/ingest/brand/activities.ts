import type { Grant } from '../../platform/auth/grant.ts'
import { digest } from '../../platform/auth/secret.ts'
import { memoize } from '../../platform/memoize.ts'
import { lastPlausibleInstant, timeWarnings } from '../../platform/validation/plausibility.ts'
import type { RecordValidator } from '../../platform/validation/record-validator.ts'
import { suggest } from '../../platform/validation/suggest.ts'
import { warning } from '../../platform/validation/warnings.ts'
import { dayInZone } from '../../platform/zone.ts'
import { brandActivityTable } from '../db/record-table.ts'
import type { Resource } from '../resource/resource.ts'
import { unmappedStatusFinder } from '../resource/unmapped-status.ts'
import { definitionsByName } from './definition.ts'
import { configuredIdentityOf, type EventRules, REQUIRED, validateEvent } from './event.ts'
import { activity as fields } from './fields.ts'

function activityValidator(grant: Grant): RecordValidator {
  const definitions = definitionsByName(grant.events)
  const names = [...definitions.keys()]
  // A request has few names, and a comparison with all definitions takes long.
  const closest = memoize((name: string) => suggest(name, names) ?? '')
  const rules: EventRules = {
    zone: grant.time_zone,
    definitions,
    signs: grant.amount_signs,
    isUnmappedStatus: unmappedStatusFinder(grant),
    suggestName: (name) => closest(name) || null,
  }
  return {
    acceptsDataWrapper: false,
    identityOf: () => null,
    configuredIdentityOf: (record) => configuredIdentityOf(record, rules),
    validate: (record) => validateEvent(record, rules),
  }
}

/** Ids and details longer than this many characters are stored as a digest: they are only compared. */
const MAX_STORED_LENGTH = 300

/** Keeps the first letter, which tells daily totals from other events. */
const shorten = async (text: string) =>
  text.length > MAX_STORED_LENGTH ? `${text.slice(0, 1)}h ${await digest(text)}` : text

/**
 * Stores each event under its identity. An event without one is stored under its request and its index there, so that the
 * service's own retry does not store it twice.
 */
const storing: Resource['storing'] = ({ id: delivery, idempotencyKey, grant, receivedAt }) => {
  const first_day = dayInZone(grant.time_zone, receivedAt)
  const request = idempotencyKey === null ? `r ${delivery}` : `k ${idempotencyKey}`
  const last = lastPlausibleInstant(receivedAt)
  return async (record, index, warnings) => {
    const { identity, details, ...columns } = record
    warnings.push(...timeWarnings('createtime', record.createtime, last))
    const hasIdentity = typeof identity === 'string'
    if (!hasIdentity && idempotencyKey === null) warnings.push(warning('not_deduplicated', ''))
    const id = hasIdentity
      ? await shorten(identity)
      : `${request} ${String(index).padStart(3, '0')}`
    const stored = typeof details === 'string' ? await shorten(details) : undefined
    return { ...columns, id, first_day, details: stored }
  }
}

/** The activity of a brand's customers: single events and daily aggregates. */
export const activities: Resource = {
  name: 'activities',
  title: 'Activity',
  fields,
  required: REQUIRED,
  key: ['eventid'],
  loggedKey: ['eventid', 'eventname', 'customerid'],
  customerFilter: 'customerid',
  neverRejected: [],
  recordTable: brandActivityTable,
  referenceMember: 'customerid',
  timeMember: 'createtime',
  referenceIssue: { code: 'unknown_customer' },
  validator: activityValidator,
  storing,
  // Of records with the same identity the last is stored.
  merge: (_, later) => later,
  policy: ({ unknown_customer }) => unknown_customer,
  acceptsIdempotencyKey: true,
  hasItemRoute: false,
  columns: ['id', 'record'],
  present: ({ record }) => JSON.parse(String(record)),
  groups: ['eventname', 'product', 'currency'],
  sums: ['amount'],
  kpis: 'kpis',
  wire: { currency: 'Currency', amount: 'Value' },
}
