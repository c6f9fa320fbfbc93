import type { Connection } from '../database.ts'
import { type FoundPage, type Page, paginate } from '../paginate.ts'
import { all } from '../query.ts'
import { compileStatement } from '../statement.ts'
import type { ArchivedMonth } from './months.ts'

/** A month of a resource that has left the database, or leaves it, with its objects. */
export interface ListedMonth
  extends Pick<
    ArchivedMonth,
    | 'resource'
    | 'first_day'
    | 'state'
    | 'records'
    | 'begun_at'
    | 'archived_at'
    | 'wanted_at'
    | 'prefix'
    | 'fault'
  > {
  readonly bytes: number
  /** JSON: the digest, the bytes and the records of each object. */
  readonly objects: string
  /** JSON: the control totals of each object, as the manifest has them; null if they are too large. */
  readonly totals: string | null
  /** The first and the last delivery that wrote a record; null without objects. */
  readonly first_delivery: string | null
  readonly last_delivery: string | null
}

const COLUMNS = [
  ...['resource', 'first_day', 'state', 'records', 'begun_at', 'archived_at', 'wanted_at', 'fault'],
  ...['prefix', 'bytes', 'objects', 'totals', 'first_delivery', 'last_delivery'],
]

/** The most bytes of the control totals that a list has of a month. */
const MOST_BYTES = 65_536

/** The objects of a month `m`. */
const OBJECTS =
  'archive_objects where account = m.account and resource = m.resource and first_day = m.first_day'

/** Reads one page of the months of an account that are archived, or leave or come back, the first one first. */
export const listArchivedMonths = (
  db: D1Database,
  account: string,
  page: Page,
): Promise<FoundPage<ListedMonth>> =>
  paginate<ListedMonth>(
    db.withSession('first-unconstrained'),
    {
      columns: COLUMNS,
      from: `(select m.account, m.resource, m.first_day, m.state, m.records, m.begun_at, m.archived_at,
          m.wanted_at, m.fault, m.prefix,
          (select ifnull(sum(bytes), 0) from ${OBJECTS}) as bytes,
          (select json_group_array(json_array(sha256, bytes, records)) from (
            select sha256, bytes, records from ${OBJECTS} order by part)) as objects,
          (select iif(total(octet_length(totals)) <= ${MOST_BYTES}, json_group_array(totals), null) from (
            select totals from ${OBJECTS} order by part)) as totals,
          (select min(deliveries ->> 0) from ${OBJECTS}) as first_delivery,
          (select max(deliveries ->> 1) from ${OBJECTS}) as last_delivery
        from archived_months m) where account = :account`,
      key: ['first_day', 'resource'],
      values: { account },
      limitsBytes: true,
    },
    page,
  )

const DAMAGED = compileStatement(`
  select strftime('%Y-%m', first_day * 86400, 'unixepoch') as month, fault from archived_months
  where account = :account and fault is not null order by first_day, resource`)

/** Returns the months of an account of which an object is damaged or missing, with its key. */
export const listDamaged = (
  db: Connection,
  account: string,
): Promise<{ month: string; fault: string }[]> => all(db, DAMAGED, { account })

const OF_FIRST_DAY = compileStatement(`
  select resource, first_day, last_day, state, wanted_at, fault from archived_months
  where account = :account and first_day = :first_day order by resource`)

/** Returns the resources whose records of a month have left the database, or leave it. */
export const archivedOfMonth = (
  db: D1Database,
  account: string,
  first_day: number,
): Promise<
  Pick<ArchivedMonth, 'resource' | 'first_day' | 'last_day' | 'state' | 'wanted_at' | 'fault'>[]
> => all(db, OF_FIRST_DAY, { account, first_day })
