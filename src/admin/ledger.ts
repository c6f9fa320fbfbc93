import { Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { fromUnits, moneyText } from '../commission/books/money.ts'
import { listLedger, readBalances } from '../db/commission/books/ledger.ts'
import { resolveDatabase } from '../db/database.ts'
import { PAGE_PARAMETERS, readPage, respondWithPage } from '../http/pagination.ts'
import { readQuery } from '../http/query.ts'
import { findRouteAccount } from './accounts.ts'

/** Routes for the ledger of an affiliate: its entries, and their sum. */
export const ledger = new Hono<AppEnv>()
  .get('/affiliates/:affiliate_id/ledger', async (c) => {
    const query = readQuery(c.req.url, ...PAGE_PARAMETERS)
    const account = await findRouteAccount(c)
    const affiliate = c.req.param('affiliate_id')
    const context = JSON.stringify([account.id, 'ledger', affiliate])
    const page = await readPage(c.env, context, query)
    const db = resolveDatabase(c.env, account.binding)
    return respondWithPage(c, context, page, await listLedger(db, account.id, affiliate, page))
  })

  .get('/affiliates/:affiliate_id/balance', async (c) => {
    readQuery(c.req.url)
    const { id, binding } = await findRouteAccount(c)
    const affiliate_id = c.req.param('affiliate_id')
    const sums = await readBalances(resolveDatabase(c.env, binding), id, affiliate_id)
    const currencies = [...new Set(sums.map(({ currency }) => currency))].sort()
    const sumOf = (currency: string, what: string) => {
      const found = sums.find((one) => one.currency === currency && one.what === what)
      return moneyText(fromUnits(found?.units ?? '0', currency), currency)
    }
    const balances = currencies.map((currency) => ({
      currency,
      balance: sumOf(currency, 'balance'),
      due: sumOf(currency, 'due'),
    }))
    return c.json({ affiliate_id, balances })
  })
