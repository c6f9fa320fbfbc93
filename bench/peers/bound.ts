import type { D1Database } from '@cloudflare/workers-types'
import { readItems } from '../../src/ingest/read-items.ts'
import { forex } from '../../src/ingest/trading/forex.ts'
import type { Grant } from '../../src/platform/auth/grant.ts'
import { readBody } from '../../src/platform/http/body.ts'
import { parseJson } from '../../src/platform/http/json.ts'
import { MEMBERS, upsertFrom } from './upsert.ts'

const resource = forex.resources.find(({ name }) => name === 'transactions')!
const NAMES = resource.recordTable.cells.map(({ name }) => name)

const UPSERT = upsertFrom(`
  select ?1, ${[...MEMBERS, 'day'].map((name) => `value ->> ${1 + NAMES.indexOf(name)}`).join()},
    key, 0, 'bound', 1
  from jsonb_each(?2) where true`)

/** What this platform allows: our body and validation, and one upsert in one trip, without gate, guard and log. */
export default {
  async fetch(request: Request, env: { DB: D1Database }): Promise<Response> {
    const account = new URL(request.url).searchParams.get('account') ?? ''
    const zones = { vertical: 'forex', time_zone: 'UTC', book_zone: 'UTC' }
    const grant = { account, ...zones, statuses: [] } as unknown as Grant
    const body = await readBody(request, account)
    try {
      const { items } = await readItems(parseJson(body.takeText(), body.mayBeInexact), resource, {
        env: env as unknown as Env,
        grant,
        id: 'bound',
        receivedAt: Date.now(),
        dryRun: false,
        preferences: { lenient: false, minimal: true, applied: '' },
        idempotencyKey: null,
      })
      const rows = JSON.stringify(items.map(({ cells }) => cells))
      const { meta } = await env.DB.prepare(UPSERT).bind(account, rows).run()
      return Response.json({ written: meta.changes })
    } finally {
      body.memory.release()
    }
  },
}
