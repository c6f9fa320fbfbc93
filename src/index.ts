import type { Job } from './admin/jobs.ts'
import { addressPostback } from './affiliate/postback-address.ts'
import { app } from './app.ts'
import { consoleApp, isForConsole } from './console/app.ts'
import { withLocalPort } from './development.ts'
import { startLocalCrons } from './local-crons.ts'
import { isForPortal, portalApp } from './portal/app.tsx'
import { runCron, runJobs } from './run-cron.ts'
import { storeClickBatch } from './tracking/clicks.ts'
import type { Click } from './tracking/go.ts'
import type { QueuedMessage } from './webhooks/causes.ts'
import { sendWebhookBatch } from './webhooks/send-batch.ts'

export { AccountMove } from './account-move.ts'
export { ErasureJournal } from './admin/erasure-journal.ts'
export { ClientGate } from './auth/client-gate.ts'
export { TokenGate } from './auth/token-gate.ts'
export { BackgroundJob } from './background-job.ts'
export { StatementRun } from './statement-run.ts'

/** Returns the application that answers an address. */
function appFor(url: string) {
  if (isForConsole(url)) return consoleApp
  return isForPortal(url) ? portalApp : app
}

/** The consumer of each queue. The names of queues differ by environment. */
const consume = (
  batch: MessageBatch<unknown>,
  env: Env,
  context: Pick<ExecutionContext, 'waitUntil'>,
): Promise<void> => {
  if (batch.queue.includes('accounts')) return runJobs(batch as MessageBatch<Job>, env)
  return batch.queue.includes('webhooks')
    ? sendWebhookBatch(batch as MessageBatch<QueuedMessage>, env, context, addressPostback)
    : storeClickBatch(batch as MessageBatch<Click>, env)
}

export default {
  fetch: (request, env, context) => {
    context.waitUntil(startLocalCrons(env))
    return appFor(request.url).fetch(request, withLocalPort(env, request.url), context)
  },
  queue: consume,
  scheduled: ({ cron, scheduledTime }, env) => runCron(cron, env, scheduledTime),
} satisfies ExportedHandler<Env, unknown>
