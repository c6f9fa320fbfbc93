import * as v from 'valibot'
import { compareText } from '../../platform/compare-text.ts'
import { operation } from '../../platform/http/operation.ts'
import { notFound } from '../../platform/http/read-fields.ts'
import { described, referred } from '../../platform/validation/described.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, optional, said } from '../../platform/validation/fields.ts'
import { REQUEST_LIMITS } from '../limits.ts'
import { inTurn, readStored } from '../run/on-request.ts'
import { comparePage, MAX_AFFILIATES, openSimulation, parseSimulation } from '../run/simulation.ts'
import { simulation } from '../shapes/simulation.ts'
import { plan, readVocabulary } from './plans.ts'

export const simulatePlan = operation({
  topic: 'plans',
  id: 'simulatePlan',
  shows: 'account',
  method: 'POST',
  path: '/plans/{plan}/simulate',
  role: 'viewer',
  params: {
    plan,
    cursor: optional(
      v.string(),
      said('The `meta.next_cursor` of the previous page, with the same plan, body and parameters.'),
    ),
  },
  body: {
    period: member(f.text, said('The period, of the kind of the plan.', '2026-10')),
    version: member(
      referred<unknown>('CommissionPlan'),
      said(
        'The version, as in `putPlan`. Its `effective_from` has no effect, and may be left out.',
      ),
    ),
  },
  words: described(() => ({
    description: `Computes what a version of a plan would change, and stores nothing. It is computed as if the plan had had this version from the beginning. Both sides are computed now from the records, as if no period were approved. A page has at most ${MAX_AFFILIATES} affiliates, and as many as depend on at most ${REQUEST_LIMITS.facts.toLocaleString('en')} records together: send the same body with \`cursor\` until \`meta.next_cursor\` is null.`,
    answer: simulation,
    headers: ['Link'],
    errors: ['validation_failed'],
    command: { name: 'plans simulate', recovery: 'A simulation stores nothing.' },
  })),
  async run({ env, grant, session }, { plan: id, cursor = '', ...body }) {
    const account = { id: grant.account, vertical: grant.vertical }
    const [{ stored, beginnings }, vocabulary] = await Promise.all([
      readStored(env, grant, session),
      readVocabulary(env.DB, account),
    ])
    const plan = stored.inForce.plans.get(id)
    if (!plan) throw notFound('plan', id)
    const { period, version } = parseSimulation(body, plan, vocabulary)
    return inTurn({ account: stored.row.id }, async () => {
      const opened = await openSimulation(stored, plan, version.terms, period, beginnings)
      const affiliates = opened.affiliates.filter((one) => compareText(one, cursor) > 0)
      const page = await comparePage(opened, affiliates, REQUEST_LIMITS.facts)
      const { data, tooLarge } = page
      // The cursor of the next page is the last affiliate of this one.
      const last = tooLarge ?? page.affiliates.at(-1) ?? null
      return {
        plan: id,
        period: period.id,
        currency: version.terms.currency,
        data,
        affiliates: page.affiliates.length,
        skipped: tooLarge === null ? [] : [tooLarge],
        warnings: version.warnings,
        meta: { next_cursor: last === affiliates.at(-1) ? null : last },
      }
    })
  },
})
