import { digest } from '../../platform/auth/secret.ts'
import { canonicalJson } from '../../platform/validation/canonical-json.ts'

const HEX = /^[\da-f]+$/

/** The hexadecimal digits of a statement's id, and those that a line adds to them. */
const STATEMENT_DIGITS = 24
const LINE_DIGITS = 16

/** Returns the id of the statement of an affiliate, plan and period. */
export async function statementId(
  affiliate: string,
  plan: string,
  period: string,
): Promise<string> {
  const digits = await digest(canonicalJson([affiliate, plan, period]))
  return `stm_${digits.slice(0, STATEMENT_DIGITS)}`
}

/** What tells a line from the others of its statement. */
export interface LineKey {
  readonly version: number
  readonly rule: string
  readonly scope: string
}

/**
 * Returns the id of a line. It begins with the digits of its statement's id, by which the line is found.
 *
 * @param earlier How many lines before it have the same key: an affiliate can fund the lines of several
 * weeks in one month.
 */
export async function lineId(
  statement: string,
  { version, rule, scope }: LineKey,
  earlier: number,
): Promise<string> {
  const key = earlier === 0 ? [version, rule, scope] : [version, rule, scope, earlier]
  const digits = await digest(canonicalJson(key))
  return `lin_${statement.slice('stm_'.length)}${digits.slice(0, LINE_DIGITS)}`
}

/** Returns the id of the adjustment of a line, or of what a period dropped, in a statement. */
export async function adjustmentId(statement: string, of: string): Promise<string> {
  const digits = await digest(canonicalJson(of))
  return `adj_${statement.slice('stm_'.length)}${digits.slice(0, LINE_DIGITS)}`
}

/** Returns the id of the statement that has a line or an adjustment; null if the text is neither. */
export function statementOfLine(id: string): string | null {
  const digits = id.slice('lin_'.length)
  const isKnown = id.startsWith('lin_') || id.startsWith('adj_')
  const isLine = isKnown && digits.length === STATEMENT_DIGITS + LINE_DIGITS
  return isLine && HEX.test(digits) ? `stm_${digits.slice(0, STATEMENT_DIGITS)}` : null
}
