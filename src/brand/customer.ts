import type { Grant } from '../auth/grant.ts'
import { brandCustomerTable, MAX_EXTRAS } from '../db/records/record-table.ts'
import type { Row } from '../db/records/store-delivery.ts'
import { pointerOf } from '../ingest/envelope.ts'
import type { Arrival, Resource, Rows } from '../ingest/resource.ts'
import type { Judged } from '../ingest/validate-records.ts'
import { prover, type Verdict } from '../tracking/verdict.ts'
import type { Checked, Entity } from '../validation/record-validator.ts'
import { judged } from '../validation/strict-object.ts'
import { warning } from '../validation/warnings.ts'
import { type Extras, grow, type Sizes, sizesOf, telling } from './extras.ts'
import { COLUMNS, customer as fields } from './fields.ts'
import {
  excess,
  type Findings,
  flawsOf,
  lookalikes,
  membersOf,
  misspelt,
  spellingOf,
  take,
} from './members.ts'
import { FORMS, readTime } from './time.ts'
import { dayAt } from './zone.ts'

const REQUIRED = ['customerId']
const SPELLING = spellingOf(REQUIRED)
const ALL = spellingOf(['regtime', 'country', 'firstName', 'lastName', 'tracking_data'])

/** What a customer may come to in many deliveries; one record brings at most 16 KiB. */
const MOST = `at most ${MAX_EXTRAS / 1024} KiB of additional fields, all that were sent of it together`

const PERSONAL: ReadonlySet<string> = new Set(['regtime', 'firstName', 'lastName'])

/** A customer of a brand. What we do not know of it is kept as it was sent. */
function check(record: object, zone: string): Checked {
  const members = membersOf(record)
  const findings: Findings = {
    found: misspelt(members, SPELLING, REQUIRED, () => false),
    output: {},
  }
  const { found, output } = findings
  for (const name of ['customerId', 'country', 'firstName', 'lastName'] as const) {
    take(findings, members, name, COLUMNS[name], fields[name], PERSONAL)
  }
  const warnings = readRegtime(findings, members, zone)

  const code = members.get('tracking_data')
  // It never fails a call: what cannot be ours is as good as none, and its sender is told.
  if (judged('', code, fields.tracking_data, PERSONAL).issue === null) output.tracking_data = code
  else if (code !== undefined) {
    output.verdict = 'altered'
    warnings.push(warning('altered', '/tracking_data'))
  }

  const extras = [...members].filter(([name]) => !Object.hasOwn(COLUMNS, name))
  found.push(...flawsOf(extras), ...excess(extras))
  const names = extras.map(([name]) => name)
  warnings.push(...lookalikes(names, ALL))
  if (extras.length > 0) {
    // A map of names to JSON texts: when two are merged, no value is looked into.
    output.extras = JSON.stringify(
      Object.fromEntries(extras.map(([k, v]) => [k, JSON.stringify(v)])),
    )
  }
  output.sizes = sizesOf(extras)
  return { found, output, warnings }
}

function readRegtime({ found, output }: Findings, members: Map<string, unknown>, zone: string) {
  const regtime = members.get('regtime')
  if (regtime === undefined) return []
  const { issue } = judged('regtime', regtime, fields.regtime, PERSONAL)
  const time = issue ? null : readTime(regtime as string, zone, '/regtime')
  if (issue?.code === 'type') found.push(issue)
  else if (!time) {
    found.push({ pointer: '/regtime', code: 'date_time', expected: FORMS })
  } else Object.assign(output, { regtime, signup_date: time.instant, day: time.day })
  return time?.warnings ?? []
}

/**
 * What is kept: each record as far as it says anything. Those of one customer follow each other, each
 * with where it came from and its day, if that was said before.
 */
async function rowsOf({ form, good }: Judged, { env, grant, receivedAt }: Arrival): Promise<Rows> {
  const prove = prover(env.TRACKING_KEYS, grant.account)
  const first_day = dayAt(grant.time_zone, receivedAt)
  const proven: Record<string, unknown>[] = await Promise.all(
    good.map(async ({ index, record, warnings }) => {
      if (record.tracking_data === undefined) return record
      const { verdict, link } = await prove(record.tracking_data as string)
      const pointer = `${pointerOf(form, index)}/tracking_data`
      if (verdict !== 'attributed') warnings.push(warning(verdict, pointer))
      return { ...record, verdict, link }
    }),
  )

  const known = new Map<unknown, Known>()
  const anewOf = telling()
  const rows: Row[] = []
  const later: Row[] = []
  for (const [i, { index, warnings }] of good.entries()) {
    const { sizes, ...record } = proven[i]!
    const before = known.get(record.customer_id)
    const now = {
      ...from(before, record),
      extras: before?.extras ?? { bytes: 0, sizes: new Map<string, number>() },
    }
    grow(now.extras, sizes as Sizes)
    known.set(record.customer_id, now)
    const { extras, isAltered, ...origin } = now
    if (record.verdict === undefined && origin.tracking_data && origin.verdict !== 'attributed') {
      warnings.push(warning(origin.verdict as Unpaid, `${pointerOf(form, index)}/tracking_data`))
    }
    const { bytes } = extras
    const values = { ...record, ...origin, bytes, anew: anewOf(extras), first_day }
    if (before) later.push({ idx: index, values, odd: before.isAltered ? 'altered' : 'later' })
    else rows.push({ idx: index, values })
  }
  // What is wrong refers to nothing that would have to be known.
  return { rows, later, strays: [] }
}

type Unpaid = Exclude<Verdict, 'attributed'>

/** What is known of a customer from the records of this request so far. */
interface Known {
  day: unknown
  tracking_data: unknown
  verdict: unknown
  link: unknown
  /** Whether it was said so far, but only in a way that cannot be used. */
  isAltered: boolean
  extras: Extras
}

/** Its day and, as a whole, where it came from: as this record says, or one before it has said. */
function from(before: Known | undefined, record: Record<string, unknown>): Omit<Known, 'extras'> {
  const keeps = record.tracking_data === undefined && before?.tracking_data !== undefined
  const { tracking_data, verdict, link } = keeps ? before : record
  const isAltered = tracking_data === undefined && (verdict === 'altered' || !!before?.isAltered)
  return { day: record.day ?? before?.day, tracking_data, verdict, link, isAltered }
}

const entityOf = ({ time_zone }: Grant): Entity => ({
  wraps: false,
  nameOf: () => null,
  keyOf: (record) => {
    const { customerId } = record as { customerId?: unknown }
    return judged('', customerId, fields.customerId, PERSONAL).issue
      ? undefined
      : { customerId: String(customerId) }
  },
  check: (record) => check(record, time_zone),
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
  referenceIssue: { code: 'length', expected: MOST },
  validator: async (grant) => entityOf(await grant),
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
