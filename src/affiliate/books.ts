import type { Context } from 'hono'
import { presentBalances } from '../admin/ledger.ts'
import { presentPayment } from '../admin/payouts.ts'
import type { AppEnv } from '../auth/authorize.ts'
import { readHolds, sumByCurrency } from '../commission/books/holds.ts'
import { fromUnits, moneyText } from '../commission/books/money.ts'
import { decimal, subtract, ZERO } from '../commission/engine/decimal.ts'
import { compareText } from '../commission/engine/facts.ts'
import {
  type LedgerEntry,
  listLedger,
  readBalances,
  readBalancesAfter,
} from '../db/commission/books/ledger.ts'
import { listPayments } from '../db/commission/books/pay.ts'
import type { Connection } from '../db/database.ts'
import { LIST_ORDERS } from '../db/paginate.ts'
import { ReadMemory } from '../http/memory.ts'
import { linkNext, PAGE_PARAMETERS, pageMeta, readPage } from '../http/pagination.ts'
import { readChoice, readQuery } from '../http/query.ts'
import { withReadSession } from '../http/read-session.ts'
import { sendJson } from '../http/send.ts'
import { type AdmittedAffiliate, callerOf } from './me.ts'

/** Responds with one page of the ledger of the affiliate, and their balance. */
export async function respondWithLedger(c: Context<AppEnv>): Promise<Response> {
  const { order, ...query } = readQuery(c.req.url, ...PAGE_PARAMETERS, 'order')
  const isLatestFirst = readChoice('order', order, LIST_ORDERS) === 'latest'
  const { id, grant } = await callerOf(c)
  const { account } = grant
  const context = JSON.stringify([account, isLatestFirst ? 'latest ledger' : 'ledger', id])
  const page = await readPage(c.env, context, query)
  return withReadSession(c, async ({ session }) => {
    const [found, sums] = await Promise.all([
      listLedger(session, account, id, isLatestFirst, page),
      readBalances(session, account, id),
    ])
    const meta = pageMeta(page, found, await linkNext(c, context, page, found))
    const balances = presentBalances(sums)
    const data = await withBalances(session, account, found.data)
    return sendJson(c, { data, meta, balances }, new ReadMemory(account))
  })
}

/** Returns entries of the ledger of an affiliate, each with the balance of its currency after it. */
async function withBalances(db: Connection, account: string, entries: readonly LedgerEntry[]) {
  const latest = entries.toSorted((a, b) => compareText(b.id, a.id))
  const [first] = latest
  if (!first) return []
  const sums = await readBalancesAfter(db, account, first.affiliate_id, first.id)
  const balances = new Map(
    sums.map(({ currency, units }) => [currency, fromUnits(units, currency)] as const),
  )
  const after = new Map<string, string>()
  for (const { id, currency, amount } of latest) {
    const balance = balances.get(currency) ?? ZERO
    after.set(id, moneyText(balance, currency))
    balances.set(currency, subtract(balance, decimal(amount)))
  }
  return entries.map((entry) => ({ ...entry, balance_after: after.get(entry.id) ?? '0' }))
}

/** Reads what of the payouts of an affiliate is held by currency. */
async function readHeld(db: Connection, { id, grant }: AdmittedAffiliate) {
  const holds = await readHolds(db, grant.account, [id])
  return sumByCurrency(holds.get(id)?.held ?? [])
}

/** Reads what of the payouts of an affiliate is under review by currency, if that is shown. */
export const readUnderReview = async (db: Connection, caller: AdmittedAffiliate) =>
  caller.view.held === 'none' ? [] : readHeld(db, caller)

/** Responds with one page of what was paid to the affiliate, and what is due. */
export async function respondWithPayouts(c: Context<AppEnv>): Promise<Response> {
  const query = readQuery(c.req.url, ...PAGE_PARAMETERS)
  const caller = await callerOf(c)
  const { account } = caller.grant
  const context = JSON.stringify([account, 'payouts', caller.id])
  const page = await readPage(c.env, context, query)
  return withReadSession(c, async ({ session }) => {
    const [found, sums, held] = await Promise.all([
      listPayments(session, account, { affiliate_id: caller.id, from: null, to: null }, page),
      readBalances(session, account, caller.id),
      readHeld(session, caller),
    ])
    // As the payouts of the firm: what is held is not due.
    const heldIn = new Map(held.map(({ currency, amount }) => [currency, decimal(amount)] as const))
    const due = presentBalances(sums)
      .map(({ currency, due: all }) => {
        const free = subtract(decimal(all), heldIn.get(currency) ?? ZERO)
        return { currency, amount: moneyText(free, currency) }
      })
      .filter(({ amount }) => /[1-9]/.test(amount))
    const under_review = caller.view.held === 'none' ? [] : held
    const meta = pageMeta(page, found, await linkNext(c, context, page, found))
    const data = found.data.map(presentPayment)
    return sendJson(c, { data, meta, due, under_review }, new ReadMemory(account))
  })
}
