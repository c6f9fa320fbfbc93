import type { Issue } from './issue.ts'
import type { Warning } from './warnings.ts'

/** The contract: at most 10 errors and 10 warnings are listed per record. */
export const MAX_LISTED_PER_RECORD = 10

/** A JSON object. */
export type JsonObject = Record<string, unknown>

/** The result of validating one record; its pointers are relative to the record. */
export interface RecordCheck {
  issues: Issue[]
  /** The members that are valid, parsed. */
  output: JsonObject
  /** Warnings to report if the record is stored. */
  warnings: Warning[]
  /** The valid members of its key, as sent; undefined if there are none. */
  key: Record<string, string> | undefined
}

/** The validator of a resource's records. */
export interface RecordValidator {
  /** Whether an object may wrap the records in its member `data`. */
  readonly acceptsDataWrapper: boolean
  /** Returns a string identity for keys that must be unique in a request; null if it has none. */
  readonly identityOf: (record: JsonObject) => string | null
  /**
   * Returns the identity that settings of the account give a record, null for none; undefined if the
   * record has the same identity without them.
   */
  readonly configuredIdentityOf?: (record: JsonObject) => string | null | undefined
  readonly validate: (record: JsonObject) => RecordCheck
}

/** Returns whether a JSON value is an object, not an array or null. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the JSON type of a value. */
export function jsonType(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
