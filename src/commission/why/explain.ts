import { maySee } from '../../auth/grant.ts'
import {
  type CorrectedPlace,
  findItem,
  readCorrections,
  type StoredItem,
} from '../../db/commission/books/stored-items.ts'
import { ApiError } from '../../errors.ts'
import type { ReadCall } from '../../http/operation.ts'
import type { Reader } from '../../http/read-session.ts'
import { parsePeriod } from '../engine/calendar.ts'
import { add, decimal, fixedText } from '../engine/decimal.ts'
import type { LineJson } from '../engine/line-json.ts'
import { readStoredPlans } from '../plans/stored-plans.ts'
import { findCauses } from '../statements/causes.ts'
import { computeAffiliates } from '../statements/compute.ts'
import {
  type Adjustment,
  type StatementLine,
  type StoredSteps,
  toDraft,
} from '../statements/draft.ts'
import { statementId, statementOfLine } from '../statements/ids.ts'
import { FRESH_LIMITS } from '../statements/limits.ts'
import { NARROW, openPeriod, withinLimit } from '../statements/on-request.ts'
import type { AdjustmentExplanation } from './answers.ts'
import type { Correction, Explanation } from './steps.ts'

// Why a line or an adjustment pays what it pays: as the settlement wrote it that made it.

/** What reads lines of an account for a caller. */
export type LineReader = Pick<ReadCall, 'env' | 'grant' | 'session' | 'once'>

/** The account that a request may read, and the database session in which it is read. */
export type AccountReader = Pick<Reader, 'grant' | 'session'>

/** The affiliate and period of a line's statement, for a statement that is not stored. */
export interface LineHint {
  readonly affiliate_id?: string | undefined
  readonly period?: string | undefined
}

/** A line or an adjustment of a statement, and how it came about. */
export interface FoundItem
  extends Pick<StoredItem, 'affiliate_id' | 'plan' | 'period' | 'currency' | 'status'> {
  readonly item: StatementLine | Adjustment
  /** Null for an adjustment whose line is none now. */
  readonly steps: StoredSteps | null
}

/** Returns the error of a line or an adjustment that no statement has. */
const notFound = (): ApiError =>
  new ApiError('not_found', {
    detail:
      'No statement has this line or adjustment. A later run may have replaced it: read the statement again. If its statement is not stored, add `affiliate_id` and `period`.',
  })

/**
 * Finds a line or an adjustment in a stored statement; if none has it, in the statement of the affiliate and period
 * as it is computed now.
 *
 * @throws ApiError `not_found`
 */
export const findLine = (reader: LineReader, id: string, hint: LineHint): Promise<FoundItem> =>
  reader.once(JSON.stringify(['line', reader.grant.account, id, hint]), () =>
    locate(reader, id, hint),
  )

async function locate(reader: LineReader, id: string, hint: LineHint): Promise<FoundItem> {
  const { grant, session } = reader
  const statement = statementOfLine(id)
  if (statement === null) throw notFound()
  const stored = await findItem(session, grant.account, statement, id)
  if (stored && !maySee(grant, stored.affiliate_id, stored.status)) throw notFound()
  if (stored?.item) {
    const { item, steps } = stored
    return { ...stored, item: JSON.parse(item), steps: steps === null ? null : JSON.parse(steps) }
  }
  if (stored && stored.status !== 'draft') throw notFound()
  const place = stored ?? (await matchHint(reader, statement, hint))
  const computed = place && (await computeItem(reader, place, id))
  if (!computed) throw notFound()
  return computed
}

/** What identifies a statement. */
type Place = Pick<StoredItem, 'affiliate_id' | 'plan' | 'period'>

/** Computes a draft as `fresh` does, and returns a line or an adjustment of it; null if it has none with the id. */
async function computeItem(
  { env, grant, session }: LineReader,
  { affiliate_id, plan, period: text }: Place,
  id: string,
): Promise<FoundItem | null> {
  const period = parsePeriod(text)
  if (!period) return null
  const draft = await withinLimit(grant, NARROW, async () => {
    const computation = await openPeriod(env, grant, session, period)
    const computed = await computeAffiliates(computation, [affiliate_id], FRESH_LIMITS.facts)
    const requested = computed.slice(-1)
    const result = requested[0]?.results.find((one) => one.plan.plan === plan)
    if (!result || result.closed) return null
    return toDraft(result, period, await findCauses(computation, requested))
  })
  const item = [...(draft?.lines ?? []), ...(draft?.adjustments ?? [])].find((one) => one.id === id)
  if (!draft || !item) return null
  const { currency } = draft.head
  const steps = draft.stepsOf(id) ?? null
  return { affiliate_id, plan, period: text, currency, status: 'draft', item, steps }
}

/**
 * Returns the affiliate, plan and period of a statement id: those of the hint, with the plan for which
 * they make this id. Returns null if the hint is incomplete or no plan of the account makes it.
 */
async function matchHint(
  { grant, session }: LineReader,
  statement: string,
  { affiliate_id, period }: LineHint,
): Promise<Place | null> {
  if (affiliate_id === undefined || period === undefined) return null
  // A statement that is not stored is a draft.
  if (!maySee(grant, affiliate_id, 'draft')) return null
  const { versions } = await readStoredPlans(session as unknown as D1Database, grant.account)
  for (const plan of new Set(versions.map((one) => one.plan))) {
    if ((await statementId(affiliate_id, plan, period)) === statement) {
      return { affiliate_id, plan, period }
    }
  }
  return null
}

/**
 * Explains a line or an adjustment by its id.
 *
 * @throws ApiError `not_found`
 */
export async function explainById(
  reader: LineReader,
  id: string,
  hint: LineHint,
): Promise<AdjustmentExplanation | (Explanation & { id: string })> {
  const found = await findLine(reader, id, hint)
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

/** Returns what was approved of a line, or of what a period dropped, before an adjustment of it. */
async function approvedOf(
  { grant, session }: LineReader,
  { affiliate_id, plan, period }: FoundItem,
  { of, amount: own }: Adjustment,
): Promise<AdjustmentExplanation['approved']> {
  const statement = await statementId(affiliate_id, plan, of.period)
  const place = { affiliate_id, plan, ...of }
  const [stored, corrections] = await Promise.all([
    findItem(session, grant.account, statement, of.line ?? ''),
    correctionsFor({ grant, session }, place),
  ])
  const amount = of.line === null ? (stored?.dropped ?? null) : amountOf(stored)
  const earlier = corrections.filter((one) => one.period < period)
  const digits = own.split('.')[1]?.length ?? 0
  const total = earlier.reduce((sum, one) => add(sum, decimal(one.amount)), decimal(amount ?? '0'))
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
