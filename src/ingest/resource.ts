import type * as v from 'valibot'
import type { Grant } from '../auth/grant.ts'
import type { DeliveryInput } from '../db/records/delivery-input.ts'
import type { RecordView } from '../db/records/record-view.ts'
import type { Issue } from '../validation/issue.ts'
import type { RecordValidator } from '../validation/record-validator.ts'
import { MAX_LISTED_PER_RECORD } from '../validation/record-validator.ts'
import { type BodyForm, recordPointer } from './envelope.ts'
import type { ValidatedRequest } from './validate-records.ts'

/** A resource is a value: routes, validation, SQL, lists, schemas and documents follow from it. */
export interface Resource extends RecordView {
  /** The name of one record, and a description of the resource, for its readers. */
  readonly title: string
  readonly description: string
  /** The fields of a record. Partner records have no others. */
  readonly fields: v.ObjectEntries
  /** The members that identify a record. */
  readonly key: readonly string[]
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
  /** The member that must refer to something known; null if the database refuses whole records. */
  readonly referenceMember: string | null
  /** The issue of a record that the database refuses. */
  readonly referenceIssue: Pick<Issue, 'code' | 'expected'>
  /** Returns the validator of records; it waits for the grant where rules depend on the account. */
  readonly validator: (grant: Promise<Grant>) => RecordValidator | Promise<RecordValidator>
  /** Returns the rows to store, and the warnings that only their content shows. */
  readonly rowsOf: (validated: ValidatedRequest, context: RequestContext) => Promise<RecordRows>
  /** Returns the wire members of a key from its columns; null values are left out. */
  readonly keyFromColumns: (
    values: readonly (string | null)[],
  ) => Record<string, string> | undefined
  /** Returns the account's policy for records that refer to something unknown. */
  readonly policy: (grant: Grant) => DeliveryInput['policy']
}

/** What is kept of a request: see `Parcel`. */
export type RecordRows = Pick<DeliveryInput, 'rows' | 'repeatedRows' | 'invalidRows'>

/** Whose request it is, and what is known of it beside its records. */
export interface RequestContext {
  env: Env
  grant: Grant
  id: string
  receivedAt: number
  idempotencyKey: string | null
}

/** A record's key, of the columns that keep it; those that were no good are left out. */
export function keyMembers(
  names: readonly string[],
  values: readonly (string | null)[],
): Record<string, string> | undefined {
  const sent = names.flatMap((name, i) => (values[i] ? [[name, values[i]] as const] : []))
  return sent.length > 0 ? Object.fromEntries(sent) : undefined
}

/** A record, as far as an issue names it. */
interface RecordPlace {
  form: BodyForm
  index: number
  key: Record<string, string> | undefined
}

/** The issue of a record that the database refuses: what it refers to is not known, say. */
export function toReferenceIssue(
  { referenceMember, referenceIssue: rule }: Pick<Resource, 'referenceMember' | 'referenceIssue'>,
  { form, index, key }: RecordPlace,
  value: unknown,
): Issue {
  const at = recordPointer(form, index)
  const issue = { index, ...(key && { key }), ...rule }
  return referenceMember === null
    ? { ...issue, pointer: at }
    : { ...issue, pointer: `${at}/${referenceMember}`, value }
}

/** Errors of the door and of the database in the order of the records, of each as many as may be. */
export function limitPerRecord<T extends { index?: number }>(errors: readonly T[]): T[] {
  const counts = new Map<number | undefined, number>()
  const hasRoom = ({ index }: T) => {
    const count = counts.get(index) ?? 0
    counts.set(index, count + 1)
    return index === undefined || count < MAX_LISTED_PER_RECORD
  }
  return errors.filter(hasRoom).sort((a, b) => (a.index ?? -1) - (b.index ?? -1))
}
