/** The codes of errors in records and in other bodies. */
export const ISSUE_CODES = [
  'required',
  'unknown_field',
  'type',
  'date_time',
  'date',
  'length',
  'text',
  'pattern',
  'email',
  'currency',
  'number',
  'digits',
  'decimals',
  'minimum',
  'maximum',
  'enum',
  'duplicate_key',
  'unknown_customer',
  'unknown_affiliate',
  'record_count',
  'field_case',
  'no_kpi',
  'circle',
  'choice',
  'duplicate',
  'unknown_reference',
  'not_applicable',
  'no_latin',
  'order',
  'fixed_by_plan',
  'rate_differs',
  'idempotency_key_reused',
] as const

/** The `code` of a record error. */
export type IssueCode = (typeof ISSUE_CODES)[number]

/** A broken rule as data; `formatIssue` turns it into text. */
export interface Issue {
  /** The position of the record in the request; absent for an error of the whole body. */
  index?: number
  key?: Record<string, string>
  /** A JSON Pointer into the body as sent. */
  pointer: string
  code: IssueCode
  /** The message, where that of the code does not fit. It quotes no personal field. */
  message?: string
  /** Whether the pointer leads into an additional field, whose names only the sender knows. */
  isInAdditionalField?: true
  /** What the rule expects, in words. */
  expected?: string
  /** What was sent instead, where it is not the value itself: a JSON type, a length or a count. */
  received?: string
  /** What the sender can do, where the code alone does not tell. */
  instruction?: string
  /** The value as sent, if a message may quote it; never that of a personal field. */
  value?: unknown
  /** Names that are valid here. */
  suggestions?: readonly string[]
}

/** Returns the message of a schema rule: a code and what the rule expects, in words. */
export const ruleMessage = <C extends IssueCode>(code: C, expected = '') =>
  expected ? `${code} ${expected}` : code

/**
 * Parses the message of a schema rule.
 *
 * @throws Error if the message does not start with an issue code.
 */
export function parseRuleMessage(message: string): Pick<Issue, 'code' | 'expected'> {
  const [name, ...words] = message.split(' ')
  const code = ISSUE_CODES.find((issueCode) => issueCode === name)
  if (!code) throw new Error(`A schema rule has no issue code: ${message}`)
  return words.length > 0 ? { code, expected: words.join(' ') } : { code }
}
