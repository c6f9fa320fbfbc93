import type { Row } from '../db/records/json-chunks.ts'
import { ADDED_BYTES, ADDED_MEMBERS, EXTRAS_PATCH } from '../db/records/sql-fragments.ts'
import { recordPointer } from '../ingest/envelope.ts'
import type { RecordRows, RequestContext } from '../ingest/resource.ts'
import type { ValidatedRequest } from '../ingest/validate-records.ts'
import { type Attribution, type AttributionVerdict, verifierFor } from '../tracking/verdict.ts'
import { type Warning, warning } from '../validation/warnings.ts'
import { addSizes, type Extras, extrasPatches } from './extras.ts'
import { dayInZone } from './zone.ts'

/** The attribution of a customer, so far as one or more records of a request give it. */
interface Origin {
  tracking_data: string | undefined
  verdict: AttributionVerdict | undefined
  link: string | null | undefined
}

/** A customer as the records of a request describe them, up to one of these records. */
interface CustomerState extends Origin {
  day: unknown
  /** Whether tracking data was sent, but none that could be used. */
  isAltered: boolean
  extras: Extras
}

/**
 * Returns one row for each customer, and a repeated row for each further record of the same customer.
 * Each row has the merged day and attribution of all records of this customer so far, so that
 * records apply in array order.
 */
export async function customerRows(
  { form, valid }: ValidatedRequest,
  { env, grant, receivedAt }: RequestContext,
): Promise<RecordRows> {
  const verify = verifierFor(env.TRACKING_KEYS, grant.account)
  const origins = await Promise.all(valid.map(({ record }) => readOrigin(record, verify)))
  const first_day = dayInZone(grant.time_zone, receivedAt)
  const patches = extrasPatches()
  const states = new Map<unknown, CustomerState>()
  const rows: Row[] = []
  const repeatedRows: Row[] = []
  const warnings = new Map<number, Warning[]>()
  for (const [i, { index, record }] of valid.entries()) {
    const { sizes, ...columns } = record
    const sent = origins[i] ?? NO_ORIGIN
    const previous = states.get(record.customer_id)
    const { extras, isAltered, ...origin } = mergeState(previous, record, sent)
    if (sizes instanceof Map) addSizes(extras, sizes)
    states.set(record.customer_id, { extras, isAltered, ...origin })

    const { tracking_data, verdict } = origin
    // The validator has already warned of tracking data that cannot be used.
    const isReported = sent.tracking_data === undefined && sent.verdict === 'altered'
    if (!isReported && tracking_data !== undefined && verdict && verdict !== 'attributed') {
      warnings.set(index, [warning(verdict, `${recordPointer(form, index)}/tracking_data`)])
    }
    const values = {
      ...columns,
      ...origin,
      [ADDED_BYTES]: extras.bytes,
      [ADDED_MEMBERS]: extras.sizes.size,
      [EXTRAS_PATCH]: previous ? patches.ofRepeated(extras) : patches.ofFirst(extras),
      first_day,
    }
    if (!previous) rows.push({ idx: index, values })
    else
      repeatedRows.push({
        idx: index,
        values,
        flag: previous.isAltered ? 'repeated_altered' : 'repeated_changed',
      })
  }
  // An invalid customer has no reference that would have to be checked.
  return { rows, repeatedRows, invalidRows: [], warnings }
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

/**
 * Returns the state of a customer after a further record. Tracking data, verdict and link are
 * replaced together; a record without tracking data keeps those before it.
 */
function mergeState(
  previous: CustomerState | undefined,
  { day }: Record<string, unknown>,
  sent: Origin,
): CustomerState {
  const isKept = sent.tracking_data === undefined && previous?.tracking_data !== undefined
  const { tracking_data, verdict, link } = isKept ? previous : sent
  return {
    day: day ?? previous?.day,
    tracking_data,
    verdict,
    link,
    isAltered:
      tracking_data === undefined && (verdict === 'altered' || previous?.isAltered === true),
    extras: previous?.extras ?? { bytes: 0, sizes: new Map() },
  }
}
