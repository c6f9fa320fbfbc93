import { decimal } from '../../platform/money/decimal.ts'
import { moneyText } from '../../platform/money/money.ts'
import { type FoundTransfer, mayMove } from '../db/transfers.ts'
import type { MovementDoubt, StoredMovement, TransferState } from '../model.ts'
import { isOfTransfer } from '../reference.ts'
import { type Found, finder, type Known, OVER, type Target } from './find.ts'
import { knownMovements, type Movement } from './movements.ts'
import { keptWords } from './reasons.ts'
import { type AnswerRow, BECOMES, type Says } from './row.ts'

// What becomes of transfers by the rows of an answer. What is exact is booked. Any other movement that names a transfer is
// a doubt, which a person has to look at: a state of ours never hides what a bank says.

/** Why nothing is booked of a row without a reference of this account. */
export const UNNAMED = 'It names no transfer of this account.'

type Becomes = (typeof BECOMES)[number]

/** What becomes of a transfer. */
export interface Booking extends Pick<AnswerRow, 'row' | 'code' | 'reason'> {
  readonly transfer: string
  readonly becomes: Becomes
  /** The booking day; null if nothing moves. */
  readonly day: string | null
  readonly movement?: Movement
}

/** A movement that a person has to look at. */
export type Doubt = Pick<AnswerRow, 'row'> &
  Movement &
  Pick<StoredMovement, 'amount' | 'currency' | 'code' | 'reason'> & {
    readonly doubt: MovementDoubt
  }

/** What an answer stores. */
export type Entry = Booking | Doubt

/** What becomes of a transfer, and how it was found. */
export interface Change {
  readonly entry: Booking
  readonly transfer: FoundTransfer
}

/** A row of which nothing is booked. */
export interface Unmatched {
  readonly row: number
  readonly states: string
  readonly detail: string
  readonly doubt: MovementDoubt | null
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

/**
 * Returns a function that follows transfers from row to row: the state of one, what becomes of it, whether it is so
 * already, and why it cannot. `book` makes it so.
 */
export function followTransfers() {
  const states = new Map<string, TransferState>()
  return ({ id, name_check, ...found }: FoundTransfer, says: Says, reason: string | null) => {
    const state = states.get(id) ?? found.state
    const back = DONE.paid.includes(state) ? 'returned' : 'rejected'
    const becomes = says === 'failed' ? back : (says as Becomes)
    const isCheck = becomes === 'checked'
    // The name of an owner is kept as long as a transfer is under way.
    const isDone = isCheck
      ? name_check === reason || !mayMove(state, 'cancelled')
      : DONE[becomes].includes(state)
    const isStuck = !isDone && !isCheck && !mayMove(state, becomes)
    return {
      state,
      becomes,
      isDone,
      problem: isStuck ? stateWords(id, state, becomes) : null,
      book: () => isCheck || states.set(id, becomes),
    }
  }
}

/** Says why a transfer cannot become what a row says. */
const stateWords = (id: string, state: TransferState, becomes: Becomes): string =>
  becomes === 'returned' && mayMove(state, 'paid')
    ? `${id} came back, but its payment is not booked. Read the file with the payment first, then this one again.`
    : `${id} is ${state === 'created' ? 'in a file that was never exported' : state}, so it cannot be ${becomes}. Look at it with your bank.`

/** Returns what is collected from row to row. */
const newMatching = (known: Known) => ({
  known,
  follow: followTransfers(),
  movements: knownMovements(known.movements),
  /** How near the status and the name check of a transfer stand to it. */
  levels: new Map<string, number>(),
  /** How many movements a file has of a reference, a direction, a day and another amount. */
  counts: new Map<string, number>(),
  /** The batches of which a file has said something: another entry is another movement. */
  taken: new Set<string>(),
  changes: [] as Change[],
  doubts: [] as Doubt[],
  unmatched: [] as Unmatched[],
  unchanged: 0,
})

type Matching = ReturnType<typeof newMatching>

/** Matches rows with transfers: what would be booked, what is doubtful, and of which rows nothing is booked. */
export function matchRows(rows: readonly AnswerRow[], known: Known) {
  const to = newMatching(known)
  const find = finder(known)
  // What stands nearer to a transfer comes first. Of rows that say the same, those of one transfer say why.
  const placeOf = ({ level, says, references }: AnswerRow) =>
    100 * level + 2 * ORDER.indexOf(says) + (references.some(isOfTransfer) ? 0 : 1)
  for (const row of rows.toSorted((a, b) => placeOf(a) - placeOf(b))) {
    const whole = find(row)
    const isDivided = whole?.problem !== null && row.parts.some(({ amount }) => amount !== null)
    for (const one of isDivided ? row.parts : [row]) {
      const found = isDivided ? find(one) : whole
      if (found) for (const target of found.targets) take(to, one, target, found)
      else leave(to, one, one.days[0] ?? null, UNNAMED)
    }
  }
  const { doubts, unmatched, unchanged } = to
  // What a file accepts and then rejects or pays was never only accepted: half the work of a large one.
  const overtaken = new Set(
    to.changes.flatMap(({ entry }) =>
      entry.becomes === 'rejected' || entry.becomes === 'paid' ? entry.transfer : [],
    ),
  )
  const changes = to.changes.filter(
    ({ entry }) => entry.becomes !== 'accepted' || !overtaken.has(entry.transfer),
  )
  const rankOf = ({ doubt, detail }: Unmatched) => (doubt ? 0 : detail === UNNAMED ? 2 : 1)
  unmatched.sort((a, b) => rankOf(a) - rankOf(b) || a.row - b.row)
  return { changes, doubts, unmatched, unchanged }
}

/** Takes what a row says of what it is about: a movement of money, or a status. Of a batch, a row is taken once. */
function take(to: Matching, row: AnswerRow, { name, transfers }: Target, found: Found) {
  const [first] = transfers
  if (!first) return
  const place = `${row.level} ${row.says} ${name}`
  const isTaken = to.taken.has(place)
  if (!isOfTransfer(name) && found.problem === null) to.taken.add(place)
  const movement = movementOf(to, row, name, first, found)
  let left: [FoundTransfer, why: string] | null = null
  for (const transfer of isTaken || found.problem !== null ? [first] : transfers) {
    const { id, batch } = transfer
    const kind = `${row.says === 'checked'} ${id}`
    const level = to.levels.get(kind) ?? row.level
    to.levels.set(kind, level)
    if (level < row.level) continue
    const own = movement && { ...movement, reference: id }
    const problem = isTaken ? 'done' : book(to, row, transfer, found, own)
    if (problem === null) continue
    const isKnown = movement
      ? [movement.other, found.charged].some(
          (other) => other !== null && to.movements.has({ ...movement, other }, id, batch, name),
        )
      : problem === 'done'
    if (isKnown) to.unchanged += 1
    else if (movement) left ??= [transfer, problem]
    else leave(to, row, found.day, problem)
  }
  if (movement && left) doubt(to, row, movement, found, ...left)
}

/** Returns the movement of money of a row; null if nothing moves. What failed came back, if it had left. */
function movementOf(
  { follow, counts }: Matching,
  row: AnswerRow,
  reference: string,
  first: FoundTransfer,
  found: Found,
): Movement | null {
  const direction = row.says === 'failed' ? follow(first, 'failed', null).becomes : row.says
  if (direction !== 'paid' && direction !== 'returned') return null
  const { other } = found
  const day = found.day ?? ''
  const place = `${direction} ${day} ${other} ${reference}`
  const n = (counts.get(place) ?? 0) + 1
  counts.set(place, n)
  return { reference, direction, day, other, bank_reference: row.bankReference ?? '', n }
}

/** Remembers a row of which nothing is booked. */
function leave(
  { unmatched }: Matching,
  { row, amount }: AnswerRow,
  day: string | null,
  detail: string,
  doubt: MovementDoubt | null = null,
) {
  const states = [day, amount?.amount, amount?.currency].filter(Boolean).join(' ')
  unmatched.push({ row, states, detail, doubt })
}

/** Returns what a bank says of a transfer, without the numbers of its payee. */
function saidOf({ known }: Matching, row: AnswerRow, transfer: FoundTransfer) {
  const said = row.parts.find(({ references }) => references.includes(transfer.id)) ?? row
  const numbers = known.numbersOf(transfer)
  const words = numbers ? keptWords(said.reason, numbers) : null
  return { charges: said.charges ?? row.charges, code: said.code, words }
}

/** Books what a row says of a transfer. Returns why it cannot, or `done` if it is so already; null: it is booked. */
function book(
  to: Matching,
  row: AnswerRow,
  transfer: FoundTransfer,
  { problem, day }: Found,
  movement: Movement | null,
): string | null {
  if (problem !== null) return problem
  const { id } = transfer
  const { words, code, ...said } = saidOf(to, row, transfer)
  const { amount = '0', currency } = said.charges ?? {}
  const unit = currency ?? transfer.currency
  const charges = amount !== '0' && `Charges: ${moneyText(decimal(amount), unit)} ${unit}`
  const reason = [words, charges].filter(Boolean).join('. ') || null
  const step = to.follow(transfer, row.says, reason)
  if (step.isDone) return 'done'
  if (step.problem !== null) return step.problem
  step.book()
  if (movement) to.movements.note(movement)
  const entry = { row: row.row, transfer: id, becomes: step.becomes, day, code, reason }
  to.changes.push({ transfer, entry: movement ? { ...entry, movement } : entry })
  return null
}

/** Notes a movement that is not booked. */
function doubt(
  to: Matching,
  row: AnswerRow,
  movement: Movement,
  { isLess }: Found,
  transfer: FoundTransfer,
  why: string,
) {
  const { reference, direction, day } = movement
  const { state } = to.follow(transfer, direction, null)
  const earlier = to.movements.dayOf(transfer.id, direction)
  to.movements.note(movement)
  // Less than was paid may be a fee.
  const isAgain =
    direction === 'paid' && !isLess && (DONE.paid.includes(state) || OVER.includes(state))
  const kind = !isAgain ? 'not_booked' : OVER.includes(state) ? 'paid_after_cancel' : 'paid_twice'
  const { amount = null, currency } = row.amount ?? {}
  const moved = { amount, currency: currency ?? transfer.currency }
  const { code, words } = saidOf(to, row, transfer)
  // What is said of a batch may be about any of its payees.
  const reason = isOfTransfer(reference) ? words : null
  to.doubts.push({ ...movement, ...moved, row: row.row, doubt: kind, code, reason })
  const moves = direction === 'paid' ? 'was paid' : 'came back'
  const was = earlier ? `${moves} on ${earlier}` : `is ${state}`
  const again = `${reference} ${was}, and this row is of ${day}. Was the file uploaded twice?`
  leave(to, row, day, isAgain || why === 'done' ? again : why, kind)
}
