import { dayNumber } from '../../platform/db/column-types.ts'
import { BEGINNING } from '../../platform/db/history.ts'
import type { fraudDecisions } from '../../platform/db/schema.ts'
import { ABORT, JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import { newAuditId, tryWithAudit } from '../../platform/directory/audit.ts'
import { eventOf } from '../../webhooks/db/events.ts'
import { caseData } from './findings.ts'

type Row = typeof fraudDecisions.$inferSelect

/** What a person decides of a case. */
export interface DecisionRequest {
  readonly id: string
  readonly decision: 'confirmed' | 'dismissed'
  readonly reason: string
  readonly keepHold: boolean
  /** The customers to refuse, as they were sent. */
  readonly refuse: readonly string[]
  /** The first day from which they are refused; null for the beginning. */
  readonly from: string | null
  /** The number of records that the person saw; null if they do not say. */
  readonly shown: number | null
  readonly actor: string
  /** In milliseconds. */
  readonly now: number
}

/** A decision to store. */
export interface NewDecision extends Omit<DecisionRequest, 'id' | 'shown'>, Pick<Row, 'shown'> {
  readonly account: string
  readonly case_id: string
  readonly affiliate_id: string
  /** The number of decisions that were made before. */
  readonly position: number
  /** Whether the case is decided by it; else another person has to decide the same. */
  readonly isFinal: boolean
  /** Whether it ends the hold of a confirmed case that keeps it. */
  readonly isRelease: boolean
}

/** Aborts the batch if the case is not what it was, has more records, or was decided meanwhile. */
const REJECT_CHANGED = compileStatement(`
  select ${ABORT} where
    not exists (select 1 from fraud_cases where account = :account and id = :case_id
      and status = :was_status and evidence_count = :shown)
    or (select count(*) from fraud_decisions
      where account = :account and case_id = :case_id) <> :position`)

const INSERT_DECISION = compileStatement(`
  insert into fraud_decisions (account, case_id, position, decision, reason, keep_hold, refuse,
    from_day, shown, actor, at)
  values (:account, :case_id, :position, :decision, :reason, :keep_hold, :refuse, :from_day,
    :shown, :actor, :at)`)

const DECIDE = compileStatement(`
  update fraud_cases set status = :decision, keep_hold = :keep_hold,
    decided_at = iif(status = 'open', :now, decided_at)
  where account = :account and id = :case_id`)

/** Writes `case.decided`. The end of a hold is no decision. */
const NOTIFY_DECIDED = eventOf(
  'case.decided',
  `select :case_id as about, json_set(${caseData((name) => name)}, '$.decision', status,
      '$.keep_hold', json(iif(keep_hold, 'true', 'false'))) as data
    from fraud_cases where account = :account and id = :case_id and :was_status = 'open'`,
)

/** Refuses customers. One who is refused from that day on, or from an earlier one, stays so. */
const REFUSE = compileStatement(`
  insert into customer_refusals (account, customer_id, day, reason, refused_at)
  select :account, r.value ->> 0, :refused_from, :refusal_reason, :at from ${JSON_EACH}(:refused) r
  where true on conflict (account, customer_id) do update set day = excluded.day, reason = excluded.reason,
    refused_at = excluded.refused_at
  where excluded.day < customer_refusals.day`)

/** Adds an entry to the audit log for each customer whom that statement has refused. */
const AUDIT_REFUSALS = compileStatement(`
  insert into audit_log (id, at, actor, action, account, details)
  select r.value ->> 1, :at, :actor, 'refusal.put', :account, json_object(
    'customer_id', r.value ->> 0, 'from', :from, 'reason', :refusal_reason, 'case', :case_id)
  from ${JSON_EACH}(:refused) r
  cross join customer_refusals c on c.account = :account and c.customer_id = r.value ->> 0
    and c.refused_at = :at and c.reason = :refusal_reason`)

/**
 * Stores what a person decided and, if the case is decided by it, its status and its refusals, in one atomic
 * batch. Returns false if the case has changed meanwhile.
 */
export async function storeDecision(db: D1Database, decision: NewDecision): Promise<boolean> {
  const { account, case_id, affiliate_id, actor, isFinal, keepHold, refuse, from, now, ...others } =
    decision
  const { isRelease, ...rest } = others
  const fromDay = from === null ? null : dayNumber(from)
  const stored = refuse.map((id) => [id, newAuditId()])
  const values = {
    ...rest,
    account,
    case_id,
    actor,
    now,
    from,
    from_day: fromDay,
    at: new Date(now).toISOString(),
    keep_hold: Number(keepHold),
    refuse: JSON.stringify(refuse),
    was_status: isRelease ? 'confirmed' : 'open',
    refused: JSON.stringify(stored),
    refused_from: fromDay ?? BEGINNING,
    refusal_reason: refusalReason(case_id, decision.reason),
  }
  const final = [DECIDE, NOTIFY_DECIDED, ...(refuse.length > 0 ? [REFUSE, AUDIT_REFUSALS] : [])]
  const statements = [REJECT_CHANGED, INSERT_DECISION, ...(isFinal ? final : [])].map((one) =>
    bindStatement(db, one, values),
  )
  const details = {
    case: case_id,
    affiliate_id,
    decision: decision.decision,
    reason: decision.reason,
    keep_hold: keepHold,
    refused: refuse.length,
    waiting: !isFinal,
    ...(isRelease && { release: true }),
  }
  return tryWithAudit(db, { actor, action: 'fraud-case.decide', account, details }, statements)
}

/** Returns the reason of a refusal by a case. */
const refusalReason = (caseId: string, reason: string): string =>
  `Fraud review, ${caseId}: ${reason}`
