import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env, exports } from 'cloudflare:workers'
import { expect, test, vi } from 'vitest'
import { app } from '../../src/app.ts'
import { ada, json, ORIGIN, partner } from '../partner.ts'
import { cutEverywhere, disconnect } from '../sweep/cut.ts'
import { faultyPlatform, propagate, rehearse, stateOf, worldOf } from '../sweep/endure.ts'
import { draw, type Fault, isReading, onceOf, type Place } from '../sweep/faults.ts'
import { asks, ROUTES, requestOf } from '../sweep/routes.ts'
import { storedOf } from '../sweep/state.ts'

// The caller disconnects. The request takes effect completely or not at all, and delays no other.

type Partner = Awaited<ReturnType<typeof partner>>

const init = ({ access_token }: Partner, body: BodyInit): RequestInit => ({
  method: 'POST',
  headers: { Authorization: `Bearer ${access_token}`, 'Content-Type': 'application/json' },
  body,
})
const at = `${ORIGIN}/api/v1/forex/customers`
const bulk = Array.from({ length: 100 }, (_, i) => ({ ...ada, customer_id: `c-${i}` }))

const total = async (acme: Partner) => (await json(acme.get('customers'))).meta.total

test('a disconnect during any call stores all records or none', async () => {
  const acme = await partner()
  const stored: number[] = []
  const cuts = await cutEverywhere(async (cut, i) => {
    const records = bulk.map((record) => ({ ...record, customer_id: `${i}-${record.customer_id}` }))
    const request = new Request(at, init(acme, JSON.stringify(records)))
    if (!(await disconnect(request, cut))) return false
    stored.push((await total(acme)) - i * 100)
    const { summary } = await json(acme.post('customers', records))
    expect([summary.created, summary.unchanged].sort()).toEqual([0, 100])
    expect(await total(acme)).toBe((i + 1) * 100)
    return true
  })
  // Three calls, to the token's object, of the read and of the batch, each before and after its effect.
  expect({ cuts, stored }).toEqual({ cuts: 6, stored: [0, 0, 0, 0, 0, 100] })
})

// Without `followLink`, `startRun` and `moveAccount`: queues and Workflows store a click, and make statements and
// moves, afterwards. A reset and an evaluation of fraud rules go on where they were cut.
const ELSEWHERE = ['followLink', 'startRun', 'moveAccount']
const WRITES = ROUTES.filter(
  ({ writes, partly, id }) => writes && !partly && !ELSEWHERE.includes(id),
)

/** Returns a function that says whether a call is the first of its kind in this file. */
function newKinds() {
  const met = new Set<string>()
  return ({ name, sql }: Place) => {
    const { size } = met
    return met.add(`${name} ${sql}`).size > size
  }
}
/** Whether a call is new: no request was cut before its effect yet, or after it if it reads. */
const isNewBefore = newKinds()
const isNewRead = newKinds()

/** What a request calls behind its response: it looks for the events to send, and notes that a key was used. */
const BEHIND = /from webhook_messages|set last_used_on/

/** Returns the first call that a request makes behind its response. */
function backgroundFrom(calls: readonly Place[]): number {
  const first = calls.findIndex(({ sql }) => sql !== undefined && BEHIND.test(sql))
  return first < 0 ? calls.length : first
}

/**
 * Returns when each call of a request is cut. It is cut before its effect if no earlier request made the
 * same call: otherwise the cut after the call before it leaves the same state. It is cut after its effect
 * unless it is a read that an earlier request was cut after: a read leaves the state of the call before it.
 */
function momentsIn(calls: readonly Place[]) {
  const foreground = calls.slice(0, backgroundFrom(calls))
  const isWhole = foreground.length === calls.length
  const moments = foreground.map((call, nth) => {
    const before = nth === 0 || isNewBefore(call) ? [false] : []
    return isReading(call.sql) && !isNewRead(call) ? before : [...before, true]
  })
  return {
    count: moments.flat().length,
    momentsOf: (nth: number) =>
      moments[nth] ?? (nth === moments.length && isWhole ? [false] : null),
  }
}

// The kinds of calls that they make are the same: some of them, drawn by the day, meet most. A long run has all.
test.each(draw(WRITES, env.FUZZ_RUNS > 0 ? Infinity : 2))(
  'a disconnect during any call of $id is all or nothing',
  async (route) => {
    const { states, responses, calls } = await rehearse(route)
    const allowed = states.slice(0, 2).map(({ all }) => all)
    const once = states.slice(1).map(({ lasting, remembered }) => ({ lasting, remembered }))
    const { count, momentsOf } = momentsIn(calls)
    let world = await worldOf(route)
    let isRepeated = false
    const cuts = await cutEverywhere(async (cut, i) => {
      if (isRepeated) world = await worldOf(route)
      if (!(await disconnect(requestOf(route, world), cut))) return false
      const { all } = await storedOf(world)
      expect(allowed).toContain(all)
      // After a cut without effect the next cut repeats the request for the same account: it must get
      // as far. To create an account takes longer than the request.
      const sent = calls.slice(0, cut.nth + Number(cut.after))
      const isStoredInObject = sent.some(({ stub, name }) => stub && name !== 'TOKEN_GATE.admit')
      isRepeated = all !== allowed[0] || isStoredInObject || i === count - 1
      if (!isRepeated) return true
      const context = createExecutionContext()
      const repeated = await asks(route, world, env, context)
      await waitOnExecutionContext(context)
      expect(responses.map(({ status }) => status)).toContain(repeated.status)
      await propagate()
      // A repeat has no further effect, except for objects that each request creates.
      const { lasting, remembered } = await stateOf(world)
      expect(once).toContainEqual({ lasting, remembered })
      return true
    }, momentsOf)
    expect(cuts).toBe(count)
  },
)

test('a disconnect before a retry does not stop the retry', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0)
  const acme = await partner()
  const calm = faultyPlatform()
  const request = () => new Request(at, init(acme, JSON.stringify(bulk)))
  const first = createExecutionContext()
  await app.fetch(request(), calm.platform, first)
  await env.DB.exec('delete from customers')

  const [place] = calm.seen.calls.filter(({ name }) => name.startsWith('DB'))
  const begun = Promise.withResolvers<void>()
  const [, fault] = onceOf(place!)
  const happen: Fault['happen'] = (act, call) => {
    begun.resolve()
    return fault!.happen(act, call)
  }
  const { platform, seen } = faultyPlatform([{ ...fault!, happen }])
  const context = createExecutionContext()
  app.fetch(request(), platform, context) // The response is not awaited.
  await begun.promise
  await waitOnExecutionContext(context)
  expect(seen.failed).toBe(1)
  expect(await env.DB.prepare('select count(*) as n from customers').first('n')).toBe(100)
})

test('a truncated large body is refused and does not block the next body', async () => {
  // Requests of other tests were cut without their `finally`: their account waits for their memory.
  const acme = await partner('forex', { account: 'truncated' })
  const cut = new ReadableStream({
    type: 'bytes',
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

test('a disconnect before the response is read loses no record', async () => {
  const acme = await partner()
  const response = await exports.default.fetch(at, init(acme, JSON.stringify(bulk)))
  await response.body!.cancel()
  expect(await total(acme)).toBe(100)
})
