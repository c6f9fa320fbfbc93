import { partsOf } from '../books/db/pay.ts'
import { untilBooked } from '../books/until-booked.ts'
import type { Connection } from '../platform/db/database.ts'
import { withAudit } from '../platform/directory/audit.ts'
import { ApiError } from '../platform/errors.ts'
import type { Call } from '../platform/http/operation.ts'
import { notFound, validationFailed } from '../platform/http/read-fields.ts'
import { requireOther, requirePerson, withInviters } from '../platform/http/two-persons.ts'
import { compare, decimal } from '../platform/money/decimal.ts'
import { minorDigits } from '../platform/money/minor-digits.ts'
import { normalizeMoney } from '../platform/money/money.ts'
import type { Issue } from '../platform/validation/issue.ts'
import { firstDayOf } from './answers/find.ts'
import { bookTransfers } from './book.ts'
import { readPersons } from './db/batches.ts'
import * as rows from './db/movements.ts'
import { type FoundTransfer, findTransfers, mayBook } from './db/transfers.ts'
import type { StoredMovement } from './model.ts'
import { isOfTransfer, referencesIn } from './reference.ts'

// What a person says of money that has moved: they book it at its transfer, or dismiss it.

/** What a person books. */
export interface Booked {
  readonly direction: StoredMovement['direction']
  readonly booked_on: string
  readonly amount: string
  readonly bank_reference?: string | undefined
  /** Why another amount has moved than the transfer orders. */
  readonly difference?: { readonly kind: 'fee' | 'owed'; readonly reason: string } | undefined
}

const conflict = (detail: string) => new ApiError('conflict', { detail })

/** Returns the movements that stand open, and those that a person booked with a difference. */
export const presentMovements = (all: readonly rows.NamedMovement[]) =>
  all
    .filter((one) => one.difference !== null || (one.doubt !== null && one.dismissed === 0))
    .map(({ state, account: _, other: __, n: ___, dismissed: ____, ...one }) => {
      const isOpen = one.doubt !== null && one.currency === one.ordered_currency
      return { ...one, can_book: isOpen && state !== null && mayBook(state, one.direction) }
    })

/** Reads the movements of transfers and batches that stand open, and those that a person booked with a difference. */
export const listMovements = async (
  db: Connection,
  account: string,
  references: readonly string[],
) => presentMovements(await rows.movementsOf(db, account, references))

/** Returns the transfer that a reference names. Throws `not_found`. */
async function requireTransfer({ db, account }: Call, written: string): Promise<FoundTransfer> {
  const [reference = written] = referencesIn(written)
  const [found] = isOfTransfer(reference) ? await findTransfers(db, account.id, [reference]) : []
  if (!found) throw notFound('transfer', written)
  return found
}

/** Returns what is booked, with the digits of the currency. Throws `validation_failed`. */
function readBooked({ difference, ...asked }: Booked, transfer: FoundTransfer, whole: string) {
  const { currency } = transfer
  const amount = normalizeMoney(asked.amount, currency)
  const ordered = `${whole} ${currency}`
  const issues: Issue[] = []
  const refuse = (pointer: string, code: Issue['code'], expected: string) =>
    issues.push({ pointer, code, expected })
  const refuseDifference = (code: Issue['code'], instruction: string) =>
    issues.push({
      pointer: '/difference',
      code,
      message: `The transfer is of ${ordered}.`,
      instruction,
    })
  if (transfer.method === 'wallet' && asked.direction === 'paid' && !asked.bank_reference)
    refuse('/bank_reference', 'required', 'the hash of the transaction')
  if (amount === null) refuse('/amount', 'decimals', String(minorDigits(currency)))
  const more = amount === null ? 0 : compare(decimal(amount), decimal(whole))
  if (more === 0 && difference) refuseDifference('not_applicable', 'Book it without a difference.')
  if (more !== 0 && !difference && amount)
    refuseDifference('required', 'Say what becomes of the difference, and why.')
  if (more > 0 && difference?.kind === 'owed')
    refuseDifference('not_applicable', 'More has moved, so there is no rest.')
  const first = firstDayOf(transfer)
  if (asked.booked_on < first) refuse('/booked_on', 'minimum', `${first}, when it was confirmed`)
  if (issues.length > 0 || amount === null) throw validationFailed(issues)
  return {
    ...asked,
    amount,
    difference: difference?.kind ?? null,
    note: difference?.reason ?? null,
  }
}

/** Says why a transfer cannot be booked by hand. */
const stateWords = ({ id, state }: FoundTransfer, direction: Booked['direction']): string =>
  state === 'created'
    ? `${id} is in a file that was never exported. Export its batch first.`
    : `${id} is ${state}, so it cannot be ${direction} with this day, amount or reference.`

/** What is booked of a transfer, and what a bank has named of it. */
interface Plan {
  readonly transfer: FoundTransfer
  readonly booked: ReturnType<typeof readBooked>
  /** The doubt that ends with it. */
  readonly said: StoredMovement | undefined
  /** What of the transfer is settled with it. */
  readonly settled: string
}

/**
 * Books what has moved of a transfer as a person says. `fee`: the bank kept what is missing, or took more, and what the
 * transfer orders is settled in whole. `owed`: what moved settles as much of it. The same again changes nothing.
 *
 * @throws ApiError `not_found`, `validation_failed`, `same_person`; `conflict` if something else is booked of it
 */
export const bookByHand = (call: Call, written: string, asked: Booked) =>
  untilBooked(async () => {
    await requirePerson(call)
    const transfer = await requireTransfer(call, written)
    const { id, state } = transfer
    const persons = await readPersons(call.db, call.account.id, transfer.batch)
    await requireOther(call, await withInviters(call, persons))
    const { direction } = asked
    const answer = { transfer: id, direction }
    const named = await rows.movementsOf(call.db, call.account.id, [id])
    const own = named.filter((one) => one.direction === direction)
    const paid = named.find((one) => one.direction === 'paid' && one.doubt === null)
    // Of what was paid in part, no more comes back.
    const isPart = direction === 'returned' && paid?.difference === 'owed'
    const whole = (isPart && paid.amount) || transfer.amount
    const booked = readBooked(asked, transfer, whole)
    if (own.some((one) => isSame(one, booked, whole))) {
      return { ...answer, outcome: 'unchanged' as const }
    }
    if (!mayBook(state, direction)) throw conflict(stateWords(transfer, direction))
    if (direction === 'returned' && paid && booked.booked_on < paid.day) {
      const expected = `${paid.day}, the day of the payment`
      throw validationFailed([{ pointer: '/booked_on', code: 'minimum', expected }])
    }
    const said = own.find(
      (one) => one.doubt !== null && one.currency === transfer.currency && isOfRow(one, booked),
    )
    const settled = booked.difference === 'owed' ? booked.amount : whole
    const isBooked = await store(call, { transfer, booked, said, settled })
    return isBooked ? { ...answer, outcome: 'booked' as const } : null
  })

/** Stores what is booked. Returns false if somebody else changed something meanwhile. */
async function store(call: Call, plan: Plan): Promise<boolean> {
  const { db } = call
  const { id: account } = call.account
  const { transfer, booked, said, settled } = plan
  const { id, currency } = transfer
  const { direction, booked_on: day, amount, difference, note } = booked
  const movement = {
    reference: id,
    direction,
    day,
    other: said?.other ?? (amount === transfer.amount ? '' : amount),
    bank_reference: said?.bank_reference ?? booked.bank_reference ?? '',
    n: said?.n ?? 1,
    amount,
    currency,
    difference,
    note,
  }
  const taken = await rows.findTaken(db, account, movement)
  if (taken) throw conflict(`The bank reference is that of the transfer ${taken.reference}.`)
  const reason = [said?.reason, note].filter(Boolean).join('. ') || null
  const ids = JSON.parse(transfer.statements) as string[]
  const made = [{ reference: id, currency, amount: settled, ids }]
  if (direction === 'paid' && !(await partsOf(db, account, made))) {
    throw conflict(
      `Another payment has what ${id} pays, or a part of it. Dismiss its doubt once you know what becomes of the money.`,
    )
  }
  const entry = { transfer: id, becomes: direction, day, code: said?.code ?? null, reason }
  const change = { transfer, entry: { ...entry, amount: settled, movement } }
  return bookTransfers(call, [change], {
    action: 'transfers.book',
    details: { ...movement },
    also: [rows.rejectTaken(db, account, movement)],
  })
}

/** Returns whether a movement is booked as a person says. A bank that is not named is the same. */
const isSame = (
  one: StoredMovement,
  booked: ReturnType<typeof readBooked>,
  whole: string,
): boolean =>
  one.doubt === null &&
  one.day === booked.booked_on &&
  (one.amount ?? whole) === booked.amount &&
  (booked.bank_reference ?? one.bank_reference) === one.bank_reference &&
  one.difference === booked.difference &&
  one.note === booked.note

/** Returns whether a person books the movement that a bank has named. */
const isOfRow = (
  { day, amount, bank_reference }: StoredMovement,
  booked: Pick<Booked, 'booked_on' | 'amount' | 'bank_reference'>,
): boolean =>
  day === booked.booked_on &&
  amount !== null &&
  /^[\d.]+$/.test(amount) &&
  compare(decimal(amount), decimal(booked.amount)) === 0 &&
  (booked.bank_reference ?? bank_reference) === bank_reference

/**
 * Ends the doubts about what a bank says of a transfer or a batch: a person has looked at it.
 *
 * @throws ApiError `not_found`, `same_person`
 */
export async function dismissDoubts(call: Call, written: string, reason: string) {
  await requirePerson(call)
  const { db, actor } = call
  const { id: account } = call.account
  const [reference = written] = referencesIn(written)
  const [transfer] = await findTransfers(db, account, [reference], 1)
  if (!transfer) throw notFound('transfer', written)
  const all = await listMovements(db, account, [reference])
  const own = all.filter((one) => one.reference === reference && one.doubt !== null)
  const details = { reference, affiliate_id: transfer.affiliate_id, reason }
  const entry = { actor, action: 'movements.dismiss', account, details }
  if (own.length > 0) await withAudit(db, entry, rows.dismiss(db, account, reference))
  return { reference, dismissed: own.length }
}
