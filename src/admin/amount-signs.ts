import type { AmountSigns } from '../amount-signs.ts'
import { hasClosedPeriods } from '../db/commission/books/closings.ts'
import { resolveDatabase } from '../db/database.ts'
import type { Account } from '../db/schema.ts'
import { ApiError } from '../errors.ts'

/**
 * Refuses other signs of amounts while a period is closed: they would change what was approved.
 *
 * @throws ApiError `conflict`
 */
export async function admitAmountSigns(
  env: Env,
  account: Account,
  signs: AmountSigns,
): Promise<void> {
  if (signs === account.amount_signs) return
  if (!(await hasClosedPeriods(resolveDatabase(env, account.binding), account.id))) return
  throw new ApiError('conflict', {
    detail:
      'The account has closed periods, whose statements were computed with the present signs of amounts. `amount_signs` can change only while no period is closed.',
  })
}
