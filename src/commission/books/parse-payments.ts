import * as v from 'valibot'
import { foldReference } from '../../db/commission/books/references.ts'
import type { Issue } from '../../validation/issue.ts'
import { quote } from '../../validation/quote.ts'
import { isObject } from '../../validation/record-validator.ts'
import { validateObject } from '../../validation/strict-object.ts'
import { readCsv } from '../csv.ts'
import { minorDigits } from '../minor-digits.ts'
import { listedPayment, listedReturn } from './book-fields.ts'
import { BOOK_LIMITS } from './limits.ts'
import type { ListedPayment } from './match-payments.ts'
import { normalizeMoney } from './money.ts'

const FIELDS = v.object({ ...listedPayment, ...listedReturn })
const COLUMNS = Object.keys(listedPayment)

/** Columns that a file may have; an empty cell says that the payment did not come back. */
const OF_RETURN = Object.keys(listedReturn)

/** Further columns of the list of payouts; a file that was made from it may keep them. */
const IGNORED = ['statements', 'payable_on']

const ALLOWED = [...COLUMNS, ...OF_RETURN, ...IGNORED]

const ADD_DAY = 'Add it with the day of the payment, or use `payouts import --on`.'

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
    const message = `Row ${longer + 1} has ${rows[longer]?.length} cells; the header has ${header.length}.`
    return refuse({ pointer: `/rows/${longer}`, code: 'length', message })
  }
  const objects = rows.map((cells) =>
    Object.fromEntries(
      header.flatMap((name, i) => {
        const cell = cells[i] ?? ''
        const isLeftOut = IGNORED.includes(name) || (OF_RETURN.includes(name) && cell === '')
        return isLeftOut ? [] : [[name, cell]]
      }),
    ),
  )
  return checkPayments(objects, '/rows')
}

const EMPTY: Issue = {
  pointer: '',
  code: 'pattern',
  message: 'The file is empty.',
}

const unreadable = ({ line, reason }: { line: number; reason: string }): Issue => ({
  pointer: '',
  code: 'pattern',
  message: `The file is not valid CSV: line ${line} has ${reason}.`,
})

/** Returns what is wrong with the names of the columns; null if nothing is. */
function checkHeader(header: readonly string[]): Issue | null {
  const place = { pointer: '/header', code: 'unknown_reference' } as const
  const unknown = header.find((name) => !ALLOWED.includes(name))
  if (unknown !== undefined) {
    const message = `The column ${quote(unknown)} is unknown. Allowed: ${ALLOWED.join(', ')}.`
    return { ...place, message }
  }
  const repeated = header.find((name, i) => header.indexOf(name) < i)
  if (repeated !== undefined) {
    const expected = `the name of column ${header.indexOf(repeated) + 1}`
    const instruction = 'Leave out one of the two columns.'
    return { pointer: '/header', code: 'duplicate', expected, value: repeated, instruction }
  }
  const missing = COLUMNS.find((name) => !header.includes(name))
  if (missing === undefined) return null
  const message = `The column ${quote(missing)} is missing.`
  return { ...place, message, ...(missing === 'paid_on' && { instruction: ADD_DAY }) }
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
    const folded = foldReference(reference)
    const first = references.get(folded)
    if (first === undefined) references.set(folded, i)
    else {
      const message = `Payments ${first + 1} and ${i + 1} have the same reference ${quote(reference)}.`
      issues.push({ pointer: `${pointer}/reference`, code: 'duplicate', message })
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
  const { currency, paid_on, returned_on, reason } = valid
  const amount = normalizeMoney(valid.amount, currency)
  const broken: Issue[] = []
  if (amount === null) {
    const expected = String(minorDigits(currency))
    broken.push({ pointer: `${pointer}/amount`, code: 'decimals', expected, value: valid.amount })
  }
  if ((returned_on === undefined) !== (reason === undefined)) {
    const missing = reason === undefined ? 'reason' : 'returned_on'
    broken.push({ pointer: `${pointer}/${missing}`, code: 'required' })
  }
  if (returned_on !== undefined && returned_on < paid_on) {
    broken.push(beforePayment(`${pointer}/returned_on`, returned_on, paid_on))
  }
  if (amount === null || broken.length > 0) return { issues: broken, payment: null }
  return { issues: [], payment: { ...valid, amount, pointer } }
}

/** Returns the issue of a payment that came back before it was made. */
export const beforePayment = (pointer: string, returnedOn: string, paidOn: string): Issue => ({
  pointer,
  code: 'minimum',
  expected: `${paidOn}, the day of the payment`,
  value: returnedOn,
})
