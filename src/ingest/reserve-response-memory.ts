import type { Context } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import type { Grant } from '../auth/grant.ts'
import { reserveMemory } from '../http/result-memory.ts'
import { MAX_ERRORS } from './response.ts'
import type { ValidatedRequest } from './validate-records.ts'

/** The response to a request of at most this many records is small and needs no lease. */
const FEW_RECORDS = 20

/** The estimated bytes of a response for each record, each error and each warning. */
const RESULT_BYTES = 120
const ERROR_BYTES = 400
const WARNING_BYTES = 250

/**
 * Waits for the memory of the response before anything is stored: a delivery that is stored must get its
 * response. The estimate lacks the errors and warnings that the database finds later.
 *
 * @throws ApiError `unavailable` if there is no memory.
 */
export async function reserveResponseMemory(
  c: Context<AppEnv>,
  { account }: Grant,
  { records, valid, issues }: ValidatedRequest,
): Promise<void> {
  if (records.length <= FEW_RECORDS) return
  const warnings = valid.reduce((sum, record) => sum + record.warnings.length, 0)
  await reserveMemory(
    c.req.raw,
    account,
    records.length * RESULT_BYTES +
      Math.min(issues.length, MAX_ERRORS) * ERROR_BYTES +
      warnings * WARNING_BYTES,
  )
}
