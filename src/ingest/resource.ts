import type { Grant } from '../platform/auth/grant.ts'
import type { Issue } from '../platform/validation/issue.ts'
import type { RecordValidator } from '../platform/validation/record-validator.ts'
import type { ObjectFields } from '../platform/validation/strict-object.ts'
import type { Warning } from '../platform/validation/warnings.ts'
import type { RecordView } from './db/list.ts'
import { HELD_LIMITS } from './db/release.ts'
import type { DeliveryInput } from './db/request.ts'
import { type BodyForm, recordPointer } from './envelope.ts'
import type { ValidatedRequest } from './validate-records.ts'

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
  /** Returns the rows to store, and the warnings found while building the rows. */
  readonly buildRows: (validated: ValidatedRequest, context: RequestContext) => Promise<RecordRows>
  /** Returns the account's policy for records that refer to something unknown. */
  readonly policy: (grant: Grant) => DeliveryInput['policy']
}

/** The rows of a request: see `DeliveryInput`. */
export interface RecordRows
  extends Pick<DeliveryInput, 'rows' | 'repeats' | 'invalidRows'>,
    Partial<Pick<DeliveryInput, 'receivedDay'>> {
  /** The warnings found while building the rows, by record index. */
  readonly warnings: ReadonlyMap<number, readonly Warning[]>
}

/** The request that records belong to. */
export interface RequestContext {
  env: Env
  grant: Grant
  /** The delivery id. */
  id: string
  /** Milliseconds. */
  receivedAt: number
  idempotencyKey: string | null
}

/** The position and key of a record in a request. */
interface RecordPlace {
  form: BodyForm
  index: number
  key: Record<string, string> | undefined
}

/**
 * Returns the issue of a record that the database refuses, such as one of an unknown customer.
 * `isHoldRefused` tells whether it would be held if the account had fewer held records.
 */
export function toReferenceIssue(
  { referenceMember, referenceIssue: rule }: Pick<Resource, 'referenceMember' | 'referenceIssue'>,
  { form, index, key }: RecordPlace,
  value: unknown,
  isHoldRefused: boolean,
): Issue & { index: number } {
  const pointer = recordPointer(form, index)
  const limit = isHoldRefused && {
    expected: `at most ${HELD_LIMITS.account.toLocaleString('en')} held records`,
  }
  const issue = { index, ...(key && { key }), ...rule, ...limit }
  return referenceMember === null
    ? { ...issue, pointer }
    : { ...issue, pointer: `${pointer}/${referenceMember}`, value }
}
