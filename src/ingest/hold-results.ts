import type { Context } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import type { Grant } from '../auth/grant.ts'
import { holdMemory } from '../http/result-memory.ts'
import { MAX_ERRORS } from './response.ts'
import type { ValidatedRequest } from './validate-records.ts'

/** The records of a request up to which its answer is small. */
const FEW_RECORDS = 20

/** What an answer has for each record, each error and each warning, in bytes, with ordinary names. */
const RESULT_BYTES = 120
const ERROR_BYTES = 400
const WARNING_BYTES = 250

/**
 * Takes the memory of the answer before anything is stored, since a stored delivery must be answered.
 * Errors and warnings that the database finds are not known yet.
 *
 * @throws ApiError `unavailable` if there is no room.
 */
export async function holdResults(
  c: Context<AppEnv>,
  { account }: Grant,
  { records, valid, issues }: ValidatedRequest,
): Promise<void> {
  if (records.length <= FEW_RECORDS) return
  const warnings = valid.reduce((sum, record) => sum + record.warnings.length, 0)
  await holdMemory(
    c.req.raw,
    account,
    records.length * RESULT_BYTES +
      Math.min(issues.length, MAX_ERRORS) * ERROR_BYTES +
      warnings * WARNING_BYTES,
  )
}
