import * as v from 'valibot'
import { requireRole } from '../auth/roles.ts'
import { unconfiguredAmong } from '../db/directory/affiliates.ts'
import { hasAuditEntry, newAuditId, withAudit } from '../db/directory/audit.ts'
import * as rows from '../db/fraud/rules.ts'
import { isAssertionFailure, isUniqueViolation } from '../db/retry.ts'
import { ApiError } from '../errors.ts'
import { namedInScope, warnOfUnknownAffiliates } from '../fraud/check-rule.ts'
import { decideDisable, decidePut } from '../fraud/put-rule.ts'
import { RULE_DEPTH, type RuleTerms } from '../fraud/rules.ts'
import { parseRuleVersion, ruleOn } from '../fraud/stored-rules.ts'
import { fraudRuleWords } from '../fraud/words.ts'
import { type AccountCall, accountList, accountOperation, reply } from '../http/operation.ts'
import { notFound, validationFailed } from '../http/read-fields.ts'
import { day, outcome, stored, version, warning } from '../validation/answer-fields.ts'
import { described, listOf, named, referred, withMembers } from '../validation/described.ts'
import { member, said } from '../validation/fields.ts'
import { todayOf } from '../zone.ts'
import { slug } from './fields.ts'
import { afterOf } from './plans.ts'

/** The attempts to store a version while others are stored at the same time. */
const MAX_ATTEMPTS = 4

type Row = NonNullable<Awaited<ReturnType<typeof rows.findRuleVersion>>>

/** The id of a rule in a path. */
export const rule = member(
  v.string(),
  said('The id of the rule: 1 to 63 of a-z, 0-9 and hyphens.', 'minimum-deposit'),
)
const kind = described(() => member(v.string(), 'The kind of the rule.'))
const effective_from = described(() =>
  member(day, 'The first day whose records the version reads.'),
)
const name = described(() => member(v.string(), 'The display name.'))
const severity = described(() =>
  member(v.picklist(['low', 'medium', 'high']), 'How serious its cases are.'),
)
const action = described(() =>
  member(v.picklist(['flag', 'hold']), 'Whether its cases hold payouts.'),
)
const disabled = described(() => member(v.boolean(), 'Whether it finds nothing.'))
const in_force = described(() =>
  v.nullable(
    member(version, 'The version in force today. Null if all begin later or are withdrawn.'),
  ),
)
const head = described(() => v.object({ rule, kind, name, severity, action, disabled, in_force }))

const fraudRuleHead = described(() =>
  named(
    'FraudRuleHead',
    withMembers(head, {
      effective_from: member(
        day,
        'The first day of the version in force; if none is, of the version that begins first.',
      ),
      words: member(
        v.array(v.string()),
        'That version in plain English: when it opens a case, and what else applies.',
      ),
    }),
  ),
)

const fraudRuleWithVersions = described(() =>
  named(
    'FraudRuleWithVersions',
    withMembers(head, {
      versions: member(
        v.array(withMembers(stored, { version, effective_from, name, severity, action, disabled })),
        'All versions, by number.',
      ),
    }),
  ),
)

const fraudRuleVersion = described(() =>
  named(
    'FraudRuleVersion',
    withMembers(stored, { rule, version, effective_from, terms: referred<RuleTerms>('FraudRule') }),
  ),
)

const putFraudRuleAnswer = described(() =>
  named(
    'PutFraudRule',
    v.object({
      rule,
      version,
      effective_from,
      outcome,
      warnings: member(
        v.array(warning('FraudRuleWarning', ['later_version_applies', 'unknown_affiliate'])),
        'What is allowed but probably a mistake.',
      ),
    }),
  ),
)

const ofRule = { topic: 'fraud', path: '/fraud-rules/{rule}', params: { rule } } as const
const ofVersion = {
  topic: 'fraud',
  path: '/fraud-rules/{rule}/versions/{version}',
  params: { rule, version },
} as const

export const putFraudRule = accountOperation({
  ...ofRule,
  id: 'putFraudRule',
  method: 'PUT',
  role: 'manager',
  params: {
    rule,
    after: afterOf('rule'),
  },
  body: { terms: referred<unknown>('FraudRule') },
  whole: true,
  depth: RULE_DEPTH,
  words: described(() => ({
    description:
      'Validates a rule and stores it as its next version. A version never changes. If the latest version has the same terms, nothing is stored. A manager puts rules that flag; only an approver puts one that holds payouts, or another version of it. Defaults are filled in when a version is stored.',
    answer: putFraudRuleAnswer,
    others: { 201: putFraudRuleAnswer },
    errors: ['conflict', 'newer_version'],
    command: { name: 'fraud put' },
  })),
  async run(call, { rule: id, after = null, terms: body }) {
    const { db, account } = call
    if (!v.is(slug, id)) {
      const expected = '1 to 63 characters of a-z, 0-9 and `-`'
      throw validationFailed([{ pointer: '', code: 'pattern', expected, value: id }])
    }
    const put = await putRule(call, id, body, after)
    const { terms, warnings } = put.rule
    const affiliates = namedInScope(terms.scope)
    const unconfigured = await unconfiguredAmong(db, account.id, affiliates)
    const unknown = warnOfUnknownAffiliates(terms, unconfigured)
    const answer = {
      ...{ rule: id, version: put.version, effective_from: terms.effective_from },
      ...{ outcome: put.outcome, warnings: [...warnings, ...unknown] },
    }
    return put.outcome === 'created' ? reply(201, answer) : answer
  },
})

export const listFraudRules = accountOperation({
  topic: 'fraud',
  path: '/fraud-rules',
  id: 'listFraudRules',
  method: 'GET',
  role: 'viewer',
  words: described(() => ({
    description:
      'Lists the fraud rules of an account, ordered by id. A new account starts with the rules of its vertical, none of which holds payouts.',
    answer: listOf(fraudRuleHead),
    command: {
      name: 'fraud rules',
      columns: ['rule', 'name', 'kind', 'severity', 'action', 'disabled', 'in_force'],
    },
  })),
  async run({ db, account }) {
    const heads = await rows.listRuleVersions(db, account.id, null)
    const byRule = Map.groupBy(heads, (one) => one.rule)
    const today = todayOf(account)
    const shown = [...byRule.values()].map((own) => shownVersion(own, today))
    const keys = shown.map((one) => [one.rule, one.version] as const)
    const versions = await rows.readNamedVersions(db, account.id, keys)
    const terms = new Map(versions.map((one) => [one.rule, one]))
    const data = shown.map(({ rule: id, effective_from }) => {
      const found = terms.get(id)
      const sentences = found ? fraudRuleWords(parseRuleVersion(found).terms) : null
      return {
        ...presentRule(byRule.get(id) ?? [], today),
        effective_from,
        words: sentences ? [sentences.opens, ...sentences.limits] : [],
      }
    })
    return { data }
  },
})

export const getFraudRule = accountOperation({
  ...ofRule,
  id: 'getFraudRule',
  method: 'GET',
  role: 'viewer',
  words: described(() => ({
    description: 'Returns a rule with its versions, also withdrawn ones.',
    answer: fraudRuleWithVersions,
    command: { name: 'fraud show' },
  })),
  async run({ db, account }, { rule: id }) {
    const heads = await rows.listRuleVersions(db, account.id, id)
    if (heads.length === 0) throw notFound('fraud rule', id)
    return { ...presentRule(heads, todayOf(account)), versions: heads.map(presentHead) }
  },
})

export const disableFraudRule = accountOperation({
  ...ofRule,
  id: 'disableFraudRule',
  method: 'DELETE',
  role: 'manager',
  words: described(() => ({
    description:
      'Disables a rule from today on: it withdraws the versions that begin today or later and, if an earlier one is in force, stores a version that is disabled. What the rule found on earlier days stays. Only an approver disables a rule that holds payouts. A rule that is disabled stays as it is.',
    answer: null,
    command: {
      name: 'fraud disable',
      done: 'Disabled the fraud rule {rule} of account {account}.',
    },
  })),
  async run(call, { rule: id }) {
    await disableRule(call, id)
    return null
  },
})

export const listFraudRuleVersions = accountList({
  topic: 'fraud',
  path: '/fraud-rules/{rule}/versions',
  id: 'listFraudRuleVersions',
  role: 'viewer',
  params: { rule },
  words: described(() => ({
    description: 'Lists the versions of a rule with their terms, the latest first.',
    answer: fraudRuleVersion,
    command: {
      name: 'fraud versions',
      columns: ['version', 'effective_from', 'created_at', 'withdrawn_at'],
    },
  })),
  async list({ db, account }, { rule: id }, page) {
    const found = await rows.pageRuleVersions(db, account.id, id, page)
    return { ...found, data: found.data.map(presentVersion) }
  },
})

export const getFraudRuleVersion = accountOperation({
  ...ofVersion,
  id: 'getFraudRuleVersion',
  method: 'GET',
  role: 'viewer',
  words: described(() => ({
    description: 'Returns the terms of a version, with all defaults.',
    answer: fraudRuleVersion,
    command: { name: 'fraud version' },
  })),
  run: async (call, { rule: id, version: number }) =>
    presentVersion(await findVersion(call, id, number)),
})

export const withdrawFraudRuleVersion = accountOperation({
  ...ofVersion,
  id: 'withdrawFraudRuleVersion',
  method: 'DELETE',
  role: 'manager',
  words: described(() => ({
    description:
      'Withdraws a version whose first day is today or later, so that no day of it is over. An earlier version is in force again. The number of a withdrawn version is not used again.',
    answer: null,
    errors: ['conflict'],
    command: {
      name: 'fraud withdraw',
      done: 'Withdrew version {version} of the fraud rule {rule} of account {account}.',
    },
  })),
  async run(call, { rule: id, version: number }) {
    const row = await findVersion(call, id, number)
    if (row.withdrawn_at === null) await withdraw(call, row)
    return null
  },
})

/** Stores what is decided. Decides again if another version is stored at the same time. */
async function putRule(
  { db, account, actor, role }: AccountCall,
  rule: string,
  body: unknown,
  after: number | null,
) {
  const { id, vertical } = account
  for (let attempt = 1; ; attempt++) {
    const context = { vertical, today: todayOf(account), after }
    const decision = decidePut(rule, body, await rows.readRuleVersions(db, id, rule), context)
    if (decision.outcome === 'invalid') throw validationFailed(decision.issues)
    if (decision.outcome === 'refused') {
      throw new ApiError(decision.code, { detail: decision.detail })
    }
    if (decision.outcome === 'unchanged') return decision
    if (decision.needsApprover) requireRole(role, 'approver')
    const { version } = decision
    const { terms, text } = decision.rule
    const { effective_from, name, action, disabled } = terms
    const details = { rule, version, effective_from, name, action, disabled }
    const entry = { actor, action: 'fraud-rule.put', account: id, details }
    const created_at = new Date().toISOString()
    const row = { account: id, rule, version, effective_from, terms: text, created_at }
    const auditId = newAuditId()
    try {
      await withAudit(db, entry, rows.insertRuleVersion(db, row), auditId)
      return decision
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      // An earlier attempt of this batch may have succeeded although its response was lost.
      if (await hasAuditEntry(db, auditId)) return decision
      if (attempt === MAX_ATTEMPTS) throw busy(rule, error)
    }
  }
}

const busy = (rule: string, cause: unknown) =>
  new ApiError('conflict', {
    detail: `The fraud rule ${rule} was changed at the same time. Repeat the request.`,
    cause,
  })

/** Disables a rule from today on, unless it is disabled. */
async function disableRule({ db, account, actor, role }: AccountCall, rule: string): Promise<void> {
  const { id } = account
  const { versions, last } = await rows.readRuleVersions(db, id, rule)
  if (last === 0) throw notFound('fraud rule', rule)
  const decision = decideDisable(rule, versions, todayOf(account))
  if (!decision) return
  const { from, terms, needsApprover } = decision
  if (needsApprover) requireRole(role, 'approver')
  const details = { rule, from }
  const entry = { actor, action: 'fraud-rule.disable', account: id, details }
  const audit = newAuditId()
  const values = { account: id, rule, from, now: new Date().toISOString(), audit }
  await withAudit(db, entry, rows.replaceRuleFrom(db, values, terms), audit)
}

/** Withdraws a version that did not begin before today. */
async function withdraw(
  { db, account, actor, role }: AccountCall,
  { rule, version, effective_from }: Row,
): Promise<void> {
  // Without the version an earlier one applies, so that one of them may hold.
  const { versions } = await rows.readRuleVersions(db, account.id, rule)
  const own = versions.filter((one) => one.rule === rule).map(parseRuleVersion)
  if (own.some(({ terms }) => terms.action === 'hold')) requireRole(role, 'approver')
  const key = { account: account.id, rule, version }
  const withdrawn_at = new Date().toISOString()
  const today = todayOf(account)
  const statements = rows.withdrawRuleVersion(db, { ...key, today, withdrawn_at })
  const details = { rule, version, effective_from }
  const entry = { actor, action: 'fraud-rule.withdraw', account: account.id, details }
  await withAudit(db, entry, statements).catch((error) => {
    throw isAssertionFailure(error) ? inForce(error) : error
  })
}

const inForce = (cause: unknown) =>
  new ApiError('conflict', {
    detail:
      'The version began before today, so it stays. Put a new version, or disable the rule from today on with `DELETE …/fraud-rules/{rule}`.',
    cause,
  })

async function findVersion(
  { db, account }: AccountCall,
  rule: string,
  version: number,
): Promise<Row> {
  const row = await rows.findRuleVersion(db, account.id, rule, version)
  if (!row) throw notFound('version', `${rule}/${version}`)
  return row
}

/** Returns a version as its rule lists it, without its scope and parameters. */
const presentHead = ({ rule: _, kind: _kind, disabled, ...head }: rows.RuleHead) => ({
  ...head,
  disabled: disabled === 1,
})

/** Returns a version with its terms. */
const presentVersion = ({ terms, ...row }: Row) => {
  const { rule, version, effective_from, created_at, withdrawn_at } = row
  return { rule, version, effective_from, terms: JSON.parse(terms), created_at, withdrawn_at }
}

/** Returns the versions of a rule that are not withdrawn, by first day. */
const keptVersions = (heads: readonly rows.RuleHead[]): rows.RuleHead[] =>
  heads
    .filter(({ withdrawn_at }) => withdrawn_at === null)
    .sort((a, b) => (a.effective_from < b.effective_from ? -1 : 1))

/** Returns the version of a rule that stands for it: that in force, else the first one, else the last withdrawn one. */
function shownVersion(heads: readonly rows.RuleHead[], today: string): rows.RuleHead {
  const kept = keptVersions(heads)
  return ruleOn(kept, today) ?? kept[0] ?? heads.at(-1)!
}

/** Returns a rule as lists show it; `heads` are all its versions, by number. */
function presentRule(heads: readonly rows.RuleHead[], today: string) {
  const { rule, name, kind, severity, action, disabled } = shownVersion(heads, today)
  return {
    ...{ rule, name, kind, severity, action, disabled: disabled === 1 },
    in_force: ruleOn(keptVersions(heads), today)?.version ?? null,
  }
}

/** The operations on the fraud rules of an account. A version of a rule never changes. */
export const FRAUD_RULE_OPERATIONS = [
  putFraudRule,
  listFraudRules,
  getFraudRule,
  disableFraudRule,
  listFraudRuleVersions,
  getFraudRuleVersion,
  withdrawFraudRuleVersion,
]
