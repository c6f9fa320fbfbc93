import type { BookedStatement, ReturnedPayment } from '../../db/commission/books/booked.ts'
import type { ListedStatement } from '../../db/commission/statements.ts'

export type { ReturnedPayment } from '../../db/commission/books/booked.ts'

/** Returns what became of a statement, as its JSON has it. */
export const presentBooks = ({
  status,
  approved_at,
  payment,
  paid_on,
  payment_return,
}: Pick<ListedStatement, 'status' | 'approved_at' | 'payment' | 'paid_on' | 'payment_return'>) => ({
  status,
  approved_at: approved_at === null ? null : new Date(approved_at).toISOString(),
  paid: payment === null || paid_on === null ? null : { reference: payment, paid_on },
  returned: payment_return === null ? null : (JSON.parse(payment_return) as ReturnedPayment),
})

/** Returns a statement without its lines, with what became of it. */
export const presentBooked = (row: BookedStatement) => ({
  ...JSON.parse(row.statement),
  ...presentBooks(row),
  hash: row.hash,
  computed_at: row.computed_at,
})
