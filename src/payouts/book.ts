import { bookPayments, bookReturn } from '../books/db/pay.ts'
import { newAuditId } from '../platform/directory/audit.ts'
import type { Call } from '../platform/http/operation.ts'
import { namesAccount } from './answers/reasons.ts'
import { type BookedChange, guardChanges } from './db/answers.ts'
import { storeMovements } from './db/movements.ts'
import { readCurrent, setState } from './db/payees.ts'
import { moveTransfers } from './db/transfers.ts'

/** Why a payment came back, if neither the bank nor a person says so. */
export const NO_REASON = 'No reason given'

/** What else a booking stores, and how the audit log calls it. */
interface Booking {
  readonly action: string
  readonly details: Record<string, unknown>
  readonly also?: readonly D1PreparedStatement[]
}

/**
 * Books what becomes of transfers, of all the same, in one batch: of a return, that of the only one. Returns false if
 * somebody else changed something meanwhile.
 */
export async function bookTransfers(
  call: Call,
  changes: readonly BookedChange[],
  { action, details, also = [] }: Booking,
): Promise<boolean> {
  const { db, actor, account } = call
  const [first] = changes
  if (!first) return true
  const now = Date.now()
  const { becomes, day, reason, amount } = first.entry
  const moves = changes.map(({ entry: { becomes, code, reason }, transfer: { id, state } }) =>
    becomes === 'checked'
      ? { id, state, name_check: reason }
      : { id, state: becomes, code, reason },
  )
  const moved = changes.flatMap(({ entry: { movement } }) => movement ?? [])
  const all = [
    ...guardChanges(db, account.id, changes),
    moveTransfers(db, account.id, moves, now),
    ...also,
    storeMovements(db, account.id, moved),
    ...(await refusedPayees(call, changes, now)),
  ]
  const author = { account, actor, action, details, now }
  if (becomes === 'returned') {
    const payment = first.transfer.id
    const returned = { payment, returned_on: day ?? '', reason: reason ?? NO_REASON }
    return bookReturn(db, author, returned, all, amount)
  }
  const paid = becomes === 'paid' ? changes : []
  const payments = paid.map(({ entry, transfer: { id, affiliate_id, currency, ...one } }) => ({
    reference: id,
    affiliate_id,
    currency,
    amount: entry.amount ?? one.amount,
    paid_on: entry.day ?? '',
    ids: JSON.parse(one.statements) as string[],
  }))
  return bookPayments(db, author, payments, all)
}

/** Returns the statements that say of payees that a bank refused their account: a person has to confirm them. */
async function refusedPayees(
  { db, actor, account: { id: account } }: Call,
  changes: readonly BookedChange[],
  now: number,
): Promise<D1PreparedStatement[]> {
  const refused = changes.filter(({ entry }) => namesAccount(entry.code))
  const byPayee = new Map(refused.map((one) => [one.transfer.affiliate_id, one]))
  const current = await readCurrent(db, { account, party: 'payee' }, [...byPayee.keys()])
  return [...byPayee].flatMap(([affiliate, { entry, transfer }]) => {
    const seen = current.get(affiliate)
    if (seen?.version !== transfer.payee_version || seen.state !== 'approved') return []
    const author = { account, party: 'payee', actor, now, audit: newAuditId() } as const
    return setState(db, author, seen, { state: 'returned', reason: entry.reason })
  })
}
