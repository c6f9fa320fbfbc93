import {
  createExecutionContext,
  createMessageBatch,
  getQueueResult,
  runInDurableObject,
  waitOnExecutionContext,
} from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import type { Grant } from '../src/auth/grant.ts'
import worker from '../src/index.ts'
import { eve, storedBrand } from './brand.ts'
import { ada, ask, askAdmin, askToken, issuedPartner, json, partner } from './partner.ts'

/** Names another database as that of an account, as the end of a move does, without its rows. */
async function renameDatabase(account: string, binding: 'DB' | 'DB_2') {
  await env.DB.prepare('update accounts set binding = ?, version = version + 1 where id = ?')
    .bind(binding, account)
    .run()
}

const customersIn = async (binding: 'DB' | 'DB_2') =>
  (await env[binding].prepare('select customer_id from customers').all()).results

async function consume(queue: string, body: unknown) {
  const messages = [{ id: 'm', timestamp: new Date(), attempts: 1, body }]
  const batch = createMessageBatch<unknown>(queue, messages)
  const context = createExecutionContext()
  await worker.queue(batch, env, context)
  await waitOnExecutionContext(context)
  return getQueueResult(batch, context)
}

describe('what names the database of an account follows it', () => {
  test('tokens and credentials of before, and their objects', async () => {
    const acme = await issuedPartner('forex', { affiliates: [] })
    const casino = await storedBrand()
    const path = `accounts/${acme.account}/affiliates`
    await askAdmin(path, 'PUT', [{ affiliate_id: 'a' }])
    const { affiliate_key } = await json(askAdmin(`${path}/a/keys`, 'POST', { name: 'Tracker' }))
    for (const { account } of [acme, casino]) {
      await renameDatabase(account, 'DB_2')
      await askAdmin(`accounts/${account}`, 'PATCH', {})
    }
    await env.DB_2.prepare('insert into affiliates (account, affiliate_id) values (?, ?)')
      .bind(acme.account, 'a')
      .run()

    expect((await acme.post('customers', [ada])).status).toBe(200)
    const { client_id, client_secret } = acme
    const grant = { grant_type: 'client_credentials', client_id, client_secret }
    const { access_token } = await json(askToken(grant))
    const again = await ask('/api/v1/forex/customers', {
      method: 'POST',
      headers: { Authorization: `Bearer ${access_token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify([{ ...ada, customer_id: 'second' }]),
    })
    expect(again.status).toBe(200)
    expect((await casino.post('customers', [eve])).status).toBe(200)
    expect(await customersIn('DB')).toEqual([])
    expect((await customersIn('DB_2')).length).toBe(3)
    await env.DB.prepare('delete from affiliates').run()
    const me = await ask('/affiliate/v1/me', {
      headers: { Authorization: `Bearer ${affiliate_key}` },
    })
    expect(me.status).toBe(200)
  })

  test('settings that an object stored before they named the database leave the grant its own', async () => {
    const acme = await partner('forex', { binding: 'DB_2' })
    const jti = JSON.parse(atob(acme.access_token.split('.')[1]!)).jti
    const object = env.TOKEN_GATE.getByName(jti)
    const { binding: _, ...settings } = await runInDurableObject(
      object,
      (_instance, { storage }) => storage.kv.get<Grant>('grant')!,
    )
    await object.change({ ...settings, version: settings.version + 1, name: 'New' } as Grant)
    expect((await acme.post('customers', [ada])).status).toBe(200)
    expect((await customersIn('DB_2')).length).toBe(1)
  })

  test('a click that was queued before', async () => {
    await partner('forex', { account: 'acme', binding: 'DB_2' })
    const click = {
      link_id: 'abcdefgh',
      click_id: 'abcdefghijkl',
      clicked_at: Date.now(),
      subs: {},
    }
    await consume('tributary-clicks', { account: 'acme', binding: 'DB', ...click })
    const { results } = await env.DB_2.prepare('select account from clicks').all()
    expect(results).toEqual([{ account: 'acme' }])
  })

  test('an event of a webhook that was queued before, which is sent once', async () => {
    const { account } = await partner('forex', { binding: 'DB_2' })
    await askAdmin(`accounts/${account}/webhooks`, 'POST', { url: 'https://hooks.example/' })
    await env.DB_2.prepare(
      `insert into webhook_events values (?, 'evt_1', 'feed.late', '', 0, '{}', null)`,
    )
      .bind(account)
      .run()
    const pending = 'select account, event, endpoint, 0 as attempts from webhook_messages'
    const message = await env.DB_2.prepare(pending).first()
    for (let i = 0; i < 2; i++) await consume('tributary-webhooks', { ...message, binding: 'DB' })
    const { results } = await env.DB_2.prepare('select attempt from webhook_attempts').all()
    expect(results).toEqual([{ attempt: 1 }])
  })

  test('the job of an account that was asked for before', async () => {
    const acme = await partner('forex', { account: 'job-moved' })
    const object = env.BACKGROUND_JOBS.getByName('webhooks job-moved')
    await renameDatabase(acme.account, 'DB_2')
    await askAdmin(`accounts/${acme.account}/webhooks`, 'POST', { url: 'https://hooks.example/' })
    await env.DB_2.prepare(
      `insert into webhook_events values ('job-moved', 'evt_1', 'feed.late', '', 0, '{}', null)`,
    ).run()
    await object.request({ name: 'webhooks', account: acme.account, binding: 'DB' })
    await expect
      .poll(() =>
        env.DB_2.prepare('select queued_until > 0 as queued from webhook_messages').first(),
      )
      .toEqual({ queued: 1 })
  })
})
