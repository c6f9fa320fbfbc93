import { bookPayments, bookReturn } from '../books/db/pay.ts'
import { readHolds } from '../books/holds.ts'
import { untilBooked } from '../books/until-booked.ts'
import { decimal, sum } from '../commission/engine/decimal.ts'
import { moneyText } from '../commission/statements/money.ts'
import type { Connection } from '../platform/db/database.ts'
import { isAssertionFailure, withD1Retry } from '../platform/db/retry.ts'
import { newAuditId, withAudit } from '../platform/directory/audit.ts'
import { ApiError } from '../platform/errors.ts'
import type { AccountCall } from '../platform/http/operation.ts'
import { notFound } from '../platform/http/read-fields.ts'
import {
  canBecome,
  type Entry,
  isDone,
  type Known,
  matchRows,
  type NamedRow,
  numberKey,
  stateWords,
  UNNAMED,
  type Unmatched,
} from './answers/match.ts'
import { readFile } from './answers/read.ts'
import { namesAccount } from './answers/reasons.ts'
import * as rows from './db/answers.ts'
import { readCurrent, setState } from './db/payees.ts'
import { type FoundTransfer, findTransfers, moveTransfers, transfersOf } from './db/transfers.ts'
import { decryptDetails } from './details.ts'
import { PAYOUT_LIMITS } from './model.ts'
import { isOfTransfer, referencesIn } from './reference.ts'

// A file with which a bank answers is previewed, and then booked. Only the preview is stored, never the file.

/** The rows of which nothing is booked that are listed. */
const LISTED = 100

/** The rows that name transfers, and what is booked of them: as much as a Worker and a row of the database hold. */
const MAX_NAMED = 10_000

/** What a preview shows. */
export type Summary = Awaited<ReturnType<typeof summarize>> & {
  readonly format: string
  readonly rows: number
  readonly unchanged: number
  readonly unmatched: number
  readonly unmatched_rows: readonly Unmatched[]
}

const invalid = (detail: string) =>
  new ApiError('validation_failed', { detail: `${detail} Nothing was changed.` })

const tooMany = () =>
  invalid(`The file names more than ${MAX_NAMED.toLocaleString('en')} transfers. Divide it.`)

/** Reads a file: its rows that name something of ours, the first of the others, and how many there are of each. */
function readRows(bytes: Uint8Array) {
  const named: NamedRow[] = []
  const others: Unmatched[] = []
  const counts = { rows: 0, unnamed: 0 }
  const format = readFile(bytes, (read) => {
    counts.rows += 1
    const { text, ...row } = read
    const references = [...new Set(referencesIn(text))]
    if (references.length > 0) named.push({ ...row, references })
    else if (counts.unnamed++ < LISTED) others.push({ row: row.row, ...UNNAMED })
    if (named.length > MAX_NAMED) throw tooMany()
  })
  return { format, named, others, ...counts }
}

/** Returns the numbers of the accounts of all payers. */
async function readNumbers(env: Env, db: Connection, account: string) {
  const versions = await rows.readPayers(db, account)
  const found = await Promise.all(
    versions.map(async (one) => {
      const { iban, account: number } = (await decryptDetails(env, account, one)) ?? {}
      // Some banks name the account without the country and the check digits of its IBAN.
      const numbers = iban ? [iban, iban.slice(4)] : number ? [numberKey(number)] : []
      return { id: one.id, numbers }
    }),
  )
  const byPayer = Map.groupBy(found, ({ id }) => id)
  return new Map([...byPayer].map(([id, all]) => [id, all.flatMap(({ numbers }) => numbers)]))
}

/** Reads what rows are matched with. */
async function readKnown(
  { env, db, account: { id: account } }: AccountCall,
  named: readonly NamedRow[],
  payer: string | undefined,
): Promise<Known> {
  const references = [...new Set(named.flatMap((row) => row.references))]
  const [transfers, names, payers] = await Promise.all([
    findTransfers(db, account, references.filter(isOfTransfer)),
    rows.findBatches(db, account, references),
    readNumbers(env, db, account),
  ])
  if (payer !== undefined && !payers.has(payer)) throw notFound('payer', payer)
  const batches = await Promise.all(
    names.map(async (name) => [name, await transfersOf(db, account, name)] as const),
  )
  const isKnown = new Set([...transfers.map(({ id }) => id), ...names])
  const needsPayer = named.some(
    (row) => !row.account && row.references.some((one) => isKnown.has(one)),
  )
  if (needsPayer && payer === undefined && payers.size > 1)
    throw invalid('The file does not say from which account it is: name the `payer`.')
  const [only = null] = payers.keys()
  return {
    transfers: new Map(transfers.map((one) => [one.id, one])),
    batches: new Map(batches),
    payers,
    payer: payer ?? only,
  }
}

type TransferOf = (id: string) => FoundTransfer

/** Sums up what becomes of transfers. */
function sumUp(entries: readonly Entry[], transferOf: TransferOf) {
  const groups = Map.groupBy(entries, (one) => `${one.to} ${transferOf(one.transfer).currency}`)
  return [...groups.values()].flatMap((own) =>
    own.slice(0, 1).map(({ transfer, to: becomes }) => {
      const { currency } = transferOf(transfer)
      const total = sum(own.map((one) => decimal(transferOf(one.transfer).amount)))
      return { becomes, count: own.length, amount: moneyText(total, currency), currency }
    }),
  )
}

/** Returns what becomes of transfers, and which a person should look at: what failed, other names, and holds. */
async function summarize(
  { db, account }: AccountCall,
  entries: readonly Entry[],
  transferOf: TransferOf,
) {
  const paid = entries.filter(({ to }) => to === 'paid').map((one) => transferOf(one.transfer))
  const holds = await readHolds(db, account.id, [...new Set(paid.map((one) => one.affiliate_id))])
  const about = (one: FoundTransfer, what: Entry['to'] | 'held', detail: string | null) => {
    const { id: transfer, affiliate_id, amount, currency } = one
    return { transfer, affiliate_id, amount, currency, what, detail }
  }
  const notices = entries
    .filter(({ to, name_check }) => !['paid', 'accepted'].includes(to) && name_check !== 'match')
    .map((one) => about(transferOf(one.transfer), one.to, one.name_check ?? one.reason))
  const held = paid.filter((one) => holds.has(one.affiliate_id))
  return {
    booked: sumUp(entries, transferOf),
    notices: [...notices, ...held.map((one) => about(one, 'held', null))].slice(0, LISTED),
  }
}

/**
 * Reads a file, and stores what would be booked. A file that is booked, and has nothing new, stays as it is.
 *
 * @throws ApiError `validation_failed`, `not_found`
 */
export async function previewAnswer(
  call: AccountCall,
  bytes: Uint8Array,
  payer?: string,
): Promise<rows.StoredAnswer> {
  const { db } = call
  const { id: account } = call.account
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).toHex()
  const { format, named, others, unnamed, ...read } = readRows(bytes)
  const known = await readKnown(call, named, payer)
  const { entries, unmatched, unchanged } = matchRows(named, known)
  if (entries.length > MAX_NAMED) throw tooMany()
  const before = await rows.findAnswer(db, account, hash)
  if (before?.applied_at && entries.length === 0) return before
  const transfers = [...known.transfers.values(), ...[...known.batches.values()].flat()]
  const byId = new Map(transfers.map((one) => [one.id, one]))
  const summary: Summary = {
    ...{ format, ...read, unchanged, unmatched: unmatched.length + unnamed },
    ...(await summarize(call, entries, (id) => byId.get(id) as FoundTransfer)),
    unmatched_rows: [...unmatched.sort((a, b) => a.row - b.row), ...others].slice(0, LISTED),
  }
  const stored = {
    ...{ hash, entries: JSON.stringify(entries), summary: JSON.stringify(summary) },
    ...{ created_at: Date.now(), applied_at: null },
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

/** How many transfers one step books. A return is a step of its own, and a rejection may change a payee. */
const STEP: Readonly<Record<Entry['to'], number>> = {
  ...{ checked: 1000, accepted: 1000, rejected: 100 },
  ...{ paid: PAYOUT_LIMITS.transfers, returned: 1 },
}

/** Returns the steps in which entries are booked, in their order. */
function stepsOf(entries: readonly Entry[]): Entry[][] {
  const steps: Entry[][] = []
  for (const entry of entries) {
    const last = steps.at(-1)
    if (last?.[0]?.to === entry.to && last.length < STEP[entry.to]) last.push(entry)
    else steps.push([entry])
  }
  return steps
}

/**
 * Books an answer, step by step: one that was ended between two steps goes on when it is repeated. What is booked already
 * stays as it is.
 *
 * @throws ApiError `not_found`, `unavailable`
 */
export async function applyAnswer(call: AccountCall, hash: string): Promise<rows.StoredAnswer> {
  const { db, actor } = call
  const { id: account } = call.account
  const stored = await readAnswer(db, account, hash)
  if (stored.applied_at !== null) return stored
  const entries: Entry[] = JSON.parse(stored.entries)
  for (const step of stepsOf(entries)) {
    await untilBooked(async () => ((await bookStep(call, hash, step)) ? true : null))
  }
  const found = await readStates(db, account, entries)
  const transferOf: TransferOf = (id) => found.get(id) as FoundTransfer
  const isBooked = ({ transfer, to }: Entry) =>
    to === 'checked' || isDone(transferOf(transfer).state, to)
  const refused = entries
    .filter((one) => !isBooked(one))
    .map(({ row, transfer, to }) => ({
      ...({ row, reason: 'wrong_state' } as const),
      detail: stateWords(transfer, transferOf(transfer).state, to),
    }))
  const before: Summary = JSON.parse(stored.summary)
  const summary = JSON.stringify({
    ...before,
    booked: sumUp(entries.filter(isBooked), transferOf),
    unmatched: before.unmatched + refused.length,
    unmatched_rows: [...refused, ...before.unmatched_rows].slice(0, LISTED),
  } satisfies Summary)
  const now = Date.now()
  await withAudit(db, { actor, action: 'answer.book', account, details: { hash } }, [
    rows.finishAnswer(db, { account, hash, summary, now }),
  ])
  return { ...stored, summary, applied_at: now }
}

/** Reads the transfers of entries as they are now. */
async function readStates(db: Connection, account: string, entries: readonly Entry[]) {
  const ids = [...new Set(entries.map(({ transfer }) => transfer))]
  const found = await findTransfers(db, account, ids)
  return new Map(found.map((one) => [one.id, one]))
}

/** Books entries that become the same, in one batch. Returns false if somebody else changed something meanwhile. */
async function bookStep(call: AccountCall, hash: string, step: readonly Entry[]): Promise<boolean> {
  const { db, actor } = call
  const { id: account } = call.account
  const found = await readStates(db, account, step)
  const open = step.flatMap((entry) => {
    const transfer = found.get(entry.transfer)
    return transfer && canBecome(transfer.state, entry.to) ? [{ entry, transfer }] : []
  })
  const [one] = open
  if (!one) return true
  const now = Date.now()
  const { to } = one.entry
  const entries = open.map(({ entry }) => entry)
  const transfers = open.map(({ transfer }) => transfer)
  const moves = entries.map(({ transfer: id, to, code, reason }) => ({
    id,
    state: to,
    code,
    reason,
  }))
  const details = { [to]: open.length, hash }
  const payer = { account, actor, action: 'transfers.move', details, now }
  const also = [
    rows.rejectMoved(db, account, transfers),
    ...(to === 'checked' ? [rows.setChecks(db, account, entries)] : []),
    moveTransfers(db, account, moves as Parameters<typeof moveTransfers>[2], now),
    ...(to === 'paid' || to === 'returned' ? [rows.notifyMoved(db, account, to, entries)] : []),
    ...(await refusedPayees(call, open, now)),
  ]
  if (to === 'paid') {
    const made = open.map(({ entry: { day }, transfer }) => ({
      ...{ reference: transfer.id, affiliate_id: transfer.affiliate_id },
      ...{ currency: transfer.currency, amount: transfer.amount, paid_on: day ?? '' },
      ids: JSON.parse(transfer.statements) as string[],
    }))
    // The bank has paid: what cases hold meanwhile is booked, too. The preview says so.
    return bookPayments(db, { ...payer, action: 'payouts.book' }, made, [], also)
  }
  if (to === 'returned') {
    const { id } = one.transfer
    const { day, reason } = one.entry
    const returned = {
      ...{ payment: id, reference: id, returned_on: day ?? '' },
      reason: reason ?? 'The bank gives no reason',
    }
    return bookReturn(
      db,
      { ...payer, action: 'statement.return', details: returned },
      returned,
      also,
    )
  }
  try {
    await withAudit(db, payer, also)
    return true
  } catch (error) {
    if (!isAssertionFailure(error)) throw error
    return false
  }
}

/** Returns the statements that say of payees that a bank refused their account: a person has to confirm them. */
async function refusedPayees(
  { db, actor, account: { id: account } }: AccountCall,
  open: readonly { readonly entry: Entry; readonly transfer: FoundTransfer }[],
  now: number,
): Promise<D1PreparedStatement[]> {
  const refused = open.filter(
    ({ entry: { to, code } }) => (to === 'returned' || to === 'rejected') && namesAccount(code),
  )
  const affiliates = refused.map(({ transfer }) => transfer.affiliate_id)
  const current = await readCurrent(db, { account, party: 'payee' }, affiliates)
  const byPayee = new Map(refused.map((one) => [one.transfer.affiliate_id, one]))
  return [...byPayee.values()].flatMap(({ entry, transfer: { affiliate_id, payee_version } }) => {
    const seen = current.get(affiliate_id)
    if (seen?.version !== payee_version || seen.state !== 'approved') return []
    const author = { account, party: 'payee', actor, now, audit: newAuditId() } as const
    return setState(db, author, seen, { state: 'returned', reason: entry.reason })
  })
}
