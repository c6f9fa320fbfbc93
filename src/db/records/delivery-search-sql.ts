import { DAY_MS } from '../../durations.ts'
import { LIST_COLUMNS } from './deliveries.ts'
import { JSON_EACH } from './sql-fragments.ts'

/** Which deliveries a search finds. A member that is absent narrows nothing. */
export interface DeliveryFilter {
  readonly resource?: string
  readonly status?: DeliveryStatus
  /** The code of an error. */
  readonly code?: string
  /** The forms that the log may have of the id of a refused record. */
  readonly recordIds?: readonly string[]
  /** The deliveries by which the records with that id were stored. */
  readonly storedBy?: readonly string[]
}

/** The statuses by which deliveries are found. `refused` is 207 or 422, `stored` 200 or 201. */
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/** All statuses by which deliveries are found. */
export const DELIVERY_STATUSES = ['stored', 'refused', '200', '201', '207', '422'] as const

/** The span in which a search looks: ids from `oldest` on and below `end`, and the days of both (UTC). */
export interface DeliverySpan {
  readonly oldest: string
  readonly end: string
  /** Numbers of days since 1970. */
  readonly firstDay: number
  readonly lastDay: number
}

/** The deliveries that one page reads at most; the next page goes on. */
export const SEARCHED_DELIVERIES = 10_000

/** Sorts after every delivery id of a day. */
const AFTER_ALL = 'dlv_~'

const IS_422 = '(d.refused > 0 or d.received = d.rejected)'
const IS_201 = `(d.errors_total = 0 and d.form = 'object' and d.created = 1)`

const STATUS_CONDITIONS: Readonly<Record<DeliveryStatus, string>> = {
  stored: 'd.errors_total = 0',
  refused: 'd.errors_total > 0',
  200: `d.errors_total = 0 and not ${IS_201}`,
  201: IS_201,
  207: `d.errors_total > 0 and not ${IS_422}`,
  422: IS_422,
}

/** Whether no delivery with this status can have been stored without errors. */
const isOfRefused = ({ status }: DeliveryFilter) =>
  status !== undefined && ['refused', '207', '422'].includes(status)

/** The day in which a step of a walk looks: after a step that found nothing, the day before. */
const STEP_DAY = 'iif(w.id is null, w.day - 1, w.day)'

/**
 * Walks the deliveries of a term, newest first, day by day: a step reads the next entry of the index, so a
 * walk reads as many rows as it finds. `id` is null in a step that found nothing.
 */
const WALK_TERMS = `
      with recursive walk(day, id) as (
        select :last_day, :before
        union all
        select ${STEP_DAY}, (
          select max((
            select max(delivery) from delivery_terms t
            where t.account = :account and t.day = ${STEP_DAY} and t.term = j.value
              and t.delivery < coalesce(w.id, '${AFTER_ALL}')
          )) from ${JSON_EACH}(:terms) j
        )
        from walk w where w.id is not null or w.day > :first_day
        limit ${SEARCHED_DELIVERIES}
      )
      select id from walk where id >= :oldest and id < :before`

/** Returns the query of the ids that a search looks at, newest first. */
function searchedIds({ code, recordIds, ...filter }: DeliveryFilter): string {
  if (recordIds) {
    return `select id from (${WALK_TERMS}
      union select value from ${JSON_EACH}(:stored_by) where value >= :oldest and value < :before)
      order by id desc limit ${SEARCHED_DELIVERIES}`
  }
  if (code !== undefined || isOfRefused(filter)) return WALK_TERMS
  return `select id from deliveries
      where account = :account and id >= :oldest and id < :before
      order by id desc limit ${SEARCHED_DELIVERIES}`
}

/** Returns the conditions that the index does not decide. */
function conditionsOf({ resource, status, code, recordIds }: DeliveryFilter): string {
  return [
    'true',
    ...(resource === undefined ? [] : ['d.resource = :resource']),
    ...(status === undefined ? [] : [STATUS_CONDITIONS[status]]),
    ...(code === undefined || !recordIds
      ? []
      : [
          `exists (select 1 from delivery_terms c where c.account = :account
            and c.day = d.received_at / ${DAY_MS} and c.term = :code_term and c.delivery = d.id)`,
        ]),
  ].join(' and ')
}

/** The id of a refused record in a row of `unknown_keys`; the trigger of deliveries has the same. */
const KEYED_ID = `iif(d.resource = 'trading-activity', r.value ->> 2,
          iif(d.resource <> 'activities', r.value ->> 1,
            iif(r.value ->> 1 like 'e %', substr(r.value ->> 1, 3), r.value ->> 2)))`

const isSearched = (id: string) => `${id} in (select value from json_each(:record_ids))`

/** The columns with what the log keeps of the records with the id, and nothing of the other records. */
const RECORD_COLUMNS = `,
      (select json_group_array(json_array(r.value ->> 0, (
          select json_group_array(json(d.errors -> ('$.kinds[' || k.value || ']')))
          from json_each(r.value, '$[1]') k
        ), r.value ->> 2, r.value -> 3))
        from json_each(d.errors, '$.records') r where ${isSearched('r.value ->> 2')}
      ) as found_records,
      (select json_group_array(json(r.value)) from json_each(d.unknown_keys) r
        where ${isSearched(KEYED_ID)}
      ) as found_keys`

/** Returns the query of a page of a search. */
export function searchSql(filter: DeliveryFilter, size: number, offset: number): string {
  const columns = [...LIST_COLUMNS, 'hold_refused'].map((name) => `d.${name}`).join()
  const records = filter.recordIds ? RECORD_COLUMNS : ', null as found_records, null as found_keys'
  return `select ${columns}${records}
      from (${searchedIds(filter)}) s
      cross join deliveries d on d.account = :account and d.id = s.id
      where ${conditionsOf(filter)} limit ${size + 1} offset ${offset}`
}

/** Returns the query that counts what a search finds among the deliveries that it looks at. */
export const countSql = (filter: DeliveryFilter): string =>
  `select count(*) filter (where d.id is not null and ${conditionsOf(filter)}) as total,
        count(*) as searched, min(s.id) as last
      from (${searchedIds(filter)}) s
      left join deliveries d on d.account = :account and d.id = s.id`
