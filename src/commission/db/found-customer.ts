import type { Affiliation, FieldValues } from '../../ingest/db/histories.ts'
import type { Since } from '../../platform/db/history.ts'
import type { SignupRow } from './facts.ts'

/** The stored values of a customer whose affiliate and fields have never changed. */
export interface StoredCustomer {
  readonly signup: SignupRow
  readonly fields: FieldValues
  /** The day from which the customer is refused; null if the customer is not refused. */
  readonly refusal: Since | null
}

/** A customer with the affiliates by day. */
export interface FoundCustomer {
  readonly customer_id: string
  readonly affiliations: readonly Affiliation[]
  /** Null if the affiliate or a field has changed. */
  readonly stored: StoredCustomer | null
}
