import {
  findItem,
  readCorrections,
  type StoredItem,
} from '../../db/commission/books/stored-items.ts'
import { statementId } from '../drafts/ids.ts'
import type { ClosedLine, Explanation } from '../engine/explanation.ts'
import { type AdjustmentExplanation, type Approved, sumOfMoney } from './adjustment-text.ts'
import type { LineReader } from './compute-line.ts'
import { explainComputed } from './explain-line.ts'
import type { FoundAdjustment } from './find-adjustment.ts'
import type { AccountReader, LinePlace } from './find-line.ts'

/** Explains an adjustment: what was approved, what the line comes to now, and what has changed. */
export async function explainAdjustment(
  reader: LineReader,
  found: FoundAdjustment,
): Promise<AdjustmentExplanation> {
  const { adjustment, affiliate_id, plan, period, currency } = found
  const { id, of, amount, causes, causes_total } = adjustment
  return {
    id,
    affiliate_id,
    plan,
    period,
    currency,
    of,
    approved: await approvedOf(reader, found),
    now: await explainNow(reader, found),
    amount,
    causes,
    causes_total,
  }
}

async function approvedOf(
  { grant, session }: AccountReader,
  { adjustment, affiliate_id, plan, period }: FoundAdjustment,
): Promise<Approved> {
  const { of, amount: own } = adjustment
  const statement = await statementId(affiliate_id, plan, of.period)
  const place = { affiliate_id, plan, ...of }
  const [stored, corrections] = await Promise.all([
    findItem(session, grant.account, statement, of.line ?? ''),
    readCorrections(session, grant.account, place),
  ])
  const amount = amountOf(stored, of.line)
  const earlier = corrections.filter((one) => one.period < period)
  const zero = own.replace(/[1-9]/g, '0').replace('-', '')
  const total = sumOfMoney(amount ?? zero, ...earlier.map((one) => one.amount))
  return { statement, amount, earlier, total }
}

function amountOf(stored: StoredItem | null, line: string | null): string | null {
  if (line === null) return stored?.dropped ?? null
  return stored?.item ? JSON.parse(stored.item).amount : null
}

/** Returns what was approved of a line of a closed period. */
export async function closedLine(
  { grant, session }: AccountReader,
  { id, statement, affiliate_id, plan, period, stored }: LinePlace,
): Promise<ClosedLine> {
  const place = { affiliate_id, plan, period: period.id, line: id }
  const adjustments = await readCorrections(session, grant.account, place)
  const isApproved = stored !== null && stored.status !== 'draft'
  return { statement, amount: isApproved ? stored.amount : null, adjustments }
}

/** Explains the corrected line as it is computed now; null if the statement no longer has it. */
async function explainNow(
  reader: LineReader,
  { adjustment, affiliate_id }: FoundAdjustment,
): Promise<Explanation | null> {
  const { line, period } = adjustment.of
  if (line === null) return null
  const { computed } = await reader.computeLine(line, { affiliate_id, period })
  return computed && explainComputed(computed)
}
