import * as v from 'valibot'
import { findStatement, type ListedStatement } from '../commission/db/statements.ts'
import type { StatementHead } from '../commission/run/draft.ts'
import { listedPayment } from '../commission/shapes/book-fields.ts'
import { counted } from '../commission/words/english.ts'
import { type AffiliateHolds, readHolds, seenOf } from '../fraud/holds.ts'
import type { PayableStatement } from '../ledger/db/entries.ts'
import { foldReference } from '../ledger/db/manual-entries.ts'
import { byAge } from '../ledger/due.ts'
import { compareText } from '../platform/compare-text.ts'
import { ApiError, type ErrorCode } from '../platform/errors.ts'
import { readItems, validateAt, validationFailed } from '../platform/http/read-fields.ts'
import { add, compare, type Decimal, decimal, ZERO } from '../platform/money/decimal.ts'
import { minorDigits } from '../platform/money/minor-digits.ts'
import { moneyText, normalizeMoney } from '../platform/money/money.ts'
import type { Issue } from '../platform/validation/issue.ts'
import { formatIssue } from '../platform/validation/messages.ts'
import { quote } from '../platform/validation/quote.ts'
import { noStatement } from './approve.ts'
import {
  bookPayments,
  bookReturn,
  findPayments,
  isOfBatch,
  type NewPayment,
  type PayingAccount,
  type Payment,
  readDue,
} from './db/pay.ts'
import { BOOK_LIMITS } from './limits.ts'
import { untilBooked } from './until-booked.ts'

/** Further columns of the list of payouts: rows that are sent back as payments may keep them. */
const IGNORED = ['statements', 'payable_on', 'status', 'returned', 'open_cases']

const FIELDS = {
  ...listedPayment,
  ...Object.fromEntries(IGNORED.map((name) => [name, v.optional(v.unknown())])),
}

/** A payment that a request lists, and its position. */
interface ListedPayment extends Omit<NewPayment, 'ids'> {
  readonly pointer: string
}

/**
 * Parses the payments of a body.
 *
 * @throws ApiError `validation_failed`
 */
export function parsePayments(sent: unknown): readonly ListedPayment[] {
  const issues: Issue[] = []
  const payments: ListedPayment[] = []
  const references = new Map<string, number>()
  for (const [i, { pointer, item }] of readItems(sent, BOOK_LIMITS.payments).entries()) {
    const checked = validateAt(item, FIELDS, pointer)
    issues.push(...checked.issues)
    if (checked.issues.length > 0) continue
    // Without issues every member is valid.
    const valid = checked.output as v.InferOutput<v.ObjectSchema<typeof listedPayment, undefined>>
    const { affiliate_id, currency, reference, paid_on } = valid
    const amount = normalizeMoney(valid.amount, currency)
    if (amount === null) {
      const expected = String(minorDigits(currency))
      const at = `${pointer}/amount`
      issues.push({ pointer: at, code: 'decimals', expected, value: valid.amount })
      continue
    }
    const folded = foldReference(reference)
    const first = references.get(folded)
    if (first === undefined) references.set(folded, i)
    else {
      const message = `Payments ${first + 1} and ${i + 1} have the same reference ${quote(reference)}.`
      issues.push({ pointer: `${pointer}/reference`, code: 'duplicate', message })
    }
    payments.push({ affiliate_id, currency, amount, reference, paid_on, pointer })
  }
  if (issues.length > 0) throw validationFailed(issues)
  return payments
}

const payeeKey = ({ affiliate_id, currency }: Pick<NewPayment, 'affiliate_id' | 'currency'>) =>
  JSON.stringify([affiliate_id, currency])

/** Compares statements by the day from which they are payable, and those of a day by age. */
const byDueDay = (a: PayableStatement, b: PayableStatement): number =>
  compareText(a.payable_on, b.payable_on) || byAge(a, b)

/**
 * Finds the statements that each payment pays: the first of its affiliate and currency to become payable. What a case
 * holds is not paid. Payments of a request come one after the other.
 */
function matchPayments(
  listed: readonly ListedPayment[],
  due: readonly PayableStatement[],
  booked: readonly Payment[],
  holds: ReadonlyMap<string, AffiliateHolds>,
) {
  const open = new Map(
    [...Map.groupBy(due, payeeKey)].map(([key, all]) => [key, all.sort(byDueDay)]),
  )
  const made: NewPayment[] = []
  const refused: Issue[] = []
  let unchanged = 0
  const find = bookedByReference(booked)
  for (const { pointer, ...one } of listed) {
    const known = find(one.reference)
    if (known) {
      if (isSame(known, one)) unchanged += 1
      else refused.push(reuse(pointer, known, one.reference))
      continue
    }
    const all = open.get(payeeKey(one)) ?? []
    const own = holds.get(one.affiliate_id)
    const count = countPaid(all, one.amount)
    if (own && all.length > 0) refused.push(heldPayment(pointer, one, own))
    else if (count === null) refused.push(misfit(pointer, one, all))
    else {
      open.set(payeeKey(one), all.slice(count))
      made.push({ ...one, ids: all.slice(0, count).map(({ id }) => id) })
    }
  }
  return { made, unchanged, refused }
}

/** Returns a function that finds the payment with a reference, else the one whose return has it. */
function bookedByReference(booked: readonly Payment[]) {
  const own = new Map(booked.map((one) => [foldReference(one.reference), one]))
  const returns = new Map(booked.map((one) => [foldReference(one.return_reference ?? ''), one]))
  return (reference: string): Payment | undefined => {
    const folded = foldReference(reference)
    return own.get(folded) ?? returns.get(folded)
  }
}

const isSame = (a: Payment, b: Omit<NewPayment, 'ids'>): boolean =>
  isOf(a, b.reference) &&
  a.affiliate_id === b.affiliate_id &&
  a.currency === b.currency &&
  a.amount === b.amount &&
  a.paid_on === b.paid_on

/** Returns the sums of the first one, two and more statements. */
function sumsOf(due: readonly PayableStatement[]): Decimal[] {
  let sum = ZERO
  return due.map(({ payable }) => {
    sum = add(sum, decimal(payable))
    return sum
  })
}

/** Returns how many of the first statements an amount pays; null if it pays none exactly. */
function countPaid(due: readonly PayableStatement[], amount: string): number | null {
  const index = sumsOf(due).findIndex((sum) => compare(sum, decimal(amount)) === 0)
  return index < 0 ? null : index + 1
}

const reuse = (pointer: string, known: Payment, reference: string): Issue => ({
  pointer: `${pointer}/reference`,
  code: 'reference_used',
  expected: describeUse(known, reference),
  value: reference,
})

function misfit(
  pointer: string,
  { affiliate_id, currency, amount }: Omit<NewPayment, 'ids'>,
  due: readonly PayableStatement[],
): Issue {
  const sums = sumsOf(due)
  const total = sums.at(-1)
  if (!total) {
    return {
      pointer,
      code: 'nothing_due',
      expected: `affiliate ${quote(affiliate_id)} in ${currency}`,
    }
  }
  const less = sums.findLastIndex((sum) => compare(sum, decimal(amount)) < 0)
  const fitting = [less, less + 1].flatMap((i) => {
    const sum = sums[i]
    return sum ? [`${moneyText(sum, currency)} (${counted(i + 1, 'statement')})`] : []
  })
  return {
    pointer: `${pointer}/amount`,
    code: 'amount_differs',
    expected: `affiliate ${quote(affiliate_id)} gets ${moneyText(total, currency)} ${currency} for ${counted(due.length, 'statement')}`,
    value: amount,
    instruction: `Pay ${fitting.join(' or ')}.`,
  }
}

/** The most cases that a sentence names. */
const MAX_CASES = 5

/** Says which cases hold the payouts of an affiliate. */
function holdersOf({ cases }: AffiliateHolds): string {
  const ids = cases.map(({ id }) => quote(id))
  return `${ids.length === 1 ? 'the case' : 'the cases'} ${ids.slice(0, MAX_CASES).join(', ')}`
}

const heldPayment = (
  pointer: string,
  { affiliate_id, amount }: Omit<NewPayment, 'ids'>,
  holds: AffiliateHolds,
): Issue => ({
  pointer,
  code: 'held_by_case',
  expected: `affiliate ${quote(affiliate_id)}: ${holdersOf(holds)}`,
  value: amount,
})

/** Who has paid which statement, and how. */
interface StatementPayment {
  readonly id: string
  readonly reference: string
  readonly paid_on: string
  readonly actor: string
  /** In milliseconds. */
  readonly now: number
}

/**
 * Books that a statement was paid. One that was paid with the same reference on the same day is
 * returned as it is.
 *
 * @throws ApiError `not_found`, `not_approved`, `already_paid`, `nothing_due`, `reference_used`, `held_by_case`, `conflict`
 */
export const payStatement = (
  db: D1Database,
  account: PayingAccount,
  { id, reference, paid_on, actor, now }: StatementPayment,
): Promise<ListedStatement> =>
  untilBooked(async () => {
    const statement = await findStatement(db, account.id, id, 1)
    if (!statement) throw noStatement()
    const [known] = await findPayments(db, account.id, [reference])
    const isSamePayment = known?.reference === statement.payment && known?.paid_on === paid_on
    if (known && isSamePayment && isOf(known, reference)) return statement
    if (known) throw used(known, reference)
    checkPayable(statement)
    const { affiliate_id, currency } = headOf(statement)
    const [holds, due] = await Promise.all([
      readHolds(db, account.id, [affiliate_id]),
      readDue(db, account.id, [affiliate_id], BOOK_LIMITS.due),
    ])
    const own = holds.get(affiliate_id)
    if (own) throw heldByCase(own)
    const amount = due.find((one) => one.id === id)?.payable
    if (amount === undefined) throw underWay()
    const row = { reference, affiliate_id, currency, amount, paid_on, ids: [id] }
    const details = { statement: id, reference, paid_on, amount, currency }
    const payer = { account, actor, action: 'statement.pay', details, now }
    const isBooked = await bookPayments(db, payer, [row], seenOf(holds, [affiliate_id]))
    return isBooked ? findStatement(db, account.id, id, 1) : null
  })

/** Returns the error of the payment of a statement that a batch pays. */
const underWay = () =>
  new ApiError('conflict', {
    detail:
      'A transfer of a batch is under way for the statement. Upload the answer of the bank, or cancel the batch.',
  })

/** Returns the error of the payment of a statement that cases hold. */
const heldByCase = (holds: AffiliateHolds) =>
  new ApiError('held_by_case', {
    detail: `The payout is held by ${holdersOf(holds)} of the fraud review. Decide what holds it.`,
    held_by: holds.cases.map(({ id }) => id),
  })

/** Returns the error of a reference that was used before. */
const used = (known: Payment, reference: string) =>
  new ApiError('reference_used', {
    detail: `The reference ${quote(reference)} was used for ${describeUse(known, reference)}. What is booked cannot be changed: give every payment and return a reference of its own.`,
  })

const headOf = ({ statement }: ListedStatement): StatementHead => JSON.parse(statement)

/** Throws the code of what forbids the payment of a statement. */
function checkPayable(statement: ListedStatement): void {
  const { status, payment, paid_on } = statement
  const refuse = (code: ErrorCode, detail: string) => {
    throw new ApiError(code, { detail })
  }
  if (status === 'paid') {
    refuse('already_paid', `It was paid on ${paid_on} with the reference ${quote(payment)}.`)
  }
  if (status === 'draft') refuse('not_approved', 'Approve the statement before it is paid.')
  if (!/[1-9]/.test(headOf(statement).payable))
    refuse('nothing_due', 'The `payable` of the statement is 0.')
}

/** Whether a reference is that of a payment itself, and not that of its return. */
export const isOf = (payment: Payment, reference: string): boolean =>
  foldReference(payment.reference) === foldReference(reference)

/** Says for what a reference was used: a payment, or its return. */
function describeUse(payment: Payment, reference: string): string {
  const { affiliate_id, currency, amount, paid_on, returned_on } = payment
  const made = `the payment of ${amount} ${currency} to affiliate ${quote(affiliate_id)} on ${paid_on}`
  if (isOf(payment, reference)) {
    return returned_on === null ? made : `${made}, which came back on ${returned_on}`
  }
  return `the return of the payment ${quote(payment.reference)} on ${returned_on}`
}

/** Who reports that the payment of which statement came back, and how. */
interface StatementReturn {
  readonly id: string
  readonly reference: string
  readonly returned_on: string
  readonly reason: string
  readonly actor: string
  /** In milliseconds. */
  readonly now: number
}

/**
 * Books that the payment of a statement came back, with all statements that it paid. A return that is
 * booked already leaves everything as it is.
 *
 * @throws ApiError `not_found`, `not_paid`, `reference_used`, `validation_failed`; `conflict` if a batch made the payment
 */
export const returnPayment = (
  db: D1Database,
  account: PayingAccount,
  { id, reference, returned_on, reason, actor, now }: StatementReturn,
): Promise<ListedStatement> =>
  untilBooked(async () => {
    const statement = await findStatement(db, account.id, id, 1)
    if (!statement) throw noStatement()
    const { payment } = statement
    const found = await findPayments(db, account.id, payment ? [reference, payment] : [reference])
    const booked = found.find((one) => isReturnOf(one, reference))
    if (booked) {
      const isSame = booked.returned_on === returned_on && booked.reason === reason
      if (isSame && idsOf(booked).includes(id)) return statement
      throw used(booked, reference)
    }
    const paid = found.find((one) => one.reference === payment)
    if (!paid) throw notPaid(statement)
    if (await isOfBatch(db, account.id, paid.reference)) {
      throw new ApiError('conflict', {
        detail: `A batch made the payment, by the transfer ${quote(paid.reference)}. Book there that it came back.`,
      })
    }
    const other = found.find((one) => one !== paid)
    if (other) throw used(other, reference)
    if (returned_on < paid.paid_on) {
      const expected = `${paid.paid_on}, the day of the payment`
      throw validationFailed([
        { pointer: '/returned_on', code: 'minimum', expected, value: returned_on },
      ])
    }
    const returned = { payment: paid.reference, reference, returned_on, reason }
    const { amount, currency } = paid
    const details = { statements: idsOf(paid), ...returned, amount, currency }
    const payer = { account, actor, action: 'statement.return', details, now }
    return (await bookReturn(db, payer, returned)) ? findStatement(db, account.id, id, 1) : null
  })

const isReturnOf = ({ return_reference }: Payment, reference: string): boolean =>
  return_reference !== null && foldReference(return_reference) === foldReference(reference)

const idsOf = ({ statements }: Payment): string[] => JSON.parse(statements)

const notPaid = ({ status }: ListedStatement) =>
  new ApiError('not_paid', {
    detail:
      status === 'draft'
        ? 'It is a draft: nothing was paid.'
        : 'It is approved and due: no payment of it is booked that has not come back.',
  })

/** The maximum number of errors that a response lists. */
const MAX_LISTED = 100

/**
 * Books payments, all or none. Those that are booked already are left as they are.
 *
 * @throws ApiError `amount_differs`, `held_by_case`, `nothing_due` or `reference_used`: the code of the first error.
 */
export function importPayments(
  db: D1Database,
  account: PayingAccount,
  listed: readonly ListedPayment[],
  { actor, now }: { readonly actor: string; readonly now: number },
) {
  const references = listed.map(({ reference }) => reference)
  const affiliates = [...new Set(listed.map(({ affiliate_id }) => affiliate_id))]
  return untilBooked(async () => {
    const [booked, due, holds] = await Promise.all([
      findPayments(db, account.id, references),
      readDue(db, account.id, affiliates, BOOK_LIMITS.due + 1),
      readHolds(db, account.id, affiliates),
    ])
    if (due.length > BOOK_LIMITS.due) throw tooMany()
    const { made, unchanged, refused } = matchPayments(listed, due, booked, holds)
    if (refused.length > 0) throw refusalOf(refused)
    const statements = made.reduce((sum, { ids }) => sum + ids.length, 0)
    const result = { received: listed.length, paid: made.length, unchanged, statements }
    if (made.length === 0) return result
    const payer = { account, actor, action: 'payouts.book', details: { ...result }, now }
    const paid = [...new Set(made.map(({ affiliate_id }) => affiliate_id))]
    return (await bookPayments(db, payer, made, seenOf(holds, paid))) ? result : null
  })
}

const tooMany = () =>
  new ApiError('validation_failed', {
    detail: `The affiliates of these payments have more than ${BOOK_LIMITS.due.toLocaleString('en')} unpaid statements. Send the payments of fewer affiliates. Nothing was booked.`,
  })

/** Returns the error of payments that cannot be booked; its code is that of the first. */
function refusalOf(refused: readonly Issue[]): ApiError {
  const code = CODES.find((one) => one === refused[0]?.code) ?? 'conflict'
  return new ApiError(code, {
    detail: 'Nothing was booked.',
    errors: refused.slice(0, MAX_LISTED).map(formatIssue),
    errors_total: refused.length,
  })
}

const CODES = ['amount_differs', 'held_by_case', 'nothing_due', 'reference_used'] as const
