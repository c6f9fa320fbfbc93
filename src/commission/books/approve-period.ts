import { type Approver, approveRows } from '../../db/commission/books/approve.ts'
import { listDraftIds, readCandidates } from '../../db/commission/books/candidates.ts'
import {
  closingStatements,
  countOpen,
  readClosing,
  readRunPeriods,
} from '../../db/commission/books/close-period.ts'
import type { Account } from '../../db/schema.ts'
import { type Period, parsePeriod } from '../engine/calendar.ts'
import {
  type ApprovalTally,
  isStatement,
  list,
  type RefusedStatement,
  refuse,
} from './approval-tally.ts'
import { BOOK_LIMITS } from './limits.ts'
import { endOf } from './period-end.ts'
import { earlierDraft, notOver, refusalOf, refused, rowsOf, STALE } from './refusal.ts'

/** Who approves which plans of a period. */
export interface PeriodApproval {
  readonly period: Period
  readonly plans: readonly string[]
  readonly leaveOutHolds: boolean
  readonly actor: string
  /** Returns the time in milliseconds. */
  readonly clock: () => number
}

/** What the approval of a period did. */
export interface PeriodApproved {
  readonly period: string
  readonly plans: readonly string[]
  /** Whether the period is closed for every affiliate without a draft. */
  readonly closed: boolean
  /** The affiliates for whom it stays open: they have a draft of it or of an earlier period. */
  readonly open_total: number
  /** The statements that this request approved. */
  readonly approved: number
  /** The statements that another person has to approve, too. */
  readonly waiting: number
  readonly refused_total: number
  /** The first of the refused statements. */
  readonly refused: readonly RefusedStatement[]
}

interface Scope {
  plan: string
  period: string
  leaveOutHolds: boolean
}

/**
 * Approves every draft of a period that can be approved, in batches, and then closes the period.
 * Affiliates with a refused draft stay open. A repetition goes on where the last one stopped.
 *
 * @throws ApiError `period_not_over`, `not_run`
 */
export async function approvePeriod(
  db: D1Database,
  account: Account,
  { period, plans, leaveOutHolds, actor, clock }: PeriodApproval,
): Promise<PeriodApproved> {
  const started = clock()
  await checkRun(db, account, period, started)
  const tally: ApprovalTally = { approved: 0, waiting: 0, refused: [], total: 0 }
  let isClosed = true
  for (const plan of plans) {
    const isInTime = () => clock() - started < BOOK_LIMITS.approvalMs
    const approver = { account: account.id, actor, required: account.approvals, now: clock() }
    const scope = { plan, period: period.id, leaveOutHolds }
    isClosed = (await approvePlan(db, approver, scope, tally, isInTime)) && isClosed
  }
  const { approved, waiting, total, refused: list } = tally
  const open_total = await countOpen(db, account.id, plans, period.id)
  return {
    period: period.id,
    plans,
    closed: isClosed,
    open_total,
    approved,
    waiting,
    refused_total: total,
    refused: list,
  }
}

/** Throws unless the period is over, and a run that began after its end has computed it. */
async function checkRun(
  db: D1Database,
  account: Account,
  period: Period,
  now: number,
): Promise<void> {
  const end = endOf(account, period)
  if (now < end) throw refused(notOver(period.id, end))
  const since = new Date(end).toISOString()
  const runs = await readRunPeriods(db, account.id, since)
  if (runs.some((id) => (parsePeriod(id)?.last ?? 0) >= period.last)) return
  const detail = `No run of ${period.id} that began after its end, ${since}, is done. Start one and wait until it is done.`
  throw refused({ code: 'not_run', detail })
}

/**
 * Approves the drafts of a plan in batches, the last of which closes the period. Returns whether it is
 * closed: there may be no time for all, or another person must approve it, too.
 */
async function approvePlan(
  db: D1Database,
  approver: Approver,
  scope: Scope,
  tally: ApprovalTally,
  isInTime: () => boolean,
): Promise<boolean> {
  const { plan, period } = scope
  for (let after = ''; ; ) {
    const page = { plan, period, after, limit: BOOK_LIMITS.batch }
    const drafts = await listDraftIds(db, approver.account, page)
    const isLast = drafts.length < page.limit
    if (!isInTime()) return false
    const ids = drafts.map(({ id }) => id)
    const isClosed = await approvePage(db, approver, scope, { ids, isLast }, tally)
    if (isLast) return isClosed
    after = drafts.at(-1)?.affiliate_id ?? after
  }
}

/**
 * Approves the drafts of a page, and counts what became of them. Returns whether it closed the
 * period.
 */
async function approvePage(
  db: D1Database,
  approver: Approver,
  { plan, period, leaveOutHolds }: Scope,
  { ids, isLast }: { ids: readonly string[]; isLast: boolean },
  tally: ApprovalTally,
): Promise<boolean> {
  const candidates = ids.length > 0 ? await readCandidates(db, approver.account, ids) : []
  const possible = candidates.filter((one) => {
    const refusal = refusalOf(one, leaveOutHolds)
    if (refusal) refuse(tally, one, refusal)
    return !refusal
  })
  if (possible.length === 0 && !isLast) return false
  const entry = {
    action: 'period.approve',
    details: { plan, period, ...(leaveOutHolds && { leave_out_holds: true }) },
  }
  const limit = BOOK_LIMITS.refused
  const closing = isLast ? closingStatements(db, approver, { plan, period }, limit) : []
  const rows = possible.flatMap(rowsOf)
  const booked = await approveRows(db, approver, rows, entry, closing)
  const { approved, waiting } = booked
  const { isClosed, earlier } = readClosing(booked.closing)
  tally.approved += approved.size
  const others = possible.filter((one) => !approved.has(one.id) && isStatement(one))
  const left = others.filter(({ id }) => !waiting.has(id)).map(({ id }) => id)
  tally.waiting += others.length - left.length
  // A run has replaced these drafts meanwhile, or another request has approved them.
  for (const one of left.length > 0 ? await readCandidates(db, approver.account, left) : []) {
    if (one.chain[0]?.status === 'draft') refuse(tally, one, STALE)
  }
  for (const one of earlier) list(tally, { ...one, plan }, earlierDraft(one))
  tally.total += (earlier[0]?.total ?? 0) - earlier.length
  return isClosed
}
