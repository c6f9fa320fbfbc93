import { listOf, type Operation, PAGING, ref } from '../operation.ts'
import { ACCOUNT_PATH, NO_CONTENT, operation, paged, returned } from './operation.ts'

const RULES_PATH = `${ACCOUNT_PATH}/fraud-rules`
const RULE_PATH = `${RULES_PATH}/{rule}`
const VERSION_PATH = `${RULE_PATH}/versions/{version}`

/** Lists the operations on fraud rules. */
export const fraud = (): Operation[] => [
  operation({
    method: 'put',
    path: RULE_PATH,
    id: 'putFraudRule',
    summary: 'Put a version of a fraud rule',
    description:
      'Validates a rule and stores it as its next version. A version never changes. If the latest version has the same terms, nothing is stored. A manager puts rules that flag; only an approver puts one that holds payouts, or another version of it. Defaults are filled in when a version is stored.',
    parameters: ['fraud_rule_after'],
    body: { schema: ref('FraudRule') },
    answers: {
      200: { description: 'The latest version has these terms.', schema: ref('PutFraudRule') },
      201: { description: 'The new version.', schema: ref('PutFraudRule') },
    },
    errors: ['conflict'],
  }),
  operation({
    method: 'get',
    path: RULES_PATH,
    id: 'listFraudRules',
    summary: 'List fraud rules',
    description:
      'Lists the fraud rules of an account, ordered by id. A new account starts with the rules of its vertical, none of which holds payouts.',
    answers: returned('The rules.', listOf(ref('FraudRuleHead'))),
  }),
  operation({
    method: 'get',
    path: RULE_PATH,
    id: 'getFraudRule',
    summary: 'Get a fraud rule',
    description: 'Returns a rule with its versions, also withdrawn ones.',
    answers: returned('The rule.', ref('FraudRuleWithVersions')),
  }),
  operation({
    method: 'delete',
    path: RULE_PATH,
    id: 'disableFraudRule',
    summary: 'Disable a fraud rule',
    description:
      'Disables a rule from today on: it withdraws the versions that begin today or later and, if an earlier one is in force, stores a version that is disabled. What the rule found on earlier days stays. Only an approver disables a rule that holds payouts. A rule that is disabled stays as it is.',
    answers: NO_CONTENT,
  }),
  operation({
    method: 'get',
    path: `${RULE_PATH}/versions`,
    id: 'listFraudRuleVersions',
    summary: 'List the versions of a fraud rule',
    description: 'Lists the versions of a rule with their terms, the latest first.',
    parameters: PAGING,
    answers: paged('One page of versions.', ref('FraudRuleVersion')),
  }),
  operation({
    method: 'get',
    path: VERSION_PATH,
    id: 'getFraudRuleVersion',
    summary: 'Get a version of a fraud rule',
    description: 'Returns the terms of a version, with all defaults.',
    answers: returned('The version.', ref('FraudRuleVersion')),
  }),
  operation({
    method: 'delete',
    path: VERSION_PATH,
    id: 'withdrawFraudRuleVersion',
    summary: 'Withdraw a version of a fraud rule',
    description:
      'Withdraws a version whose first day is today or later, so that no day of it is over. An earlier version is in force again. The number of a withdrawn version is not used again.',
    answers: NO_CONTENT,
    errors: ['conflict'],
  }),
]
