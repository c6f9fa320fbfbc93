import { ADMIN_KEY_ACTOR } from '../../auth/admin-keys.ts'
import { approveRows } from '../../db/commission/books/approve.ts'
import { type BookedStatement, findBooked } from '../../db/commission/books/booked.ts'
import { type Candidate, readCandidates } from '../../db/commission/books/candidates.ts'
import { lastVouchingRun } from '../../db/commission/books/close-period.ts'
import { resolveDatabase } from '../../db/database.ts'
import type { Account } from '../../db/schema.ts'
import { ApiError } from '../../errors.ts'
import { type Period, storedPeriod } from '../engine/calendar.ts'
import { BOOK_LIMITS } from './limits.ts'
import { endOf } from './period-end.ts'
import { notOver, notVouched, refusalOf, refused, rowsOf, STALE } from './refusal.ts'
import { unvouchedFinder } from './unvouched.ts'

/** Who approves which draft. */
export interface ApprovalRequest {
  readonly id: string
  /** The hash of the draft that was reviewed. */
  readonly hash: string
  readonly leaveOutHolds: boolean
  readonly actor: string
  /** In milliseconds. */
  readonly now: number
}

/** A statement that is approved, or that waits for another person. */
export interface ApprovalResult {
  readonly statement: BookedStatement
  readonly approvals: Candidate['approvals']
  /** What is still needed; null if it is approved. */
  readonly message: string | null
}

const ANOTHER = 'Another person must approve it, too.'

/** Says what is still needed if a person approves a draft again. */
function approvedAgain({ actor, at }: Candidate['approvals'][number]): string {
  const time = new Date(at).toISOString()
  const who =
    actor === ADMIN_KEY_ACTOR
      ? `It was approved with the admin key at ${time}, and all who use the key count as one person.`
      : `You (${actor}) approved it at ${time}.`
  return `${who} ${ANOTHER}`
}

/** The error of a statement that does not exist. */
export const noStatement = () =>
  new ApiError('not_found', { detail: 'This account has no statement with this id.' })

/**
 * Approves one statement. One that is approved with the same hash is returned as it is.
 *
 * @throws ApiError `not_found`, or the code of what has to be done first.
 */
export async function approveStatement(
  env: Env,
  account: Account,
  approval: ApprovalRequest,
): Promise<ApprovalResult> {
  const { id, hash, actor, now, leaveOutHolds } = approval
  const db = resolveDatabase(env, account.binding)
  const approver = { account: account.id, actor, required: account.approvals, now }
  const details = { statement: id, hash, ...(leaveOutHolds && { leave_out_holds: true }) }
  for (let attempt = 1; ; attempt++) {
    const statement = await findBooked(db, account.id, id)
    const [candidate] = await readCandidates(db, account.id, [id])
    if (!statement || !candidate) throw noStatement()
    checkHash(statement, hash)
    const { approvals } = candidate
    if (statement.status !== 'draft') return { statement, approvals, message: null }
    const period = checkOver(account, statement.period, now)
    const refusal = refusalOf(candidate, leaveOutHolds)
    if (refusal) throw refused(refusal)
    if (attempt > BOOK_LIMITS.attempts) throw refused(STALE)
    // It was computed again between the two queries.
    if (candidate.hash !== hash) continue
    // The same person again: another one has to follow.
    const mine = approvals.find((one) => one.actor === actor)
    if (mine && approvals.length < account.approvals) {
      return { statement, approvals, message: attempt > 1 ? ANOTHER : approvedAgain(mine) }
    }
    const vouchedAt = await lastVouchingRun(db, account.id, period.id)
    const unvouched = await unvouchedFinder(env, account, period)([candidate], vouchedAt)
    if (unvouched?.has(id)) throw refused(notVouched(period.id))
    const entry = { action: 'statement.approve', details }
    await approveRows(db, approver, rowsOf(candidate), entry, [])
  }
}

/** Returns the period with an id. Throws `period_not_over` if it has not ended. */
function checkOver(account: Account, text: string, now: number): Period {
  const period = storedPeriod(text)
  const end = endOf(account, period)
  if (now < end) throw refused(notOver(text, end))
  return period
}

function checkHash({ hash: present, status }: BookedStatement, hash: string): void {
  if (present === hash) return
  const detail =
    status === 'draft'
      ? `The draft has changed: its hash is ${present} now. Review it, and approve it with this hash.`
      : `The statement was approved with the hash ${present}.`
  throw refused({ code: 'hash_changed', detail })
}
