import {
  add,
  compare,
  decimal,
  isNegative,
  negate,
  plainText,
  subtract,
  ZERO,
} from '../../commission/engine/decimal.ts'
import { moneyText } from '../../commission/statements/money.ts'
import { type FoundTransfer, mayMove } from '../db/transfers.ts'
import { TRANSFER_STATES, type TransferState } from '../model.ts'
import { isOfTransfer } from '../reference.ts'
import type { AnswerRow, Says, Stated } from './row.ts'

// Which transfers the rows of an answer are about. Only an exact match counts: reference, amount, currency, payer.

/** Why nothing is booked of a row. */
export const UNMATCHED = [
  ...(['no_reference', 'several', 'other_payer', 'other_currency'] as const),
  ...(['amount_differs', 'unreadable', 'not_booked', 'twice', 'wrong_state'] as const),
]

/** A row of which nothing is booked. */
export interface Unmatched {
  readonly row: number
  readonly reason: (typeof UNMATCHED)[number]
  readonly detail: string
}

/** Why nothing is booked of a row without a reference of this account. */
export const UNNAMED = {
  reason: 'no_reference',
  detail: 'It names no transfer of this account.',
} as const

/** What becomes of a transfer, in the order in which rows are booked: a payment before its return. */
export const BECOMES = ['checked', 'accepted', 'rejected', 'paid', 'returned'] as const

/** What becomes of a transfer. */
export interface Entry extends Pick<AnswerRow, 'row' | 'day' | 'code' | 'reason' | 'name_check'> {
  readonly transfer: string
  readonly to: (typeof BECOMES)[number]
}

/** A row with what may be references of ours. */
export interface NamedRow extends Omit<AnswerRow, 'text'> {
  readonly references: readonly string[]
}

/** What rows are matched with. */
export interface Known {
  /** The transfers that are named, by their references. */
  readonly transfers: ReadonlyMap<string, FoundTransfer>
  /** The transfers of the batches that are named, by the references of these. */
  readonly batches: ReadonlyMap<string, readonly FoundTransfer[]>
  /** The numbers of the accounts of each payer, also former ones. */
  readonly payers: ReadonlyMap<string, readonly string[]>
  /** The payer of the rows that name no account. */
  readonly payer: string | null
}

/** The order in which rows are booked, whatever their order in the file. */
const ORDER: readonly Says[] = [...BECOMES, 'failed']

const PATH: readonly TransferState[] = TRANSFER_STATES.slice(
  0,
  TRANSFER_STATES.indexOf('returned') + 1,
)

/** Returns whether a transfer has already become what a row says. */
export const isDone = (state: TransferState, to: Entry['to']): boolean =>
  state === to || (to !== 'checked' && to !== 'rejected' && PATH.indexOf(state) > PATH.indexOf(to))

/** Returns whether a transfer can become what a row says. What is over is not checked any more. */
export const canBecome = (state: TransferState, to: Entry['to']): boolean =>
  to === 'checked' ? mayMove(state, 'cancelled') : mayMove(state, to)

/** Returns the letters and digits of the number of an account. */
export const numberKey = (number: string): string =>
  number.toUpperCase().replaceAll(/[^\dA-Z]/g, '')

/** Matches rows with transfers: what would be booked, and of which rows nothing. */
export function matchRows(rows: readonly NamedRow[], known: Known) {
  const entries: Entry[] = []
  const unmatched: Unmatched[] = []
  let unchanged = 0
  const states = new Map<string, TransferState>()
  const decided = new Set<string>()
  const refuse = ({ row }: NamedRow, reason: Unmatched['reason'], detail: string) =>
    unmatched.push({ row, reason, detail })
  const inOrder = rows.toSorted((a, b) => ORDER.indexOf(a.says) - ORDER.indexOf(b.says))
  // What a report says of one transfer counts more than what it says of its batch.
  const own = new Set(
    rows.flatMap((row) => (isStatus(row) ? named(row, known).map(({ id }) => id) : [])),
  )
  for (const row of inOrder) {
    const found = findAll(row, known)
    if ('reason' in found) {
      refuse(row, found.reason, found.detail)
      continue
    }
    for (const transfer of found.transfers) {
      const { id } = transfer
      const state = states.get(id) ?? transfer.state
      const to = targetOf(row, state)
      if (found.isBatch && isStatus(row) && own.has(id)) continue
      if (decided.has(`${to} ${id}`) && !isStatus(row)) {
        refuse(row, 'twice', `${id} stands in the file twice. It is booked once.`)
      } else if (isDone(state, to) || isChecked(row, transfer)) unchanged += 1
      else if (canBecome(state, to)) {
        const { day, code, reason, name_check } = row
        entries.push({ row: row.row, transfer: id, to, day, code, reason, name_check })
        if (to !== 'checked') states.set(id, to)
        decided.add(`${to} ${id}`)
      } else refuse(row, 'wrong_state', stateWords(id, state, to))
    }
  }
  return { entries, unmatched, unchanged }
}

const isStatus = ({ says }: NamedRow) => ['checked', 'accepted', 'rejected'].includes(says)

const isChecked = ({ says, name_check }: NamedRow, transfer: FoundTransfer) =>
  says === 'checked' && transfer.name_check === name_check

/** Returns what a transfer becomes: one that failed came back if it was paid. */
function targetOf({ says }: NamedRow, state: TransferState): Entry['to'] {
  if (says === 'failed') return state === 'paid' || state === 'returned' ? 'returned' : 'rejected'
  return says as Entry['to']
}

/** Says why a transfer cannot become what a row says. */
export const stateWords = (id: string, state: TransferState, to: Entry['to']): string =>
  to === 'returned' && mayMove(state, 'paid')
    ? `${id} came back, but its payment is not booked. Read the file with the payment first, then this one again.`
    : `${id} is ${state}, so it cannot be ${to}. Look at it with your bank.`

const named = ({ references }: NamedRow, { transfers }: Known) =>
  references.flatMap((one) => transfers.get(one) ?? [])

type Found = { transfers: readonly FoundTransfer[]; isBatch: boolean } | Omit<Unmatched, 'row'>

/** Returns the transfers that a row is exactly about, or why there are none. */
function findAll(row: NamedRow, known: Known): Found {
  const { references, says, day } = row
  const single = named(row, known)
  const batches = references.flatMap((one) => (known.batches.get(one) ? [one] : []))
  const names = single.length > 0 ? single.map(({ id }) => id) : batches
  const [name] = names
  if (name === undefined) return UNNAMED
  if (names.length > 1) {
    return { reason: 'several', detail: `It names several: ${names.slice(0, 3).join(', ')}.` }
  }
  if (says === 'pending') {
    return {
      reason: 'not_booked',
      detail: `${name}: the bank has not booked it, or has undone it.`,
    }
  }
  const isBatch = !isOfTransfer(name)
  const all = isBatch ? (known.batches.get(name) ?? []) : single
  const live = all.filter(({ state }) => isStatus(row) || !isOver(state))
  const [first] = isBatch ? live : all
  if (!first) return { reason: 'wrong_state', detail: `${name}: no transfer of it is under way.` }
  if (!isFrom(row, first, known)) {
    const detail = `${name} is paid from another account than that of the row.`
    return { reason: 'other_payer', detail }
  }
  if (!isStatus(row) && (row.stated.length === 0 || day === null)) {
    return { reason: 'unreadable', detail: `${name}: the amount or the day cannot be read.` }
  }
  const due = (isBatch ? live : all).reduce((sum, { amount }) => add(sum, decimal(amount)), ZERO)
  const wrong = row.stated.length > 0 && differs(row.stated, first.currency, due)
  if (wrong) return { ...wrong, detail: `${name}: ${wrong.detail}` }
  return { transfers: isBatch ? live : all, isBatch }
}

const isOver = (state: TransferState) => state === 'rejected' || state === 'cancelled'

/** Returns whether a row is of the account that pays a transfer. */
const isFrom = ({ account }: NamedRow, { payer }: FoundTransfer, known: Known): boolean =>
  account === null
    ? known.payer === payer
    : (known.payers.get(payer)?.includes(numberKey(account)) ?? false)

/** Says how none of the stated amounts is the one that is due; null if one is. */
function differs(stated: readonly Stated[], currency: string, due: ReturnType<typeof decimal>) {
  const own = stated.filter((one) => one.currency === null || one.currency === currency)
  const [other] = stated
  if (own.length === 0) {
    const detail = `the currency is ${other?.currency}, and not ${currency}.`
    return { reason: 'other_currency', detail } as const
  }
  const amounts = own.flatMap(({ amount }) => (/^\d+(\.\d+)?$/.test(amount) ? decimal(amount) : []))
  const [first] = amounts
  if (!first) return { reason: 'unreadable', detail: 'the amount cannot be read.' } as const
  if (amounts.some((one) => compare(one, due) === 0)) return null
  const less = subtract(due, first)
  const by = isNegative(less) ? `${plainText(negate(less))} more` : `${plainText(less)} less`
  const detail = `the amount is ${plainText(first)} ${currency}, ${by} than ${moneyText(due, currency)}.`
  return { reason: 'amount_differs', detail } as const
}
