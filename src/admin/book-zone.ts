import { resolveDatabase } from '../db/database.ts'
import { updateAccount } from '../db/directory/accounts.ts'
import { readBookZone, setBookZone } from '../db/records/book-zone.ts'
import { withD1Retry } from '../db/retry.ts'
import type { Account } from '../db/schema.ts'
import { ApiError } from '../errors.ts'
import { validationFailed } from './body.ts'

/** Throws `validation_failed` if a body has a book zone and the account is a brand's. */
export function refuseBookZoneOfBrand(
  vertical: string,
  { book_zone }: { book_zone?: string | undefined },
) {
  if (vertical !== 'igaming' || book_zone === undefined) return
  const expected = 'it is for partners, and the days of a brand are those of its `time_zone`'
  throw validationFailed([{ pointer: '/book_zone', code: 'not_applicable', expected }])
}

/**
 * Has the database of an account refuse deliveries of any other book zone, before the setting changes.
 * Days are stored, so a zone can change only while no record has one.
 *
 * @throws ApiError `conflict` if the account has customers or transactions.
 */
export async function admitBookZone(env: Env, account: Account, zone: string): Promise<void> {
  const db = resolveDatabase(env, account.binding)
  if (await setBookZone(db, account.id, zone)) return
  const current = (await readBookZone(db, account.id)) ?? account.book_zone
  if (current === zone) return
  const remedy =
    account.mode === 'test'
      ? 'Reset the account first, which deletes its records.'
      : 'Create another account with this book zone, and have the partner send its records there.'
  throw new ApiError('conflict', {
    detail: `The account has customers or transactions, whose days are those of ${current}. Its book zone can change only while it has none. ${remedy}`,
  })
}

/**
 * Stores the zone that the records database of an account requires, if it differs from `zone`, which was
 * stored last. A concurrent change may have set another zone in the records database; copies that one,
 * because the days of the records are those of its zone.
 */
export async function settleBookZone(env: Env, account: Account, zone: string): Promise<void> {
  const db = resolveDatabase(env, account.binding)
  let stored = zone
  for (;;) {
    const required = (await readBookZone(db, account.id)) ?? stored
    if (required === stored) return
    await withD1Retry(() => updateAccount(env.DB, account.id, { book_zone: required }).run())
    stored = required
  }
}
