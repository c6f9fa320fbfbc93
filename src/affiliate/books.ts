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
import { type PendingStatement, readPendingStatements } from '../db/commission/statements.ts'
import type { Connection } from '../db/database.ts'
import { LIST_ORDERS } from '../db/paginate.ts'
import { ReadMemory } from '../http/memory.ts'
import { linkNext, PAGE_PARAMETERS, pageMeta, readPage } from '../http/pagination.ts'
import { readChoice, readQuery } from '../http/query.ts'
import { withReadSession } from '../http/read-session.ts'
import { sendJson } from '../http/send.ts'
import { todayOf } from '../zone.ts'
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

/** Reads what is approved and waits for its day, and what waits below the minimum, by statement. */
export function readPending(
  session: D1DatabaseSession,
  { id, account, grant, view }: AdmittedAffiliate,
) {
  const filter = { affiliate_id: id, ...(!view.drafts && { isApproved: true as const }) }
  const today = todayOf(account)
  return readPendingStatements(session, grant.account, filter, today)
}

/** Reads which statements of an affiliate are approved, not paid, and held. */
export async function readHeld(db: Connection, { id, grant }: AdmittedAffiliate) {
  const holds = await readHolds(db, grant.account, [id])
  return holds.get(id)?.held ?? []
}

/** What is read of the money of an affiliate that is approved and not paid. */
interface Unpaid {
  readonly sums: Awaited<ReturnType<typeof readBalances>>
  readonly held: Awaited<ReturnType<typeof readHeld>>
  /** Statements whose day has not come. */
  readonly later: readonly PendingStatement[]
}

/**
 * Returns what is due, and what is under review if that is shown. As in the payouts of the firm, what is held is
 * not due. Of what is due, `due_by_day` tells what is due now (`payable_on` is null), and on which later day.
 */
export function presentDue({ view }: AdmittedAffiliate, { sums, held, later }: Unpaid) {
  const isHeld = new Set(held.map(({ id }) => id))
  const review = sumByCurrency(held)
  const due = subtractIn(
    presentBalances(sums).map(({ currency, due: amount }) => ({ currency, amount })),
    review,
  )
  const days = Map.groupBy(
    later.filter(({ statement }) => !isHeld.has(statement)),
    ({ payable_on }) => payable_on,
  )
  const byDay = [...days].sort(([a], [b]) => compareText(a, b))
  const laterIn = sumByCurrency([...days.values()].flat().map(payableOf))
  const due_by_day = [
    ...subtractIn(due, laterIn).map((one) => ({ payable_on: null, ...one })),
    ...byDay.flatMap(([payable_on, own]) =>
      sumByCurrency(own.map(payableOf)).map((one) => ({ payable_on, ...one })),
    ),
  ]
  return { due, due_by_day, under_review: view.held === 'none' ? [] : review }
}

const payableOf = ({ currency, amount }: PendingStatement) => ({ currency, payable: amount })

interface CurrencyAmount {
  readonly currency: string
  readonly amount: string
}

/** Subtracts amounts of the same currency. Returns what is left, without zeros. */
const subtractIn = (from: readonly CurrencyAmount[], taken: readonly CurrencyAmount[]) =>
  from
    .map(({ currency, amount }) => {
      const found = taken.find((one) => one.currency === currency)
      const left = subtract(decimal(amount), found ? decimal(found.amount) : ZERO)
      return { currency, amount: moneyText(left, currency) }
    })
    .filter(({ amount }) => /[1-9]/.test(amount))

/** Responds with one page of what was paid to the affiliate, and what is due. */
export async function respondWithPayouts(c: Context<AppEnv>): Promise<Response> {
  const query = readQuery(c.req.url, ...PAGE_PARAMETERS)
  const caller = await callerOf(c)
  const { account } = caller.grant
  const context = JSON.stringify([account, 'payouts', caller.id])
  const page = await readPage(c.env, context, query)
  return withReadSession(c, async ({ session }) => {
    const [found, sums, held, { hold_period: later }] = await Promise.all([
      listPayments(session, account, { affiliate_id: caller.id, from: null, to: null }, page),
      readBalances(session, account, caller.id),
      readHeld(session, caller),
      readPending(session, caller),
    ])
    const due = presentDue(caller, { sums, held, later })
    const meta = pageMeta(page, found, await linkNext(c, context, page, found))
    const data = found.data.map(presentPayment)
    return sendJson(c, { data, meta, ...due }, new ReadMemory(account))
  })
}
