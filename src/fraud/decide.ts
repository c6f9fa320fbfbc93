import { counted } from '../commission/words/english.ts'
import { accountDatabase } from '../platform/db/database.ts'
import type { Account } from '../platform/db/schema.ts'
import { ApiError, unavailable } from '../platform/errors.ts'
import { validationFailed } from '../platform/http/read-fields.ts'
import { dayText } from '../platform/money/calendar.ts'
import type { Issue } from '../platform/validation/issue.ts'
import { quote } from '../platform/validation/quote.ts'
import { findCase, type StoredCase, type StoredDecision, type WholeCase } from './db/cases.ts'
import { type DecisionRequest, storeDecision } from './db/decisions.ts'
import { DECISION_LIMITS } from './limits.ts'

/** The error of a case that does not exist. */
export const noCase = (id: string) =>
  new ApiError('not_found', { detail: `There is no case ${quote(id)}.` })

/**
 * Decides a case, or ends the hold of a confirmed one. Where two persons must decide, the first decision waits
 * for another one that is the same, about the same records: the case is then `waiting`.
 *
 * @throws ApiError `not_found`, `not_open`, `evidence_changed`, `validation_failed`
 */
export async function decideCase(
  env: Env,
  account: Account,
  sent: DecisionRequest,
): Promise<WholeCase> {
  const { id, actor, shown } = sent
  const request = { ...sent, refuse: [...new Set(sent.refuse)].sort() }
  const db = accountDatabase(env, account)
  for (let attempt = 1; attempt <= DECISION_LIMITS.attempts; attempt++) {
    const whole = await findCase(db, account.id, id)
    if (!whole) throw noCase(id)
    const { found, decisions } = whole
    const isRelease = endsHold(found, request)
    if (found.status !== 'open' && !isRelease) throw notOpen(found)
    if (shown !== null && shown !== found.evidence_count) throw evidenceChanged(found, shown)
    const issues = checkRefused(sent, whole)
    if (issues.length > 0) throw validationFailed(issues)
    const same = latestOf(decisions).filter((one) => isSame(one, request, found))
    const isMine = same.some((one) => one.actor === actor)
    if (isMine && same.length < account.approvals) return whole
    const persons = new Set([...same.map((one) => one.actor), actor]).size
    const isFinal = persons >= account.approvals
    const { decision, reason, keepHold, refuse, from, now } = request
    const isStored = await storeDecision(db, {
      account: account.id,
      case_id: id,
      affiliate_id: found.affiliate_id,
      position: decisions.length,
      decision,
      reason,
      keepHold,
      refuse,
      from,
      shown: found.evidence_count,
      actor,
      isFinal,
      isRelease,
      now,
    })
    if (!isStored) continue
    return (await findCase(db, account.id, id)) ?? whole
  }
  throw unavailable(new Error('The case changed in each attempt.'), 1)
}

/** Whether a decision ends the hold of a case that was confirmed and keeps it. */
const endsHold = (found: StoredCase, { decision, keepHold, refuse }: DecisionRequest): boolean =>
  found.status === 'confirmed' &&
  found.keep_hold === 1 &&
  decision === 'confirmed' &&
  !keepHold &&
  refuse.length === 0

/** Returns the last decision of each person. */
const latestOf = (decisions: readonly StoredDecision[]): StoredDecision[] => [
  ...new Map(decisions.map((one) => [one.actor, one])).values(),
]

/** Whether a decision is what is asked for, about the records that the case has now. */
const isSame = (
  one: StoredDecision,
  { decision, keepHold, refuse, from }: DecisionRequest,
  found: StoredCase,
): boolean =>
  one.decision === decision &&
  one.keep_hold === Number(keepHold) &&
  one.refuse === JSON.stringify(refuse) &&
  (one.from_day === null ? null : dayText(one.from_day)) === from &&
  one.shown === found.evidence_count

/** Returns the issues of customers to refuse whom the case does not name, each once. */
const checkRefused = ({ id, refuse }: DecisionRequest, { customers }: WholeCase): Issue[] =>
  refuse.flatMap((value, i) =>
    customers.includes(value) || refuse.indexOf(value) < i
      ? []
      : [
          {
            pointer: `/refuse/${i}`,
            code: 'unknown_reference',
            expected: `a customer of the case ${quote(id)}`,
            value,
          },
        ],
  )

function notOpen({ status, decided_at, last_day, keep_hold }: StoredCase): ApiError {
  const decided = decided_at === null ? '' : ` at ${new Date(decided_at).toISOString()}`
  const detail =
    status === 'expired'
      ? `The case has expired: it has had no new records since ${dayText(last_day)}. New ones open another case.`
      : `The case was ${status}${decided}. A decision is final${keep_hold === 1 ? ', but it can end the hold: confirm it again without `keep_hold` and `refuse`' : ''}.`
  return new ApiError('not_open', { detail })
}

/** Returns the error of a decision about a case to which records were added. */
const evidenceChanged = ({ evidence_count }: StoredCase, shown: number): ApiError =>
  new ApiError('evidence_changed', {
    detail: `Nothing was decided. The case is not as it was shown: it has ${counted(evidence_count, 'record')}, not ${shown}. Look at it again, and decide it as it is now.`,
  })
