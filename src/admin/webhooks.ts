import { type Context, Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import type { Account } from '../db/schema.ts'
import { ApiError } from '../errors.ts'
import { PAGE_PARAMETERS, readPage, respondWithPage } from '../http/pagination.ts'
import { readChoice, readQuery } from '../http/query.ts'
import { notFound, readFields, validationFailed } from '../http/read-fields.ts'
import { urlProblem } from '../webhooks/check-url.ts'
import {
  type Change,
  changeWebhook,
  createWebhook,
  deleteWebhook,
  findEvent,
  findWebhook,
  listWebhooks,
  readMessages,
  replayWebhook,
  rotateWebhook,
  testWebhook,
  type Webhook,
} from '../webhooks/manage.ts'
import { findRouteAccount } from './accounts.ts'
import { DEFAULT_OVERLAP, overlap, overlapEnd } from './overlap.ts'
import { newWebhook, webhookChange } from './webhook-fields.ts'
import { readAttemptsQuery, readReplaySpan, respondWithAttempts } from './webhook-requests.ts'

const STATUSES = ['pending', 'delivered', 'dead']

/** Returns the webhook that the path names, with its account. Throws `not_found`. */
async function findRouteWebhook(
  c: Context<AppEnv>,
): Promise<{ account: Account; webhook: Webhook; change: Change }> {
  const account = await findRouteAccount(c)
  const id = c.req.param('webhook_id') ?? ''
  const webhook = await findWebhook(c.env, account, id)
  if (!webhook) throw notFound('webhook', id)
  return { account, webhook, change: { env: c.env, account, actor: c.var.actor } }
}

/** Throws `validation_failed` if events must not be sent to a URL. */
function checkUrl(env: Env, url: string | undefined): void {
  const expected = url === undefined ? null : urlProblem(url, env)
  if (expected !== null) {
    throw validationFailed([{ pointer: '/url', code: 'pattern', expected, value: url }])
  }
}

/** Throws `conflict` if a webhook is disabled: nothing would be sent. */
function refuseDisabled({ disabled }: Webhook): void {
  if (!disabled) return
  const detail = 'The webhook is disabled. Enable it first: send `{"disabled": false}` with PATCH.'
  throw new ApiError('conflict', { detail })
}

/** Routes for webhooks. A secret is shown only once, when it is created. */
export const webhooks = new Hono<AppEnv>()
  .post('/', async (c) => {
    readQuery(c.req.url)
    const account = await findRouteAccount(c)
    const fields = await readFields(c, newWebhook)
    checkUrl(c.env, fields.url)
    const created = await createWebhook({ env: c.env, account, actor: c.var.actor }, fields)
    return c.json(created, 201)
  })

  .get('/', async (c) => {
    readQuery(c.req.url)
    return c.json({ data: await listWebhooks(c.env, await findRouteAccount(c)) })
  })

  .get('/:webhook_id', async (c) => {
    readQuery(c.req.url)
    return c.json((await findRouteWebhook(c)).webhook)
  })

  .patch('/:webhook_id', async (c) => {
    readQuery(c.req.url)
    const { webhook, change } = await findRouteWebhook(c)
    const fields = await readFields(c, webhookChange)
    checkUrl(c.env, fields.url)
    await changeWebhook(change, webhook.id, fields)
    return c.json((await findRouteWebhook(c)).webhook)
  })

  .delete('/:webhook_id', async (c) => {
    readQuery(c.req.url)
    const { webhook, change } = await findRouteWebhook(c)
    await deleteWebhook(change, webhook.id)
    return c.body(null, 204)
  })

  .post('/:webhook_id/rotate', async (c) => {
    readQuery(c.req.url)
    const { webhook, change } = await findRouteWebhook(c)
    const { overlap: length = DEFAULT_OVERLAP } = await readFields(c, { overlap })
    const until = length === 'none' ? null : overlapEnd(length, Date.now())
    return c.json(await rotateWebhook(change, webhook.id, { overlap: length, until }), 201)
  })

  .post('/:webhook_id/test', async (c) => {
    readQuery(c.req.url)
    const { webhook, change } = await findRouteWebhook(c)
    await readFields(c, {})
    refuseDisabled(webhook)
    return c.json({ event_id: await testWebhook(change, webhook.id, Date.now()) }, 202)
  })

  .post('/:webhook_id/replay', async (c) => {
    readQuery(c.req.url)
    const { account, webhook, change } = await findRouteWebhook(c)
    const span = await readReplaySpan(c, (event) => findEvent({ env: c.env, account }, event))
    refuseDisabled(webhook)
    return c.json({ replayed: await replayWebhook(change, webhook.id, span, Date.now()) }, 202)
  })

  .get('/:webhook_id/attempts', async (c) => {
    const query = readAttemptsQuery(c)
    const { account, webhook } = await findRouteWebhook(c)
    return respondWithAttempts(c, account, webhook.id, query)
  })

  .get('/:webhook_id/events', async (c) => {
    const { status: text, ...query } = readQuery(c.req.url, ...PAGE_PARAMETERS, 'status')
    const status = readChoice('status', text, STATUSES) ?? null
    const { account, webhook } = await findRouteWebhook(c)
    const context = JSON.stringify([account.id, 'webhook-events', webhook.id, status])
    const page = await readPage(c.env, context, query)
    const found = await readMessages(c.env, account, webhook.id, status, page)
    return respondWithPage(c, context, page, found)
  })
