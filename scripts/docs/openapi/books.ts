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
import { type Operation, ref } from './operation.ts'
import { COUNT } from './shapes.ts'

/** The schemas of approvals, entries and payments. */
export const BOOK_SCHEMAS: Record<string, JsonSchema> = {
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
