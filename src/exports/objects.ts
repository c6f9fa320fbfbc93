import { accountDatabase, jurisdictionOf } from '../platform/db/database.ts'
import type { Account } from '../platform/db/schema.ts'
import { deleteAll, deleteObjects, resolveBucket } from '../platform/parquet/bucket.ts'
import { dropReplaced, type ExportFile, listReplaced } from './db/files.ts'
import { dropExports } from './db/runs.ts'
import { EXPORT_LIMITS } from './limits.ts'

/** An account, and where it is. */
export type Place = Pick<Account, 'id' | 'binding'>

/** Returns the bucket of an account's exports: within the jurisdiction of its database. */
export const bucketOf = (env: Env, { binding }: Pick<Account, 'binding'>): R2Bucket =>
  resolveBucket(env, jurisdictionOf(binding))

const prefixOf = (account: string) => `exports/${account}/`

/** Returns the key of the object of a file. */
export const keyOf = (
  account: string,
  { resource, month, sha256 }: Pick<ExportFile, 'resource' | 'month' | 'sha256'>,
): string => `${prefixOf(account)}${resource}/${month || 'all'}/${sha256}.parquet`

/** Deletes the objects of files that were replaced up to a time, in milliseconds, and forgets the files. */
export async function deleteReplaced(env: Env, account: Place, before: number): Promise<void> {
  const db = accountDatabase(env, account)
  const files = await listReplaced(db, account.id, before, EXPORT_LIMITS.objects)
  if (files.length === 0) return
  const keys = files.map((file) => keyOf(account.id, file))
  await deleteObjects(bucketOf(env, account), keys)
  await dropReplaced(db, account.id, before, files)
}

/** Deletes all files of an account's exports. */
export async function deleteExports(env: Env, account: Place): Promise<void> {
  await dropExports(accountDatabase(env, account), account.id)
  await deleteExportObjects(env, account)
}

/** Deletes all objects of an account's exports; a reset deletes what its database has of them. */
export const deleteExportObjects = (env: Env, account: Place): Promise<void> =>
  deleteAll(bucketOf(env, account), prefixOf(account.id))
