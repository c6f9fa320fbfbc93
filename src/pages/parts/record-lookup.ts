import type { findRecords } from '../../ingest/operations/records.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { accountPath, withQuery } from '../base/page.ts'

/** A record as its sender reads it. */
export type StoredRecord = Readonly<Record<string, unknown>>

/** A stored record, with the delivery that last wrote it. */
export type FoundRecord = AnswerOf<typeof findRecords>['data'][number]

/** Returns the address of the page of a record. A customer has a page of its own. */
export const recordPath = (account: string, resource: string, id: string): string =>
  resource === 'customers'
    ? accountPath(account, 'customers', id)
    : accountPath(account, 'records', resource, id)

/** Returns the address of the page that finds what has an id. */
export const findPath = (account: string, record_id?: string): string =>
  withQuery(accountPath(account, 'find'), { record_id })
