import { type FoundPage, isBeyondCursor, type ListQuery, type Page, paginate } from '../paginate.ts'
import { withD1Retry } from '../retry.ts'
import type { Delivery } from '../schema.ts'

/** The columns of a list: the errors of one delivery alone may have 64 KiB. */
export const LIST_COLUMNS = [
  'id',
  'received_at',
  'resource',
  'form',
  'dry_run',
  'received',
  'errors_total',
  'rejected',
  'refused',
  'held',
  'stale',
  'created',
  'updated',
] as const

/** A delivery as a list shows it. */
export type DeliverySummary = Pick<Delivery, (typeof LIST_COLUMNS)[number]>

/**
 * Reads one page of an account's deliveries, newest first; none has an id below `oldest`, or from `end` on.
 */
export const listDeliveries = (
  session: D1DatabaseSession,
  account: string,
  oldest: string,
  page: Page,
  end?: string,
): Promise<FoundPage<DeliverySummary>> =>
  paginate(session, deliveriesQuery(account, oldest, end), page)

/** Returns the query of an account's deliveries. */
export function deliveriesQuery(account: string, oldest: string, end?: string): ListQuery {
  const from = 'deliveries where account = :account and id >= :oldest'
  return {
    columns: LIST_COLUMNS,
    from: end === undefined ? from : `${from} and id < :end`,
    // The cursor lies below the end: with both conditions the database may begin at the end.
    fromCursor: `${from} and ${isBeyondCursor(['id'], true)}`,
    key: ['id'],
    descending: true,
    values: { account, oldest, ...(end !== undefined && { end }) },
  }
}

/** Reads one delivery of an account; null if there is none, or if its id is below `oldest`. */
export const findDelivery = (
  session: D1DatabaseSession,
  account: string,
  oldest: string,
  id: string,
): Promise<Delivery | null> =>
  withD1Retry(() =>
    session
      .prepare('select * from deliveries where account = ?1 and id = ?2 and id >= ?3')
      .bind(account, id, oldest)
      .first<Delivery>(),
  )
