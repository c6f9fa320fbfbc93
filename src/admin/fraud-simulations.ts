import { Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { dayNumber, dayText } from '../commission/engine/calendar.ts'
import { compareText } from '../commission/engine/facts.ts'
import { TooManyFacts } from '../commission/statements/compute.ts'
import { type AccountBeginnings, beginningsOf } from '../commission/statements/days.ts'
import { FRESH_LIMITS } from '../commission/statements/limits.ts'
import { withinLimit } from '../commission/statements/on-request.ts'
import { type AccountSource, openSource } from '../commission/statements/source.ts'
import { accountDatabase } from '../db/database.ts'
import { readDecidedCases } from '../db/fraud/outcomes.ts'
import type { Account } from '../db/schema.ts'
import {
  type BackTestRequest,
  hasVersion,
  parseBackTest,
  testOfVersion,
} from '../fraud/back-test.ts'
import type { Vertical } from '../fraud/kind.ts'
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
import type { ComparedVersion, PresentedCase, SimulatedPage } from '../fraud/simulated-page.ts'
import { type RuleVersion, readStoredRules, ruleOn } from '../fraud/stored-rules.ts'
import { ReadMemory } from '../http/memory.ts'
import { invalidQuery, readQuery } from '../http/query.ts'
import { notFound, readJson, validationFailed } from '../http/read-fields.ts'
import { sendJson } from '../http/send.ts'
import { signText, verifyText } from '../http/sign-text.ts'
import { canonicalJson } from '../validation/canonical-json.ts'
import { todayOf } from '../zone.ts'
import { findRouteAccount } from './accounts.ts'

/** The nesting depth of a request, such as `version.parameters.by_challenge_type.….daily`. */
const DEPTH = 6

/** The route that tests a fraud rule on past days: a version of the request, or those that are stored. */
export const fraudSimulations = new Hono<AppEnv>().post('/:rule/simulate', async (c) => {
  const { cursor, affiliate_id } = readQuery(c.req.url, 'cursor', 'affiliate_id')
  const account = await findRouteAccount(c)
  const body = await readJson(c, DEPTH)
  const vertical = account.vertical as Vertical
  const rule = c.req.param('rule')
  const versions = await readRuleVersions(c.env, account, rule)
  const stored = hasVersion(body) ? [] : versions
  if (!hasVersion(body) && stored.length === 0) throw notFound('fraud rule', rule)
  const inForce = hasVersion(body) ? ruleOn(versions, todayOf(account)) : null
  const { issues, request } = parseBackTest(body, vertical, lastDayOf(account), stored)
  if (!request) throw validationFailed(issues)
  const context = JSON.stringify([
    ...[account.id, 'simulate fraud rule', rule],
    ...[affiliate_id ?? null, canonicalJson(body)],
    // A version that is stored between two pages would make them parts of different answers.
    stored.map(({ version }) => version),
    inForce?.version ?? null,
  ])
  const after = cursor === undefined ? null : await verifyText(c.env, context, cursor)
  if (cursor !== undefined && after === null) throw foreignCursor()
  const [source, beginnings] = await Promise.all([
    openSource(c.env, account),
    beginningsOf({ db: accountDatabase(c.env, account), account }),
  ])
  const filter = { affiliate_id: affiliate_id ?? null, after }
  const other = inForce && testOfVersion(inForce, request.test)
  const { next, ...found } = await simulate({ source, beginnings }, { ...request, other }, filter)
  const next_cursor = next === null ? null : await signText(c.env, context, next)
  if (next_cursor !== null) {
    const url = new URL(c.req.url)
    url.searchParams.set('cursor', next_cursor)
    c.header('Link', `<${new URL(url.pathname + url.search, c.env.BASE_URL)}>; rel="next"`)
  }
  const kind = stored[0]?.terms.kind ?? request.test.versions[0]?.kind.kind ?? ''
  const page: SimulatedPage = { rule, kind, ...found, meta: { next_cursor } }
  return sendJson(c, page, new ReadMemory('the team'))
})

/** Returns the versions of a rule that are not withdrawn, by first day. */
async function readRuleVersions(env: Env, account: Account, rule: string): Promise<RuleVersion[]> {
  const all = await readStoredRules(accountDatabase(env, account), account.id)
  return all.filter((one) => one.rule === rule)
}

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
      skipped: tooLarge === null ? [] : [{ affiliate_id: tooLarge, reason: 'too_many_records' }],
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
  const kind = cases[0]?.found.kind.kind
  if (kind === undefined) return []
  const affiliates = [...new Set(cases.map(({ affiliate_id }) => affiliate_id))]
  const decided = await readDecidedCases(db, account.id, affiliates, kind)
  return cases.map((one) =>
    presentCase(one, outcomeOf(one, decided), shared ? shared.has(one) : null),
  )
}
