import { accountDatabase } from '../platform/db/database.ts'
import { type Place, placesOf } from '../platform/directory/accounts.ts'
import { errorName } from '../platform/errors.ts'
import { storeClicks } from './db/clicks.ts'
import type { Click } from './go.ts'

/**
 * Stores the clicks of a queue batch, each exactly once even if the queue delivers it again. Clicks of an account
 * that moves, or whose database fails, are retried; those of other accounts are stored in the meantime. An account
 * may have moved since a click was queued, so the directory says where it is now.
 */
export async function storeClickBatch(batch: MessageBatch<Click>, env: Env): Promise<void> {
  const { messages } = batch
  await retryLater(batch, messages, async () => {
    const places = await placesOf(
      env.DB,
      messages.map(({ body }) => body.account),
    )
    const byAccount = Map.groupBy(messages, ({ body }) => body.account)
    await Promise.all(
      [...byAccount].map(([id, found]) =>
        retryLater(batch, found, () => {
          const binding = places.get(id)?.binding ?? String(found[0]?.body.binding)
          return storeOf(env, { id, binding }, found)
        }),
      ),
    )
  })
}

/** Runs a task; if it fails, the queue delivers its messages again. */
async function retryLater(
  { queue }: MessageBatch<Click>,
  messages: readonly Message<Click>[],
  task: () => Promise<void>,
): Promise<void> {
  try {
    await task()
  } catch (error) {
    console.error(
      JSON.stringify({ fault: errorName(error), delayed: 'clicks', count: messages.length }),
    )
    const delaySeconds = queue.endsWith('-dead') ? DEAD_RETRY_DELAY_SECONDS : RETRY_DELAY_SECONDS
    for (const message of messages) message.retry({ delaySeconds })
  }
}

async function storeOf(
  env: Env,
  place: Pick<Place, 'id' | 'binding'>,
  messages: readonly Message<Click>[],
): Promise<void> {
  const clicks = messages.map(({ body }) => body)
  const fullDays = await storeClicks(accountDatabase(env, place), clicks)
  for (const { account, day } of fullDays) {
    console.warn(JSON.stringify({ click_limit: account, binding: place.binding, day }))
  }
  for (const message of messages) message.ack()
}

/** Ten retries at this interval outlast an outage of a minute, which D1 has had. */
const RETRY_DELAY_SECONDS = 30

/** The queue of clicks that failed ten times tries again every hour, until a queue drops messages. */
const DEAD_RETRY_DELAY_SECONDS = 3600
