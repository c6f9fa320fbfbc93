import * as v from 'valibot'
import { ApiError } from '../../platform/errors.ts'
import { operation, reply } from '../../platform/http/operation.ts'
import { validationFailed } from '../../platform/http/read-fields.ts'
import { requirePerson } from '../../platform/http/two-persons.ts'
import { component, described } from '../../platform/validation/described.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, said } from '../../platform/validation/fields.ts'
import type { Issue } from '../../platform/validation/issue.ts'
import { listOf } from '../../platform/validation/shapes.ts'
import { sendCaused } from '../../webhooks/operations/send-caused.ts'
import { decideCase } from '../decide.ts'
import { caseDecision } from '../decision-fields.ts'
import { readHolds } from '../holds.ts'
import { DECISION_LIMITS } from '../limits.ts'
import { presentWholeCase, wholeFraudCase } from '../present-case.ts'

/** What becomes of one of several cases. */
const OUTCOMES = ['decided', 'waiting', 'not_open', 'not_found'] as const

const decidedCases = component('DecidedFraudCases', () => ({
  data: member(
    v.array(
      v.object({
        case_id: member(v.string(), 'The case.'),
        outcome: member(
          v.picklist(OUTCOMES),
          'What became of it: `decided`; `waiting` for another person who decides the same; `not_open` if it was decided or has expired before; `not_found`.',
        ),
      }),
    ),
    'The cases, each once, in the order of the request.',
  ),
}))

const case_id = member(v.string(), said('The id of the case.', 'case_0123456789abcdefghjkmnpqrs'))

export const decideFraudCase = operation({
  id: 'decideFraudCase',
  shows: 'account',
  topic: 'cases',
  method: 'POST',
  path: '/cases/{case_id}/decide',
  params: { case_id },
  body: caseDecision,
  words: described(() => ({
    description:
      'Confirms or dismisses an open case, with a reason. A decision ends the hold of the case, unless it is confirmed with `keep_hold`. The customers of `refuse` earn nothing from `from` on, with the case as the reason; a customer who is refused already from then on stays as they are. All of it is stored, or nothing. A case that was confirmed with `keep_hold` is confirmed again without it to end its hold; nothing else of a decision can be changed. If the account requires two persons, the first one gets 202 with the case, which is `waiting`, and the second one must decide the same about the same records.',
    answer: wholeFraudCase,
    others: { 202: wholeFraudCase },
    errors: ['not_open', 'evidence_changed', 'same_person'],
    command: { name: 'fraud decide' },
  })),
  async run(call, { case_id: id, ...sent }) {
    const { env, db, account, actor } = call
    await requirePerson(call)
    const { decision, reason, keep_hold: keepHold = false, from = null, shown = null } = sent
    const refuse = sent.refuse ?? []
    const wrong = misplaced({ ...sent, keep_hold: keepHold || undefined })
    if (wrong.length > 0) throw validationFailed(wrong)
    const whole = await decideCase(env, account, {
      id,
      decision,
      reason,
      keepHold,
      refuse,
      from,
      shown,
      actor,
      now: Date.now(),
    })
    sendCaused(call, account)
    const { affiliate_id } = whole.found
    const holds = await readHolds(db, account.id, [affiliate_id])
    const found = presentWholeCase(whole, holds.get(affiliate_id))
    return found.waiting ? reply(202, found) : found
  },
})

export const decideFraudCases = operation({
  id: 'decideFraudCases',
  shows: 'account',
  topic: 'cases',
  method: 'POST',
  path: '/cases/decide',
  body: {
    case_ids: member(
      listOf(f.id, DECISION_LIMITS.cases),
      said(`The cases, 1 to ${DECISION_LIMITS.cases}.`, ['case_0123456789abcdefghjkmnpqrs']),
    ),
    decision: caseDecision.decision,
    reason: caseDecision.reason,
  },
  words: described(() => ({
    description:
      'Decides several cases the same, each as if it were decided alone: a case that cannot be decided changes nothing of the others. Repeating the request decides those that are still open.',
    answer: decidedCases,
    errors: ['same_person'],
    command: { name: 'fraud decide-all', columns: ['case_id', 'outcome'] },
  })),
  async run(call, { case_ids, decision, reason }) {
    const { env, account, actor } = call
    await requirePerson(call)
    const data: { case_id: string; outcome: (typeof OUTCOMES)[number] }[] = []
    for (const id of new Set(case_ids)) {
      const request = { id, decision, reason, keepHold: false, refuse: [], from: null, shown: null }
      try {
        const now = Date.now()
        const { found } = await decideCase(env, account, { ...request, actor, now })
        data.push({ case_id: id, outcome: found.waiting ? 'waiting' : 'decided' })
      } catch (error) {
        const code = error instanceof ApiError ? error.code : null
        if (code !== 'not_open' && code !== 'not_found') throw error
        data.push({ case_id: id, outcome: code })
      }
    }
    sendCaused(call, account)
    return { data }
  },
})

/** The operations by which the team decides cases. */
export const DECISION_OPERATIONS = [decideFraudCase, decideFraudCases]

/** Members that have a meaning only with others, and what they need. */
function misplaced({
  decision,
  keep_hold,
  refuse,
  from,
}: {
  readonly decision: string
  readonly keep_hold?: boolean | undefined
  readonly refuse?: readonly string[] | undefined
  readonly from?: string | undefined
}): Issue[] {
  const isDismissed = decision === 'dismissed'
  const found: [name: string, isWrong: boolean, expected: string][] = [
    ['keep_hold', isDismissed && keep_hold === true, 'a dismissed case holds nothing'],
    ['refuse', isDismissed && refuse !== undefined, 'a dismissed case refuses nobody'],
    ['from', from !== undefined && refuse === undefined, 'it needs customers in `refuse`'],
  ]
  return found.flatMap(([name, isWrong, expected]) =>
    isWrong ? [{ pointer: `/${name}`, code: 'not_applicable' as const, expected }] : [],
  )
}
