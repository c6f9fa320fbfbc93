import { encode } from '../column-types.ts'
import { JSON_EACH } from '../records/sql-fragments.ts'
import { withD1Retry } from '../retry.ts'
import { clicks } from '../schema.ts'
import { bindStatement, compileStatement } from '../statement.ts'

/** A click on a link; `clicked_at` in milliseconds. */
export type StoredClick = Omit<typeof clicks.$inferSelect, 'day'>

const STORE_CLICKS = compileStatement(`
  insert into clicks (account, day, link_id, click_id, clicked_at)
  select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 from ${JSON_EACH}(:rows)
  where true on conflict do nothing`)

/** Stores clicks in one statement. A click that is stored already keeps its row. */
export async function storeClicks(db: D1Database, sent: readonly StoredClick[]): Promise<void> {
  const cells = sent.map(({ account, link_id, click_id, clicked_at }) => {
    const day = new Date(clicked_at).toISOString().slice(0, 10)
    return [account, encode(clicks.day, day), link_id, click_id, clicked_at]
  })
  const rows = JSON.stringify(cells)
  await withD1Retry(() => bindStatement(db, STORE_CLICKS, { rows }).run())
}
