import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env, exports } from 'cloudflare:workers'
import { expect, test, vi } from 'vitest'
import { app } from '../src/app.ts'
import { ada, json, ORIGIN, partner } from './partner.ts'
import { rehearse, shaky, standing, tell, worldOf } from './sweep/endure.ts'
import { type Fault, fewOf } from './sweep/faults.ts'
import { asks, ROUTES, requestOf } from './sweep/routes.ts'

// The caller hangs up. What was under way is done wholly or not at all, and nobody else waits for it.

type Partner = Awaited<ReturnType<typeof partner>>

const init = ({ access_token }: Partner, body: BodyInit): RequestInit => ({
  method: 'POST',
  headers: { Authorization: `Bearer ${access_token}`, 'Content-Type': 'application/json' },
  body,
})
const at = `${ORIGIN}/api/v1/forex/customers`
const bulk = Array.from({ length: 100 }, (_, i) => ({ ...ada, customer_id: `c-${i}` }))

const total = async (acme: Partner) => (await json(acme.get('customers'))).meta.total

test('at any moment: all of a request is stored, or nothing, and its repeat stores it', async () => {
  const acme = await partner()
  for (let i = 0; i < 12; i++) {
    const hangUp = new AbortController()
    const own = bulk.map((one) => ({ ...one, customer_id: `${i}-${one.customer_id}` }))
    const answer = exports.default.fetch(at, {
      ...init(acme, JSON.stringify(own)),
      signal: hangUp.signal,
    })
    answer.catch(() => {})
    await scheduler.wait(i * 2)
    hangUp.abort()
    expect([i * 100, (i + 1) * 100]).toContain(await total(acme))
    const { summary } = await json(acme.post('customers', own))
    expect([summary.created, summary.unchanged].sort()).toEqual([0, 100])
    expect(await total(acme)).toBe((i + 1) * 100)
  }
})

// A visitor's click is stored by the queue, whenever it likes.
const WRITES = ROUTES.filter(({ writes, id }) => writes && id !== 'followLink')

test.each(WRITES)('at any moment of $id: likewise', async (route) => {
  const { states, said } = await rehearse(route)
  const stored = states.map(({ all }) => all)
  for (let moment = 0; moment < 10; moment++) {
    const world = await worldOf(route)
    const hangUp = new AbortController()
    const request = new Request(requestOf(route, world), { signal: hangUp.signal })
    exports.default.fetch(request).catch(() => {})
    await scheduler.wait(moment)
    hangUp.abort()
    expect(stored.slice(0, 2)).toContain((await standing(world)).all)
    const context = createExecutionContext()
    const repeated = await asks(route, world, env, context)
    await waitOnExecutionContext(context)
    expect(said.map(({ status }) => status)).toContain(repeated.status)
    await tell()
    // It took effect once or twice, which is the same but for what is made anew each time.
    const { lasting, remembered } = await standing(world)
    const once = states
      .slice(1)
      .map((one) => ({ lasting: one.lasting, remembered: one.remembered }))
    expect(once).toContainEqual({ lasting, remembered })
  }
})

test('before our own retry: that is made all the same', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0)
  const acme = await partner()
  const calm = shaky()
  const request = () => new Request(at, init(acme, JSON.stringify(bulk)))
  const first = createExecutionContext()
  await app.fetch(request(), calm.platform, first)
  await env.DB.exec('delete from customers')

  const [place] = calm.seen.calls.filter(({ name }) => name.startsWith('DB'))
  const begun = Promise.withResolvers<void>()
  const [fault] = fewOf(place!)
  const happen: Fault['happen'] = (act, call) => {
    begun.resolve()
    return fault!.happen(act, call)
  }
  const { platform, seen } = shaky([{ ...fault!, happen }])
  const context = createExecutionContext()
  app.fetch(request(), platform, context) // Nobody waits for its answer.
  await begun.promise
  await waitOnExecutionContext(context)
  expect(seen.failed).toBe(1)
  expect(await env.DB.prepare('select count(*) as n from customers').first('n')).toBe(100)
})

test("in the middle of a large body: it is refused, stores nothing, and its turn is the next one's", async () => {
  const acme = await partner()
  const cut = new ReadableStream({
    start: (controller) => controller.enqueue(new Uint8Array(1_500_000).fill(0x20)),
    pull: (controller) => controller.error(new Error('The caller has gone.')),
  })
  const context = createExecutionContext()
  const response = await app.fetch(new Request(at, init(acme, cut)), env, context)
  expect(response.status).toBe(400)
  expect(await total(acme)).toBe(0)
  const large = JSON.stringify(bulk) + ' '.repeat(1_500_000)
  expect((await acme.postText('customers', large)).status).toBe(200)
})

test('before it has read the answer: what was answered is so', async () => {
  const acme = await partner()
  const response = await exports.default.fetch(at, init(acme, JSON.stringify(bulk)))
  await response.body!.cancel()
  expect(await total(acme)).toBe(100)
})
