import { bindStatement, compileStatement, writeBatch } from '../../platform/db/statement.ts'
import { REQUIRE_CHANGE } from '../../platform/directory/audit.ts'
import type { EndpointOwner } from './endpoints.ts'
import { insertEvents, isWanted } from './events.ts'

// Writes the events that nothing stored causes: what a cron notices, and tests.

const INSERT_LATE = insertEvents(
  'feed.late',
  `(select value ->> 'account' as account, value ->> 'resource' || ' ' || (value ->> 'day') as about,
      json_object('resource', value ->> 'resource', 'day', value ->> 'day',
        'last_delivery_at', value ->> 'last_delivery_at') as data
    from json_each(:rows)) n where ${isWanted('n.account', 'feed.late')}`,
)

/** Writes a test event for one endpoint. */
export const INSERT_TEST = compileStatement(`
  insert into webhook_events (account, id, affiliate_id, type, about, at, data)
  select :account, :event, :affiliate_id, 'webhook.test', :event, :now, :data
  from webhook_endpoints where account = :account and id = :endpoint
  on conflict do nothing`)

/** Sends a test event to one endpoint. */
export const SEND_TEST = compileStatement(`
  insert into webhook_messages (account, event, endpoint, next_at)
  values (:account, :event, :endpoint, :now) on conflict do nothing`)

/** Returns the statements that write a test event for one endpoint and send it; they fail if there is no such endpoint. */
export const insertTest = (
  db: D1Database,
  values: EndpointOwner & { endpoint: string; event: string; now: number; data: string },
) =>
  [INSERT_TEST, REQUIRE_CHANGE, SEND_TEST].map((statement) =>
    bindStatement(db, statement, { ...values }),
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
