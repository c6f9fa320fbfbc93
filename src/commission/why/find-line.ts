import { findItem, type StoredItem } from '../../db/commission/books/stored-items.ts'
import type { Connection } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { Reader } from '../../http/read-session.ts'
import { statementId, statementOfLine } from '../drafts/ids.ts'
import { type Period, parsePeriod } from '../engine/calendar.ts'
import type { LineJson } from '../engine/line.ts'
import { readStoredPlans } from '../plans/stored-plans.ts'

/** The account that a request may read, and the database session in which it is read. */
export type AccountReader = Pick<Reader, 'grant' | 'session'>

/** The statement that has a line. */
export interface LinePlace {
  readonly id: string
  readonly statement: string
  readonly affiliate_id: string
  readonly plan: string
  readonly period: Period
  /** When the stored statement was computed; null if it is not stored. */
  readonly computed_at: string | null
  /** The line as stored; null if no statement with it is stored. */
  readonly stored: StoredLine | null
}

/** A line as a stored statement has it. */
export interface StoredLine {
  readonly status: 'draft' | 'approved' | 'paid'
  readonly amount: string
  readonly computed_at: string
  /** The line, without its id. */
  readonly line: LineJson
}

/** The affiliate and period of a line's statement, for a statement that is not stored. */
export interface LineHint {
  readonly affiliate_id?: string | undefined
  readonly period?: string | undefined
}

/** Returns the error of a line or an adjustment whose statement is not stored. */
export const notStored = (noun: 'line' | 'adjustment'): ApiError =>
  new ApiError('not_found', {
    detail: `No stored statement has this ${noun}. A later run may have replaced it: read the statement again. If its statement is not stored, add \`affiliate_id\` and \`period\`.`,
  })

/** A stored statement, and whether it has the requested line or adjustment. */
interface StoredStatement {
  readonly statement: string
  readonly computed_at: string
  readonly hasItem: boolean
}

/** Returns the error of a line or an adjustment that its statement, computed now, does not have. */
export function goneSince(noun: 'line' | 'adjustment', stored: StoredStatement | null): ApiError {
  if (stored === null) {
    const detail = `Computed now, the statement no longer has this ${noun}. Compute it again, and use its new ids.`
    return new ApiError('not_found', { detail })
  }
  const { statement, computed_at, hasItem } = stored
  const detail = hasItem
    ? `Computed now, the statement ${statement} of ${computed_at} no longer has this ${noun}. Read it again after the next run.`
    : `The statement ${statement} was computed again at ${computed_at} and no longer has this ${noun}. Read the statement again.`
  return new ApiError('not_found', { detail })
}

/**
 * Finds the statement of a line: a stored one, or that of the hint's affiliate and period.
 *
 * @throws ApiError `not_found`
 */
export async function findLinePlace(
  db: Connection,
  account: string,
  id: string,
  hint: LineHint,
): Promise<LinePlace> {
  const statement = statementOfLine(id)
  if (statement === null) throw notStored('line')
  const stored = await findItem(db, account, statement, id)
  const found = stored ?? (await matchHint(db, account, statement, hint))
  const period = parsePeriod(found?.period ?? '')
  if (!found || !period) throw notStored('line')
  return {
    id,
    statement,
    affiliate_id: found.affiliate_id,
    plan: found.plan,
    period,
    computed_at: stored?.computed_at ?? null,
    stored: stored && storedLine(stored),
  }
}

/** Returns the error of a line that its statement, computed now, does not have. */
export const lineGone = ({ statement, computed_at, stored }: LinePlace): ApiError =>
  goneSince(
    'line',
    computed_at === null ? null : { statement, computed_at, hasItem: stored !== null },
  )

/** Returns the line of a stored statement; null if the statement has no line with the id. */
export function storedLine({ item, status, computed_at }: StoredItem): StoredLine | null {
  if (item === null) return null
  const { id: _id, ...line } = JSON.parse(item) as LineJson & { id: string }
  return { amount: line.amount, computed_at, status, line }
}

/**
 * Returns the affiliate, plan and period of a statement id: those of the hint, with the plan for which
 * they make this id. Returns null if the hint is incomplete or no plan of the account makes it.
 */
export async function matchHint(
  db: Connection,
  account: string,
  statement: string,
  { affiliate_id, period }: LineHint,
) {
  if (affiliate_id === undefined || period === undefined) return null
  const { versions } = await readStoredPlans(db as D1Database, account)
  for (const plan of new Set(versions.map((one) => one.plan))) {
    if ((await statementId(affiliate_id, plan, period)) === statement) {
      return { affiliate_id, plan, period }
    }
  }
  return null
}
