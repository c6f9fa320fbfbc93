import type { Context } from 'hono'
import * as v from 'valibot'
import { digest } from '../auth/secret.ts'
import { listedDay, listedPayment, listedReturn } from '../commission/books/book-fields.ts'
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
import { returnedPayment } from '../commission/statements/answers.ts'
import {
  type DueItem,
  type DuePayout,
  listDue,
  listPayments,
  type Payment,
} from '../db/commission/books/pay.ts'
import {
  type RefusalCorrection,
  readRefusalCorrections,
} from '../db/commission/books/stored-items.ts'
import { type OpenCase, readOpenCases } from '../db/fraud/cases.ts'
import type { Count, FoundPage, Page } from '../db/paginate.ts'
import {
  type Answer,
  accountOperation,
  pageOfList,
  type Read,
  type ReadCall,
  readList,
} from '../http/operation.ts'
import { linkNext, type PageQuery } from '../http/pagination.ts'
import { invalidQuery, readDays } from '../http/query.ts'
import { validationFailed } from '../http/read-fields.ts'
import { sendText } from '../http/send.ts'
import { count, day, money, time } from '../validation/answer-fields.ts'
import { described, named } from '../validation/described.ts'
import * as f from '../validation/fields.ts'
import { member, said } from '../validation/fields.ts'
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

const returned = described(() =>
  member(
    v.array(returnedPayment),
    'The payments of its statements that came back. They are due again.',
  ),
)

const statements = described(() => member(count, 'The number of statements that it pays.'))

const statements_held = described(() => member(count, 'The number of statements that are held.'))

const dueDay = described(() =>
  v.object({
    payable_on: member(day, 'The day.'),
    amount: member(money, 'What is due on it, without what is held.'),
    statements,
    reference: v.nullable(
      member(
        v.string(),
        'The reference, if this day is paid by itself. Null if all of it is held.',
      ),
    ),
    amount_held: member(money, 'What is held of it.'),
    statements_held,
    returned,
  }),
)

const openCase = described(() =>
  v.object({
    case_id: member(v.string(), 'The id of the case.'),
    name: member(v.string(), 'The name of its rule.'),
    severity: member(v.picklist(['low', 'medium', 'high']), 'How severe its rule calls it.'),
    sentence: member(v.string(), 'What it found.'),
  }),
)

const takenBack = described(() =>
  v.object({
    statement: member(v.string(), 'The id of the draft.'),
    period: member(v.string(), 'Its period.'),
    amount: member(money, 'The sum of these corrections, less than 0.'),
  }),
)

/** The members that only what has to be paid has. */
const dueMembers = described(() =>
  v.object({
    payable_on: v.exactOptional(member(day, 'The first day on which all of them are payable.')),
    due_days: v.exactOptional(
      member(
        v.array(dueDay),
        'The same by the day from which statements are payable, the earliest first. The CSV has a row for each.',
      ),
    ),
    amount_held: v.exactOptional(
      member(money, 'What cases of the fraud review hold of a payout that is due.'),
    ),
    statements_held: v.exactOptional(statements_held),
    status: v.exactOptional(
      member(
        v.picklist(['active', 'suspended']),
        'The status of the affiliate. One that is suspended earns on.',
      ),
    ),
    returned: v.exactOptional(returned),
    held_by: v.exactOptional(
      member(v.array(v.string()), 'The ids of the cases that hold it. Empty if nothing is held.'),
    ),
    open_cases: v.exactOptional(
      member(
        v.array(openCase),
        'The open cases of the affiliate, at most 3, that hold none of it: the most severe first, of these the latest.',
      ),
    ),
    taken_back: v.exactOptional(
      member(
        v.array(takenBack),
        'What drafts correct because customers were refused after their commission was approved: it stays payable until the statement with the correction is approved.',
      ),
    ),
  }),
)

/** The members that only payments have. */
const paidMembers = described(() =>
  v.object({
    paid_on: v.exactOptional(member(day, 'When they were paid.')),
    actor: v.exactOptional(member(v.string(), 'The member of the integrations team.')),
    at: v.exactOptional(member(time, 'When the payment was booked.')),
    return_reference: v.exactOptional(
      v.nullable(
        member(
          v.string(),
          'The reference of the return of the payment. Null if it did not come back.',
        ),
      ),
    ),
    returned_on: v.exactOptional(v.nullable(member(day, 'When the payment came back, or null.'))),
    reason: v.exactOptional(v.nullable(member(v.string(), 'Why it came back, or null.'))),
  }),
)

const payout = described(() =>
  named(
    'Payout',
    v.object({
      affiliate_id: member(v.string(), 'The affiliate.'),
      currency: member(v.string(), 'An ISO 4217 code.'),
      amount: member(money, 'The amount. Of a payout that is due, without what is held.'),
      statements,
      reference: v.nullable(
        member(
          v.string(),
          'The reference of the payment. Of a payout that is due, it is derived from its statements: use it when you pay. Null if all of it is held.',
        ),
      ),
      ...dueMembers.entries,
      ...paidMembers.entries,
    }),
  ),
)

/** A row of the list. */
type PayoutRow = Answer<typeof payout>

/** The parameters that narrow the list. */
const filters = {
  status: v.optional(
    member(
      v.picklist(['approved', 'paid']),
      said(
        '`approved` lists what is due, `paid` what was paid. Defaults to `approved`.',
        'paid' as const,
      ),
    ),
  ),
  affiliate_id: v.optional(member(v.string(), said('Only those of this affiliate.', 'IB-07'))),
  payable_on: v.optional(member(f.day, said('Only what is payable by this day.', '2026-11-15'))),
  from: v.optional(
    member(
      f.day,
      said('With `status=paid`: only what was paid on or after this day.', '2026-11-01'),
    ),
  ),
  to: v.optional(
    member(
      f.day,
      said('With `status=paid`: only what was paid on or before this day.', '2026-11-30'),
    ),
  ),
  returned: v.optional(
    member(
      v.picklist(['true']),
      said('Only payouts of which a payment came back.', 'true' as const),
    ),
  ),
}

/** Which rows the list has. */
type PayoutFilter = Read<typeof filters>

export const listPayouts = readList({
  topic: 'statements',
  id: 'listPayouts',
  path: '/payouts',
  params: filters,
  words: described(() => ({
    description:
      'Returns one row for each affiliate and currency with what approved statements have to pay, or, with `status=paid`, the payments, the latest day first. Cases of the fraud review hold payouts: `amount` is without what they hold. A case that holds a part holds the latest statements, as few as reach its part of all that was payable since it opened. `Accept: text/csv` returns all rows as one CSV, with a row for each due day, of at most 20,000 statements, or with a paging parameter one page. It leaves out what is held.',
    answer: payout,
    files: {
      'text/csv': {
        example: `${DUE_COLUMNS.join()}\r\nIB-07,EUR,240.50,1,2026-11-14,pay_2c8f1e0a94b7d36518fa,active,,,\r\n`,
        headers: ['Payouts-Held', 'Payouts-Held-Amount'],
      },
    },
    command: {
      name: 'payouts list',
      columns: [
        ...['affiliate_id', 'currency', 'amount', 'payable_on', 'paid_on', 'reference', 'status'],
        ...['amount_held', 'held_by', 'returned_on', 'reason'],
      ],
    },
  })),
  list: readPayouts,
  files: {
    'text/csv': async (c, call, sent) => {
      const { context, page, filter } = await pageOfList(call, listPayouts, sent)
      const read = (one: Page) => readPayouts(call, filter, one)
      const { page: number, per_page, cursor } = sent as PageQuery
      if ((number ?? per_page ?? cursor) === undefined)
        return sendRows(c, filter, call, await readAll(read))
      const found = await read(page)
      await linkNext(c, context, page, found)
      return sendRows(c, filter, call, found.data)
    },
  },
})

export const importPayouts = accountOperation({
  topic: 'statements',
  id: 'importPayouts',
  method: 'POST',
  path: '/payouts',
  whole: true,
  body: {
    payments: v.optional(
      v.pipe(
        v.array(v.strictObject({ ...listedPayment, ...listedDay, ...listedReturn })),
        v.minLength(1),
        v.maxLength(BOOK_LIMITS.payments),
      ),
    ),
    csv: v.optional(
      member(
        v.string(),
        said(
          'CSV with a row of column names: `affiliate_id`, `currency`, `amount`, `reference`, `paid_on` in any order, and `returned_on` and `reason` of payments that came back. `statements` and `payable_on` are ignored.',
        ),
      ),
    ),
  },
  words: described(() => ({
    description: `Books 1 to ${BOOK_LIMITS.payments.toLocaleString('en')} payments, all or none. Each pays the oldest approved statements of its affiliate and currency, each as a whole: its amount must be the sum of the first of them, or of the first of those that are payable from its \`payable_on\` on. Payments that are booked already are left as they are. \`returned_on\` and \`reason\` mark a booked payment that came back: its statements are due again, and can be paid by a later request. What a case of the fraud review holds cannot be paid in this way.`,
    answer: named(
      'ImportedPayments',
      v.object({
        received: member(count, 'The payments of the request.'),
        paid: member(count, 'Those that were booked.'),
        returned: member(count, 'Those that came back.'),
        unchanged: member(count, 'Those that were booked before.'),
        statements: member(count, 'The statements that are paid now, or due again.'),
      }),
    ),
    errors: [
      ...(['amount_differs', 'held_by_case', 'invalid_request', 'nothing_due'] as const),
      ...(['not_paid', 'reference_used'] as const),
    ],
    command: { name: 'payouts import' },
  })),
  async run(call, { payments: listed, csv }) {
    const { payments, issues } = csv === undefined ? parsePayments(listed) : parsePaymentFile(csv)
    if (issues.length > 0) throw validationFailed(issues)
    const request = { actor: call.actor, now: Date.now() }
    const imported = await importPayments(call.db, call.account.id, payments, request)
    sendCaused(call, call.account)
    return imported
  },
})

/** Responds with rows as CSV. What is held is left out, and named by headers. */
function sendRows(
  c: Context,
  { status }: PayoutFilter,
  { memory }: ReadCall,
  data: readonly PayoutRow[],
): Promise<Response> {
  const columns = status === 'paid' ? PAID_COLUMNS : DUE_COLUMNS
  const rows = data
    .flatMap((row) => (row.due_days ?? [{}]).map((day) => ({ ...row, ...day })))
    .filter(({ statements }) => statements > 0)
    .map((row) => columns.map((name) => cellOf(Reflect.get(row, name))))
  const headers = { 'Content-Type': 'text/csv; charset=utf-8', ...headersOfHeld(data) }
  return sendText(c, writeCsv([columns, ...rows]), headers, memory)
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
  { session: db, grant: { account: id } }: ReadCall,
  filter: PayoutFilter,
  page: Page,
): Promise<FoundPage<PayoutRow>> {
  const { status, affiliate_id = null, payable_on = null, returned = null, ...ofPayments } = filter
  const { from = null, to = null } = ofPayments
  if (status === 'paid') {
    refuseFilters('approved', { payable_on, returned })
    readDays(ofPayments)
    const paid = { affiliate_id, from, to }
    const found = await listPayments(db, id, paid, page)
    return { ...found, data: found.data.map(presentPayment) }
  }
  refuseFilters('paid', { from, to })
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

/** Throws `invalid_query` if one of these filters is set, which narrow another status only. */
function refuseFilters(status: string, filters: Readonly<Record<string, string | null>>): void {
  for (const [name, value] of Object.entries(filters))
    if (value !== null) throw invalidQuery(`\`${name}\` narrows \`status=${status}\` only.`, name)
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
