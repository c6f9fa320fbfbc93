import { type Context, Hono } from 'hono'
import * as v from 'valibot'
import type { AppEnv } from '../auth/authorize.ts'
import { digest } from '../auth/secret.ts'
import { importPayments } from '../commission/books/import-payments.ts'
import { fromUnits, moneyText } from '../commission/books/money.ts'
import { parsePaymentFile, parsePayments } from '../commission/books/parse-payments.ts'
import { writeCsv } from '../commission/csv.ts'
import {
  type DuePayout,
  listDue,
  listPayments,
  type Payment,
} from '../db/commission/books/payouts.ts'
import { resolveDatabase } from '../db/database.ts'
import type { FoundPage, Page } from '../db/paginate.ts'
import type { Account } from '../db/schema.ts'
import { readCsvBody } from '../http/body.ts'
import { linkNext, PAGE_PARAMETERS, readPage, respondWithPage } from '../http/pagination.ts'
import { invalidQuery, readQuery } from '../http/query.ts'
import { day } from '../validation/fields.ts'
import { findRouteAccount } from './accounts.ts'
import { readJson, validationFailed } from './body.ts'

const DUE_COLUMNS = [
  'affiliate_id',
  'currency',
  'amount',
  'statements',
  'payable_on',
  'reference',
] as const

const PAID_COLUMNS = [
  'affiliate_id',
  'currency',
  'amount',
  'statements',
  'paid_on',
  'reference',
] as const

/** Routes for what has to be paid, and what was. */
export const payouts = new Hono<AppEnv>()
  .get('/', async (c) => {
    const {
      status = 'approved',
      payable_on = null,
      ...query
    } = readQuery(c.req.url, ...PAGE_PARAMETERS, 'status', 'payable_on')
    const account = await findRouteAccount(c)
    const context = JSON.stringify([account.id, 'payouts', status, payable_on])
    const page = await readPage(c.env, context, query)
    const found = await readPayouts(c, account, { status, payable_on }, page)
    if (!wantsCsv(c)) return respondWithPage(c, context, page, found)
    await linkNext(c, context, page, found)
    const columns = status === 'paid' ? PAID_COLUMNS : DUE_COLUMNS
    const rows = found.data.map((row) =>
      columns.map((name) => String(Reflect.get(row, name) ?? '')),
    )
    return c.body(writeCsv([columns, ...rows]), 200, { 'Content-Type': 'text/csv; charset=utf-8' })
  })

  .post('/', async (c) => {
    readQuery(c.req.url)
    const { id, binding } = await findRouteAccount(c)
    const { payments, issues } = isCsv(c)
      ? parsePaymentFile(await readCsvText(c))
      : parsePayments(await readJson(c))
    if (issues.length > 0) throw validationFailed(issues)
    const db = resolveDatabase(c.env, binding)
    const request = { actor: c.var.actor, now: Date.now() }
    return c.json(await importPayments(db, id, payments, request))
  })

const wantsCsv = (c: Context) => /\btext\/csv\b/i.test(c.req.header('Accept') ?? '')

const isCsv = (c: Context) => /^text\/csv\b/i.test(c.req.header('Content-Type') ?? '')

async function readCsvText(c: Context): Promise<string> {
  const { takeText, release } = await readCsvBody(c.req.raw, Promise.resolve({ account: '' }))
  try {
    return takeText()
  } finally {
    release()
  }
}

/** Reads a page of what has to be paid, or of payments. */
async function readPayouts(
  c: Context<AppEnv>,
  { id, binding }: Account,
  { status, payable_on }: { status: string; payable_on: string | null },
  page: Page,
): Promise<FoundPage<object>> {
  const db = resolveDatabase(c.env, binding)
  if (status === 'paid') {
    if (payable_on !== null) throw invalidQuery('`payable_on` narrows `status=approved` only.')
    const found = await listPayments(db, id, page)
    return { ...found, data: found.data.map(presentPayment) }
  }
  if (status !== 'approved') throw invalidQuery('`status` must be `approved` or `paid`.')
  if (payable_on !== null && !v.is(day, payable_on)) {
    throw invalidQuery('`payable_on` must be a valid date in the form `YYYY-MM-DD`.')
  }
  const found = await listDue(db, id, payable_on, page)
  return { ...found, data: await Promise.all(found.data.map(presentDue)) }
}

const presentPayment = ({ statements, ...payment }: Payment) => ({
  ...payment,
  statements: (JSON.parse(statements) as string[]).length,
})

/** The hexadecimal digits of a proposed reference. */
const REFERENCE_DIGITS = 20

/** Presents what has to be paid. Its reference follows from the statements, so it is the same each time. */
async function presentDue({ affiliate_id, currency, units, ids, payable_on }: DuePayout) {
  const statements: string[] = JSON.parse(ids)
  const digits = await digest(JSON.stringify(statements.sort()))
  return {
    affiliate_id,
    currency,
    amount: moneyText(fromUnits(units, currency), currency),
    statements: statements.length,
    payable_on,
    reference: `pay_${digits.slice(0, REFERENCE_DIGITS)}`,
  }
}
