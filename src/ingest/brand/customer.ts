import { verifierFor } from '../../attribution/verdict.ts'
import type { Grant } from '../../platform/auth/grant.ts'
import {
  countryWarnings,
  lastPlausibleInstant,
  timeWarnings,
  whitespaceWarnings,
} from '../../platform/validation/plausibility.ts'
import type { RecordCheck, RecordValidator } from '../../platform/validation/record-validator.ts'
import { validateField } from '../../platform/validation/strict-object.ts'
import { type Warning, warning } from '../../platform/validation/warnings.ts'
import { dayInZone } from '../../platform/zone.ts'
import type { Values } from '../db/item.ts'
import { ERASED_TRACKING } from '../db/merge.ts'
import { brandCustomerTable, SENT_VERDICT } from '../db/record-table.ts'
import { MAX_EXTRAS_BYTES, MAX_EXTRAS_NUMBER } from '../db/storage.ts'
import type { Resource } from '../resource/resource.ts'
import { COLUMNS, customer as fields } from './fields.ts'
import {
  COMBINE_FIELDS,
  checkExtraNumber,
  checkExtras,
  findNameErrors,
  membersOf,
  type RecordReading,
  readField,
  similarNameWarnings,
  toSpelling,
} from './members.ts'
import { readTime, TIME_FORMS } from './time.ts'

const REQUIRED = ['customerId']
const REQUIRED_SPELLING = toSpelling(REQUIRED)
const SPELLING = toSpelling(Object.keys(COLUMNS))

/** The limits on a stored customer, which many deliveries can add to. */
const CUSTOMER_EXTRAS_LIMIT = `at most ${MAX_EXTRAS_NUMBER} additional fields of ${MAX_EXTRAS_BYTES / 1024} KiB in all, counting all that were sent for this customer`

const PERSONAL: ReadonlySet<string> = new Set(['regtime', 'firstName', 'lastName'])

/** Validates a customer of a brand; `zone` is the time zone of the account. */
function validateCustomer(record: object, zone: string): RecordCheck {
  const members = membersOf(record)
  const reading: RecordReading = {
    issues: findNameErrors(members, REQUIRED_SPELLING, REQUIRED, () => false),
    output: {},
  }
  const { issues, output } = reading
  for (const name of ['customerId', 'country', 'firstName', 'lastName'] as const) {
    readField(reading, members, name, COLUMNS[name], fields[name], PERSONAL)
  }
  const warnings = readRegtime(reading, members, zone)
  warnings.push(
    ...whitespaceWarnings('customerId', output.customer_id),
    ...countryWarnings('country', output.country_code),
  )
  warnings.push(...readTrackingData(reading, members))

  const extras = [...members].filter(([name]) => !Object.hasOwn(COLUMNS, name))
  const tooMany = checkExtraNumber(extras)
  const customerId = output.customer_id
  const key = typeof customerId === 'string' ? { customerId } : undefined
  if (tooMany.length > 0) return { issues: [...issues, ...tooMany], output, warnings, key }
  issues.push(...checkExtras(extras))
  const names = extras.map(([name]) => name)
  warnings.push(...similarNameWarnings(names, SPELLING))
  if (extras.length > 0) {
    // Each value is stored as JSON text, so that a merge replaces it as a whole.
    const texts = extras.map(([name, value]) => [name, JSON.stringify(value)] as const)
    output.extras = `{${texts.map(([name, text]) => `${JSON.stringify(name)}:${JSON.stringify(text)}`).join()}}`
  }
  return { issues, output, warnings, key }
}

/** Reads `tracking_data`. An unusable value is a warning and never an error (contract §7). */
function readTrackingData({ output }: RecordReading, members: Map<string, unknown>): Warning[] {
  const value = members.get('tracking_data')
  if (value === undefined) return []
  if (validateField('', value, fields.tracking_data, PERSONAL).issue === null) {
    output.tracking_data = value
    return []
  }
  output.verdict = 'altered'
  return [warning('altered', '/tracking_data')]
}

function readRegtime(
  { issues, output }: RecordReading,
  members: Map<string, unknown>,
  zone: string,
): Warning[] {
  const regtime = members.get('regtime')
  if (regtime === undefined) return []
  const { issue } = validateField('regtime', regtime, fields.regtime, PERSONAL)
  const time = !issue && typeof regtime === 'string' ? readTime(regtime, zone, '/regtime') : null
  if (issue?.code === 'type') issues.push(issue)
  else if (!time) {
    issues.push({ pointer: '/regtime', code: 'date_time', expected: TIME_FORMS })
  } else Object.assign(output, { regtime, signup_date: time.instant, day: time.day })
  return time?.warnings ?? []
}

const customerValidator = ({ time_zone }: Grant): RecordValidator => ({
  acceptsDataWrapper: false,
  identityOf: () => null,
  validate: (record) => validateCustomer(record, time_zone),
})

const isAbsent = (value: unknown) => value === null || value === ERASED_TRACKING

/** Returns a customer as the brand sent it, from a row of the table. */
function presentCustomer(row: Record<string, unknown>): Record<string, unknown> {
  const members = Object.entries(COLUMNS).map(([name, column]) => [name, row[column]] as const)
  const texts: Record<string, string> = typeof row.extras === 'string' ? JSON.parse(row.extras) : {}
  const extras = Object.entries(texts).map(([name, text]) => [name, JSON.parse(text)] as const)
  return Object.fromEntries([...members.filter(([, value]) => !isAbsent(value)), ...extras])
}

const storing: Resource['storing'] = ({ env, grant, receivedAt }) => {
  const verify = verifierFor(env.TRACKING_KEYS, grant.account)
  const first_day = dayInZone(grant.time_zone, receivedAt)
  const last = lastPlausibleInstant(receivedAt)
  return async (record, _, warnings) => {
    warnings.push(...timeWarnings('regtime', record.signup_date, last))
    const { tracking_data } = record
    const origin = typeof tracking_data === 'string' && (await verify(tracking_data))
    return withSentVerdict({ ...record, ...origin, first_day })
  }
}

const withSentVerdict = (values: Values): Values => {
  const isUnusable = values.tracking_data === undefined && values.verdict === 'altered'
  return { ...values, [SENT_VERDICT]: isUnusable ? 'unusable' : values.verdict }
}

/** Merges two records of a customer as if each was sent alone: what the later one leaves out is kept. */
function merge(earlier: Values, later: Values): Values {
  const merged = { ...earlier, ...definedOf(later) }
  const { verdict, link } =
    later.tracking_data === undefined && earlier.tracking_data !== undefined ? earlier : merged
  const extras = mergeExtras([earlier.extras, later.extras])
  return withSentVerdict({ ...merged, verdict, link, extras })
}

/** Customers of a brand. A delivery adds to what is stored and removes nothing. */
export const customers: Resource = {
  name: 'customers',
  title: 'Customer',
  fields,
  required: REQUIRED,
  key: REQUIRED,
  loggedKey: REQUIRED,
  customerFilter: 'customerid',
  neverRejected: ['tracking_data'],
  recordTable: brandCustomerTable,
  referenceMember: null,
  timeMember: 'regtime',
  referenceIssue: {
    code: 'length',
    expected: CUSTOMER_EXTRAS_LIMIT,
    instruction: COMBINE_FIELDS,
  },
  validator: customerValidator,
  storing,
  merge,
  policy: () => 'reject',
  acceptsIdempotencyKey: true,
  hasItemRoute: true,
  columns: [...Object.values(COLUMNS), 'extras'],
  present: presentCustomer,
  groups: [],
  sums: [],
}

/**
 * Returns the JSON of the additional fields of several records, each a map of names to JSON texts or
 * undefined: a later text replaces an earlier one. Returns undefined if there are none.
 */
function mergeExtras(parts: readonly unknown[]): string | undefined {
  const texts = parts.filter((part) => typeof part === 'string')
  if (texts.length < 2) return texts[0]
  const members = texts.flatMap((text) => Object.entries<string>(JSON.parse(text)))
  return JSON.stringify(Object.fromEntries(members))
}

const definedOf = (values: Values) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
