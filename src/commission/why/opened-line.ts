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
import type { Book } from '../engine/book.ts'
import { findLinePlace, type LineHint, type LinePlace, type Reading } from './find-line.ts'
import { collectParts, type FoundLine, type LineParts, readParts, sumsFacts } from './read-parts.ts'

/** A line, and the computation with the rates that its period sees. */
export interface ComputedLine {
  readonly computation: Computation
  readonly found: FoundLine
  /** Returns what each customer adds to the line. It is read once. */
  readonly parts: () => Promise<LineParts>
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
  // First alone: an id that does not exist must not make the account be read.
  const place = await findLinePlace(session, grant.account, id, hint)
  const { source, beginnings } = await readStored(env, grant, session)
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
  place: LinePlace,
): Promise<ComputedLine | null> {
  const { id, statement, affiliate_id, plan, period } = place
  const view = await viewOf(computation, books, affiliate_id, plan)
  const stored = storedKey(view.context.book, place)
  const collecting = stored && collectParts({ ...view.context, period }, affiliate_id, stored)
  const settlement = await settleAffiliates(
    view,
    [affiliate_id],
    MAX_FRESH_FACTS,
    books.booksOf,
    collecting?.keep,
  )
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
  let parts =
    collecting && sumsFacts(line) ? Promise.resolve<LineParts>(collecting.collected) : null
  return { computation: view, found, parts: () => (parts ??= readParts(view, found)) }
}

/** Returns the rule and the scope of a line by what is stored of it; null if nothing is. */
function storedKey({ plans }: Book, { plan, stored }: LinePlace) {
  const own = stored?.line
  const version = plans.get(plan)?.versions.find((one) => one.version === own?.version)
  const rule = version?.rules.find((one) => one.id === own?.rule)
  return own && version && rule ? { rule, version, scope: own.scope } : null
}
