import * as fields from '../../../../src/admin/fields.ts'
import { closedObject } from '../../json-schema.ts'
import { allOf, type Operation, PAGING, ref } from '../operation.ts'
import { AT, GONE, made, OWN, op, paged, shown } from './common.ts'

/** Accounts. */
export const accounts = (): Operation[] => {
  const { properties, ...account } = closedObject(fields.newAccount, AT)
  const binding = {
    type: 'string',
    description: 'The D1 binding that keeps its records; `DB` if left out.',
  }
  return [
    op({
      method: 'post',
      path: '/admin/v1/accounts',
      id: 'createAccount',
      summary: 'Create an account',
      description: 'One partner firm or one brand.',
      body: { schema: { ...account, properties: { ...(properties as object), binding } } },
      answers: made('The account.', 'Account'),
      fails: ['already_exists'],
    }),
    op({
      method: 'get',
      path: '/admin/v1/accounts',
      id: 'listAccounts',
      summary: 'List accounts',
      description: 'All accounts, by id.',
      parameters: PAGING,
      answers: paged('One page of accounts.', ref('Account')),
    }),
    op({
      method: 'get',
      path: OWN,
      id: 'getAccount',
      summary: 'Get one account',
      description: 'As it is set up.',
      answers: shown('The account.', ref('Account')),
    }),
    op({
      method: 'patch',
      path: OWN,
      id: 'changeAccount',
      summary: 'Change an account',
      description:
        'Name, time zone, policies, or whether it is disabled; what is left out stays. Judges what arrives later.',
      body: { schema: closedObject(fields.accountChange, AT), required: false },
      answers: shown('The account, changed.', ref('ChangedAccount')),
    }),
    op({
      method: 'post',
      path: `${OWN}/reset`,
      id: 'resetAccount',
      summary: 'Forget the data of a test account',
      description: 'Its records, clicks and deliveries. Credentials, settings and erasures stay.',
      body: { schema: closedObject({}, AT), required: false },
      answers: GONE,
      fails: ['conflict'],
    }),
  ]
}

/** OAuth clients and Brand Tokens. */
export const credentials = (): Operation[] => {
  const overlap = closedObject({ overlap: fields.overlap }, AT)
  return [
    op({
      method: 'post',
      path: `${OWN}/clients`,
      id: 'issueClient',
      summary: 'Issue an OAuth client',
      description: 'For a partner. Its secret is shown once.',
      body: { schema: closedObject({}, AT), required: false },
      answers: made('The client, with its secret.', 'NewClient'),
      fails: ['conflict'],
    }),
    op({
      method: 'get',
      path: `${OWN}/clients`,
      id: 'listClients',
      summary: 'List OAuth clients',
      description: 'All of the account, none with a secret.',
      answers: shown('The clients.', allOf(ref('Client'))),
      fails: ['conflict'],
    }),
    op({
      method: 'post',
      path: `${OWN}/clients/{client_id}/rotate`,
      id: 'rotateClient',
      summary: "Rotate a client's secret",
      description:
        'Makes a new one. With no overlap the old one and its live tokens end before their next request.',
      body: { schema: overlap, required: false },
      answers: made('The client, with its new secret.', 'RotatedClient'),
      fails: ['conflict'],
    }),
    op({
      method: 'delete',
      path: `${OWN}/clients/{client_id}`,
      id: 'revokeClient',
      summary: 'Revoke a client',
      description: 'Ends it and its live tokens, before their next request.',
      answers: GONE,
      fails: ['conflict'],
    }),
    op({
      method: 'post',
      path: `${OWN}/brand-tokens`,
      id: 'regenerateBrandToken',
      summary: 'Regenerate the Brand Token',
      description:
        'Makes a new one, shown once; the one before ends at once, or after the overlap.',
      body: { schema: overlap, required: false },
      answers: made('The Brand Token.', 'NewBrandToken'),
      fails: ['conflict'],
    }),
    op({
      method: 'get',
      path: `${OWN}/brand-tokens`,
      id: 'listBrandTokens',
      summary: 'List Brand Tokens',
      description:
        'All of the brand, by what they are known by: the tokens themselves nobody can show.',
      answers: shown('The Brand Tokens.', allOf(ref('BrandToken'))),
      fails: ['conflict'],
    }),
    op({
      method: 'delete',
      path: `${OWN}/brand-tokens/{token_id}`,
      id: 'revokeBrandToken',
      summary: 'Revoke a Brand Token',
      description: 'Ends it before its next request.',
      answers: GONE,
      fails: ['conflict'],
    }),
  ]
}
