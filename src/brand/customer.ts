import type { Grant } from '../auth/grant.ts'
import { MAX_EXTRAS_BYTES, MAX_EXTRAS_NUMBER } from '../db/records/extras-limits.ts'
import { ERASED_TRACKING } from '../db/records/merge.ts'
import { brandCustomerTable } from '../db/records/record-table.ts'
import type { Resource } from '../ingest/resource.ts'
import { countryWarnings, whitespaceWarnings } from '../validation/plausibility.ts'
import type { RecordCheck, RecordValidator } from '../validation/record-validator.ts'
import { validateField } from '../validation/strict-object.ts'
import { type Warning, warning } from '../validation/warnings.ts'
import { customerRows } from './customer-rows.ts'
import { extraSize } from './extras.ts'
import { COLUMNS, customer as fields } from './fields.ts'
import {
  COMBINE_FIELDS,
  checkExtraNumber,
  checkExtras,
  findCaseVariants,
  findNameErrors,
  membersOf,
  type RecordReading,
  readField,
  toSpelling,
} from './members.ts'
import { expectedTime, readTime } from './time.ts'

const REQUIRED = ['customerId']
const SPELLING = toSpelling(REQUIRED)
const OPTIONAL_SPELLING = toSpelling([
  'regtime',
  'country',
  'firstName',
  'lastName',
  'tracking_data',
])

/** The limits on a stored customer, which many deliveries can add to. */
const CUSTOMER_EXTRAS_LIMIT = `at most ${MAX_EXTRAS_NUMBER} additional fields of ${MAX_EXTRAS_BYTES / 1024} KiB in all, counting all that were sent for this customer`

const PERSONAL: ReadonlySet<string> = new Set(['regtime', 'firstName', 'lastName'])

/** Validates a customer of a brand; `zone` is the time zone of the account. */
function validateCustomer(record: object, zone: string): RecordCheck {
  const members = membersOf(record)
  const reading: RecordReading = {
    issues: findNameErrors(members, SPELLING, REQUIRED, () => false),
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
  warnings.push(...findCaseVariants(names, OPTIONAL_SPELLING))
  if (extras.length > 0) {
    // Each value is stored as JSON text, so that a merge replaces it as a whole.
    const texts = extras.map(([name, value]) => [name, JSON.stringify(value)] as const)
    output.extras = `{${texts.map(([name, text]) => `${JSON.stringify(name)}:${JSON.stringify(text)}`).join()}}`
    output.sizes = new Map(texts.map(([name, text]) => [name, extraSize(name, text)]))
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
    issues.push({ pointer: '/regtime', code: 'date_time', expected: expectedTime(regtime, zone) })
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
  validator: async (grant) => customerValidator(await grant),
  buildRows: customerRows,
  keyFromColumns: ([customerId]) => (customerId ? { customerId } : undefined),
  policy: () => 'reject',
  acceptsIdempotencyKey: true,
  hasItemRoute: true,
  columns: [...Object.values(COLUMNS), 'extras'],
  present: presentCustomer,
  groups: [],
  sums: [],
}
