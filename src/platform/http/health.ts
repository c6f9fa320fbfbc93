import type { Context } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { databaseBindings, resolveDatabase } from '../db/database.ts'
import { findAccount } from '../directory/accounts.ts'
import { ApiError } from '../errors.ts'
import { logFault } from '../log-failure.ts'

/** For so long a probe is the answer for all, so that nobody causes load. In milliseconds. */
const PROBED_FOR_MS = 10_000

/** When a part that has not answered counts as failed, in milliseconds. */
const TIMEOUT_MS = 5000

/** The probes of this isolate: how many, when the last one began, and the parts that failed in it. */
const probes = { count: 0, at: 0, failed: [] as string[] }

/**
 * `GET /healthz`: the Worker runs. With `?deep`, the parts that every account needs answer as well: the directory, one
 * of the other databases, in turn, and an object of each gate.
 *
 * @throws ApiError `unavailable`, which names the parts that do not answer.
 */
export async function health(c: Context<AppEnv>): Promise<Response> {
  if (c.req.query('deep') === undefined) return c.json({ status: 'ok' })
  if (Date.now() >= probes.at + PROBED_FOR_MS) {
    probes.at = Date.now()
    probes.failed = await probe(c.env)
  }
  if (probes.failed.length === 0) return c.json({ status: 'ok' })
  throw new ApiError('unavailable', {
    detail: `No answer from ${probes.failed.join(', ')}.`,
    headers: { 'Retry-After': String(PROBED_FOR_MS / 1000) },
  })
}

/** Returns the bindings that do not answer. */
async function probe(env: Env): Promise<string[]> {
  const others = databaseBindings(env).filter((binding) => binding !== 'DB')
  const databases = ['DB', ...others.slice(probes.count % others.length).slice(0, 1)]
  probes.count += 1
  const read = (binding: string) => findAccount(resolveDatabase(env, binding), 'health')
  const parts: [binding: string, ask: Promise<unknown>][] = [
    ...databases.map((binding): [string, Promise<unknown>] => [binding, read(binding)]),
    ['TOKEN_GATE', env.TOKEN_GATE.getByName('health').admit()],
    ['CLIENT_GATE', env.CLIENT_GATE.getByName('health').hasEnded()],
  ]
  const late = scheduler.wait(TIMEOUT_MS).then(() => Promise.reject(new Error('timeout')))
  const failed = parts.map(async ([binding, ask]) => {
    try {
      await Promise.race([ask, late])
      return []
    } catch (error) {
      logFault(binding, error)
      return [binding]
    }
  })
  return (await Promise.all(failed)).flat()
}
