import { ABORT, IS_FIRST_ATTEMPT } from '../commission/books/audit-guard.ts'
import type { Connection } from '../database.ts'
import { newAuditId, withAudit } from '../directory/audit.ts'
import { type FoundPage, type Page, paginate } from '../paginate.ts'
import { first } from '../query.ts'
import { isAssertionFailure } from '../retry.ts'
import type { fraudEndedHolds } from '../schema.ts'
import { bindStatement, compileStatement } from '../statement.ts'

/** A hold that ended without a decision. Times are in milliseconds. */
export type EndedHold = Omit<typeof fraudEndedHolds.$inferSelect, 'account' | 'reserve_percent'> & {
  /** 1 if the case exists. */
  readonly is_case: number
}

const COLUMNS = [
  ...['case_id', 'affiliate_id', 'rule', 'name', 'subject', 'sentence', 'because', 'moved'],
  ...['opened_at', 'ended_at', 'holds', 'acknowledged_by', 'acknowledged_reason'],
  'acknowledged_at',
] as const satisfies readonly (keyof EndedHold)[]

const SELECTED = [
  ...COLUMNS.map((column) => `h.${column}`),
  'exists (select 1 from fraud_cases c where c.account = h.account and c.id = h.case_id) as is_case',
]

/**
 * Reads one page of the holds that ended without a decision and were not acknowledged, the latest first.
 *
 * @param affiliate_id Only those on this affiliate; null: all.
 */
export const listEndedHolds = (
  db: D1Database | D1DatabaseSession,
  account: string,
  affiliate_id: string | null,
  page: Page,
): Promise<FoundPage<EndedHold>> =>
  paginate(
    db,
    {
      columns: SELECTED,
      from: `fraud_ended_holds h where h.account = :account${affiliate_id === null ? '' : ' and h.affiliate_id = :affiliate_id'}`,
      key: ['ended_at', 'case_id'],
      descending: true,
      values: { account, affiliate_id },
    },
    page,
  )

const FIND = compileStatement(`
  select ${SELECTED.join()} from fraud_ended_holds h
  where h.account = :account and h.case_id = :case_id`)

/** Returns the hold of a case that ended without a decision; null if there is none to acknowledge. */
export const findEndedHold = (
  db: Connection,
  account: string,
  case_id: string,
): Promise<EndedHold | null> => first<EndedHold>(db, FIND, { account, case_id })

const REJECT_CHANGED = compileStatement(`
  select ${ABORT} where ${IS_FIRST_ATTEMPT} and not exists (select 1 from fraud_ended_holds
    where account = :account and case_id = :case_id and ended_at = :ended_at
      and acknowledged_by is :acknowledged_by)`)

const DELETE = compileStatement(`
  delete from fraud_ended_holds where account = :account and case_id = :case_id
    and ${IS_FIRST_ATTEMPT}`)

const NOTE_FIRST = compileStatement(`
  update fraud_ended_holds set acknowledged_by = :actor, acknowledged_reason = :reason,
    acknowledged_at = :at
  where account = :account and case_id = :case_id and ${IS_FIRST_ATTEMPT}`)

/** Who acknowledges the end of a hold, and why. */
interface Acknowledgement {
  readonly actor: string
  readonly reason: string
  /** The time, as on the wire. */
  readonly at: string
  /** Whether it is over by that; else another person has to acknowledge it as well. */
  readonly isFinal: boolean
}

/** Notes that a person has looked at the end of a hold. Returns false if it is not there, or has changed. */
export async function acknowledgeHold(
  db: D1Database,
  account: string,
  { case_id, affiliate_id, rule, because, ended_at, holds, acknowledged_by }: EndedHold,
  { isFinal, ...by }: Acknowledgement,
): Promise<boolean> {
  const audit = newAuditId()
  const { actor, reason } = by
  const values = { account, case_id, ended_at, acknowledged_by, audit, ...by }
  const details = {
    ...{ case: case_id, affiliate_id, rule, because, reason },
    ...(holds === 1 && { waiting: !isFinal }),
  }
  try {
    await withAudit(
      db,
      { actor, action: 'fraud-case.acknowledge', account, details },
      [REJECT_CHANGED, isFinal ? DELETE : NOTE_FIRST].map((one) => bindStatement(db, one, values)),
      audit,
    )
    return true
  } catch (error) {
    if (!isAssertionFailure(error)) throw error
    return false
  }
}
