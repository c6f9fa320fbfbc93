import { scheduled } from './admin/cron.ts'
import { ALL_RESOURCES, app, resourcesOf } from './app.ts'
import { consoleApp, isForConsole } from './console/app.ts'
import { withLocalPort } from './development.ts'
import { storeClickBatch } from './tracking/clicks.ts'
import type { Click } from './tracking/go.ts'
import type { QueuedMessage } from './webhooks/queue-due.ts'
import { sendWebhookBatch } from './webhooks/send-batch.ts'

export { ErasureJournal } from './admin/erasure-journal.ts'
export { ClientGate } from './auth/client-gate.ts'
export { TokenGate } from './auth/token-gate.ts'
export { StatementRun } from './commission/drafts/workflow.ts'

const namesOf = (vertical: string) => resourcesOf(vertical).map(({ name }) => name)

/** The consumer of each queue. The names of queues differ by environment. */
const consume = (batch: MessageBatch<unknown>, env: Env): Promise<void> =>
  batch.queue.includes('webhooks')
    ? sendWebhookBatch(batch as MessageBatch<QueuedMessage>, env)
    : storeClickBatch(batch as MessageBatch<Click>, env)

export default {
  fetch: (request, env, context) => {
    const { fetch } = isForConsole(request.url) ? consoleApp : app
    return fetch(request, withLocalPort(env, request.url), context)
  },
  queue: consume,
  scheduled: ({ cron, scheduledTime }, env) =>
    scheduled(cron, env, { namesOf, all: ALL_RESOURCES, viewsOf: resourcesOf }, scheduledTime),
} satisfies ExportedHandler<Env, unknown>
