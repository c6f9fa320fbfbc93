import type { SizeDecision } from '../db/records/delivery-input.ts'
import type { Row } from '../db/records/json-chunks.ts'
import {
  ADDED_BYTES,
  ADDED_MEMBERS,
  IS_TOO_LARGE,
  SEEN_DELIVERY,
  SENT_VERDICT,
} from '../db/records/sql-fragments.ts'
import { placeWarnings, recordPointer } from '../ingest/envelope.ts'
import type { RecordRows, RequestContext } from '../ingest/resource.ts'
import type { ValidatedRequest } from '../ingest/validate-records.ts'
import { type Attribution, type AttributionVerdict, verifierFor } from '../tracking/verdict.ts'
import { lastPlausibleInstant, timeWarnings } from '../validation/plausibility.ts'
import { type Warning, warning } from '../validation/warnings.ts'
import { dayInZone } from '../zone.ts'
import { isTooLarge, mergeExtras, type Sizes, sumOf } from './extras.ts'
import { mergeRepeated } from './repeated-keys.ts'

/** The attribution of a customer, so far as one or more records of a request give it. */
interface Origin {
  tracking_data: string | undefined
  verdict: AttributionVerdict | undefined
  link: string | null | undefined
}

/** A record of a request, or the merged records of a customer. */
interface Sent {
  index: number
  /** The values by column, but for those of `origin`. */
  columns: Row['values']
  origin: Origin
  /** The additional fields that `columns` has as JSON. */
  sizes: Sizes
}

/** Returns a row for each customer; several records of a customer are merged. */
export async function customerRows(
  { form, valid }: ValidatedRequest,
  { env, grant, receivedAt }: RequestContext,
): Promise<RecordRows> {
  const verify = verifierFor(env.TRACKING_KEYS, grant.account)
  const first_day = dayInZone(grant.time_zone, receivedAt)
  const last = lastPlausibleInstant(receivedAt)
  const sent = await Promise.all(
    valid.map(async ({ index, record }): Promise<Sent> => {
      const { sizes, ...columns } = record
      const origin = await readOrigin(record, verify)
      return { index, columns, origin, sizes: sizes instanceof Map ? sizes : new Map() }
    }),
  )
  const warnings = new Map<number, Warning[]>()
  const sizesOf = new Map<unknown, Sizes>()
  const { rows, repeats } = mergeRepeated(
    sent,
    ({ columns }) => columns.customer_id,
    (records) => {
      const { columns, origin, sizes } = mergeCustomer(records)
      for (const [i, { index, columns: own, origin: ownOrigin }] of records.entries()) {
        const pointer = recordPointer(form, index)
        const times = timeWarnings('regtime', own.signup_date, last)
        warnings.set(index, [
          ...(i > 0 ? [warning('repeated_key', pointer)] : []),
          ...placeWarnings(times, form, index),
          ...attributionWarnings(ownOrigin, origin, pointer),
        ])
      }
      sizesOf.set(columns.customer_id, sizes)
      return {
        ...columns,
        ...origin,
        first_day,
        [SENT_VERDICT]: sentVerdict(origin),
        [ADDED_BYTES]: sumOf(sizes),
        [ADDED_MEMBERS]: sizes.size,
      }
    },
  )
  const lookups = rows.map(({ idx, values }): Row => ({ idx, values: lookupOf(values) }))
  return {
    rows,
    repeats,
    receivedDay: first_day,
    // An invalid customer has no reference that would have to be checked.
    invalidRows: [],
    warnings,
    sizes: {
      isTooLarge: (key, stored) => isTooLarge(sizesOf.get(key) ?? new Map(), stored),
      toRows: (decisions) => lookups.map((row) => withDecision(row, decisions)),
    },
  }
}

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

/** Merges the records of a customer in their order: what a later one leaves out is kept. */
function mergeCustomer(records: readonly [Sent, ...Sent[]]): Omit<Sent, 'index'> {
  if (records.length === 1) return records[0]
  const columns = Object.assign({}, ...records.map((record) => definedOf(record.columns)))
  const origin = records.map((record) => record.origin).reduce(mergeOrigin)
  const sizes = new Map(records.flatMap((record) => [...record.sizes]))
  const extras = mergeExtras(records.map((record) => record.columns.extras))
  return { columns: { ...columns, extras }, origin, sizes }
}

const definedOf = (columns: Row['values']) =>
  Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined))

/**
 * Returns the attribution after a further record. Tracking data, verdict and link are replaced together;
 * a record without tracking data keeps those before it. Only another link replaces a link.
 */
function mergeOrigin(before: Origin, sent: Origin): Origin {
  if (before.verdict === 'attributed' && sent.verdict !== 'attributed') return before
  if (sent.tracking_data !== undefined) return sent
  if (before.tracking_data !== undefined) return before
  return { ...NO_ORIGIN, verdict: sent.verdict ?? before.verdict }
}

/**
 * Returns the warnings about the attribution of a customer for one of the customer's records. The validator
 * has already warned of tracking data that cannot be used.
 */
function attributionWarnings(
  own: Origin,
  { tracking_data, verdict }: Origin,
  pointer: string,
): Warning[] {
  const isReported = own.tracking_data === undefined && own.verdict === 'altered'
  if (isReported || tracking_data === undefined) return []
  return verdict === undefined || verdict === 'attributed'
    ? []
    : [warning(verdict, `${pointer}/tracking_data`)]
}

const sentVerdict = ({ tracking_data, verdict }: Origin) =>
  tracking_data === undefined && verdict === 'altered' ? 'unusable' : verdict

/** Returns the cells that the database classifies a customer by. */
const lookupOf = ({ customer_id, day, ...others }: Row['values']): Row['values'] => ({
  customer_id,
  day,
  [SENT_VERDICT]: others[SENT_VERDICT],
  [ADDED_BYTES]: others[ADDED_BYTES],
  [ADDED_MEMBERS]: others[ADDED_MEMBERS],
})

/** Returns a row with what was decided about its customer, if anything was. */
function withDecision({ idx, values }: Row, decisions: ReadonlyMap<unknown, SizeDecision>): Row {
  const seen = decisions.get(values.customer_id)
  if (!seen) return { idx, values }
  const decision = { [SEEN_DELIVERY]: seen.delivery, [IS_TOO_LARGE]: Number(seen.isTooLarge) }
  return { idx, values: { ...values, ...decision } }
}
