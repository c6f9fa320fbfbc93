import * as v from 'valibot'
import type { Issue } from '../../validation/issue.ts'
import { isObject } from '../../validation/record-validator.ts'
import { validateObject } from '../../validation/strict-object.ts'
import { readCsv } from '../csv.ts'
import { minorDigits } from '../minor-digits.ts'
import { BOOK_LIMITS } from './limits.ts'
import type { ListedPayment } from './match-payments.ts'
import { normalizeMoney } from './money.ts'
import { listedPayment } from './payment-fields.ts'

const FIELDS = v.object(listedPayment)
const COLUMNS = Object.keys(listedPayment)

/** Further columns of the list of payouts; a file that was made from it may keep them. */
const IGNORED = ['statements', 'payable_on']

/** The payments of a body, or what is wrong with it. */
export interface ParsedPayments {
  readonly payments: readonly ListedPayment[]
  readonly issues: readonly Issue[]
}

/** Parses the payments of a JSON array. */
export function parsePayments(body: unknown): ParsedPayments {
  if (!Array.isArray(body)) {
    return { payments: [], issues: [{ pointer: '', code: 'type', expected: 'array' }] }
  }
  return checkPayments(body, '')
}

/** Parses the payments of a CSV file. Its first row names the columns, in any order. */
export function parsePaymentFile(text: string): ParsedPayments {
  const refuse = (issue: Issue): ParsedPayments => ({ payments: [], issues: [issue] })
  const { rows: all, fault } = readCsv(text)
  if (fault) return refuse(unreadable(fault))
  const [header, ...rows] = all
  if (!header) return refuse(EMPTY)
  const issue = checkHeader(header)
  if (issue) return refuse(issue)
  const longer = rows.findIndex(({ length }) => length !== header.length)
  if (longer >= 0) {
    const expected = `${header.length} cells`
    const received = String(rows[longer]?.length)
    return refuse({ pointer: `/rows/${longer}`, code: 'length', expected, received })
  }
  const objects = rows.map((cells) =>
    Object.fromEntries(
      header.flatMap((name, i) => (IGNORED.includes(name) ? [] : [[name, cells[i] ?? '']])),
    ),
  )
  return checkPayments(objects, '/rows')
}

const EMPTY: Issue = {
  pointer: '',
  code: 'pattern',
  expected: 'CSV with a row of column names, but it is empty',
}

const unreadable = ({ line, reason }: { line: number; reason: string }): Issue => ({
  pointer: '',
  code: 'pattern',
  expected: `CSV, but line ${line} has ${reason}`,
})

/** Returns what is wrong with the names of the columns; null if nothing is. */
function checkHeader(header: readonly string[]): Issue | null {
  const place = { pointer: '/header', expected: `a column of ${COLUMNS.join()}` }
  const unknown = header.find((name) => !COLUMNS.includes(name) && !IGNORED.includes(name))
  if (unknown !== undefined) return { ...place, code: 'unknown_reference', value: unknown }
  const repeated = header.find((name, i) => header.indexOf(name) < i)
  if (repeated !== undefined) {
    const expected = `the name of column ${header.indexOf(repeated) + 1}`
    const instruction = 'Leave out one of the two columns.'
    return { pointer: '/header', code: 'duplicate', expected, value: repeated, instruction }
  }
  const missing = COLUMNS.find((name) => !header.includes(name))
  return missing === undefined ? null : { ...place, code: 'unknown_reference', value: missing }
}

function checkPayments(sent: readonly unknown[], at: string): ParsedPayments {
  const { payments: max } = BOOK_LIMITS
  if (sent.length === 0 || sent.length > max) {
    const expected = `1 to ${max}`
    const received = String(sent.length)
    return { payments: [], issues: [{ pointer: at, code: 'record_count', expected, received }] }
  }
  const issues: Issue[] = []
  const payments: ListedPayment[] = []
  const references = new Map<string, number>()
  for (const [i, one] of sent.entries()) {
    const pointer = `${at}/${i}`
    const checked = checkPayment(one, pointer)
    issues.push(...checked.issues)
    if (!checked.payment) continue
    const { reference } = checked.payment
    const first = references.get(reference)
    if (first === undefined) references.set(reference, i)
    else {
      const expected = `that of ${at}/${first}`
      issues.push({
        pointer: `${pointer}/reference`,
        code: 'duplicate',
        expected,
        value: reference,
      })
    }
    payments.push(checked.payment)
  }
  return { payments, issues }
}

function checkPayment(
  sent: unknown,
  pointer: string,
): { issues: Issue[]; payment: ListedPayment | null } {
  if (!isObject(sent)) {
    return { issues: [{ pointer, code: 'type', expected: 'object' }], payment: null }
  }
  const { issues, output } = validateObject(sent, FIELDS)
  if (issues.length > 0) {
    const placed = issues.map((issue) => ({ ...issue, pointer: pointer + issue.pointer }))
    return { issues: placed, payment: null }
  }
  // Without issues every member is valid.
  const valid = output as v.InferOutput<typeof FIELDS>
  const { currency } = valid
  const amount = normalizeMoney(valid.amount, currency)
  if (amount !== null) return { issues: [], payment: { ...valid, amount, pointer } }
  const issue: Issue = {
    pointer: `${pointer}/amount`,
    code: 'decimals',
    expected: String(minorDigits(currency)),
    value: valid.amount,
  }
  return { issues: [issue], payment: null }
}
