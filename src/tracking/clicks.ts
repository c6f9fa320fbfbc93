import { resolveDatabase } from '../db/database.ts'
import { storeClicks } from '../db/directory/clicks.ts'
import { errorName } from '../errors.ts'
import type { Click } from './go.ts'

/**
 * Stores the clicks of a queue batch, each exactly once even if the queue delivers it again. Clicks
 * whose database fails are retried; those of other databases are stored in the meantime.
 */
export async function storeClickBatch(batch: MessageBatch<Click>, env: Env): Promise<void> {
  const byBinding = Map.groupBy(batch.messages, ({ body }) => body.binding)
  await Promise.all(
    [...byBinding].map(async ([binding, messages]) => {
      try {
        const clicks = messages.map(({ body }) => body)
        const fullDays = await storeClicks(resolveDatabase(env, binding), clicks)
        for (const { account, day } of fullDays) {
          console.warn(JSON.stringify({ click_limit: account, binding, day }))
        }
        for (const message of messages) message.ack()
      } catch (error) {
        console.error(
          JSON.stringify({ fault: errorName(error), delayed: 'clicks', count: messages.length }),
        )
        const delaySeconds = batch.queue.endsWith('-dead')
          ? DEAD_RETRY_DELAY_SECONDS
          : RETRY_DELAY_SECONDS
        for (const message of messages) message.retry({ delaySeconds })
      }
    }),
  )
}

/** Ten retries at this interval outlast an outage of a minute, which D1 has had. */
const RETRY_DELAY_SECONDS = 30

/** The queue of clicks that failed ten times tries again every hour, until a queue drops messages. */
const DEAD_RETRY_DELAY_SECONDS = 3600
