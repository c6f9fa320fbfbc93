import type { RecordTable } from '../db/records/record-table.ts'
import type { Row } from '../db/records/store-delivery.ts'
import { pointerOf } from '../ingest/envelope.ts'
import type { Arrival, Rows } from '../ingest/resource.ts'
import type { Judged } from '../ingest/validate-records.ts'
import { type Proof, prover } from '../tracking/verdict.ts'
import { type Warning, warning } from '../validation/warnings.ts'

/** The members whose values are nobody's business, and never said back. */
export const PERSONAL: ReadonlySet<string> = new Set(['first_name', 'last_name', 'email'])

/** What is kept of a partner's records: each as a whole, under the names that it was sent with. */
export const rowsOf =
  (shelf: RecordTable, dated: string) =>
  async (judged: Judged, arrival: Arrival): Promise<Rows> => {
    const hasDay = shelf.columns.includes('day')
    const rows: Row[] = judged.good.map(({ index, record }) => ({
      idx: index,
      values: hasDay ? { ...record, day: String(record[dated]).slice(0, 10) } : record,
    }))
    const strays = judged.bad.map(
      ({ index, record }): Row => ({ idx: index, values: record, odd: 'wrong' }),
    )
    if (shelf.columns.includes('verdict')) await attribute(rows, judged, arrival)
    return { rows, later: [], strays }
  }

/** Says of each customer what its `tracking_data` proves: who is paid is named by `affiliate_id`. */
async function attribute(rows: Row[], { form, good }: Judged, { env, grant }: Arrival) {
  const prove = prover(env.TRACKING_KEYS, grant.account)
  await Promise.all(
    rows.map(async ({ idx, values }, i) => {
      const { tracking_data, affiliate_id } = values as Record<string, string>
      const proof = await prove(tracking_data!, affiliate_id)
      Object.assign(values, { verdict: proof.verdict, link: proof.link })
      good[i]!.warnings.push(...warningOf(proof, `${pointerOf(form, idx)}/tracking_data`))
    }),
  )
}

/** Where a customer came from is for partners to say: only what contradicts it is worth a word. */
const warningOf = ({ verdict }: Proof, pointer: string): Warning[] =>
  verdict === 'attributed' || verdict === 'unrecognised' ? [] : [warning(verdict, pointer)]
