import { addressPostback } from './affiliates/postback-address.ts'
import { app } from './app.ts'
import { storeClickBatch } from './attribution/clicks.ts'
import type { Click } from './attribution/go.ts'
import { consoleApp, isForConsole } from './console/app.ts'
import { runCron, runJobs } from './jobs/cron.ts'
import { type MailEvent, sendNotices } from './people/send-notices.ts'
import { withLocalPort } from './platform/development.ts'
import type { QueuedNotice } from './platform/directory/outbox.ts'
import type { Job } from './platform/jobs.ts'
import { isForPortal, portalApp } from './portal/app.tsx'
import { isForNotices, noticeApp } from './portal/notice-pages.tsx'
import type { QueuedMessage } from './webhooks/causes.ts'
import { sendWebhookBatch } from './webhooks/send-batch.ts'

export { ErasureJournal } from './accounts/erasure/erasure-journal.ts'
export { StatementRun } from './jobs/statement-run.ts'
export { ClientGate } from './platform/auth/client-gate.ts'
export { TokenGate } from './platform/auth/token-gate.ts'

/** Returns the application that answers an address. */
function appFor(url: string) {
  if (isForConsole(url)) return consoleApp
  if (isForNotices(url)) return noticeApp
  return isForPortal(url) ? portalApp : app
}

type OfWebhooks = QueuedMessage | QueuedNotice | MailEvent

/** Sends the events and the notices of a queue batch. */
async function sendBatch(
  { messages }: MessageBatch<OfWebhooks>,
  env: Env,
  context: Pick<ExecutionContext, 'waitUntil'>,
): Promise<void> {
  const [events = [], notices = []] = [true, false].map((isEvent) =>
    messages.filter(({ body }) => 'event' in body === isEvent),
  )
  await sendNotices(notices as Message<QueuedNotice | MailEvent>[], env, context)
  await sendWebhookBatch(events as Message<QueuedMessage>[], env, context, addressPostback)
}

/** The consumer of each queue. The names of queues differ by environment. */
const consume = (
  batch: MessageBatch<unknown>,
  env: Env,
  context: Pick<ExecutionContext, 'waitUntil'>,
): Promise<void> => {
  if (batch.queue.includes('accounts')) return runJobs(batch as MessageBatch<Job>, env)
  return batch.queue.includes('webhooks')
    ? sendBatch(batch as MessageBatch<OfWebhooks>, env, context)
    : storeClickBatch(batch as MessageBatch<Click>, env)
}

export default {
  fetch: (request, env, context) =>
    appFor(request.url).fetch(request, withLocalPort(env, request.url), context),
  queue: consume,
  scheduled: ({ cron, scheduledTime }, env) => runCron(cron, env, scheduledTime),
} satisfies ExportedHandler<Env, unknown>
