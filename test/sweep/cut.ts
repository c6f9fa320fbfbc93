import { createExecutionContext } from 'cloudflare:test'
import { app } from '../../src/app.ts'
import { surrounded } from './platform.ts'

/** A call to the platform during which the caller disconnects, before or after its effect. */
export interface Cut {
  nth: number
  after: boolean
}

/**
 * Sends a request whose caller disconnects, in the worst case: the runtime cancels the invocation at
 * once, so that no await in it is ever resolved. Calls that were sent before take effect all the
 * same. Returns false if the request was answered before its nth call.
 */
export async function disconnect(request: Request, { nth, after }: Cut): Promise<boolean> {
  const reached = Promise.withResolvers<boolean>()
  const canceled = new Promise<never>(() => {})
  let calls = 0
  const platform = surrounded(async (_call, act) => {
    const current = calls++
    if (current < nth) return act()
    if (current === nth) {
      // The call may fail because another request came first.
      if (after) await act().catch(() => {})
      reached.resolve(true)
    }
    return canceled
  })
  const response = Promise.resolve(app.fetch(request, platform, createExecutionContext()))
  return Promise.race([reached.promise, response.then(() => false)])
}

/** Disconnects before and after the effect of each call. */
const ALL: (nth: number) => readonly boolean[] | null = () => [false, true]

/**
 * Disconnects during every call of a request until the request is answered before the cut. `momentsOf`
 * returns whether a call is cut after its effect, before it, both or neither; null ends the cuts. Returns
 * the number of cuts.
 */
export async function cutEverywhere(
  run: (cut: Cut, i: number) => Promise<boolean>,
  momentsOf = ALL,
): Promise<number> {
  let cuts = 0
  for (let nth = 0; ; nth++) {
    const moments = momentsOf(nth)
    if (!moments) return cuts
    for (const after of moments) {
      if (!(await run({ nth, after }, cuts))) return cuts
      cuts += 1
    }
  }
}
