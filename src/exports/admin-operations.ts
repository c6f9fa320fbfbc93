import { resolveDatabase } from '../platform/db/database.ts'
import type { Account } from '../platform/db/schema.ts'
import { withAudit } from '../platform/directory/audit.ts'
import { ApiError, unavailable } from '../platform/errors.ts'
import { operation } from '../platform/http/operation.ts'
import { sendJobs } from '../platform/jobs.ts'
import { time } from '../platform/validation/answer-fields.ts'
import { component, described } from '../platform/validation/described.ts'
import { member } from '../platform/validation/fields.ts'
import { hasFiles } from './db/files.ts'
import { AFTER_RUNS_SECONDS } from './limits.ts'

export const startExport = operation({
  topic: 'monitoring',
  id: 'startExport',
  shows: 'account',
  method: 'POST',
  path: '/exports',
  role: 'manager',
  status: 202,
  words: described(() => ({
    description:
      'Starts the export of an account now. It reads every month again and writes the files that are missing; those of unchanged months stay as they are.',
    answer: component('StartedExport', () => ({
      started_at: member(time, 'When the export was started.'),
    })),
    errors: ['conflict'],
    command: { name: 'exports start' },
  })),
  async run({ env, db, actor, account: { id, exports, disabled } }) {
    if (exports === 'off' || disabled === 1) {
      const detail =
        disabled === 1
          ? 'The account is disabled, so it is not exported.'
          : 'The account is not exported. Set `exports` first.'
      throw new ApiError('conflict', { detail })
    }
    const at = Date.now()
    try {
      await env.ACCOUNT_JOBS.send({ job: 'export', account: id, at, isWhole: true })
    } catch (error) {
      throw unavailable(error)
    }
    await withAudit(db, { actor, action: 'export.start', account: id, details: {} }, [])
    return { started_at: new Date(at).toISOString() }
  },
})

/** Queues the export of an account after its statements are computed, or the end of one that was turned off. */
export async function queueMorningExport(
  env: Env,
  { id, binding, exports, disabled }: Account,
  at: number,
): Promise<void> {
  if (disabled === 1) return
  if (exports === 'off' && !(await hasFiles(resolveDatabase(env, binding), id))) return
  await sendJobs(env, [{ job: 'export', account: id, at }], () => AFTER_RUNS_SECONDS)
}
