import { list, object } from '../format.ts'
import type { Operation } from '../operation.ts'
import { replayErasures } from '../replay-erasures.ts'

/** Customers: attribution, what is known of them by day, and erasure. */
export const CUSTOMERS: readonly Operation[] = [
  {
    noun: 'customers',
    verb: 'lines',
    summary: 'Lists the lines of statements that count records of a customer.',
    example: 'acme C-1001 --period 2026-10',
    method: 'GET',
    path: 'accounts/{account}/customers/{customer_id}/lines',
    options: { period: { value: 'period', description: 'A month or a week.', required: true } },
    format: list(),
  },
  {
    noun: 'erasures',
    verb: 'replay',
    summary: 'Repeats all erasures after a database was restored.',
    example: '--account acme',
    method: 'POST',
    path: 'erasures/replay',
    options: {
      account: { value: 'account', description: 'Only this account.' },
      from: {
        value: 'cursor',
        description: 'Continues a replay that was interrupted.',
        member: 'cursor',
      },
    },
    run: replayErasures,
    format: object,
  },
]
