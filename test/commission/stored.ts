import { env } from 'cloudflare:workers'
import { parsePeriod } from '../../src/commission/engine/calendar.ts'
import type { PlanTerms, Rule } from '../../src/commission/engine/plan.ts'
import { NO_CAUSES } from '../../src/commission/statements/cause.ts'
import { computeAffiliates, openComputation } from '../../src/commission/statements/compute.ts'
import { type Draft, toDraft } from '../../src/commission/statements/draft.ts'
import { openSource } from '../../src/commission/statements/source.ts'
import { findAccount } from '../../src/platform/directory/accounts.ts'
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

/** Returns the computation of an account and period. */
export async function computationOf(account: string, period: string) {
  const row = await findAccount(env.DB, account)
  const parsed = parsePeriod(period)
  if (!row || !parsed) throw new Error('There is no such account or period.')
  return openComputation(await openSource(env as Env, row), parsed)
}

/** Returns the statements of affiliates in a period, computed from what is stored. */
export async function draftsOf(
  account: string,
  period: string,
  affiliates: readonly string[],
): Promise<Draft[]> {
  const computation = await computationOf(account, period)
  const { resultsOf } = await computeAffiliates(computation, affiliates, 1_000_000)
  const last = (await resultsOf(affiliates)).periods.at(-1)
  const drafts = await Promise.all(
    (last?.results ?? []).map((result) => toDraft(result, last!.period, NO_CAUSES)),
  )
  return drafts.filter((draft) => draft !== null)
}
