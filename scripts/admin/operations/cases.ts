import { CASE_NEEDS } from '../../../src/db/fraud/cases.ts'
import type { Figure } from '../../../src/fraud/kind.ts'
import { list, object } from '../format.ts'
import type { Input, Operation } from '../operation.ts'
import { listOperation } from './parts.ts'

const DAY = { value: 'YYYY-MM-DD', pattern: /^\d{4}-\d\d-\d\d$/ }

/** Formats a case: the numbers of which its figures are made, and what these leave out, have tables of their own. */
function formatCase(body: unknown, input: Input): string {
  const { figures, ...one } = body as { readonly figures: readonly Figure[] }
  const rows = figures.map(({ made_of = [], left_out = [], ...figure }) => ({
    figure,
    made_of: made_of.map((part) => ({ figure: figure.name, ...part })),
    left_out: left_out.map((amounts) => ({ figure: figure.name, ...amounts })),
  }))
  const [made_of, left_out] = [
    rows.flatMap((row) => row.made_of),
    rows.flatMap((row) => row.left_out),
  ]
  const tables = {
    figures: rows.map(({ figure }) => figure),
    ...(made_of.length > 0 && { made_of }),
    ...(left_out.length > 0 && { left_out }),
  }
  return object({ ...one, ...tables }, input)
}

/** The cases of the fraud review. */
export const CASES: readonly Operation[] = [
  listOperation({
    noun: 'fraud',
    verb: 'cases',
    summary: 'Lists what fraud rules found, the latest day first.',
    example: 'acme --status open',
    path: 'accounts/{account}/cases',
    options: {
      status: {
        value: 'status',
        description: 'Only cases with this status.',
        choices: ['open', 'confirmed', 'dismissed', 'expired'],
      },
      rule: { value: 'rule', description: 'Only cases of this rule.' },
      severity: {
        value: 'severity',
        description: 'Only cases of this severity.',
        choices: ['low', 'medium', 'high'],
      },
      affiliate: {
        value: 'affiliate_id',
        description: 'Only this affiliate.',
        member: 'affiliate_id',
      },
      customer: {
        value: 'customer_id',
        description: 'Only cases about this customer.',
        member: 'customer_id',
      },
      from: { ...DAY, description: 'The first day for which they were opened.' },
      to: { ...DAY, description: 'The last day for which they were opened.' },
      needs: {
        value: 'needs',
        description:
          'Only cases that need a decision, a second person, or a decision within 7 days.',
        choices: [...CASE_NEEDS],
      },
      'opened-since': {
        value: 'time',
        description: 'Only cases that were opened since this time.',
      },
    },
    format: list([
      ...['case_id', 'opened_for', 'affiliate_id', 'subject', 'severity', 'status'],
      ...['amount_held', 'sentence'],
    ]),
  }),
  {
    noun: 'fraud',
    verb: 'case',
    summary: 'Shows a case with its figures, decisions and notes.',
    example: 'acme case_0123456789abcdefghjkmnpqrs',
    method: 'GET',
    path: 'accounts/{account}/cases/{case_id}',
    format: formatCase,
  },
  listOperation({
    noun: 'fraud',
    verb: 'evidence',
    summary: 'Lists the records of a case, each with the delivery that wrote it.',
    example: 'acme case_0123456789abcdefghjkmnpqrs',
    path: 'accounts/{account}/cases/{case_id}/evidence',
    format: list(['day', 'resource', 'id', 'customer_id', 'values', 'delivery_id']),
  }),
  listOperation({
    noun: 'fraud',
    verb: 'customers',
    summary: 'Lists the customers of a case, each with the number of their records.',
    example: 'acme case_0123456789abcdefghjkmnpqrs',
    path: 'accounts/{account}/cases/{case_id}/customers',
    format: list(['customer_id', 'records']),
  }),
]
