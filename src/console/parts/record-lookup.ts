import type { FoundRecord as Found } from '../../commission/why/found-record.ts'
import { accountPath, apiPath, type Visit, withQuery } from '../page.ts'

/** A record as its sender reads it. */
export type StoredRecord = Readonly<Record<string, unknown>>

/** A stored record, with the delivery that last wrote it. */
export interface FoundRecord extends Found {
  readonly outcome: 'created' | 'updated' | 'held'
  readonly delivery_id: string
  readonly received_at: string
  readonly revision: number
}

/** Reads the records that are stored under an id, of all resources. */
export const findRecords = async (
  { api, account }: Visit,
  id: string,
): Promise<readonly FoundRecord[]> =>
  (await api.get<{ data: readonly FoundRecord[] }>(apiPath(account, 'records'), { id })).data

/** Reads the first records of each resource whose ids begin with a text. */
export const findRecordsBeginning = async (
  { api, account }: Visit,
  id: string,
): Promise<readonly FoundRecord[]> => {
  const query = { id, match: 'beginning' }
  return (await api.get<{ data: readonly FoundRecord[] }>(apiPath(account, 'records'), query)).data
}

/** Returns the address of the page of a record. A customer has a page of its own. */
export const recordPath = (account: string, resource: string, id: string): string =>
  resource === 'customers'
    ? accountPath(account, 'customers', id)
    : accountPath(account, 'records', resource, id)

/** Returns the address of the page that finds what has an id. */
export const findPath = (account: string, record_id?: string): string =>
  withQuery(accountPath(account, 'find'), { record_id })
