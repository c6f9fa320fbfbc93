import type { Context } from 'hono'
import type { AppEnv, ReadAffiliate } from '../auth/authorize.ts'
import type { CallingAffiliate, Grant } from '../auth/grant.ts'
import { ruleWords, termsWords } from '../commission/engine/plan-words.ts'
import { ALL_OTHERS } from '../commission/plans/assignments.ts'
import { readStoredPlans, type StoredPlans, versionOn } from '../commission/plans/stored-plans.ts'
import { ENGLISH, type Words, wordsOf } from '../commission/words/words.ts'
import { resolveDatabase } from '../db/database.ts'
import { landingPagesOf } from '../db/directory/accounts.ts'
import { ReadMemory } from '../http/memory.ts'
import { readQuery } from '../http/query.ts'
import { sendJson } from '../http/send.ts'
import { bookZoneOf, dayInZone } from '../zone.ts'

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
  const today = dayInZone(bookZoneOf(account), Date.now())
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

/** Returns the plans that govern an affiliate's customers from a day on: the present and later ones, in words. */
function plansOf({ versions, assignments }: StoredPlans, id: string, today: string, words: Words) {
  const own = assignments.filter(({ affiliate_id }) => affiliate_id === id)
  const all = own.length > 0 ? own : assignments.filter((one) => one.affiliate_id === ALL_OTHERS)
  const present = all.findLastIndex(({ from }) => from <= today)
  return all.slice(Math.max(present, 0)).flatMap(({ plan, from, customers }) => {
    const ofPlan = versions.filter((one) => one.plan === plan)
    const version = versionOn(ofPlan, from > today ? from : today)
    if (!version) return []
    const { terms } = version
    return [
      {
        plan,
        name: terms.name ?? plan,
        from,
        customers,
        version: version.version,
        rules: terms.rules.map((rule) => ruleWords(rule, terms, words)),
        in_words: termsWords(terms, words),
        terms,
      },
    ]
  })
}
