import { compare, decimal, sum } from '../../commission/engine/decimal.ts'
import { dayInFirstZone } from '../../commission/statements/book-fields.ts'
import { moneyText } from '../../commission/statements/money.ts'
import { type FoundTransfer, mayMove } from '../db/transfers.ts'
import type { TransferState } from '../model.ts'
import { isOfTransfer } from '../reference.ts'
import { type AnswerRow, BECOMES, refused, type Says, type Stated } from './row.ts'

// Which transfers the rows of an answer are about. Only an exact match counts: reference, amount, currency, payer.

/** Why nothing is booked of a row without a reference of this account. */
export const UNNAMED = 'It names no transfer of this account that is under way.'

type Becomes = (typeof BECOMES)[number]

/** What becomes of a transfer. */
export interface Entry extends Pick<AnswerRow, 'row' | 'day' | 'code' | 'reason'> {
  readonly transfer: string
  readonly becomes: Becomes
}

/** What becomes of a transfer, and how it was found. */
export interface Change {
  readonly entry: Entry
  readonly transfer: FoundTransfer
}

/** What rows are matched with. */
export interface Known {
  /** The transfers that references name: one, or those of a batch that are not over. */
  readonly named: ReadonlyMap<string, readonly FoundTransfer[]>
  /** The numbers of the account from which a transfer is paid, by `payer version`. */
  readonly numbers: ReadonlyMap<string, readonly string[]>
  /** The payer of the rows that name no account; undefined if there are several. */
  readonly payer: string | undefined
}

/** The order in which rows are booked, whatever their order in the file. */
const ORDER: readonly Says[] = [...BECOMES, 'failed']

/** In which states a transfer has become what a row says. */
const DONE: Readonly<Record<Exclude<Becomes, 'checked'>, readonly TransferState[]>> = {
  accepted: ['accepted', 'paid', 'returned'],
  rejected: ['rejected'],
  paid: ['paid', 'returned'],
  returned: ['returned'],
}

/** Returns the letters and digits of the number of an account. */
export const numberKey = (number: string): string =>
  number.toUpperCase().replaceAll(/[^\dA-Z]/g, '')

/**
 * Returns a function that follows transfers from row to row: what becomes of one, whether it is so already, and why it
 * cannot.
 */
export function followTransfers() {
  const states = new Map<string, TransferState>()
  return ({ id, name_check, ...found }: FoundTransfer, says: Says, reason: string | null) => {
    const state = states.get(id) ?? found.state
    const back = DONE.paid.includes(state) ? 'returned' : 'rejected'
    const becomes = says === 'failed' ? back : (says as Becomes)
    const isCheck = becomes === 'checked'
    const isDone = isCheck ? name_check === reason : DONE[becomes].includes(state)
    // The name of an owner is kept as long as a transfer is under way.
    const isStuck = !isDone && !mayMove(state, isCheck ? 'cancelled' : becomes)
    if (!isCheck && !isDone && !isStuck) states.set(id, becomes)
    return { becomes, isDone, problem: isStuck ? stateWords(id, state, becomes) : null }
  }
}

/** Says why a transfer cannot become what a row says. */
const stateWords = (id: string, state: TransferState, becomes: Becomes): string =>
  becomes === 'returned' && mayMove(state, 'paid')
    ? `${id} came back, but its payment is not booked. Read the file with the payment first, then this one again.`
    : `${id} is ${state === 'created' ? 'in a file that was never downloaded' : state}, so it cannot be ${becomes}. Look at it with your bank.`

/** Matches rows with transfers: what would be booked, and of which rows nothing, those first that name a transfer. */
export function matchRows(rows: readonly AnswerRow[], known: Known) {
  const changes: Change[] = []
  const unmatched: { row: number; states: string; detail: string }[] = []
  const movements = new Set<string>()
  let unchanged = 0
  const follow = followTransfers()
  // Of rows that say the same, those of one transfer say why, and come before those of batches.
  const placeOf = ({ says, references }: AnswerRow) =>
    2 * ORDER.indexOf(says) + (references.some(isOfTransfer) ? 0 : 1)
  for (const found of rows.toSorted((a, b) => placeOf(a) - placeOf(b))) {
    const { row, says, day, code, reason, stated } = found
    const states = [day, stated[0]?.amount, stated[0]?.currency].filter(Boolean).join(' ')
    const transfers = findAll(found, known)
    if (typeof transfers === 'string') {
      unmatched.push({ row, states, detail: transfers })
      continue
    }
    for (const transfer of transfers) {
      const { becomes, isDone, problem } = follow(transfer, says, reason)
      const entry = { row, transfer: transfer.id, becomes, day, code, reason }
      const isTwice = day !== null && movements.has(`${says} ${transfer.id}`)
      const detail = isTwice ? `${transfer.id} is in the file twice: it is booked once.` : problem
      movements.add(`${says} ${transfer.id}`)
      if (detail !== null) unmatched.push({ row, states, detail })
      else if (isDone) unchanged += 1
      else changes.push({ entry, transfer })
    }
  }
  const isUnnamed = ({ detail }: { detail: string }) => Number(detail === UNNAMED)
  unmatched.sort((a, b) => isUnnamed(a) - isUnnamed(b) || a.row - b.row)
  return { changes, unmatched, unchanged }
}

/** Returns the transfers that a row is exactly about, or why there are none. */
function findAll(row: AnswerRow, known: Known): readonly FoundTransfer[] | string {
  const { named, numbers, payer } = known
  const { says, account, day, stated } = row
  const names = row.references.filter((one) => named.has(one))
  const own = names.filter(isOfTransfer)
  const [name = '', second] = own.length > 0 ? own : names
  const transfers = named.get(name) ?? []
  const [first] = transfers
  if (!first) return UNNAMED
  if (second) return `It names several: ${name}, ${second}.`
  if (says === 'pending') return `${name}: the bank has not booked it, or has undone it.`
  const isMovement = says === 'paid' || says === 'returned' || says === 'failed'
  if (isMovement && account === null && payer === undefined) {
    throw refused('The file does not say from which account it is: name the `payer`.')
  }
  const isFrom = account
    ? numbers.get(`${first.payer} ${first.payer_version}`)?.includes(numberKey(account))
    : payer === first.payer || !isMovement
  if (!isFrom) return `${name} is paid from another account than that of the row.`
  if (isMovement && (stated.length === 0 || day === null)) {
    return `${name}: the amount, its currency or the day cannot be read.`
  }
  if (day !== null && day > dayInFirstZone(1)) return `${name}: ${day} is after tomorrow.`
  const due = sum(transfers.map(({ amount }) => decimal(amount)))
  const { currency } = first
  const isExact = ({ amount, ...one }: Stated) =>
    (one.currency ?? currency) === currency &&
    /^\d+(\.\d+)?$/.test(amount) &&
    compare(decimal(amount), due) === 0
  if (stated.length === 0 || stated.some(isExact)) return transfers
  return `${name}: the row has ${stated[0]?.amount} ${stated[0]?.currency ?? ''}, and not ${moneyText(due, currency)} ${currency}.`
}
