import type { D1Database } from '@cloudflare/workers-types'
import type { Transaction } from '../records.ts'
import { MEMBERS, timeAndDay, upsertFrom } from './upsert.ts'

const UPSERT = upsertFrom(`
  select ?1, ${MEMBERS.map((name) => `value ->> '${name}'`).join()},
    value ->> 'day', key, 0, 'bare', 1
  from jsonb_each(?2) where true`)

/** The bare platform: the cost of receiving JSON and storing it, without any check. */
export default {
  async fetch(request: Request, env: { DB: D1Database }): Promise<Response> {
    const account = new URL(request.url).searchParams.get('account')
    const records = (await request.json()) as Transaction[]
    const rows = records.map((record) => ({ ...record, ...timeAndDay(record.transaction_date) }))
    const { meta } = await env.DB.prepare(UPSERT).bind(account, JSON.stringify(rows)).run()
    return Response.json({ written: meta.changes })
  },
}
