import type { Context } from 'hono'
import type { AppEnv } from '../../auth/authorize.ts'
import { oncePerRequest } from '../../http/once-per-request.ts'
import { type AccountBooks, readBooks } from '../drafts/books.ts'
import type { Computation } from '../drafts/computation.ts'
import { openComputation, settleAffiliates } from '../drafts/compute.ts'
import { lineIds } from '../drafts/ids.ts'
import { MAX_FRESH_FACTS } from '../drafts/limits.ts'
import { readStored } from '../drafts/on-request.ts'
import { findRange } from '../drafts/range.ts'
import { viewOf } from '../drafts/rate-views.ts'
import type { ExplainContext, ExplainedLine } from '../engine/explain-input.ts'
import { findLinePlace, type LineHint, type LinePlace, type Reading } from './find-line.ts'

/** A line as it is computed now, with all that its explanation reads. */
export interface FoundLine extends ExplainedLine {
  readonly context: ExplainContext
}

/** A line, and the computation with the rates that its period sees. */
export interface ComputedLine {
  readonly computation: Computation
  readonly found: FoundLine
}

/** A line that was found, with the account in which it stands. */
export interface OpenedLine {
  readonly place: LinePlace
  readonly source: Computation['source']
  /** Null: its statement has no such line any more. */
  readonly computed: ComputedLine | null
}

/** A reader of lines. */
export interface LineReading extends Reading {
  /** Finds a line by its id, or if it is not stored by a hint, and computes its statement. */
  readonly open: (id: string, hint: LineHint) => Promise<OpenedLine>
}

/** Returns a reader of lines. The explanation of a line and its parts are computed together. */
export const lineReading = (c: Context<AppEnv>, reader: Reading): LineReading => ({
  ...reader,
  open(id, { affiliate_id, period }) {
    const key = JSON.stringify(['line', reader.grant.account, id, affiliate_id, period])
    return oncePerRequest(c, key, () => findAndCompute(c.env, reader, id, { affiliate_id, period }))
  },
})

async function findAndCompute(
  env: Env,
  { grant, session }: Reading,
  id: string,
  hint: LineHint,
): Promise<OpenedLine> {
  const [place, { source, beginnings }] = await Promise.all([
    findLinePlace(session, grant.account, id, hint),
    readStored(env, grant, session),
  ])
  const { period, affiliate_id } = place
  const [computation, books] = await Promise.all([
    openComputation(source, period, null, beginnings),
    readBooks(source, findRange(source, period, beginnings), [affiliate_id]),
  ])
  return { place, source, computed: await computeLine(computation, books, place) }
}

/** Computes the statement of a line and finds the line in it; returns null if it has none any more. */
async function computeLine(
  computation: Computation,
  books: AccountBooks,
  { id, statement, affiliate_id, plan, period }: LinePlace,
): Promise<ComputedLine | null> {
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
  if (!result || !line) return null
  const found = { result, line, context: { ...view.context, period, settlement } }
  return { computation: view, found }
}
