import type { Context } from 'hono'
import * as v from 'valibot'
import { listedPayment } from '../../commission/shapes/book-fields.ts'
import { returnedPayment } from '../../commission/shapes/statements.ts'
import { type OpenCase, readOpenCases } from '../../fraud/db/holds.ts'
import { type AffiliateHolds, readHolds } from '../../fraud/holds.ts'
import { sumPayable } from '../../ledger/due.ts'
import { digest } from '../../platform/auth/secret.ts'
import type { Count, FoundPage, Page } from '../../platform/db/paginate.ts'
import {
  type Answer,
  list,
  operation,
  pageOfQuery,
  type Read,
  type ReadCall,
} from '../../platform/http/operation.ts'
import { invalidQuery, readDays } from '../../platform/http/query.ts'
import { csvHeaders, writeCsv } from '../../platform/money/csv.ts'
import { moneyText } from '../../platform/money/money.ts'
import { count, day, money, time } from '../../platform/validation/answer-fields.ts'
import { component, described } from '../../platform/validation/described.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, nullable, optional, said } from '../../platform/validation/fields.ts'
import { sendCaused } from '../../webhooks/operations/send-caused.ts'
import {
  type DueItem,
  type DuePayout,
  findPayments,
  listDue,
  listPayments,
  type Payment,
} from '../db/pay.ts'
import { BOOK_LIMITS } from '../limits.ts'
import { importPayments, parsePayments } from '../payments.ts'

/** The columns of what has to be paid. `paid_on` is empty: filled in, the file books the payments. */
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

/** The columns of payments. */
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
    'The payments of its statements that came back, or that the bank rejected. They are due again.',
  ),
)

const statements = described(() => member(count, 'The number of statements that it pays.'))

const openCase = described(() =>
  v.object({
    case_id: member(v.string(), 'The id of the case.'),
    name: member(v.string(), 'The name of its rule.'),
    severity: member(v.picklist(['low', 'medium', 'high']), 'How severe its rule calls it.'),
    sentence: member(v.string(), 'What it found.'),
  }),
)

/** The members that only what has to be paid has. */
const dueMembers = described(() =>
  v.object({
    payable_on: v.exactOptional(member(day, 'The first day on which all of them are payable.')),
    amount_held: v.exactOptional(
      member(money, 'What cases of the fraud review hold of a payout that is due.'),
    ),
    statements_held: v.exactOptional(member(count, 'The number of statements that are held.')),
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
  }),
)

/** The members that only payments have. */
const paidMembers = described(() =>
  v.object({
    paid_on: v.exactOptional(member(day, 'When they were paid.')),
    actor: v.exactOptional(member(v.string(), 'The member of the integrations team.')),
    at: v.exactOptional(member(time, 'When the payment was booked.')),
    return_reference: v.exactOptional(
      nullable(
        v.string(),
        'The reference of the return of the payment. Null if it did not come back.',
      ),
    ),
    returned_on: v.exactOptional(nullable(day, 'When the payment came back, or null.')),
    reason: v.exactOptional(nullable(v.string(), 'Why it came back, or null.')),
  }),
)

const payout = component('Payout', () => ({
  affiliate_id: member(v.string(), 'The affiliate.'),
  currency: member(v.string(), 'An ISO 4217 code.'),
  amount: member(money, 'The amount. Of a payout that is due, without what is held.'),
  statements,
  reference: nullable(
    v.string(),
    'The reference of the payment. Of a payout that is due, it is derived from its statements: use it when you pay. Null if all of it is held.',
  ),
  ...dueMembers.entries,
  ...paidMembers.entries,
}))

/** A row of the list. */
type PayoutRow = Answer<typeof payout>

/** The parameters that narrow the list. */
const filters = {
  status: optional(
    v.picklist(['approved', 'paid']),
    said(
      '`approved` lists what is due, `paid` what was paid. Defaults to `approved`.',
      'paid' as const,
    ),
  ),
  affiliate_id: optional(v.string(), said('Only those of this affiliate.', 'IB-07')),
  payable_on: optional(f.day, said('Only what is payable by this day.', '2026-11-15')),
  from: optional(
    f.day,
    said('With `status=paid`: only what was paid on or after this day.', '2026-11-01'),
  ),
  to: optional(
    f.day,
    said('With `status=paid`: only what was paid on or before this day.', '2026-11-30'),
  ),
  reference: optional(
    v.string(),
    said(
      'With `status=paid`: the payment with this reference, or whose return has it. Letter case does not count.',
      'SEPA-771',
    ),
  ),
}

/** Which rows the list has. */
type PayoutFilter = Read<typeof filters>

export const listPayouts = list({
  topic: 'statements',
  id: 'listPayouts',
  path: '/payouts',
  params: filters,
  words: described(() => ({
    description:
      'Returns one row for each affiliate and currency with what approved statements have to pay, or, with `status=paid`, the payments, the latest day first. Cases of the fraud review hold payouts: `amount` is without what they hold. `Accept: text/csv` returns all rows as one CSV, of at most 20,000 statements. It leaves out what is held.',
    answer: payout,
    files: {
      'text/csv': {
        example: `${DUE_COLUMNS.join()}\r\nIB-07,EUR,240.50,1,2026-11-14,pay_2c8f1e0a94b7d36518fa,active,,,\r\n`,
        headers: ['Content-Disposition'],
      },
    },
    command: {
      name: 'payouts list',
      columns: [
        'affiliate_id',
        'currency',
        'amount',
        'payable_on',
        'paid_on',
        'reference',
        'status',
        'amount_held',
        'held_by',
        'returned_on',
        'reason',
      ],
    },
  })),
  list: readPayouts,
  files: {
    'text/csv': async (c, call, sent) => {
      const { filter } = await pageOfQuery(call, listPayouts.id, sent)
      const rows = await readAll((one) => readPayouts(call, filter, one))
      return sendRows(c, call.grant.account, filter, rows)
    },
  },
})

export const importPayouts = operation({
  topic: 'statements',
  id: 'importPayouts',
  method: 'POST',
  path: '/payouts',
  whole: true,
  body: {
    payments: v.pipe(
      v.array(v.strictObject(listedPayment)),
      v.minLength(1),
      v.maxLength(BOOK_LIMITS.payments),
    ),
  },
  words: described(() => ({
    description: `Books 1 to ${BOOK_LIMITS.payments.toLocaleString('en')} payments, all or none. Each pays the approved statements of its affiliate and currency that became payable first, each as a whole: its amount must be the sum of the first of them. Payments that are booked already are left as they are. Further columns of the list of payouts are ignored. What a case of the fraud review holds cannot be paid in this way.`,
    answer: component('ImportedPayments', () => ({
      received: member(count, 'The payments of the request.'),
      paid: member(count, 'Those that were booked.'),
      unchanged: member(count, 'Those that were booked before.'),
      statements: member(count, 'The statements that are paid now.'),
    })),
    errors: ['amount_differs', 'held_by_case', 'invalid_request', 'nothing_due', 'reference_used'],
    command: { name: 'payouts import' },
  })),
  async run(call, { payments: listed }) {
    const request = { actor: call.actor, now: Date.now() }
    const payments = parsePayments(listed)
    const imported = await importPayments(call.db, call.account, payments, request)
    sendCaused(call, call.account)
    return imported
  },
})

/** Responds with rows as CSV. What is held is left out. */
function sendRows(
  c: Context,
  account: string,
  { status }: PayoutFilter,
  data: readonly PayoutRow[],
): Response {
  const columns = status === 'paid' ? PAID_COLUMNS : DUE_COLUMNS
  const rows = data
    .filter(({ statements }) => statements > 0)
    .map((row) => columns.map((name) => cellOf(Reflect.get(row, name))))
  return c.body(writeCsv([columns, ...rows]), 200, csvHeaders('payouts', account))
}

/** Returns the text of a cell: of cases their ids, of payments that came back when and why. */
const cellOf = (value: unknown): string =>
  Array.isArray(value)
    ? value.map((one) => one.case_id ?? `${one.returned_on} ${one.reason}`).join(' ')
    : String(value ?? '')

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
    `The rows have more than ${BOOK_LIMITS.due.toLocaleString('en')} statements, too many for one CSV. Narrow them by \`affiliate_id\` or days, or read the list as JSON.`,
  )

/** Reads a page of what has to be paid, or of payments. */
async function readPayouts(
  { session: db, grant: { account: id } }: ReadCall,
  filter: PayoutFilter,
  page: Page,
): Promise<FoundPage<PayoutRow>> {
  const { status, affiliate_id = null, payable_on = null, ...ofPayments } = filter
  const { from = null, to = null, reference = null } = ofPayments
  if (status === 'paid') {
    refuseFilters('approved', { payable_on })
    readDays(ofPayments)
    if (reference !== null) {
      const data = (await findPayments(db, id, [reference])).map(presentPayment)
      return { data, total: data.length, isLimited: false, last: null }
    }
    const paid = { affiliate_id, from, to }
    const found = await listPayments(db, id, paid, page)
    return { ...found, data: found.data.map(presentPayment) }
  }
  refuseFilters('paid', { from, to, reference })
  const found = await listDue(db, id, { affiliate_id, payable_on }, page)
  const affiliates = [...new Set(found.data.map(({ affiliate_id }) => affiliate_id))]
  const [holds, open] = await Promise.all([
    readHolds(db, id, affiliates),
    readOpenCases(db, id, affiliates),
  ])
  const casesOf = Map.groupBy(open, ({ affiliate_id }) => affiliate_id)
  const data = found.data.map(async (row) => {
    const due = await presentDue(row, holds.get(row.affiliate_id))
    return { ...due, open_cases: presentOpen(casesOf.get(row.affiliate_id) ?? [], due.held_by) }
  })
  return { ...found, data: await Promise.all(data) }
}

/** Throws `invalid_query` if one of these filters is set, which narrow another status only. */
function refuseFilters(status: string, filters: Readonly<Record<string, string | null>>): void {
  for (const [name, value] of Object.entries(filters))
    if (value !== null) throw invalidQuery(`\`${name}\` narrows \`status=${status}\` only.`)
}

/** Returns a payment as lists show it. */
export const presentPayment = ({ statements, ...payment }: Payment) => ({
  ...payment,
  statements: (JSON.parse(statements) as string[]).length,
})

/** The hexadecimal digits of a proposed reference. */
const REFERENCE_DIGITS = 20

/**
 * Presents what has to be paid and what of it is held. The reference follows from the statements that can be paid, so it
 * is the same each time.
 */
async function presentDue(row: DuePayout, holds: AffiliateHolds | undefined) {
  const { affiliate_id, currency, status } = row
  const items = (JSON.parse(row.items) as DueItem[]).map(
    ([text, payable_on, payable, returned]) => ({ text, payable_on, payable, returned }),
  )
  const [held, free] = holds ? [items, []] : [[], items]
  const digits = await digest(JSON.stringify(free.map(({ text }) => text).sort()))
  const days = free.map(({ payable_on }) => payable_on).sort()
  return {
    affiliate_id,
    currency,
    status,
    amount: moneyText(sumPayable(free), currency),
    statements: free.length,
    reference: free.length > 0 ? `pay_${digits.slice(0, REFERENCE_DIGITS)}` : null,
    amount_held: moneyText(sumPayable(held), currency),
    statements_held: held.length,
    returned: [
      ...new Map(items.flatMap(({ returned: one }) => (one ? [[one.payment, one]] : []))).values(),
    ],
    payable_on: days.at(-1) ?? row.payable_on,
    held_by: holds?.cases.map(({ id }) => id) ?? [],
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
