import * as v from 'valibot'
import { ADMIN_KEY_ACTOR } from '../auth/admin-keys.ts'
import * as rows from '../db/fraud/ended-holds.ts'
import { holdAcknowledgement } from '../fraud/decision-fields.ts'
import { parseSubjectKey } from '../fraud/findings.ts'
import { subject } from '../fraud/kind.ts'
import { accountList, accountOperation, reply } from '../http/operation.ts'
import { notFound } from '../http/read-fields.ts'
import { count, day, time } from '../validation/answer-fields.ts'
import { described, named, withMembers } from '../validation/described.ts'
import { member, said } from '../validation/fields.ts'

const case_id = member(v.string(), said('The id of the case.', 'case_0123456789abcdefghjkmnpqrs'))

const endedHold = described(() =>
  named(
    'EndedHold',
    v.object({
      case_id,
      affiliate_id: member(v.string(), 'The affiliate whose payouts it held.'),
      rule: member(v.string(), 'The id of the rule that found it.'),
      name: member(v.string(), 'The display name of the rule.'),
      subject,
      sentence: member(v.string(), 'What was found, in one sentence.'),
      because: member(
        v.picklist(['records', 'rule', 'expired']),
        'Why the hold ended. `records`: records of the case were corrected, erased or given to another affiliate, so that it is gone; `rule`: another version of the rule applies, which finds or holds less; `expired`: nobody decided it in time.',
      ),
      moved: v.nullable(
        member(
          v.object({
            customer_id: member(v.string(), 'The customer.'),
            affiliate_id: v.nullable(
              member(v.string(), 'The affiliate that the customer has now, or null.'),
            ),
            from: v.nullable(member(day, 'The first day with it. Null: from the beginning.')),
          }),
          'A customer of the case who was moved to another affiliate, or null.',
        ),
      ),
      opened_at: member(time, 'When an evaluation first found the case.'),
      ended_at: member(time, 'When an evaluation ended the hold.'),
      is_case: member(v.boolean(), 'Whether the case exists.'),
      goes_on: member(
        v.boolean(),
        'Whether it goes on until two persons have acknowledged it or decided the case, since the account requires two.',
      ),
      acknowledged: v.nullable(
        member(
          v.object({
            actor: member(v.string(), 'Who acknowledged it first.'),
            reason: member(v.string(), 'What the person found.'),
            at: member(time, 'When.'),
          }),
          'The acknowledgement of one person while another one must follow, or null.',
        ),
      ),
    }),
  ),
)

const waitingEndedHold = described(() =>
  named(
    'WaitingEndedHold',
    withMembers(endedHold, {
      approvals_required: member(count, 'The number of different persons who must do so.'),
      message: member(v.string(), 'What is still needed.'),
    }),
  ),
)

/** Who acknowledged the end of a hold. `at` is a time as on the wire. */
interface Acknowledgement {
  readonly actor: string
  readonly reason: string
  readonly at: string
}

/** Returns who acknowledged a hold first, while another person must do so as well; else null. */
function acknowledgementOf(found: rows.EndedHold): Acknowledgement | null {
  const { acknowledged_by: actor, acknowledged_reason: reason, acknowledged_at: at } = found
  return actor === null || reason === null || at === null ? null : { actor, reason, at }
}

const present = (found: rows.EndedHold) => {
  const { case_id, affiliate_id, rule, name, sentence, because, moved } = found
  return {
    ...{ case_id, affiliate_id, rule, name, subject: parseSubjectKey(found.subject), sentence },
    ...{ because, moved: moved === null ? null : JSON.parse(moved) },
    opened_at: new Date(found.opened_at).toISOString(),
    ended_at: new Date(found.ended_at).toISOString(),
    is_case: found.is_case === 1,
    goes_on: found.holds === 1,
    acknowledged: acknowledgementOf(found),
  }
}

export const listEndedHolds = accountList({
  id: 'listEndedHolds',
  topic: 'cases',
  path: '/ended-holds',
  role: 'viewer',
  params: {
    affiliate_id: v.optional(member(v.string(), said('Only those of this affiliate.', 'IB-07'))),
  },
  words: described(() => ({
    description:
      'Returns the holds of payouts that an evaluation ended although nobody had decided the case, the latest first: each until a person acknowledges it, the case is decided, or it holds again.',
    answer: endedHold,
    command: {
      name: 'fraud ended-holds',
      columns: [
        ...['case_id', 'ended_at', 'affiliate_id', 'because', 'moved', 'goes_on', 'acknowledged'],
        ...['name', 'sentence'],
      ],
    },
  })),
  async list({ db, account }, { affiliate_id = null }, page) {
    const found = await rows.listEndedHolds(db, account.id, affiliate_id, page)
    return { ...found, data: found.data.map(present) }
  },
})

export const acknowledgeEndedHold = accountOperation({
  id: 'acknowledgeEndedHold',
  topic: 'cases',
  method: 'POST',
  path: '/ended-holds/{case_id}/acknowledge',
  params: { case_id },
  body: holdAcknowledgement,
  words: described(() => ({
    description:
      'Notes in the audit log that a person has looked at the end of a hold, with a reason. It is no longer listed, and `attention` no longer names it. A hold that goes on (`goes_on`) needs the acknowledgement of two persons, which ends it; the first one gets 202.',
    answer: endedHold,
    others: { 202: waitingEndedHold },
    command: { name: 'fraud acknowledge' },
  })),
  async run({ db, account, actor }, { case_id: id, reason }) {
    const found = await rows.findEndedHold(db, account.id, id)
    if (!found) throw notFound('ended hold', id)
    const first = acknowledgementOf(found)
    const by: Acknowledgement = { actor, reason, at: new Date().toISOString() }
    const waiting = { ...present(found), approvals_required: PERSONS }
    if (first?.actor === actor) return reply(202, { ...waiting, message: acknowledgedAgain(first) })
    const isFinal = found.holds === 0 || first !== null
    if (!(await rows.acknowledgeHold(db, account.id, found, { ...by, isFinal })))
      throw notFound('ended hold', id)
    if (isFinal) return present(found)
    return reply(202, { ...waiting, acknowledged: by, message: ANOTHER })
  },
})

/** The persons who must acknowledge the end of a hold that goes on until then. */
const PERSONS = 2

const ANOTHER = 'Another person must acknowledge it too. Until then the payouts stay held.'

/** Says what is still needed if a person acknowledges the end of a hold again. */
const acknowledgedAgain = ({ actor, at }: Acknowledgement): string =>
  `${actor === ADMIN_KEY_ACTOR ? 'It was acknowledged with the admin key, by which all count as one person,' : `You (${actor}) acknowledged it`} at ${at}. ${ANOTHER}`

/** The operations on holds of payouts that ended without a decision, until a person has looked at each. */
export const ENDED_HOLD_OPERATIONS = [listEndedHolds, acknowledgeEndedHold]
