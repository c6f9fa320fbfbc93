import type { ArchiveReader } from '../archive/reader.ts'
import { jurisdictionOf, resolveDatabase } from '../db/database.ts'
import { MINUTE_MS } from '../durations.ts'
import { unavailable } from '../errors.ts'
import type { Reader } from '../http/read-session.ts'
import { WeightedQueue } from '../http/weighted-queue.ts'
import { resolveBucket } from '../parquet/bucket.ts'

/** The requests of an isolate that read archived records at once: 2 in all, of which 1 for one account. */
const ARCHIVE_READS = new WeightedQueue(2, 1)

/** The runtime may end a request without its `finally`, so a read counts for a minute at most. */
const LEASE_MS = MINUTE_MS

const tooManyReads = () => unavailable(new Error('too many reads of archived records'))

/** Returns what reads archived records for a request. */
export const archiveReader = (
  env: Env,
  { grant: { account, binding }, session: db }: Reader,
): ArchiveReader => ({
  db,
  account,
  newest: () => resolveDatabase(env, binding).withSession('first-primary'),
  bucket: () => resolveBucket(env, jurisdictionOf(binding)),
  async inTurn(work) {
    const claim = { account, weight: 1, isWaitLimited: false, refusal: tooManyReads }
    const turn = await ARCHIVE_READS.take(claim)
    turn.until = Date.now() + LEASE_MS
    try {
      return await work()
    } finally {
      ARCHIVE_READS.release(turn)
    }
  },
})
