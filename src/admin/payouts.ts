import { type Context, Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { digest } from '../auth/secret.ts'
import { type AffiliateHolds, readHolds, sumByCurrency } from '../commission/books/holds.ts'
import { BOOK_LIMITS } from '../commission/books/limits.ts'
import { fromUnits, moneyText } from '../commission/books/money.ts'
import { importPayments, parsePaymentFile, parsePayments } from '../commission/books/payments.ts'
import { writeCsv } from '../commission/csv.ts'
import { add, decimal, subtract, ZERO } from '../commission/engine/decimal.ts'
import {
  type DueFilter,
  type DuePayout,
  listDue,
  listPayments,
  type Payment,
  type PaymentFilter,
} from '../db/commission/books/pay.ts'
import {
  type RefusalCorrection,
  readRefusalCorrections,
} from '../db/commission/books/stored-items.ts'
import { resolveDatabase } from '../db/database.ts'
import type { Count, FoundPage, Page } from '../db/paginate.ts'
import type { Account } from '../db/schema.ts'
import { readCsvBody, unsupportedType } from '../http/body.ts'
import { ReadMemory } from '../http/memory.ts'
import { linkNext, PAGE_PARAMETERS, readPage, respondWithPage } from '../http/pagination.ts'
import { checkDay, invalidQuery, readChoice, readDays, readQuery } from '../http/query.ts'
import { sendText } from '../http/send.ts'
import { findRouteAccount } from './accounts.ts'
import { readJson, validationFailed } from './body.ts'
import { sendCaused } from './send-caused.ts'

/** The columns of what has to be paid. `paid_on` is empty: filled in, the file books the payments. */
const DUE_COLUMNS = [
  'affiliate_id',
  'currency',
  'amount',
  'statements',
  'payable_on',
  'reference',
  'paid_on',
] as const

/** The columns of payments. `returned_on` and `reason` filled in, the file books what came back. */
const PAID_COLUMNS = [
  'affiliate_id',
  'currency',
  'amount',
  'statements',
  'paid_on',
  'reference',
  'returned_on',
  'reason',
] as const

/** The parameters that narrow the list. */
const FILTERS = ['status', 'affiliate_id', 'payable_on', 'from', 'to'] as const

/** Which rows the list has; null does not narrow it. */
type PayoutFilter = { readonly status: string } & DueFilter & PaymentFilter

/** Routes for what has to be paid, and what was. */
export const payouts = new Hono<AppEnv>()
  .get('/', async (c) => {
    const {
      status = 'approved',
      affiliate_id = null,
      payable_on = null,
      from = null,
      to = null,
      ...query
    } = readQuery(c.req.url, ...PAGE_PARAMETERS, ...FILTERS)
    const filter = { status, affiliate_id, payable_on, from, to }
    const account = await findRouteAccount(c)
    const context = JSON.stringify([account.id, 'payouts', ...Object.values(filter)])
    const read = (page: Page) => readPayouts(c, account, filter, page)
    if (wantsCsv(c) && Object.keys(query).length === 0) {
      return sendRows(c, status, await readAll(read))
    }
    const page = await readPage(c.env, context, query)
    const found = await read(page)
    if (!wantsCsv(c)) return respondWithPage(c, context, page, found)
    await linkNext(c, context, page, found)
    return sendRows(c, status, found.data)
  })

  .post('/', async (c) => {
    readQuery(c.req.url)
    const account = await findRouteAccount(c)
    const { payments, issues } = await readPayments(c)
    if (issues.length > 0) throw validationFailed(issues)
    const db = resolveDatabase(c.env, account.binding)
    const request = { actor: c.var.actor, now: Date.now() }
    const imported = await importPayments(db, account.id, payments, request)
    sendCaused(c, account)
    return c.json(imported)
  })

const wantsCsv = (c: Context) => /\btext\/csv\b/i.test(c.req.header('Accept') ?? '')

/**
 * Reads the payments of a body, JSON or CSV.
 *
 * @throws ApiError `unsupported_media_type` and the other errors of a body.
 */
async function readPayments(c: Context<AppEnv>) {
  const [type = ''] = (c.req.header('Content-Type') ?? '').split(';')
  switch (type.trim().toLowerCase()) {
    case 'text/csv':
      return parsePaymentFile(await readCsvText(c))
    case 'application/json':
      return parsePayments(await readJson(c))
    default:
      throw unsupportedType('application/json', 'text/csv')
  }
}

async function readCsvText(c: Context): Promise<string> {
  const { takeText, release } = await readCsvBody(c.req.raw, Promise.resolve({ account: '' }))
  try {
    return takeText()
  } finally {
    release()
  }
}

/** Responds with rows as CSV. What is held is left out, and named by headers. */
function sendRows(c: Context, status: string, data: readonly PayoutRow[]): Promise<Response> {
  const columns = status === 'paid' ? PAID_COLUMNS : DUE_COLUMNS
  const rows = data
    .filter(({ statements }) => statements > 0)
    .map((row) => columns.map((name) => String(Reflect.get(row, name) ?? '')))
  const headers = { 'Content-Type': 'text/csv; charset=utf-8', ...headersOfHeld(data) }
  return sendText(c, writeCsv([columns, ...rows]), headers, new ReadMemory('the team'))
}

/** Returns how many payouts are held, and how much of each currency; nothing if none is. */
function headersOfHeld(data: readonly PayoutRow[]): Record<string, string> {
  const held = data.flatMap(({ currency, amount_held = '0' }) =>
    /[1-9]/.test(amount_held) ? [{ currency, payable: amount_held }] : [],
  )
  if (held.length === 0) return {}
  const sums = sumByCurrency(held).map(({ currency, amount }) => `${amount} ${currency}`)
  return { 'Payouts-Held': String(held.length), 'Payouts-Held-Amount': sums.join(', ') }
}

/** A row of the list. */
interface PayoutRow {
  readonly currency: string
  /** The number of the statements that it pays. */
  readonly statements: number
  /** What cases hold; absent of payments. */
  readonly amount_held?: string
}

/** The rows that `readAll` reads at once. */
const ROWS_AT_ONCE = 500

/**
 * Reads all rows, page by page.
 *
 * @throws ApiError `invalid_query` if they have too many statements for one response.
 */
async function readAll(
  read: (page: Page) => Promise<FoundPage<PayoutRow>>,
): Promise<readonly PayoutRow[]> {
  const rows: PayoutRow[] = []
  let statements = 0
  let counted: Count | null = null
  for (let number = 1, after: Page['after'] = null; ; number++) {
    const found = await read({ number, size: ROWS_AT_ONCE, after, counted })
    rows.push(...found.data)
    statements += found.data.reduce((sum, row) => sum + row.statements, 0)
    if (statements > BOOK_LIMITS.due) throw tooManyRows()
    if (!found.last) return rows
    after = found.last
    counted = { total: found.total, isLimited: found.isLimited }
  }
}

const tooManyRows = () =>
  invalidQuery(
    `The rows have more than ${BOOK_LIMITS.due.toLocaleString('en')} statements, too many for one CSV. Read it page by page: send \`per_page\`, and follow the \`Link\` header.`,
  )

/** Reads a page of what has to be paid, or of payments. */
async function readPayouts(
  c: Context<AppEnv>,
  { id, binding }: Account,
  { status, affiliate_id, payable_on, from, to }: PayoutFilter,
  page: Page,
): Promise<FoundPage<PayoutRow>> {
  const db = resolveDatabase(c.env, binding)
  if (status === 'paid') {
    if (payable_on !== null) throw invalidQuery('`payable_on` narrows `status=approved` only.')
    readDays({ ...(from !== null && { from }), ...(to !== null && { to }) })
    const found = await listPayments(db, id, { affiliate_id, from, to }, page)
    return { ...found, data: found.data.map(presentPayment) }
  }
  readChoice('status', status, ['approved', 'paid'])
  if (from !== null || to !== null) {
    throw invalidQuery('`from` and `to` narrow `status=paid` only.')
  }
  if (payable_on !== null) checkDay('payable_on', payable_on)
  const found = await listDue(db, id, { affiliate_id, payable_on }, page)
  const affiliates = [...new Set(found.data.map(({ affiliate_id }) => affiliate_id))]
  const [holds, corrections] = await Promise.all([
    readHolds(db, id, affiliates),
    readRefusalCorrections(db, id, affiliates),
  ])
  const byAffiliate = Map.groupBy(corrections, ({ affiliate_id }) => affiliate_id)
  const data = found.data.map(async (row) => ({
    ...(await presentDue(row, holds.get(row.affiliate_id))),
    taken_back: sumByStatement(byAffiliate.get(row.affiliate_id) ?? [], row.currency),
  }))
  return { ...found, data: await Promise.all(data) }
}

/** Returns what each draft in a currency corrects because customers were refused. */
const sumByStatement = (corrections: readonly RefusalCorrection[], currency: string) =>
  [
    ...Map.groupBy(
      corrections.filter((one) => one.currency === currency),
      ({ statement }) => statement,
    ),
  ].map(([statement, own]) => ({
    statement,
    period: own[0]?.period ?? '',
    amount: moneyText(
      own.reduce((sum, { amount }) => add(sum, decimal(amount)), ZERO),
      currency,
    ),
  }))

/** Returns a payment as lists show it. */
export const presentPayment = ({ statements, ...payment }: Payment) => ({
  ...payment,
  statements: (JSON.parse(statements) as string[]).length,
})

/** The hexadecimal digits of a proposed reference. */
const REFERENCE_DIGITS = 20

/**
 * Presents what has to be paid, and what of it is held. The reference follows from the statements that can be
 * paid, so it is the same each time.
 */
async function presentDue(row: DuePayout, holds: AffiliateHolds | undefined) {
  const { affiliate_id, currency } = row
  const all: { id: string; text: string }[] = (JSON.parse(row.ids) as string[]).map((text) => ({
    id: text.split(' ')[0] ?? text,
    text,
  }))
  const ids = new Set(all.map(({ id }) => id))
  const held = (holds?.held ?? []).filter(({ id }) => ids.has(id))
  const cases = held.length > 0 ? (holds?.cases ?? []) : []
  const heldIds = new Set(held.map(({ id }) => id))
  const free = all.filter(({ id }) => !heldIds.has(id))
  const [sum] = sumByCurrency(held)
  const amountHeld = sum?.amount ?? moneyText(ZERO, currency)
  const payableOn = (holds?.due ?? [])
    .filter(({ id }) => ids.has(id) && !heldIds.has(id))
    .map(({ payable_on }) => payable_on)
    .sort()
    .at(-1)
  const statements = free.map(({ text }) => text).sort()
  const digits = await digest(JSON.stringify(statements))
  return {
    affiliate_id,
    currency,
    amount: moneyText(subtract(fromUnits(row.units, currency), decimal(amountHeld)), currency),
    statements: statements.length,
    payable_on: payableOn ?? row.payable_on,
    reference: statements.length > 0 ? `pay_${digits.slice(0, REFERENCE_DIGITS)}` : null,
    amount_held: amountHeld,
    statements_held: held.length,
    held_by: cases.map(({ id }) => id),
    ended_holds: cases.filter(({ has_ended }) => has_ended === 1).map(({ id }) => id),
  }
}
