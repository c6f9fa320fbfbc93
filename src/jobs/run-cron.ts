import { queuePostbacks, readPostbackCauses } from '../affiliates/postback-causes.ts'
import { runExport } from '../exports/run.ts'
import { resourcesOf } from '../ingest/verticals.ts'
import { CRON_QUERIES, limitQueries } from '../platform/db/query-limit.ts'
import { errorName } from '../platform/errors.ts'
import type { Job } from '../platform/jobs.ts'
import { logFailure } from '../platform/log-failure.ts'
import { runJob, scheduled } from './cron.ts'

/**
 * Runs a cron that is due at `time`, in milliseconds. What visits accounts or databases goes to the queue. If the
 * queries of an invocation do not suffice, the log says so.
 */
export function runCron(cron: string, env: Env, time: number): Promise<void> {
  const limited = limitQueries(env, CRON_QUERIES, () =>
    console.error(JSON.stringify({ fault: 'too_many_queries', cron, limit: CRON_QUERIES })),
  )
  return scheduled(cron, limited, time)
}

/** Does a job with the queries of its own invocation. */
async function run(env: Env, job: Job): Promise<void> {
  if (job.job === 'postbacks') return readPostbackCauses(env, job)
  if (job.job === 'export') return runExport(env, job, resourcesOf)
  // First: the other work of a database takes longer.
  if (job.job === 'minute') {
    await logFailure(job.binding, () => queuePostbacks(env, job.binding, job.at))
  }
  return runJob(env, job)
}

/** The jobs that a later cron repeats soon. Messages of all others are delivered again after a failure. */
const TRANSIENT: ReadonlySet<Job['job']> = new Set([
  'postbacks',
  'propagate',
  'minute',
  'move',
  'steps',
  'expire',
])

/** The first pause after a failure and the longest, in seconds. With 40 retries they last 18 hours. */
const PAUSE_SECONDS = { first: 60, longest: 1800 }

/**
 * Does the jobs of a queue batch. A job that fails is delivered again, or is left to the next cron. A batch has
 * one message, so that each has the queries of an invocation.
 */
export async function runJobs(batch: MessageBatch<Job>, env: Env): Promise<void> {
  for (const message of batch.messages) {
    const { job, binding, account }: Named = message.body
    const limited = limitQueries(env, CRON_QUERIES, () => {
      const [fault, limit] = ['too_many_queries', CRON_QUERIES]
      console.error(JSON.stringify({ fault, job, binding, account, limit }))
    })
    try {
      await run(limited, message.body)
      message.ack()
    } catch (error) {
      console.error(JSON.stringify({ fault: errorName(error), job, binding, account }))
      const { first, longest } = PAUSE_SECONDS
      if (TRANSIENT.has(job)) message.ack()
      else message.retry({ delaySeconds: Math.min(first * message.attempts, longest) })
    }
  }
}

/** What the log says of a job: its database and its account, if it has one. */
interface Named {
  readonly job: Job['job']
  readonly binding?: string
  readonly account?: string
}
