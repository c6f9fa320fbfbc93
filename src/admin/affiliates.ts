import { Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { resolveDatabase } from '../db/database.ts'
import {
  type Affiliate,
  listAffiliates,
  listParents,
  listUnconfigured,
  putAffiliates,
  rejectCycles,
} from '../db/directory/affiliates.ts'
import { withAudit } from '../db/directory/audit.ts'
import { isAssertionFailure } from '../db/retry.ts'
import { ApiError } from '../errors.ts'
import { readQuery } from '../http/query.ts'
import { MAX_RECORDS } from '../ingest/envelope.ts'
import type { Issue } from '../validation/issue.ts'
import { findRouteAccount } from './accounts.ts'
import { readJson, validateAt, validationFailed } from './body.ts'
import { affiliate } from './fields.ts'
import { respondWithList } from './list-route.ts'

/** An affiliate as sent, with its index in the body. Without `parent` it keeps its stored parent. */
interface AffiliateInput {
  index: number
  affiliate_id: string
  parent?: string | null
}

/** Routes for the affiliates of an account, each with the affiliate who referred it, if any. */
export const affiliates = new Hono<AppEnv>()
  .put('/', async (c) => {
    readQuery(c.req.url)
    const { id: account, binding } = await findRouteAccount(c)
    const db = resolveDatabase(c.env, binding)
    const { sent, issues } = readAffiliateList(await readJson(c))
    issues.push(...findTreeIssues(sent, await listParents(db, account)))
    if (issues.length > 0) throw validationFailed(issues)
    const ids = sent.slice(0, MAX_AUDITED_IDS).map(({ affiliate_id }) => affiliate_id)
    const details = { affiliates: sent.length, ids }
    const entry = { actor: c.var.actor, action: 'affiliates.put', account, details }
    const puts = putAffiliates(db, account, sent)
    const checks = rejectCycles(db, account, sent)
    const results = await withAudit(db, entry, [...puts, ...checks]).catch((error) => {
      if (!isAssertionFailure(error)) throw error
      const detail =
        'Another change was made at the same time; together they would make an affiliate its own ancestor. Read the affiliates and try again.'
      throw new ApiError('conflict', { detail, cause: error })
    })
    const changed = results.slice(0, puts.length).reduce((sum, { meta }) => sum + meta.changes, 0)
    return c.json({ received: sent.length, changed })
  })

  .get('/', (c) =>
    respondWithList(c, 'affiliates', ({ id }, page, db) => listAffiliates(db, id, page)),
  )

  .get('/unconfigured', async (c) => {
    readQuery(c.req.url)
    const { id, binding } = await findRouteAccount(c)
    const { data, hasMore } = await listUnconfigured(resolveDatabase(c.env, binding), id)
    return c.json({ data, ...(hasMore && { more_customers: true }) })
  })

/** The audit log names at most this many affiliates of a request. */
const MAX_AUDITED_IDS = 20

/** Returns the affiliates of a body with a valid id, and the issues of all. */
function readAffiliateList(body: unknown): { sent: AffiliateInput[]; issues: Issue[] } {
  if (!Array.isArray(body))
    throw validationFailed([{ pointer: '', code: 'type', expected: 'array' }])
  if (body.length < 1 || body.length > MAX_RECORDS) {
    const expected = `1 to ${MAX_RECORDS}`
    const received = String(body.length)
    throw validationFailed([{ pointer: '', code: 'record_count', expected, received }])
  }
  const seen = new Set<unknown>()
  const issues: Issue[] = []
  const sent = body.flatMap((item: unknown, index): AffiliateInput[] => {
    const pointer = `/${index}`
    const checked = validateAt(item, affiliate, pointer)
    const { affiliate_id, parent } = checked.output
    issues.push(...checked.issues)
    if (seen.has(affiliate_id)) issues.push({ pointer, code: 'duplicate_key' })
    if (affiliate_id === undefined) return []
    seen.add(affiliate_id)
    return [{ index, affiliate_id, ...(parent !== undefined && { parent }) }]
  })
  return { sent, issues }
}

/** Returns an issue for each parent that is not configured or would make an affiliate its own ancestor. */
function findTreeIssues(sent: readonly AffiliateInput[], stored: readonly Affiliate[]): Issue[] {
  const parents = new Map(stored.map(({ affiliate_id, parent }) => [affiliate_id, parent]))
  for (const { affiliate_id, parent } of sent) {
    parents.set(affiliate_id, parent === undefined ? (parents.get(affiliate_id) ?? null) : parent)
  }
  return sent.flatMap(({ index, affiliate_id, parent }): Issue[] => {
    if (!parent) return []
    const pointer = `/${index}/parent`
    if (!parents.has(parent)) return [{ pointer, code: 'unknown_affiliate', value: parent }]
    const visited = new Set([affiliate_id])
    for (let next: string | null | undefined = parent; next; next = parents.get(next)) {
      if (visited.has(next)) return [{ pointer, code: 'circle', value: parent }]
      visited.add(next)
    }
    return []
  })
}
