import { type Context, Hono } from 'hono'
import { newPostback, postbackChange } from '../admin/postback-fields.ts'
import { replayFields } from '../admin/webhook-fields.ts'
import { replaySpan } from '../admin/webhooks.ts'
import type { AppEnv } from '../auth/authorize.ts'
import { ApiError } from '../errors.ts'
import { ReadMemory } from '../http/memory.ts'
import { PAGE_PARAMETERS, readPage, respondWithPage } from '../http/pagination.ts'
import { readFlag, readQuery } from '../http/query.ts'
import { notFound, readFields, validationFailed } from '../http/read-fields.ts'
import { showTo } from '../http/show.ts'
import { macroProblem } from '../webhooks/macros.ts'
import {
  changePostback,
  createPostback,
  deleteWebhook,
  findEvent,
  findPostback,
  listPostbacks,
  type Postback,
  readAttempts,
  replayWebhook,
  testWebhook,
} from '../webhooks/manage.ts'
import { callerOf } from './me.ts'
import { TEST_VALUES } from './postback-address.ts'
import { skipQualified } from './postback-causes.ts'

/** Returns the affiliate who calls, and what a change of theirs needs to know. */
async function changeOf(c: Context<AppEnv>) {
  const { id, account } = await callerOf(c)
  return { env: c.env, account, actor: c.var.actor, affiliate_id: id }
}

/** Returns the postback that the path names, with its affiliate. Throws `not_found`. */
async function findRoutePostback(c: Context<AppEnv>) {
  const change = await changeOf(c)
  const id = c.req.param('postback_id') ?? ''
  const postback = await findPostback(c.env, change.account, change.affiliate_id, id)
  if (!postback) throw notFound('postback', id)
  return { change, postback }
}

/** Throws `validation_failed` if events must not be sent to a URL. */
function checkUrl(env: Env, url: string | undefined): void {
  const expected = url === undefined ? null : macroProblem(url, env)
  if (expected === null) return
  throw validationFailed([{ pointer: '/url', code: 'pattern', expected, value: url }])
}

const PAUSED_BY_FIRM = 'The firm has paused the postback. Only the firm can end that: ask them.'

/** Throws `conflict` if a postback is paused: nothing would be sent. */
function refuseDisabled({ disabled, disabled_reason }: Postback): void {
  if (!disabled) return
  const own = 'The postback is paused. Send `{"disabled": false}` with PATCH first.'
  const detail = disabled_reason === 'firm' ? PAUSED_BY_FIRM : own
  throw new ApiError('conflict', { detail })
}

/** Responds with what an affiliate sees of a value. */
const respond = async (c: Context<AppEnv>, value: object, status: 200 | 201 | 202 = 200) =>
  c.json(await showTo(c, value), status)

/** Routes for the postbacks of the affiliate who calls. A secret is shown only once, when it is created. */
export const postbacks = new Hono<AppEnv>()
  .get('/', async (c) => {
    readQuery(c.req.url)
    const { account, affiliate_id } = await changeOf(c)
    return respond(c, { data: await listPostbacks(c.env, account, affiliate_id) })
  })

  .post('/', async (c) => {
    readQuery(c.req.url)
    const change = await changeOf(c)
    const { url, method = 'GET', events } = await readFields(c, newPostback)
    checkUrl(c.env, url)
    const { account, affiliate_id } = change
    if (events.includes('qualified')) await skipQualified(c.env, account, affiliate_id, Date.now())
    return respond(c, await createPostback(change, { url, method, events }), 201)
  })

  .patch('/:postback_id', async (c) => {
    readQuery(c.req.url)
    const { change, postback } = await findRoutePostback(c)
    const fields = await readFields(c, postbackChange)
    checkUrl(c.env, fields.url)
    const { disabled, events = postback.events } = fields
    if (disabled === false && postback.disabled_reason === 'firm') {
      throw new ApiError('conflict', { detail: PAUSED_BY_FIRM })
    }
    const isWider = disabled === false || fields.events !== undefined
    const { account, affiliate_id } = change
    if (isWider && events.includes('qualified')) {
      await skipQualified(c.env, account, affiliate_id, Date.now())
    }
    await changePostback(change, postback.id, fields, false)
    return respond(c, (await findRoutePostback(c)).postback)
  })

  .delete('/:postback_id', async (c) => {
    readQuery(c.req.url)
    const { change, postback } = await findRoutePostback(c)
    await deleteWebhook(change, postback.id)
    return c.body(null, 204)
  })

  .post('/:postback_id/test', async (c) => {
    readQuery(c.req.url)
    const { change, postback } = await findRoutePostback(c)
    await readFields(c, {})
    refuseDisabled(postback)
    const event_id = await testWebhook(change, postback.id, Date.now(), TEST_VALUES)
    return respond(c, { event_id }, 202)
  })

  .post('/:postback_id/replay', async (c) => {
    readQuery(c.req.url)
    const { change, postback } = await findRoutePostback(c)
    const fields = await readFields(c, replayFields)
    const span = await replaySpan(fields, (event) => findEvent(change, event))
    refuseDisabled(postback)
    const replayed = await replayWebhook(change, postback.id, span, Date.now())
    return respond(c, { replayed }, 202)
  })

  .get('/:postback_id/attempts', async (c) => {
    const names = [...PAGE_PARAMETERS, 'event_id', 'failed'] as const
    const { event_id: event = null, failed, ...query } = readQuery(c.req.url, ...names)
    const filter = { event, onlyFailed: readFlag('failed', failed) }
    const { change, postback } = await findRoutePostback(c)
    const { account } = change
    const context = JSON.stringify([account.id, 'attempts', postback.id, filter])
    const page = await readPage(c.env, context, query)
    const found = await readAttempts(c.env, account, postback.id, filter, page)
    return respondWithPage(c, context, page, found, new ReadMemory(account.id))
  })
