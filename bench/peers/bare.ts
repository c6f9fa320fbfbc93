import type { D1Database } from '@cloudflare/workers-types'
import { ACCOUNT, SAID, upsertFrom } from './upsert.ts'

const UPSERT = upsertFrom(`
  select ?1, ${SAID.map((name) => `value ->> '${name}'`).join()},
    substr(value ->> 'transaction_date', 1, 10), key, 0, 'bare', 1
  from jsonb_each(?2) where true`)

/** The bare platform: what any Worker pays that takes JSON and stores it. It checks nothing. */
export default {
  async fetch(request: Request, env: { DB: D1Database }): Promise<Response> {
    const records = await request.json()
    const { meta } = await env.DB.prepare(UPSERT).bind(ACCOUNT, JSON.stringify(records)).run()
    return Response.json({ written: meta.changes })
  },
}
