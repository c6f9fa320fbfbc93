import type { Connection } from '../../db/commission/facts.ts'
import { type FoundStatement, findStatement } from '../../db/commission/statements.ts'
import { ApiError } from '../../errors.ts'
import { readBooks } from '../drafts/books.ts'
import type { Computation } from '../drafts/computation.ts'
import { settleAffiliates } from '../drafts/compute.ts'
import { lineIds, statementId, statementOfLine } from '../drafts/ids.ts'
import { MAX_FRESH_FACTS } from '../drafts/limits.ts'
import { viewOf } from '../drafts/rate-views.ts'
import { type Period, parsePeriod } from '../engine/calendar.ts'
import type { ExplainContext, ExplainedLine } from '../engine/explain-input.ts'
import { readPlanBook } from '../plans/book.ts'

/** Where a line stands. */
export interface LinePlace {
  readonly id: string
  readonly statement: string
  readonly affiliate_id: string
  readonly plan: string
  readonly period: Period
  /** The line in the stored statement; null if it is not stored, or not among its first lines. */
  readonly stored: StoredLine | null
}

/** A line as a stored statement has it. */
export interface StoredLine {
  readonly amount: string
  readonly computed_at: string
}

/** The statement of a line, if it is not stored. */
export interface LineHint {
  readonly affiliate_id?: string | undefined
  readonly period?: string | undefined
}

const noLine = (): ApiError =>
  new ApiError('not_found', {
    detail:
      'No statement has a line with this id as the records are now. The id of a line in a statement that is not stored also needs `affiliate_id` and `period`.',
  })

/** Finds the statement of a line: a stored one, or that of an affiliate and period. */
export async function findLinePlace(
  db: Connection,
  account: string,
  id: string,
  hint: LineHint,
): Promise<LinePlace> {
  const statement = statementOfLine(id)
  if (statement === null) throw noLine()
  const stored = await findStatement(db, account, statement, 1)
  const found = stored ?? (await matchHint(db, account, statement, hint))
  const period = parsePeriod(found?.period ?? '')
  if (!found || !period) throw noLine()
  return {
    ...{ id, statement, affiliate_id: found.affiliate_id, plan: found.plan, period },
    stored: stored && storedLine(stored, id),
  }
}

function storedLine({ lines, computed_at }: FoundStatement, id: string): StoredLine | null {
  const all: { id: string; amount: string }[] = JSON.parse(lines ?? '[]')
  const line = all.find((one) => one.id === id)
  return line ? { amount: line.amount, computed_at } : null
}

/** Returns the plan of the account whose statement has the id. */
async function matchHint(
  db: Connection,
  account: string,
  statement: string,
  { affiliate_id, period }: LineHint,
) {
  if (affiliate_id === undefined || period === undefined) return null
  const { versions } = await readPlanBook(db as D1Database, account)
  for (const plan of new Set(versions.map((one) => one.plan))) {
    if ((await statementId(affiliate_id, plan, period)) === statement) {
      return { affiliate_id, plan, period }
    }
  }
  return null
}

/** A line as it is computed now, with all that its explanation reads. */
export interface FoundLine extends ExplainedLine {
  readonly context: ExplainContext
}

/**
 * Computes the statement of a line and finds the line in it.
 *
 * @throws ApiError `not_found` if the statement has no such line any more.
 */
export async function computeLine(
  computation: Computation,
  { id, statement, affiliate_id, plan, period }: LinePlace,
): Promise<FoundLine> {
  const books = await readBooks(computation.source, computation.range, [affiliate_id])
  const view = await viewOf(computation, books, affiliate_id, plan)
  const settlement = await settleAffiliates(view, [affiliate_id], MAX_FRESH_FACTS, books.booksOf)
  const result = settlement
    .settle(period)
    .find((one) => one.affiliate === affiliate_id && one.plan.plan === plan)
  const lines = result?.lines ?? []
  const keys = lines.map(({ rule, version, scope }) => ({
    ...{ rule: rule.id, version: version.version, scope },
  }))
  const line = lines[(await lineIds(statement, keys)).indexOf(id)]
  if (!result || !line) throw noLine()
  return { result, line, context: { ...view.context, period, settlement } }
}
