import * as v from 'valibot'
import { readPathPeriod } from '../../commission/operations/path-period.ts'
import { presentStatement } from '../../commission/operations/present-statement.ts'
import { approval, periodApproval } from '../../commission/shapes/book-fields.ts'
import { statement } from '../../commission/shapes/statements.ts'
import { type Call, operation, reply } from '../../platform/http/operation.ts'
import { validationFailed } from '../../platform/http/read-fields.ts'
import { requirePerson } from '../../platform/http/two-persons.ts'
import type { Period } from '../../platform/money/calendar.ts'
import { count, time } from '../../platform/validation/answer-fields.ts'
import { component, described } from '../../platform/validation/described.ts'
import { member, said } from '../../platform/validation/fields.ts'
import { sendCaused } from '../../webhooks/operations/send-caused.ts'
import * as approve from '../approve.ts'
import { type PlanOfKind, plansOfKind } from '../db/approve.ts'
import { BOOK_LIMITS } from '../limits.ts'
import { REFUSALS } from '../refusal.ts'

const text = v.string()
const actor = described(() => member(text, 'The member of the integrations team.'))
const booked = component('BookedStatement', () => statement)

const ofStatement = {
  topic: 'statements',
  method: 'POST',
  params: {
    statement_id: member(text, said('The id of the statement.', 'stm_3f1c52a9d0e84b7796c1d20b')),
  },
} as const

const waiting = component('WaitingStatement', () => ({
  ...statement,
  approvals: member(
    v.array(v.object({ actor, at: member(time, 'When.') })),
    'Who has approved it.',
  ),
  approvals_required: member(count, 'The number of different persons who must approve it.'),
  message: member(text, 'What is still needed.'),
}))

export const approveStatement = operation({
  ...ofStatement,
  id: 'approveStatement',
  shows: 'affiliate',
  path: '/statements/{statement_id}/approve',
  body: approval,
  words: described(() => ({
    description:
      'Approves the draft with this hash. From then on it never changes, and its period is closed for its affiliate and plan. Approving it again returns it as it is. A draft that is no longer what a computation comes to is refused with `not_run`. If the account requires two persons, the first one gets 202.',
    answer: booked,
    others: { 202: waiting },
    errors: [
      'same_person',
      'hash_changed',
      'period_not_over',
      'earlier_not_approved',
      'stale',
      'holds',
      'not_run',
    ],
    command: { name: 'statements approve' },
  })),
  async run(call, { statement_id: id, hash, leave_out_holds: leaveOutHolds = false }) {
    const { env, account, actor } = call
    await requirePerson(call)
    const request = { id, hash, leaveOutHolds, actor, now: Date.now() }
    const found = await approve.approveStatement(env, account, request)
    sendCaused(call, account)
    const shown = presentStatement(found.statement)
    if (shown.status !== 'draft') return shown
    const approvals = found.approvals.map(({ actor, at }) => ({
      actor,
      at: new Date(at).toISOString(),
    }))
    const { message } = found
    return reply(202, {
      ...shown,
      approvals,
      approvals_required: account.approvals,
      message,
    })
  },
})

const refused = described(() =>
  v.object({
    id: member(text, 'The id of the statement.'),
    affiliate_id: statement.affiliate_id,
    plan: statement.plan,
    period: member(text, 'The period.'),
    code: member(
      v.picklist(REFUSALS),
      'Why it was not approved: the error code of its own approval.',
    ),
    detail: member(text, 'What to do.'),
    currencies: member(v.array(text), 'The currencies whose rates are missing. Empty if none is.'),
  }),
)

const approvedPeriod = component('ApprovedPeriod', () => ({
  period: member(text, 'The period.'),
  plans: member(v.array(text), 'The plans.'),
  closed: member(
    v.boolean(),
    'Whether the period is closed. For affiliates with a draft, it stays open.',
  ),
  open_total: member(
    count,
    'The number of affiliates for whom the period is not closed: they have a draft of it or of an earlier period.',
  ),
  approved: member(count, 'The statements that this request approved.'),
  waiting: member(count, 'The statements that another person must approve, too.'),
  refused_total: member(count, 'The statements that were not approved.'),
  refused: member(v.array(refused), `The first ${BOOK_LIMITS.refused} of them.`),
}))

export const approvePeriod = operation({
  topic: 'statements',
  id: 'approvePeriod',
  shows: 'account',
  method: 'POST',
  path: '/periods/{period}/approve',
  params: { period: member(text, said('The period: a month or a week of ISO 8601.', '2026-10')) },
  body: periodApproval,
  words: described(() => ({
    description: `Approves every draft of the period that can be approved, in batches of ${BOOK_LIMITS.batch}, and says which are refused and why. A draft that is no longer what a computation comes to is refused. Then it closes the period for every affiliate without a refused draft. Without \`plan\`, it approves the plans that existed when the last run began. A repeated request continues where the last one stopped.`,
    answer: approvedPeriod,
    others: { 202: approvedPeriod },
    errors: ['period_not_over', 'not_run', 'same_person'],
    command: { name: 'periods approve' },
  })),
  async run(call, { period: id, plan = null, leave_out_holds: leaveOutHolds = false }) {
    const { env, account, actor } = call
    await requirePerson(call)
    const period = readPathPeriod(id)
    const known = await readPlans(call, period, plan)
    const request = { period, known, plan, leaveOutHolds, actor, clock: Date.now }
    const result = await approve.approvePeriod(env, account, request)
    sendCaused(call, account)
    return result.closed ? result : reply(202, result)
  },
})

/** Returns the plans with periods of a kind. Throws if the plan that is asked for is none of them. */
async function readPlans(
  { db, account }: Call,
  { kind }: Period,
  requested: string | null,
): Promise<PlanOfKind[]> {
  const plans = await plansOfKind(db, account.id, kind)
  if (requested === null || plans.some(({ plan }) => plan === requested)) return plans
  const expected = `a plan with periods of a ${kind}`
  const suggestions = plans.map(({ plan }) => plan)
  throw validationFailed([
    { pointer: '/plan', code: 'unknown_reference', expected, value: requested, suggestions },
  ])
}

/** The operations that close the books. */
export const APPROVAL_OPERATIONS = [approveStatement, approvePeriod]
