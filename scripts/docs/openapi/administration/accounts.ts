import { newKeyFields } from '../../../../src/admin/affiliate-key-fields.ts'
import { closedObject } from '../../json-schema.ts'
import { listOf, type Operation, ref } from '../operation.ts'
import { ACCOUNT_PATH, AT, created, NO_CONTENT, operation, returned } from './operation.ts'

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
