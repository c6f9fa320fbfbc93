import * as v from 'valibot'
import { dayNumber, dayText } from '../../commission/engine/calendar.ts'
import { compareText } from '../../commission/engine/facts.ts'
import { TooManyFacts } from '../../commission/statements/compute.ts'
import { beginningsOf } from '../../commission/statements/days.ts'
import { inTurn } from '../../commission/statements/on-request.ts'
import { openSource } from '../../commission/statements/source.ts'
import type { Account } from '../../platform/db/schema.ts'
import { ApiError } from '../../platform/errors.ts'
import { accountOperation } from '../../platform/http/operation.ts'
import { notFound, validationFailed } from '../../platform/http/read-fields.ts'
import { described } from '../../platform/validation/described.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, said } from '../../platform/validation/fields.ts'
import { todayOf } from '../../platform/zone.ts'
import { parseBackTest } from '../back-test.ts'
import { isInScope } from '../check-rule.ts'
import { type Outcome, readDecidedCases } from '../db/outcomes.ts'
import type { Vertical } from '../kind.ts'
import { BACK_TEST_LIMITS } from '../limits.ts'
import { openViews } from '../read-views.ts'
import { outcomeOf, simulateRule, sumHeld } from '../simulate.ts'
import { presentCase, simulatedPage } from '../simulated-page.ts'
import { readStoredRules } from '../stored-rules.ts'
import { rule } from './fraud-rules.ts'

export const simulateFraudRule = accountOperation({
  topic: 'fraud',
  id: 'simulateFraudRule',
  method: 'POST',
  path: '/fraud-rules/{rule}/simulate',
  role: 'viewer',
  params: {
    rule,
    affiliate_id: v.optional(member(v.string(), said('Tests only this affiliate.', 'IB-07'))),
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
    version: v.optional(
      member(
        v.custom<unknown>(() => true, 'type object'),
        said(
          'A version to test on all these days, whether or not it is disabled: `kind`, `parameters`, `action`, `scope` and `reserve_percent`. Its `effective_from` has no effect. Without it the stored versions of the rule are tested, each on the days on which it applies.',
        ),
      ),
    ),
  },
  words: described(() => ({
    description:
      'Returns the cases that a rule would have opened if it had run after each day, and what they would have held; it stores nothing. A rule that is tested with a version of the request need not exist. A case is taken to stay undecided. If the rule reads more records than one request can read, test fewer days or one affiliate.',
    answer: simulatedPage,
    command: { name: 'fraud simulate', recovery: 'A back-test stores nothing.' },
  })),
  async run({ env, account, db }, { rule: id, affiliate_id, ...body }) {
    const isSent = body.version !== undefined
    const stored = isSent
      ? []
      : (await readStoredRules(db, account.id)).filter((one) => one.rule === id)
    if (!isSent && stored.length === 0) throw notFound('fraud rule', id)
    const vertical = account.vertical as Vertical
    const { issues, request } = parseBackTest(id, body, vertical, lastDayOf(account), stored)
    if (!request) throw validationFailed(issues)
    const { from, to, test } = request
    const kind = stored[0]?.terms.kind ?? test.versions[0]?.kind.kind ?? ''
    return inTurn({ account: account.id }, async () => {
      const source = await openSource(env, account)
      const affiliates = source.parents
        .map((one) => one.affiliate_id)
        .filter((one) => test.versions.some(({ terms }) => isInScope(terms.scope, one)))
        .filter((one) => affiliate_id === undefined || one === affiliate_id)
        .sort(compareText)
      const views = await openViews(source, await beginningsOf(source), test)
      const cases = await simulateRule(views, test, affiliates).catch((error) => {
        throw error instanceof TooManyFacts ? tooLarge() : error
      })
      const owners = [...new Set(cases.map((one) => one.affiliate_id))]
      const decided = await readDecidedCases(db, account.id, owners, kind)
      const data = cases.map((one) => presentCase(one, outcomeOf(one, decided)))
      const count = (wanted: Outcome) => data.filter(({ outcome }) => outcome === wanted).length
      return {
        ...{ rule: id, kind, from, to, data, affiliates: affiliates.length },
        outcomes: {
          confirmed: count('confirmed'),
          dismissed: count('dismissed'),
          reversed: count('reversed'),
        },
        would_hold: sumHeld(cases.flatMap(({ held }) => held)),
      }
    })
  },
})

/** Returns the last complete day of an account. */
const lastDayOf = (account: Account): string => dayText(dayNumber(todayOf(account)) - 1)

const tooLarge = () =>
  new ApiError('validation_failed', {
    detail: `The rule reads more records than one back-test can read (${BACK_TEST_LIMITS.facts.toLocaleString('en')}). Test it on fewer days, or one affiliate.`,
  })
