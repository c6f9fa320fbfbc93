import { usageError } from '../../exit-error.ts'
import { object } from '../format.ts'
import { type Input, membersOf, type Operation, type Options } from '../operation.ts'
import { parsePairs } from './parts.ts'

const REASON = {
  value: 'text',
  description: 'Why it is done. It is in the audit log.',
  required: true,
}

/** What a history is about: the customer, whose id may be `..`, so it is sent in the query. */
const OF_CUSTOMER = {
  noun: 'customers',
  argument: 'customer_id',
  isArgumentInQuery: true,
  format: object,
} as const

const FORM = 'day=affiliate'

/** The word that stands for the beginning, and the one that stands for no affiliate. */
const BEGINNING = 'beginning'
const NONE = 'none'

const REASONS: Options = { reason: REASON }

/** Returns the body of a correction. */
function correctionOf(input: Input) {
  const parts = Object.entries(parsePairs(input.pairs, FORM))
  if (parts[0]?.[0] !== BEGINNING) {
    throw usageError(`Begin with ${BEGINNING}=affiliate: the whole history is replaced.`)
  }
  const affiliations = parts.map(([day, affiliate]) => ({
    from: day === BEGINNING ? null : day,
    affiliate_id: affiliate === NONE ? null : affiliate,
  }))
  return { ...membersOf(REASONS, input), affiliations }
}

const REFUSAL: Options = {
  reason: REASON,
  from: {
    value: 'YYYY-MM-DD',
    description: 'The first day without earnings. (default: the beginning)',
    pattern: /^\d{4}-\d\d-\d\d$/,
  },
}

/** What is known of customers by day, and refusals. */
export const HISTORIES: readonly Operation[] = [
  {
    ...OF_CUSTOMER,
    verb: 'affiliations',
    summary: 'Shows the affiliates of a customer by day.',
    example: 'acme C-1001',
    method: 'GET',
    path: 'accounts/{account}/customers/affiliations',
  },
  {
    ...OF_CUSTOMER,
    verb: 'correct',
    summary: `Replaces the affiliates of a customer by day; ${NONE} means no affiliate.`,
    example: `acme C-1001 ${BEGINNING}=IB-01 2026-10-02=IB-07 --reason typo`,
    method: 'PUT',
    path: 'accounts/{account}/customers/affiliations',
    pairs: FORM,
    options: REASONS,
    body: correctionOf,
  },
  {
    ...OF_CUSTOMER,
    verb: 'fields',
    summary: 'Shows the fields of a customer that plans use by day.',
    example: 'acme C-1001',
    method: 'GET',
    path: 'accounts/{account}/customers/fields',
  },
  {
    ...OF_CUSTOMER,
    verb: 'refuse',
    summary: 'Refuses a customer, for fraud for example: their records earn nothing.',
    example: 'acme C-1001 --reason self-referral --from 2026-10-03',
    method: 'PUT',
    path: 'accounts/{account}/customers/refusal',
    options: REFUSAL,
    body: (input) => membersOf(REFUSAL, input),
  },
  {
    ...OF_CUSTOMER,
    verb: 'end-refusal',
    summary: 'Ends the refusal of a customer: their records earn again.',
    example: 'acme C-1001',
    method: 'DELETE',
    path: 'accounts/{account}/customers/refusal',
  },
]
