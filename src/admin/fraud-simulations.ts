import * as v from 'valibot'
import { dayNumber, dayText } from '../commission/engine/calendar.ts'
import { compareText } from '../commission/engine/facts.ts'
import { TooManyFacts } from '../commission/statements/compute.ts'
import { type AccountBeginnings, beginningsOf } from '../commission/statements/days.ts'
import { FRESH_LIMITS } from '../commission/statements/limits.ts'
import { withinLimit } from '../commission/statements/on-request.ts'
import { type AccountSource, openSource } from '../commission/statements/source.ts'
import { readDecidedCases } from '../db/fraud/outcomes.ts'
import type { Account } from '../db/schema.ts'
import { type BackTestRequest, parseBackTest, testOfVersion } from '../fraud/back-test.ts'
import type { Vertical } from '../fraud/kind.ts'
import { BACK_TEST_LIMITS } from '../fraud/limits.ts'
import { countOutcomes, presentCase } from '../fraud/present-simulation.ts'
import { openViews } from '../fraud/read-views.ts'
import {
  type BackTest,
  daysOf,
  outcomeOf,
  type SimulatedCase,
  sharedCases,
  simulateRule,
  sumHeld,
} from '../fraud/simulate.ts'
import {
  type ComparedVersion,
  type PresentedCase,
  type SimulatedPage,
  simulatedPage,
} from '../fraud/simulated-page.ts'
import { readStoredRules, ruleOn } from '../fraud/stored-rules.ts'
import { accountOperation } from '../http/operation.ts'
import { invalidQuery } from '../http/query.ts'
import { notFound, validationFailed } from '../http/read-fields.ts'
import { signText, verifyText } from '../http/sign-text.ts'
import { canonicalJson } from '../validation/canonical-json.ts'
import { described } from '../validation/described.ts'
import * as f from '../validation/fields.ts'
import { member, said } from '../validation/fields.ts'
import { todayOf } from '../zone.ts'
import { rule } from './fraud-rules.ts'

export const simulateFraudRule = accountOperation({
  topic: 'fraud',
  id: 'simulateFraudRule',
  method: 'POST',
  path: '/fraud-rules/{rule}/simulate',
  role: 'viewer',
  params: {
    rule,
    cursor: v.optional(
      member(
        v.string(),
        said(
          'The `meta.next_cursor` of the previous page. Valid for the same account, rule, body and parameters.',
        ),
      ),
    ),
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
    description: `Returns the cases that a rule would have opened if it had run after each day, and what they would have held; it stores nothing. A rule that is tested with a version of the request need not exist. A case is taken to stay undecided. A page has as many affiliates as the limits allow: at most ${BACK_TEST_LIMITS.affiliates}, with at most ${FRESH_LIMITS.facts.toLocaleString('en')} records that the rule reads. Send the same body with \`cursor\` until \`meta.next_cursor\` is null.`,
    answer: simulatedPage,
    headers: ['Link'],
    command: { name: 'fraud simulate', recovery: 'A back-test stores nothing.' },
  })),
  async run({ env, account, db }, { rule: id, cursor, affiliate_id = null, ...body }) {
    const all = await readStoredRules(db, account.id)
    const versions = all.filter((one) => one.rule === id)
    const isSent = body.version !== undefined
    if (!isSent && versions.length === 0) throw notFound('fraud rule', id)
    const stored = isSent ? [] : versions
    const inForce = isSent ? ruleOn(versions, todayOf(account)) : null
    const vertical = account.vertical as Vertical
    const { issues, request } = parseBackTest(body, vertical, lastDayOf(account), stored)
    if (!request) throw validationFailed(issues)
    const context = JSON.stringify([
      ...[account.id, 'simulate fraud rule', id],
      ...[affiliate_id, canonicalJson(body)],
      // A version that is stored between two pages would make them parts of different answers.
      stored.map(({ version }) => version),
      inForce?.version ?? null,
    ])
    const after = cursor === undefined ? null : await verifyText(env, context, cursor)
    if (cursor !== undefined && after === null) throw foreignCursor()
    const [source, beginnings] = await Promise.all([
      openSource(env, account),
      beginningsOf({ db, account }),
    ])
    const filter = { affiliate_id, after }
    const other = inForce && testOfVersion(inForce, request.test)
    const { next, ...found } = await simulate({ source, beginnings }, { ...request, other }, filter)
    const next_cursor = next === null ? null : await signText(env, context, next)
    const kind = stored[0]?.terms.kind ?? request.test.versions[0]?.kind.kind ?? ''
    return { rule: id, kind, ...found, meta: { next_cursor } }
  },
})

/** Returns the last complete day of an account. */
const lastDayOf = (account: Account): string => dayText(dayNumber(todayOf(account)) - 1)

const foreignCursor = () =>
  invalidQuery('`cursor` was not issued for this back-test. Send the same body and parameters.')

/** What to do about an affiliate with too many records. */
const TOO_LARGE = 'Test the rule on fewer days.'

/** Which affiliates a request is narrowed to. */
interface Filter {
  readonly affiliate_id: string | null
  /** The last affiliate of the page before; null for the first page. */
  readonly after: string | null
}

/** Computes one page of a back-test; `next` is its last affiliate if there are more. */
function simulate(
  { source, beginnings }: { source: AccountSource; beginnings: AccountBeginnings },
  { from, to, test, other }: BackTestRequest & { readonly other: BackTest | null },
  { affiliate_id, after }: Filter,
): Promise<Omit<SimulatedPage, 'rule' | 'kind' | 'meta'> & { next: string | null }> {
  return withinLimit({ account: source.account.id }, TOO_LARGE, async () => {
    const affiliates = source.parents
      .map((one) => one.affiliate_id)
      .filter((one) =>
        [test, other].some((own) => own?.versions.some(({ isInScope }) => isInScope(one))),
      )
      .filter((one) => affiliate_id === null || one === affiliate_id)
      .filter((one) => after === null || compareText(one, after) > 0)
      .sort(compareText)
    const views = await openViews(source, beginnings, daysOf(test, other))
    const found = await simulateRule(views, test, affiliates, FRESH_LIMITS.facts, other)
    const { tooLarge } = found
    if (tooLarge !== null && affiliate_id !== null) throw new TooManyFacts()
    const last = tooLarge ?? found.affiliates.at(-1) ?? null
    const shared = other && sharedCases(found.cases, found.others)
    const data = await withOutcomes(source, found.cases, shared)
    return {
      from,
      to,
      data,
      outcomes: countOutcomes(data),
      opened: [...Map.groupBy(found.cases, ({ openedFor }) => openedFor)].map(([day, own]) => ({
        day: dayText(day),
        cases: own.length,
      })),
      would_hold: sumHeld(found.cases.flatMap(({ held }) => held)),
      compared_with: comparedWith(other, found.others, shared),
      affiliates: found.affiliates.filter((one) =>
        test.versions.some(({ isInScope }) => isInScope(one)),
      ).length,
      skipped:
        tooLarge === null ? [] : [{ affiliate_id: tooLarge, reason: 'too_many_records' as const }],
      next: last === (affiliates.at(-1) ?? null) ? null : last,
    }
  })
}

/** Returns what a version in force would have done. */
function comparedWith(
  other: BackTest | null,
  cases: readonly SimulatedCase[],
  shared: ReadonlySet<SimulatedCase> | null,
): ComparedVersion | null {
  const version = other?.versions[0]?.version ?? null
  if (version === null || shared === null) return null
  return {
    ...{ version, cases: cases.length, same: shared.size },
    would_hold: sumHeld(cases.flatMap(({ held }) => held)),
  }
}

/** Returns cases on the wire, with what persons decided of the stored ones. */
async function withOutcomes(
  { db, account }: AccountSource,
  cases: readonly SimulatedCase[],
  shared: ReadonlySet<SimulatedCase> | null,
): Promise<PresentedCase[]> {
  const kind = cases[0]?.finding.kind
  if (kind === undefined) return []
  const affiliates = [...new Set(cases.map(({ affiliate_id }) => affiliate_id))]
  const decided = await readDecidedCases(db, account.id, affiliates, kind)
  return cases.map((one) =>
    presentCase(one, outcomeOf(one, decided), shared ? shared.has(one) : null),
  )
}
