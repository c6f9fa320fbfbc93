import type { Grant } from '../../platform/auth/grant.ts'
import type { Preferences } from '../../platform/http/prefer.ts'
import type { Issue } from '../../platform/validation/issue.ts'
import type { JsonObject, RecordValidator } from '../../platform/validation/record-validator.ts'
import type { ObjectFields } from '../../platform/validation/strict-object.ts'
import type { Warning } from '../../platform/validation/warnings.ts'
import type { Policy, Values } from '../db/item.ts'
import type { RecordView } from '../db/list.ts'

/**
 * A resource. Its routes, validation, SQL, lists, schemas and documentation are derived from it.
 * Commissions, reports and the console list the resources that they use.
 */
export interface Resource extends RecordView {
  /** The name of one record, for documentation and messages. */
  readonly title: string
  /** The fields of a record. Partner records have no others. */
  readonly fields: ObjectFields['entries']
  /** The members that identify a record. */
  readonly key: readonly string[]
  /** The key members that the log stores if they are valid: ids, and parts of an identity. */
  readonly loggedKey: readonly string[]
  /** The fields that a record must have where `fields` does not say so itself (brands). */
  readonly required: readonly string[]
  /** The fields that never fail a request, whatever their value. */
  readonly neverRejected: readonly string[]
  /** The query parameter that filters a list by customer. */
  readonly customerFilter: 'customer_id' | 'customerid'
  /** Whether one record has a path of its own. */
  readonly hasItemRoute: boolean
  /** Whether an `Idempotency-Key` makes a request repeatable. */
  readonly acceptsIdempotencyKey: boolean
  /**
   * The member that must refer to a stored row; null if the resource has no reference (brand
   * customers: they are refused when too large).
   */
  readonly referenceMember: string | null
  /** The member with the time that decides whether a record is before a signup; of customers, of the signup. */
  readonly timeMember: string
  /** The issue of a record that the database refuses. */
  readonly referenceIssue: Pick<Issue, 'code' | 'expected' | 'instruction'>
  /** Returns the validator of records. */
  readonly validator: (grant: Grant) => RecordValidator
  /** Returns what takes the valid records of a request, one after the other, as its database stores them. */
  readonly storing: (request: DeliveryRequest) => StoreRecord
  /**
   * Returns what is stored of two records of a request with one key, the earlier one first; null if a repeated key is an
   * error.
   */
  readonly merge: ((earlier: Values, later: Values) => Values) | null
  /** Returns the account's policy for records that refer to something unknown. */
  readonly policy: (grant: Grant) => Policy
}

/** Returns the values of a valid record by column, and adds to its warnings, whose pointers are relative to the record. */
export type StoreRecord = (
  record: JsonObject,
  index: number,
  warnings: Warning[],
) => Values | Promise<Values>

/** The request that records belong to. */
export interface DeliveryRequest {
  readonly env: Env
  readonly grant: Grant
  /** The delivery id. */
  readonly id: string
  /** Milliseconds. */
  readonly receivedAt: number
  readonly dryRun: boolean
  readonly preferences: Preferences
  readonly idempotencyKey: string | null
}
