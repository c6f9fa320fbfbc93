import { resolveDatabase } from '../db/database.ts'
import { storeClicks } from '../db/directory/clicks.ts'
import { errorName } from '../errors.ts'
import type { Click } from './go.ts'

/**
 * Stores clicks in bulk, each once however often the queue delivers it. What cannot be stored now is
 * delivered again, and keeps nothing else waiting: one database may be gone while others are there.
 */
export async function storeClickBatch(batch: MessageBatch<Click>, env: Env): Promise<void> {
  const byBinding = Map.groupBy(batch.messages, ({ body }) => body.binding)
  await Promise.all(
    [...byBinding].map(async ([binding, messages]) => {
      try {
        const clicks = messages.map(({ body }) => body)
        await storeClicks(resolveDatabase(env, binding), clicks)
        for (const message of messages) message.ack()
      } catch (error) {
        console.error(
          JSON.stringify({ fault: errorName(error), delayed: 'clicks', count: messages.length }),
        )
        for (const message of messages) message.retry({ delaySeconds: RETRY_DELAY_SECONDS })
      }
    }),
  )
}

/** D1 has been seen gone for a minute: ten tries, so far apart, outlast that. */
const RETRY_DELAY_SECONDS = 30
