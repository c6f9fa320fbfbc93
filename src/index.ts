import { scheduled } from './admin/cron.ts'
import { ALL_RESOURCES, app, resourcesOf } from './app.ts'
import { consoleApp, isForConsole } from './console/app.ts'
import { withLocalPort } from './development.ts'
import { storeClickBatch } from './tracking/clicks.ts'
import type { Click } from './tracking/go.ts'

export { ErasureJournal } from './admin/erasure-journal.ts'
export { ClientGate } from './auth/client-gate.ts'
export { TokenGate } from './auth/token-gate.ts'
export { StatementRun } from './commission/drafts/workflow.ts'

const namesOf = (vertical: string) => resourcesOf(vertical).map(({ name }) => name)

export default {
  fetch: (request, env, context) => {
    const { fetch } = isForConsole(request.url) ? consoleApp : app
    return fetch(request, withLocalPort(env, request.url), context)
  },
  queue: storeClickBatch,
  scheduled: ({ cron, scheduledTime }, env) =>
    scheduled(cron, env, { namesOf, all: ALL_RESOURCES, viewsOf: resourcesOf }, scheduledTime),
} satisfies ExportedHandler<Env, Click>
