import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect } from 'vitest'
import { CRON_SCHEDULES } from '../../src/admin/crons.ts'
import worker from '../../src/index.ts'
import type { Fault, Place } from './faults.ts'
import { surrounded } from './platform.ts'
import { asks, type Route } from './routes.ts'
import { rememberedBy, shown, storedOf } from './state.ts'
import { prepare, type World } from './worlds.ts'

/** Returns a platform with these faults, and a record of its calls and failures. */
export function shaky(faults: readonly Fault[] = []) {
  const seen = { calls: [] as Place[], failed: 0 }
  const { calls } = seen
  const platform = surrounded((call, act) => {
    const nth = calls.filter(({ name }) => name === call.name).length
    calls.push({ ...call, nth })
    const fault = faults.find(
      (one) => one.call === call.name && (one.lasting ? nth >= one.nth : nth === one.nth),
    )
    if (!fault) return act()
    seen.failed += 1
    return fault.happen(act, call)
  })
  return { platform, seen }
}

/** Sends a request once, with these faults. */
async function asked(route: Route, world: World, faults: readonly Fault[] = []) {
  const { platform, seen } = shaky(faults)
  const context = createExecutionContext()
  const response = await asks(route, world, platform, context)
  const body = await response.text()
  await waitOnExecutionContext(context)
  return { status: response.status, headers: response.headers, body, ...seen }
}

/** Runs the cron of each minute, which propagates settings that live tokens have missed. */
export const tell = () =>
  worker.scheduled({ cron: CRON_SCHEDULES.propagate, scheduledTime: Date.now() } as never, env)

/** Returns the rows of an account and the storage of its objects. */
export const standing = async (world: World) => ({
  ...(await storedOf(world)),
  remembered: await rememberedBy(world),
})

/** Returns the objects that a request uses. Reading an object that does not exist would create it. */
const askedOf = ({ calls }: Calm) =>
  Object.entries({ token: /^TOKEN_GATE/, client: /^CLIENT_GATE/, journal: /^ERASURE/ }).flatMap(
    ([name, pattern]) => (calls.some((call) => pattern.test(call.name)) ? [name] : []),
  )

/** Creates an account for one request. */
export const worldOf = ({ vertical, records, ...its }: Route) =>
  prepare(vertical, records ?? false, its)

/** Sends a request several times without faults. Returns the responses and the state after each. */
export async function rehearse(route: Route, times = 2) {
  const world = await worldOf(route)
  const states = [await standing(world)]
  const said: Awaited<ReturnType<typeof asked>>[] = []
  for (let i = 0; i < times; i++) {
    said.push(await asked(route, world))
    states.push(await standing(world))
  }
  const answers = said.map(({ body }) => shown(body, world))
  return { said, answers, states, calls: said[0]!.calls, world }
}

export type Calm = Awaited<ReturnType<typeof rehearse>>

/** Asserts that a request that only reads has written nothing, whatever failed. */
export async function unchanged({ states, world }: Calm) {
  expect(await standing(world)).toEqual(states[0])
}

/** Returns how often a call may be made: as without faults, and again for each of its faults. */
function mostOf({ said }: Calm, name: string, plan: readonly Fault[]): number {
  const times = (calls: Place[]) => calls.filter((one) => one.name === name).length
  const calm = Math.max(...said.map(({ calls }) => times(calls)))
  const met = plan.filter(({ call }) => call === name)
  // A lasting fault meets every later call: one more for each call that was retried before.
  const places = (from: number) => {
    const before = met.filter(({ lasting, nth }) => !lasting && nth < from)
    return Math.max(calm - from + before.reduce((sum, { again }) => sum + again, 0), 1)
  }
  const again = met.map(({ nth, lasting, again }) => again * (lasting ? 2 * places(nth) : 1))
  return again.reduce((sum, one) => sum + one, calm)
}

/**
 * Asserts the law of the sweep. The client repeats a request until it succeeds; each of its tries meets
 * the faults planned for it, and the last one meets none.
 */
export async function endure(route: Route, calm: Calm, plans: readonly (readonly Fault[])[]) {
  const world = route.writes ? await worldOf(route) : calm.world
  /** The number of times that the request has taken effect. */
  let done = 0
  for (const plan of [...plans, []]) {
    const { status, headers, body, calls } = await asked(route, world, plan)
    const expected = calm.said[Math.min(done, calm.said.length - 1)]!
    for (const { call } of plan) {
      const times = calls.filter(({ name }) => name === call).length
      expect(times, 'three tries, and none after an overload').toBeLessThanOrEqual(
        mostOf(calm, call, plan),
      )
    }
    if (status !== expected.status) {
      expect(status, body).toBe(503)
      expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0)
      expect(
        plan.filter(({ cured, lasting }) => !cured || lasting),
        'our own retry cures it',
      ).not.toEqual([])
    } else if (!route.writes || (route.as === 'account' && !route.twice)) {
      expect(shown(body, world)).toBe(calm.answers[Math.min(done, calm.answers.length - 1)])
    }
    if (!route.writes) {
      // `unchanged` checks once, after all faults, that nothing was written.
      if (status !== 503) return
      continue
    }

    const { all } = await storedOf(world)
    const isDone = status === 503 ? all !== calm.states[done]!.all : true
    done += Number(isDone)
    expect(all.split('\n'), 'a whole number of requests took effect').toEqual(
      calm.states[done]!.all.split('\n'),
    )
    if (status !== 503) break
  }
  await tell()
  const expected = calm.states[done]!
  expect((await storedOf(world)).lasting).toBe(expected.lasting)
  const remembered = await rememberedBy(world, askedOf(calm))
  if (route.id !== 'getToken') expect(expected.remembered).toMatchObject(remembered)
}
