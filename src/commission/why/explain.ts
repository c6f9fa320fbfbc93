import { maySee } from '../../platform/auth/grant.ts'
import { ApiError } from '../../platform/errors.ts'
import type { ReadCall, Reader } from '../../platform/http/operation.ts'
import { add, decimal, fixedText, subtract, sum } from '../../platform/money/decimal.ts'
import {
  type CorrectedPlace,
  findDropped,
  findItem,
  readCorrections,
  type StoredItem,
} from '../db/stored-items.ts'
import type { Adjustment, StatementLine, StoredSteps } from '../run/draft.ts'
import { statementId, statementOfLine } from '../run/ids.ts'
import type { AdjustmentExplanation } from '../shapes/explanations.ts'
import type { LineJson } from '../shapes/line-json.ts'
import type { Correction, Explanation } from '../shapes/steps.ts'

// Why a line or an adjustment pays what it pays: as the settlement wrote it that made it.

/** What reads lines of an account for a caller. */
export type LineReader = Pick<ReadCall, 'env' | 'grant' | 'session'>

/** The account that a request may read, and the database session in which it is read. */
export type AccountReader = Pick<Reader, 'grant' | 'session'>

/** A line or an adjustment of a statement, and how it came about. */
export interface FoundItem
  extends Pick<StoredItem, 'affiliate_id' | 'plan' | 'period' | 'currency' | 'status'> {
  readonly item: StatementLine | Adjustment
  /** Null for an adjustment whose line is none now. */
  readonly steps: StoredSteps | null
}

/**
 * Finds a line or an adjustment in a stored statement.
 *
 * @throws ApiError `not_found`
 */
export async function findLine({ grant, session }: LineReader, id: string): Promise<FoundItem> {
  const statement = statementOfLine(id)
  const stored = statement === null ? null : await findItem(session, grant.account, statement, id)
  if (!stored?.item || !maySee(grant, stored.affiliate_id, stored.status)) {
    throw new ApiError('not_found', {
      detail:
        'No stored statement has this line or adjustment. A later run may have replaced it: read the statement again. If the period has not been computed yet, run it.',
    })
  }
  const { item, steps } = stored
  return { ...stored, item: JSON.parse(item), steps: steps === null ? null : JSON.parse(steps) }
}

/**
 * Explains a line or an adjustment by its id.
 *
 * @throws ApiError `not_found`
 */
export async function explainById(
  reader: LineReader,
  id: string,
): Promise<AdjustmentExplanation | (Explanation & { id: string })> {
  const found = await findLine(reader, id)
  const { item, steps, affiliate_id, plan, period, currency, status } = found
  const head = { id, affiliate_id, plan, period, currency }
  if ('of' in item) {
    const { of, amount, causes, causes_total } = item
    const approved = await approvedOf(reader, found, item)
    const now = steps?.line ? { line: steps.line, steps: steps.steps } : null
    return { ...head, of, approved, now, amount, causes, causes_total }
  }
  const { id: _, ...line } = item
  const corrections =
    status === 'draft' ? [] : await correctionsFor(reader, { affiliate_id, plan, period, line: id })
  return { ...head, line, steps: steps?.steps ?? [], corrections }
}

/**
 * Returns what was approved of a line before an adjustment of it; of an adjustment that restores what a statement dropped,
 * how much that is and what is left of it.
 */
async function approvedOf(
  { grant, session }: LineReader,
  { affiliate_id, plan, period }: FoundItem,
  { of, amount: own }: Adjustment,
): Promise<AdjustmentExplanation['approved']> {
  const { account } = grant
  const restores = of.dropped_in
  const place = { affiliate_id, plan, line: of.line, period: restores ?? of.period }
  const statement = await statementId(affiliate_id, plan, place.period)
  const [amount, corrections] = await Promise.all([
    of.line === null
      ? findDropped(session, account, statement)
      : findItem(session, account, statement, of.line).then(amountOf),
    correctionsFor({ grant, session }, place),
  ])
  const earlier = corrections.filter((one) => one.period < period)
  const digits = own.split('.')[1]?.length ?? 0
  const before = sum(earlier.map((one) => decimal(one.amount)))
  const total = (restores === null ? add : subtract)(decimal(amount ?? '0'), before)
  return { statement, amount, earlier, total: fixedText(total, digits) }
}

const amountOf = (stored: StoredItem | null): string | null => {
  const line: LineJson | null = stored?.item ? JSON.parse(stored.item) : null
  return line?.amount ?? null
}

/** Returns the corrections of a line that the caller may see, in order of their periods. */
const correctionsFor = async (
  { grant, session }: AccountReader,
  place: CorrectedPlace,
): Promise<Correction[]> =>
  (await readCorrections(session, grant.account, place)).filter(({ status }) =>
    maySee(grant, place.affiliate_id, status),
  )
