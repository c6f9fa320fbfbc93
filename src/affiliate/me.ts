import type { Context } from 'hono'
import type { AppEnv, ReadAffiliate } from '../auth/authorize.ts'
import type { CallingAffiliate, Grant } from '../auth/grant.ts'
import { ruleWords, termsWords } from '../commission/engine/plan-words.ts'
import { withEveryone } from '../commission/engine/plans-in-force.ts'
import { ALL_OTHERS } from '../commission/plans/assignments.ts'
import { readStoredPlans, type StoredPlans, versionOn } from '../commission/plans/stored-plans.ts'
import { ENGLISH, type Words, wordsOf } from '../commission/words/words.ts'
import { resolveDatabase } from '../db/database.ts'
import { landingPagesOf } from '../db/directory/accounts.ts'
import { ReadMemory } from '../http/memory.ts'
import { readQuery } from '../http/query.ts'
import { sendJson } from '../http/send.ts'
import { bookZoneOf, todayOf } from '../zone.ts'

/** An affiliate who calls, by their id, and what was read of them. */
export type AdmittedAffiliate = ReadAffiliate & CallingAffiliate & { readonly grant: Grant }

/** Returns the affiliate who calls, once they are admitted. */
export async function callerOf(c: Context<AppEnv>): Promise<AdmittedAffiliate> {
  const grant = await c.var.grantPromise
  const { affiliate } = c.var
  if (!affiliate || !grant.affiliate) throw new Error('The caller is not an affiliate.')
  return { ...affiliate, ...grant.affiliate, grant }
}

/** Responds with who the affiliate is, under which plans they earn, and what they may see. */
export async function respondWithMe(c: Context<AppEnv>): Promise<Response> {
  readQuery(c.req.url)
  const { id, account, profile, view, grant, language } = await callerOf(c)
  const plans = await readStoredPlans(resolveDatabase(c.env, grant.binding), account.id)
  const today = todayOf(account)
  const me = {
    affiliate_id: id,
    display_name: profile.display_name,
    contact_email: profile.contact_email,
    language: profile.language,
    account: { name: account.name, time_zone: bookZoneOf(account), mode: account.mode },
    plans: plansOf(plans, id, today, language ? wordsOf(language) : ENGLISH),
    affiliate_view: view,
    landing_pages: landingPagesOf(account),
    scope: grant.scope,
  }
  return sendJson(c, me, new ReadMemory(account.id))
}

/** Returns the versions of plans that govern some of an affiliate's customers on a day, and later ones, in words. */
export function plansOf(
  { versions, assignments }: StoredPlans,
  id: string,
  today: string,
  words: Words,
) {
  const of = (whom: string) => assignments.filter(({ affiliate_id }) => affiliate_id === whom)
  const all = withEveryone(of(id), of(ALL_OTHERS))
  const present = all.findLastIndex((one) => one.customers === 'all' && one.from <= today)
  return all.flatMap(({ plan, from, customers }, i) => {
    const ofPlan = versions.filter((one) => one.plan === plan)
    const isCurrent = ofPlan[0]?.terms.terms === 'current'
    const next = all.slice(i + 1).find((one) => !isCurrent || one.customers === 'all')
    const start = isCurrent && from < today ? today : from
    const first = versionOn(ofPlan, start)
    if (i < present || !first) return []
    const later = ofPlan.filter(
      ({ effective_from: day }) => day > start && day < (next?.from ?? '9999'),
    )
    return [first, ...later].map((one) => ({
      plan,
      name: one.terms.name ?? plan,
      from: one === first ? from : one.effective_from,
      customers: (one === first ? i === 0 || customers === 'all' : isCurrent)
        ? ('all' as const)
        : ('new' as const),
      version: one.version,
      rules: one.terms.rules.map((rule) => ruleWords(rule, one.terms, words)),
      in_words: termsWords(one.terms, words),
      terms: one.terms,
    }))
  })
}
