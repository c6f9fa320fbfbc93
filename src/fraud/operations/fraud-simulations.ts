import * as v from 'valibot'
import { readBeginnings } from '../../commission/db/facts.ts'
import { TooManyFacts } from '../../commission/run/customers.ts'
import { inTurn } from '../../commission/run/on-request.ts'
import { readAccount } from '../../commission/run/stored-account.ts'
import { compareText } from '../../platform/compare-text.ts'
import { ApiError } from '../../platform/errors.ts'
import { operation } from '../../platform/http/operation.ts'
import { notFound, validationFailed } from '../../platform/http/read-fields.ts'
import { dayNumber, dayText } from '../../platform/money/calendar.ts'
import { described } from '../../platform/validation/described.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, optional, said } from '../../platform/validation/fields.ts'
import type { Issue } from '../../platform/validation/issue.ts'
import { isObject } from '../../platform/validation/record-validator.ts'
import { todayOf } from '../../platform/zone.ts'
import { checkMeaning, checkShape } from '../check-rule.ts'
import type { Vertical } from '../kind.ts'
import { BACK_TEST_LIMITS } from '../limits.ts'
import { openViews } from '../read-views.ts'
import type { AnyVersion } from '../rule-days.ts'
import { simulateRule } from '../simulate.ts'
import { presentCase, simulatedPage } from '../simulated-page.ts'
import { readStoredRules } from '../stored-rules.ts'
import { rule } from './fraud-rules.ts'

export const simulateFraudRule = operation({
  topic: 'fraud',
  id: 'simulateFraudRule',
  shows: 'account',
  method: 'POST',
  path: '/fraud-rules/{rule}/simulate',
  role: 'viewer',
  params: {
    rule,
    affiliate_id: optional(v.string(), said('Tests only this affiliate.', 'IB-07')),
  },
  body: {
    from: member(f.day, said('The first day.', '2026-09-01')),
    to: member(
      f.day,
      said(
        `The last day, which is over; at most ${BACK_TEST_LIMITS.days} days with the first.`,
        '2026-10-31',
      ),
    ),
    version: optional(
      v.custom<unknown>(() => true, 'type object'),
      said(
        'A version to test on all these days, whether or not it is disabled: `kind`, `parameters`, `action` and `scope`. Its `effective_from` has no effect. Without it the stored versions of the rule are tested, each on the days on which it applies.',
      ),
    ),
  },
  words: described(() => ({
    description:
      'Returns the cases that a rule would have opened if it had run after each day; it stores nothing. A rule that is tested with a version of the request need not exist. A case is taken to stay undecided. If the rule reads more records than one request can read, test fewer days or one affiliate.',
    answer: simulatedPage,
    command: { name: 'fraud simulate', recovery: 'A back-test stores nothing.' },
  })),
  async run({ env, account, db }, { rule: id, affiliate_id, from, to, version }) {
    const [first, last] = [dayNumber(from), dayNumber(to)]
    const wrong = checkDays(from, to, dayText(dayNumber(todayOf(account)) - 1))
    if (wrong.length > 0) throw validationFailed(wrong)
    const versions: AnyVersion[] =
      version === undefined
        ? await readStoredRules(db, account.id, id)
        : parseVersion(id, version, account.vertical as Vertical, from)
    const [tested] = versions
    if (!tested) throw notFound('fraud rule', id)
    const { kind } = tested.terms
    const test = { versions, first, last }
    return inTurn({ account: account.id }, async () => {
      const source = await readAccount(env, account)
      const affiliates = source.parents
        .map((one) => one.affiliate_id)
        .filter((one) => affiliate_id === undefined || one === affiliate_id)
        .sort(compareText)
      const views = await openViews(source, await readBeginnings(source.db, source.row.id), test)
      const cases = await simulateRule(views, test, affiliates).catch((error) => {
        throw error instanceof TooManyFacts ? tooLarge() : error
      })
      const data = cases.map(presentCase)
      return { rule: id, kind, from, to, data }
    })
  },
})

function checkDays(from: string, to: string, lastDay: string): Issue[] {
  const pointer = '/to'
  if (to < from) return [{ pointer, code: 'minimum', expected: from, value: to }]
  if (to > lastDay) {
    const instruction = 'The last day that is over is the latest.'
    return [{ pointer, code: 'maximum', expected: lastDay, value: to, instruction }]
  }
  const { days } = BACK_TEST_LIMITS
  if (dayNumber(to) - dayNumber(from) < days) return []
  const instruction = `A back-test has at most ${days} days.`
  return [{ pointer, code: 'maximum', expected: `${days} days`, value: to, instruction }]
}

/**
 * Returns a version as if it were put on the first day; what has no effect on past days may be left out. It is tested
 * even if it would be stored as disabled.
 */
function parseVersion(
  rule: string,
  sent: unknown,
  vertical: Vertical,
  effective_from: string,
): AnyVersion[] {
  const body = isObject(sent)
    ? { name: 'Back-test', severity: 'low', effective_from, ...sent }
    : sent
  const { issues, output: terms } = checkShape(body, vertical)
  const wrong = terms ? checkMeaning(terms, undefined) : issues
  if (!terms || wrong.length > 0) {
    throw validationFailed(
      wrong.map((issue) => ({ ...issue, pointer: `/version${issue.pointer}` })),
    )
  }
  return [{ rule, version: null, effective_from, terms: { ...terms, disabled: false } }]
}

const tooLarge = () =>
  new ApiError('validation_failed', {
    detail: `The rule reads more records than one back-test can read (${BACK_TEST_LIMITS.facts.toLocaleString('en')}). Test it on fewer days, or one affiliate.`,
  })
