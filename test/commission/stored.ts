import { env } from 'cloudflare:workers'
import type { PlanResult } from '../../src/commission/engine/settlement.ts'
import type { PlanTerms, Rule } from '../../src/commission/plans/types.ts'
import { type OpenAccount, openAccount } from '../../src/commission/run/account.ts'
import { NO_CAUSES } from '../../src/commission/run/cause.ts'
import { type Computing, settle, sumFacts } from '../../src/commission/run/compute.ts'
import { type Draft, toDraft } from '../../src/commission/run/draft.ts'
import { startsOf } from '../../src/commission/run/starts.ts'
import { readAccount } from '../../src/commission/run/stored-account.ts'
import { compareText } from '../../src/platform/compare-text.ts'
import { findAccount } from '../../src/platform/directory/accounts.ts'
import { parsePeriod } from '../../src/platform/money/calendar.ts'
import { terms } from './build.ts'

/** A plan of calendar months in EUR with these rules. */
export const monthly = (rules: Rule[], more: Partial<PlanTerms> = {}): PlanTerms =>
  terms(rules, { name: 'A plan', hold_days: 14, ...more })

/** Stores a version of a plan. */
export const storePlan = (account: string, plan: string, terms: PlanTerms, version = 1) =>
  env.DB.prepare(
    `insert into plan_versions (account, plan, version, effective_from, terms, created_at)
     values (?, ?, ?, ?, ?, '2026-01-01T00:00:00.000Z')`,
  )
    .bind(account, plan, version, terms.effective_from, JSON.stringify(terms))
    .run()

/** Assigns a plan from the beginning of 2026 on; to everybody if no affiliate is named. */
export const assign = (
  account: string,
  plan: string,
  affiliate = '*',
  from = '2026-01-01',
  customers = 'new',
) =>
  env.DB.prepare(
    `insert into assignments (account, affiliate_id, from_day, plan, customers)
     values (?, ?, ?, ?, ?)`,
  )
    .bind(account, affiliate, from, plan, customers)
    .run()

/** Publishes rates of a day, beside those of other currencies. */
export const publish = (day: string, rates: Record<string, string>, knownFrom = 0) =>
  env.DB.prepare(
    `insert into fx_rates (day, known_from, rates) values (?, ?, ?)
     on conflict do update set rates = json_patch(rates, excluded.rates)`,
  )
    .bind(Date.parse(day) / 86_400_000, knownFrom, JSON.stringify(rates))
    .run()

/** Opens an account up to a period. */
export async function accountOf(account: string, period: string) {
  const row = await findAccount(env.DB, account)
  const parsed = parsePeriod(period)
  if (!row || !parsed) throw new Error('There is no such account or period.')
  return openAccount(await readAccount(env as Env, row), parsed)
}

/** Returns the statements of affiliates in a period, computed from what is stored. */
export async function draftsOf(
  account: string,
  period: string,
  affiliates: readonly string[],
): Promise<Draft[]> {
  const results = await resultsAlone(await accountOf(account, period), affiliates)
  const drafts = await Promise.all(results.map((result) => toDraft(result, NO_CAUSES)))
  return drafts.filter((draft) => draft !== null)
}

/** Returns what affiliates come to in the period of an account, in order of affiliate and plan. Each is settled alone. */
export async function resultsAlone(
  account: OpenAccount,
  affiliates: readonly string[],
  computing?: Computing,
): Promise<PlanResult[]> {
  const results: PlanResult[] = []
  for (const start of await startsOf(account, affiliates)) {
    const summed = await sumFacts(start, computing)
    for (const one of start.affiliates) results.push(...settle(start, summed, [one]))
  }
  return results
    .filter(({ period }) => period.id === account.range.period.id)
    .sort((a, b) => compareText(a.affiliate, b.affiliate) || compareText(a.plan.plan, b.plan.plan))
}
