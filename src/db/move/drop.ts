import { notBuilt } from './place.ts'

/**
 * Deletes the next rows of an account whose writes are refused in this database, or of which it has a copy that
 * has not ended. Returns whether all are deleted. Entries of the audit log stay in the directory.
 *
 * @throws CopyRefused if the account may live in this database.
 */
export const dropStep = (_database: D1Database, _account: string): Promise<boolean> => notBuilt()
