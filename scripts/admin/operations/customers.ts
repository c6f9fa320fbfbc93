import { object } from '../format.ts'
import type { Operation } from '../operation.ts'
import { replayErasures } from '../replay-erasures.ts'

/** Customers: attribution, what is known of them by day, and erasure. */
export const CUSTOMERS: readonly Operation[] = [
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
