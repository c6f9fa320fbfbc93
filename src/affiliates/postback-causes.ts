import { linksOf } from '../attribution/db/links.ts'
import { BOOK_LIMITS } from '../books/limits.ts'
import { wordsFor } from '../commission/run/select-facts.ts'
import { firstIdAt } from '../ingest/delivery-id.ts'
import { accountDatabase, resolveDatabase } from '../platform/db/database.ts'
import { withD1Retry } from '../platform/db/retry.ts'
import type { Account } from '../platform/db/schema.ts'
import { bindStatement, writeBatch } from '../platform/db/statement.ts'
import { ulidPrefix } from '../platform/db/ulid.ts'
import { findAccounts } from '../platform/directory/accounts.ts'
import { readMapping } from '../platform/directory/status-maps.ts'
import { DAY_MS } from '../platform/durations.ts'
import { errorName } from '../platform/errors.ts'
import { type PageJob, pagesOf, sendJobs } from '../platform/jobs.ts'
import { linkAffiliates } from '../reports/db/read-report.ts'
import { queueSoon } from '../webhooks/causes.ts'
import * as rows from './db/postback-causes.ts'

// The causes of postbacks, which a cron reads each minute for the accounts that have any. Nothing is added to
// a delivery, to a run or to an approval: what these store is their trace. `signup` is a customer whom a
// delivery since the last reading has written and whose signup is recent; its affiliate is the one of that day.
// `first_deposit` is the first approved deposit since the signup, of a customer of whom such a delivery has written
// a deposit, or whom it has written: their transactions may have waited for them. `qualified` is a line of a rule
// that pays once, in the statements as the last run has left them, with its corrections. The others are entries of
// the ledger, whose ids begin with their time. A first deposit or a qualification that is no more, or has another
// amount, is taken back: by an event with the negative amount, whose id and `about` are those of the first with `-r`.
// If it comes back, so does its event, with one more `-r`.
// A cause that is read again has an event already. Events are kept for 30 days after the time of their cause, and older
// causes cause none. How far the causes were read is stored when all of their events are.

/** The oldest cause of an event, in milliseconds: before its event expires. */
const RECENT_MS = 28 * DAY_MS

/** How long before the last reading the next one begins, in milliseconds: a transaction may end that late. */
const OVERLAP_MS = BOOK_LIMITS.commitMs

/** How long ago statements were computed of which a period can be recent, in milliseconds. */
const COMPUTED_MS = 70 * DAY_MS

/** Returns what the statements need that read the causes of some affiliates (a JSON array) from `from` on. */
async function queryOf(
  env: Env,
  { id: account, vertical }: Account,
  affiliates: string,
  { now, from }: { readonly now: number; readonly from: number },
): Promise<rows.CauseQuery> {
  const [statusMap, links, ownLinks] = await Promise.all([
    readMapping(env.DB, account),
    vertical === 'igaming' ? linkAffiliates(env.DB, account) : new Map<string, string>(),
    linksOf(env.DB, account, JSON.parse(affiliates)),
  ])
  const since = now - RECENT_MS
  return {
    account,
    now,
    since,
    affiliates,
    unwanted: 0,
    oldest: now - COMPUTED_MS,
    most: rows.CAUSED.most,
    first: firstIdAt(from),
    first_entry: ulidPrefix(Math.max(0, from)),
    since_day: Math.floor(since / DAY_MS) - 1,
    last_day: Math.floor(now / DAY_MS) + 1,
    links: JSON.stringify(Object.fromEntries(links)),
    own_links: JSON.stringify(Object.fromEntries(ownLinks)),
    approved: JSON.stringify(wordsFor(statusMap, ['approved'])),
  }
}

/**
 * Reads the causes of an account since the last reading, and stores and sends their events. If one statement has more
 * than it stores at once, the reading of the next minute has the others.
 */
async function readCauses(env: Env, account: Account, now: number): Promise<void> {
  const db = accountDatabase(env, account)
  const progress = await rows.readProgress(db, { account: account.id, now, overlap: OVERLAP_MS })
  if (!progress) return
  const from = progress.read_to - OVERLAP_MS
  const query = await queryOf(env, account, progress.affiliates, { now, from })
  const statements = [
    rows.STORE_SIGNUPS,
    ...(account.vertical === 'forex' ? [rows.STORE_FIRST_DEPOSITS] : []),
    ...(progress.has_run === 1 ? [rows.STORE_QUALIFIED] : []),
    rows.STORE_BOOKED,
    rows.STORE_RETURNED,
  ]
  const [, ...stored] = await withD1Retry(() =>
    db.batch([rows.KEEP_SUBS, ...statements].map((one) => bindStatement(db, one, { ...query }))),
  )
  const isComplete = stored.every(({ results }) => results.length < query.most)
  if (isComplete) {
    await writeBatch(db, [rows.setProgress(db, account.id, now)])
  }
  if (stored.some(({ results }) => results.length > 0)) {
    await queueSoon(env, account.binding, account.id)
  }
}

/**
 * Stores the customers of an affiliate who have qualified so far as events without a message: a postback that
 * is created or enabled now is not sent what was found before.
 */
export async function skipQualified(
  env: Env,
  account: Account,
  affiliate_id: string,
  now: number,
): Promise<void> {
  const db = accountDatabase(env, account)
  const query = await queryOf(env, account, JSON.stringify([affiliate_id]), { now, from: now })
  const values = { ...query, unwanted: 1 }
  let stored = 0
  do {
    const [found] = await writeBatch<[unknown[]]>(db, [
      bindStatement(db, rows.STORE_QUALIFIED, values),
    ])
    stored = found.length
  } while (stored === query.most)
}

/** The accounts whose causes one message reads. */
const ACCOUNTS = 10

/** Puts a message on the queue for each page of accounts of a database with postbacks. */
export async function queuePostbacks(env: Env, binding: string, at: number): Promise<void> {
  const db = resolveDatabase(env, binding)
  await writeBatch(db, [rows.dropProgress(db)])
  const pages = pagesOf(await rows.accountsWithWants(db), ACCOUNTS)
  await sendJobs(
    env,
    pages.map((accounts) => ({ job: 'postbacks', binding, accounts, at })),
  )
}

/** Reads the causes of some accounts of a database. A failure is logged: the message of the next minute reads again. */
export async function readPostbackCauses(env: Env, job: PageJob<'postbacks'>): Promise<void> {
  // What happens later than by the clock is not read yet.
  const now = Math.min(job.at, Date.now())
  for (const account of await findAccounts(env.DB, job.accounts)) {
    if (account.disabled === 1 || account.binding !== job.binding) continue
    try {
      await readCauses(env, account, now)
    } catch (error) {
      const [fault, delayed] = [errorName(error), 'postbacks']
      console.error(JSON.stringify({ fault, delayed, account: account.id }))
    }
  }
}
