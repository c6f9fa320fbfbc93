import * as v from 'valibot'
import { inTurn } from '../../commission/run/on-request.ts'
import { withAudit } from '../../platform/directory/audit.ts'
import { operation } from '../../platform/http/operation.ts'
import { dayText } from '../../platform/money/calendar.ts'
import { count, day } from '../../platform/validation/answer-fields.ts'
import { component, described } from '../../platform/validation/described.ts'
import { member, nullable } from '../../platform/validation/fields.ts'
import { evaluateRules } from '../evaluate.ts'
import { EVALUATION_LIMITS } from '../limits.ts'

export const runFraudRules = operation({
  id: 'runFraudRules',
  shows: 'account',
  topic: 'cases',
  method: 'POST',
  path: '/fraud-rules/run',
  role: 'manager',
  words: described(() => ({
    description:
      'Evaluates the stored rules on the days that are not evaluated yet, or whose records have changed, as each morning does. It reads a limited number of records; if `done` is false, the same request goes on where it stopped.',
    answer: component('FraudRun', () => ({
      done: member(v.boolean(), 'Whether all complete days are evaluated. If not, call it again.'),
      evaluated_through: nullable(
        day,
        'The last day that is evaluated by all rules. Null before the first one.',
      ),
      cases_opened: member(count, 'The cases that this request opened.'),
    })),
    command: { name: 'fraud run' },
  })),
  async run({ env, db, account, actor }) {
    const by = { actor, now: Date.now() }
    const done = await inTurn({ account: account.id }, () =>
      evaluateRules(env, account, by, EVALUATION_LIMITS.requestFacts),
    )
    const { opened: cases_opened } = done
    const evaluated_through = done.through === null ? null : dayText(done.through)
    const details = { evaluated_through, cases_opened }
    const entry = { actor, action: 'fraud-rule.run', account: account.id, details }
    await withAudit(db, entry, [])
    return { done: done.isDone, evaluated_through, cases_opened }
  },
})
