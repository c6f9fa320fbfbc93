import { env } from 'cloudflare:workers'
import { before } from './watched.ts'

/** Faults to come: each call takes the first, and throws it before or after its own effect. */
export interface Fault {
  message: string
  after: boolean
  /** What happens between the fault and our next try. */
  meanwhile?: () => Promise<unknown>
}

/** Faults that another try cures, each known by another part of what it says. */
export const CURABLE = [
  'D1_ERROR: Network connection lost.',
  "D1_ERROR: Can't read from request stream because client disconnected.",
  'D1_ERROR: Internal error in D1 DB storage caused object to be reset.',
  'D1_ERROR: D1 DB reset because its code was updated.',
  'D1_ERROR: Cannot resolve D1 DB due to transient issue on remote node.',
  'D1_ERROR: Internal error while starting up D1 DB storage.',
]
/** Faults that another try makes worse, likewise. */
export const OVERLOAD = [
  'D1_ERROR: D1 DB is overloaded. Too many requests queued.',
  'D1_ERROR: Requests queued for too long.',
  'D1_ERROR: D1 DB exceeded its CPU time limit and was reset.',
  'D1_ERROR: D1 DB exceeded its memory limit and was reset.',
  'D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.',
  'D1_ERROR: Exceeded maximum DB size.',
]

/** A world in which calls to D1 fail, one after the other but for those left out, and are real but for that. */
export function faulty(faults: (Fault | null)[]) {
  const seen = { tries: 0 }
  const failing =
    <A extends unknown[], R>(real: (...args: A) => Promise<R>) =>
    async (...args: A) => {
      seen.tries += 1
      const fault = faults.shift()
      if (fault && !fault.after) throw new Error(fault.message)
      const result = await real(...args)
      await fault?.meanwhile?.()
      if (fault) throw new Error(fault.message)
      return result
    }
  const statement = (real: D1PreparedStatement): D1PreparedStatement =>
    before(real, {
      bind: (...values: unknown[]) => statement(real.bind(...values)),
      all: failing(() => real.all()),
      first: failing(() => real.first()),
      raw: failing(() => real.raw()),
    })
  const DB = before(env.DB, {
    prepare: (text: string) => statement(env.DB.prepare(text)),
    withSession: (bookmark: string) => {
      const session = env.DB.withSession(bookmark)
      return before(session, {
        batch: failing((list: D1PreparedStatement[]) => session.batch(list)),
        prepare: (text: string) => statement(session.prepare(text)),
      })
    },
  })
  return { env: { ...env, DB } as Env, seen }
}
