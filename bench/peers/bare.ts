import type { D1Database } from '@cloudflare/workers-types'
import type { Transaction } from '../records.ts'
import { ACCOUNT, rowOf, upsertFrom, WIDTH } from './upsert.ts'

const places = Array.from({ length: WIDTH }, (_, i) => `value ->> ${i}`).join()
const UPSERT = upsertFrom(`select ?1, ${places}, key, 0, 'bare', 1 from jsonb_each(?2) where true`)

/** The bare platform: what any Worker pays that takes JSON and stores it. It checks nothing. */
export default {
  async fetch(request: Request, env: { DB: D1Database }): Promise<Response> {
    const records = (await request.json()) as Transaction[]
    const rows = JSON.stringify(records.map(rowOf))
    const { meta } = await env.DB.prepare(UPSERT).bind(ACCOUNT, rows).run()
    return Response.json({ written: meta.changes })
  },
}
