import { runJob, scheduled } from './admin/cron.ts'
import { CRON_SCHEDULES } from './admin/crons.ts'
import type { Job } from './admin/jobs.ts'
import { logFailure } from './admin/log-failure.ts'
import { queuePostbacks, readPostbackCauses } from './affiliate/postback-causes.ts'
import { ALL_RESOURCES, resourcesOf } from './app.ts'
import { CRON_QUERIES, limitQueries } from './db/query-limit.ts'
import { errorName } from './errors.ts'

const namesOf = (vertical: string) => resourcesOf(vertical).map(({ name }) => name)

const RESOURCES = { namesOf, all: ALL_RESOURCES, viewsOf: resourcesOf }

/** The schedules of all crons. */
export const ALL_CRONS: readonly string[] = Object.values(CRON_SCHEDULES)

/** Returns an environment with the queries of one invocation. If they do not suffice, the log says so. */
const limited = (env: Env, what: object): Env =>
  limitQueries(env, CRON_QUERIES, () =>
    console.error(JSON.stringify({ fault: 'too_many_queries', ...what, limit: CRON_QUERIES })),
  )

/** Runs a cron that is due at `time`, in milliseconds. What visits accounts or databases goes to the queue. */
export const runCron = (cron: string, env: Env, time: number): Promise<void> =>
  scheduled(cron, limited(env, { cron }), time)

/** Does a job with the queries of its own invocation. */
async function run(env: Env, job: Job): Promise<void> {
  if (job.job === 'postbacks') return readPostbackCauses(env, job)
  // First: the other work of a database takes longer.
  if (job.job === 'minute') {
    await logFailure(job.binding, () => queuePostbacks(env, job.binding, job.at))
  }
  return runJob(env, job, RESOURCES)
}

/** The jobs that no later cron repeats soon: their messages are delivered again after a failure. */
const REPEATED: ReadonlySet<Job['job']> = new Set(['list', 'feeds', 'morning'])

/** The first pause after a failure and the longest, in seconds. With 40 retries they last 18 hours. */
const PAUSE_SECONDS = { first: 60, longest: 1800 }

/**
 * Does the jobs of a queue batch. A job that fails is delivered again, or is left to the next cron. A batch has
 * one message, so that each has the queries of an invocation.
 */
export async function runJobs(batch: MessageBatch<Job>, env: Env): Promise<void> {
  for (const message of batch.messages) {
    const { job, at: _, accounts: __, ...what } = { accounts: [], ...message.body }
    try {
      await run(limited(env, { job, ...what }), message.body)
      message.ack()
    } catch (error) {
      console.error(JSON.stringify({ fault: errorName(error), job, ...what }))
      const { first, longest } = PAUSE_SECONDS
      if (!REPEATED.has(job)) message.ack()
      else message.retry({ delaySeconds: Math.min(first * message.attempts, longest) })
    }
  }
}
