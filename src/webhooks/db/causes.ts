import { bindStatement, writeBatch } from '../../platform/db/statement.ts'
import { insertEvents, isWanted } from './events.ts'

// Writes the events that nothing stored causes: what a cron notices.

const INSERT_LATE = insertEvents(
  'feed.late',
  `(select value ->> 'account' as account, value ->> 'resource' || ' ' || (value ->> 'day') as about,
      json_object('resource', value ->> 'resource', 'day', value ->> 'day',
        'last_delivery_at', value ->> 'last_delivery_at') as data
    from json_each(:rows)) n where ${isWanted('n.account', 'feed.late')}`,
)

/** A feed that lacks the records of a day. */
export interface LateFeed {
  readonly account: string
  readonly resource: string
  readonly day: string
  readonly last_delivery_at: string | null
}

/** Writes `feed.late` once for each feed and day. */
export const storeLateFeeds = (db: D1Database, feeds: readonly LateFeed[]) =>
  writeBatch(db, [bindStatement(db, INSERT_LATE, { rows: JSON.stringify(feeds) })])
