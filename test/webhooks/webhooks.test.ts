import {
  createExecutionContext,
  createMessageBatch,
  getQueueResult,
  waitOnExecutionContext,
} from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import worker from '../../src/index.ts'
import { CRON_SCHEDULES } from '../../src/jobs/crons.ts'
import { DAY_MS } from '../../src/platform/durations.ts'
import type { QueuedMessage } from '../../src/webhooks/causes.ts'
import { urlProblem } from '../../src/webhooks/check-url.ts'
import {
  decryptSecret,
  encryptSecret,
  newWebhookSecret,
  signMessage,
} from '../../src/webhooks/secrets.ts'
import { BOOK_DRAFT_ID, BOOK_HASH, bookRows } from '../commission/statement-rows.ts'
import { ada, askAdmin, deposit, json, partner } from '../partner.ts'
import { runCron } from '../platform/crons.ts'
import { eventsOf } from './webhook-events.ts'

// Which events are written, and how webhooks are managed. test-node/webhooks.test.ts sends them to a
// receiver.

const HOOK = 'https://hooks.example/tributary'
const hooksOf = (account: string) => `accounts/${account}/webhooks`

/** Creates a webhook, and returns it with its path. */
async function webhook(account: string, events?: string[]) {
  const created = await json(
    askAdmin(hooksOf(account), 'POST', { url: HOOK, ...(events && { events }) }),
  )
  return { ...created, path: `${hooksOf(account)}/${created.id}` }
}

const cron = (job: keyof typeof CRON_SCHEDULES, time = Date.now()) =>
  runCron(CRON_SCHEDULES[job], time)

describe('the URL of a webhook', () => {
  test.each([
    'https://hooks.example/path?token=1',
    'https://hooks.example:8443/',
    'https://hooks.example:443/',
    'https://xn--bcher-kva.example/',
  ])('%s is allowed', (url) => {
    expect(urlProblem(url, env)).toBeNull()
  })

  test.each([
    ['hooks.example', 'absolute'],
    ['https://hooks.example/a b', 'absolute'],
    ['http://hooks.example/', 'https'],
    ['ftp://hooks.example/', 'https'],
    ['https://user@hooks.example/', 'user name'],
    ['https://user:pass@hooks.example/', 'user name'],
    ['https://hooks.example/#part', 'fragment'],
    ['https://hooks.example:22/', 'port'],
    ['https://hooks.example:80/', 'port'],
    [`https://hooks.example/${'a'.repeat(2000)}`, '2000 characters'],
    ['https://10.0.0.1/', 'IP address'],
    ['https://127.0.0.1/', 'IP address'],
    ['https://169.254.169.254/latest/meta-data', 'IP address'],
    ['https://100.64.0.1/', 'IP address'],
    ['https://192.168.1.1/', 'IP address'],
    ['https://224.0.0.1/', 'IP address'],
    ['https://8.8.8.8/', 'IP address'],
    ['https://8.8.8.8./', 'IP address'],
    ['https://2130706433/', 'IP address'],
    ['https://0x7f000001/', 'IP address'],
    ['https://0177.0.0.1/', 'IP address'],
    ['https://127.1/', 'IP address'],
    ['https://[::1]/', 'IP address'],
    ['https://[fe80::1]/', 'IP address'],
    ['https://[fd00::1]/', 'IP address'],
    ['https://[::ffff:10.0.0.1]/', 'IP address'],
    ['https://[64:ff9b::a00:1]/', 'IP address'],
    ['https://１２７.0.0.1/', 'IP address'],
    ['https://①②⑦.⓪.⓪.①/', 'IP address'],
    ['https://127。0。0。1/', 'IP address'],
    ['https://10.0.0.1.:9999/', 'IP address'],
    ['https://hooks.example:443@10.0.0.1/', 'user name'],
    ['https://10.0.0.1%00.hooks.example/', 'absolute'],
    ['https://hooks.example:1023/', 'port'],
    ['javascript:alert(1)//https://hooks.example', 'https'],
    ['https://ｌocalhost/', 'public internet'],
    ['https://localhost。/', 'public internet'],
    ['https://a%2elocal/', 'public internet'],
    ['https://kubernetes.default.svc/', 'public internet'],
    ['https://host.docker/', 'public internet'],
    ['https://api.example%2e/', 'another service'],
    ['https://localhost/', 'public internet'],
    ['https://localhost./', 'public internet'],
    ['https://LOCALHOST/', 'public internet'],
    ['https://a.localhost/', 'public internet'],
    ['https://printer.local/', 'public internet'],
    ['https://metadata.google.internal/', 'public internet'],
    ['https://intranet/', 'public internet'],
    ['https://db.corp/', 'public internet'],
    ['https://1.0.0.10.in-addr.arpa/', 'public internet'],
    ['https://api.example/admin/v1/accounts', 'another service'],
    ['https://api.example./', 'another service'],
    ['https://API.example:8443/', 'another service'],
  ])('%s is refused', (url, expected) => {
    expect(urlProblem(url, env)).toContain(expected)
  })

  test('only in development http to loopback is allowed', () => {
    const development = { ...env, BASE_URL: 'http://127.0.0.1:8787' }
    const urls = [
      'http://localhost:3000/',
      'http://127.0.0.1/',
      'http://[::1]:9/',
      'https://localhost/',
    ]
    for (const url of urls) {
      expect(urlProblem(url, development)).toBeNull()
      expect(urlProblem(url, env)).not.toBeNull()
    }
    for (const url of ['http://10.0.0.1/', 'ftp://localhost/']) {
      expect(urlProblem(url, development)).not.toBeNull()
    }
  })

  test('a request with a URL that is not allowed stores nothing', async () => {
    const { account } = await partner()
    const { id, path } = await webhook(account)
    for (const [method, at] of [
      ['POST', hooksOf(account)],
      ['PATCH', path],
    ] as const) {
      const response = await askAdmin(at, method, { url: 'https://10.0.0.1/' })
      expect(response.status).toBe(422)
      expect((await json(response)).errors).toMatchObject([{ pointer: '/url', code: 'pattern' }])
    }
    const { data } = await json(askAdmin(hooksOf(account)))
    expect(data.map((one: { id: string; url: string }) => [one.id, one.url])).toEqual([[id, HOOK]])
  })
})

describe('refused deliveries', () => {
  test('cause an event of the first of a resource in each hour', async () => {
    const acme = await partner()
    await webhook(acme.account)
    const hour = 3_600_000
    const time = Math.floor(Date.now() / hour) * hour
    vi.useFakeTimers({ toFake: ['Date'], now: time })
    onTestFinished(() => void vi.useRealTimers())
    for (const at of [time - hour, time, time + 1000]) {
      vi.setSystemTime(at)
      for (const resource of ['customers', 'transactions']) await acme.post(resource, [{}])
    }
    const found = (await eventsOf(acme.account)).map(({ resource }) => resource)
    expect(found).toEqual(['customers', 'transactions', 'customers', 'transactions'])
  })
})

describe('a secret', () => {
  test('is stored encrypted, and only its own endpoint can decrypt it', async () => {
    const { account } = await partner()
    const { id, secret } = await webhook(account)
    const row = await env.DB.prepare('select secrets from webhook_endpoints').first<{
      secrets: string
    }>()
    expect(row?.secrets).not.toContain(secret.slice('whsec_'.length))
    const [[sealed]] = JSON.parse(row?.secrets ?? '') as [[string]]
    expect(await decryptSecret(env, account, id, sealed)).toBe(secret)
    expect(await decryptSecret(env, account, 'whk_other', sealed)).toBeNull()
    expect(await decryptSecret(env, 'other', id, sealed)).toBeNull()
    expect(await decryptSecret(env, account, id, `${sealed.slice(0, -2)}AA`)).toBeNull()
  })

  test('stays readable after TRACKING_KEYS is rotated, and not without its key', async () => {
    const { keys } = JSON.parse(env.TRACKING_KEYS)
    const secret = newWebhookSecret()
    const sealed = await encryptSecret(env, 'a', 'whk_1', secret)
    const withKeys = (some: unknown[]) => ({
      ...env,
      TRACKING_KEYS: JSON.stringify({ keys: some }),
    })
    expect(await decryptSecret(withKeys(keys.toReversed()), 'a', 'whk_1', sealed)).toBe(secret)
    expect(await decryptSecret(withKeys([keys[1]]), 'a', 'whk_1', sealed)).toBeNull()
  })

  test('signs as the example of the Standard Webhooks specification', async () => {
    const message = {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestamp: 1_614_265_330,
      body: '{"test": 2432232314}',
    }
    expect(await signMessage(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], message)).toBe(
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    )
  })
})

describe('webhooks of an account', () => {
  test('are created, listed, changed and deleted, each with its entry in the audit log', async () => {
    const { account } = await partner()
    const { id, path, secret, ...created } = await webhook(account, ['feed.late'])
    expect(secret).toMatch(/^whsec_/)
    expect(created).toMatchObject({ url: HOOK, events: ['feed.late'], disabled: false })
    const changed = await json(askAdmin(path, 'PATCH', { events: ['*'], description: 'Alerts' }))
    expect(changed).toMatchObject({ id, events: ['*'], description: 'Alerts' })
    expect(await json(askAdmin(path))).toEqual(changed)
    expect(changed).not.toHaveProperty('secret')
    expect((await json(askAdmin(path, 'PATCH', {}))).id).toBe(id)
    expect((await askAdmin(path, 'DELETE')).status).toBe(204)
    expect((await askAdmin(path)).status).toBe(404)
    const { data } = await json(askAdmin(`audit-log?account=${account}`))
    expect(data.map(({ action }: { action: string }) => action)).toEqual([
      'webhook.delete',
      'webhook.change',
      'webhook.create',
    ])
    expect(JSON.stringify(data)).not.toContain(secret)
    expect(data[2].details).toMatchObject({ id, host: 'hooks.example', events: ['feed.late'] })
  })

  test('are at most ten', async () => {
    const { account } = await partner()
    for (let i = 0; i < 10; i++) await webhook(account)
    const response = await askAdmin(hooksOf(account), 'POST', { url: HOOK })
    expect([response.status, (await json(response)).code]).toEqual([409, 'conflict'])
  })

  test('have at most two valid secrets', async () => {
    const { account } = await partner()
    const { path } = await webhook(account)
    for (let i = 0; i < 2; i++) {
      const rotated = await json(askAdmin(`${path}/rotate`, 'POST', { overlap: '1h' }))
      expect(rotated.previous_secret_until).not.toBeNull()
      const row = await env.DB.prepare('select secrets from webhook_endpoints').first('secrets')
      expect(JSON.parse(String(row))).toHaveLength(2)
    }
    const last = await json(askAdmin(`${path}/rotate`, 'POST', { overlap: 'none' }))
    expect(last.previous_secret_until).toBeNull()
    expect((await json(askAdmin(path))).previous_secret_until).toBeNull()
  })

  test('are not found by the path of another account', async () => {
    const acme = await partner()
    const other = await partner('forex', { account: 'other-firm' })
    const { id } = await webhook(acme.account)
    const at = `${hooksOf(other.account)}/${id}`
    for (const [path, method] of [
      [at, 'GET'],
      [at, 'PATCH'],
      [at, 'DELETE'],
      [`${at}/rotate`, 'POST'],
      [`${at}/test`, 'POST'],
      [`${at}/replay`, 'POST'],
      [`${at}/events`, 'GET'],
    ] as const) {
      const response = await askAdmin(path, method, method === 'GET' ? undefined : {})
      expect([path, response.status]).toEqual([path, 404])
      expect((await json(response)).detail).toContain(`webhook \`${id}\``)
    }
    const own = await webhook(other.account)
    expect((await askAdmin(`${own.path}/replay`, 'POST', { event_id: 'evt_0' })).status).toBe(404)
    expect((await json(askAdmin(`${own.path}/events`))).data).toEqual([])
  })

  test.each([
    [{ events: [] }, '/events', 'pattern'],
    [{ events: ['feed.late', 'feed.lat'] }, '/events/1', 'enum'],
    [{ events: ['feed.late', '*', 'feed.late'] }, '/events/2', 'duplicate'],
    [{ events: [null] }, '/events/0', 'type'],
    [{ url: 5 }, '/url', 'type'],
    [{ secret: 'whsec_1' }, '/secret', 'unknown_field'],
  ])('%j is refused with the place', async (more, pointer, code) => {
    const { account } = await partner()
    const response = await askAdmin(hooksOf(account), 'POST', { url: HOOK, ...more })
    expect(response.status).toBe(422)
    expect((await json(response)).errors).toMatchObject([{ pointer, code }])
  })

  test('send nothing while they are disabled', async () => {
    const { account } = await partner()
    const { path } = await webhook(account)
    const disabled = await json(askAdmin(path, 'PATCH', { disabled: true }))
    expect(disabled).toMatchObject({ disabled: true, disabled_reason: 'team' })
    const replay = await askAdmin(`${path}/replay`, 'POST', {})
    expect(replay.status).toBe(409)
    expect((await json(askAdmin(path, 'PATCH', { disabled: false }))).disabled).toBe(false)
  })

  test('replay one event, or all dead letters', async () => {
    const { account } = await partner()
    const { path } = await webhook(account, ['feed.late'])
    const ids = ['evt_00000000001', 'evt_00000000002', 'evt_00000000003']
    for (const id of ids) {
      await env.DB.prepare(
        `insert into webhook_events values (?, ?, 'feed.late', ?, 1, '{}', null)`,
      )
        .bind(account, id, id)
        .run()
    }
    const set = env.DB.prepare(
      'update webhook_messages set status = ?, attempts = 10 where event = ?',
    )
    await env.DB.batch([set.bind('delivered', ids[0]), set.bind('dead', ids[1])])
    const replay = async (body: object) => json(askAdmin(`${path}/replay`, 'POST', body))
    const statuses = async () =>
      (await json(askAdmin(`${path}/events`))).data.map((one: { status: string }) => one.status)
    expect(await replay({})).toEqual({ replayed: 1 })
    expect(await statuses()).toEqual(['pending', 'pending', 'delivered'])
    expect(await replay({ event_id: ids[0] })).toEqual({ replayed: 1 })
    expect(await statuses()).toEqual(['pending', 'pending', 'pending'])
    expect((await askAdmin(`${path}/replay`, 'POST', { event_id: 'evt_1' })).status).toBe(404)
  })
})

describe('an event', () => {
  test('of a refused delivery has its counts and codes, and no value of a record', async () => {
    const acme = await partner()
    await webhook(acme.account)
    const lenient = { Prefer: 'handling=lenient' }
    await acme.post('customers', [ada, { ...ada, customer_id: 'c-2', email: 'no mail' }], lenient)
    const right = { ...deposit, transaction_id: 't-2' }
    await acme.post('transactions', [{ transaction_id: 't-1', customer_id: 'c-9' }, right])
    await acme.post('customers?dry_run=true', [{}])
    await acme.post('customers', [ada])
    const [first, second, ...others] = await eventsOf(acme.account)
    expect(first).toMatchObject({
      type: 'delivery.refused',
      resource: 'customers',
      received: 2,
      rejected: 1,
      not_stored: 0,
      codes: ['email'],
    })
    expect(second).toMatchObject({
      resource: 'transactions',
      received: 2,
      rejected: 1,
      not_stored: 1,
      codes: ['required', 'unknown_customer'],
    })
    expect(others).toEqual([])
    expect(JSON.stringify([first, second])).not.toContain('no mail')
  })

  test('is not written if no webhook of its account wants it', async () => {
    const acme = await partner()
    const other = await partner('forex', { account: 'other-firm' })
    await webhook(other.account)
    const { path } = await webhook(acme.account, ['feed.late'])
    await acme.post('customers', [{}])
    await askAdmin(path, 'PATCH', { events: ['delivery.refused'], disabled: true })
    await acme.post('customers', [{}])
    expect(await eventsOf(acme.account)).toEqual([])
    expect(await eventsOf(other.account)).toEqual([])
    await askAdmin(path, 'PATCH', { disabled: false })
    await acme.post('customers', [{}])
    expect(await eventsOf(acme.account)).toHaveLength(1)
  })

  test('of an approval is written once, also if the request is repeated', async () => {
    const { account } = await partner()
    await webhook(account)
    await env.DB.batch(bookRows(env.DB, account))
    const path = `accounts/${account}/statements/${BOOK_DRAFT_ID}/approve`
    for (let i = 0; i < 2; i++) {
      expect((await askAdmin(path, 'POST', { hash: BOOK_HASH })).status).toBe(200)
    }
    expect(await eventsOf(account)).toMatchObject([
      { type: 'statement.approved', period: '2024-09', payable: '1.00', currency: 'EUR' },
    ])
  })

  test('is in the database of the account', async () => {
    const acme = await partner('forex', { binding: 'DB_2' })
    const { path } = await webhook(acme.account)
    await acme.post('customers', [{}])
    expect(await eventsOf(acme.account, env.DB_2)).toHaveLength(1)
    expect(await eventsOf(acme.account)).toEqual([])
    expect((await json(askAdmin(`${path}/events`))).data).toHaveLength(1)
  })
})

describe('what is stored of webhooks', () => {
  const rowsOf = async (account: string) => {
    const tables = ['endpoints', 'events', 'messages']
    const found = tables.map((name) =>
      env.DB.prepare(`select count(*) as n from webhook_${name} where account = ?`)
        .bind(account)
        .first<number>('n'),
    )
    return Promise.all(found)
  }

  test('expires after 30 days', async () => {
    const acme = await partner()
    await webhook(acme.account)
    await acme.post('customers', [{}])
    await cron('expire', Date.now() + 29 * DAY_MS)
    expect(await rowsOf(acme.account)).toEqual([1, 1, 1])
    await cron('expire', Date.now() + 31 * DAY_MS)
    expect(await rowsOf(acme.account)).toEqual([1, 0, 0])
  })
})

describe('the queue', () => {
  /** Runs the consumer with a message. */
  async function consume(body: QueuedMessage) {
    const message = { id: crypto.randomUUID(), timestamp: new Date(), attempts: 1, body }
    const batch = createMessageBatch<unknown>('tributary-webhooks', [message])
    const context = createExecutionContext()
    await worker.queue(batch, env, context)
    await waitOnExecutionContext(context)
    return getQueueResult(batch, context)
  }

  /** Writes an event without a request, which would send it at once. */
  const cause = (account: string) =>
    env.DB.prepare(`insert into webhook_events values (?, 'evt_1', 'feed.late', '', 0, '{}', null)`)
      .bind(account)
      .run()

  const pending = async () => {
    const { results } = await env.DB.prepare(
      'select account, event, endpoint, attempts, status from webhook_messages',
    ).all<QueuedMessage & { status: string }>()
    return results
  }

  test('a message that the queue has twice makes one attempt', async () => {
    const acme = await partner()
    const { path } = await webhook(acme.account)
    await cause(acme.account)
    const [message] = await pending()
    const body = { ...message!, attempts: 0, binding: 'DB' }
    await Promise.all([consume(body), consume(body)])
    await consume(body)
    const { data } = await json(askAdmin(`${path}/events`))
    // The tests answer every unknown address with 404.
    expect(data).toMatchObject([{ attempts: 1, response_status: 404, error: 'http_status' }])
    expect((await json(askAdmin(`${path}/events?status=dead`))).data).toEqual([])
  })

  test('nothing is sent for an account that is disabled', async () => {
    const acme = await partner()
    const { path } = await webhook(acme.account)
    await cause(acme.account)
    const [message] = await pending()
    await env.DB.prepare('update accounts set disabled = 1').run()
    await consume({ ...message!, attempts: 0, binding: 'DB' })
    expect(await pending()).toMatchObject([{ status: 'dead' }])
    expect((await json(askAdmin(`${path}/events`))).data).toMatchObject([{ attempted_at: null }])
  })

  test('an endpoint that has failed for three days is disabled, and shown', async () => {
    const acme = await partner()
    const { id, path } = await webhook(acme.account)
    await cause(acme.account)
    const fail = async (failingMs: number, attempts: number) => {
      await env.DB.prepare('update webhook_endpoints set failing_since = ?')
        .bind(Date.now() - failingMs)
        .run()
      const [message] = await pending()
      await consume({ ...message!, attempts, binding: 'DB' })
    }
    await fail(3 * DAY_MS - 60_000, 0)
    expect(await json(askAdmin(path))).toMatchObject({ disabled: false })
    await fail(3 * DAY_MS, 1)
    expect(await json(askAdmin(path))).toMatchObject({ disabled: true, disabled_reason: 'failing' })
    expect(await pending()).toMatchObject([{ status: 'dead' }])
    const { data } = await json(askAdmin(`audit-log?account=${acme.account}`))
    expect(data[0]).toMatchObject({
      action: 'webhook.disable',
      details: { id, reason: 'failing' },
    })
  })
})
