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
export const DELIVERY_OUTCOMES = ['stored', 'refused'] as const

/** Which deliveries a list has. A member that is absent narrows nothing. */
export interface DeliveryFilter {
  readonly resource?: string | undefined
  readonly outcome?: (typeof DELIVERY_OUTCOMES)[number] | undefined
  /** The id of a record among the first errors, as the log has it. */
  readonly record_id?: string | undefined
  /** Of a search for a record, the deliveries that stored it. */
  readonly stored_by?: readonly string[] | undefined
}

/** The errors of the record `:record_id` of a delivery. */
const FOUND_ERRORS = `json_each(errors) e
        where exists (select 1 from json_each(e.value, '$.key') k where k.value = :record_id)`

/** The latest deliveries among which a filter searches. */
export const SEARCHED_DELIVERIES = 10_000

const OUTCOME_CONDITIONS: Readonly<Record<(typeof DELIVERY_OUTCOMES)[number], string>> = {
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
  { resource, outcome, record_id, stored_by }: DeliveryFilter,
  oldest: string,
  end: string,
): ListQuery {
  const isSearch = record_id !== undefined
  const ofRefused = isSearch || outcome === 'refused'
  const conditions = [
    ...(resource === undefined ? [] : ['resource = :resource']),
    ...(outcome === undefined ? [] : [OUTCOME_CONDITIONS[outcome]]),
  ]
  const inSpan = 'account = :account and id >= :oldest and id < :end'
  const deliveries = ofRefused
    ? `deliveries indexed by deliveries_refused where errors_total > 0 and ${inSpan}`
    : `deliveries where ${inSpan}`
  const latest = `select * from ${deliveries} order by id desc limit ${SEARCHED_DELIVERIES}`
  const found = isSearch
    ? `select * from (${latest}) where exists (select 1 from ${FOUND_ERRORS})
        union
        select * from deliveries where ${inSpan} and id in (select value from json_each(:stored_by))`
    : latest
  const isFiltered = isSearch || conditions.length > 0
  return {
    columns: [
      ...LIST_COLUMNS,
      ...(isSearch
        ? [`(select json_group_array(json(e.value)) from ${FOUND_ERRORS}) as found_errors`]
        : []),
    ],
    from: isFiltered ? `(${found}) where ${['true', ...conditions].join(' and ')}` : deliveries,
    key: ['id'],
    descending: true,
    values: {
      account,
      oldest,
      end,
      ...(resource !== undefined && { resource }),
      ...(isSearch && { record_id, stored_by: JSON.stringify(stored_by ?? []) }),
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
