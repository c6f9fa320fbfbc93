import type { BookedStatement } from '../../db/commission/books/booked.ts'

/** Returns what became of a statement, as its JSON has it. */
export const presentBooks = ({
  status,
  approved_at,
  payment,
  paid_on,
}: Pick<BookedStatement, 'status' | 'approved_at' | 'payment' | 'paid_on'>) => ({
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
