import type { Row } from '../db/records/json-chunks.ts'
import type { RecordTable } from '../db/records/record-table.ts'
import { recordPointer } from '../ingest/envelope.ts'
import type { RecordRows, RequestContext } from '../ingest/resource.ts'
import type { ValidatedRequest } from '../ingest/validate-records.ts'
import { verifierFor } from '../tracking/verdict.ts'
import { type Warning, warning } from '../validation/warnings.ts'
import { bookZoneOf, dayInZone } from '../zone.ts'

/** The fields whose values are personal; no message repeats them. */
export const PERSONAL_FIELDS: ReadonlySet<string> = new Set(['first_name', 'last_name', 'email'])

/**
 * Returns the day of an instant in a zone. Where it lies beyond the years of the calendar, this is the
 * day in UTC, the first or last one of the calendar.
 */
function dayOf(instant: string, zone: string): string {
  const day = instant.slice(0, 10)
  if (zone === 'UTC') return day
  const inZone = dayInZone(zone, Date.parse(instant))
  return /^\d{4}-/.test(inZone) ? inZone : day
}

/**
 * Returns the row builder of a partner resource. `dayField` holds the instant that a record counts at; it
 * is null if the record has the day itself.
 */
export const partnerRows =
  (recordTable: RecordTable, dayField: string | null) =>
  async (validated: ValidatedRequest, context: RequestContext): Promise<RecordRows> => {
    const zone = bookZoneOf(context.grant)
    const records = validated.valid.map(
      ({ index, record }): Row => ({
        idx: index,
        values: dayField ? { ...record, day: dayOf(String(record[dayField]), zone) } : record,
      }),
    )
    const { rows, warnings } = recordTable.columns.includes('verdict')
      ? await attributeCustomers(records, validated, context)
      : { rows: records, warnings: new Map() }
    const invalidRows = validated.invalid.map(
      ({ index, record }): Row => ({ idx: index, values: record, flag: 'invalid' }),
    )
    return { rows, repeats: new Map(), invalidRows, warnings }
  }

/**
 * Adds to each customer the attribution that their `tracking_data` proves. Partners name the paid
 * affiliate themselves, so only a verdict that contradicts them is a warning.
 */
async function attributeCustomers(
  customers: readonly Row[],
  { form }: ValidatedRequest,
  { env, grant }: RequestContext,
): Promise<{ rows: Row[]; warnings: Map<number, Warning[]> }> {
  const verify = verifierFor(env.TRACKING_KEYS, grant.account)
  const warnings = new Map<number, Warning[]>()
  const rows = await Promise.all(
    customers.map(async ({ idx, values }): Promise<Row> => {
      const { tracking_data, affiliate_id } = values
      const { verdict, link } = await verify(String(tracking_data), String(affiliate_id))
      if (verdict !== 'attributed' && verdict !== 'unrecognised') {
        const pointer = `${recordPointer(form, idx)}/tracking_data`
        warnings.set(idx, [warning(verdict, pointer)])
      }
      return { idx, values: { ...values, verdict, link } }
    }),
  )
  return { rows, warnings }
}
