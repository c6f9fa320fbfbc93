import { encode } from '../column-types.ts'
import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement, required } from '../statement.ts'
import type { RecordView } from './list.ts'

/** A stored record: where it came from, and what that delivery made of it. */
export interface StoredRecord {
  resource: string
  /** The delivery that wrote it last, and its position there. */
  delivery: string
  idx: number
  /** The number of times that it was written. */
  revision: number
  /** 1 if it waits for its customer. */
  held: number
}

/** The longest identity of an event that is stored as it was sent. */
const MAX_IDENTITY = 300

/** Returns the stored form of a record's id in a table; null if the table's records have no id of their own. */
export function storedId({ recordTable }: RecordView, id: string): string | null {
  const { table, key, encoded } = recordTable
  if (key.length !== 1) return null
  if (table !== 'events') return String(encode(encoded[required(key[0], 'key column')], id))
  const identity = `e ${id}`
  return identity.length > MAX_IDENTITY ? null : identity
}

/** Returns the query of a stored record by its id, held or not. */
export const storedRecordSql = ({ recordTable: { table, key, canHold } }: RecordView): string =>
  `select delivery, idx, revision, ${canHold ? 'held' : '0 as held'} from ${table}
      where account = :account and ${key[0]} = :id`

/** Finds the records of an account that are stored under an id: at most one of each resource. */
export async function findStoredRecords(
  session: D1DatabaseSession,
  views: readonly RecordView[],
  account: string,
  id: string,
): Promise<StoredRecord[]> {
  const searched = views.flatMap((view) => {
    const stored = storedId(view, id)
    return stored === null ? [] : [{ view, stored }]
  })
  const results = await withD1Retry(() =>
    session.batch<Omit<StoredRecord, 'resource'>>(
      searched.map(({ view, stored }) =>
        bindStatement(session, compileStatement(storedRecordSql(view)), { account, id: stored }),
      ),
    ),
  )
  return searched.flatMap(({ view }, i) =>
    required(results[i], 'result').results.map((row) => ({ resource: view.name, ...row })),
  )
}
