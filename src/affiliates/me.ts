import * as v from 'valibot'
import { withEveryone } from '../commission/engine/plans-in-force.ts'
import { ALL_OTHERS } from '../commission/plans/assignments.ts'
import { ruleWords, termsWords } from '../commission/plans/plan-words.ts'
import { readStoredPlans, type StoredPlans, versionOn } from '../commission/plans/stored-plans.ts'
import type { PlanTerms } from '../commission/plans/types.ts'
import { ENGLISH, type Words, wordsOf } from '../commission/words/words.ts'
import { passkeyOrigin } from '../platform/development.ts'
import { landingPagesOf, signUpOf } from '../platform/directory/accounts.ts'
import { operation } from '../platform/http/operation.ts'
import { LANGUAGES } from '../platform/languages.ts'
import { day } from '../platform/validation/answer-fields.ts'
import { component, described, referred } from '../platform/validation/described.ts'
import { member, nullable } from '../platform/validation/fields.ts'
import { bookZoneOf, todayOf } from '../platform/zone.ts'
import { shareCodeOf } from './db/affiliates.ts'
import { shownView } from './view-fields.ts'

const planVersion = described(() =>
  v.object({
    plan: member(v.string(), 'The id of the plan.'),
    name: member(v.string(), 'The name of the plan.'),
    from: member(day, 'The first day on which it governs.'),
    customers: member(
      v.picklist(['new', 'all']),
      'Whether it then governs all customers of the plan, or those who sign up from that day on.',
    ),
    version: member(v.pipe(v.number(), v.integer(), v.minValue(1)), 'The version.'),
    rules: member(
      v.array(
        v.object({
          id: v.string(),
          pays: member(v.string(), 'What it pays, and for what.'),
          limits: member(v.array(v.string()), 'Its conditions and limits.'),
        }),
      ),
      'Each rule in words.',
    ),
    in_words: member(v.array(v.string()), 'What holds for all rules, in words.'),
    terms: member(referred<PlanTerms>('CommissionPlan'), 'The version as JSON.'),
  }),
)

export const getAffiliateSelf = operation({
  of: 'affiliate',
  topic: 'affiliate-api',
  id: 'getAffiliateSelf',
  method: 'GET',
  path: '/me',
  words: described(() => ({
    description:
      'Returns who the affiliate is, under which plans they earn, in words and as JSON, and what they may see.',
    answer: component('AffiliateSelf', () => ({
      affiliate_id: member(v.string(), 'The id of the affiliate.'),
      display_name: nullable(v.string(), 'What the account calls the affiliate.'),
      contact_email: nullable(v.string(), 'The e-mail address of the affiliate.'),
      language: nullable(v.picklist(LANGUAGES), 'The language of the portal. Null: English.'),
      account: v.object({
        name: member(v.string(), 'The display name of the account.'),
        time_zone: member(v.string(), 'The time zone of its days and periods.'),
        mode: member(v.picklist(['live', 'test']), 'Whether the account is a test.'),
      }),
      plans: member(
        v.array(planVersion),
        'The versions of plans under which the affiliate earns, and those that come, in the order of their first days.',
      ),
      affiliate_view: member(shownView, 'What the account shows.'),
      landing_pages: member(
        v.array(v.string()),
        'The pages to which links that the affiliate makes may lead, and all below. Without one, they make no links.',
      ),
      share_url: nullable(
        v.string(),
        'The link by which others apply to become affiliates below this one. Null: nobody can apply, or the account does not show who is below.',
      ),
      scope: member(v.picklist(['read', 'read links']), 'What the key may do.'),
    })),
  })),
  async run({ env, affiliate, grant, db }) {
    const { id, account, profile, view, language } = affiliate
    const isShared = signUpOf(account).open && view.sub_affiliates !== 'none'
    const [plans, share_code] = await Promise.all([
      readStoredPlans(db, account.id),
      isShared ? shareCodeOf(db, account.id, id) : null,
    ])
    return {
      affiliate_id: id,
      display_name: profile.display_name,
      contact_email: profile.contact_email,
      language: profile.language,
      account: { name: account.name, time_zone: bookZoneOf(account), mode: account.mode },
      plans: plansOf(plans, id, todayOf(account), language ? wordsOf(language) : ENGLISH),
      affiliate_view: view,
      landing_pages: landingPagesOf(account),
      share_url:
        share_code &&
        new URL(`/portal/${account.id}/join?ref=${share_code}`, passkeyOrigin(env)).href,
      scope: grant.scope === 'read links' ? ('read links' as const) : ('read' as const),
    }
  },
})

/** Returns the versions of plans that govern some of an affiliate's customers on a day, and later ones, in words. */
function plansOf({ versions, assignments }: StoredPlans, id: string, today: string, words: Words) {
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
