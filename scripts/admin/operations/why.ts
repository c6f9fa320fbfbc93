import { escapeText } from '../../../src/validation/quote.ts'
import { list } from '../format.ts'
import type { Operation, Options } from '../operation.ts'
import { earningsInWords, formatEarnings, unearnedInWords } from '../reasons.ts'
import type { TextPage } from '../request.ts'
import { listOperation } from './parts.ts'

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

const CAUSE = ['reason', 'plan', 'rule', 'condition']

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
  listOperation({
    noun: 'lines',
    verb: 'parts',
    summary: 'Lists what each customer adds to a line, or the lines that an override pays for.',
    example: 'acme LINE_ID',
    path: 'accounts/{account}/lines/{line_id}/parts',
    options: LINE,
    format: list(),
  }),
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
  listOperation({
    noun: 'unearned',
    verb: 'list',
    summary: 'Lists the records that no line counts.',
    example: 'acme --period 2026-10 --reason no_plan',
    path: 'accounts/{account}/unearned/facts',
    options: {
      ...WHOSE,
      reason: { value: 'reason', description: 'Only those with this reason.' },
    },
    format: list([
      ...['resource', 'id', 'transaction_type', 'eventname', 'customer_id', 'day'],
      ...CAUSE,
    ]),
  }),
  listOperation({
    noun: 'qualifications',
    verb: 'list',
    summary: 'Lists who qualified for a CPA and who did not, as of the end of a period.',
    example: 'acme --period 2026-10 --status waiting',
    path: 'accounts/{account}/qualifications',
    options: {
      ...WHOSE,
      plan: { value: 'plan', description: 'Only rules of this plan.' },
      rule: { value: 'rule', description: 'Only this rule.' },
      status: {
        value: 'status',
        description: 'Only those with this status.',
        choices: ['qualified', 'waiting', 'failed', 'refused'],
      },
      qualified_from: {
        value: 'day',
        description: 'Only those who qualified on or after this day.',
      },
    },
    format: list([
      ...['customer_id', 'affiliate_id', 'plan', 'rule', 'status', 'qualified_on'],
      'before_signup',
    ]),
  }),
]
