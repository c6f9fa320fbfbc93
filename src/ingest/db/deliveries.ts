import { type FoundPage, type ListQuery, type Page, paginate } from '../../platform/db/paginate.ts'
import { first } from '../../platform/db/query.ts'
import type { Delivery } from '../../platform/db/schema.ts'
import { compileStatement } from '../../platform/db/statement.ts'

/** The columns of a list: the errors of one delivery alone may have 64 KiB. */
const LIST_COLUMNS = ['id', 'resource', 'dry_run', 'status', 'summary', 'errors_total'] as const

/** A delivery as a list shows it. */
export type DeliverySummary = Pick<Delivery, (typeof LIST_COLUMNS)[number]> & {
  /** The errors of the record that is searched for, as JSON. */
  readonly found_errors?: string
}

/** By what deliveries are found: `refused` is 207 or 422, `stored` 200 or 201. */
export const DELIVERY_STATUSES = ['stored', 'refused'] as const

/** Which deliveries a list has. A member that is absent narrows nothing. */
export interface DeliveryFilter {
  readonly resource?: string | undefined
  readonly status?: (typeof DELIVERY_STATUSES)[number] | undefined
  /** The id of a record among the first errors, as the log has it. */
  readonly record_id?: string | undefined
}

/** The errors of the record `:record_id` of a delivery. */
const FOUND_ERRORS = `json_each(errors) e
        where exists (select 1 from json_each(e.value, '$.key') k where k.value = :record_id)`

/** The latest deliveries among which a filter searches. */
export const SEARCHED_DELIVERIES = 10_000

const STATUS_CONDITIONS: Readonly<Record<(typeof DELIVERY_STATUSES)[number], string>> = {
  stored: 'status < 207',
  refused: 'status >= 207',
}

/**
 * Reads one page of the deliveries of an account that match a filter, newest first; none has an id below `oldest`, or
 * from `end` on. A filter looks at the latest 10,000 of them, or of those with errors.
 */
export const listDeliveries = (
  session: D1DatabaseSession,
  account: string,
  filter: DeliveryFilter,
  { oldest, end }: { readonly oldest: string; readonly end: string },
  page: Page,
): Promise<FoundPage<DeliverySummary>> =>
  paginate(session, deliveriesQuery(account, filter, oldest, end), page)

/** Returns the query of an account's deliveries. */
export function deliveriesQuery(
  account: string,
  { resource, status, record_id }: DeliveryFilter,
  oldest: string,
  end: string,
): ListQuery {
  const ofRefused = record_id !== undefined || status === 'refused'
  const conditions = [
    ...(resource === undefined ? [] : ['resource = :resource']),
    ...(status === undefined ? [] : [STATUS_CONDITIONS[status]]),
    ...(record_id === undefined ? [] : [`exists (select 1 from ${FOUND_ERRORS})`]),
  ]
  const source = ofRefused
    ? 'deliveries indexed by deliveries_refused where errors_total > 0 and'
    : 'deliveries where'
  const deliveries = `${source} account = :account and id >= :oldest and id < :end`
  return {
    columns: [
      ...LIST_COLUMNS,
      ...(record_id === undefined
        ? []
        : [`(select json_group_array(json(e.value)) from ${FOUND_ERRORS}) as found_errors`]),
    ],
    from:
      conditions.length === 0
        ? deliveries
        : `(select * from ${deliveries} order by id desc limit ${SEARCHED_DELIVERIES})
          where ${conditions.join(' and ')}`,
    key: ['id'],
    descending: true,
    values: {
      account,
      oldest,
      end,
      ...Object.fromEntries(
        Object.entries({ resource, record_id }).filter(([, value]) => value !== undefined),
      ),
    },
  }
}

const FIND_DELIVERY = compileStatement(
  'select * from deliveries where account = :account and id = :id and id >= :oldest',
)

/** Reads one delivery of an account; null if there is none, or if its id is below `oldest`. */
export const findDelivery = (
  session: D1DatabaseSession,
  account: string,
  oldest: string,
  id: string,
): Promise<Delivery | null> => first(session, FIND_DELIVERY, { account, id, oldest })
