import { list, object, sentence } from '../format.ts'
import type { Confirmation, Input, Operation, Options } from '../operation.ts'

/** The default of the API is `none`, which would interrupt a live feed. */
const DEFAULT_OVERLAP = '24h'

const OVERLAP: Options = {
  overlap: {
    value: 'time',
    choices: ['none', '1h', '24h', '7d'],
    description: `How long the old secret keeps working. (default: ${DEFAULT_OVERLAP})`,
  },
}

const overlapOf = ({ options }: Input) => options.overlap?.[0] ?? DEFAULT_OVERLAP

/** Returns a confirmation if the credential ends at once: senders that still use it get a 401. */
const confirmNoOverlap = (input: Input, warning: string, name = ''): Confirmation | null =>
  overlapOf(input) === 'none' ? { warning, name } : null

const UNKNOWN_SECRET = 'A secret may have been created and lost. Do not simply repeat the command'

/** OAuth clients of partners. */
const CLIENTS: readonly Operation[] = [
  {
    noun: 'clients',
    verb: 'list',
    summary: 'Lists the OAuth clients of a partner.',
    example: 'acme',
    method: 'GET',
    path: 'accounts/{account}/clients',
    format: list(),
  },
  {
    noun: 'clients',
    verb: 'issue',
    summary: 'Creates a client and shows its secret once.',
    example: 'acme',
    method: 'POST',
    path: 'accounts/{account}/clients',
    format: object,
    secret: 'client_secret',
    recovery: `${UNKNOWN_SECRET}: run \`clients list\`, and first revoke the unknown client.`,
  },
  {
    noun: 'clients',
    verb: 'rotate',
    summary: 'Creates a new secret for a client and shows it once.',
    example: 'acme CLIENT_ID --overlap 7d',
    method: 'POST',
    path: 'accounts/{account}/clients/{client_id}/rotate',
    options: OVERLAP,
    body: (input) => ({ overlap: overlapOf(input) }),
    format: object,
    secret: 'client_secret',
    confirmation: (input) =>
      confirmNoOverlap(
        input,
        `Without an overlap the secret and all tokens of client ${input.operands.client_id} stop working at once.`,
        input.operands.client_id,
      ),
    recovery: `${UNKNOWN_SECRET}: run \`clients list\`. If previous_secret_until shows
this rotation, the old secret works until then, and another rotation would end it at once.
With --overlap none the old secret may have ended: then rotate again.`,
  },
  {
    noun: 'clients',
    verb: 'revoke',
    summary: 'Revokes a client and its tokens permanently.',
    example: 'acme CLIENT_ID',
    method: 'DELETE',
    path: 'accounts/{account}/clients/{client_id}',
    format: sentence('Revoked client {client_id} of account {account}.'),
  },
]

/** Brand Tokens of brands. */
const BRAND_TOKENS: readonly Operation[] = [
  {
    noun: 'brand-token',
    verb: 'list',
    summary: 'Lists the Brand Tokens of a brand by id.',
    example: 'casino',
    method: 'GET',
    path: 'accounts/{account}/brand-tokens',
    format: list(),
  },
  {
    noun: 'brand-token',
    verb: 'regenerate',
    summary: 'Creates a Brand Token and shows it once; the others end after the overlap.',
    example: 'casino --overlap 7d',
    method: 'POST',
    path: 'accounts/{account}/brand-tokens',
    options: OVERLAP,
    body: (input) => ({ overlap: overlapOf(input) }),
    format: object,
    secret: 'brand_token',
    confirmation: (input) =>
      confirmNoOverlap(
        input,
        `Without an overlap all Brand Tokens of account ${input.operands.account} stop working at once.`,
        input.operands.account,
      ),
    recovery: `${UNKNOWN_SECRET}: run \`brand-token list\`, and first revoke the unknown token.`,
  },
  {
    noun: 'brand-token',
    verb: 'revoke',
    summary: 'Revokes a Brand Token at once.',
    example: 'casino TOKEN_ID',
    method: 'DELETE',
    path: 'accounts/{account}/brand-tokens/{token_id}',
    format: sentence('Revoked Brand Token {token_id} of account {account}.'),
  },
]

/** Clients and Brand Tokens. */
export const CREDENTIALS: readonly Operation[] = [...CLIENTS, ...BRAND_TOKENS]
