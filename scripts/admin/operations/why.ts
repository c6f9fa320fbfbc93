import { escapeText } from '../../../src/validation/quote.ts'
import { list } from '../format.ts'
import type { Operation, Options } from '../operation.ts'
import { earningsInWords, formatEarnings, unearnedInWords } from '../reasons.ts'
import type { TextPage } from '../request.ts'

const PERIOD = { value: 'period', pattern: /^\d{4}-(?:\d\d|W\d\d)$/ }

/** The statement of a line, which is needed if it is not stored. */
const LINE: Options = {
  affiliate: {
    value: 'affiliate_id',
    description: 'The affiliate, if the statement is not stored.',
    member: 'affiliate_id',
  },
  period: { ...PERIOD, description: 'The period, if the statement is not stored.' },
}

const WHOSE: Options = {
  period: { ...PERIOD, description: 'The month or week.', required: true },
  affiliate: {
    value: 'affiliate_id',
    description: 'Only what belongs to this affiliate.',
    member: 'affiliate_id',
  },
  customer: {
    value: 'customer_id',
    description: 'Only what belongs to this customer.',
    member: 'customer_id',
  },
}

/** Explanations of lines, and what earned nothing. */
export const WHY: readonly Operation[] = [
  {
    noun: 'lines',
    verb: 'explain',
    summary: 'Explains a line of a statement in sentences. --json prints the steps as JSON.',
    example: 'acme LINE_ID',
    method: 'GET',
    path: 'accounts/{account}/lines/{line_id}/explain',
    options: LINE,
    run: (send, request, { json }) => send(json ? request : { ...request, accept: 'text/plain' }),
    format: (body) => (body as TextPage).text.trimEnd().split('\n').map(escapeText).join('\n'),
  },
  {
    noun: 'records',
    verb: 'earnings',
    summary: 'Says what the records under an id earn, or why they earn nothing.',
    example: 'acme T-1001',
    method: 'GET',
    path: 'accounts/{account}/records',
    argument: 'id',
    isArgumentInQuery: true,
    run: (send, request, { operands }) => earningsInWords(send, request, operands.account ?? ''),
    format: formatEarnings,
  },
  {
    noun: 'unearned',
    verb: 'show',
    summary: 'Shows the records that earned nothing, by reason.',
    example: 'acme --period 2026-10',
    method: 'GET',
    path: 'accounts/{account}/unearned',
    options: WHOSE,
    run: (send, request, { json, operands }) =>
      json ? send(request) : unearnedInWords(send, request, operands.account ?? ''),
    format: list(['records', 'currency', 'plan', 'rule', 'why']),
  },
]
