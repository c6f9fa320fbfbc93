import type { Row } from '../db/records/json-chunks.ts'
import type { RecordTable } from '../db/records/record-table.ts'
import { recordPointer } from '../ingest/envelope.ts'
import type { RecordRows, RequestContext } from '../ingest/resource.ts'
import type { ValidatedRequest } from '../ingest/validate-records.ts'
import { type Attribution, verifierFor } from '../tracking/verdict.ts'
import { type Warning, warning } from '../validation/warnings.ts'

/** The members whose values are nobody's business, and never said back. */
export const PERSONAL_FIELDS: ReadonlySet<string> = new Set(['first_name', 'last_name', 'email'])

/** What is kept of a partner's records: each as a whole, under the names that it was sent with. */
export const rowsOf =
  (recordTable: RecordTable, dated: string) =>
  async (validated: ValidatedRequest, context: RequestContext): Promise<RecordRows> => {
    const hasDay = recordTable.columns.includes('day')
    const rows: Row[] = validated.valid.map(({ index, record }) => ({
      idx: index,
      values: hasDay ? { ...record, day: String(record[dated]).slice(0, 10) } : record,
    }))
    const invalidRows = validated.invalid.map(
      ({ index, record }): Row => ({ idx: index, values: record, flag: 'wrong' }),
    )
    if (recordTable.columns.includes('verdict')) await attributeCustomers(rows, validated, context)
    return { rows, repeatedRows: [], invalidRows }
  }

/** Says of each customer what its `tracking_data` proves: who is paid is named by `affiliate_id`. */
async function attributeCustomers(
  rows: Row[],
  { form, valid }: ValidatedRequest,
  { env, grant }: RequestContext,
) {
  const prove = verifierFor(env.TRACKING_KEYS, grant.account)
  await Promise.all(
    rows.map(async ({ idx, values }, i) => {
      const { tracking_data, affiliate_id } = values as Record<string, string>
      const proof = await prove(tracking_data!, affiliate_id)
      Object.assign(values, { verdict: proof.verdict, link: proof.link })
      valid[i]!.warnings.push(...warningOf(proof, `${recordPointer(form, idx)}/tracking_data`))
    }),
  )
}

/** Where a customer came from is for partners to say: only what contradicts it is worth a word. */
const warningOf = ({ verdict }: Attribution, pointer: string): Warning[] =>
  verdict === 'attributed' || verdict === 'unrecognised' ? [] : [warning(verdict, pointer)]
