import type { SizeDecision } from '../db/records/delivery-input.ts'
import type { Row } from '../db/records/json-chunks.ts'
import {
  ADDED_BYTES,
  ADDED_MEMBERS,
  IS_TOO_LARGE,
  MERGED_VERDICT,
  SEEN_DELIVERY,
} from '../db/records/sql-fragments.ts'
import { type BodyForm, recordPointer } from '../ingest/envelope.ts'
import type { RecordRows, RequestContext } from '../ingest/resource.ts'
import type { ValidatedRequest } from '../ingest/validate-records.ts'
import { type Attribution, type AttributionVerdict, verifierFor } from '../tracking/verdict.ts'
import { type Warning, warning } from '../validation/warnings.ts'
import { dayInZone } from '../zone.ts'
import { addSizes, type Extras, type Sizes, toExtras, tooLargeFinder } from './extras.ts'

/** The attribution of a customer, so far as one or more records of a request give it. */
interface Origin {
  tracking_data: string | undefined
  verdict: AttributionVerdict | undefined
  link: string | null | undefined
}

/** What one record of a request contributes to the state of its customer. */
interface Contribution {
  index: number
  customer_id: unknown
  day: unknown
  origin: Origin
  sizes: Sizes
}

/** The attribution of a customer after one or more records of a request. */
interface CustomerState {
  origin: Origin
  /** Whether tracking data was sent, but none that could be used. */
  isAltered: boolean
}

/** A contribution, and the customer before and after it. */
interface Step extends Contribution {
  /** Whether an earlier record of the request has this customer. */
  isRepeated: boolean
  /** Undefined if no earlier record counts. */
  previous: CustomerState | undefined
  state: CustomerState
  /** The bytes and the number of the additional fields that were sent up to here. */
  bytes: number
  members: number
}

/**
 * Returns one row for each customer, and a repeated row for each further record of the same customer.
 * The statements merge them in array order. Only what the database classifies a record by is merged
 * here: the verdict, and the size of additional fields. A record that the database rejects contributes
 * nothing, so `sizes` and `warnings` leave it out.
 */
export async function customerRows(
  { form, valid }: ValidatedRequest,
  { env, grant, receivedAt }: RequestContext,
): Promise<RecordRows> {
  const verify = verifierFor(env.TRACKING_KEYS, grant.account)
  const first_day = dayInZone(grant.time_zone, receivedAt)
  const contributions = await Promise.all(
    valid.map(async ({ index, record }): Promise<Contribution> => {
      const { customer_id, day } = record
      const sizes: Sizes = record.sizes instanceof Map ? record.sizes : new Map()
      return { index, customer_id, day, origin: await readOrigin(record, verify), sizes }
    }),
  )
  const steps = applyInOrder(contributions, () => false)
  const whole = steps.map((step, i): Row => {
    const row = lookupRow(step)
    const { sizes: _, ...columns } = valid[i]?.record ?? {}
    return { ...row, values: { ...columns, ...step.origin, ...row.values, first_day } }
  })
  return {
    ...separate(whole),
    receivedDay: first_day,
    // An invalid customer has no reference that would have to be checked.
    invalidRows: [],
    warnings: (rejected) =>
      warningsOf(
        applyInOrder(contributions, (i) => rejected.has(i)),
        form,
      ),
    sizes: {
      findTooLarge: tooLargeFinder(contributions),
      toRows: (decisions) => {
        const rejected = new Set([...decisions.values()].flatMap(({ tooLarge }) => tooLarge))
        const decided = applyInOrder(contributions, (index) => rejected.has(index))
        return separate(decided.map((step) => decidedRow(step, decisions, rejected)))
      },
    },
  }
}

/** Separates the first row of each customer from the rows that repeat one. */
const separate = (rows: readonly Row[]): Pick<RecordRows, 'rows' | 'repeatedRows'> => ({
  rows: rows.filter(({ flag }) => flag === undefined),
  repeatedRows: rows.filter(({ flag }) => flag !== undefined),
})

const NO_ORIGIN: Origin = { tracking_data: undefined, verdict: undefined, link: undefined }

/**
 * Verifies the tracking data of a record. The verdict is `altered` if the validator rejected the
 * tracking data.
 */
async function readOrigin(
  { tracking_data, verdict }: Record<string, unknown>,
  verify: (tracking_data: string) => Promise<Attribution>,
): Promise<Origin> {
  if (typeof tracking_data === 'string') return { tracking_data, ...(await verify(tracking_data)) }
  return { ...NO_ORIGIN, verdict: verdict === 'altered' ? 'altered' : undefined }
}

/** Returns each contribution with the state before it and after it. Rejected ones change no state. */
function applyInOrder(
  contributions: readonly Contribution[],
  isRejected: (index: number) => boolean,
): Step[] {
  const states = new Map<unknown, CustomerState | undefined>()
  const sent = new Map<unknown, Extras>()
  return contributions.map((contribution) => {
    const { customer_id, index, sizes } = contribution
    const isRepeated = states.has(customer_id)
    const previous = states.get(customer_id)
    const state = mergeState(previous, contribution.origin)
    states.set(customer_id, isRejected(index) ? previous : state)
    const before = sent.get(customer_id)
    if (before) addSizes(before, sizes)
    const extras = before ?? toExtras(sizes)
    sent.set(customer_id, extras)
    const { bytes } = extras
    return { ...contribution, isRepeated, previous, state, bytes, members: extras.sizes.size }
  })
}

/**
 * Returns the state of a customer after a further record. Tracking data, verdict and link are
 * replaced together; a record without tracking data keeps those before it.
 */
function mergeState(previous: CustomerState | undefined, sent: Origin): CustomerState {
  const isKept = sent.tracking_data === undefined && previous?.origin.tracking_data !== undefined
  const origin = isKept ? previous.origin : sent
  const isAltered =
    origin.tracking_data === undefined &&
    (origin.verdict === 'altered' || previous?.isAltered === true)
  return { origin, isAltered }
}

/** Returns the cells that the database classifies a record by. */
function lookupRow({ index, isRepeated, previous, state, bytes, members, ...sent }: Step): Row {
  const values = {
    customer_id: sent.customer_id,
    day: sent.day,
    [MERGED_VERDICT]: state.origin.verdict,
    [ADDED_BYTES]: bytes,
    [ADDED_MEMBERS]: members,
  }
  if (!isRepeated) return { idx: index, values }
  const flag = previous?.isAltered ? 'repeated_altered' : 'repeated_changed'
  return { idx: index, values, flag }
}

/** Returns the cells of a record whose customer may have been looked at. */
function decidedRow(
  step: Step,
  decisions: ReadonlyMap<unknown, SizeDecision>,
  rejected: ReadonlySet<number>,
): Row {
  const row = lookupRow(step)
  const seen = decisions.get(step.customer_id)
  if (!seen) return row
  const decision = {
    [SEEN_DELIVERY]: seen.delivery,
    [IS_TOO_LARGE]: Number(rejected.has(step.index)),
  }
  return { ...row, values: { ...row.values, ...decision } }
}

/** Returns the warnings about the attribution that each record leads to. */
function warningsOf(steps: readonly Step[], form: BodyForm): Map<number, Warning[]> {
  const warnings = new Map<number, Warning[]>()
  for (const { index, origin: sent, state } of steps) {
    const { tracking_data, verdict } = state.origin
    // The validator has already warned of tracking data that cannot be used.
    const isReported = sent.tracking_data === undefined && sent.verdict === 'altered'
    if (!isReported && tracking_data !== undefined && verdict && verdict !== 'attributed') {
      warnings.set(index, [warning(verdict, `${recordPointer(form, index)}/tracking_data`)])
    }
  }
  return warnings
}
