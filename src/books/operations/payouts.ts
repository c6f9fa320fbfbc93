import type { Context } from 'hono'
import * as v from 'valibot'
import type { Count, FoundPage, Page } from '../../platform/db/paginate.ts'
import {
  type Answer,
  list,
  pageOfQuery,
  type Read,
  type ReadCall,
} from '../../platform/http/operation.ts'
import { invalidQuery, readDays } from '../../platform/http/query.ts'
import { csvHeaders, writeCsv } from '../../platform/money/csv.ts'
import { count, day, money, time } from '../../platform/validation/answer-fields.ts'
import { component, described } from '../../platform/validation/described.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, nullable, optional, said } from '../../platform/validation/fields.ts'
import { findPayments, listPayments, type Payment } from '../db/pay.ts'
import { BOOK_LIMITS } from '../limits.ts'

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

const payment = component('Payment', () => ({
  affiliate_id: member(v.string(), 'The affiliate.'),
  currency: member(v.string(), 'An ISO 4217 code.'),
  amount: member(money, 'The amount.'),
  statements: member(count, 'The number of statements that it pays.'),
  reference: member(v.string(), 'The reference of the payment.'),
  paid_on: member(day, 'When they were paid.'),
  actor: member(v.string(), 'The member of the integrations team.'),
  at: member(time, 'When the payment was booked.'),
  return_reference: nullable(
    v.string(),
    'The reference of the return of the payment. Null if it did not come back.',
  ),
  returned_on: nullable(day, 'When the payment came back, or null.'),
  reason: nullable(v.string(), 'Why it came back, or null.'),
}))

/** A row of the list. */
type PaymentRow = Answer<typeof payment>

/** The parameters that narrow the list. */
const filters = {
  affiliate_id: optional(v.string(), said('Only those of this affiliate.', 'IB-07')),
  from: optional(f.day, said('Only what was paid on or after this day.', '2026-11-01')),
  to: optional(f.day, said('Only what was paid on or before this day.', '2026-11-30')),
  reference: optional(
    v.string(),
    said(
      'The payment with this reference, or whose return has it. Letter case does not count.',
      'T7K2M9XQ4D',
    ),
  ),
}

/** Which rows the list has. */
type PaymentFilter = Read<typeof filters>

export const listPayouts = list({
  topic: 'payouts',
  id: 'listPayouts',
  path: '/payouts',
  params: filters,
  words: described(() => ({
    description:
      'Lists the payments, the latest day first. `Accept: text/csv` returns all rows as one CSV, of at most 20,000 statements.',
    answer: payment,
    files: {
      'text/csv': {
        example: `${PAID_COLUMNS.join()}\r\nIB-07,EUR,240.50,1,2026-11-16,T7K2M9XQ4D,,\r\n`,
        headers: ['Content-Disposition'],
      },
    },
    command: {
      name: 'payouts list',
      columns: [...PAID_COLUMNS],
    },
  })),
  list: readPayments,
  files: {
    'text/csv': async (c, call, sent) => {
      const { filter } = await pageOfQuery(call, listPayouts.id, sent)
      const rows = await readAll((one) => readPayments(call, filter, one))
      return sendRows(c, call.grant.account, rows)
    },
  },
})

/** Responds with rows as CSV. */
function sendRows(c: Context, account: string, data: readonly PaymentRow[]): Response {
  const rows = data.map((row) => PAID_COLUMNS.map((name) => String(row[name] ?? '')))
  return c.body(writeCsv([PAID_COLUMNS, ...rows]), 200, csvHeaders('payouts', account))
}

/** The rows that `readAll` reads at once. */
const ROWS_AT_ONCE = 500

/**
 * Reads all rows, page by page.
 *
 * @throws ApiError `invalid_query` if they have too many statements for one response.
 */
async function readAll(
  read: (page: Page) => Promise<FoundPage<PaymentRow>>,
): Promise<readonly PaymentRow[]> {
  const rows: PaymentRow[] = []
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

/** Reads a page of payments. */
async function readPayments(
  { session: db, grant: { account: id } }: ReadCall,
  filter: PaymentFilter,
  page: Page,
): Promise<FoundPage<PaymentRow>> {
  const { affiliate_id = null, reference, ...days } = filter
  const { from = null, to = null } = days
  readDays(days)
  if (reference !== undefined) {
    const data = (await findPayments(db, id, [reference])).map(presentPayment)
    return { data, total: data.length, isLimited: false, last: null }
  }
  const found = await listPayments(db, id, { affiliate_id, from, to }, page)
  return { ...found, data: found.data.map(presentPayment) }
}

/** Returns a payment as lists show it. */
export const presentPayment = ({ statements, ...payment }: Payment) => ({
  ...payment,
  statements: (JSON.parse(statements) as string[]).length,
})
