import * as v from 'valibot'
import { propagateNow, propagateSettings } from '../platform/auth/propagate.ts'
import { digest, newSecret } from '../platform/auth/secret.ts'
import type { Account } from '../platform/db/schema.ts'
import { withAudit } from '../platform/directory/audit.ts'
import * as rows from '../platform/directory/credentials.ts'
import { ApiError } from '../platform/errors.ts'
import { type Call, operation } from '../platform/http/operation.ts'
import { notFound } from '../platform/http/read-fields.ts'
import { DEFAULT_OVERLAP, overlap, overlapEnd } from '../platform/overlap.ts'
import { takes_effect, time } from '../platform/validation/answer-fields.ts'
import { component, described, listOf } from '../platform/validation/described.ts'
import { member, nullable, said } from '../platform/validation/fields.ts'
import { changeSettings } from './change-settings.ts'

/** Returns an OAuth client as the administration API shows it. */
const present = ({ client_id, revoked, previous_ends_at: endsAt, created_at }: rows.ClientRow) => ({
  client_id,
  revoked: revoked === 1,
  previous_secret_until:
    revoked !== 1 && endsAt !== null && endsAt > Date.now() ? new Date(endsAt).toISOString() : null,
  created_at,
})

/** Throws `conflict` if an account is a brand's. */
function requirePartner({ vertical }: Account): void {
  if (vertical !== 'igaming') return
  throw new ApiError('conflict', {
    detail: 'Only partners have OAuth clients. This account is a brand and has Brand Tokens.',
  })
}

async function findClient({ env, account }: Call, id: string): Promise<rows.ClientRow> {
  requirePartner(account)
  const clients = await rows.listClients(env.DB, account.id)
  const found = clients.find(({ client_id }) => client_id === id)
  if (!found) throw notFound('client', id)
  return found
}

const client_id = member(
  v.string(),
  said('The id of the OAuth client.', 'e0f1a5a2-7b0c-4b1e-9d55-2f6c1f0f8a11'),
)
const client_secret = described(() =>
  member(v.string(), 'The client secret. It is shown only in this response.'),
)
const previous_secret_until = described(() =>
  nullable(time, 'When the previous secret stops working. Null if it already has.'),
)

const ofClients = { topic: 'accounts', path: '/clients' } as const
const ofClient = { topic: 'accounts', params: { client_id } } as const

export const issueClient = operation({
  ...ofClients,
  id: 'issueClient',
  shows: 'account',
  method: 'POST',
  status: 201,
  words: described(() => ({
    description: 'Creates an OAuth client for a partner. The secret is shown only once.',
    answer: component('NewClient', () => ({ client_id, client_secret, created_at: time })),
    errors: ['conflict'],
    command: {
      name: 'clients issue',
      secret: 'client_secret',
      recovery:
        'A secret may have been created and lost. Do not simply repeat the command: run `clients list`, and first revoke the unknown client.',
    },
  })),
  async run({ env, actor, account }) {
    requirePartner(account)
    const client_id = crypto.randomUUID()
    const client_secret = newSecret('tcs', account.mode)
    const secret_digest = await digest(client_secret)
    const created_at = new Date().toISOString()
    const entry = { actor, action: 'client.issue', account: account.id, details: { client_id } }
    const client = { client_id, account: account.id, secret_digest, created_at }
    await withAudit(env.DB, entry, [rows.insertClient(env.DB, client)])
    return { client_id, client_secret, created_at }
  },
})

export const listClients = operation({
  ...ofClients,
  id: 'listClients',
  shows: 'account',
  method: 'GET',
  words: described(() => ({
    description: 'Lists the OAuth clients of an account, without their secrets.',
    answer: listOf(
      component('Client', () => ({
        client_id,
        revoked: member(v.boolean(), 'Whether the client is revoked.'),
        previous_secret_until,
        created_at: time,
      })),
    ),
    errors: ['conflict'],
    command: { name: 'clients list' },
  })),
  async run({ env, account }) {
    requirePartner(account)
    return { data: (await rows.listClients(env.DB, account.id)).map(present) }
  },
})

export const rotateClient = operation({
  ...ofClient,
  id: 'rotateClient',
  shows: 'account',
  method: 'POST',
  path: '/clients/{client_id}/rotate',
  body: { overlap },
  status: 201,
  words: described(() => ({
    description:
      'Issues a new secret. The previous one works for 24 hours unless `overlap` sets another time; one before it ends. With `none`, it and its access tokens stop working before the next request.',
    answer: component('RotatedClient', () => ({
      client_id,
      client_secret,
      previous_secret_until,
      takes_effect,
    })),
    errors: ['conflict'],
    command: {
      name: 'clients rotate',
      secret: 'client_secret',
      confirm: {
        warning:
          'Without an overlap the secret and all tokens of client {client_id} stop working at once.',
        name: 'client_id',
        if: { overlap: 'none' },
      },
      recovery:
        'A secret may have been created and lost. Do not simply repeat the command: run `clients list`. If previous_secret_until shows this rotation, the old secret works until then, and another rotation would end it at once. With --overlap none the old secret may have ended: then rotate again.',
    },
  })),
  async run(call, { client_id, overlap: length = DEFAULT_OVERLAP }) {
    const { env, account } = call
    const client = await findClient(call, client_id)
    if (client.revoked) throw new ApiError('conflict', { detail: 'The client is revoked.' })
    const client_secret = newSecret('tcs', account.mode)
    const until = length === 'none' ? null : overlapEnd(length, Date.now())
    await changeSettings(call, 'client.rotate', { client_id, overlap: length }, [
      rows.rotateClient(env.DB, client_id, await digest(client_secret), until),
    ])
    const takes_effect = await propagateSettings(env, account.id)
    const previous_secret_until = until === null ? null : new Date(until).toISOString()
    return { client_id, client_secret, previous_secret_until, takes_effect }
  },
})

export const revokeClient = operation({
  ...ofClient,
  id: 'revokeClient',
  shows: 'account',
  method: 'DELETE',
  path: '/clients/{client_id}',
  words: described(() => ({
    description: 'Revokes a client. Its access tokens stop working before the next request.',
    answer: null,
    errors: ['conflict'],
    command: {
      name: 'clients revoke',
      done: 'Revoked client {client_id} of account {account}.',
    },
  })),
  async run(call, { client_id }) {
    const { env, account } = call
    await findClient(call, client_id)
    const revoke = rows.revokeClient(env.DB, client_id)
    await changeSettings(call, 'client.revoke', { client_id }, [revoke])
    await propagateNow(env, account.id)
    return null
  },
})

/** The operations on OAuth clients of a partner. A secret is shown only once, when it is created. */
export const CLIENT_OPERATIONS = [issueClient, listClients, rotateClient, revokeClient]
