import type { Grant } from '../../platform/auth/grant.ts'
import { digest } from '../../platform/auth/secret.ts'
import { lastPlausibleInstant, timeWarnings } from '../../platform/validation/plausibility.ts'
import type { RecordValidator } from '../../platform/validation/record-validator.ts'
import { suggest } from '../../platform/validation/suggest.ts'
import { type Warning, warning } from '../../platform/validation/warnings.ts'
import { dayInZone } from '../../platform/zone.ts'
import { brandActivityTable } from '../db/record-table.ts'
import type { Row } from '../db/rows.ts'
import { placeWarnings, recordPointer } from '../envelope.ts'
import type { RecordRows, RequestContext, Resource } from '../resource.ts'
import { unmappedStatusFinder } from '../unmapped-status.ts'
import type { ValidatedRequest } from '../validate-records.ts'
import { definitionsByName } from './definition.ts'
import {
  configuredIdentityOf,
  type EventRules,
  eventKeyOf,
  REQUIRED,
  validateEvent,
} from './event.ts'
import { activity as fields } from './fields.ts'
import { mergeRepeated } from './repeated-keys.ts'

function activityValidator(grant: Grant): RecordValidator {
  const definitions = definitionsByName(grant.events)
  const names = [...definitions.keys()]
  // The names of a request are few, and a comparison with all definitions takes long.
  const closest = new Map<string, string | null>()
  const rules: EventRules = {
    zone: grant.time_zone,
    definitions,
    signs: grant.amount_signs,
    isUnmappedStatus: unmappedStatusFinder(grant),
    suggestName: (name) => {
      const known = closest.get(name)
      if (known !== undefined) return known
      const found = suggest(name, names)
      closest.set(name, found)
      return found
    },
  }
  return {
    acceptsDataWrapper: false,
    identityOf: () => null,
    validKeyOf: (record) => eventKeyOf(record, rules),
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
 * Returns a row for each event, under its identity. Of records with the same identity the last is stored.
 * An event without an identity is stored under its request and its index there, so that the service's own
 * retry does not store it twice.
 */
async function activityRows(
  { form, valid, invalid }: ValidatedRequest,
  { id: delivery, idempotencyKey, grant, receivedAt }: RequestContext,
): Promise<RecordRows> {
  const first_day = dayInZone(grant.time_zone, receivedAt)
  const request = idempotencyKey === null ? `r ${delivery}` : `k ${idempotencyKey}`
  const last = lastPlausibleInstant(receivedAt)
  const warnings = new Map<number, Warning[]>()
  const events = await Promise.all(
    valid.map(async ({ index, record }): Promise<Event> => {
      const { identity, details, ...columns } = record
      const hasIdentity = typeof identity === 'string'
      const found = timeWarnings('createtime', record.createtime, last)
      if (!hasIdentity && idempotencyKey === null) found.push(warning('not_deduplicated', ''))
      if (found.length > 0) warnings.set(index, placeWarnings(found, form, index))
      const id = hasIdentity
        ? await shorten(identity)
        : `${request} ${String(index).padStart(3, '0')}`
      const stored = typeof details === 'string' ? await shorten(details) : undefined
      return { index, values: { ...columns, id, first_day, details: stored } }
    }),
  )
  const merged = mergeRepeated(
    events,
    ({ values }) => values.id,
    (versions) => {
      for (const { index } of versions.slice(1)) {
        const repeated = warning('repeated_key', recordPointer(form, index))
        warnings.set(index, [...(warnings.get(index) ?? []), repeated])
      }
      return (versions.at(-1) ?? versions[0]).values
    },
  )
  const invalidRows = invalid.map(
    ({ index, record: { customer_id } }): Row => ({
      idx: index,
      values: { customer_id },
    }),
  )
  return { ...merged, invalidRows, warnings }
}

/** An event of a request, and what is stored of it. */
interface Event {
  index: number
  values: Row['values']
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
  buildRows: activityRows,
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
