import { type Context, Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { digest, newSecret } from '../auth/secret.ts'
import { withAudit } from '../db/directory/audit.ts'
import {
  bumpVersion,
  type ClientRow,
  insertClient,
  listClients,
  revokeClient,
  rotateClient,
} from '../db/directory/credentials.ts'
import type { Account } from '../db/schema.ts'
import { ApiError } from '../errors.ts'
import { readQuery } from '../http/query.ts'
import { notFound, readFields } from '../http/read-fields.ts'
import { findRouteAccount } from './accounts.ts'
import { DEFAULT_OVERLAP, overlap, overlapEnd } from './overlap.ts'
import { propagateNow, propagateSettings } from './propagate.ts'

/** Returns an OAuth client as the administration API shows it. */
const present = ({
  client_id,
  revoked,
  last_previous_secret_ends_at: endsAt,
  created_at,
}: ClientRow) => ({
  client_id,
  revoked: revoked === 1,
  previous_secret_until:
    revoked !== 1 && endsAt !== null && endsAt > Date.now() ? new Date(endsAt).toISOString() : null,
  created_at,
})

/** Returns the account that the path names. Throws `not_found`, or `conflict` if it is a brand's. */
async function findPartnerAccount(c: Context<AppEnv>): Promise<Account> {
  const account = await findRouteAccount(c)
  if (account.vertical !== 'igaming') return account
  throw new ApiError('conflict', {
    detail: 'Only partners have OAuth clients. This account is a brand and has Brand Tokens.',
  })
}

/** Returns the client that the path names, with its account. */
async function findRouteClient(
  c: Context<AppEnv>,
): Promise<{ account: Account; client: ClientRow }> {
  const account = await findPartnerAccount(c)
  const clients = await listClients(c.env.DB, account.id)
  const id = c.req.param('client_id') ?? ''
  const client = clients.find(({ client_id }) => client_id === id)
  if (!client) throw notFound('client', id)
  return { account, client }
}

/** Routes for the OAuth clients of a partner. A secret is shown only once, when it is created. */
export const clients = new Hono<AppEnv>()
  .post('/', async (c) => {
    readQuery(c.req.url)
    const { id: account, mode } = await findPartnerAccount(c)
    await readFields(c, {})
    const client_id = crypto.randomUUID()
    const client_secret = newSecret('tcs', mode)
    const secret_digest = await digest(client_secret)
    const created_at = new Date().toISOString()
    const entry = { actor: c.var.actor, action: 'client.issue', account, details: { client_id } }
    const client = { client_id, account, secret_digest, created_at }
    await withAudit(c.env.DB, entry, [insertClient(c.env.DB, client)])
    return c.json({ client_id, client_secret, created_at }, 201)
  })

  .get('/', async (c) => {
    readQuery(c.req.url)
    const { id } = await findPartnerAccount(c)
    return c.json({ data: (await listClients(c.env.DB, id)).map(present) })
  })

  .post('/:client_id/rotate', async (c) => {
    readQuery(c.req.url)
    const { account, client } = await findRouteClient(c)
    const fields = await readFields(c, { overlap })
    const { client_id } = client
    if (client.revoked) throw new ApiError('conflict', { detail: 'The client is revoked.' })
    const client_secret = newSecret('tcs', account.mode)
    const length = fields.overlap ?? DEFAULT_OVERLAP
    const until = length === 'none' ? null : overlapEnd(length, Date.now())
    const details = { client_id, overlap: length }
    const entry = { actor: c.var.actor, action: 'client.rotate', account: account.id, details }
    await withAudit(c.env.DB, entry, [
      ...rotateClient(c.env.DB, client_id, await digest(client_secret), until),
      bumpVersion(c.env.DB, account.id),
    ])
    const takes_effect = await propagateSettings(c.env, account.id)
    // Secrets of earlier rotations keep their own ends.
    const last = until && Math.max(until, client.last_previous_secret_ends_at ?? 0)
    const previous_secret_until = last && new Date(last).toISOString()
    return c.json({ client_id, client_secret, previous_secret_until, takes_effect }, 201)
  })

  .delete('/:client_id', async (c) => {
    readQuery(c.req.url)
    const { account, client } = await findRouteClient(c)
    const details = { client_id: client.client_id }
    const entry = { actor: c.var.actor, action: 'client.revoke', account: account.id, details }
    await withAudit(c.env.DB, entry, [
      revokeClient(c.env.DB, client.client_id),
      bumpVersion(c.env.DB, account.id),
    ])
    await propagateNow(c.env, account.id)
    return c.body(null, 204)
  })
