import { databaseOf } from '../auth/database.ts'
import { storeClicks } from '../db/clicks.ts'
import type { Click } from './go.ts'

/**
 * Stores clicks in bulk, each once however often the queue delivers it. A batch that fails is
 * delivered again.
 */
export async function collectClicks(batch: MessageBatch<Click>, env: Env): Promise<void> {
  const byBinding = Map.groupBy(batch.messages, ({ body }) => body.binding)
  await Promise.all(
    [...byBinding].map(([binding, messages]) =>
      storeClicks(
        databaseOf(env, binding),
        messages.map(({ body }) => body),
      ),
    ),
  )
}
