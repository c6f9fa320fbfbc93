import type { Context } from 'hono'
import type { AppEnv } from '../../auth/authorize.ts'
import { oncePerRequest } from '../../http/once-per-request.ts'
import { type AccountBooks, readBooks } from '../drafts/books.ts'
import type { Computation } from '../drafts/computation.ts'
import { openComputation, settleAffiliates } from '../drafts/compute.ts'
import { lineIds } from '../drafts/ids.ts'
import { FRESH_LIMITS } from '../drafts/limits.ts'
import { readStored } from '../drafts/on-request.ts'
import { findRange } from '../drafts/range.ts'
import { viewOf } from '../drafts/rate-views.ts'
import type { PlansInForce } from '../engine/plans-in-force.ts'
import { type AccountReader, findLinePlace, type LineHint, type LinePlace } from './find-line.ts'
import { collectParts, type FoundLine, type LineParts, readParts, sumsFacts } from './read-parts.ts'

/** A line of a computed statement. */
export interface ComputedLine {
  /** The computation, with the rates that apply to the line's period. */
  readonly computation: Computation
  readonly found: FoundLine
  /** Returns what each customer adds to the line. Repeated calls read it only once. */
  readonly parts: () => Promise<LineParts>
}

/** The statement that has a line, and the line as it is computed now. */
export interface LocatedLine {
  readonly place: LinePlace
  readonly source: Computation['source']
  /** Null if the statement, computed now, has no such line. */
  readonly computed: ComputedLine | null
}

/** Reads the lines of an account. */
export interface LineReader extends AccountReader {
  /**
   * Finds a line by its id, or by the hint if no stored statement has it, and computes its statement.
   *
   * @throws ApiError `not_found` if neither names a statement.
   */
  readonly computeLine: (id: string, hint: LineHint) => Promise<LocatedLine>
}

/** Returns a reader that computes each line once per request. */
export const lineReader = (c: Context<AppEnv>, reader: AccountReader): LineReader => ({
  ...reader,
  computeLine(id, { affiliate_id, period }) {
    const key = JSON.stringify(['line', reader.grant.account, id, affiliate_id, period])
    return oncePerRequest(c, key, () => locateLine(c.env, reader, id, { affiliate_id, period }))
  },
})

async function locateLine(
  env: Env,
  { grant, session }: AccountReader,
  id: string,
  hint: LineHint,
): Promise<LocatedLine> {
  // Before anything else is read: a request with an unknown id must stay cheap.
  const place = await findLinePlace(session, grant.account, id, hint)
  const { source, beginnings } = await readStored(env, grant, session)
  const { period, affiliate_id } = place
  const [computation, books] = await Promise.all([
    openComputation(source, period, null, beginnings),
    readBooks(source, findRange(source, period, beginnings), [affiliate_id]),
  ])
  return { place, source, computed: await computeStatementOfLine(computation, books, place) }
}

/** Computes the statement of a line and finds the line in it; returns null if it has no such line. */
async function computeStatementOfLine(
  computation: Computation,
  books: AccountBooks,
  place: LinePlace,
): Promise<ComputedLine | null> {
  const { id, statement, affiliate_id, plan, period } = place
  const view = await viewOf(computation, books, affiliate_id, plan)
  const stored = storedLineKey(view.context.inForce, place)
  const collecting = stored && collectParts({ ...view.context, period }, affiliate_id, stored)
  const settlement = await settleAffiliates(
    view,
    [affiliate_id],
    FRESH_LIMITS.facts,
    books.booksOf,
    collecting?.keep,
  )
  const result = settlement
    .settle(period)
    .find((one) => one.affiliate === affiliate_id && one.plan.plan === plan)
  const lines = result?.lines ?? []
  const keys = lines.map(({ rule, version, scope }) => ({
    rule: rule.id,
    version: version.version,
    scope,
  }))
  const line = lines[(await lineIds(statement, keys)).indexOf(id)]
  if (!result || !line) return null
  const found = { result, line, context: { ...view.context, period, settlement } }
  let parts =
    collecting && sumsFacts(line) ? Promise.resolve<LineParts>(collecting.collected) : null
  return { computation: view, found, parts: () => (parts ??= readParts(view, found)) }
}

/** Returns the rule, version and scope of a stored line; null if the line or its rule is not stored. */
function storedLineKey({ plans }: PlansInForce, { plan, stored }: LinePlace) {
  const own = stored?.line
  const version = plans.get(plan)?.versions.find((one) => one.version === own?.version)
  const rule = version?.rules.find((one) => one.id === own?.rule)
  return own && version && rule ? { rule, version, scope: own.scope } : null
}
