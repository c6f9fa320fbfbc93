import { env } from 'cloudflare:workers'

/** Returns the events of an account as they are stored, but for notices, the oldest first. */
export async function eventsOf(account: string, db = env.DB) {
  const { results } = await db
    .prepare(
      "select type, data from webhook_events where account = ? and type not like 'notice.%' order by id",
    )
    .bind(account)
    .all<{ type: string; data: string }>()
  return results.map(({ type, data }) => ({ type, ...JSON.parse(data) }))
}
