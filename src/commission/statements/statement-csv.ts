import type { Context } from 'hono'
import type { AppEnv } from '../../platform/auth/authorize.ts'
import { unavailable } from '../../platform/errors.ts'
import { ReadMemory } from '../../platform/http/memory.ts'
import { sendPieces } from '../../platform/http/send.ts'
import { csvHeaders, writeCsv } from '../csv.ts'
import { rowOf } from '../csv-list.ts'
import { PART_LIMITS } from './limits.ts'
import type { presentWhole } from './present.ts'

// The lines, adjustments and manual entries of a statement as CSV.

type Whole = ReturnType<typeof presentWhole>

/** The columns of the lines, adjustments and manual entries of a statement. */
export const ENTRY_COLUMNS = [
  ...['statement_id', 'affiliate_id', 'plan', 'period', 'currency', 'entry', 'id', 'rule'],
  ...['version', 'kind', 'scope', 'base', 'units', 'measure', 'step', 'rate', 'carried_in'],
  ...['carried_out', 'capped', 'recouped', 'deficit', 'amount', 'of', 'causes_total', 'reason'],
  ...['reference', 'at'],
]

/** The rows that become one piece of text. */
const ROWS = 100

/** What a byte of a row takes while it becomes text: JSON, values, and the text. */
const WEIGHT_PER_BYTE = 6

/** Yields a statement as CSV, part by part; manual entries come after all parts. */
async function* piecesOf(
  first: Whole,
  readPart: (part: number) => Promise<Whole>,
): AsyncGenerator<string, void> {
  yield writeCsv([ENTRY_COLUMNS])
  const { id: statement_id, affiliate_id, plan, period, currency, manual, parts, hash } = first
  const own = { statement_id, affiliate_id, plan, period, currency }
  for (let part = first.part; part <= parts; part++) {
    const read = part === first.part ? first : await readPart(part)
    if (read.hash !== hash) throw unavailable(new Error('The statement has changed.'))
    const entries = [
      ...read.lines.map((one) => ({ entry: 'line', ...one })),
      ...read.adjustments.map((one) => ({ entry: 'adjustment', ...one })),
      ...(part < parts ? [] : manual.map((one) => ({ entry: 'manual', ...one }))),
    ]
    for (let at = 0; at < entries.length; at += ROWS) {
      const rows = entries.slice(at, at + ROWS)
      yield writeCsv(rows.map((entry) => rowOf(ENTRY_COLUMNS, { ...entry, ...own })))
    }
  }
}

/** Responds with a statement from a part on, as the caller sees it. */
export function sendStatementCsv(
  c: Context<AppEnv>,
  account: string,
  first: Whole,
  readPart: (part: number) => Promise<Whole>,
): Promise<Response> {
  const headers = csvHeaders('statement', account, first.period, first.id)
  const memory = new ReadMemory(account, c.var.affiliate)
  const { manual, holds, received } = first
  const others = JSON.stringify([manual, holds, received]).length
  const weight = WEIGHT_PER_BYTE * (PART_LIMITS.bytes + others)
  return sendPieces(c, piecesOf(first, readPart), headers, memory, weight)
}
