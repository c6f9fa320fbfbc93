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
export interface Doubt extends Pick<AnswerRow, 'row'> {
  readonly doubt: MovementDoubt
  readonly movement: Movement & Pick<StoredMovement, 'amount' | 'currency'>
}

/** What an answer stores. */
export type Entry = Booking | Doubt

/** What becomes of a transfer, and how it was found. */
export interface Change {
  readonly entry: Booking
  readonly transfer: FoundTransfer
}

/** A row of which nothing is booked. */
interface Unmatched {
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
    const isDone = isCheck ? name_check === reason : DONE[becomes].includes(state)
    // The name of an owner is kept as long as a transfer is under way.
    const isStuck = !isDone && !mayMove(state, isCheck ? 'cancelled' : becomes)
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

/** A kind of status: of the name, or of the payment. */
const kindOf = ({ says }: AnswerRow, name: string) => `${says === 'checked'} ${name}`

/** Returns how near the status and the name check of each transfer stand to it that a file has. */
function nearestLevels(rows: readonly AnswerRow[], { named }: Known): Map<string, number> {
  const seen = new Set<string>()
  const levels = new Map<string, number>()
  for (const row of rows.toSorted((a, b) => a.level - b.level)) {
    for (const name of row.references) {
      const kind = `${row.level} ${kindOf(row, name)}`
      for (const { id } of seen.has(kind) ? [] : (named.get(name) ?? [])) {
        if (!levels.has(kindOf(row, id))) levels.set(kindOf(row, id), row.level)
      }
      seen.add(kind)
    }
  }
  return levels
}

/** Returns what is collected from row to row. */
const newMatching = (rows: readonly AnswerRow[], known: Known) => ({
  known,
  follow: followTransfers(),
  movements: knownMovements(known.movements),
  levels: nearestLevels(rows, known),
  /** How many movements a file has of a reference, a direction and a day. */
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
  const to = newMatching(rows, known)
  const find = finder(known)
  // Of rows that say the same, those of one transfer say why, and come before those of batches.
  const placeOf = ({ says, references }: AnswerRow) =>
    2 * ORDER.indexOf(says) + (references.some(isOfTransfer) ? 0 : 1)
  for (const row of rows.toSorted((a, b) => placeOf(a) - placeOf(b))) {
    const whole = find(row)
    const isDivided = whole?.problem !== null && row.parts.some(({ amount }) => amount !== null)
    for (const one of isDivided ? row.parts : [row]) {
      const found = isDivided ? find(one) : whole
      if (found) take(to, { ...one, document: row.document }, found)
      else leave(to, one, one.days[0] ?? null, UNNAMED)
    }
  }
  const { changes, doubts, unmatched, unchanged } = to
  const rankOf = ({ doubt, detail }: Unmatched) => (doubt ? 0 : detail === UNNAMED ? 2 : 1)
  unmatched.sort((a, b) => rankOf(a) - rankOf(b) || a.row - b.row)
  return { changes, doubts, unmatched, unchanged }
}

/** Takes what a row says: a movement of money, or a status. */
function take(to: Matching, row: AnswerRow, found: Found) {
  for (const target of found.targets) {
    const [first] = target.transfers
    if (!first) continue
    // What failed came back, if it had left.
    const says = row.says === 'failed' ? to.follow(first, 'failed', null).becomes : row.says
    if (says === 'paid' || says === 'returned') takeMovement(to, row, target, found, says)
    else takeStatus(to, row, target, found)
  }
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

/** Books what a row says of a transfer. Returns why it cannot, or `done` if it is so already; null: it is booked. */
function book(
  { follow, movements, changes, known }: Matching,
  row: AnswerRow,
  transfer: FoundTransfer,
  { problem, day, charged }: Found,
  movement?: Movement,
): string | null {
  if (problem !== null) return problem
  const { id } = transfer
  const said = row.parts.find(({ references }) => references.includes(id)) ?? row
  const numbers = known.numbersOf(transfer)
  const words = numbers ? keptWords(said.reason, numbers) : null
  const reason = [words, charged && `Charges: ${charged}`].filter(Boolean).join('. ') || null
  const step = follow(transfer, row.says, reason)
  if (step.isDone) return 'done'
  if (step.problem !== null) return step.problem
  step.book()
  if (movement) movements.note(movement)
  const entry = { row: row.row, transfer: id, becomes: step.becomes, day, code: said.code, reason }
  changes.push({ transfer, entry: movement ? { ...entry, movement } : entry })
  return null
}

/** Takes a status of transfers: of a batch once, and as far as no other one stands nearer. */
function takeStatus(to: Matching, row: AnswerRow, { name, transfers }: Target, found: Found) {
  const place = `${row.level} ${row.says} ${name}`
  if (to.taken.has(place)) to.unchanged += 1
  for (const transfer of to.taken.has(place) ? [] : transfers) {
    const level = to.levels.get(kindOf(row, transfer.id)) ?? row.level
    const problem = level < row.level ? null : book(to, row, transfer, found)
    if (problem === 'done') to.unchanged += 1
    else if (problem !== null) leave(to, row, found.day, problem)
  }
  if (!isOfTransfer(name)) to.taken.add(place)
}

function takeMovement(
  to: Matching,
  row: AnswerRow,
  { name, transfers }: Target,
  found: Found,
  direction: Movement['direction'],
) {
  const { counts, taken, movements } = to
  const day = found.day ?? ''
  const place = `${row.document} ${direction} ${name}`
  const n = (counts.get(`${place} ${day}`) ?? 0) + 1
  counts.set(`${place} ${day}`, n)
  const bank_reference = row.bankReference ?? ''
  const movement = { reference: name, direction, day, bank_reference, n }
  const isTaken = taken.has(place)
  if (!isOfTransfer(name) && found.problem === null) taken.add(place)
  let left: [FoundTransfer, why: string] | null = null
  for (const transfer of isTaken ? transfers.slice(0, 1) : transfers) {
    const { id, batch } = transfer
    const problem = isTaken
      ? 'done'
      : book(to, row, transfer, found, { ...movement, reference: id })
    if (problem === null) continue
    if (movements.has(movement, id, batch, name)) to.unchanged += 1
    else left ??= [transfer, problem]
  }
  if (left) doubt(to, row, movement, found, ...left)
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
  const { direction, day } = movement
  const { state } = to.follow(transfer, direction, null)
  const earlier = to.movements.dayOf(transfer.id, direction)
  to.movements.note(movement)
  const kind = doubtOf(direction, state, isLess)
  const { amount = null, currency } = row.amount ?? {}
  const moved = { ...movement, amount, currency: currency ?? transfer.currency }
  to.doubts.push({ row: row.row, doubt: kind, movement: moved })
  leave(to, row, day, doubtWords(kind, movement, state, earlier, why), kind)
}

/** Returns what a movement of a transfer means that is not booked. Less than was paid may be a fee. */
function doubtOf(
  direction: Movement['direction'],
  state: TransferState,
  isLess: boolean,
): MovementDoubt {
  if (direction === 'returned') return isLess && state === 'paid' ? 'came_back_less' : 'not_booked'
  if (isLess) return 'not_booked'
  if (DONE.paid.includes(state)) return 'paid_twice'
  return OVER.includes(state) ? 'paid_after_cancel' : 'not_booked'
}

/** Says what a movement means that is not booked. */
function doubtWords(
  kind: MovementDoubt,
  { reference, day }: Movement,
  state: TransferState,
  earlier: string | undefined,
  why: string,
): string {
  if (kind === 'paid_after_cancel') {
    return `${reference} is ${state}, and this row is a debit of ${day}. Did the bank have the file nevertheless?`
  }
  if (kind === 'paid_twice') {
    return `${reference} was paid${earlier ? ` on ${earlier}` : ''} already, and this row is another debit, of ${day}. Was the file uploaded twice?`
  }
  return why === 'done' ? `${reference} came back on ${earlier ?? 'a day before'} already.` : why
}
