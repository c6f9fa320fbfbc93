import { type Context, Hono } from 'hono'
import * as v from 'valibot'
import type { AppEnv } from '../auth/authorize.ts'
import { dayNumber, periodOf } from '../commission/engine/calendar.ts'
import {
  assignmentWarnings,
  checkAssignedPlans,
  readAssignments,
} from '../commission/plans/assignments.ts'
import type { WarningContext } from '../commission/plans/check-plan.ts'
import { PLAN_DEPTH, PLAN_LIMITS } from '../commission/plans/limits.ts'
import {
  checkClosedTerms,
  decidePut,
  type PutDecision,
  toChange,
} from '../commission/plans/put-plan.ts'
import { vocabularyOf } from '../commission/plans/vocabulary.ts'
import { rejectClosedTerms } from '../db/commission/books/booked.ts'
import {
  deleteAssignment,
  findAssignment,
  findVersion,
  insertVersion,
  listAssignments,
  listVersions,
  pageVersions,
  putAssignments,
  readAssignmentContext,
  readVersions,
  rejectUnknownPlans,
  type StoredAssignment,
  type VersionHead,
  withdrawVersion,
} from '../db/commission/plans.ts'
import { readRatedCurrencies } from '../db/commission/rates.ts'
import { resolveDatabase } from '../db/database.ts'
import { hasAuditEntry, newAuditId, withAudit } from '../db/directory/audit.ts'
import { listDefinitions } from '../db/directory/event-definitions.ts'
import { isAssertionFailure, isUniqueViolation } from '../db/retry.ts'
import type { Account } from '../db/schema.ts'
import { ApiError } from '../errors.ts'
import { invalidQuery, invalidValue, readDays, readQuery } from '../http/query.ts'
import { notFound, readJson, validationFailed } from '../http/read-fields.ts'
import type { ResourcesOf } from '../ingest/resource.ts'
import { quote } from '../validation/quote.ts'
import { todayOf } from '../zone.ts'
import { findRouteAccount } from './accounts.ts'
import { slug } from './fields.ts'
import { respondWithAffiliateList, respondWithList } from './list-route.ts'

/** Reads what the checks of a plan depend on beside the account's other plans. */
export async function readPlanContext(
  directory: D1Database,
  { id, vertical }: Account,
  resourcesOf: ResourcesOf,
): Promise<Omit<WarningContext, 'onceIds'>> {
  const [definitions, ratedCurrencies] = await Promise.all([
    listDefinitions(directory, id),
    knownRates(directory),
  ])
  return { vocabulary: vocabularyOf(resourcesOf(vertical), definitions), ratedCurrencies }
}

/** Returns the currencies with rates. Before the first import it is unknown which will have some. */
async function knownRates(directory: D1Database): Promise<Set<string> | null> {
  const rated = await readRatedCurrencies(directory)
  return rated.size > 0 ? rated : null
}

/** The attempts to store a version while others are stored at the same time. */
const MAX_ATTEMPTS = 4

/** Returns the routes of the plans of an account. A version of a plan never changes. */
export const plans = (resourcesOf: ResourcesOf) =>
  new Hono<AppEnv>()
    .get('/', async (c) => {
      readQuery(c.req.url)
      const account = await findRouteAccount(c)
      const heads = await listVersions(resolveDatabase(c.env, account.binding), account.id, null)
      const byPlan = Map.groupBy(heads, ({ plan }) => plan)
      const today = todayOf(account)
      return c.json({ data: [...byPlan.values()].map((versions) => presentPlan(versions, today)) })
    })

    .get('/:plan', async (c) => {
      readQuery(c.req.url)
      const account = await findRouteAccount(c)
      const plan = c.req.param('plan')
      const heads = await listVersions(resolveDatabase(c.env, account.binding), account.id, plan)
      if (heads.length === 0) throw notFound('plan', plan)
      return c.json({
        ...presentPlan(heads, todayOf(account)),
        versions: heads.map(presentHead),
      })
    })

    .put('/:plan', async (c) => {
      const after = readVersionNumber(readQuery(c.req.url, 'after').after)
      const account = await findRouteAccount(c)
      const plan = c.req.param('plan')
      if (!v.is(slug, plan)) {
        const expected = '1 to 63 characters of a-z, 0-9 and `-`'
        throw validationFailed([{ pointer: '', code: 'pattern', expected, value: plan }])
      }
      const body = await readJson(c, PLAN_DEPTH)
      const context = await readPlanContext(c.env.DB, account, resourcesOf)
      const decision = await putPlan(c, account, plan, (stored) =>
        decidePut(plan, body, stored, { ...context, after }),
      )
      const { outcome, version } = decision
      const { terms, warnings } = decision.plan
      const { effective_from } = terms
      const status = outcome === 'created' ? 201 : 200
      return c.json({ plan, version, effective_from, outcome, warnings }, status)
    })

    .get('/:plan/versions', (c) => respondWithVersions(c, c.req.param('plan')))

    .get('/:plan/versions/:version', async (c) => {
      readQuery(c.req.url)
      const { row } = await findRouteVersion(c)
      return c.json(presentVersion(row))
    })

    .delete('/:plan/versions/:version', async (c) => {
      readQuery(c.req.url)
      const { account, row } = await findRouteVersion(c)
      if (row.withdrawn_at === null) await withdraw(c, account, row)
      return c.body(null, 204)
    })

/** Reads the number of a version, or 0 for none; null if it is absent. */
export function readVersionNumber(text: string | undefined): number | null {
  if (text === undefined) return null
  if (/^\d{1,6}$/.test(text)) return Number(text)
  throw invalidValue('after', text, 'the number of a version, or `0`')
}

/** Responds with one page of the versions of a plan. */
const respondWithVersions = (c: Context<AppEnv>, plan: string): Promise<Response> =>
  respondWithList(c, `versions of ${plan}`, async ({ id }, page, db) => {
    const found = await pageVersions(db, id, plan, page)
    return { ...found, data: found.data.map(presentVersion) }
  })

/** Withdraws a version whose first day has not come. */
async function withdraw(
  c: Context<AppEnv>,
  account: Account,
  { plan, version, effective_from }: Pick<VersionHead, 'plan' | 'version' | 'effective_from'>,
): Promise<void> {
  const db = resolveDatabase(c.env, account.binding)
  const withdrawn_at = new Date().toISOString()
  const statements = withdrawVersion(db, {
    account: account.id,
    plan,
    version,
    today: todayOf(account),
    withdrawn_at,
  })
  const details = { plan, version, effective_from }
  const entry = { actor: c.var.actor, action: 'plan.withdraw', account: account.id, details }
  await withAudit(db, entry, statements).catch((error) => {
    throw isAssertionFailure(error) ? inForce(error) : error
  })
}

const inForce = (cause: unknown) =>
  new ApiError('conflict', {
    detail:
      'The version is or was in force, so it stays. Its first day has come, or it is the first version of a plan with assignments, manual entries or closed periods, which also governs the days before it. Put a new version instead.',
    cause,
  })

/**
 * Stores what is decided. Decides again if another version is stored, or a period is closed, at the same
 * time.
 */
async function putPlan(
  c: Context<AppEnv>,
  { id: account, binding }: Account,
  plan: string,
  decide: (stored: Awaited<ReturnType<typeof readVersions>>) => PutDecision,
) {
  const db = resolveDatabase(c.env, binding)
  for (let attempt = 1; ; attempt++) {
    const decision = decide(await readVersions(db, account, plan))
    if (decision.outcome === 'invalid') throw validationFailed(decision.issues)
    if (decision.outcome === 'refused') throw new ApiError('conflict', { detail: decision.detail })
    if (decision.outcome === 'unchanged') return decision
    const { version, plan: checked } = decision
    const { effective_from, name } = checked.terms
    const details = { plan, version, effective_from, name }
    const entry = { actor: c.var.actor, action: 'plan.put', account, details }
    const created_at = new Date().toISOString()
    const { id: period } = periodOf(dayNumber(effective_from), checked.terms.period)
    const row = { account, plan, version, effective_from, terms: checked.text, created_at, period }
    const auditId = newAuditId()
    try {
      await withAudit(db, entry, insertVersion(db, row), auditId)
      return decision
    } catch (error) {
      if (!isUniqueViolation(error) && !isAssertionFailure(error)) throw error
      // An earlier attempt of this batch may have succeeded although its response was lost.
      if (await hasAuditEntry(db, auditId)) return decision
      if (attempt === MAX_ATTEMPTS) throw busy(plan, error)
    }
  }
}

const busy = (plan: string, cause: unknown) =>
  new ApiError('conflict', {
    detail: `The plan ${plan} was changed at the same time. Repeat the request.`,
    cause,
  })

/** Returns the account and the version that the path names. */
async function findRouteVersion(c: Context<AppEnv>) {
  const account = await findRouteAccount(c)
  const plan = c.req.param('plan') ?? ''
  const text = c.req.param('version') ?? ''
  const version = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : null
  const db = resolveDatabase(c.env, account.binding)
  const row = version && (await findVersion(db, account.id, plan, version))
  if (!row) throw notFound('version', `${plan}/${text}`)
  return { account, row }
}

/** Returns a version as its plan lists it, without its terms. */
const presentHead = ({ version, effective_from, name, created_at, withdrawn_at }: VersionHead) => ({
  version,
  effective_from,
  name,
  created_at,
  withdrawn_at,
})

/** Returns a version with its terms. */
const presentVersion = (row: NonNullable<Awaited<ReturnType<typeof findVersion>>>) => {
  const { plan, version, effective_from, terms, created_at, withdrawn_at } = row
  return { plan, version, effective_from, terms: JSON.parse(terms), created_at, withdrawn_at }
}

/** Returns a plan as lists show it; `heads` are all its versions, by number. */
function presentPlan(heads: readonly VersionHead[], today: string) {
  const kept = heads
    .filter(({ withdrawn_at }) => withdrawn_at === null)
    .sort((a, b) => (a.effective_from < b.effective_from ? -1 : 1))
  const inForce = kept.findLast(({ effective_from }) => effective_from <= today)
  const [first] = kept
  const { plan, name, currency, period, terms } = inForce ?? first ?? heads.at(-1)!
  const later = kept.find(({ effective_from }) => effective_from > today)
  const next = later ? { version: later.version, from: later.effective_from } : null
  return { plan, name, currency, period, terms, in_force: inForce?.version ?? null, next }
}

/** The audit log names at most this many assignments of a request. */
const MAX_AUDITED = 20

const present = ({ from_day: from, ...assignment }: StoredAssignment) => ({ ...assignment, from })

/** Routes for the assignments of an account: which plan governs the customers of an affiliate. */
export const assignments = new Hono<AppEnv>()
  .put('/', async (c) => {
    readQuery(c.req.url)
    const { id: account, binding } = await findRouteAccount(c)
    const db = resolveDatabase(c.env, binding)
    const { sent, issues } = readAssignments(await readJson(c))
    const rows = sent.map(({ index: _, from, ...one }) => ({ ...one, from_day: from }))
    const context = await readAssignmentContext(db, account, rows)
    issues.push(...checkAssignedPlans(sent, context.plans))
    if (issues.length > 0) throw validationFailed(issues)
    checkNumber(context.count + sent.length)
    const details = {
      assignments: sent.length,
      first: rows.slice(0, MAX_AUDITED).map(present),
      replaced: context.replaced.length,
      before: context.replaced.slice(0, MAX_AUDITED).map(present),
    }
    const entry = { actor: c.var.actor, action: 'assignments.put', account, details }
    const changes = rows.map((row) => toChange(row, false))
    await checkClosedTerms(db, account, changes)
    const checks = [
      ...rejectClosedTerms(db, account, changes),
      rejectUnknownPlans(db, account, [...new Set(sent.map(({ plan }) => plan))]),
    ]
    const puts = putAssignments(db, account, rows)
    const results = await withAudit(db, entry, [...checks, ...puts]).catch(async (error) => {
      if (!isAssertionFailure(error)) throw error
      await checkClosedTerms(db, account, changes)
      throw withdrawn(error)
    })
    const changed = results
      .slice(checks.length, -1)
      .reduce((sum, { meta }) => sum + meta.changes, 0)
    const warnings = assignmentWarnings(sent, context.unconfigured)
    return c.json({ received: sent.length, changed, ...warnings })
  })

  .get('/', (c) =>
    respondWithAffiliateList(c, 'assignments', async ({ id }, page, db, affiliate) => {
      const found = await listAssignments(db, id, affiliate, page)
      return { ...found, data: found.data.map(present) }
    }),
  )

  .delete('/', async (c) => {
    const { id: account, binding } = await findRouteAccount(c)
    const key = readKey(c)
    const db = resolveDatabase(c.env, binding)
    const found = await findAssignment(db, account, key)
    if (!found) {
      const detail = `Affiliate ${quote(key.affiliate_id)} has no assignment from ${key.from_day} on.`
      throw new ApiError('not_found', { detail })
    }
    const entry = {
      actor: c.var.actor,
      action: 'assignment.delete',
      account,
      details: present(found),
    }
    const changes = [toChange(found, true)]
    await checkClosedTerms(db, account, changes)
    const statements = [
      ...rejectClosedTerms(db, account, changes),
      deleteAssignment(db, account, key),
    ]
    await withAudit(db, entry, statements).catch(async (error) => {
      if (isAssertionFailure(error)) await checkClosedTerms(db, account, changes)
      throw error
    })
    return c.body(null, 204)
  })

/** Returns the key of an assignment. It is in the query: an id such as `..` cannot be in a path. */
function readKey(c: Context<AppEnv>) {
  const { affiliate_id, from } = readDays(readQuery(c.req.url, 'affiliate_id', 'from'))
  if (!affiliate_id || !from) throw invalidQuery('`affiliate_id` and `from` are required.')
  return { affiliate_id, from_day: from }
}

function checkNumber(number: number): void {
  if (number <= PLAN_LIMITS.assignments) return
  const limit = PLAN_LIMITS.assignments.toLocaleString('en')
  const detail = `An account has at most ${limit} assignments. Delete those that a later one replaces, or assign most affiliates with \`*\`.`
  throw new ApiError('conflict', { detail })
}

const withdrawn = (cause: unknown) =>
  new ApiError('conflict', {
    detail: 'The last version of one of these plans was withdrawn at the same time. Try again.',
    cause,
  })
