import { DAY_HOURS, HOUR_MS } from '../../durations.ts'
import type { FoundPage, Page } from '../paginate.ts'
import { all } from '../query.ts'
import type { Delivery } from '../schema.ts'
import { bindStatement, compileStatement, readBatch, required } from '../statement.ts'
import type { DeliverySummary } from './deliveries.ts'
import {
  countSql,
  type DeliveryFilter,
  type DeliverySpan,
  SEARCHED_DELIVERIES,
  searchSql,
  walkTermsIf,
} from './delivery-search-sql.ts'
import type { RecordView } from './list.ts'
import { JSON_EACH } from './sql-fragments.ts'

/** A delivery that a search found, with what the log keeps of the records with the id, as JSON. */
export type FoundDelivery = DeliverySummary & {
  readonly hold_refused: number
  readonly found_records: string | null
  readonly found_keys: string | null
}

interface Counted {
  total: number
  searched: number
  last: string | null
}

/**
 * Reads one page of the deliveries of an account that match a filter, newest first. A page looks at no
 * more than 10,000 deliveries; if it has fewer rows than were asked for, its cursor still leads on. The
 * span of a page by cursor ends at the cursor.
 */
export async function searchDeliveries(
  session: D1DatabaseSession,
  account: string,
  filter: DeliveryFilter,
  span: DeliverySpan,
  page: Page,
): Promise<FoundPage<FoundDelivery>> {
  const { after, number, size } = page
  const values = searchValues(account, filter, span)
  const bind = (text: string) => bindStatement(session, compileStatement(text), values)
  const pageText = searchSql(filter, size, after ? 0 : (number - 1) * size)
  const [rows, first] = await readBatch<[FoundDelivery[], ...Counted[][]]>(session, [
    bind(pageText),
    ...(page.counted ? [] : [bind(countSql(filter))]),
  ])
  // A full page needs no count to know where the next one begins.
  const [counts] =
    first || rows.length > size
      ? [first]
      : await readBatch<[Counted[]]>(session, [bind(countSql(filter))])
  const counted = counts?.[0]
  const isCut = (counted?.searched ?? 0) >= SEARCHED_DELIVERIES - stepsOf(span)
  const count = page.counted ?? { total: required(counted, 'count').total, isLimited: isCut }
  const end = isCut && counted?.last ? [counted.last] : null
  const last = rows.length > size ? [String(rows[size - 1]?.id)] : end
  return { data: rows.slice(0, size), ...count, last }
}

/** Returns the steps of a walk that find no delivery: one for each day, and the first one. */
const stepsOf = ({ firstDay, lastDay }: DeliverySpan) => lastDay - firstDay + 2

function searchValues(account: string, filter: DeliveryFilter, span: DeliverySpan) {
  const { code, recordIds, storedBy = [], resource } = filter
  const ofErrors = code === undefined ? 'refused' : `code ${code}`
  const terms = recordIds ? recordIds.map((id) => `id ${id}`) : [ofErrors]
  return {
    account,
    oldest: span.oldest,
    before: span.end,
    first_day: span.firstDay,
    last_day: span.lastDay,
    terms: JSON.stringify(terms),
    code_term: `code ${code ?? ''}`,
    record_ids: JSON.stringify(recordIds ?? []),
    stored_by: JSON.stringify(storedBy),
    resource: resource ?? null,
  }
}

/** The latest deliveries of a resource with refused records that are read. */
const MAX_DELIVERIES = 20

/** A delivery with refused records: what the log keeps of them. */
export type RefusedDelivery = Pick<
  Delivery,
  'id' | 'form' | 'errors' | 'unknown_keys' | 'reused' | 'hold_refused'
>

/** Whether more than a share of the records of a resource were refused in the last hours. */
const REFUSES_MANY = `(select sum(refused) > :share * sum(received) from arrivals
          where account = :account and hour > :hour - ${DAY_HOURS} and resource = :resource)`

const SELECT_REFUSED = compileStatement(`
  select d.id, d.form, d.errors, d.unknown_keys, d.reused, d.hold_refused
  from (${walkTermsIf(REFUSES_MANY)}) s
  cross join deliveries d on d.account = :account and d.id = s.id
  where d.resource = :resource
  limit ${MAX_DELIVERIES}`)

/**
 * Reads the latest deliveries with refused records of each resource, newest first: of those of which more than a
 * share of the records were refused in the last 24 hours. Of many, it looks at the latest
 * `SEARCHED_DELIVERIES` of all resources. Returns a list for each resource. `now` is in milliseconds.
 */
export const latestRefused = (
  session: D1DatabaseSession,
  account: string,
  resources: readonly string[],
  { share, now, ...span }: DeliverySpan & { readonly share: number; readonly now: number },
): Promise<RefusedDelivery[][]> =>
  readBatch<RefusedDelivery[][]>(
    session,
    resources.map((resource) =>
      bindStatement(session, SELECT_REFUSED, {
        account,
        resource,
        oldest: span.oldest,
        before: span.end,
        first_day: span.firstDay,
        last_day: span.lastDay,
        terms: JSON.stringify(['refused']),
        share,
        hour: Math.floor(now / HOUR_MS),
      }),
    ),
  )

/** The key of a refused record in its columns: the last can be a range of texts, up to `end`. */
export interface RefusedKey {
  readonly delivery: string
  readonly values: readonly unknown[]
  readonly end?: string
}

/**
 * Counts the keys under which a later delivery has stored a record. Archived records do not count.
 */
export async function countStoredSince(
  session: D1DatabaseSession,
  account: string,
  { name: resource, recordTable: { table, key } }: RecordView,
  keys: readonly RefusedKey[],
): Promise<number> {
  const cell = (i: number) => `k.value ->> ${i + 2}`
  const matchesOf = (columns: readonly string[]) =>
    columns
      .map((name, i) =>
        i === columns.length - 1
          ? `t.${name} >= ${cell(i)} and t.${name} <= ifnull(k.value ->> 1, ${cell(i)})`
          : `t.${name} = ${cell(i)}`,
      )
      .join(' and ')
  const statement = compileStatement(`
  select count(*) as stored from ${JSON_EACH}(:keys) k
  where exists (select 1 from ${table} t
    where t.account = :account and ${matchesOf(key)} and t.delivery > k.value ->> 0)`)
  const rows = keys.map(({ delivery, values, end = null }) => [delivery, end, ...values])
  const [found] = await all<{ stored: number }>(session, statement, {
    account,
    resource,
    keys: JSON.stringify(rows),
  })
  return found?.stored ?? 0
}
