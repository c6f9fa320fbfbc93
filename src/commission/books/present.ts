import type { BookedStatement } from '../../db/commission/books/booked.ts'

/** What became of a statement, as it is stored. */
type Outcome = Pick<BookedStatement, 'approved_at' | 'payment' | 'paid_on'> & {
  readonly status: string
}

/** Returns what became of a statement, as its JSON has it. */
export const presentBooks = ({ status, approved_at, payment, paid_on }: Outcome) => ({
  status,
  approved_at: approved_at === null ? null : new Date(approved_at).toISOString(),
  paid: payment === null ? null : { reference: payment, paid_on },
})

/** Returns a statement without its lines, with what became of it. */
export const presentBooked = (row: BookedStatement) => ({
  ...JSON.parse(row.statement),
  ...presentBooks(row),
  hash: row.hash,
  computed_at: row.computed_at,
})
