import { env } from 'cloudflare:workers'

/** Returns the events of an account as they are stored, the oldest first. */
export async function eventsOf(account: string, db = env.DB) {
  const { results } = await db
    .prepare('select type, data from webhook_events where account = ? order by id')
    .bind(account)
    .all<{ type: string; data: string }>()
  return results.map(({ type, data }) => ({ type, ...JSON.parse(data) }))
}
