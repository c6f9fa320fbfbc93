import type { JsonSchema } from '../types.ts'
import { type Operation, ref } from './operation.ts'

// OAuth 2.0: tokens.

const TEXT: JsonSchema = { type: 'string', minLength: 1 }

const CREDENTIALS = {
  client_id: { ...TEXT, description: 'The client id. Omit it if you send `Authorization: Basic`.' },
  client_secret: {
    ...TEXT,
    description: 'The client secret. Omit it if you send `Authorization: Basic`.',
  },
}

const form = (properties: Record<string, JsonSchema>, required: string[]) => ({
  type: 'application/x-www-form-urlencoded',
  schema: { type: 'object', properties: { ...properties, ...CREDENTIALS }, required },
})

const ERRORS = [
  'invalid_request',
  'invalid_client',
  'https_required',
  'payload_too_large',
  'temporarily_unavailable',
  'internal_error',
  'unavailable',
] as const

const getToken: Operation = {
  method: 'post',
  path: '/oauth/token',
  id: 'getToken',
  tag: 'tokens',
  summary: 'Get an access token',
  description:
    'Issues an access token with the client credentials grant (RFC 6749 §4.4). A token is valid for one hour: reuse it instead of requesting one for each call.',
  caller: 'anyone',
  body: form(
    {
      grant_type: { const: 'client_credentials', description: 'The only supported grant type.' },
      scope: {
        type: 'string',
        enum: ['read', 'write', 'read write', 'write read'],
        description: 'The scopes to grant. Defaults to both.',
      },
    },
    ['grant_type'],
  ),
  answers: {
    200: {
      description: 'The access token.',
      schema: ref('AccessToken'),
      headers: ['Cache-Control', 'Pragma'],
    },
  },
  errors: [...ERRORS, 'invalid_scope', 'unsupported_grant_type'],
  errorFormat: 'oauth',
}

const revokeToken: Operation = {
  method: 'post',
  path: '/oauth/revoke',
  id: 'revokeToken',
  tag: 'tokens',
  summary: 'Revoke an access token',
  description:
    'Revokes one of your own access tokens before it expires (RFC 7009). The response is the same if the token is invalid or has already expired.',
  caller: 'anyone',
  body: form({ token: { ...TEXT, description: 'The access token to revoke.' } }, ['token']),
  answers: {
    200: { description: 'The token is no longer valid.', headers: ['Cache-Control', 'Pragma'] },
  },
  errors: ERRORS,
  errorFormat: 'oauth',
}

/** Lists the OAuth operations. */
export const oauth = (): Operation[] => [getToken, revokeToken]
