import type { FoundPage, Page } from '../paginate.ts'
import { bindStatement, compileStatement, readBatch, required } from '../statement.ts'
import type { DeliverySummary } from './deliveries.ts'
import {
  countSql,
  type DeliveryFilter,
  type DeliverySpan,
  SEARCHED_DELIVERIES,
  searchSql,
} from './delivery-search-sql.ts'

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
