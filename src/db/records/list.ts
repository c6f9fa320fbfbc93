import { limitBytes, overByteLimit } from '../byte-limit.ts'
import { withD1Retry } from '../retry.ts'
import type { RecordTable } from './record-table.ts'
import type { RecordView } from './record-view.ts'

/** Which page: its number (from 1), its size, and the key after which it begins, if by cursor. */
export interface Page {
  number: number
  size: number
  after: readonly string[] | null
}

/** A page of records; `last` is where the next one begins, null where there is none. */
export interface FoundPage<T = Record<string, unknown>> {
  data: T[]
  total: number
  last: string[] | null
  /** How many records a page might show instead, where those of this one have too many bytes. */
  fewer?: number
}

/** What a list is narrowed to; days are inclusive. */
export interface Filter {
  customer_id?: string
  from?: string
  to?: string
}

/**
 * One page of an account's records, in the order of their key, which never changes: whoever walks
 * by cursor meets each record once, whatever arrives meanwhile. An unfiltered page reads as many
 * rows as it shows; a filtered one also the index entries that match, since `total` counts them.
 */
export async function listRecords(
  session: D1DatabaseSession,
  view: RecordView,
  account: string,
  filter: Filter,
  page: Page,
): Promise<FoundPage> {
  const { table, key } = view.recordTable
  const values: unknown[] = [account]
  const place = (value: unknown) => `?${values.push(value)}`
  const from = source(view.recordTable, filter, place)
  const filtering = [...values]
  const after = page.after ? ` and (${key.join()}) > (${page.after.map(place).join()})` : ''
  const offset = page.after ? 0 : (page.number - 1) * page.size
  const keys = `select ${key.join()} from ${from}${after} order by ${key.join()}
    limit ${page.size + 1} offset ${offset}`
  const same = key.map((name) => `t.${name} = k.${name}`).join(' and ')
  const filtered = Object.keys(filter).length > 0

  const [rows, counted] = await withD1Retry(() =>
    session.batch<Record<string, unknown>>([
      session
        .prepare(
          limitBytes(
            view.columns,
            `with k as materialized (${keys})
             select ${view.columns.map((name) => `t.${name}`).join()} from k
             cross join ${table} t on t.account = ?1 and ${same}`,
            key.join(),
          ),
        )
        .bind(...values),
      filtered
        ? session.prepare(`select count(*) as total from ${from}`).bind(...filtering)
        : session
            .prepare('select total from totals where account = ?1 and resource = ?2')
            .bind(account, view.name),
    ]),
  )
  const found = rows!.results
  const heavy = overByteLimit(found)
  if (heavy) return heavy
  const last = found.length > page.size ? found[page.size - 1]! : null
  return {
    data: found.slice(0, page.size).map(view.present),
    total: Number(counted!.results[0]?.total ?? 0),
    last: last && key.map((name) => String(last[name])),
  }
}

/** Where the matching records are found: along the key, or along the index that serves the filter. */
function source(
  { table, canHold, dayColumn, indexes }: RecordTable,
  filter: Filter,
  place: (value: unknown) => string,
): string {
  const { customer_id, from, to } = filter
  const index = customer_id !== undefined ? indexes.customer : from || to ? indexes.day : null
  const wanted = [
    'account = ?1',
    ...(canHold ? ['held = 0'] : []),
    ...(customer_id === undefined ? [] : [`customer_id = ${place(customer_id)}`]),
    ...(from === undefined ? [] : [`${dayColumn} >= ${place(from)}`]),
    ...(to === undefined ? [] : [`${dayColumn} <= ${place(to)}`]),
  ]
  // Left to itself the planner may walk the whole key to save a sort.
  return `${table}${index ? ` indexed by ${index}` : ''} where ${wanted.join(' and ')}`
}

/** One record by its id, or null; a held one is not there yet. */
export async function findRecord(
  session: D1DatabaseSession,
  { recordTable, columns, present }: RecordView,
  account: string,
  id: string,
): Promise<Record<string, unknown> | null> {
  const { table, key, canHold } = recordTable
  const row = await withD1Retry(() =>
    session
      .prepare(
        `select ${columns.join()} from ${table}
         where account = ?1 and ${key[0]} = ?2${canHold ? ' and held = 0' : ''}`,
      )
      .bind(account, id)
      .first<Record<string, unknown>>(),
  )
  return row && present(row)
}

/** A record as it was sent: an optional field that never was is absent, not null. */
export const withoutNulls = (record: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null))
