import { readBatch, required } from '../batch.ts'
import {
  excessOf,
  type FoundPage,
  type KeyValue,
  limitBytes,
  type Page,
  toKeyValue,
} from '../paginate.ts'
import { bindStatement, compileStatement } from '../statement.ts'
import { heldKeyOf } from './record-table.ts'
import type { RecordView } from './record-view.ts'
import { columnList } from './sql-fragments.ts'
import { presentRow } from './wire-form.ts'

/** A record that waits for its customer, and the delivery that last brought it. */
export interface HeldRecord {
  resource: string
  delivery_id: string
  record: Record<string, unknown>
}

/** A held record as it is read: its place in the order, and its columns as JSON. */
interface HeldRow extends Record<string, unknown> {
  resource: string
  delivery: string
  record: string
}

/** The number of held records of an account. */
export const COUNT_HELD =
  'select max(coalesce(sum(held), 0), 0) as total from totals where account = :account'

/**
 * Reads one page of the records that wait for their customer, in the order of resource, customer and
 * day. A page by cursor reads as many rows as it shows, however many records are held.
 */
export async function listHeld(
  session: D1DatabaseSession,
  resources: readonly RecordView[],
  account: string,
  page: Page,
): Promise<FoundPage<HeldRecord>> {
  const views = resources
    .filter(({ recordTable }) => recordTable.canHold)
    .toSorted((a, b) => a.name.localeCompare(b.name))
  const [, ...place] = page.after ?? []
  const values = { account, ...Object.fromEntries(place.map((value, i) => [`after_${i}`, value])) }
  const [counted, rows] = await readBatch<[{ total: number }[], HeldRow[]]>(session, [
    bindStatement(session, compileStatement(COUNT_HELD), values),
    bindStatement(session, compileStatement(heldPageSql(views, page)), values),
  ])
  const { total } = required(counted[0], 'sum')
  const count = { total, isLimited: false }
  const excess = excessOf(rows)
  if (excess) return { data: [], ...count, last: null, excess }
  const last = rows.length > page.size ? rows[page.size - 1] : undefined
  return {
    data: rows.slice(0, page.size).flatMap((row) => presentHeld(views, row)),
    ...count,
    last: last ? placeOf(views, last) : null,
  }
}

const presentHeld = (views: readonly RecordView[], { resource, delivery, record }: HeldRow) =>
  views
    .filter(({ name }) => name === resource)
    .map((view) => ({
      resource,
      delivery_id: delivery,
      record: presentRow(view, JSON.parse(record)),
    }))

/** Returns the place of a row in the order: its resource, then the columns of its index. */
function placeOf(views: readonly RecordView[], row: HeldRow): KeyValue[] {
  const { resource } = row
  const { recordTable } = required(
    views.find(({ name }) => name === resource),
    resource,
  )
  return [resource, ...heldKeyOf(recordTable).map((_, i) => toKeyValue(row[`key_${i}`]))]
}

/**
 * Returns the SQL of one page, along the indexes of what is held: first the keys, then the records of
 * these keys. `:after_0` … are the cells of the cursor behind its resource.
 */
export function heldPageSql(views: readonly RecordView[], page: Page): string {
  const [resource = '', ...place] = page.after ?? []
  const offset = page.after ? 0 : (page.number - 1) * page.size
  const width = Math.max(...views.map(({ recordTable }) => heldKeyOf(recordTable).length))
  const names = Array.from({ length: width }, (_, i) => `key_${i}`)
  const order = ['resource', ...names].join()
  const read = views.filter(({ name }) => name >= resource)
  const keys = read.map(({ name, recordTable }) => {
    const key = heldKeyOf(recordTable)
    const after =
      name === resource && place.length === key.length
        ? `and (${key.join()}) > (${place.map((_, i) => `:after_${i}`).join()})`
        : ''
    return `select '${name}' as resource, ${names.map((as, i) => `${key[i] ?? 'null'} as ${as}`).join()}
        from ${recordTable.table} indexed by ${recordTable.table}_held
        where account = :account and held = 1 ${after}
        order by ${key.join()} limit ${offset + page.size + 1}`
  })
  const joins = read.map(({ name, recordTable }, i) => {
    const key = heldKeyOf(recordTable)
    return `left join ${recordTable.table} t${i} on k.resource = '${name}' and t${i}.account = :account
        and ${key.map((column, n) => `t${i}.${column} = k.key_${n}`).join(' and ')}`
  })
  const records = read.map(
    ({ name, columns }, i) =>
      `when '${name}' then json_object(${columnList(columns, (column) => `'${column}', t${i}.${column}`)})`,
  )
  const deliveries = read.map(({ name }, i) => `when '${name}' then t${i}.delivery`)
  return limitBytes(
    ['resource', ...names, 'delivery', 'record'],
    `with k as materialized (
        ${keys.map((sql) => `select * from (${sql})`).join(' union all ')}
        order by ${order} limit ${page.size + 1} offset ${offset}
      )
      select k.*, case resource ${deliveries.join(' ')} end as delivery,
        case resource ${records.join(' ')} end as record
      from k ${joins.join(' ')}`,
    order,
    page.maxBytes,
  )
}
