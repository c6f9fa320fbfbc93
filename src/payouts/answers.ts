import { bookPayments, bookReturn } from '../books/db/pay.ts'
import { untilBooked } from '../books/until-booked.ts'
import { decimal, sum } from '../commission/engine/decimal.ts'
import { moneyText } from '../commission/statements/money.ts'
import type { Connection } from '../platform/db/database.ts'
import { withD1Retry } from '../platform/db/retry.ts'
import { newAuditId, withAudit } from '../platform/directory/audit.ts'
import { ApiError } from '../platform/errors.ts'
import type { AccountCall } from '../platform/http/operation.ts'
import { notFound } from '../platform/http/read-fields.ts'
import {
  type Change,
  type Entry,
  followTransfers,
  type Known,
  matchRows,
  numberKey,
} from './answers/match.ts'
import { readFile } from './answers/read.ts'
import { namesAccount } from './answers/reasons.ts'
import { type AnswerRow, refused } from './answers/row.ts'
import * as rows from './db/answers.ts'
import { readCurrent, setState } from './db/payees.ts'
import { findTransfers, moveTransfers } from './db/transfers.ts'
import { decryptDetails } from './details.ts'

// A file with which a bank answers is previewed, and then booked. Only the preview is stored, never the file.

/** The changes, and the rows of which nothing is booked, that are listed. */
const LISTED = 100

/**
 * The most rows of a file, the most of them that name transfers, and the most bytes of what is booked: more would not fit
 * into the memory of a Worker, or into a row of D1.
 */
const MAX_ROWS = 250_000
const MAX_NAMED = 10_000
const MAX_STORED = 1_900_000

const tooMany = () => refused('The file has more rows than are read at once. Divide it.')

/** Reads a file: its rows that name something, the first of the others, and how many there are of all. */
function readRows(bytes: Uint8Array) {
  const named: AnswerRow[] = []
  const others: AnswerRow[] = []
  let count = 0
  const format = readFile(bytes, (row) => {
    count += 1
    if (row.references.length > 0) named.push(row)
    else if (others.length < LISTED) others.push(row)
    if (count > MAX_ROWS || named.length > MAX_NAMED) throw tooMany()
  })
  return { format, count, read: [...named, ...others] }
}

/** Reads what rows are matched with. */
async function readKnown(
  { env, db, account: { id: account } }: AccountCall,
  read: readonly AnswerRow[],
  payer: string | undefined,
): Promise<Known> {
  const references = [...new Set(read.flatMap((row) => row.references))]
  const [found, versions] = await Promise.all([
    findTransfers(db, account, references, MAX_NAMED + 1),
    rows.readPayers(db, account),
  ])
  if (found.length > MAX_NAMED) throw tooMany()
  const [only, ...more] = new Set(versions.map(({ id }) => id))
  if (payer !== undefined && ![only, ...more].includes(payer)) throw notFound('payer', payer)
  const numbers = versions.map(async (one) => {
    const { iban, account: number } = (await decryptDetails(env, account, one)) ?? {}
    // Some banks name the account without the country and the check digits of its IBAN.
    const own = iban ? [iban, iban.slice(4)] : number ? [numberKey(number)] : []
    return [`${one.id} ${one.version}`, own] as const
  })
  return {
    named: Map.groupBy(found, ({ reference }) => reference),
    numbers: new Map(await Promise.all(numbers)),
    payer: payer ?? (more.length === 0 ? only : undefined),
  }
}

/** Whether a person should look at what becomes of a transfer. */
const isTrouble = ({ entry: { becomes, reason } }: Change) =>
  becomes !== 'paid' && becomes !== 'accepted' && reason !== 'match'

/** Returns what is shown of changes: their sums, and the first of them, trouble before the rest. */
function summarize(changes: readonly Change[]) {
  const booked = [...Map.groupBy(changes, ({ entry }) => entry.becomes)].flatMap(([becomes, all]) =>
    [...Map.groupBy(all, ({ transfer }) => transfer.currency)].map(([currency, own]) => {
      const total = sum(own.map(({ transfer }) => decimal(transfer.amount)))
      return { becomes, count: own.length, amount: moneyText(total, currency), currency }
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

/**
 * Reads a file, and stores what would be booked. A file that is booked, and has nothing new, stays as it is.
 *
 * @throws ApiError `validation_failed`, `not_found`
 */
export async function previewAnswer(call: AccountCall, bytes: Uint8Array, payer?: string) {
  const { db } = call
  const { id: account } = call.account
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).toHex()
  const { format, count, read } = readRows(bytes)
  const known = await readKnown(call, read, payer)
  const { changes, unmatched, unchanged } = matchRows(read, known)
  const before = await rows.findAnswer(db, account, hash)
  if (before?.applied_at && changes.length === 0) return before
  const summary = {
    format,
    rows: count,
    ...summarize(changes),
    unchanged,
    unmatched: unmatched.length + count - read.length,
    unmatched_rows: unmatched.slice(0, LISTED),
  }
  const entries = JSON.stringify(changes.map(({ entry }) => entry))
  if (new TextEncoder().encode(entries).byteLength > MAX_STORED) throw tooMany()
  const stored = {
    hash,
    entries,
    summary: JSON.stringify(summary),
    created_at: Date.now(),
    applied_at: null,
  }
  await withD1Retry(() => db.batch(rows.storeAnswer(db, account, stored)))
  return stored
}

/** Reads a stored answer. @throws ApiError `not_found` */
export async function readAnswer(db: Connection, account: string, hash: string) {
  const stored = await rows.findAnswer(db, account, hash)
  if (!stored) throw notFound('answer', hash)
  return stored
}

const AGAIN = 'Something changed since the file was read. Read it again.'

/** How many changes one step books. A return is a step of its own. */
const STEP = 100

/**
 * Books an answer, step by step: one that was ended between two steps goes on when it is repeated. What is booked already
 * stays as it is.
 *
 * @throws ApiError `not_found`, `unavailable`; `conflict` if a transfer cannot become any more what the preview says
 */
export async function applyAnswer(call: AccountCall, hash: string): Promise<rows.StoredAnswer> {
  const { db, actor } = call
  const { id: account } = call.account
  const stored = await readAnswer(db, account, hash)
  if (stored.applied_at) return stored
  const entries: Entry[] = JSON.parse(stored.entries)
  const changes = await readOpen(call, entries)
  // Read again: what booked some of it may have been a repetition of this call, and not another file.
  const isNew = (await readAnswer(db, account, hash)).applied_at === null
  if (isNew && changes.length < entries.length) throw new ApiError('conflict', { detail: AGAIN })
  const steps = Map.groupBy(changes, ({ entry: { becomes, transfer } }, n) =>
    becomes === 'returned' ? transfer : `${becomes} ${Math.floor(n / STEP)}`,
  )
  for (const step of steps.values()) {
    const entries = step.map(({ entry }) => entry)
    await untilBooked(async () => (await bookStep(call, hash, entries)) || null)
  }
  const now = Date.now()
  await withAudit(db, { actor, action: 'bank-answer.book', account, details: { hash } }, [
    rows.finishAnswer(db, account, hash, now),
  ])
  return { ...stored, applied_at: now }
}

/** Returns what is not booked yet. Throws `conflict` if something of it cannot be booked any more. */
async function readOpen({ db, account }: AccountCall, entries: readonly Entry[]) {
  const ids = [...new Set(entries.map(({ transfer }) => transfer))]
  const found = await findTransfers(db, account.id, ids)
  const byId = new Map(found.map((one) => [one.id, one]))
  const follow = followTransfers()
  return entries.flatMap((entry) => {
    const transfer = byId.get(entry.transfer)
    if (!transfer) return []
    const { isDone, problem } = follow(transfer, entry.becomes, entry.reason)
    if (problem === null) return isDone ? [] : [{ entry, transfer }]
    throw new ApiError('conflict', { detail: `${problem} ${AGAIN}` })
  })
}

/** Books entries that become the same, in one batch. Returns false if somebody else changed something meanwhile. */
async function bookStep(call: AccountCall, hash: string, step: readonly Entry[]): Promise<boolean> {
  const { db, actor } = call
  const { id: account } = call.account
  const changes = await readOpen(call, step)
  const [first] = changes
  if (!first) return true
  const { becomes, day, reason } = first.entry
  const now = Date.now()
  const moves = changes.map(({ entry: { becomes, code, reason }, transfer: { id, state } }) =>
    becomes === 'checked'
      ? { id, state, name_check: reason }
      : { id, state: becomes, code, reason },
  )
  const also = [
    ...rows.guardChanges(db, account, changes),
    moveTransfers(db, account, moves, now),
    rows.finishAnswer(db, account, hash, 0),
    ...(await refusedPayees(call, changes, now)),
  ]
  const details = { [becomes]: changes.length, hash }
  const author = { account, actor, action: 'transfers.move', details, now }
  if (becomes === 'returned') {
    const { id } = first.transfer
    const returned = {
      payment: id,
      reference: id,
      returned_on: day ?? '',
      reason: reason ?? 'The bank gives no reason',
    }
    return bookReturn(db, author, returned, also)
  }
  const paid = becomes === 'paid' ? changes : []
  const payments = paid.map(
    ({ entry, transfer: { id, affiliate_id, currency, amount, ...one } }) => ({
      reference: id,
      affiliate_id,
      currency,
      amount,
      paid_on: entry.day ?? '',
      ids: JSON.parse(one.statements) as string[],
    }),
  )
  // The bank has paid: what cases hold meanwhile is booked, too.
  return bookPayments(db, author, payments, [], also)
}

/** Returns the statements that say of payees that a bank refused their account: a person has to confirm them. */
async function refusedPayees(
  { db, actor, account: { id: account } }: AccountCall,
  changes: readonly Change[],
  now: number,
): Promise<D1PreparedStatement[]> {
  const refused = changes.filter(({ entry }) => namesAccount(entry.code))
  const byPayee = new Map(refused.map((one) => [one.transfer.affiliate_id, one]))
  const current = await readCurrent(db, { account, party: 'payee' }, [...byPayee.keys()])
  return [...byPayee].flatMap(([affiliate, { entry, transfer }]) => {
    const seen = current.get(affiliate)
    if (seen?.version !== transfer.payee_version || seen.state !== 'approved') return []
    const author = { account, party: 'payee', actor, now, audit: newAuditId() } as const
    return setState(db, author, seen, { state: 'returned', reason: entry.reason })
  })
}
