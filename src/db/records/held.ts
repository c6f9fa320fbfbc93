import { limitBytes, overByteLimit } from '../byte-limit.ts'
import { withD1Retry } from '../retry.ts'
import type { FoundPage, Page } from './list.ts'
import type { RecordView } from './record-view.ts'

/** A record that waits for its customer, and which delivery brought it last. */
export interface Held {
  resource: string
  delivery_id: string
  record: Record<string, unknown>
}

/**
 * One page of the records that wait for their customer, by resource and key. It reads what is held,
 * not what is stored.
 */
export async function listHeld(
  session: D1DatabaseSession,
  resources: readonly RecordView[],
  account: string,
  { number, size, after }: Page,
): Promise<FoundPage<Held>> {
  const all = resources
    .filter(({ recordTable }) => recordTable.canHold)
    .map(
      ({ name, recordTable, columns }) => `
        select '${name}' as resource, json_array(${recordTable.key.join()}) as key, delivery,
          json_object(${columns.map((column) => `'${column}', ${column}`).join()}) as record
        from ${recordTable.table} indexed by ${recordTable.table}_held where account = ?1 and held = 1`,
    )
    .join(' union all ')
  const [resource = '', key = ''] = after ?? []
  const offset = after ? 0 : (number - 1) * size
  const [rows, counted] = await withD1Retry(() =>
    session.batch<Record<string, string>>([
      session
        .prepare(
          limitBytes(
            ['resource', 'key', 'delivery', 'record'],
            `select * from (${all}) where (resource, key) > (?2, ?3)
             order by resource, key limit ${size + 1} offset ${offset}`,
            'resource, key',
          ),
        )
        .bind(account, resource, key),
      session.prepare(`select count(*) as total from (${all})`).bind(account),
    ]),
  )
  const found = rows!.results
  const heavy = overByteLimit(found)
  if (heavy) return heavy
  const last = found.length > size ? found[size - 1]! : null
  return {
    data: found.slice(0, size).map((row) => ({
      resource: row.resource!,
      delivery_id: row.delivery!,
      record: resources.find(({ name }) => name === row.resource)!.present(JSON.parse(row.record!)),
    })),
    total: Number(counted!.results[0]?.total),
    last: last && [last.resource!, last.key!],
  }
}
