import {
  listedDay,
  listedPayment,
  listedReturn,
} from '../../../src/commission/books/book-fields.ts'
import { BOOK_LIMITS } from '../../../src/commission/books/limits.ts'
import { documented, object } from '../envelopes.ts'
import { closedObject } from '../json-schema.ts'
import type { JsonSchema } from '../types.ts'
import { ACCOUNT_PATH, AT, operation, returned } from './administration/operation.ts'
import { type Operation, PAGE_HEADERS, PAGING, pageOf, ref } from './operation.ts'
import { COUNT, DAY, oneOf, orNull, TEXT, TIME } from './shapes.ts'

const money = (description: string) =>
  documented(description, { type: 'string', pattern: '^-?\\d+(\\.\\d+)?$' })

const currency = documented('An ISO 4217 code.')
const affiliate_id = documented('The affiliate.')
const actor = documented('The member of the integrations team.')

const RETURNED = documented('The payments of its statements that came back. They are due again.', {
  type: 'array',
  items: ref('ReturnedPayment'),
})

const PAYOUT = object(
  {
    affiliate_id,
    currency,
    amount: money('The amount. Of a payout that is due, without what is held.'),
    statements: documented('The number of statements that it pays.', COUNT),
    payable_on: documented('The first day on which all of them are payable.', DAY),
    due_days: documented(
      'The same by the day from which statements are payable, the earliest first. The CSV has a row for each.',
      {
        type: 'array',
        items: object({
          payable_on: documented('The day.', DAY),
          amount: money('What is due on it, without what is held.'),
          statements: documented('The number of statements that it pays.', COUNT),
          reference: documented(
            'The reference, if this day is paid by itself. Null if all of it is held.',
            orNull(TEXT),
          ),
          amount_held: money('What is held of it.'),
          statements_held: documented('The number of statements that are held.', COUNT),
          returned: RETURNED,
        }),
      },
    ),
    paid_on: documented('When they were paid.', DAY),
    reference: documented(
      'The reference of the payment. Of a payout that is due, it is derived from its statements: use it when you pay. Null if all of it is held.',
      orNull(TEXT),
    ),
    amount_held: money('What cases of the fraud review hold of a payout that is due.'),
    statements_held: documented('The number of statements that are held.', COUNT),
    status: documented(
      'The status of the affiliate. One that is suspended earns on.',
      oneOf('active', 'suspended'),
    ),
    returned: RETURNED,
    held_by: documented('The ids of the cases that hold it. Empty if nothing is held.', {
      type: 'array',
      items: TEXT,
    }),
    ended_holds: documented(
      'Those of them whose hold ended without a decision, and goes on until two persons have acknowledged that. Such a case can be gone.',
      { type: 'array', items: TEXT },
    ),
    open_cases: documented(
      'The open cases of the affiliate, at most 3, that hold none of it: the most severe first, of these the latest.',
      {
        type: 'array',
        items: object({
          case_id: documented('The id of the case.'),
          name: documented('The name of its rule.'),
          severity: documented('How severe its rule calls it.', oneOf('low', 'medium', 'high')),
          sentence: documented('What it found.'),
        }),
      },
    ),
    taken_back: documented(
      'What drafts correct because customers were refused after their commission was approved: it stays payable until the statement with the correction is approved.',
      {
        type: 'array',
        items: object({
          statement: documented('The id of the draft.'),
          period: documented('Its period.'),
          amount: money('The sum of these corrections, less than 0.'),
        }),
      },
    ),
    actor,
    at: documented('When the payment was booked.', TIME),
    return_reference: documented(
      'The reference of the return of the payment. Null if it did not come back.',
      orNull(TEXT),
    ),
    returned_on: documented('When the payment came back, or null.', orNull(DAY)),
    reason: documented('Why it came back, or null.', orNull(TEXT)),
  },
  [
    ...['payable_on', 'due_days', 'amount_held', 'statements_held', 'held_by', 'ended_holds'],
    ...['open_cases', 'taken_back', 'status', 'returned'],
    ...['paid_on', 'actor', 'at', 'return_reference', 'returned_on', 'reason'],
  ],
)

/** The schemas of approvals, entries and payments. */
export const BOOK_SCHEMAS: Record<string, JsonSchema> = {
  Payout: PAYOUT,
  ImportedPayments: object({
    received: documented('The payments of the request.', COUNT),
    paid: documented('Those that were booked.', COUNT),
    returned: documented('Those that came back.', COUNT),
    unchanged: documented('Those that were booked before.', COUNT),
    statements: documented('The statements that are paid now, or due again.', COUNT),
  }),
}

const CSV_TEXT: JsonSchema = {
  type: 'string',
  description:
    'CSV with a row of column names: `affiliate_id`, `currency`, `amount`, `reference`, `paid_on` in any order, and `returned_on` and `reason` of payments that came back. `statements` and `payable_on` are ignored.',
}

const payouts = (): Operation[] => [
  operation({
    method: 'get',
    path: `${ACCOUNT_PATH}/payouts`,
    id: 'listPayouts',
    summary: 'List what has to be paid',
    description:
      'Returns one row for each affiliate and currency with what approved statements have to pay, or, with `status=paid`, the payments, the latest day first. Cases of the fraud review hold payouts: `amount` is without what they hold. A case that holds a part holds the latest statements, as few as reach its part of all that was payable since it opened. `Accept: text/csv` returns all rows as one CSV, with a row for each due day, of at most 20,000 statements, or with a paging parameter one page. It leaves out what is held.',
    parameters: [
      ...PAGING,
      'payout_status',
      'payout_affiliate',
      'payable_on',
      'payout_from',
      'payout_to',
      'payout_recorded_since',
      'payout_returned_since',
      'payout_returned',
    ],
    answers: {
      200: {
        description: 'One page.',
        type: ['application/json', 'text/csv'],
        schema: { anyOf: [pageOf(ref('Payout')), TEXT] },
        headers: [
          ...PAGE_HEADERS.filter((name) => name !== 'x-d1-bookmark'),
          ...['Payouts-Held', 'Payouts-Held-Amount'],
        ],
      },
    },
  }),
  operation({
    method: 'post',
    path: `${ACCOUNT_PATH}/payouts`,
    id: 'importPayouts',
    summary: 'Book payments',
    description: `Books 1 to ${BOOK_LIMITS.payments.toLocaleString('en')} payments, all or none. Each pays the oldest approved statements of its affiliate and currency, each as a whole: its amount must be the sum of the first of them, or of the first of those that are payable from its \`payable_on\` on. Payments that are booked already are left as they are. \`returned_on\` and \`reason\` mark a booked payment that came back: its statements are due again, and can be paid by a later request. What a case of the fraud review holds cannot be paid in this way.`,
    body: {
      schema: {
        type: 'array',
        items: closedObject({ ...listedPayment, ...listedDay, ...listedReturn }, AT),
        minItems: 1,
        maxItems: BOOK_LIMITS.payments,
      },
      also: { type: 'text/csv', schema: CSV_TEXT },
    },
    answers: returned('The payments are booked.', ref('ImportedPayments')),
    errors: [
      'amount_differs',
      'held_by_case',
      'invalid_request',
      'nothing_due',
      'not_paid',
      'reference_used',
    ],
  }),
]

/** Lists the operations that close the books. */
export const books = (): Operation[] => payouts()
