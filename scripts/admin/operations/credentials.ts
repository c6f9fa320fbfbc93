import { DEFAULT_OVERLAP, overlapEnd } from '../../../src/admin/overlap.ts'
import { object } from '../format.ts'
import type { Confirmation, Input, Operation, Options } from '../operation.ts'

const OVERLAPS = ['none', '1h', '24h', '7d'] as const

const OVERLAP: Options = {
  overlap: {
    value: 'time',
    choices: OVERLAPS,
    description: `How long the old secret keeps working. (default: ${DEFAULT_OVERLAP})`,
  },
}

const overlapOf = ({ options }: Input) =>
  OVERLAPS.find((overlap) => overlap === options.overlap?.[0]) ?? DEFAULT_OVERLAP

const memberOf = (body: unknown, name: string): unknown =>
  typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined

/** Returns until when the previous secret of a rotated client works, or null if it is not known. */
function previousSecretNote(body: unknown): string | null {
  const until = memberOf(body, 'previous_secret_until')
  if (until === null) return 'The previous secret has ended.'
  return typeof until === 'string' ? `The previous secret works until ${until}.` : null
}

/** Returns until when the other tokens of a brand work. The API does not return this time. */
function previousTokensNote(body: unknown, input: Input): string | null {
  const createdAt = Date.parse(String(memberOf(body, 'created_at')))
  if (Number.isNaN(createdAt)) return null
  const overlap = overlapOf(input)
  const token = `Any other Brand Token of account ${input.operands.account}`
  if (overlap === 'none') return `${token} has ended.`
  return `${token} works until ${new Date(overlapEnd(overlap, createdAt)).toISOString()} at the latest.`
}

/** Returns a confirmation if the credential ends at once: senders that still use it get a 401. */
const confirmNoOverlap = (input: Input, warning: string, name = ''): Confirmation | null =>
  overlapOf(input) === 'none' ? { warning, name } : null

const UNKNOWN_SECRET = 'A secret may have been created and lost. Do not simply repeat the command'

/** OAuth clients of partners. */
const CLIENTS: readonly Operation[] = [
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
    note: previousSecretNote,
    recovery: `${UNKNOWN_SECRET}: run \`clients list\`. If previous_secret_until shows
this rotation, the old secret works until then, and another rotation would end it at once.
With --overlap none the old secret may have ended: then rotate again.`,
  },
]

/** Brand Tokens of brands. */
const BRAND_TOKENS: readonly Operation[] = [
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
    note: previousTokensNote,
    recovery: `${UNKNOWN_SECRET}: run \`brand-token list\`, and first revoke the unknown token.`,
  },
]

/** Clients and Brand Tokens. */
export const CREDENTIALS: readonly Operation[] = [...CLIENTS, ...BRAND_TOKENS]
