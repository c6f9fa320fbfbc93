import { type Context, Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { type AffiliateParents, readParents, replaceParents } from '../db/commission/histories.ts'
import { resolveDatabase } from '../db/database.ts'
import { deleteAffiliate, findAffiliateUses } from '../db/directory/affiliate-uses.ts'
import {
  type AffiliateProfile,
  affiliateExists,
  listAffiliates,
  listUnconfigured,
  PROFILE_MEMBERS,
  putAffiliates,
  readProfiles,
  rejectCycles,
  rejectDeepTrees,
  rejectKnown,
  UNCONFIGURED_LIMITS,
} from '../db/directory/affiliates.ts'
import { withAudit } from '../db/directory/audit.ts'
import { isAssertionFailure } from '../db/retry.ts'
import { ApiError } from '../errors.ts'
import { PAGE_PARAMETERS, parseInteger, readPage, respondWithPage } from '../http/pagination.ts'
import { readFlag, readIds, readQuery } from '../http/query.ts'
import { notFound, readJson, validateAt, validationFailed } from '../http/read-fields.ts'
import { MAX_RECORDS } from '../ingest/envelope.ts'
import type { Issue } from '../validation/issue.ts'
import { quote } from '../validation/quote.ts'
import { todayOf } from '../zone.ts'
import { findRouteAccount } from './accounts.ts'
import { getFigures } from './affiliate-figures.ts'
import { findDeepParents, MAX_LEVELS } from './affiliate-levels.ts'
import {
  type AffiliateInput,
  changedParents,
  changeTree,
  findTreeIssues,
  type Tree,
  toTree,
} from './affiliate-tree.ts'
import { affiliate } from './fields.ts'
import { readAffiliate } from './ledger.ts'
import { respondWithFilteredList } from './list-route.ts'

/** Routes for the affiliates of an account, each with the affiliate who referred it, if any. */
export const affiliates = new Hono<AppEnv>()
  .put('/', async (c) => {
    const query = readQuery(c.req.url, 'dry_run', 'only_new')
    const isDryRun = readFlag('dry_run', query.dry_run)
    const isOnlyNew = readFlag('only_new', query.only_new)
    const row = await findRouteAccount(c)
    const account = row.id
    const db = resolveDatabase(c.env, row.binding)
    const { sent, issues } = readAffiliateList(await readJson(c))
    const ids = sent.map(({ affiliate_id }) => affiliate_id)
    const [parents, profiles] = await Promise.all([
      readParents(db, account, null),
      readProfiles(db, account, ids),
    ])
    const before = toTree(parents)
    const after = changeTree(before, sent, todayOf(row))
    const circles = findTreeIssues(sent, after)
    const changed = changedParents(before, after)
    const mayBeDeeper = circles.length === 0 && changed.length > 0
    const levels = mayBeDeeper ? findDeepParents(sent, before, after) : null
    issues.push(...circles, ...(levels?.issues ?? []))
    if (issues.length > 0) throw validationFailed(issues)
    const renamed = sent.filter((one) => profileChanges(one, profiles).length > 0)
    const added = sent.filter(({ affiliate_id }) => !before.has(affiliate_id))
    const details = {
      affiliates: sent.length,
      ids: ids.slice(0, MAX_AUDITED_IDS),
      ...(added.length > 0 && { added: added.length }),
      before: replacedParents(before, changed),
      ...(renamed.length > 0 && { profiles: changedProfiles(renamed, profiles) }),
    }
    const entry = { actor: c.var.actor, action: 'affiliates.put', account, details }
    const statements = [
      ...(isOnlyNew ? [rejectKnown(db, account, ids)] : []),
      ...putAffiliates(db, account, sent),
      ...replaceParents(db, account, changed),
      ...rejectCycles(db, account, sent),
      ...(levels ? [rejectDeepTrees(db, account, Math.max(MAX_LEVELS, levels.deepest))] : []),
    ]
    const stored = isDryRun ? Promise.resolve() : withAudit(db, entry, statements)
    await stored.catch(async (error) => {
      if (!isAssertionFailure(error)) throw error
      if (isOnlyNew) {
        const [known] = (await readProfiles(db, account, ids)).keys()
        if (known !== undefined) {
          throw new ApiError('conflict', {
            detail: `${quote(known)} exists already.`,
            cause: error,
          })
        }
      }
      const detail = `Another change was made at the same time; together they would make an affiliate its own ancestor, or a chain of more than ${MAX_LEVELS} affiliates. Read the affiliates and try again.`
      throw new ApiError('conflict', { detail, cause: error })
    })
    const changedIds = new Set(
      [...added, ...changed, ...renamed].map(({ affiliate_id }) => affiliate_id),
    )
    const isRemoved = ({ affiliate_id, parents }: AffiliateParents) =>
      !parents.at(-1)?.parent && Boolean(before.get(affiliate_id)?.at(-1)?.parent)
    const removed = changed.filter(isRemoved).length
    return c.json({
      received: sent.length,
      changed: changedIds.size,
      ...(removed > 0 && { parents_removed: removed }),
    })
  })

  .get('/', (c) =>
    respondWithFilteredList(
      c,
      'affiliates',
      ['affiliate_id', 'beginning', 'ids'],
      ({ id }, page, db, { ids, ...filter }) =>
        listAffiliates(db, id, page, {
          ...filter,
          ...(ids !== undefined && { ids: readIds('ids', ids) }),
        }),
    ),
  )

  .get('/parents', async (c) => {
    const { affiliate_id, ...query } = readQuery(c.req.url, ...PAGE_PARAMETERS, 'affiliate_id')
    const { id, binding } = await findRouteAccount(c)
    const db = resolveDatabase(c.env, binding)
    const context = JSON.stringify([id, 'parents', affiliate_id])
    const page = await readPage(c.env, context, query)
    const list = await listAffiliates(
      db,
      id,
      page,
      affiliate_id === undefined ? {} : { affiliate_id },
    )
    const ids = list.data.map((row) => row.affiliate_id)
    return respondWithPage(c, context, page, { ...list, data: await readParents(db, id, ids) })
  })

  .get('/figures', getFigures)

  .get('/unconfigured', async (c) => {
    const { customers } = readQuery(c.req.url, 'customers')
    const max = UNCONFIGURED_LIMITS.customers
    const size = customers === undefined ? max : parseInteger('customers', customers, max)
    const { id, binding } = await findRouteAccount(c)
    const { data, hasMore } = await listUnconfigured(resolveDatabase(c.env, binding), id, size)
    return c.json({ data, ...(hasMore && { more_customers: true }) })
  })

  .delete('/:affiliate_id', removeAffiliate)

  .delete('/', removeAffiliate)

/** Deletes an affiliate that nothing names. */
async function removeAffiliate(c: Context<AppEnv>) {
  const affiliate_id = readAffiliate(c)
  const { id: account, binding } = await findRouteAccount(c)
  const db = resolveDatabase(c.env, binding)
  if (!(await affiliateExists(db, account, affiliate_id))) throw notFound('affiliate', affiliate_id)
  const databases = { db, directory: c.env.DB }
  const refuseUsed = async () => {
    const uses = await findAffiliateUses(databases, account, affiliate_id)
    if (uses.length === 0) return
    const detail = `The affiliate cannot be deleted, because it has or is named by: ${uses.join(', ')}.`
    throw new ApiError('conflict', { detail })
  }
  await refuseUsed()
  const [own] = await readParents(db, account, [affiliate_id])
  const entry = { actor: c.var.actor, action: 'affiliate.delete', account, details: { ...own } }
  await withAudit(db, entry, deleteAffiliate(db, account, affiliate_id)).catch(async (error) => {
    if (isAssertionFailure(error)) await refuseUsed()
    throw error
  })
  return c.body(null, 204)
}

type Profiles = ReadonlyMap<string, AffiliateProfile>

/** Returns the members of an affiliate's profile that are sent with another value than is stored. */
const profileChanges = (sent: AffiliateInput, profiles: Profiles): (keyof AffiliateProfile)[] =>
  PROFILE_MEMBERS.filter((name) => {
    const initial = name === 'status' ? 'active' : null
    const stored = profiles.get(sent.affiliate_id)?.[name] ?? initial
    return sent[name] !== undefined && sent[name] !== stored
  })

/** Returns which members of profiles a request changes, as the audit log names them: without their values. */
const changedProfiles = (renamed: readonly AffiliateInput[], profiles: Profiles) =>
  renamed.slice(0, MAX_AUDITED_IDS).map((one) => ({
    affiliate_id: one.affiliate_id,
    changed: profileChanges(one, profiles),
    // Who may call is no personal data, and the log must tell a suspension from its end.
    ...(one.status !== undefined && { status: one.status }),
  }))

/** The audit log names at most this many affiliates of a request. */
const MAX_AUDITED_IDS = 20

/** The audit log names at most this many former parents of each of them, the latest. */
const MAX_AUDITED_PARENTS = 20

/** Returns the parents by day that a request replaces, as the audit log names them. */
const replacedParents = (before: Tree, changed: readonly AffiliateParents[]): AffiliateParents[] =>
  changed
    .flatMap(({ affiliate_id }) => {
      const parents = before.get(affiliate_id)?.slice(-MAX_AUDITED_PARENTS)
      return parents ? [{ affiliate_id, parents }] : []
    })
    .slice(0, MAX_AUDITED_IDS)

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
    const { affiliate_id, parent, from, display_name, contact_email } = checked.output
    const { language, note, status } = checked.output
    issues.push(...checked.issues)
    if (seen.has(affiliate_id)) issues.push({ pointer, code: 'duplicate_key' })
    if (from !== undefined && parent === undefined) {
      issues.push({ pointer: `${pointer}/parent`, code: 'required' })
    }
    if (affiliate_id === undefined) return []
    seen.add(affiliate_id)
    return [
      {
        index,
        affiliate_id,
        ...(parent !== undefined && { parent }),
        ...(from !== undefined && { from }),
        ...(display_name !== undefined && { display_name }),
        ...(contact_email !== undefined && { contact_email }),
        ...(language !== undefined && { language }),
        ...(note !== undefined && { note }),
        ...(status !== undefined && { status }),
      },
    ]
  })
  return { sent, issues }
}
