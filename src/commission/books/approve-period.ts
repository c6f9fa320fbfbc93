import { type Approver, approveRows } from '../../db/commission/books/approve.ts'
import {
  type Candidate,
  listDraftIds,
  readCandidates,
} from '../../db/commission/books/candidates.ts'
import {
  closingStatements,
  countOpen,
  lastVouchingRun,
  type PlanOfKind,
  readClosing,
} from '../../db/commission/books/close-period.ts'
import { resolveDatabase } from '../../db/database.ts'
import type { Account } from '../../db/schema.ts'
import type { ErrorCode } from '../../errors.ts'
import type { Period } from '../engine/calendar.ts'
import { BOOK_LIMITS } from './limits.ts'
import { endOf } from './period-end.ts'
import {
  earlierDraft,
  notOver,
  notVouched,
  type Refusal,
  refusalOf,
  refused,
  rowsOf,
  STALE,
} from './refusal.ts'
import { type FindUnvouched, unvouchedFinder } from './unvouched.ts'

/** Who approves which plans of a period. */
export interface PeriodApproval {
  readonly period: Period
  /** The plans with periods of this kind. */
  readonly known: readonly PlanOfKind[]
  /** The plan to approve; null: all plans that the last run has computed. */
  readonly plan: string | null
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
  findUnvouched: (drafts: readonly Candidate[]) => ReturnType<FindUnvouched>
}

/**
 * Approves every draft of a period that can be approved, in batches, and then closes the period.
 * Affiliates with a refused draft stay open. A repetition goes on where the last one stopped.
 *
 * @throws ApiError `period_not_over`, `not_run`
 */
export async function approvePeriod(
  env: Env,
  account: Account,
  { period, known, plan, leaveOutHolds, actor, clock }: PeriodApproval,
): Promise<PeriodApproved> {
  const started = clock()
  const db = resolveDatabase(env, account.binding)
  const vouchedAt = await checkRun(db, account, period, started)
  const plans = computedPlans(known, plan, period, vouchedAt)
  const findUnvouched = unvouchedFinder(env, account, period)
  const tally: ApprovalTally = { approved: 0, waiting: 0, refused: [], total: 0 }
  const isInTime = () => clock() - started < BOOK_LIMITS.approvalMs
  let isClosed = true
  for (const plan of plans) {
    const approver = { account: account.id, actor, required: account.approvals, now: clock() }
    const scope: Scope = {
      plan,
      period: period.id,
      leaveOutHolds,
      findUnvouched: (drafts) => findUnvouched(drafts, vouchedAt),
    }
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

/**
 * Returns the plans to approve: the plan that was asked for, or all plans with periods of this kind
 * that existed when the last run began.
 *
 * @throws ApiError `not_run` if the run has not computed the plan that was asked for.
 */
function computedPlans(
  plans: readonly PlanOfKind[],
  requested: string | null,
  { id }: Period,
  vouchedAt: number,
): string[] {
  const computed = plans.filter(({ created_at }) => Date.parse(created_at) <= vouchedAt)
  const names = computed.map(({ plan }) => plan)
  if (requested === null) return names
  if (names.includes(requested)) return [requested]
  const detail = `The plan ${requested} was created after the last run of ${id} began. Run the period again.`
  throw refused({ code: 'not_run', detail })
}

/**
 * Returns when the last run that settled a period began, in milliseconds.
 *
 * @throws ApiError unless the period is over, and a run that began after its end has computed it.
 */
async function checkRun(
  db: D1Database,
  account: Account,
  period: Period,
  now: number,
): Promise<number> {
  const end = endOf(account, period)
  if (now < end) throw refused(notOver(period.id, end))
  const vouchedAt = await lastVouchingRun(db, account.id, period.id)
  if (vouchedAt >= end) return vouchedAt
  const since = new Date(end).toISOString()
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
  let limit = BOOK_LIMITS.batch
  for (let after = ''; ; ) {
    const drafts = await listDraftIds(db, approver.account, { plan, period, after, limit })
    const isLast = drafts.length < limit
    if (!isInTime()) return false
    const ids = drafts.map(({ id }) => id)
    const isClosed = await approvePage(db, approver, scope, { ids, isLast }, tally)
    if (isClosed === null) {
      limit = Math.ceil(drafts.length / BOOK_LIMITS.divisor)
      continue
    }
    if (isLast) return isClosed
    after = drafts.at(-1)?.affiliate_id ?? after
  }
}

/**
 * Approves the drafts of a page, and counts what became of them. Returns whether it closed the period;
 * null if they depend on too many facts to approve them at once: then it has done nothing.
 */
async function approvePage(
  db: D1Database,
  approver: Approver,
  { plan, period, leaveOutHolds, findUnvouched }: Scope,
  { ids, isLast }: { ids: readonly string[]; isLast: boolean },
  tally: ApprovalTally,
): Promise<boolean | null> {
  const candidates = ids.length > 0 ? await readCandidates(db, approver.account, ids) : []
  const refusals = new Map(candidates.map((one) => [one.id, refusalOf(one, leaveOutHolds)]))
  const unvouched = await findUnvouched(candidates.filter(({ id }) => !refusals.get(id)))
  if (unvouched === null) return null
  for (const id of unvouched) refusals.set(id, notVouched(period))
  const possible = candidates.filter((one) => {
    const refusal = refusals.get(one.id)
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

/** A statement that could not be approved; an earlier one if the affiliate has none of the period. */
interface RefusedStatement {
  readonly id: string
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  readonly code: ErrorCode
  readonly detail: string
}

/** What became of the statements of a period. */
interface ApprovalTally {
  approved: number
  waiting: number
  refused: RefusedStatement[]
  total: number
}

/** Whether a row has a statement. Rows without one only carry a balance. */
const isStatement = ({ chain }: Candidate): boolean => chain[0]?.is_carry === 0

/** Lists the refusal of a draft. */
function refuse(tally: ApprovalTally, one: Candidate, refusal: Refusal): void {
  // For a carry-only row, the earlier statement is listed instead.
  if (isStatement(one) || refusal.code === STALE.code) list(tally, one, refusal)
}

/** Lists a refusal of a statement, as far as there is room, and counts it. */
function list(
  tally: ApprovalTally,
  { id, affiliate_id, plan, period }: Pick<Candidate, 'id' | 'affiliate_id' | 'plan' | 'period'>,
  { code, detail }: Refusal,
): void {
  tally.total += 1
  if (tally.refused.length === BOOK_LIMITS.refused) return
  tally.refused.push({ id, affiliate_id, plan, period, code, detail })
}
