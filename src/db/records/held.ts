import { type FoundPage, type ListQuery, type Page, paginate } from '../paginate.ts'
import type { RecordView } from './record-view.ts'
import { presentRow } from './wire-form.ts'

/** A record that waits for its customer, and the delivery that last brought it. */
export interface HeldRecord {
  resource: string
  delivery_id: string
  record: Record<string, unknown>
}

/** A held record as it is read, its key and its columns as JSON. */
interface HeldRow {
  resource: string
  key: string
  delivery: string
  record: string
}

/**
 * Reads one page of the records that wait for their customer, by resource and key. It reads what is
 * held, not what is stored.
 */
export async function listHeld(
  session: D1DatabaseSession,
  resources: readonly RecordView[],
  account: string,
  page: Page,
): Promise<FoundPage<HeldRecord>> {
  const found = await paginate<HeldRow>(session, heldQuery(resources, account), page)
  const data = found.data.flatMap(({ resource, delivery, record }) =>
    resources
      .filter(({ name }) => name === resource)
      .map((view) => ({
        resource,
        delivery_id: delivery,
        record: presentRow(view, JSON.parse(record)),
      })),
  )
  return { ...found, data }
}

/** Returns the query of the held records of an account, along the indexes of what is held. */
export function heldQuery(resources: readonly RecordView[], account: string): ListQuery {
  const selects = resources
    .filter(({ recordTable }) => recordTable.canHold)
    .map(
      ({ name, recordTable: { table, key }, columns }) => `
        select '${name}' as resource, json_array(${key.join()}) as key, delivery,
          json_object(${columns.map((column) => `'${column}', ${column}`).join()}) as record
        from ${table} indexed by ${table}_held where account = :account and held = 1`,
    )
  const held = `(${selects.join(' union all ')})`
  return {
    columns: ['resource', 'key', 'delivery', 'record'],
    from: `${held} where true`,
    key: ['resource', 'key'],
    total: `select count(*) as total from ${held}`,
    values: { account },
    limitsBytes: true,
  }
}
