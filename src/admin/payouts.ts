import { type Context, Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { digest } from '../auth/secret.ts'
import {
  type AffiliateHolds,
  readHolds,
  sumByCurrency,
  sumPayable,
} from '../commission/books/holds.ts'
import { BOOK_LIMITS } from '../commission/books/limits.ts'
import { moneyText } from '../commission/books/money.ts'
import { importPayments, parsePaymentFile, parsePayments } from '../commission/books/payments.ts'
import type { ReturnedPayment } from '../commission/books/present.ts'
import { writeCsv } from '../commission/csv.ts'
import { add, decimal, ZERO } from '../commission/engine/decimal.ts'
import { compareText } from '../commission/engine/facts.ts'
import {
  type DueFilter,
  type DueItem,
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
import { type OpenCase, readOpenCases } from '../db/fraud/cases.ts'
import type { Count, FoundPage, Page } from '../db/paginate.ts'
import type { Account } from '../db/schema.ts'
import { readCsvBody, unsupportedType } from '../http/body.ts'
import { ReadMemory } from '../http/memory.ts'
import { linkNext, PAGE_PARAMETERS, readPage, respondWithPage } from '../http/pagination.ts'
import {
  checkDay,
  invalidQuery,
  readChoice,
  readDays,
  readInstant,
  readQuery,
} from '../http/query.ts'
import { readJson, validationFailed } from '../http/read-fields.ts'
import { sendText } from '../http/send.ts'
import { findRouteAccount } from './accounts.ts'
import { sendCaused } from './send-caused.ts'

/**
 * The columns of what has to be paid, with a row for each due day. `paid_on` is empty: filled in, the file books the
 * payments.
 */
const DUE_COLUMNS = [
  'affiliate_id',
  'currency',
  'amount',
  'statements',
  'payable_on',
  'reference',
  'status',
  'returned',
  'open_cases',
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
const FILTERS = [
  ...['status', 'affiliate_id', 'payable_on', 'from', 'to'],
  ...['recorded_since', 'returned_since', 'returned'],
] as const

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
      recorded_since = null,
      returned_since = null,
      returned = null,
      ...query
    } = readQuery(c.req.url, ...PAGE_PARAMETERS, ...FILTERS)
    const due = { affiliate_id, payable_on, returned }
    const filter = { status, ...due, from, to, recorded_since, returned_since }
    const account = await findRouteAccount(c)
    const context = JSON.stringify([account.id, 'payouts', filter])
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
    sendCaused({ env: c.env, waitUntil: (sent) => c.executionCtx.waitUntil(sent) }, account)
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
    .flatMap((row) => (row.due_days ?? [{}]).map((day) => ({ ...row, ...day })))
    .filter(({ statements }) => statements > 0)
    .map((row) => columns.map((name) => cellOf(Reflect.get(row, name))))
  const headers = { 'Content-Type': 'text/csv; charset=utf-8', ...headersOfHeld(data) }
  return sendText(c, writeCsv([columns, ...rows]), headers, new ReadMemory('the team'))
}

/** Returns the text of a cell: of cases their ids, of payments that came back when and why. */
const cellOf = (value: unknown): string =>
  Array.isArray(value)
    ? value.map((one) => one.case_id ?? `${one.returned_on} ${one.reason}`).join(' ')
    : String(value ?? '')

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
  /** Its parts by due day; absent of payments. */
  readonly due_days?: readonly { readonly statements: number }[]
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
  { status, affiliate_id, payable_on, returned, from, to, ...since }: PayoutFilter,
  page: Page,
): Promise<FoundPage<PayoutRow>> {
  const db = resolveDatabase(c.env, binding)
  if (status === 'paid') {
    for (const [name, value] of Object.entries({ payable_on, returned }))
      if (value !== null) throw invalidQuery(`\`${name}\` narrows \`status=approved\` only.`)
    readDays({ ...(from !== null && { from }), ...(to !== null && { to }) })
    const paid = { affiliate_id, from, to, ...instantsOf(since) }
    const found = await listPayments(db, id, paid, page)
    return { ...found, data: found.data.map(presentPayment) }
  }
  readChoice('status', status, ['approved', 'paid'])
  const ofPayments = Object.entries({ from, to, ...since }).filter(([, value]) => value !== null)
  for (const [name] of ofPayments) throw invalidQuery(`\`${name}\` narrows \`status=paid\` only.`)
  if (payable_on !== null) checkDay('payable_on', payable_on)
  readChoice('returned', returned ?? undefined, ['true'])
  const found = await listDue(db, id, { affiliate_id, payable_on, returned }, page)
  const affiliates = [...new Set(found.data.map(({ affiliate_id }) => affiliate_id))]
  const [holds, open, corrections] = await Promise.all([
    readHolds(db, id, affiliates),
    readOpenCases(db, id, affiliates),
    readRefusalCorrections(db, id, affiliates),
  ])
  const byAffiliate = Map.groupBy(corrections, ({ affiliate_id }) => affiliate_id)
  const casesOf = Map.groupBy(open, ({ affiliate_id }) => affiliate_id)
  const data = found.data.map(async (row) => {
    const due = await presentDue(row, holds.get(row.affiliate_id))
    return {
      ...due,
      open_cases: presentOpen(casesOf.get(row.affiliate_id) ?? [], due.held_by),
      taken_back: sumByStatement(byAffiliate.get(row.affiliate_id) ?? [], row.currency),
    }
  })
  return { ...found, data: await Promise.all(data) }
}

/** Returns times of a query as they are stored. Throws `invalid_query`. */
const instantsOf = (sent: Readonly<Record<string, string | null | undefined>>) =>
  Object.fromEntries(
    Object.entries(sent).map(([name, text]) => [
      name,
      text ? new Date(readInstant(name, text)).toISOString() : null,
    ]),
  )

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

/** A statement of a payout, and whether a case holds it. */
interface Item {
  /** The id of the statement, with its payment that came back. */
  readonly text: string
  readonly payable_on: string
  readonly payable: string
  readonly returned: ReturnedPayment | null
  readonly isHeld: boolean
}

/** Adds up what statements pay, what of it is held, and the reference, which follows from those that are free. */
async function presentSums(items: readonly Item[], currency: string) {
  const held = items.filter(({ isHeld }) => isHeld)
  const free = items.filter(({ isHeld }) => !isHeld)
  const sum = (some: readonly Item[]) => moneyText(sumPayable(some), currency)
  const digits = await digest(JSON.stringify(free.map(({ text }) => text).sort()))
  return {
    amount: sum(free),
    statements: free.length,
    reference: free.length > 0 ? `pay_${digits.slice(0, REFERENCE_DIGITS)}` : null,
    amount_held: sum(held),
    statements_held: held.length,
    returned: [
      ...new Map(items.flatMap(({ returned: one }) => (one ? [[one.payment, one]] : []))).values(),
    ],
  }
}

/** Returns the latest of days, if there is one. */
const latestDay = (items: readonly Item[]) =>
  items
    .map(({ payable_on }) => payable_on)
    .sort()
    .at(-1)

/**
 * Presents what has to be paid, what of it is held, and both by due day. The references follow from the statements
 * that can be paid, so they are the same each time.
 */
async function presentDue(row: DuePayout, holds: AffiliateHolds | undefined) {
  const { affiliate_id, currency, status } = row
  const heldIds = new Set(holds?.held.map(({ id }) => id))
  const items = (JSON.parse(row.items) as DueItem[]).map(
    ([text, payable_on, payable, returned]): Item => {
      const isHeld = heldIds.has(text.split(' ')[0] ?? text)
      return { text, payable_on, payable, returned, isHeld }
    },
  )
  const isHeld = items.some((one) => one.isHeld)
  const cases = isHeld ? (holds?.cases ?? []) : []
  const byDay = [...Map.groupBy(items, ({ payable_on }) => payable_on)].sort(([a], [b]) =>
    compareText(a, b),
  )
  const days = byDay.map(async ([payable_on, own]) => ({
    payable_on,
    ...(await presentSums(own, currency)),
  }))
  return {
    affiliate_id,
    currency,
    status,
    ...(await presentSums(items, currency)),
    payable_on: latestDay(items.filter((one) => !one.isHeld)) ?? row.payable_on,
    due_days: await Promise.all(days),
    held_by: cases.map(({ id }) => id),
    ended_holds: cases.filter(({ has_ended }) => has_ended === 1).map(({ id }) => id),
  }
}

/** Presents the open cases of an affiliate that hold none of a payout. */
function presentOpen(open: readonly OpenCase[], held_by: readonly string[]) {
  const others = open.filter(({ id }) => !held_by.includes(id))
  return others.map(({ id, name, severity, sentence }) => ({
    case_id: id,
    name,
    severity,
    sentence,
  }))
}
