import { createHash } from 'node:crypto'
import { COLUMNS } from '../../src/brand/fields.ts'
import { igaming } from '../../src/brand/igaming.ts'
import { KNOWN_MEMBERS } from '../../src/db/directory/event-definitions.ts'
import { keyOf } from '../../src/validation/strict-object.ts'
import { brandToken } from './credentials.ts'
import type { Delivery } from './deliver.ts'
import type { Target, Vertical } from './verticals.ts'

/** A brand may name members as it likes, amounts may be decimal text: no cell has to be a number. */
const ANY = {
  numeric: new Set<string>(),
  // Records of one key apply in the order of the array.
  mayRepeat: true,
} as const

const customers: Target = {
  ...ANY,
  name: 'customers',
  fields: Object.keys(COLUMNS),
  keyOf: (record) => textOf(membersOf(record, ['customerId'])),
  headersOf: () => ({}),
}

const activities: Target = {
  ...ANY,
  name: 'activities',
  fields: [...KNOWN_MEMBERS, 'product'],
  keyOf: identityOf,
  headersOf: (bulk) => ({ 'Idempotency-Key': fingerprint(bulk) }),
}

/** iGaming brands. */
export const brands: Vertical = {
  name: igaming.vertical,
  path: '/tracking/events',
  credential: brandToken,
  resources: [customers, activities],
}

/** A day, or a time on the clock of the account. */
const ON_CLOCK = /^(\d{4}-\d\d-\d\d)(?: \d\d:\d\d(?::\d\d)?)?$/

/**
 * What tells one event from another, or a little less: a definition may make a day of what has a
 * time, and which day an instant is on only the account's zone knows.
 */
function identityOf(record: unknown): string | undefined {
  const eventid = textOf(membersOf(record, ['eventid']))
  if (eventid !== undefined) return eventid
  const { createtime, ...whose } = membersOf(record, OF_AGGREGATE)
  const day = ON_CLOCK.exec(createtime ?? '')?.[1]
  return textOf({ ...whose, ...(day !== undefined && { day }) })
}

const OF_AGGREGATE = ['eventname', 'customerid', 'createtime', 'Currency', 'product']

const membersOf = (record: unknown, names: readonly string[]): Record<string, string> =>
  typeof record === 'object' && record !== null ? (keyOf(record, names) ?? {}) : {}

const textOf = (members: Record<string, string>) =>
  Object.keys(members).length > 0 ? JSON.stringify(members) : undefined

/**
 * The same for the same records at the same place of a file, so that not even another run counts
 * them twice. Without the place, a file that says the same of many events would count one bulk.
 */
const fingerprint = ({ first, texts }: Delivery) =>
  createHash('sha256')
    .update(`${first} ${texts.join(',')}`)
    .digest('hex')
