import { type FoundPage, type ListQuery, type Page, paginate } from '../../platform/db/paginate.ts'
import { columnList } from '../../platform/db/sql-fragments.ts'
import { required } from '../../platform/db/statement.ts'
import { presentRow, type RecordView } from './list.ts'
import { heldKeyOf } from './record-table.ts'

/** A record that waits for its customer, and the delivery that last brought it. */
interface HeldRecord {
  resource: string
  delivery_id: string
  record: Record<string, unknown>
}

/** A held record as it is read: its columns as JSON. */
interface HeldRow {
  readonly resource: string
  readonly delivery: string
  readonly record: string
}

/** The number of held records of an account. */
export const COUNT_HELD =
  'select max(coalesce(sum(held), 0), 0) as total from totals where account = :account'

/** The most columns of the key of a table of held records. */
const KEY_COLUMNS = ['key_0', 'key_1', 'key_2', 'key_3']

/** Returns the query of the held records of an account, along the indexes of what is held. */
export function heldQuery(views: readonly RecordView[], account: string): ListQuery {
  const rows = views
    .filter(({ recordTable }) => recordTable.canHold)
    .map(({ name, columns, recordTable }) => {
      const key = heldKeyOf(recordTable)
      return `
      select '${name}' as resource, ${KEY_COLUMNS.map((as, i) => `${key[i] ?? "''"} as ${as}`).join()}, delivery,
        json_object(${columnList(columns, (column) => `'${column}', ${column}`)}) as record
      from ${recordTable.table} indexed by ${recordTable.table}_held where account = :account and held = 1`
    })
  return {
    columns: ['resource', ...KEY_COLUMNS, 'delivery', 'record'],
    from: `(${rows.join(' union all ')}) where true`,
    key: ['resource', ...KEY_COLUMNS],
    total: COUNT_HELD,
    values: { account },
    limitsBytes: true,
  }
}

/** Reads one page of the records that wait for their customer, in the order of resource, customer and day. */
export async function listHeld(
  session: D1DatabaseSession,
  views: readonly RecordView[],
  account: string,
  page: Page,
): Promise<FoundPage<HeldRecord>> {
  const found = await paginate<HeldRow>(session, heldQuery(views, account), page)
  const viewOf = new Map(views.map((view) => [view.name as string, view]))
  return {
    ...found,
    data: found.data.map(({ resource, delivery, record }) => ({
      resource,
      delivery_id: delivery,
      record: presentRow(required(viewOf.get(resource), resource), JSON.parse(record)),
    })),
  }
}
