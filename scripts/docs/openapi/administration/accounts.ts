import { newKeyFields } from '../../../../src/admin/affiliate-key-fields.ts'
import * as fields from '../../../../src/admin/fields.ts'
import { object } from '../../envelopes.ts'
import { closedObject } from '../../json-schema.ts'
import { listOf, type Operation, PAGING, ref } from '../operation.ts'
import { ACCOUNT_PATH, AT, created, NO_CONTENT, operation, paged, returned } from './operation.ts'

const createAccount = (): Operation => {
  const { properties, ...account } = closedObject(fields.newAccount, AT)
  const binding = {
    type: 'string',
    description: 'The D1 binding of the database that stores the records. Defaults to `DB`.',
  }
  return operation({
    method: 'post',
    path: '/admin/v1/accounts',
    id: 'createAccount',
    summary: 'Create an account',
    description: 'Creates an account for a partner or a brand.',
    body: { schema: { ...account, properties: { ...(properties as object), binding } } },
    answers: created('The account.', 'CreatedAccount'),
    errors: ['already_exists'],
  })
}

/** Lists the operations on accounts. */
export const accounts = (): Operation[] => [
  createAccount(),
  operation({
    method: 'get',
    path: '/admin/v1/accounts',
    id: 'listAccounts',
    summary: 'List accounts',
    description: 'Lists all accounts, ordered by id.',
    parameters: PAGING,
    answers: paged('One page of accounts.', ref('Account')),
  }),
  operation({
    method: 'get',
    path: ACCOUNT_PATH,
    id: 'getAccount',
    summary: 'Get an account',
    description: 'Returns an account with its settings and the bytes that it stores.',
    answers: returned('The account.', ref('AccountWithStorage')),
  }),
  operation({
    method: 'patch',
    path: ACCOUNT_PATH,
    id: 'changeAccount',
    summary: 'Change an account',
    description:
      'Changes the name, the time zone or the policies, or disables the account. Omitted members keep their values. Changed policies apply to later requests. `book_zone` can change only while the account has no customers and no transactions, and `amount_signs` only while no period is closed (409).',
    body: { schema: closedObject(fields.accountChange, AT), required: false },
    answers: returned('The changed account.', ref('ChangedAccount')),
    errors: ['conflict'],
  }),
  operation({
    method: 'post',
    path: `${ACCOUNT_PATH}/reset`,
    id: 'resetAccount',
    summary: 'Delete the data of a test account',
    description:
      'Deletes what a test account has sent and what was computed from it: records, histories of customers, deliveries, clicks, webhooks, statements, manual entries, payments and the ledger. Credentials, settings, affiliates, links, plans, assignments and erasures stay. The account accepts no deliveries until everything is deleted.',
    accountParameter: 'test_account',
    body: { schema: closedObject({}, AT), required: false },
    answers: {
      ...NO_CONTENT,
      202: {
        description:
          'There are too many records for one request. The service deletes the others within minutes.',
        schema: object({ resetting: { const: true } }),
      },
    },
    errors: ['conflict'],
  }),
]

/** The two forms of the address of what an affiliate has: an id can be `..`, which URL parsers remove from a path. */
export const AFFILIATE_FORMS = [
  { at: 'affiliates/{affiliate_id}', end: '', words: '', parameters: [] },
  {
    at: 'affiliates',
    end: 'ById',
    words: ' by query parameter',
    parameters: ['ledger_affiliate'],
  },
] as const

/** Lists the operations on the keys of affiliates. */
export const affiliateKeys = (): Operation[] =>
  AFFILIATE_FORMS.flatMap(({ at, end, words, parameters }) => [
    operation({
      method: 'post',
      path: `${ACCOUNT_PATH}/${at}/keys`,
      id: `makeAffiliateKey${end}`,
      parameters,
      summary: `Make a key for an affiliate${words}`,
      description:
        'Makes a key with which the affiliate reads what they earn, and why. It is shown only once. `replaces` ends another key after `overlap`, 24 hours unless set. An affiliate has at most 5 valid keys; another one is a conflict.',
      body: { schema: closedObject(newKeyFields, AT) },
      answers: created('The key.', 'NewAffiliateKey'),
      errors: ['not_found', 'conflict'],
    }),
    operation({
      method: 'get',
      path: `${ACCOUNT_PATH}/${at}/keys`,
      id: `listAffiliateKeys${end}`,
      parameters,
      summary: `List the keys of an affiliate${words}`,
      description: 'Lists the keys by id, ended ones included. The keys themselves are not stored.',
      answers: returned('The keys.', listOf(ref('AffiliateKey'))),
      errors: ['not_found'],
    }),
    operation({
      method: 'delete',
      path: `${ACCOUNT_PATH}/${at}/keys/{key_id}`,
      id: `endAffiliateKey${end}`,
      parameters,
      summary: `End a key of an affiliate${words}`,
      description: 'Ends a key. It stops working before its next request.',
      answers: NO_CONTENT,
      errors: ['not_found'],
    }),
  ])
