import type { JsonSchema } from '../types.ts'
import { type Operation, ref } from './operation.ts'

// Tokens, and what a client finds by itself.

const TEXT: JsonSchema = { type: 'string', minLength: 1 }

const CREDENTIALS = {
  client_id: { ...TEXT, description: 'Unless it is in the header `Authorization: Basic`.' },
  client_secret: { ...TEXT, description: 'Unless it is in the header; never in both.' },
}

const form = (properties: Record<string, JsonSchema>, required: string[]) => ({
  type: 'application/x-www-form-urlencoded',
  schema: { type: 'object', properties: { ...properties, ...CREDENTIALS }, required },
})

const FAILS = [
  'invalid_request',
  'invalid_client',
  'https_required',
  'payload_too_large',
  'temporarily_unavailable',
  'internal_error',
  'unavailable',
] as const

/** What is asked at `/oauth`, and what it says of itself. */
export const oauth = (): Operation[] => [
  {
    method: 'post',
    path: '/oauth/token',
    id: 'getToken',
    tag: 'tokens',
    summary: 'Get an access token',
    description:
      'The client credentials grant (RFC 6749 §4.4). A token lives for an hour: ask for one an hour, not for one a request.',
    who: 'anyone',
    body: form(
      {
        grant_type: { const: 'client_credentials' },
        scope: {
          type: 'string',
          enum: ['read', 'write', 'read write', 'write read'],
          description: 'All of it if left out.',
        },
      },
      ['grant_type'],
    ),
    answers: {
      200: {
        description: 'A token.',
        schema: ref('AccessToken'),
        headers: ['Cache-Control', 'Pragma'],
      },
    },
    fails: [...FAILS, 'invalid_scope', 'unsupported_grant_type'],
    failsAs: 'oauth',
  },
  {
    method: 'post',
    path: '/oauth/revoke',
    id: 'revokeToken',
    tag: 'tokens',
    summary: 'End a token',
    description:
      'Ends one of your own tokens before its time (RFC 7009). A token that is none, or no longer one, is no error.',
    who: 'anyone',
    body: form({ token: { ...TEXT, description: 'The access token.' } }, ['token']),
    answers: { 200: { description: 'It is ended.', headers: ['Cache-Control', 'Pragma'] } },
    fails: FAILS,
    failsAs: 'oauth',
  },
  {
    method: 'get',
    path: '/.well-known/oauth-authorization-server',
    id: 'getAuthorizationServer',
    tag: 'tokens',
    summary: 'Metadata of the authorization server',
    description: 'What a client library finds by itself (RFC 8414).',
    who: 'anyone',
    answers: {
      200: {
        description: 'The metadata.',
        schema: ref('AuthorizationServer'),
        headers: ['Cache-Control'],
      },
    },
    fails: ['https_required'],
  },
  {
    method: 'get',
    path: '/.well-known/jwks.json',
    id: 'getJwks',
    tag: 'tokens',
    summary: 'Public keys',
    description: 'The keys that verify access tokens (RFC 7517). Several while they rotate.',
    who: 'anyone',
    answers: { 200: { description: 'The keys.', schema: ref('Jwks'), headers: ['Cache-Control'] } },
    fails: ['https_required', 'unavailable'],
  },
]
