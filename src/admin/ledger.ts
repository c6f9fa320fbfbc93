import { type Context, Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { fromUnits, moneyText } from '../commission/books/money.ts'
import { listLedger, readBalances, type SummedUnits } from '../db/commission/books/ledger.ts'
import { resolveDatabase } from '../db/database.ts'
import { unconfiguredAmong } from '../db/directory/affiliates.ts'
import { LIST_ORDERS } from '../db/paginate.ts'
import { PAGE_PARAMETERS, readPage, respondWithPage } from '../http/pagination.ts'
import { checkPercentEncoding, invalidQuery, readChoice, readQuery } from '../http/query.ts'
import { notFound } from '../http/read-fields.ts'
import { findRouteAccount } from './accounts.ts'

/**
 * Returns the affiliate of a request and its other parameters. URL parsers drop the path segments `.`
 * and `..`, so an id can also be sent in the query.
 */
export function readAffiliate(
  c: Context<AppEnv>,
  names: readonly ((typeof PAGE_PARAMETERS)[number] | 'order' | 'keep_keys')[],
) {
  const inPath = c.req.param('affiliate_id')
  checkPercentEncoding(new URL(c.req.url).pathname)
  if (inPath !== undefined) return { affiliate: inPath, query: readQuery(c.req.url, ...names) }
  const { affiliate_id: affiliate, ...query } = readQuery(c.req.url, 'affiliate_id', ...names)
  if (affiliate === undefined) throw invalidQuery('The parameter `affiliate_id` is missing.')
  return { affiliate, query }
}

async function getLedger(c: Context<AppEnv>) {
  const { affiliate, query: sent } = readAffiliate(c, [...PAGE_PARAMETERS, 'order'])
  const { order: orderText, ...query } = sent
  const isLatestFirst = readChoice('order', orderText, LIST_ORDERS) === 'latest'
  const account = await findRouteAccount(c)
  const context = JSON.stringify([
    account.id,
    isLatestFirst ? 'latest ledger' : 'ledger',
    affiliate,
  ])
  const page = await readPage(c.env, context, query)
  const db = resolveDatabase(c.env, account.binding)
  const list = await listLedger(db, account.id, affiliate, isLatestFirst, page)
  return respondWithPage(c, context, page, list)
}

async function getBalance(c: Context<AppEnv>) {
  const { affiliate: affiliate_id } = readAffiliate(c, [])
  const { id, binding } = await findRouteAccount(c)
  const db = resolveDatabase(c.env, binding)
  const sums = await readBalances(db, id, affiliate_id)
  const isUnknown = sums.length === 0 && (await unconfiguredAmong(db, id, [affiliate_id])).size > 0
  if (isUnknown) throw notFound('affiliate', affiliate_id)
  return c.json({ affiliate_id, balances: presentBalances(sums) })
}

/** Returns the sums of an affiliate by currency: what is booked and not paid, and what of it has to be paid. */
export function presentBalances(sums: readonly SummedUnits[]) {
  const currencies = [...new Set(sums.map(({ currency }) => currency))].sort()
  const sumOf = (currency: string, what: string) => {
    const found = sums.find((one) => one.currency === currency && one.what === what)
    return moneyText(fromUnits(found?.units ?? '0', currency), currency)
  }
  return currencies.map((currency) => ({
    currency,
    balance: sumOf(currency, 'balance'),
    due: sumOf(currency, 'due'),
  }))
}

/** Routes for the ledger of an affiliate: its entries, and their sum. */
export const ledger = new Hono<AppEnv>()
for (const path of ['/affiliates/:affiliate_id', '/affiliates'] as const) {
  ledger.get(`${path}/ledger`, getLedger).get(`${path}/balance`, getBalance)
}
