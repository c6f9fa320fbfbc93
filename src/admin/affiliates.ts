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

/** An affiliate as it is sent: whose parent is left out keeps the one it has. */
interface AffiliateInput {
  affiliate_id: string
  parent?: string | null
}

/** Affiliates of an account: who may be paid, each with the one that it was referred by, if any. */
export const affiliates = new Hono<AppEnv>()
  .put('/', async (c) => {
    readQuery(c.req.url)
    const { id: account, binding } = await findRouteAccount(c)
    const db = resolveDatabase(c.env, binding)
    const { sent, issues } = readAffiliateList(await readJson(c))
    issues.push(...findTreeIssues(sent, await listParents(db, account)))
    if (issues.length > 0) throw validationFailed(issues)
    const details = { affiliates: sent.length, ids: sent.slice(0, 20).map((a) => a.affiliate_id) }
    const act = { actor: c.var.actor, action: 'affiliates.put', account, details }
    const puts = putAffiliates(db, account, sent)
    const checks = rejectCycles(db, account, sent)
    const done = await withAudit(db, act, [...puts, ...checks]).catch((error) => {
      if (!isAssertionFailure(error)) throw error
      const detail = 'Another change came in between, and a circle of it: read them, and try again.'
      throw new ApiError('conflict', { detail, cause: error })
    })
    const changed = done.slice(0, puts.length).reduce((sum, { meta }) => sum + meta.changes, 0)
    return c.json({ received: sent.length, changed })
  })

  .get('/', (c) =>
    respondWithList(c, 'affiliates', ({ id }, page, db) => listAffiliates(db, id, page)),
  )

  .get('/unconfigured', async (c) => {
    readQuery(c.req.url)
    const { id, binding } = await findRouteAccount(c)
    return c.json({ data: await listUnconfigured(resolveDatabase(c.env, binding), id) })
  })

/** The affiliates that were sent, and what is wrong with any of them. */
function readAffiliateList(body: unknown): { sent: AffiliateInput[]; issues: Issue[] } {
  if (!Array.isArray(body))
    throw validationFailed([{ pointer: '', code: 'type', expected: 'array' }])
  if (body.length < 1 || body.length > MAX_RECORDS) {
    throw validationFailed([{ pointer: '', code: 'record_count', expected: `1 to ${MAX_RECORDS}` }])
  }
  const seen = new Set<unknown>()
  const all: Issue[] = []
  const sent = body.map((one: unknown, i): AffiliateInput => {
    const { issues, output } = validateAt(one, affiliate, `/${i}`)
    const { affiliate_id } = output
    if (seen.has(affiliate_id)) issues.push({ pointer: `/${i}`, code: 'duplicate_key' })
    if (affiliate_id !== undefined) seen.add(affiliate_id)
    all.push(...issues)
    return output as unknown as AffiliateInput
  })
  return { sent, issues: all }
}

/** What would make the affiliates no tree: a parent that nobody configured, or a circle. */
function findTreeIssues(sent: readonly AffiliateInput[], known: readonly Affiliate[]): Issue[] {
  const parents = new Map(known.map((one) => [one.affiliate_id, one.parent]))
  for (const { affiliate_id, parent } of sent) {
    parents.set(affiliate_id, parent === undefined ? (parents.get(affiliate_id) ?? null) : parent)
  }
  return sent.flatMap(({ affiliate_id, parent }, i): Issue[] => {
    if (!parent || affiliate_id === undefined) return []
    const pointer = `/${i}/parent`
    if (!parents.has(parent)) return [{ pointer, code: 'unknown_affiliate', value: parent }]
    const above = new Set([affiliate_id])
    for (let up: string | null | undefined = parent; up; up = parents.get(up)) {
      if (above.has(up)) return [{ pointer, code: 'circle', value: parent }]
      above.add(up)
    }
    return []
  })
}
