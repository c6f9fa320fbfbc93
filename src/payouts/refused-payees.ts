import { newAuditId } from '../platform/directory/audit.ts'
import type { Call } from '../platform/http/operation.ts'
import type { Booking } from './answers/match.ts'
import { namesAccount } from './answers/reasons.ts'
import { readCurrent, setState } from './db/payees.ts'
import type { StoredTransfer } from './model.ts'

/** A transfer, and why it came back or was rejected. */
interface Refusal {
  readonly entry: Pick<Booking, 'code' | 'reason'>
  readonly transfer: Pick<StoredTransfer, 'affiliate_id' | 'payee_version'>
}

/** Returns the statements that say of payees that a bank refused their account: a person has to confirm them. */
export async function refusedPayees(
  { db, actor, account: { id: account } }: Call,
  changes: readonly Refusal[],
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
