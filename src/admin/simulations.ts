import { type Context, Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { writeCsv } from '../commission/csv.ts'
import { compareText } from '../commission/engine/facts.ts'
import { PLAN_DEPTH } from '../commission/plans/limits.ts'
import { TooManyFacts } from '../commission/statements/compute.ts'
import { type AccountBeginnings, beginningsOf } from '../commission/statements/days.ts'
import { FRESH_LIMITS } from '../commission/statements/limits.ts'
import { withinLimit } from '../commission/statements/on-request.ts'
import {
  SIMULATION_COLUMNS,
  type Simulated,
  toRows,
} from '../commission/statements/present-simulation.ts'
import {
  comparePage,
  computePage,
  type NamedPlan,
  openSimulation,
  parseSimulation,
  type SimulationRequest,
} from '../commission/statements/simulation.ts'
import { type AccountSource, openSource } from '../commission/statements/source.ts'
import { accountDatabase } from '../db/database.ts'
import { ReadMemory } from '../http/memory.ts'
import { invalidQuery, readFlag, readQuery } from '../http/query.ts'
import { notFound, readJson, validationFailed } from '../http/read-fields.ts'
import { sendJson } from '../http/send.ts'
import { signText, verifyText } from '../http/sign-text.ts'
import { canonicalJson } from '../validation/canonical-json.ts'
import { findRouteAccount } from './accounts.ts'
import { readPlanContext } from './plans.ts'

/** What a request for a simulation is narrowed to. */
interface Filter {
  readonly affiliate_id: string | null
  readonly all: boolean
  /** Whether every affiliate has the plan in the periods asked for. */
  readonly forAll: boolean
  /** The last affiliate of the page before; null for the first page. */
  readonly after: string | null
}

const FILTERS = ['affiliate_id', 'all', 'assigned_to_all'] as const

/** Returns the route that simulates a version of a plan. It stores nothing. */
export const simulations = new Hono<AppEnv>().post('/:plan/simulate', async (c) => {
  const { cursor, ...query } = readQuery(c.req.url, 'cursor', ...FILTERS)
  const forAll = readFlag('assigned_to_all', query.assigned_to_all)
  const account = await findRouteAccount(c)
  const body = await readJson(c, PLAN_DEPTH + 1)
  const [source, planContext, beginnings] = await Promise.all([
    openSource(c.env, account),
    readPlanContext(c.env.DB, account),
    beginningsOf({ db: accountDatabase(c.env, account), account }),
  ])
  const name = c.req.param('plan')
  const plan = { plan: name, stored: source.inForce.plans.get(name) ?? null }
  if (!plan.stored && !forAll) throw notFound('plan', name)
  const { issues, request } = parseSimulation(body, source.inForce, plan, planContext, Date.now())
  if (!request) throw validationFailed(issues)
  const context = JSON.stringify([account.id, 'simulate', plan.plan, query, canonicalJson(body)])
  const after = cursor === undefined ? null : await verifyText(c.env, context, cursor)
  if (cursor !== undefined && after === null) throw foreignCursor()
  const filter = {
    affiliate_id: query.affiliate_id ?? null,
    all: readFlag('all', query.all),
    forAll,
    after,
  }
  const { next, ...found } = await simulate({ source, beginnings }, plan, request, filter)
  return respond(c, found, next === null ? null : await signText(c.env, context, next))
})

const foreignCursor = () =>
  invalidQuery('`cursor` was not issued for this simulation. Send the same body and parameters.')

/** What to do about an affiliate with too many records. */
const TOO_LARGE = 'The affiliate cannot be simulated.'

/** Computes one page of a simulation; `next` is its last affiliate if there are more. */
function simulate(
  { source, beginnings }: { source: AccountSource; beginnings: AccountBeginnings },
  plan: NamedPlan,
  { periods, version }: SimulationRequest,
  { affiliate_id, all, forAll, after }: Filter,
): Promise<Omit<Simulated, 'meta'> & { next: string | null }> {
  return withinLimit({ account: source.account.id }, TOO_LARGE, async () => {
    const simulation = await openSimulation(source, plan, version.terms, periods, {
      beginnings,
      forAll,
    })
    const isAsked = (one: string): boolean =>
      affiliate_id === null ? after === null || compareText(one, after) > 0 : one === affiliate_id
    const affiliates = simulation.affiliates.filter(isAsked)
    const page = await computePage(simulation, affiliates, FRESH_LIMITS.facts)
    const { tooLarge } = page
    if (tooLarge !== null && affiliate_id !== null) throw new TooManyFacts()
    const last = tooLarge ?? page.affiliates.at(-1) ?? null
    return {
      plan: plan.plan,
      periods: periods.map(({ id }) => id),
      currency: version.terms.currency,
      ...comparePage(page, all),
      skipped: tooLarge === null ? [] : [{ affiliate_id: tooLarge, reason: 'too_many_records' }],
      warnings: version.warnings,
      next: last === affiliates.at(-1) ? null : last,
    }
  })
}

function respond(
  c: Context<AppEnv>,
  found: Omit<Simulated, 'meta'>,
  next_cursor: string | null,
): Promise<Response> | Response {
  if (next_cursor !== null) {
    const url = new URL(c.req.url)
    url.searchParams.set('cursor', next_cursor)
    c.header('Link', `<${new URL(url.pathname + url.search, c.env.BASE_URL)}>; rel="next"`)
  }
  if (/\btext\/csv\b/i.test(c.req.header('Accept') ?? '')) {
    const csv = writeCsv([SIMULATION_COLUMNS, ...toRows(found)])
    return c.body(csv, 200, { 'Content-Type': 'text/csv; charset=utf-8' })
  }
  const body: Simulated = { ...found, meta: { next_cursor } }
  return sendJson(c, body, new ReadMemory('the team'))
}
