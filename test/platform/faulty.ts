import { env } from 'cloudflare:workers'
import { surrounded } from '../sweep/platform.ts'

/** A fault: a call throws it before or after its own effect. */
export interface Fault {
  message: string
  after: boolean
  /** Runs between the fault and our own retry. */
  meanwhile?: () => Promise<unknown>
}

/** Messages of faults that a retry cures, each recognized by another part of its text. */
export const CURABLE = [
  'D1_ERROR: Network connection lost.',
  "D1_ERROR: Can't read from request stream because client disconnected.",
  'D1_ERROR: Internal error in D1 DB storage caused object to be reset.',
  'D1_ERROR: D1 DB reset because its code was updated.',
  'D1_ERROR: Cannot resolve D1 DB due to transient issue on remote node.',
  'D1_ERROR: Internal error while starting up D1 DB storage.',
]
/** Messages of faults that a retry makes worse. */
export const OVERLOAD = [
  'D1_ERROR: D1 DB is overloaded. Too many requests queued.',
  'D1_ERROR: Requests queued for too long.',
  'D1_ERROR: D1 DB exceeded its CPU time limit and was reset.',
  'D1_ERROR: D1 DB exceeded its memory limit and was reset.',
  'D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.',
  'D1_ERROR: Exceeded maximum DB size.',
]

/** Returns an environment whose calls to D1 take these faults in turn; null: the call succeeds. */
export function faulty(faults: (Fault | null)[]) {
  const seen = { tries: 0 }
  const { DB } = surrounded(async (_call, act) => {
    seen.tries += 1
    const fault = faults.shift()
    if (fault && !fault.after) throw new Error(fault.message)
    const result = await act()
    await fault?.meanwhile?.()
    if (fault) throw new Error(fault.message)
    return result
  })
  return { env: { ...env, DB } as Env, seen }
}
