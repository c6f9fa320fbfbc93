import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import worker from '../../src/index.ts'
import type { CRON_SCHEDULES } from '../../src/jobs/crons.ts'
import type { Job } from '../../src/platform/jobs.ts'
import { overriding } from '../overriding.ts'

/** A message of the queue that crons fill, with its delay in seconds. */
export interface Sent {
  readonly body: Job
  readonly delaySeconds: number
}

/** Returns a queue that adds to a list what is sent. */
export const listing = (sent: Sent[]) => ({
  async send(body: Job, { delaySeconds = 0 }: QueueSendOptions = {}) {
    sent.push({ body, delaySeconds })
  },
  async sendBatch(messages: Iterable<MessageSendRequest<Job>>) {
    for (const { body, delaySeconds = 0 } of messages) sent.push({ body, delaySeconds })
  },
})

/** Delivers a message to the consumer. Returns whether it is to be delivered again. */
export async function deliverJob(body: Job, world: Env, attempts = 1): Promise<boolean> {
  let isRetried = false
  const message = {
    ...{ body, attempts, id: 'message', timestamp: new Date() },
    ack() {},
    retry() {
      isRetried = true
    },
  }
  const context = createExecutionContext()
  const batch = { queue: 'tributary-accounts', messages: [message] } as unknown as MessageBatch
  await worker.queue(batch, world, context)
  await waitOnExecutionContext(context)
  return isRetried
}

/**
 * Runs a cron and the jobs that it leaves to the queue, without their delays. Returns the runs of accounts that
 * wait for others of their database. A job that fails is not delivered again.
 */
export async function runCron(
  cron: (typeof CRON_SCHEDULES)[keyof typeof CRON_SCHEDULES],
  scheduledTime = Date.now(),
  world: Env = env as Env,
): Promise<Job[]> {
  const sent: Sent[] = []
  const platform = overriding(world, { ACCOUNT_JOBS: listing(sent) })
  await worker.scheduled({ cron, scheduledTime } as ScheduledController, platform)
  const waiting: Job[] = []
  for (let next = sent.shift(); next; next = sent.shift()) {
    const { body } = next
    const before = sent.length
    await deliverJob(body, platform)
    if (body.job === 'morning') waiting.push(...sent.splice(before).map((one) => one.body))
  }
  return waiting
}
