import * as v from 'valibot'
import { prepareAssignments } from '../../commission/operations/plans.ts'
import { listUnconfigured, UNCONFIGURED_CUSTOMERS } from '../../ingest/db/attention.ts'
import { markChanges, markOwned } from '../../ingest/db/changed.ts'
import { MAX_RECORDS } from '../../ingest/envelope.ts'
import { firstDifference, toDay } from '../../platform/db/history.ts'
import { isAssertionFailure, withD1Retry } from '../../platform/db/retry.ts'
import * as rows from '../../platform/directory/affiliates.ts'
import {
  auditOfAffiliates,
  type Changes,
  changesOf,
  insertEntry,
} from '../../platform/directory/audit.ts'
import { memberIds } from '../../platform/directory/members.ts'
import { ApiError } from '../../platform/errors.ts'
import { type Call, list, operation } from '../../platform/http/operation.ts'
import { readIds } from '../../platform/http/query.ts'
import { readItems, validateAt, validationFailed } from '../../platform/http/read-fields.ts'
import { beyondScope } from '../../platform/http/scope.ts'
import { LANGUAGES } from '../../platform/languages.ts'
import { count, day } from '../../platform/validation/answer-fields.ts'
import { component, described } from '../../platform/validation/described.ts'
import { member, nullable, optional, said } from '../../platform/validation/fields.ts'
import type { Issue } from '../../platform/validation/issue.ts'
import { todayOf } from '../../platform/zone.ts'
import { managerOf, listAffiliates as readAffiliates } from '../db/affiliates.ts'
import { affiliate } from './affiliate-fields.ts'
import { listAffiliateFigures, search } from './affiliate-figures.ts'
import { status } from './affiliate-keys.ts'
import {
  type AffiliateInput,
  changedParents,
  changeTree,
  findTreeIssues,
  type Tree,
  toTree,
} from './affiliate-tree.ts'

export const putAffiliates = operation({
  topic: 'affiliates',
  id: 'putAffiliates',
  shows: 'affiliate',
  adds: true,
  method: 'PUT',
  path: '/affiliates',
  role: 'manager',
  params: {
    dry_run: optional(v.boolean(), said('Validate only: same response, nothing stored.', true)),
  },
  whole: true,
  body: {
    affiliates: v.pipe(
      v.array(v.strictObject(affiliate)),
      v.minLength(1),
      v.maxLength(MAX_RECORDS),
    ),
  },
  words: described(() => ({
    description:
      'Adds or changes 1 to 1000 affiliates, each with an optional parent and plan, all or none. Customers that named an affiliate earlier are assigned to it without being sent again. An id with white space around it is refused, and so is `*`.',
    answer: v.object({
      received: member(count, 'The number of affiliates of the request.'),
      changed: member(
        count,
        'The number of those that are new, have changed or have an `assignment`.',
      ),
    }),
    errors: ['conflict'],
    command: { name: 'affiliates import' },
  })),
  run: (call, { dry_run: isDryRun = false, affiliates }) =>
    putAll(call, readAffiliateList(affiliates), isDryRun),
})

/**
 * Checks affiliates, stores them with their plans unless it is a dry run, and returns what changes.
 *
 * @throws ApiError `validation_failed`, `conflict`
 */
async function putAll(call: Call, list: SentList, isDryRun: boolean) {
  const { statements, refuseClosed, changed } = await prepareAffiliates(call, list)
  if (!isDryRun) {
    await withD1Retry(() => call.db.batch(statements)).catch(async (error) => {
      if (!isAssertionFailure(error)) throw error
      await refuseClosed()
      throw new ApiError('conflict', {
        detail: call.member.affiliates === 'all' ? REFUSED : TAKEN,
        cause: error,
      })
    })
  }
  return { received: list.sent.length, changed }
}

/**
 * Checks affiliates, and returns the statements that store them with their plans, in one batch, and how many change. If
 * the batch fails, `refuseClosed` says whether a closed period is why.
 *
 * @throws ApiError `validation_failed`, `conflict`
 */
export async function prepareAffiliates(call: Call, { sent: asked, issues }: SentList) {
  const { account: row, db, actor, member } = call
  const hasAll = member.affiliates === 'all'
  if (!hasAll && asked.some((one) => FOR_ALL.some((name) => one[name] !== undefined)))
    throw beyondScope('set the manager, the parent or the status of an affiliate')
  const account = row.id
  const ids = asked.map(({ affiliate_id }) => affiliate_id)
  const assigned = asked.flatMap(({ pointer, affiliate_id, assignment }) =>
    assignment ? [{ ...assignment, affiliate_id, pointer: `${pointer}/assignment` }] : [],
  )
  const [parents, profiles, plans, unknown] = await Promise.all([
    rows.readParents(db, account, null),
    rows.readProfiles(db, account, ids),
    assigned.length > 0 ? prepareAssignments(call, assigned) : null,
    unknownManagers(call, asked),
  ])
  const sent = asked.map((one) =>
    hasAll || profiles.has(one.affiliate_id) ? one : { ...one, manager: member.id },
  )
  const before = toTree(parents)
  const after = changeTree(before, sent, todayOf(row))
  const changed = changedParents(before, after)
  const moved = movedFrom(before, changed)
  const circles = findTreeIssues(sent, after)
  const all = [...issues, ...unknown, ...circles, ...(plans?.issues ?? [])]
  if (all.length > 0) throw validationFailed(all)
  await plans?.refuseClosed()
  const renamed = sent.filter((one) => profileChanges(one, profiles).length > 0)
  const added = sent.filter(({ affiliate_id }) => !before.has(affiliate_id))
  const changesOfOne = (one: AffiliateInput) => {
    const { affiliate_id } = one
    const profile = Object.fromEntries(rows.PROFILE_MEMBERS.map((name) => [name, one[name]]))
    const [old, now] = [before, after].map((tree) => tree.get(affiliate_id)?.at(-1) ?? NO_PARENT)
    const stored = { status: 'active', ...profiles.get(affiliate_id), ...old }
    return hidePersonal(changesOf(stored, { ...profile, ...now }))
  }
  const details = {
    ...auditOfAffiliates(sent, changesOfOne),
    ...(added.length > 0 && { added: added.map(({ affiliate_id }) => affiliate_id) }),
    before: replacedParents(before, changed),
  }
  const statements = [
    ...(plans?.checks ?? []),
    markChanges(db, account, moved.map(toDay)),
    markOwned(
      db,
      account,
      added.map(({ affiliate_id }) => affiliate_id),
    ),
    ...rows.putAffiliates(db, account, sent, profiles),
    ...rows.replaceParents(db, account, changed),
    ...(changed.length > 0 ? [rows.rejectDeepTrees(db, account)] : []),
    insertEntry(db, { actor, action: 'affiliates.put', account, details }),
    ...(plans ? [...plans.puts, insertEntry(db, plans.entry)] : []),
  ]
  const others = [...added, ...changed, ...renamed, ...assigned]
  return {
    statements,
    refuseClosed: async () => plans?.refuseClosed(),
    changed: new Set(others.map(({ affiliate_id }) => affiliate_id)).size,
  }
}

/** Why the batch of affiliates is refused if a condition of it does not hold any more. */
export const REFUSED = `A chain of parents would have more than ${rows.MAX_LEVELS} affiliates: choose parents that are nearer to the top of the tree. Or another change was made at the same time, such as that a plan was withdrawn: read the affiliates and try again.`

/** What they are told whose affiliates are not all: of others they learn nothing. */
const TAKEN =
  'One of the ids is taken, or another change was made at the same time: read the affiliates and try again.'

/** What only members for all affiliates set. */
const FOR_ALL = ['manager', 'parent', 'status'] as const

/** Returns the issues of managers who are no members of the team. */
async function unknownManagers({ env }: Call, sent: readonly AffiliateInput[]): Promise<Issue[]> {
  const named = sent.filter(({ manager }) => manager)
  if (named.length === 0) return []
  const known = await memberIds(env.DB)
  return named.flatMap(({ pointer, manager }): Issue[] =>
    known.has(manager as string)
      ? []
      : [
          {
            pointer: `${pointer}/manager`,
            code: 'unknown_reference',
            expected: 'the id of a member of the team',
            value: manager,
          },
        ],
  )
}

/** Returns the days from which affiliates of before get another parent; null: from the beginning. */
function movedFrom(before: Tree, changed: readonly rows.AffiliateParents[]): (string | null)[] {
  return changed.flatMap(({ affiliate_id, parents }) => {
    const old = before.get(affiliate_id)
    const from = old && firstDifference(old, parents, (part) => part?.parent)
    return from === undefined ? [] : [from]
  })
}

type Profiles = ReadonlyMap<string, rows.AffiliateProfile>

/** Returns the members of an affiliate's profile that are sent with another value than is stored. */
const profileChanges = (
  sent: AffiliateInput,
  profiles: Profiles,
): (keyof rows.AffiliateProfile)[] =>
  rows.PROFILE_MEMBERS.filter((name) => {
    const initial = name === 'status' ? 'active' : null
    const stored = profiles.get(sent.affiliate_id)?.[name] ?? initial
    return sent[name] !== undefined && sent[name] !== stored
  })

const NO_PARENT = { parent: null, from: null }

/** Replaces personal data in what changes by a mark that there is some: the audit log is never erased. */
function hidePersonal(changes: Changes): Changes {
  const hidden = Object.entries(changes).filter(([name]) =>
    /\b(?:display_name|contact_email|note)$/.test(name),
  )
  const hide = (value: unknown) => (value === null ? null : '…')
  const masked = hidden.map(([name, [old, now]]) => [name, [hide(old), hide(now)]])
  return { ...changes, ...Object.fromEntries(masked) }
}

/** The audit log names at most this many former parents of each of them, the latest. */
const MAX_AUDITED_PARENTS = 20

/** Returns the parents by day that a request replaces, as the audit log names them: corrections look there for theirs. */
const replacedParents = (
  before: Tree,
  changed: readonly rows.AffiliateParents[],
): rows.AffiliateParents[] =>
  changed.flatMap(({ affiliate_id }) => {
    const parents = before.get(affiliate_id)?.slice(-MAX_AUDITED_PARENTS)
    return parents ? [{ affiliate_id, parents }] : []
  })

/** The affiliates of a body with a valid id, and the issues of all. */
interface SentList {
  readonly sent: readonly AffiliateInput[]
  readonly issues: readonly Issue[]
}

/** Returns the affiliates of a body with a valid id, and the issues of all. */
function readAffiliateList(body: unknown): SentList {
  const seen = new Set<unknown>()
  const issues: Issue[] = []
  const sent = readItems(body, MAX_RECORDS).flatMap(({ pointer, item }): AffiliateInput[] => {
    const checked = validateAt(item, affiliate, pointer)
    const { affiliate_id, parent, from } = checked.output
    issues.push(...checked.issues)
    if (from !== undefined && parent === undefined)
      issues.push({ pointer: `${pointer}/parent`, code: 'required' })
    if (seen.has(affiliate_id)) issues.push({ pointer, code: 'duplicate_key' })
    if (affiliate_id === undefined) return []
    seen.add(affiliate_id)
    return [{ pointer, ...checked.output, affiliate_id }]
  })
  return { sent, issues }
}

const affiliate_only = optional(v.string(), said('Returns only this affiliate.', 'IB-07'))

const row = component('Affiliate', () => ({
  affiliate_id: member(v.string(), 'The id of the affiliate.'),
  parent: nullable(v.string(), 'The affiliate above this one.'),
  display_name: nullable(v.string(), 'What the team calls them.'),
  contact_email: nullable(v.string(), 'Their e-mail address.'),
  language: nullable(
    v.picklist(LANGUAGES),
    'The language of the portal; null: that of the browser.',
  ),
  note: nullable(v.string(), 'What the team noted.'),
  status,
  manager: nullable(
    v.string(),
    'The id of the member of the team who looks after them. Null: nobody does, or not any more.',
  ),
}))

const ofAffiliates = { topic: 'affiliates', path: '/affiliates', role: 'viewer' } as const

export const listAffiliates = list({
  ...ofAffiliates,
  id: 'listAffiliates',
  shows: 'affiliate',
  params: {
    affiliate_id: affiliate_only,
    search,
    ids: optional(
      v.string(),
      said('Returns only these affiliates: a JSON array of 1 to 500 ids.', '["IB-07", "IB-08"]'),
    ),
  },
  words: described(() => ({
    description: 'Lists the configured affiliates, ordered by id.',
    answer: row,
    command: { name: 'affiliates list' },
  })),
  async list({ env, db, account }, { ids, ...filter }, page) {
    const [found, known] = await Promise.all([
      readAffiliates(db, account.id, page, {
        ...filter,
        ...(ids !== undefined && { ids: readIds('ids', ids) }),
      }),
      memberIds(env.DB),
    ])
    return { ...found, data: found.data.map((one) => ({ ...one, manager: managerOf(one, known) })) }
  },
})

export const listParents = list({
  ...ofAffiliates,
  path: '/affiliates/parents',
  id: 'listParents',
  shows: 'affiliate',
  params: { affiliate_id: affiliate_only },
  words: described(() => ({
    description:
      'Lists the configured affiliates with their parents by day, ordered by id. A parent counts from the day on which it was set, or from the `from` that came with it.',
    answer: v.object({
      affiliate_id: member(v.string(), 'The id of the affiliate.'),
      parents: member(
        v.array(
          v.object({
            from: nullable(day, 'The first day. Null: from the beginning.'),
            parent: nullable(v.string(), 'The parent, if any.'),
          }),
        ),
        'In order of days. The first holds from the beginning.',
      ),
    }),
    command: { name: 'affiliates parents' },
  })),
  async list({ db, account }, filter, page) {
    const found = await readAffiliates(db, account.id, page, filter)
    const ids = found.data.map((one) => one.affiliate_id)
    return { ...found, data: await rows.readParents(db, account.id, ids) }
  },
})

export const listUnconfiguredAffiliates = operation({
  ...ofAffiliates,
  path: '/affiliates/unconfigured',
  id: 'listUnconfiguredAffiliates',
  shows: 'account',
  method: 'GET',
  words: described(() => ({
    description: `Lists the affiliate ids that the latest ${UNCONFIGURED_CUSTOMERS.toLocaleString('en')} customers name but that are not configured, with the number of these customers.`,
    answer: v.object({ data: v.array(v.object({ affiliate_id: v.string(), customers: count })) }),
    command: { name: 'affiliates unconfigured' },
  })),
  run: async ({ db, account }) => ({ data: await listUnconfigured(db, account.id) }),
})

/** The operations on the affiliates of an account, each with the affiliate who referred it, if any. */
export const AFFILIATE_OPERATIONS = [
  putAffiliates,
  listAffiliates,
  listParents,
  listAffiliateFigures,
  listUnconfiguredAffiliates,
]
