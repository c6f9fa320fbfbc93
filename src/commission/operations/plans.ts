import * as v from 'valibot'
import { resourcesOf } from '../../ingest/verticals.ts'
import { isAssertionFailure, isUniqueViolation } from '../../platform/db/retry.ts'
import type { Account } from '../../platform/db/schema.ts'
import { auditOfAffiliates, changesOf, withAudit } from '../../platform/directory/audit.ts'
import { listDefinitions } from '../../platform/directory/event-definitions.ts'
import { ApiError } from '../../platform/errors.ts'
import { type Call, list, operation, reply } from '../../platform/http/operation.ts'
import {
  checkNewId,
  notFound,
  readItems,
  validationFailed,
} from '../../platform/http/read-fields.ts'
import { dayNumber, periodOf } from '../../platform/money/calendar.ts'
import { count, day, outcome, stored, version } from '../../platform/validation/answer-fields.ts'
import { canonicalJson } from '../../platform/validation/canonical-json.ts'
import {
  component,
  described,
  listOf,
  named,
  referred,
  withMembers,
} from '../../platform/validation/described.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, nullable, optional, said } from '../../platform/validation/fields.ts'
import { quote } from '../../platform/validation/quote.ts'
import { todayOf } from '../../platform/zone.ts'
import { rejectClosedTerms } from '../db/closed-terms.ts'
import * as rows from '../db/plans.ts'
import {
  assignment,
  assignmentIssues,
  MAX_ASSIGNMENTS,
  readAssignments,
  type SentAssignment,
} from '../plans/assignments.ts'
import { checkClosedTerms, decidePut, type PutDecision, toChange } from '../plans/put-plan.ts'
import { readStoredPlans } from '../plans/stored-plans.ts'
import type { PlanTerms } from '../plans/types.ts'
import { vocabularyOf } from '../plans/vocabulary.ts'
import { planWarning } from '../plans/warning.ts'

/** Reads the facts that an account can send. */
export const readVocabulary = async (
  directory: D1Database,
  { id, vertical }: Pick<Account, 'id' | 'vertical'>,
) => vocabularyOf(resourcesOf(vertical), await listDefinitions(directory, id))

/** The member of a query by which nobody overwrites a version that they have not seen. */
export const after = optional(
  v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(999_999)),
  said(
    'The number of the latest version that the sender has seen; 0 if there is none. If there is a later one, nothing is stored.',
    1,
  ),
)

/** The id of a plan in a path. */
export const plan = member(
  v.string(),
  said('The id of the plan: 1 to 63 of a-z, 0-9 and hyphens.', 'standard-ib'),
)
const effective_from = described(() =>
  member(day, 'The first day on which the version is in force.'),
)

const head = component('Plan', () => ({
  plan,
  name: member(v.string(), 'The display name of the version in force, or of the first if none is.'),
  currency: member(v.string(), 'The currency of the plan.'),
  period: member(v.picklist(['month', 'week']), 'The length of its periods.'),
  terms: member(v.picklist(['signup', 'current']), 'Which version governs a fact.'),
  in_force: nullable(
    version,
    'The version in force today. Null if none is: all begin later or are withdrawn.',
  ),
  next: nullable(
    v.object({
      version: member(version, 'Its number.'),
      from: member(day, 'Its first day.'),
    }),
    'The next version, whose first day is to come. If none is in force, it also governs the days before it. Null if there is none.',
  ),
}))

const planVersion = described(() =>
  withMembers(stored, {
    version,
    effective_from,
    terms: referred<PlanTerms>('CommissionPlan'),
  }),
)

const ofPlan = { topic: 'plans', path: '/plans/{plan}', params: { plan } } as const
const putPlanAnswer = component('PutPlan', () => ({
  plan,
  version,
  effective_from,
  outcome,
  warnings: member(v.array(planWarning), 'Terms that are allowed but probably a mistake.'),
}))

export const putPlan = operation({
  ...ofPlan,
  id: 'putPlan',
  shows: 'account',
  method: 'PUT',
  role: 'manager',
  params: { plan, after },
  body: { terms: referred<unknown>('CommissionPlan') },
  whole: true,
  words: described(() => ({
    description:
      'Validates a plan and stores it as its next version. A version never changes. If the latest version has the same terms, nothing is stored. `effective_from` comes after the last period of the plan that is closed. Plans offer no minimum trade time, hedged volume or spread limit per trade, because daily aggregates do not show them.',
    answer: putPlanAnswer,
    others: { 201: putPlanAnswer },
    errors: ['conflict', 'newer_version'],
    command: { name: 'plans put' },
  })),
  async run(call, { plan: id, after, terms: body }) {
    checkNewId(id)
    const { env, db, account } = call
    const [vocabulary, before] = await Promise.all([
      readVocabulary(env.DB, account),
      rows.readBeforePut(db, account.id, id),
    ])
    const decision = decidePut(id, body, before, { after, vocabulary })
    const { version, outcome } = decision
    const { terms, warnings } = decision.plan
    const { effective_from } = terms
    const answer = { plan: id, version, effective_from, outcome, warnings }
    if (outcome === 'unchanged') return answer
    const own = before.versions.filter((one) => one.plan === id)
    await storePlan(call, id, decision, own)
    return reply(201, answer)
  },
})

export const listPlans = operation({
  topic: 'plans',
  path: '/plans',
  id: 'listPlans',
  shows: 'public',
  method: 'GET',
  words: described(() => ({
    description: 'Lists the plans of an account, ordered by id.',
    answer: listOf(head),
    command: { name: 'plans list' },
  })),
  async run({ db, account }) {
    const byPlan = Map.groupBy(await rows.readVersions(db, account.id), (one) => one.plan)
    return { data: [...byPlan.values()].map((own) => presentPlan(own, todayOf(account))) }
  },
})

export const getPlan = operation({
  ...ofPlan,
  id: 'getPlan',
  shows: 'public',
  method: 'GET',
  words: described(() => ({
    description: 'Returns a plan with its versions and their terms.',
    answer: named(
      'PlanWithVersions',
      withMembers(head, { versions: member(v.array(planVersion), 'All, the latest first.') }),
    ),
    command: { name: 'plans show' },
  })),
  async run(call, { plan: id }) {
    const own = await readPlan(call, id)
    const versions = own
      .toSorted((a, b) => b.version - a.version)
      .map(({ plan: _, ...one }) => ({ ...one, terms: JSON.parse(one.terms) }))
    return { ...presentPlan(own, todayOf(call.account)), versions }
  },
})

export const withdrawPlanVersion = operation({
  topic: 'plans',
  path: '/plans/{plan}/versions/{version}',
  params: { plan, version },
  id: 'withdrawPlanVersion',
  shows: 'account',
  method: 'DELETE',
  role: 'manager',
  words: described(() => ({
    description:
      'Withdraws a version that was never in force. The first version of a plan with assignments, manual entries that no approved statement has, or closed periods cannot be withdrawn, because it also governs earlier days. The number of a withdrawn version is not used again.',
    answer: null,
    errors: ['conflict'],
    command: {
      name: 'plans withdraw',
      done: 'Withdrew version {version} of plan {plan} of account {account}.',
    },
  })),
  async run(call, { plan: id, version: number }) {
    const { db, account, actor } = call
    const row = (await readPlan(call, id)).find(({ version }) => version === number)
    if (!row) throw notFound('version', `${id}/${number}`)
    const { plan, version, effective_from } = row
    if (row.withdrawn_at !== null) return null
    const withdrawn_at = new Date().toISOString()
    const values = { account: account.id, plan, version, today: todayOf(account), withdrawn_at }
    const details = { plan, version, effective_from }
    const entry = { actor, action: 'plan.withdraw', account: account.id, details }
    await withAudit(db, entry, rows.withdrawVersion(db, values)).catch((error) => {
      throw isAssertionFailure(error, rows.IN_FORCE) ? inForce(error) : error
    })
    return null
  },
})

const inForce = (cause: unknown) =>
  new ApiError('conflict', {
    detail:
      'The version is or was in force, so it stays. Its first day has come, or it is the first version of a plan with assignments, manual entries or closed periods, which also governs the days before it. Put a new version instead.',
    cause,
  })

/** Stores the next version of a plan; `own` are those before it. */
async function storePlan(
  call: Call,
  plan: string,
  { version, plan: { terms, text } }: PutDecision,
  own: readonly rows.StoredVersion[],
) {
  const { effective_from, name } = terms
  const row = {
    account: call.account.id,
    plan,
    version,
    effective_from,
    terms: text,
    created_at: new Date().toISOString(),
    period: periodOf(dayNumber(effective_from), terms.period).id,
  }
  const last = own.find((one) => one.version === version - 1)
  const changes = last ? changesOf(JSON.parse(last.terms), JSON.parse(text)) : {}
  const details = { plan, version, effective_from, name, changes }
  await storeVersion(call, 'plan.put', details, rows.insertVersion(call.db, row))
}

/**
 * Stores a version of a plan or of a fraud rule.
 *
 * @throws ApiError `conflict` if another one is stored, or a period is closed, at the same time.
 */
export const storeVersion = (
  { db, account, actor }: Call,
  action: string,
  details: Record<string, unknown>,
  statements: D1PreparedStatement[],
) =>
  withAudit(db, { actor, action, account: account.id, details }, statements).catch((cause) => {
    if (!isUniqueViolation(cause) && !isAssertionFailure(cause)) throw cause
    const detail = 'Another version was stored at the same time. Repeat the request.'
    throw new ApiError('conflict', { detail, cause })
  })

/** Returns all versions of a plan, by their first days. */
async function readPlan({ db, account }: Call, plan: string) {
  const own = await rows.readVersions(db, account.id, [plan])
  if (own.length === 0) throw notFound('plan', plan)
  return own
}

/** Returns a plan as lists show it; `versions` are all it has, by their first days. */
function presentPlan(versions: readonly rows.StoredVersion[], today: string) {
  const kept = versions.filter(({ withdrawn_at }) => withdrawn_at === null)
  const inForce = kept.findLast(({ effective_from }) => effective_from <= today)
  const shown = inForce ?? kept[0] ?? versions.at(-1)!
  const { name, currency, period, terms }: PlanTerms = JSON.parse(shown.terms)
  const later = kept.find(({ effective_from }) => effective_from > today)
  const next = later ? { version: later.version, from: later.effective_from } : null
  return {
    plan: shown.plan,
    name,
    currency,
    period,
    terms,
    in_force: inForce?.version ?? null,
    next,
  }
}

const present = ({ from_day: from, ...assignment }: rows.StoredAssignment) => ({
  ...assignment,
  from,
})

export const putAssignments = operation({
  topic: 'plans',
  id: 'putAssignments',
  shows: 'affiliate',
  method: 'PUT',
  path: '/assignments',
  role: 'manager',
  whole: true,
  body: {
    assignments: v.pipe(
      v.array(named('Assignment', assignment)),
      v.minLength(1),
      v.maxLength(MAX_ASSIGNMENTS),
    ),
  },
  words: described(() => ({
    description: `Adds or changes 1 to ${MAX_ASSIGNMENTS} assignments by \`affiliate_id\` and \`from\`, all or none. A \`from\` in or before a closed period of the affiliate is refused; for \`*\`, of any affiliate that it covers. Assignments that are stored already can be sent again.`,
    answer: component('PutAssignments', () => ({
      received: member(count, 'The number of assignments in the request.'),
      changed: member(count, 'The number that is new or has changed.'),
    })),
    errors: ['conflict'],
    command: { name: 'assignments import' },
  })),
  async run(call, { assignments }) {
    const { sent, issues } = readAssignments(readItems(assignments, MAX_ASSIGNMENTS))
    const prepared = await prepareAssignments(call, sent)
    issues.push(...prepared.issues)
    if (issues.length > 0) throw validationFailed(issues)
    const { checks, puts, entry, refuseClosed } = prepared
    await refuseClosed()
    const results = await withAudit(call.db, entry, [...checks, ...puts]).catch(async (error) => {
      if (isAssertionFailure(error)) await refuseClosed()
      throw error
    })
    const changed = results
      .slice(checks.length, -1)
      .reduce((sum, { meta }) => sum + meta.changes, 0)
    return { received: sent.length, changed }
  },
})

/** Returns the issues of assignments, and the statements that store them: `checks` abort the batch. */
export async function prepareAssignments(
  { account: { id: account }, db, actor }: Call,
  sent: readonly SentAssignment[],
) {
  const sentRows = sent.map(({ pointer: _, from, ...one }) => ({ ...one, from_day: from }))
  const changes = sentRows.map((row) => toChange(row, false))
  const stored = await readStoredPlans(db, account)
  const known = new Set(stored.assignments.map((one) => canonicalJson(one)))
  const changed = sentRows.map(present).filter((one) => !known.has(canonicalJson(one)))
  const before = (one: (typeof changed)[number]) =>
    stored.assignments.findLast(
      ({ affiliate_id, from }) => affiliate_id === one.affiliate_id && from <= one.from,
    )
  const details = auditOfAffiliates(changed, (one) => changesOf(before(one) ?? {}, one))
  return {
    issues: assignmentIssues(sent, [...new Set(stored.versions.map(({ plan }) => plan))]),
    checks: [
      ...rejectClosedTerms(db, account, changes),
      rows.markAssignments(db, account, sentRows),
    ],
    puts: rows.putAssignments(db, account, sentRows),
    entry: { actor, action: 'assignments.put', account, details },
    refuseClosed: () => checkClosedTerms(db, account, changes),
  }
}

export const listAssignments = list({
  id: 'listAssignments',
  shows: 'affiliate',
  topic: 'plans',
  path: '/assignments',
  params: {
    affiliate_id: optional(
      v.string(),
      said('Returns only the assignments of this affiliate.', 'IB-07'),
    ),
  },
  words: described(() => ({
    description: 'Lists assignments, ordered by `affiliate_id` and `from`.',
    answer: named('Assignment', assignment),
    command: { name: 'assignments list' },
  })),
  async list({ db, account }, { affiliate_id = null }, page) {
    const found = await rows.listAssignments(db, account.id, affiliate_id, page)
    return { ...found, data: found.data.map(present) }
  },
})

export const deleteAssignment = operation({
  id: 'deleteAssignment',
  shows: 'affiliate',
  topic: 'plans',
  method: 'DELETE',
  path: '/assignments',
  role: 'manager',
  // They are in the query: an id such as `..` cannot be in a path.
  params: {
    affiliate_id: member(v.string(), said('The affiliate of the assignment, or `*`.', 'IB-70')),
    from: member(f.day, said('The first day of the assignment.', '2026-12-01')),
  },
  words: described(() => ({
    description:
      'Deletes the assignment of an affiliate that begins on a day. One that begins in or before a closed period of the affiliate stays.',
    answer: null,
    errors: ['conflict', 'not_found'],
    command: {
      name: 'assignments delete',
      done: 'Deleted the assignment of account {account}.',
    },
  })),
  async run({ db, account: { id: account }, actor }, { affiliate_id, from: from_day }) {
    const key = { affiliate_id, from_day }
    const found = await rows.findAssignment(db, account, key)
    if (!found) {
      const detail = `Affiliate ${quote(affiliate_id)} has no assignment from ${from_day} on.`
      throw new ApiError('not_found', { detail })
    }
    const entry = { actor, action: 'assignment.delete', account, details: present(found) }
    const changes = [toChange(found, true)]
    await checkClosedTerms(db, account, changes)
    const statements = [
      ...rejectClosedTerms(db, account, changes),
      ...rows.deleteAssignment(db, account, key),
    ]
    await withAudit(db, entry, statements).catch(async (error) => {
      if (isAssertionFailure(error)) await checkClosedTerms(db, account, changes)
      throw error
    })
    return null
  },
})

/** The operations on plans, whose versions never change, and on the plan that governs an affiliate's customers. */
export const PLAN_OPERATIONS = [
  putPlan,
  listPlans,
  getPlan,
  withdrawPlanVersion,
  putAssignments,
  listAssignments,
  deleteAssignment,
]
