import type { D1Database } from '@cloudflare/workers-types'
import { ACCOUNT, MEMBERS, upsertFrom } from './upsert.ts'

const UPSERT = upsertFrom(`
  select ?1, ${MEMBERS.map((name) => `value ->> '${name}'`).join()},
    substr(value ->> 'transaction_date', 1, 10), key, 0, 'bare', 1
  from jsonb_each(?2) where true`)

/** The bare platform: the cost of receiving JSON and storing it, without any check. */
export default {
  async fetch(request: Request, env: { DB: D1Database }): Promise<Response> {
    const records = await request.json()
    const { meta } = await env.DB.prepare(UPSERT).bind(ACCOUNT, JSON.stringify(records)).run()
    return Response.json({ written: meta.changes })
  },
}
