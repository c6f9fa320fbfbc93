import { untilBooked } from '../books/until-booked.ts'
import { digest } from '../platform/auth/secret.ts'
import type { Connection } from '../platform/db/database.ts'
import { withD1Retry } from '../platform/db/retry.ts'
import { withAudit } from '../platform/directory/audit.ts'
import { ApiError } from '../platform/errors.ts'
import type { Call } from '../platform/http/operation.ts'
import { notFound } from '../platform/http/read-fields.ts'
import {
  mayDecide,
  requireOther,
  requirePerson,
  withInviters,
} from '../platform/http/two-persons.ts'
import { sumOfMoney } from '../platform/money/sums.ts'
import type { Chosen, CsvHints } from './answers/csv.ts'
import type { DayOrder } from './answers/days.ts'
import type { Known } from './answers/find.ts'
import {
  type Booking,
  type Change,
  type Entry,
  followTransfers,
  matchRows,
  type Unmatched,
} from './answers/match.ts'
import { knownMovements, type Movement } from './answers/movements.ts'
import { readFile } from './answers/read.ts'
import { type AnswerRow, refused } from './answers/row.ts'
import { bookTransfers } from './book.ts'
import { presentMovements } from './by-hand.ts'
import * as rows from './db/answers.ts'
import { readPersons, readVersions } from './db/batches.ts'
import { findMovements, movementsOf, storeMovements } from './db/movements.ts'
import { type FoundTransfer, findTransfers } from './db/transfers.ts'
import { decryptDetails } from './details.ts'

// A file with which a bank answers is previewed, and then booked. Only the preview is stored, never the file.

/** The changes, and the rows of which nothing is booked, that are listed. */
const LISTED = 100

/**
 * The most rows of a file, the most references and transfers that it names, and the most bytes of what is booked: more
 * would not fit into the memory of a Worker, or into a row of D1.
 */
const MAX_ROWS = 250_000
const MAX_NAMED = 10_000
const MAX_STORED = 1_900_000

const tooMany = () => refused('The file has more rows than are read at once. Divide it.')

/** Reads a file: its rows that name something, the first of the others, and how many there are of all. */
async function readRows(bytes: Uint8Array<ArrayBuffer>, hints: CsvHints) {
  const named: AnswerRow[] = []
  const others: AnswerRow[] = []
  const references = new Set<string>()
  let pairs = 0
  let count = 0
  const each = (row: AnswerRow) => {
    count += 1
    pairs += row.references.length
    for (const one of row.references) references.add(one)
    if (row.references.length > 0) named.push(row)
    else if (others.length < LISTED) others.push(row)
    if (count > MAX_ROWS || pairs > MAX_NAMED) throw tooMany()
  }
  const format = await readFile(bytes, each, hints)
  return { format, count, read: [...named, ...others], references: [...references] }
}

/** The payers of an account: which one a person has chosen, and which is the only one. */
type Payers = Awaited<ReturnType<typeof readPayers>>

async function readPayers({ db, account }: Call, chosen: string | undefined) {
  const versions = await rows.readPayers(db, account.id)
  const [only, ...more] = new Set(versions.map(({ id }) => id))
  if (chosen !== undefined && ![only, ...more].includes(chosen)) throw notFound('payer', chosen)
  return { versions, chosen, only: more.length === 0 ? only : undefined }
}

/** Reads what rows are matched with. */
async function readKnown(
  call: Call,
  read: readonly AnswerRow[],
  references: readonly string[],
  { versions, chosen, only }: Payers,
): Promise<Known> {
  const { env, db } = call
  const { id: account } = call.account
  const found = await findTransfers(db, account, references, MAX_NAMED + 1)
  if (found.length > MAX_NAMED) throw tooMany()
  const named = Map.groupBy(found, ({ reference }) => reference)
  const names = new Set([...named.keys(), ...found.map(({ id }) => id)])
  const payers = versions.map(async (one) => {
    const { iban, account: number } = (await decryptDetails(env, account, one)) ?? {}
    return { payer: one.id, version: one.version, number: iban ?? number ?? '' }
  })
  return {
    named,
    movements: await findMovements(db, account, [...names]),
    payers: await Promise.all(payers),
    chosen,
    only,
    numbersOf: await readNumbers(call, read, named),
  }
}

const versionOf = ({ affiliate_id, payee_version }: FoundTransfer) =>
  JSON.stringify(['payee', affiliate_id, payee_version])

/** Reads the numbers of the payees about whom a bank writes, to mask them in its words. */
async function readNumbers(
  { env, db, account: { id: account } }: Call,
  read: readonly AnswerRow[],
  named: Known['named'],
): Promise<Known['numbersOf']> {
  /** About which references and versions a bank writes, and whether with digits. */
  const names = new Map<string, boolean>()
  const versions = new Map<string, boolean>()
  for (const { reason, references } of read.flatMap((row) => [row, ...row.parts])) {
    if (reason === null) continue
    for (const one of references) names.set(one, names.get(one) || /\d/.test(reason))
  }
  for (const [name, hasDigits] of names) {
    for (const key of (named.get(name) ?? []).map(versionOf)) {
      versions.set(key, versions.get(key) || hasDigits)
    }
  }
  const numbers = new Map<string, readonly string[]>()
  for (const one of await readVersions(db, account, `[${[...versions.keys()]}]`)) {
    const key = JSON.stringify(['payee', one.id, one.version])
    const { iban, account: number } =
      (versions.get(key) && (await decryptDetails(env, account, one))) || {}
    const own = iban ?? number
    numbers.set(key, own ? [own] : [])
  }
  return (transfer) => numbers.get(versionOf(transfer))
}

/** Whether a person should look at what becomes of a transfer. */
const isTrouble = ({ entry: { becomes, reason } }: Change): boolean =>
  becomes !== 'paid' && becomes !== 'accepted' && reason !== 'match'

/** Returns what is shown of changes: their sums, and the first of them, trouble before the rest. */
function summarize(changes: readonly Change[]) {
  const booked = [...Map.groupBy(changes, ({ entry }) => entry.becomes)].flatMap(([becomes, all]) =>
    [...Map.groupBy(all, ({ transfer }) => transfer.currency)].map(([currency, own]) => {
      const amount = sumOfMoney(
        own.map(({ transfer }) => transfer),
        currency,
      )
      return { becomes, count: own.length, amount, currency }
    }),
  )
  const transfers = changes
    .toSorted((a, b) => Number(isTrouble(b)) - Number(isTrouble(a)))
    .slice(0, LISTED)
    .map(({ entry: { transfer, becomes, day, reason }, transfer: one }) => ({
      transfer,
      becomes,
      day,
      reason,
      affiliate_id: one.affiliate_id,
      amount: one.amount,
      currency: one.currency,
    }))
  return { booked, transfers }
}

/** What a person says of a file. */
interface Hints {
  readonly payer: string | undefined
  readonly order: DayOrder | undefined
  /** What it calls its columns. They are remembered for the payer. */
  readonly columns: Chosen
}

/**
 * Reads a file, and stores what would be booked, under a hash of all that this depends on. A file that is booked, and has
 * nothing new, stays as it is.
 *
 * @throws ApiError `validation_failed`, `not_found`
 */
export async function previewAnswer(
  call: Call,
  bytes: Uint8Array<ArrayBuffer>,
  { payer, order, columns }: Hints,
) {
  const { db } = call
  const { id: account } = call.account
  const file = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).toHex()
  const payers = await readPayers(call, payer)
  // The columns of a bank are those of a payer, who banks there.
  const of = payer ?? payers.only ?? ''
  const chosen = { ...(await rows.readColumns(db, account, of)), ...columns }
  const { format, count, read, references } = await readRows(bytes, { order, chosen })
  const known = await readKnown(call, read, references, payers)
  const { changes, doubts, unmatched, unchanged } = matchRows(read, known)
  const entries = JSON.stringify([...changes.map(({ entry }) => entry), ...doubts])
  if (new TextEncoder().encode(entries).byteLength > MAX_STORED) throw tooMany()
  const hash = await digest(JSON.stringify([file, payer ?? null, entries]))
  const before = await rows.findAnswer(db, account, hash)
  if (before?.applied_at && changes.length + doubts.length === 0) return before
  const summary = {
    format,
    rows: count,
    ...summarize(changes),
    doubts: doubts.length,
    unchanged,
    unmatched: unmatched.length + count - read.length,
    unmatched_rows: unmatched.slice(0, LISTED),
  }
  const stored = {
    hash,
    file,
    entries,
    summary: JSON.stringify(summary),
    created_at: Date.now(),
    applied_at: null,
    applied_by: null,
  }
  const remembered =
    Object.keys(columns).length > 0 ? [rows.storeColumns(db, account, of, chosen)] : []
  await withD1Retry(() => db.batch([...rows.storeAnswer(db, account, stored), ...remembered]))
  return stored
}

/** Reads a stored answer. @throws ApiError `not_found` */
export async function readAnswer(db: Connection, account: string, hash: string) {
  const stored = await rows.findAnswer(db, account, hash)
  if (!stored) throw notFound('answer', hash)
  return stored
}

/** Returns an answer as it is shown: with what was booked of the same file before, and what of it stands open. */
export async function showAnswer(
  { db, account: { id: account } }: Call,
  stored: rows.StoredAnswer,
) {
  const { hash, applied_at, applied_by, summary } = stored
  const entries: Entry[] = JSON.parse(stored.entries)
  const doubts = entries.filter((one) => 'doubt' in one)
  const names = [...new Set(doubts.map(({ reference }) => reference))]
  const [before, movements] = await Promise.all([
    rows.findOfFile(db, account, stored),
    applied_at ? movementsOf(db, account, names) : [],
  ])
  const said = JSON.parse(summary)
  // What a person has booked since is not among what is not booked.
  const booked = new Set(movements.filter(({ doubt }) => doubt === null).map(keyOf))
  const settled = doubts.filter((one) => booked.has(keyOf(one))).map(({ row }) => row)
  return {
    ...said,
    unmatched: said.unmatched - settled.length,
    unmatched_rows: said.unmatched_rows.filter((one: Unmatched) => !settled.includes(one.row)),
    hash,
    ...presentApplied({ applied_at, applied_by }),
    booked_before: before && { hash: before.hash, ...presentApplied(before) },
    movements: presentMovements(movements),
  }
}

const keyOf = ({ reference, direction, day, other, bank_reference, n }: Movement) =>
  JSON.stringify([reference, direction, day, other, bank_reference, n])

/** Returns when an answer was booked, and by whom; null if it is not. */
export const presentApplied = ({
  applied_at,
  applied_by,
}: Pick<rows.StoredAnswer, 'applied_at' | 'applied_by'>) =>
  applied_at
    ? { applied_at: new Date(applied_at).toISOString(), applied_by }
    : { applied_at: null, applied_by: null }

const REST = ' What the file says of other batches is booked.'

const AGAIN = 'Something changed since the file was read. Read it again.'

/** How many changes one step books. A return is a step of its own. */
const STEP = 500

/**
 * Books an answer, step by step: one that was ended between two steps goes on when it is repeated. What is booked already
 * stays as it is. Of a CSV, what the caller may not book waits for another person: batches may have different authors.
 *
 * @throws ApiError `not_found`, `unavailable`, `same_person`; `conflict` if a transfer cannot become any more what the preview says
 */
export async function applyAnswer(call: Call, hash: string): Promise<rows.StoredAnswer> {
  await requirePerson(call)
  const { db, actor } = call
  const { id: account } = call.account
  const stored = await readAnswer(db, account, hash)
  if (stored.applied_at) return stored
  const entries: Entry[] = JSON.parse(stored.entries)
  const bookings = entries.filter((one) => 'becomes' in one)
  const changes = await readOpen(call, bookings)
  // Anybody can write a CSV: who books it says what has moved, as by hand.
  const isByHand = JSON.parse(stored.summary).format === 'CSV'
  const left = new Map<string, ReadonlySet<string>>()
  for (const batch of new Set(isByHand ? changes.map(({ transfer }) => transfer.batch) : [])) {
    const persons = await withInviters(call, await readPersons(db, account, batch))
    if (!mayDecide(call, persons)) left.set(batch, persons)
  }
  const allowed = changes.filter(({ transfer }) => !left.has(transfer.batch))
  const steps = Map.groupBy(allowed, ({ entry: { becomes, transfer } }, n) =>
    becomes === 'returned' ? transfer : `${becomes} ${Math.floor(n / STEP)}`,
  )
  for (const step of steps.values()) {
    const own = step.map(({ entry }) => entry)
    await untilBooked(async () => (await bookStep(call, hash, own)) || null)
  }
  const [persons] = left.values()
  if (persons) await requireOther(call, persons, allowed.length > 0 ? REST : '')
  const doubts = entries.filter((one) => 'doubt' in one)
  const now = Date.now()
  const details = { hash, ...(doubts.length > 0 && { doubts: doubts.length }) }
  await withAudit(db, { actor, action: 'bank-answer.book', account, details }, [
    storeMovements(db, account, doubts),
    ...rows.finishAnswer(db, account, { hash, actor, now }),
  ])
  return { ...stored, applied_at: now, applied_by: actor }
}

/**
 * Returns what is not booked yet. Throws `conflict` if something of it cannot be booked any more, or another movement of
 * the transfer is booked.
 */
async function readOpen({ db, account }: Call, bookings: readonly Booking[]) {
  const ids = [...new Set(bookings.map(({ transfer }) => transfer))]
  const found = await findTransfers(db, account.id, ids)
  const byId = new Map(found.map((one) => [one.id, one]))
  const movements = knownMovements(await findMovements(db, account.id, ids))
  const follow = followTransfers()
  return bookings.flatMap((entry) => {
    const { becomes, reason, movement } = entry
    const transfer = byId.get(entry.transfer)
    if (!transfer) return []
    const { isDone, problem, book } = follow(transfer, becomes, reason)
    const isOther = isDone && movement && !movements.has(movement, transfer.id)
    if (problem !== null || isOther) {
      const why = problem ?? `${transfer.id} is ${becomes} already.`
      throw new ApiError('conflict', { detail: `${why} ${AGAIN}` })
    }
    if (isDone) return []
    book()
    return [{ entry, transfer }]
  })
}

/** Books entries that become the same, in one batch. Returns false if somebody else changed something meanwhile. */
async function bookStep(call: Call, hash: string, step: readonly Booking[]): Promise<boolean> {
  const { db, actor, account } = call
  const changes = await readOpen(call, step)
  const [first] = changes
  if (!first) return true
  const also = rows.finishAnswer(db, account.id, { hash, actor, now: 0 })
  const details = { [first.entry.becomes]: changes.length, hash }
  return bookTransfers(call, changes, { action: 'transfers.move', details, also })
}
