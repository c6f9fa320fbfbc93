import type { Grant } from '../auth/grant.ts'
import type { Row } from '../db/records/json-chunks.ts'
import { brandCustomerTable, MAX_EXTRAS_BYTES } from '../db/records/record-table.ts'
import { recordPointer } from '../ingest/envelope.ts'
import type { RecordRows, RequestContext, Resource } from '../ingest/resource.ts'
import type { ValidatedRequest } from '../ingest/validate-records.ts'
import { type AttributionVerdict, verifierFor } from '../tracking/verdict.ts'
import type { RecordCheck, RecordValidator } from '../validation/record-validator.ts'
import { validateField } from '../validation/strict-object.ts'
import { warning } from '../validation/warnings.ts'
import { addSizes, type Extras, extraSizes, extrasPatch, type Sizes } from './extras.ts'
import { COLUMNS, customer as fields } from './fields.ts'
import {
  checkExtraSize,
  findCaseVariants,
  findInvalidValues,
  findNameErrors,
  membersOf,
  type RecordReading,
  readField,
  toSpelling,
} from './members.ts'
import { readTime, TIME_FORMS } from './time.ts'
import { dayInZone } from './zone.ts'

const REQUIRED = ['customerId']
const SPELLING = toSpelling(REQUIRED)
const OPTIONAL_SPELLING = toSpelling([
  'regtime',
  'country',
  'firstName',
  'lastName',
  'tracking_data',
])

/** What a customer may come to in many deliveries; one record brings at most 16 KiB. */
const CUSTOMER_EXTRAS_LIMIT = `at most ${MAX_EXTRAS_BYTES / 1024} KiB of additional fields, all that were sent of it together`

const PERSONAL: ReadonlySet<string> = new Set(['regtime', 'firstName', 'lastName'])

/** A customer of a brand. What we do not know of it is kept as it was sent. */
function validateCustomer(record: object, zone: string): RecordCheck {
  const members = membersOf(record)
  const findings: RecordReading = {
    issues: findNameErrors(members, SPELLING, REQUIRED, () => false),
    output: {},
  }
  const { issues, output } = findings
  for (const name of ['customerId', 'country', 'firstName', 'lastName'] as const) {
    readField(findings, members, name, COLUMNS[name], fields[name], PERSONAL)
  }
  const warnings = readRegtime(findings, members, zone)

  const code = members.get('tracking_data')
  // It never fails a call: what cannot be ours is as good as none, and its sender is told.
  if (validateField('', code, fields.tracking_data, PERSONAL).issue === null)
    output.tracking_data = code
  else if (code !== undefined) {
    output.verdict = 'altered'
    warnings.push(warning('altered', '/tracking_data'))
  }

  const extras = [...members].filter(([name]) => !Object.hasOwn(COLUMNS, name))
  issues.push(...findInvalidValues(extras), ...checkExtraSize(extras))
  const names = extras.map(([name]) => name)
  warnings.push(...findCaseVariants(names, OPTIONAL_SPELLING))
  if (extras.length > 0) {
    // A map of names to JSON texts: when two are merged, no value is looked into.
    output.extras = JSON.stringify(
      Object.fromEntries(extras.map(([k, v]) => [k, JSON.stringify(v)])),
    )
  }
  output.sizes = extraSizes(extras)
  return { issues, output, warnings }
}

function readRegtime(
  { issues, output }: RecordReading,
  members: Map<string, unknown>,
  zone: string,
) {
  const regtime = members.get('regtime')
  if (regtime === undefined) return []
  const { issue } = validateField('regtime', regtime, fields.regtime, PERSONAL)
  const time = issue ? null : readTime(regtime as string, zone, '/regtime')
  if (issue?.code === 'type') issues.push(issue)
  else if (!time) {
    issues.push({ pointer: '/regtime', code: 'date_time', expected: TIME_FORMS })
  } else Object.assign(output, { regtime, signup_date: time.instant, day: time.day })
  return time?.warnings ?? []
}

/**
 * What is kept: each record as far as it says anything. Those of one customer follow each other, each
 * with where it came from and its day, if that was said before.
 */
async function rowsOf(
  { form, valid }: ValidatedRequest,
  { env, grant, receivedAt }: RequestContext,
): Promise<RecordRows> {
  const prove = verifierFor(env.TRACKING_KEYS, grant.account)
  const first_day = dayInZone(grant.time_zone, receivedAt)
  const proven: Record<string, unknown>[] = await Promise.all(
    valid.map(async ({ index, record, warnings }) => {
      if (record.tracking_data === undefined) return record
      const { verdict, link } = await prove(record.tracking_data as string)
      const pointer = `${recordPointer(form, index)}/tracking_data`
      if (verdict !== 'attributed') warnings.push(warning(verdict, pointer))
      return { ...record, verdict, link }
    }),
  )

  const known = new Map<unknown, CustomerSoFar>()
  const anewOf = extrasPatch()
  const rows: Row[] = []
  const repeatedRows: Row[] = []
  for (const [i, { index, warnings }] of valid.entries()) {
    const { sizes, ...record } = proven[i]!
    const before = known.get(record.customer_id)
    const now = {
      ...mergeOrigin(before, record),
      extras: before?.extras ?? { bytes: 0, sizes: new Map<string, number>() },
    }
    addSizes(now.extras, sizes as Sizes)
    known.set(record.customer_id, now)
    const { extras, isAltered, ...origin } = now
    if (record.verdict === undefined && origin.tracking_data && origin.verdict !== 'attributed') {
      warnings.push(
        warning(origin.verdict as Unpaid, `${recordPointer(form, index)}/tracking_data`),
      )
    }
    const { bytes } = extras
    const values = { ...record, ...origin, bytes, anew: anewOf(extras), first_day }
    if (before)
      repeatedRows.push({ idx: index, values, flag: before.isAltered ? 'altered' : 'later' })
    else rows.push({ idx: index, values })
  }
  // What is wrong refers to nothing that would have to be known.
  return { rows, repeatedRows, invalidRows: [] }
}

type Unpaid = Exclude<AttributionVerdict, 'attributed'>

/** What is known of a customer from the records of this request so far. */
interface CustomerSoFar {
  day: unknown
  tracking_data: unknown
  verdict: unknown
  link: unknown
  /** Whether it was said so far, but only in a way that cannot be used. */
  isAltered: boolean
  extras: Extras
}

/** Its day and, as a whole, where it came from: as this record says, or one before it has said. */
function mergeOrigin(
  before: CustomerSoFar | undefined,
  record: Record<string, unknown>,
): Omit<CustomerSoFar, 'extras'> {
  const keeps = record.tracking_data === undefined && before?.tracking_data !== undefined
  const { tracking_data, verdict, link } = keeps ? before : record
  const isAltered = tracking_data === undefined && (verdict === 'altered' || !!before?.isAltered)
  return { day: record.day ?? before?.day, tracking_data, verdict, link, isAltered }
}

const customerValidator = ({ time_zone }: Grant): RecordValidator => ({
  acceptsDataWrapper: false,
  identityOf: () => null,
  keyOf: (record) => {
    const { customerId } = record as { customerId?: unknown }
    return validateField('', customerId, fields.customerId, PERSONAL).issue
      ? undefined
      : { customerId: String(customerId) }
  },
  validate: (record) => validateCustomer(record, time_zone),
})

/** Customers of a brand, augmented with each delivery. */
export const customers: Resource = {
  name: 'customers',
  title: 'Customer',
  description:
    'A player, known by `customerId`. Sent again, what is left out is kept. Members that are not listed are kept as they are sent.',
  fields,
  required: REQUIRED,
  key: REQUIRED,
  customerFilter: 'customerid',
  neverRejected: ['tracking_data'],
  recordTable: brandCustomerTable,
  referenceMember: null,
  referenceIssue: { code: 'length', expected: CUSTOMER_EXTRAS_LIMIT },
  validator: async (grant) => customerValidator(await grant),
  rowsOf,
  keyFromColumns: ([customerId]) => (customerId ? { customerId } : undefined),
  policy: () => 'reject',
  acceptsIdempotencyKey: true,
  hasItemRoute: true,
  columns: [...Object.values(COLUMNS), 'extras'],
  present: (row) => {
    const known = Object.entries(COLUMNS).map(([name, column]) => [name, row[column]] as const)
    const extras = Object.entries(JSON.parse((row.extras as string | null) ?? '{}'))
    const parsed = extras.map(([name, json]) => [name, JSON.parse(json as string)] as const)
    return Object.fromEntries([...known.filter(([, value]) => value !== null), ...parsed])
  },
  groups: [],
  sums: [],
}
