import type { Connection } from '../database.ts'
import { all } from '../query.ts'
import { compileStatement } from '../statement.ts'
import { type ListedPart, PARTS_OF_CUSTOMER } from './list-parts.ts'
import { AWAY } from './touched.ts'

/** An object that may have an archived record. */
export interface RecordPart extends Omit<ListedPart, 'listed'> {
  /** The row group with the record; null if its key tells. */
  readonly row_group: number | null
}

const BY_ID = compileStatement(`
  select m.first_day, m.last_day, m.prefix, m.fault, o.part, o.sha256, o.bytes, o.version, o.records, o.groups,
    r.row_group
  from archived_records r
  cross join archived_months m on m.account = r.account and m.resource = r.resource
    and m.first_day = r.first_day and m.state in ${AWAY}
  cross join archive_objects o on o.account = r.account and o.resource = r.resource
    and o.first_day = r.first_day and o.part = r.part
  where r.account = :account and r.resource = :resource and r.id = :id`)

const BY_DAY = compileStatement(`
  select first_day, last_day, prefix, fault, part, sha256, bytes, version, records, groups, null as row_group
  from ${PARTS_OF_CUSTOMER} order by part`)

/** Finds the objects that may have an archived record, by its key without the account. */
export function findRecordParts(
  db: Connection,
  account: string,
  resource: string,
  key: readonly unknown[],
): Promise<RecordPart[]> {
  const [first, customer_id] = key
  return key.length === 1
    ? all(db, BY_ID, { account, resource, id: first })
    : all(db, BY_DAY, { account, resource, first_day: first, last_day: first, customer_id })
}
