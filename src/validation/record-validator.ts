import type { Issue } from './issue.ts'
import type { Warning } from './warnings.ts'

/** The contract: of one record at most so many errors are written out; here, and so many warnings. */
export const MAX_LISTED_PER_RECORD = 10

/** What is found of one record; pointers are within it. */
export interface RecordCheck {
  /** The rules that it breaks. */
  issues: Issue[]
  /** What of it is right. */
  output: Record<string, unknown>
  /** What to tell of it if it is good. */
  warnings: Warning[]
}

/** What the records of a request are judged by. */
export interface RecordValidator {
  /** Whether an object may hold the records as its member `data`. */
  readonly acceptsDataWrapper: boolean
  /** One text for all that tells a record from others, where it must not be there twice. */
  readonly identityOf: (record: object) => string | null
  /** The members that tell it from others, as they were sent; undefined: there are none. */
  readonly keyOf: (record: object) => Record<string, string> | undefined
  readonly validate: (record: object) => RecordCheck
}

/** Whether a JSON value is an object, and no list. */
export const isObject = (record: unknown): record is object =>
  typeof record === 'object' && record !== null && !Array.isArray(record)
