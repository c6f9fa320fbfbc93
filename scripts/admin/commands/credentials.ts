import { type Command, membersOf } from '../command.ts'
import { done, fields, rows } from '../show.ts'
import { OVERLAP } from './parts.ts'

const LOOK = 'it may have been made, and nobody has seen it. Do not just repeat the command'

/** OAuth clients of partners. */
const CLIENTS: readonly Command[] = [
  {
    noun: 'clients',
    verb: 'list',
    about: 'the OAuth clients of a partner',
    method: 'GET',
    path: 'accounts/ACCOUNT/clients',
    show: rows(),
  },
  {
    noun: 'clients',
    verb: 'issue',
    about: 'a new client; its secret is shown once',
    method: 'POST',
    path: 'accounts/ACCOUNT/clients',
    show: fields,
    secret: 'client_secret',
    unsure: `${LOOK}: see "clients list", and revoke the client that nobody knows first.`,
  },
  {
    noun: 'clients',
    verb: 'rotate',
    about: 'a new secret for a client; it is shown once',
    method: 'POST',
    path: 'accounts/ACCOUNT/clients/CLIENT_ID/rotate',
    options: OVERLAP,
    body: (said) => membersOf(OVERLAP, said),
    show: fields,
    secret: 'client_secret',
    unsure: `${LOOK}: see previous_secret_until in "clients list". Where it tells of this rotation
the old secret is good until then, and would end at once if the client is rotated again. Without
an --overlap the old secret may have ended: then rotate again.`,
  },
  {
    noun: 'clients',
    verb: 'revoke',
    about: 'ends a client and its tokens for good',
    method: 'DELETE',
    path: 'accounts/ACCOUNT/clients/CLIENT_ID',
    show: done('Client CLIENT_ID of ACCOUNT is revoked.'),
  },
]

/** Brand Tokens of brands. */
const BRAND_TOKENS: readonly Command[] = [
  {
    noun: 'brand-token',
    verb: 'list',
    about: 'the Brand Tokens of a brand, each by its id',
    method: 'GET',
    path: 'accounts/ACCOUNT/brand-tokens',
    show: rows(),
  },
  {
    noun: 'brand-token',
    verb: 'regenerate',
    about: 'a new token, the others end; it is shown once',
    method: 'POST',
    path: 'accounts/ACCOUNT/brand-tokens',
    options: OVERLAP,
    body: (said) => membersOf(OVERLAP, said),
    show: fields,
    secret: 'brand_token',
    unsure: `${LOOK}: see "brand-token list", and revoke the token that nobody knows first.`,
  },
  {
    noun: 'brand-token',
    verb: 'revoke',
    about: 'ends a token at once',
    method: 'DELETE',
    path: 'accounts/ACCOUNT/brand-tokens/ID',
    show: done('Brand Token ID of ACCOUNT is revoked.'),
  },
]

/** The secrets of accounts. */
export const CREDENTIALS: readonly Command[] = [...CLIENTS, ...BRAND_TOKENS]
