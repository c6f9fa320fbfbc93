import { JSON_EACH } from '../records/sql-fragments.ts'
import { withD1Retry } from '../retry.ts'

/** One visitor who followed a link; `clicked_at` in milliseconds. */
export interface StoredClick {
  account: string
  link_id: string
  click_id: string
  clicked_at: number
}

/** Stores clicks in one statement; one that is there already stays as it is. */
export async function storeClicks(db: D1Database, clicks: readonly StoredClick[]): Promise<void> {
  const rows = clicks.map(({ account, link_id, click_id, clicked_at }) => {
    const day = new Date(clicked_at).toISOString().slice(0, 10)
    return [account, day, link_id, click_id, clicked_at]
  })
  await withD1Retry(() =>
    db
      .prepare(
        `insert into clicks (account, day, link_id, click_id, clicked_at)
         select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 from ${JSON_EACH}(?1)
         where true on conflict do nothing`,
      )
      .bind(JSON.stringify(rows))
      .run(),
  )
}
