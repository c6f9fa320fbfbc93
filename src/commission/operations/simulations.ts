import * as v from 'valibot'
import { compareText } from '../../platform/compare-text.ts'
import { operation } from '../../platform/http/operation.ts'
import { notFound, validationFailed } from '../../platform/http/read-fields.ts'
import { described, referred } from '../../platform/validation/described.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, optional, said } from '../../platform/validation/fields.ts'
import { REQUEST_LIMITS } from '../limits.ts'
import { TooManyFacts } from '../run/customers.ts'
import { readStored, withinLimit } from '../run/on-request.ts'
import {
  comparePage,
  computePage,
  MAX_AFFILIATES,
  type NamedPlan,
  openSimulation,
  parseSimulation,
  type SimulationRequest,
} from '../run/simulation.ts'
import { type Simulated, simulation } from '../shapes/simulation.ts'
import { plan, readVocabulary } from './plans.ts'

/** What a request for a simulation is narrowed to. */
interface Filter {
  readonly affiliate_id: string | null
  /** Whether every affiliate has the plan in the period. */
  readonly forAll: boolean
  /** The last affiliate of the page before; null for the first page. */
  readonly after: string | null
}

type Stored = Awaited<ReturnType<typeof readStored>>

export const simulatePlan = operation({
  topic: 'plans',
  id: 'simulatePlan',
  method: 'POST',
  path: '/plans/{plan}/simulate',
  role: 'viewer',
  params: {
    plan,
    cursor: optional(
      v.string(),
      said('The `meta.next_cursor` of the previous page, with the same plan, body and parameters.'),
    ),
    affiliate_id: optional(v.string(), said('Simulates only this affiliate.', 'IB-07')),
    assigned_to_all: optional(
      v.boolean(),
      said(
        'Whether the plan is simulated as if every affiliate had it, with all customers, from the period on. The plan then need not exist.',
        true,
      ),
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
  async run({ env, grant, session }, { plan: id, cursor, ...sent }) {
    const { affiliate_id = null, assigned_to_all: forAll = false, ...body } = sent
    const account = { id: grant.account, vertical: grant.vertical }
    const [stored, vocabulary] = await Promise.all([
      readStored(env, grant, session),
      readVocabulary(env.DB, account),
    ])
    const { inForce } = stored.stored
    const named = { plan: id, stored: inForce.plans.get(id) ?? null }
    if (!named.stored && !forAll) throw notFound('plan', id)
    const { issues, request } = parseSimulation(body, named, vocabulary)
    if (!request) throw validationFailed(issues)
    return simulate(stored, named, request, { affiliate_id, forAll, after: cursor ?? null })
  },
})

/** What to do about an affiliate with too many records. */
const TOO_LARGE = 'The affiliate cannot be simulated.'

/** Computes one page of a simulation. The cursor of the next one is its last affiliate. */
function simulate(
  { stored, beginnings }: Stored,
  plan: NamedPlan,
  { period, version }: SimulationRequest,
  { affiliate_id, forAll, after }: Filter,
): Promise<Simulated> {
  return withinLimit({ account: stored.row.id }, TOO_LARGE, async () => {
    const opened = await openSimulation(stored, { ...plan, terms: version.terms }, period, {
      beginnings,
      forAll,
    })
    const isAsked = (one: string): boolean =>
      affiliate_id === null ? after === null || compareText(one, after) > 0 : one === affiliate_id
    const affiliates = opened.affiliates.filter(isAsked)
    const page = await computePage(opened, affiliates, REQUEST_LIMITS.facts)
    const { tooLarge } = page
    if (tooLarge !== null && affiliate_id !== null) throw new TooManyFacts()
    const last = tooLarge ?? page.affiliates.at(-1) ?? null
    return {
      plan: plan.plan,
      period: period.id,
      currency: version.terms.currency,
      data: comparePage(page),
      affiliates: page.affiliates.length,
      skipped: tooLarge === null ? [] : [tooLarge],
      warnings: version.warnings,
      meta: { next_cursor: last === affiliates.at(-1) ? null : last },
    }
  })
}
