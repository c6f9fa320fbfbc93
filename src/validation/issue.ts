/** Why a record is wrong, in the codes of the contract (§4). */
export type IssueCode =
  | 'required'
  | 'unknown_field'
  | 'type'
  | 'date_time'
  | 'date'
  | 'length'
  | 'text'
  | 'pattern'
  | 'email'
  | 'currency'
  | 'number'
  | 'digits'
  | 'decimals'
  | 'minimum'
  | 'enum'
  | 'duplicate_key'
  | 'unknown_customer'
  | 'unknown_affiliate'
  | 'record_count'
  | 'field_case'
  | 'no_kpi'
  | 'idempotency_key_reused'
  | 'circle'

/** One broken rule, as data: which record, where in the body as sent, and what the schema expects. */
export interface Issue {
  index?: number
  key?: Record<string, string>
  pointer: string
  code: IssueCode
  expected?: string
  /** What was sent, where it may be said back: never of a personal field. */
  value?: unknown
  /** The names that would have been right. */
  suggestions?: readonly string[]
}
