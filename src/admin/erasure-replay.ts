import { Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { withObjectRetry } from '../auth/object-retry.ts'
import { withinJurisdiction } from '../auth/placement.ts'
import { resolveDatabase } from '../db/database.ts'
import { findAccount, listAccounts } from '../db/directory/accounts.ts'
import { withAudit } from '../db/directory/audit.ts'
import { bumpVersion } from '../db/directory/credentials.ts'
import { erasePersonalData } from '../db/records/erasure.ts'
import { withD1Retry } from '../db/retry.ts'
import type { Account } from '../db/schema.ts'
import { invalidQuery, readQuery } from '../http/query.ts'
import { signText, verifyText } from '../http/sign-text.ts'
import { quote } from '../validation/quote.ts'
import { isBrand } from './erased-activities.ts'
import { propagateSettings } from './propagate.ts'

/** The maximum number of journal pages that one request reads. Each account takes at least one page. */
const PAGES_PER_REQUEST = 10
const ERASURES_PER_PAGE = 500

/** How far a replay is: the last account that is done, and the one that is begun. */
interface Position {
  done: string | null
  begun: { account: string; lastCustomer: string } | null
}

const START: Position = { done: null, begun: null }

/**
 * `POST replay`, to be called after a database was restored to an earlier time: repeats the erasures of
 * the journal, and propagates the restored settings to all tokens. One request does a bounded part;
 * `next` is the `cursor` of the following one, or null at the end. `account` limits it to one account.
 */
export const erasureReplay = new Hono<AppEnv>().post('/replay', async (c) => {
  const { account, cursor } = readQuery(c.req.url, 'account', 'cursor')
  const only = account === undefined ? null : await findAccount(c.env.DB, account)
  if (account !== undefined && !only) throw invalidQuery(`There is no account ${quote(account)}.`)
  const context = JSON.stringify(['erasures/replay', account ?? null])
  const from = cursor === undefined ? START : await readCursor(c.env, context, cursor)
  const { erased, position } = await replay(c.env, c.var.actor, only, from)
  const next = position && (await signText(c.env, context, JSON.stringify(position)))
  return c.json({ erased, next })
})

/** @throws ApiError `invalid_query` */
async function readCursor(env: Env, context: string, cursor: string): Promise<Position> {
  const text = await verifyText(env, context, cursor)
  if (text !== null) return JSON.parse(text)
  throw invalidQuery('`cursor` was not issued by a replay with this query.')
}

/** Replays from a position on. Returns the position of the next request, null at the end. */
async function replay(env: Env, actor: string, only: Account | null, from: Position) {
  const accounts = await nextAccounts(env.DB, only, from)
  let position = from
  let erased = 0
  let pages = 0
  for (const account of accounts.data) {
    const { begun } = position
    let lastCustomer = begun?.account === account.id ? begun.lastCustomer : null
    do {
      if (pages === PAGES_PER_REQUEST) return { erased, position }
      pages += 1
      const page = await replayPage(env, actor, account, lastCustomer)
      erased += page.erased
      lastCustomer = page.last
      if (lastCustomer !== null)
        position = { ...position, begun: { account: account.id, lastCustomer } }
    } while (lastCustomer !== null)
    await withD1Retry(() => bumpVersion(env.DB, account.id).run())
    // The database at the earlier time may have reopened a credential that has ended since.
    await propagateSettings(env, account.id, 'all')
    position = { done: account.id, begun: null }
  }
  return { erased, position: accounts.last === null ? null : position }
}

/** Returns the next accounts after a position, or only one account. */
async function nextAccounts(db: D1Database, only: Account | null, { done }: Position) {
  if (only) return { data: [only], last: null }
  const after = done === null ? null : [done]
  return listAccounts(db, { number: 1, size: PAGES_PER_REQUEST, after })
}

/** Repeats the next erasures of one account. Returns the last customer, null if there are no more. */
async function replayPage(env: Env, actor: string, account: Account, after: string | null) {
  const { id, binding, vertical } = account
  const erasures = await withObjectRetry(() =>
    withinJurisdiction(env.ERASURE_JOURNAL, account).getByName(id).after(after, ERASURES_PER_PAGE),
  )
  if (erasures.length > 0) {
    const db = resolveDatabase(env, binding)
    const details = { customers: erasures.length }
    const entry = { actor, action: 'erasures.replay', account: id, details }
    const scope = { isBrand: isBrand(vertical), isRepeated: true }
    await withAudit(db, entry, erasePersonalData(db, id, erasures, scope))
  }
  const isLast = erasures.length < ERASURES_PER_PAGE
  return { erased: erasures.length, last: isLast ? null : (erasures.at(-1)?.customer_id ?? null) }
}
