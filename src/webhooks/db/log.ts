import { type FoundPage, type Page, paginate } from '../../platform/db/paginate.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'

/** An event that is sent to an endpoint, with its last attempt. Times are in milliseconds. */
export interface MessageRow {
  event: string
  type: string
  status: 'pending' | 'delivered' | 'dead'
  attempts: number
  /** When the next attempt is due, if it is pending. */
  next_at: number
  tried_at: number | null
  answer: number | null
  error: string | null
  /** When the event was caused. */
  at: number
  data: string
}

const ofEvent = (column: string) => `(select v.${column} from webhook_events v
    where v.account = :account and v.id = m.event) as ${column}`

/** Reads one page of the messages of an endpoint, the newest first; of any status if `status` is null. */
export const listMessages = (
  db: D1Database,
  account: string,
  endpoint: string,
  status: string | null,
  page: Page,
): Promise<FoundPage<MessageRow>> =>
  paginate<MessageRow>(
    db,
    {
      columns: [
        'event',
        'status',
        'attempts',
        'next_at',
        'tried_at',
        'answer',
        'error',
        ...['type', 'at', 'data'].map(ofEvent),
      ],
      from: `webhook_messages m indexed by webhook_messages_endpoint
        where account = :account and endpoint = :endpoint
          and (:status is null or status = :status)`,
      key: ['event'],
      descending: true,
      values: { account, endpoint, status },
    },
    page,
  )

const REPLAY = compileStatement(`
  update webhook_messages indexed by webhook_messages_endpoint set status = 'pending', attempts = 0, next_at = :now, queued_until = 0
  where account = :account and endpoint = :endpoint
    and iif(:event is null, status = 'dead', event = :event)
  returning event`)

/** Returns the statement that sends one event again, or all dead letters if it is null. It returns a row for each. */
export const replayMessages = (
  db: D1Database,
  values: {
    readonly account: string
    readonly endpoint: string
    readonly event: string | null
    readonly now: number
  },
) => bindStatement(db, REPLAY, values)
