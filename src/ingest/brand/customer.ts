import { type AttributionVerdict, verifierFor } from '../../attribution/verdict.ts'
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
import { MAX_EXTRAS_BYTES, MAX_EXTRAS_NUMBER } from '../db/extras-limits.ts'
import { ERASED_TRACKING } from '../db/merge.ts'
import { SENT_VERDICT } from '../db/record-fragments.ts'
import { brandCustomerTable } from '../db/record-table.ts'
import type { Row } from '../db/rows.ts'
import { placeWarnings, recordPointer } from '../envelope.ts'
import type { RecordRows, RequestContext, Resource } from '../resource.ts'
import type { ValidatedRequest } from '../validate-records.ts'
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
import { mergeRepeated } from './repeated-keys.ts'
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
  if (tooMany.length > 0) return { issues: [...issues, ...tooMany], output, warnings }
  issues.push(...checkExtras(extras))
  const names = extras.map(([name]) => name)
  warnings.push(...similarNameWarnings(names, SPELLING))
  if (extras.length > 0) {
    // Each value is stored as JSON text, so that a merge replaces it as a whole.
    const texts = extras.map(([name, value]) => [name, JSON.stringify(value)] as const)
    output.extras = `{${texts.map(([name, text]) => `${JSON.stringify(name)}:${JSON.stringify(text)}`).join()}}`
  }
  return { issues, output, warnings }
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
  validKeyOf: (record) => {
    const customerId: unknown = Reflect.get(record, 'customerId')
    return validateField('', customerId, fields.customerId, PERSONAL).issue
      ? undefined
      : { customerId: String(customerId) }
  },
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
  buildRows: customerRows,
  policy: () => 'reject',
  acceptsIdempotencyKey: true,
  hasItemRoute: true,
  columns: [...Object.values(COLUMNS), 'extras'],
  present: presentCustomer,
  groups: [],
  sums: [],
}

/** A record of a request, with the values of its columns. */
interface Sent {
  readonly index: number
  readonly values: Row['values']
}

/** Returns a row for each customer; several records of a customer are merged. */
async function customerRows(
  { form, valid }: ValidatedRequest,
  { env, grant, receivedAt }: RequestContext,
): Promise<RecordRows> {
  const verify = verifierFor(env.TRACKING_KEYS, grant.account)
  const first_day = dayInZone(grant.time_zone, receivedAt)
  const last = lastPlausibleInstant(receivedAt)
  const sent = await Promise.all(
    valid.map(async ({ index, record }): Promise<Sent> => {
      const { tracking_data } = record
      const origin = typeof tracking_data === 'string' && (await verify(tracking_data))
      return { index, values: { ...record, ...origin } }
    }),
  )
  const warnings = new Map<number, Warning[]>()
  const { rows, repeats } = mergeRepeated(
    sent,
    ({ values }) => values.customer_id,
    (records) => {
      const merged = mergeCustomer(records)
      for (const [i, { index, values }] of records.entries()) {
        const pointer = recordPointer(form, index)
        const times = timeWarnings('regtime', values.signup_date, last)
        warnings.set(index, [
          ...(i > 0 ? [warning('repeated_key', pointer)] : []),
          ...placeWarnings(times, form, index),
          // The validator has already warned of tracking data that cannot be used.
          ...(isUnusable(values) ? [] : verdictWarnings(merged, pointer)),
        ])
      }
      const verdict = isUnusable(merged) ? 'unusable' : merged.verdict
      return { ...merged, first_day, [SENT_VERDICT]: verdict }
    },
  )
  return {
    rows,
    repeats,
    receivedDay: first_day,
    // An invalid customer has no reference that would have to be checked.
    invalidRows: [],
    warnings,
  }
}

/** Returns whether a record has nothing but `tracking_data` that cannot be used. */
const isUnusable = ({ tracking_data, verdict }: Row['values']) =>
  tracking_data === undefined && verdict === 'altered'

/** Merges the records of a customer as if each was sent alone: what a later one leaves out is kept. */
function mergeCustomer(records: readonly [Sent, ...Sent[]]): Row['values'] {
  if (records.length === 1) return records[0].values
  const all = records.map(({ values }) => values)
  const merged: Row['values'] = Object.assign({}, ...all.map(definedOf))
  const tracked = all.findLast(({ tracking_data }) => tracking_data !== undefined) ?? merged
  const extras = mergeExtras(all.map((values) => values.extras))
  return { ...merged, verdict: tracked.verdict, link: tracked.link, extras }
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

const definedOf = (values: Row['values']) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))

/** Returns the warning about `tracking_data` that attributes a customer to no link. */
const verdictWarnings = ({ tracking_data, verdict }: Row['values'], pointer: string): Warning[] =>
  tracking_data === undefined || verdict === 'attributed'
    ? []
    : [warning(verdict as Exclude<AttributionVerdict, 'attributed'>, `${pointer}/tracking_data`)]
