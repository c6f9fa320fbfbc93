import { COLUMNS as CUSTOMER_COLUMNS } from '../ingest/brand/fields.ts'
import type { RecordView } from '../ingest/db/list.ts'
import type { KeyValue } from '../platform/db/paginate.ts'
import { column } from './columns.ts'
import { type Dataset, withTextPlaces } from './dataset.ts'
import { listRecordMonths, readRecordPage, storedTypeOf, sumRevisions } from './db/record-rows.ts'

/** The columns of a brand's activities: the typed members of a record, and the record as it was sent. */
const ACTIVITY_COLUMNS = {
  eventname: 'eventname',
  customerid: 'customer_id',
  eventid: 'eventid',
  createtime: 'createtime',
  Value: 'amount',
  Currency: 'currency',
  product: 'product',
  kpis: 'kpis',
  record: 'record',
}

const BRAND_COLUMNS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  customers: { ...CUSTOMER_COLUMNS, signup_date: 'signup_date', extras: 'extras' },
  activities: ACTIVITY_COLUMNS,
}

/** Returns the columns of a resource by their names on the wire. */
function wireColumns(view: RecordView, vertical: string): [name: string, from: string][] {
  const { dayColumn } = view.recordTable
  const own = vertical === 'igaming' ? BRAND_COLUMNS[view.name] : undefined
  const named = Object.entries(own ?? Object.fromEntries(view.columns.map((name) => [name, name])))
  return named.some(([, from]) => from === dayColumn) ? named : [...named, ['day', dayColumn]]
}

/** Whether an erasure changes a column: it has, or may have, what names a customer. */
const isPersonal = ({ recordTable }: RecordView, from: string): boolean =>
  recordTable.personalColumns.includes(from) || recordTable.maskedColumn === from

/** The rows of a page: as many as the memory of an invocation holds, whatever a record has. */
const PAGE_ROWS = { plain: 2000, free: 500 }

/** Returns the export of a resource that the account sends. */
export function recordDataset(view: RecordView, vertical: string): Dataset {
  const { recordTable, kpis } = view
  const wire = wireColumns(view, vertical)
  const limit = kpis === undefined ? PAGE_ROWS.plain : PAGE_ROWS.free
  const chosen = (withPersonalData: boolean) =>
    wire.filter(([, from]) => withPersonalData || !isPersonal(view, from))
  return withTextPlaces<KeyValue[]>({
    name: view.name,
    columns: (withPersonalData) =>
      chosen(withPersonalData).map(([name, from]) =>
        column(name, storedTypeOf(recordTable, from), from),
      ),
    partPages: 50,
    async months({ db, account, position, hasErasures }) {
      const changesAnywhere = recordTable.personalColumns.length > 0 && hasErasures
      const [found, revisions] = await Promise.all([
        listRecordMonths(db, view, account, position),
        view.name === 'customers' ? sumRevisions(db, account) : null,
      ])
      return found.map(({ month, days, changed }) => ({
        month,
        mayHaveChanged: changesAnywhere || changed > 0,
        sign: `${days} ${revisions?.get(month) ?? ''}`,
      }))
    },
    page({ db, account, month, withPersonalData }, after) {
      const columns = chosen(withPersonalData).map(([, from]) => from)
      return readRecordPage(db, view, { account, month, columns, after, limit })
    },
  })
}
