import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env, exports } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import worker from '../../src/index.ts'
import { storedBrand as brand } from '../brand.ts'
import { json, ORIGIN } from '../partner.ts'

// What callers meet where an isolate, which has 128 MiB, is short of memory: others are answered, a refusal
// says when to come again, and memory comes back.

const KIB = 1024
const MIB = 1024 * KIB

/** What the pages of `wideBrand` have at least, in bytes. */
const PAGE_BYTES = 130 * 14 * KIB

type Brand = Awaited<ReturnType<typeof brand>>

/** Returns customers of 14 KiB each. */
const wideBulk = (length: number) =>
  Array.from({ length }, (_, i) => ({ customerId: `u-${i}`, note: 'n'.repeat(14 * KIB) }))

/** Creates a brand with 130 customers whose page has almost 2 MiB. */
async function wideBrand(account: string) {
  const acme = await brand({ account })
  expect((await acme.post('customers', wideBulk(130))).status).toBe(200)
  return acme
}

/** Asks for a page, and leaves its body unread. */
const askUnread = ({ brand_token }: Brand, query = 'per_page=130') =>
  exports.default.fetch(`${ORIGIN}/tracking/events/customers?${query}`, {
    headers: { 'x-api-key': brand_token },
  })

/** Returns how many bytes of a body can still be read; 0 if the connection was cut. */
const receivedBytes = (response: Response) =>
  response.arrayBuffer().then(
    ({ byteLength }) => byteLength,
    () => 0,
  )

/** Sends a body, a space a second, under a Brand Token: its end comes when it is asked for. */
function sendEndless(token: string) {
  const end = Promise.withResolvers<Uint8Array>()
  const space = () => scheduler.wait(1000).then(() => null)
  const body = new ReadableStream({
    type: 'bytes',
    async pull(controller) {
      const last = await Promise.race([end.promise, space()])
      controller.enqueue(last ?? new TextEncoder().encode(' '))
      if (!last) return
      controller.close()
      controller.byobRequest?.respond(0)
    },
  })
  const request = new Request<unknown, IncomingRequestCfProperties>(
    `${ORIGIN}/tracking/events/customers`,
    { method: 'POST', headers: { 'x-api-key': token, 'Content-Type': 'application/json' }, body },
  )
  return { request, end: (text = ' ') => end.resolve(new TextEncoder().encode(text)) }
}

describe('answers that nobody reads', () => {
  test('keep no other account waiting, and small answers of their own account neither', async () => {
    const acme = await wideBrand('acme')
    const unread = [askUnread(acme), askUnread(acme), askUnread(acme)]
    await unread[0]
    const small = await askUnread(acme, 'per_page=1')
    const other = await askUnread(await wideBrand('other'))
    expect([small.status, await receivedBytes(small)]).toEqual([200, expect.any(Number)])
    expect([other.status, (await receivedBytes(other)) > PAGE_BYTES]).toEqual([200, true])
    for (const response of unread) await (await response).body?.cancel()
  })

  test('return their memory when their client has gone', async () => {
    const acme = await wideBrand('acme')
    for (let n = 0; n < 12; n++) {
      const response = await askUnread(acme)
      expect(response.status).toBe(200)
      await response.body!.cancel()
    }
  })
})

describe('large bodies', () => {
  test('of one account at once wait for each other and are all stored', async () => {
    const acme = await brand()
    const note = 'n'.repeat(1000)
    const bulk = (n: number) =>
      Array.from({ length: 4 }, (_, i) => ({
        customerId: `${n}-${i}`,
        note,
        pad: ' '.repeat(13_000),
      }))
    const send = (n: number) => acme.post('customers', bulk(n))
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => send(n)))
    expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(200))
    const { meta } = await json(acme.get('customers'))
    expect(meta.total).toBe(120)
  })

  test('that never end are answered before their end if the credentials are wrong', async () => {
    const { request, end } = sendEndless('wrong')
    const context = createExecutionContext()
    const response = await worker.fetch(request, env, context)
    expect(response.status).toBe(401)
    const first = await response.body!.getReader().read()
    expect(new TextDecoder().decode(first.value)).toContain('invalid_api_key')
    end()
    await waitOnExecutionContext(context)
  })

  test('that never end hold up no other account', async () => {
    const acme = await brand({ account: 'acme' })
    const silent = Array.from({ length: 8 }, () => sendEndless(acme.brand_token))
    const contexts = silent.map(() => createExecutionContext())
    const answers = silent.map(({ request }, n) => worker.fetch(request, env, contexts[n]!))
    const other = await brand({ account: 'other' })
    expect((await other.post('customers', [{ customerId: 'a' }])).status).toBe(200)
    for (const { end } of silent) end()
    for (const answer of answers) expect([400, 408, 503]).toContain((await answer).status)
    await Promise.all(contexts.map(waitOnExecutionContext))
  })

  test('that stall are stored once they end', async () => {
    const acme = await brand()
    const { request, end } = sendEndless(acme.brand_token)
    const context = createExecutionContext()
    const answer = worker.fetch(request, env, context)
    await scheduler.wait(6500)
    end(JSON.stringify([{ customerId: 'a' }]))
    expect((await answer).status).toBe(200)
    await waitOnExecutionContext(context)
  })

  test('beyond 8 MiB are refused, and the next body is accepted', async () => {
    const acme = await brand()
    const refused = await acme.post('customers', [{ customerId: 'a', note: 'n'.repeat(9 * MIB) }])
    expect(refused.status).toBe(413)
    expect((await acme.post('customers', [{ customerId: 'a' }])).status).toBe(200)
  })
})
