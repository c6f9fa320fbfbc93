import { hasChangedRecords, readNewRates, readSettingChanges } from '../commission/db/changed.ts'
import { findStatement, type ListedStatement } from '../commission/db/statements.ts'
import type { OpenAccount } from '../commission/run/account.ts'
import { auditIdAt, SETTING_ACTIONS } from '../commission/run/causes.ts'
import { TooManyFacts } from '../commission/run/customers.ts'
import { computeDrafts } from '../commission/run/morning.ts'
import { inTurn, openPeriod } from '../commission/run/on-request.ts'
import { endOf } from '../commission/run/period-end.ts'
import { accountDatabase, resolveDatabase } from '../platform/db/database.ts'
import type { Account } from '../platform/db/schema.ts'
import { ApiError } from '../platform/errors.ts'
import { type Period, storedPeriod } from '../platform/money/calendar.ts'
import { bookZoneOf, dayInZone } from '../platform/zone.ts'
import {
  type Approver,
  approveRows,
  type Candidate,
  closingStatements,
  countOpen,
  isClosedBy,
  lastVouchingRun,
  listDraftIds,
  type PlanOfKind,
  readCandidates,
  type VouchingRun,
} from './db/approve.ts'
import { BOOK_LIMITS } from './limits.ts'
import { notOver, notVouched, type Refusal, refusalOf, refused, rowsOf, STALE } from './refusal.ts'

// A draft shows its records as they were when a run read them. It can be approved only while a
// computation still comes to it (§16.32). If nothing has changed since that run, nothing is computed.

/** The audited actions that can change drafts. */
const ACTIONS = [...SETTING_ACTIONS, 'account.change', 'manual-entry.add', 'erasures.replay']

/** The days before the first and after the last day of a period whose rates can change its drafts. */
const RATE_DAYS = { before: 366, after: 7 }

/**
 * Returns the ids of the drafts that a computation no longer comes to; null if they depend on more facts
 * than one request can read. Of a single draft with so many facts it returns the id if a setting, a rate
 * or a record of a day up to the end of its period has changed.
 */
type FindUnvouched = (drafts: readonly Candidate[]) => Promise<ReadonlySet<string> | null>

const NONE: ReadonlySet<string> = new Set()

const isDraft = ({ chain }: Candidate): boolean => chain[0]?.status === 'draft'

/** Returns a function that finds drafts of a period which must be computed again since a run, before an approval. */
function unvouchedFinder(
  env: Env,
  account: Account,
  period: Period,
  run: VouchingRun,
): FindUnvouched {
  const db = accountDatabase(env, account)
  let opened: Promise<OpenAccount> | null = null
  const compute = async (affiliates: readonly string[]): Promise<Map<string, string>> => {
    opened ??= openPeriod(env, { account: account.id, vertical: account.vertical }, db, period)
    const { drafts } = await computeDrafts(await opened, affiliates, {
      maxFacts: BOOK_LIMITS.facts,
    })
    return new Map(drafts.map(({ id, digest }) => [id, digest]))
  }
  return async (drafts) => {
    if (drafts.length === 0) return NONE
    const at = Math.min(...drafts.map(({ read_at }) => Math.max(read_at, run.at)))
    const since = { ...run, at }
    if (!(await hasChanged(env, account, period, since, null))) return NONE
    const affiliates = [...new Set(drafts.map(({ affiliate_id }) => affiliate_id))]
    const ids = drafts.map(({ id }) => id)
    try {
      const digests = await inTurn({ account: account.id }, () => compute(affiliates))
      const same = ({ id, chain }: Candidate) => digests.get(id) === chain[0]?.digest
      const others = drafts.filter((one) => !same(one)).map(({ id }) => id)
      if (others.length === 0) return NONE
      // Another request may have approved some of them meanwhile: a computation makes no draft of these.
      const present = await readCandidates(db, account.id, others)
      return new Set(present.filter(isDraft).map(({ id }) => id))
    } catch (error) {
      if (!(error instanceof TooManyFacts)) throw error
      if (affiliates.length > 1) return null
      return (await hasChanged(env, account, period, since, period.last)) ? new Set(ids) : NONE
    }
  }
}

/**
 * Returns whether anything has changed since a run on which the drafts of a period may
 * depend: records, settings, manual entries or rates.
 *
 * @param lastDay If not null, customers and records of later days do not count.
 */
async function hasChanged(
  env: Env,
  { id, binding }: Account,
  { first, last }: Period,
  { at, position }: VouchingRun,
  lastDay: number | null,
): Promise<boolean> {
  const db = resolveDatabase(env, binding)
  const rateDays = { first: first - RATE_DAYS.before, last: last + RATE_DAYS.after }
  const logs = binding === 'DB' ? [env.DB] : [env.DB, db]
  const [records, rates, ...settings] = await Promise.all([
    hasChangedRecords(db, id, { position, last_day: lastDay }),
    readNewRates(env.DB, { ...rateDays, since: at }),
    ...logs.map((log) => readSettingChanges(log, id, auditIdAt(at), ACTIONS)),
  ])
  return records || rates.length > 0 || settings.flat().length > 0
}

/** Who approves which draft. */
interface ApprovalRequest {
  readonly id: string
  /** The hash of the draft that was reviewed. */
  readonly hash: string
  readonly leaveOutHolds: boolean
  readonly actor: string
  /** In milliseconds. */
  readonly now: number
}

/** A statement that is approved, or that waits for another person. */
interface ApprovalResult {
  readonly statement: ListedStatement
  readonly approvals: Candidate['approvals']
  /** What is still needed; null if it is approved. */
  readonly message: string | null
}

const ANOTHER = 'Another person must approve it, too.'

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
  const db = accountDatabase(env, account)
  const approver = approverOf(account, actor, now)
  for (let attempt = 1; ; attempt++) {
    const statement = await findStatement(db, account.id, id, 1)
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
    const isMine = approvals.some((one) => one.actor === actor)
    if (isMine && approvals.length < account.approvals) {
      return { statement, approvals, message: ANOTHER }
    }
    const run = await lastVouchingRun(db, account.id, period.id)
    const unvouched = await unvouchedFinder(env, account, period, run)([candidate])
    if (unvouched?.has(id)) throw refused(notVouched(period.id))
    const { affiliate_id } = candidate
    const holds = leaveOutHolds && { leave_out_holds: true }
    const details = { statement: id, affiliate_id, hash, ...holds }
    const entry = { action: 'statement.approve', details }
    await approveRows(db, approver, rowsOf(candidate), entry, [])
  }
}

/** Returns who approves, at a time in milliseconds. */
const approverOf = (account: Account, actor: string, now: number): Approver => ({
  account: account.id,
  of: account,
  actor,
  required: account.approvals,
  now,
  today: dayInZone(bookZoneOf(account), now),
})

/** Returns the period with an id. Throws `period_not_over` if it has not ended. */
function checkOver(account: Account, text: string, now: number): Period {
  const period = storedPeriod(text)
  const end = endOf(account, period)
  if (now < end) throw refused(notOver(text, end))
  return period
}

function checkHash({ hash: present }: ListedStatement, hash: string): void {
  if (present === hash) return
  const detail =
    'The statement is not as it was reviewed, and nothing was approved. Review it as it is now.'
  throw refused({ code: 'hash_changed', detail })
}

/** Who approves which plans of a period. */
interface PeriodApproval {
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

/** What the approval of a period did so far. */
interface ApprovalTally {
  approved: number
  /** The statements that another person has to approve, too. */
  waiting: number
  refused_total: number
  /** The first of the refused statements. */
  readonly refused: RefusedStatement[]
}

/** What the approval of a period did. */
export type PeriodApproved = Awaited<ReturnType<typeof approvePeriod>>

/** The approval of a plan in a period. */
interface Scope {
  readonly plan: string
  readonly period: string
  readonly leaveOutHolds: boolean
  readonly findUnvouched: FindUnvouched
  readonly tally: ApprovalTally
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
) {
  const started = clock()
  const db = accountDatabase(env, account)
  const run = await checkRun(db, account, period, started)
  const plans = computedPlans(known, plan, period, run.at)
  const findUnvouched = unvouchedFinder(env, account, period, run)
  const tally: ApprovalTally = { approved: 0, waiting: 0, refused: [], refused_total: 0 }
  const isInTime = () => clock() - started < BOOK_LIMITS.approvalMs
  let isClosed = true
  for (const plan of plans) {
    const approver = approverOf(account, actor, clock())
    const scope = { plan, period: period.id, leaveOutHolds, findUnvouched, tally }
    isClosed = (await approvePlan(db, approver, scope, isInTime)) && isClosed
  }
  const open_total = await countOpen(db, account.id, plans, period.id)
  return { period: period.id, plans, closed: isClosed, open_total, ...tally }
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
 * Returns the last run that settled a period.
 *
 * @throws ApiError unless the period is over, and a run that began after its end has computed it.
 */
async function checkRun(
  db: D1Database,
  account: Account,
  period: Period,
  now: number,
): Promise<VouchingRun> {
  const end = endOf(account, period)
  if (now < end) throw refused(notOver(period.id, end))
  const run = await lastVouchingRun(db, account.id, period.id)
  if (run.at >= end) return run
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
  isInTime: () => boolean,
): Promise<boolean> {
  const { plan, period } = scope
  let limit = BOOK_LIMITS.batch
  for (let after = ''; ; ) {
    const drafts = await listDraftIds(db, approver.account, { plan, period, after, limit })
    const isLast = drafts.length < limit
    if (!isInTime()) return false
    const ids = drafts.map(({ id }) => id)
    const isClosed = await approvePage(db, approver, scope, { ids, isLast })
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
  { plan, period, leaveOutHolds, findUnvouched, tally }: Scope,
  { ids, isLast }: { ids: readonly string[]; isLast: boolean },
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
  const closing = isLast ? closingStatements(db, approver, { plan, period }) : []
  const rows = possible.flatMap(rowsOf)
  const booked = await approveRows(db, approver, rows, entry, closing)
  const { approved, waiting } = booked
  tally.approved += approved.size
  const others = possible.filter((one) => !approved.has(one.id) && isStatement(one))
  const left = others.filter(({ id }) => !waiting.has(id)).map(({ id }) => id)
  tally.waiting += others.length - left.length
  // A run has replaced these drafts meanwhile, or another request has approved them.
  for (const one of left.length > 0 ? await readCandidates(db, approver.account, left) : []) {
    if (isDraft(one)) refuse(tally, one, STALE)
  }
  return isClosedBy(booked.closing)
}

/** A statement that could not be approved. */
type RefusedStatement = Required<Refusal> &
  Pick<Candidate, 'id' | 'affiliate_id' | 'plan' | 'period'>

/** Whether a row has a statement. Rows without one only carry a balance. */
const isStatement = ({ chain }: Candidate): boolean => chain[0]?.is_carry === 0

/** Counts the refusal of a draft, and lists it as far as there is room. */
function refuse(tally: ApprovalTally, one: Candidate, refusal: Refusal): void {
  // A row that only carries waits for the earlier ones, like its affiliate.
  if (!isStatement(one) && refusal.code !== STALE.code) return
  tally.refused_total += 1
  if (tally.refused.length === BOOK_LIMITS.refused) return
  const { id, affiliate_id, plan, period } = one
  tally.refused.push({ id, affiliate_id, plan, period, currencies: [], ...refusal })
}
