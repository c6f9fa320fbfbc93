import { type Context, Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import {
  assignmentWarnings,
  checkAssignedPlans,
  readAssignments,
} from '../commission/plans/assignments.ts'
import { checkClosedTerms, toChange } from '../commission/plans/closed-terms.ts'
import { PLAN_LIMITS } from '../commission/plans/limits.ts'
import {
  deleteAssignment,
  findAssignment,
  listAssignments,
  putAssignments,
  readAssignmentContext,
  rejectUnknownPlans,
} from '../db/commission/assignments.ts'
import { rejectClosedTerms } from '../db/commission/books/closed-terms.ts'
import type { StoredAssignment } from '../db/commission/plans.ts'
import { resolveDatabase } from '../db/database.ts'
import { withAudit } from '../db/directory/audit.ts'
import { isAssertionFailure } from '../db/retry.ts'
import { ApiError } from '../errors.ts'
import { invalidQuery, readDays, readQuery } from '../http/query.ts'
import { quote } from '../validation/quote.ts'
import { findRouteAccount } from './accounts.ts'
import { readJson, validationFailed } from './body.ts'
import { respondWithAffiliateList } from './list-route.ts'

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
