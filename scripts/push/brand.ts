import { createHash } from 'node:crypto'
import { activities as activitiesResource } from '../../src/brand/activities.ts'
import { customers as customersResource } from '../../src/brand/customer.ts'
import { COLUMNS } from '../../src/brand/fields.ts'
import { igaming } from '../../src/brand/igaming.ts'
import { KNOWN_MEMBERS } from '../../src/db/directory/event-definitions.ts'
import { pickKey } from '../../src/validation/strict-object.ts'
import type { Delivery } from './bulks.ts'
import { brandToken } from './credentials.ts'
import type { Target, Vertical } from './vertical.ts'

/** Brands may name members freely, and amounts may be decimal text: no cell has to be a number. */
const ANY_MEMBER = {
  numeric: new Set<string>(),
  // Records with the same key apply in the order of the array.
  mayRepeat: true,
} as const

const customers: Target = {
  ...ANY_MEMBER,
  name: 'customers',
  resource: customersResource,
  fields: Object.keys(COLUMNS),
  identityOf: (record) => toKey(textMembers(record, ['customerId'])),
  isId: () => true,
  merges: true,
  headersOf: () => ({}),
}

const activities: Target = {
  ...ANY_MEMBER,
  name: 'activities',
  resource: activitiesResource,
  fields: [...KNOWN_MEMBERS, 'product'],
  identityOf: activityKey,
  // Activities without an id add up.
  isId: (key) => key.startsWith('{"eventid":'),
  merges: false,
  headersOf: (bulk) => ({ 'Idempotency-Key': fingerprint(bulk) }),
}

/** The igaming vertical. */
export const brands: Vertical = {
  name: igaming.vertical,
  path: '/tracking/events',
  credential: brandToken,
  resources: [customers, activities],
}

/** A day, or a local time in the account's time zone. */
const LOCAL_TIME = /^(\d{4}-\d\d-\d\d)(?: \d\d:\d\d(?::\d\d)?)?$/

/**
 * Returns the identity of an activity, or a coarser one: an event definition may reduce a time to
 * its day, and the day of an instant depends on the account's time zone, which is not known here.
 */
function activityKey(record: unknown): string | undefined {
  const eventid = toKey(textMembers(record, ['eventid']))
  if (eventid !== undefined) return eventid
  const { createtime, ...others } = textMembers(record, AGGREGATE_KEY)
  const day = LOCAL_TIME.exec(createtime ?? '')?.[1]
  return toKey({ ...others, ...(day !== undefined && { day }) })
}

const AGGREGATE_KEY = ['eventname', 'customerid', 'createtime', 'Currency', 'product']

const textMembers = (record: unknown, names: readonly string[]): Record<string, string> =>
  typeof record === 'object' && record !== null ? (pickKey(record, names) ?? {}) : {}

const toKey = (members: Record<string, string>) =>
  Object.keys(members).length > 0 ? JSON.stringify(members) : undefined

/**
 * Returns the same key for the same records at the same place of a file, so that sending the file
 * again counts nothing twice. Without the place, two equal bulks of one file would count once.
 */
const fingerprint = ({ first, texts }: Delivery) =>
  createHash('sha256')
    .update(`${first} ${texts.join(',')}`)
    .digest('hex')
