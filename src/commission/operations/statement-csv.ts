import type { Context } from 'hono'
import type { AppEnv } from '../../platform/auth/authorize.ts'
import { unavailable } from '../../platform/errors.ts'
import type { ReadCall } from '../../platform/http/operation.ts'
import { invalidQuery } from '../../platform/http/query.ts'
import { csvHeaders, writeCsv } from '../../platform/money/csv.ts'
import { rowOf } from '../../platform/money/csv-list.ts'
import { PART_LIMITS } from '../limits.ts'
import type { presentWhole } from './present-statement.ts'

// The lines, adjustments and manual entries of a statement as CSV.

type Whole = ReturnType<typeof presentWhole>

/** The columns of the lines, adjustments and manual entries of a statement. */
export const ENTRY_COLUMNS = [
  'statement_id',
  'affiliate_id',
  'plan',
  'period',
  'currency',
  'entry',
  'id',
  'rule',
  'version',
  'kind',
  'scope',
  'base',
  'units',
  'measure',
  'step',
  'rate',
  'carried_in',
  'carried_out',
  'capped',
  'recouped',
  'deficit',
  'amount',
  'of',
  'causes_total',
  'reason',
  'reference',
  'at',
]

/** The most parts of a statement that one file lists. */
const FILE_PARTS = 50

const TOO_LONG = `The rest of the statement has more than ${FILE_PARTS} parts, too many for one file. Read them as JSON.`

/** What a byte of a part takes in the end: as text, and encoded. */
const WEIGHT = 2

/** Responds with a statement from a part on, as the caller sees it; manual entries come last. */
export async function sendStatementCsv(
  c: Context<AppEnv>,
  { grant: { account }, memory }: ReadCall,
  first: Whole,
  readPart: (part: number) => Promise<Whole>,
): Promise<Response> {
  const { id: statement_id, affiliate_id, plan, period, currency, manual, parts, hash } = first
  const own = { statement_id, affiliate_id, plan, period, currency }
  const listed = parts - first.part + 1
  if (listed > FILE_PARTS) throw invalidQuery(TOO_LONG)
  if (listed > 1) await memory.reserve(listed * PART_LIMITS.bytes, WEIGHT)
  let csv = writeCsv([ENTRY_COLUMNS])
  for (let part = first.part; part <= parts; part++) {
    const read = part === first.part ? first : await readPart(part)
    if (read.hash !== hash) throw unavailable(new Error('The statement has changed.'))
    const entries = [
      ...read.lines.map((one) => ({ entry: 'line', ...one })),
      ...read.adjustments.map((one) => ({ entry: 'adjustment', ...one })),
      ...(part < parts ? [] : manual.map((one) => ({ entry: 'manual', ...one }))),
    ]
    csv += writeCsv(entries.map((entry) => rowOf(ENTRY_COLUMNS, { ...entry, ...own })))
  }
  return c.body(csv, 200, csvHeaders('statement', account, period, statement_id))
}
