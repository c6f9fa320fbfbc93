import { digest } from '../../auth/secret.ts'
import { canonicalJson } from '../../validation/canonical-json.ts'

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
 */
export async function lineId(
  statement: string,
  { version, rule, scope }: LineKey,
): Promise<string> {
  const digits = await digest(canonicalJson([version, rule, scope]))
  return `lin_${statement.slice('stm_'.length)}${digits.slice(0, LINE_DIGITS)}`
}

/** Returns the id of the statement that has a line; null if the text is not the id of a line. */
export function statementOfLine(line: string): string | null {
  const digits = line.slice('lin_'.length)
  const isLine = line.startsWith('lin_') && digits.length === STATEMENT_DIGITS + LINE_DIGITS
  return isLine && HEX.test(digits) ? `stm_${digits.slice(0, STATEMENT_DIGITS)}` : null
}
