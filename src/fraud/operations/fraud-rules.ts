import * as v from 'valibot'
import { after, storeVersion } from '../../commission/operations/plans.ts'
import { requireRole } from '../../platform/auth/roles.ts'
import { changesOf } from '../../platform/directory/audit.ts'
import { type Call, operation, reply } from '../../platform/http/operation.ts'
import { checkNewId, notFound } from '../../platform/http/read-fields.ts'
import { day, outcome, time, version } from '../../platform/validation/answer-fields.ts'
import { canonicalJson } from '../../platform/validation/canonical-json.ts'
import {
  component,
  described,
  listOf,
  named,
  referred,
  withMembers,
} from '../../platform/validation/described.ts'
import { member, nullable, said } from '../../platform/validation/fields.ts'
import { todayOf } from '../../platform/zone.ts'
import * as rows from '../db/rules.ts'
import type { Vertical } from '../kind.ts'
import { decidePut } from '../put-rule.ts'
import type { RuleTerms } from '../rules.ts'
import { type RuleVersion, readStoredRules, ruleOn } from '../stored-rules.ts'
import { fraudRuleWords } from '../words.ts'

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
const head = described(() =>
  v.object({
    rule,
    kind,
    name,
    severity,
    action,
    disabled,
    in_force: nullable(version, 'The version in force today. Null if all begin later.'),
    effective_from: member(
      day,
      'The first day of the version in force; if none is, of the latest version.',
    ),
    words: member(
      v.array(v.string()),
      'That version in plain English: when it opens a case, and what else applies.',
    ),
  }),
)

const fraudRuleVersion = described(() =>
  v.object({
    version,
    effective_from,
    terms: referred<RuleTerms>('FraudRule'),
    created_at: member(time, 'When the version was put.'),
  }),
)

const putFraudRuleAnswer = component('PutFraudRule', () => ({
  rule,
  version,
  effective_from,
  outcome,
}))

const ofRule = { topic: 'fraud', path: '/fraud-rules/{rule}', params: { rule } } as const
export const putFraudRule = operation({
  ...ofRule,
  id: 'putFraudRule',
  shows: 'account',
  method: 'PUT',
  role: 'manager',
  params: { rule, after },
  body: { terms: referred<unknown>('FraudRule') },
  whole: true,
  words: described(() => ({
    description:
      'Validates a rule and stores it as its next version, which applies from its first day on in place of all versions before. A version never changes. If the latest version has the same terms, nothing is stored. A manager puts rules that flag; only an approver puts one that holds payouts, or another version of it. Defaults are filled in when a version is stored.',
    answer: putFraudRuleAnswer,
    others: { 201: putFraudRuleAnswer },
    errors: ['conflict', 'newer_version'],
    command: { name: 'fraud put' },
  })),
  async run(call, { rule: id, after, terms: body }) {
    const { db, account } = call
    checkNewId(id)
    const versions = await readStoredRules(db, account.id)
    const put = decidePut(id, body, account.vertical as Vertical, { versions, after })
    const { outcome, version, terms } = put
    const answer = { rule: id, version, effective_from: terms.effective_from, outcome }
    if (outcome === 'unchanged') return answer
    const own = versions.filter((one) => one.rule === id)
    await storeRule(call, id, own, terms, 'fraud-rule.put')
    return reply(201, answer)
  },
})

export const listFraudRules = operation({
  topic: 'fraud',
  path: '/fraud-rules',
  id: 'listFraudRules',
  shows: 'account',
  method: 'GET',
  words: described(() => ({
    description:
      'Lists the fraud rules of an account, ordered by id. A new account starts with the rules of its vertical, none of which holds payouts.',
    answer: listOf(named('FraudRuleHead', head)),
    command: {
      name: 'fraud rules',
      columns: ['rule', 'name', 'kind', 'severity', 'action', 'disabled', 'in_force'],
    },
  })),
  async run({ db, account }) {
    const byRule = Map.groupBy(await readStoredRules(db, account.id), (one) => one.rule)
    return { data: [...byRule.values()].map((own) => presentRule(own, todayOf(account))) }
  },
})

export const getFraudRule = operation({
  ...ofRule,
  id: 'getFraudRule',
  shows: 'account',
  method: 'GET',
  words: described(() => ({
    description: 'Returns a rule with its versions and their terms, with all defaults.',
    answer: named(
      'FraudRuleWithVersions',
      withMembers(head, { versions: member(v.array(fraudRuleVersion), 'All, the latest first.') }),
    ),
    command: { name: 'fraud show' },
  })),
  async run({ db, account }, { rule: id }) {
    const own = await readStoredRules(db, account.id, id)
    if (own.length === 0) throw notFound('fraud rule', id)
    const versions = own.toReversed().map(({ rule: _, ...one }) => one)
    return { ...presentRule(own, todayOf(account)), versions }
  },
})

export const disableFraudRule = operation({
  ...ofRule,
  id: 'disableFraudRule',
  shows: 'account',
  method: 'DELETE',
  role: 'manager',
  words: described(() => ({
    description:
      'Disables a rule from today on: it stores a version that is disabled, which also applies in place of versions that would begin later. What the rule found on earlier days stays. Only an approver disables a rule that holds payouts. A rule that is disabled stays as it is.',
    answer: null,
    errors: ['conflict'],
    command: {
      name: 'fraud disable',
      done: 'Disabled the fraud rule {rule} of account {account}.',
    },
  })),
  async run(call, { rule: id }) {
    const own = await readStoredRules(call.db, call.account.id, id)
    const latest = own.at(-1)
    if (!latest) throw notFound('fraud rule', id)
    const effective_from = todayOf(call.account)
    const present = ruleOn(own, effective_from)
    if (present === latest && latest.terms.disabled) return null
    const terms = { ...(present ?? latest).terms, effective_from, disabled: true }
    await storeRule(call, id, own, terms, 'fraud-rule.disable')
    return null
  },
})

/** Stores the next version of a rule. Only an approver may if it holds payouts, or an earlier one does. */
async function storeRule(
  call: Call,
  rule: string,
  own: readonly RuleVersion[],
  terms: RuleTerms,
  audited: string,
): Promise<void> {
  const { db, role } = call
  const account = call.account.id
  if ([...own, { terms }].some((one) => one.terms.action === 'hold'))
    requireRole(role, 'approver', 'put a rule that holds payouts')
  const version = (own.at(-1)?.version ?? 0) + 1
  const { effective_from, name, action, disabled } = terms
  const changes = changesOf(own.at(-1)?.terms ?? {}, own.length > 0 ? terms : {})
  const details = { rule, version, effective_from, name, action, disabled, changes }
  const created_at = new Date().toISOString()
  const row = { account, rule, version, effective_from, terms: canonicalJson(terms), created_at }
  await storeVersion(call, audited, details, rows.insertRuleVersion(db, row))
}

/** Returns a rule as lists show it, by the version in force or else the latest one; `own` are its versions by number. */
function presentRule(own: readonly RuleVersion[], today: string) {
  const inForce = ruleOn(own, today)
  const { rule, terms, effective_from } = inForce ?? own.at(-1)!
  const { name, kind, severity, action, disabled } = terms
  const { opens, limits } = fraudRuleWords(terms)
  return {
    rule,
    name,
    kind,
    severity,
    action,
    disabled,
    effective_from,
    in_force: inForce?.version ?? null,
    words: [opens, ...limits],
  }
}

/** The operations on the fraud rules of an account. A version of a rule never changes. */
export const FRAUD_RULE_OPERATIONS = [putFraudRule, listFraudRules, getFraudRule, disableFraudRule]
