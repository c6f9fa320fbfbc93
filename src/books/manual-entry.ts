import {
  findManualEntry,
  insertManualEntry,
  type ManualEntry,
} from '../ledger/db/manual-entries.ts'
import { newAuditId, tryWithAudit } from '../platform/directory/audit.ts'
import { ApiError } from '../platform/errors.ts'
import { validationFailed } from '../platform/http/read-fields.ts'
import { minorDigits } from '../platform/money/minor-digits.ts'
import { normalizeMoney } from '../platform/money/money.ts'
import type { Issue } from '../platform/validation/issue.ts'
import { quote } from '../platform/validation/quote.ts'
import { type ManualContext, readManualContext } from './db/manual-context.ts'
import { BOOK_LIMITS } from './limits.ts'
import { untilBooked } from './until-booked.ts'

/** An entry that is sent. */
export type NewManualEntry = Pick<
  ManualEntry,
  'affiliate_id' | 'plan' | 'amount' | 'reason' | 'reference'
>

/** A stored entry, and whether this request has stored it. */
export interface AddedEntry {
  readonly isNew: boolean
  readonly entry: ManualEntry
}

/**
 * Stores an entry once by its reference.
 *
 * @throws ApiError `validation_failed`; `reference_used` if another entry has the reference; `conflict` if the
 * affiliate has too many entries that no approved statement has.
 */
export const addManualEntry = (
  db: D1Database,
  account: string,
  sent: NewManualEntry,
  actor: string,
): Promise<AddedEntry> =>
  untilBooked(async () => {
    const known = await findManualEntry(db, account, sent.reference)
    if (known) return { isNew: false, entry: sameEntry(known, sent) }
    const context = await readManualContext(db, account, sent)
    const { amount, currency } = checkEntry(sent, context)
    if (context.open >= BOOK_LIMITS.openEntries) throw tooMany()
    const id = `man_${newAuditId()}`
    const at = new Date().toISOString()
    const entry = { ...sent, id, amount, currency, actor, at, statement: null }
    return (await isStored(db, account, entry)) ? { isNew: true, entry } : null
  })

/**
 * Stores an entry with its entry in the audit log; returns false if the reference is taken, or if the
 * affiliate has too many open entries.
 */
function isStored(db: D1Database, account: string, entry: ManualEntry): Promise<boolean> {
  const { id, affiliate_id, plan, currency, amount, reason, reference, actor } = entry
  const details = { entry: id, affiliate_id, plan, currency, amount, reason, reference }
  const logged = { actor, action: 'manual-entry.add', account, details }
  return tryWithAudit(db, logged, insertManualEntry(db, account, entry, BOOK_LIMITS.openEntries))
}

/** Returns the stored entry if it is the one that is sent again. */
function sameEntry(known: ManualEntry, sent: NewManualEntry): ManualEntry {
  const isSame =
    known.affiliate_id === sent.affiliate_id &&
    known.plan === sent.plan &&
    known.reason === sent.reason &&
    known.amount === normalizeMoney(sent.amount, known.currency)
  if (isSame) return known
  const { reference, amount, currency, affiliate_id, plan } = known
  const detail = `The reference ${quote(reference)} is that of the entry of ${amount} ${currency} for affiliate ${quote(affiliate_id)} in plan ${plan}. You cannot change an entry. To undo it, add the opposite amount with another reference.`
  throw new ApiError('reference_used', { detail })
}

/** Returns the amount of an entry as it is stored. Throws `validation_failed`. */
function checkEntry(
  { affiliate_id, plan, amount }: NewManualEntry,
  { currency, configured, assigned }: ManualContext,
): { amount: string; currency: string } {
  const issues: Issue[] = []
  if (!configured) {
    issues.push({ pointer: '/affiliate_id', code: 'unknown_affiliate', value: affiliate_id })
  }
  if (currency === null || !assigned) {
    const expected = currency === null ? 'a plan of this account' : 'assigned to this affiliate'
    issues.push({ pointer: '/plan', code: 'unknown_reference', expected, value: plan })
  }
  const text = currency && normalizeMoney(amount, currency)
  if (currency !== null && text === null) {
    const expected = String(minorDigits(currency))
    issues.push({ pointer: '/amount', code: 'decimals', expected, value: amount })
  }
  if (issues.length > 0 || !currency || !text) throw validationFailed(issues)
  return { amount: text, currency }
}

const tooMany = () =>
  new ApiError('conflict', {
    detail: `The affiliate has ${BOOK_LIMITS.openEntries} open manual entries. Approve statements first.`,
  })
