import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect } from 'vitest'
import { runCron } from '../../src/jobs/cron.ts'
import { CRON_SCHEDULES } from '../../src/jobs/crons.ts'
import { overriding } from '../overriding.ts'
import { deliverJob, listing, type Sent } from '../platform/crons.ts'
import type { Fault, Place } from './faults.ts'
import { surrounded } from './platform.ts'
import { asks, type Route } from './routes.ts'
import { normalized, rememberedBy, storedOf } from './state.ts'
import { prepare, type World } from './worlds.ts'

/** Returns a platform with these faults, and a record of its calls and failures. */
export function faultyPlatform(faults: readonly Fault[] = []) {
  const seen = { calls: [] as Place[], failed: 0 }
  const { calls } = seen
  const platform = surrounded((call, act) => {
    const nth = calls.filter(({ name }) => name === call.name).length
    calls.push({ ...call, nth })
    const fault = faults.find(
      (candidate) =>
        candidate.call === call.name &&
        (candidate.lasting ? nth >= candidate.nth : nth === candidate.nth),
    )
    if (!fault) return act()
    seen.failed += 1
    return fault.happen(act, call)
  })
  return { platform, seen }
}

/** Sends a request once, with these faults. */
async function sendOnce(route: Route, world: World, faults: readonly Fault[] = []) {
  const { platform, seen } = faultyPlatform(faults)
  const context = createExecutionContext()
  const response = await asks(route, world, platform, context)
  const body = await response.text()
  await waitOnExecutionContext(context)
  return { status: response.status, headers: response.headers, body, ...seen }
}

/**
 * Runs the cron of each minute, as far as it propagates settings that live tokens have missed. Its other work visits
 * the accounts of all requests so far.
 */
export async function propagate() {
  const sent: Sent[] = []
  const platform = overriding(env as Env, { ACCOUNT_JOBS: listing(sent) })
  await runCron(CRON_SCHEDULES.propagate, platform, Date.now())
  for (const { body } of sent) if (body.job === 'propagate') await deliverJob(body, platform)
}

/** Returns the rows of an account and the storage of its objects. */
export const stateOf = async (world: World) => ({
  ...(await storedOf(world)),
  remembered: await rememberedBy(world),
})

/** Returns the objects that a request uses. Reading an object that does not exist would create it. */
const objectsOf = ({ calls }: Calm) =>
  Object.entries({
    ...{ token: /^TOKEN_GATE/, affiliate: /^TOKEN_GATE/ },
    ...{ client: /^CLIENT_GATE/, journal: /^ERASURE/ },
  }).flatMap(([name, pattern]) => (calls.some((call) => pattern.test(call.name)) ? [name] : []))

/** Creates an account for one request. */
export const worldOf = ({ vertical, records, ...its }: Route) =>
  prepare(vertical, records ?? false, its)

/** Sends a request several times without faults. Returns the responses and the state after each. */
export async function rehearse(route: Route, times = 2) {
  const world = await worldOf(route)
  const states = [await stateOf(world)]
  const responses: Awaited<ReturnType<typeof sendOnce>>[] = []
  for (let i = 0; i < times; i++) {
    responses.push(await sendOnce(route, world))
    states.push(await stateOf(world))
  }
  const answers = responses.map(({ body }) => normalized(body, world))
  return { responses, answers, states, calls: responses[0]!.calls, world }
}

export type Calm = Awaited<ReturnType<typeof rehearse>>

/** Asserts that a request that only reads has written nothing, even if calls failed. */
export async function unchanged({ states, world }: Calm) {
  expect(await stateOf(world)).toEqual(states[0])
}

/** Returns how often a call may be made: as without faults, and again for each of its faults. */
function mostCalls({ responses }: Calm, name: string, plan: readonly Fault[]): number {
  const times = (calls: Place[]) => calls.filter((call) => call.name === name).length
  const calm = Math.max(...responses.map(({ calls }) => times(calls)))
  const faults = plan.filter(({ call }) => call === name)
  // A lasting fault meets every later call: one more for each call that was retried before.
  const places = (from: number) => {
    const before = faults.filter(({ lasting, nth }) => !lasting && nth < from)
    return Math.max(calm - from + before.reduce((sum, { again }) => sum + again, 0), 1)
  }
  const retries = faults.map(({ nth, lasting, again }) => again * (lasting ? 2 * places(nth) : 1))
  return retries.reduce((sum, count) => sum + count, calm)
}

/** Sends a request, and again when its credential has requests left: the faults of a long list take more than a minute has. */
async function sendWithinLimit(...request: Parameters<typeof sendOnce>) {
  for (;;) {
    const answer = await sendOnce(...request)
    if (answer.status !== 429) return answer
    await scheduler.wait(1000 * Number(answer.headers.get('Retry-After')))
  }
}

/** Asserts the law of the sweep for a client whose tries meet these plans, and a last try without faults. */
export function endure(route: Route, calm: Calm, plans: readonly (readonly Fault[])[]) {
  const left = [...plans]
  return endureEach(route, calm, () => left.shift() ?? [])
}

/**
 * Asserts the law of the sweep. The client repeats a request until it succeeds. Each of its tries meets
 * the faults of a plan, which `nextPlan` returns for the number of times that the request has taken
 * effect. A try without faults is the last.
 */
export async function endureEach(
  route: Route,
  calm: Calm,
  nextPlan: (done: number) => readonly Fault[],
) {
  const world = route.writes ? await worldOf(route) : calm.world
  /** The number of times that the request has taken effect. */
  let done = 0
  for (let plan = nextPlan(done); ; plan = nextPlan(done)) {
    const { status, headers, body, calls } = await sendWithinLimit(route, world, plan)
    const expected = calm.responses[Math.min(done, calm.responses.length - 1)]!
    for (const { call } of plan) {
      const times = calls.filter(({ name }) => name === call).length
      // A try that took effect may have created a token, whose object is then called as well.
      const objects = call.startsWith('TOKEN_GATE') ? done + 1 : 1
      expect(times, 'at most three tries, and no retry after an overload').toBeLessThanOrEqual(
        mostCalls(calm, call, plan) * objects,
      )
    }
    if (status !== expected.status) {
      expect(status, body).toBe(503)
      expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0)
      expect(
        plan.filter(({ cured, lasting }) => !cured || lasting),
        'the retry of the service cures the fault',
      ).not.toEqual([])
    } else if (!route.writes || (route.as === 'account' && !route.twice)) {
      expect(normalized(body, world)).toBe(calm.answers[Math.min(done, calm.answers.length - 1)])
    }
    if (!route.writes) {
      // `unchanged` checks once, after all faults, that nothing was written.
      if (status !== 503) return
      if (plan.length === 0) break
      continue
    }

    const { all } = await storedOf(world)
    const isDone = status === 503 ? !route.partly && all !== calm.states[done]!.all : true
    done += Number(isDone)
    if (!route.partly) {
      expect(all.split('\n'), 'a whole number of requests took effect').toEqual(
        calm.states[done]!.all.split('\n'),
      )
    }
    if (status !== 503 || plan.length === 0) break
  }
  await propagate()
  const expected = calm.states[done]!
  expect((await storedOf(world)).lasting).toBe(expected.lasting)
  const remembered = await rememberedBy(world, objectsOf(calm))
  if (route.id !== 'getToken') expect(expected.remembered).toMatchObject(remembered)
}
