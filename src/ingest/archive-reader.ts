import type { ArchiveReader } from '../archive/reader.ts'
import { jurisdictionOf, resolveDatabase } from '../db/database.ts'
import type { Reader } from '../http/read-session.ts'
import { newTurns } from '../http/turns.ts'
import { resolveBucket } from '../parquet/bucket.ts'

/** Reads once its turn comes: an isolate reads from 2 objects at once, of which 1 for one account. */
const inTurn = newTurns(2, 1, 'reads of archived records')

/** Returns what reads archived records for a request. */
export const archiveReader = (env: Env, { grant, session: db }: Reader): ArchiveReader => ({
  db,
  account: grant.account,
  newest: () => resolveDatabase(env, grant.binding).withSession('first-primary'),
  bucket: () => resolveBucket(env, jurisdictionOf(grant.binding)),
  inTurn: (work) => inTurn(grant, work),
})
