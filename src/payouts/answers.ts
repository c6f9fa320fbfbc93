import { bookPayments, bookReturn } from '../books/db/pay.ts'
import { readHolds } from '../books/holds.ts'
import { untilBooked } from '../books/until-booked.ts'
import { add, decimal, ZERO } from '../commission/engine/decimal.ts'
import { moneyText } from '../commission/statements/money.ts'
import type { Connection } from '../platform/db/database.ts'
import { isAssertionFailure, withD1Retry } from '../platform/db/retry.ts'
import { newAuditId, withAudit } from '../platform/directory/audit.ts'
import { ApiError } from '../platform/errors.ts'
import type { AccountCall } from '../platform/http/operation.ts'
import { notFound } from '../platform/http/read-fields.ts'
import type { Chosen } from './answers/csv.ts'
import {
  canBecome,
  type Entry,
  isDone,
  type Known,
  matchRows,
  type NamedRow,
  namedRow,
  numberKey,
  stateWords,
  type Unmatched,
} from './answers/match.ts'
import { readAnswer } from './answers/read.ts'
import { namesAccount } from './answers/reasons.ts'
import * as rows from './db/answers.ts'
import { setState } from './db/payees.ts'
import { type FoundTransfer, findTransfers, moveTransfers, transfersOf } from './db/transfers.ts'
import { decryptDetails } from './details.ts'
import { PAYOUT_LIMITS } from './model.ts'
import { currentDetails } from './payees.ts'
import { isOfTransfer } from './reference.ts'

// A file with which a bank answers is previewed, and then booked. Only the preview is stored, never the file.

/** The rows of which nothing is booked that are listed. */
const LISTED = 100

/** The rows that name transfers, and what is booked of them: what a Worker and a row of the database hold. */
const MAX_NAMED = 50_000
const MAX_ENTRIES = 10_000

/** What becomes of the transfers of a batch. */
export interface BatchAnswer {
  readonly batch: string
  readonly currency: string
  readonly paid: number
  readonly paid_amount: string
  readonly returned: number
  readonly returned_amount: string
  readonly accepted: number
  readonly rejected: number
}

/** A transfer that a person should look at. */
export interface Notice {
  readonly transfer: string
  readonly affiliate_id: string
  readonly amount: string
  readonly currency: string
  readonly what: 'returned' | 'rejected' | 'checked' | 'held'
  readonly detail: string | null
}

/** What a preview shows. */
export interface Summary {
  readonly format: string
  readonly rows: number
  readonly batches: readonly BatchAnswer[]
  readonly notices: readonly Notice[]
  readonly unchanged: number
  readonly unmatched: number
  readonly unmatched_rows: readonly Unmatched[]
}

/** How to read a file: from which payer it is, and which columns an unknown CSV has. */
export interface Reading {
  readonly payer?: string
  readonly date_column?: string
  readonly amount_column?: string
  readonly currency_column?: string
}

const invalid = (detail: string, headings?: readonly string[]) =>
  new ApiError('validation_failed', {
    detail: `${detail} Nothing was changed.`,
    ...(headings && { headings }),
  })

/** Reads a file: how many rows it has, those that name something of ours, and how many do not. */
function readRows(bytes: Uint8Array, chosen: Chosen) {
  const named: NamedRow[] = []
  const others: Unmatched[] = []
  let count = 0
  let unnamed = 0
  const format = readAnswer(bytes, chosen, (read) => {
    count += 1
    const row = namedRow(read)
    if (row.references.length > 0) named.push(row)
    else if (unnamed++ < LISTED)
      others.push({ row: row.row, reason: 'no_reference', detail: 'It names no transfer.' })
    if (named.length > MAX_NAMED) throw tooMany(MAX_NAMED)
  })
  if (typeof format === 'string') return { format, named, others, count, unnamed }
  throw invalid(
    'The columns of this CSV are not known. Say which has the day, and which the amount.',
    format.headings,
  )
}

const tooMany = (limit: number) =>
  invalid(`The file names more than ${limit.toLocaleString('en')} transfers. Divide it.`)

/** Returns how columns are chosen, and what is to be remembered of it. */
async function readChoice(db: Connection, account: string, reading: Reading) {
  const stored = await rows.readColumns(db, account)
  const { date_column, amount_column, currency_column } = reading
  const sent = date_column && amount_column && { date_column, amount_column, currency_column }
  const remembered = new Map<string, string>()
  const chosen: Chosen = (headings) => {
    const key = JSON.stringify(headings)
    const names = sent || JSON.parse(stored.get(key) ?? 'null')
    if (!names || !Object.values(names).every((name) => !name || headings.includes(String(name))))
      return null
    if (sent) remembered.set(key, JSON.stringify(sent))
    const amounts = [[names.amount_column, names.currency_column || null] as const]
    return { name: 'CSV', day: names.date_column, amounts }
  }
  return { chosen, remembered }
}

/** Returns the numbers of the accounts of all payers. */
async function readNumbers(env: Env, db: Connection, account: string) {
  const versions = await rows.readPayers(db, account)
  const found = await Promise.all(
    versions.map(async (one) => {
      const details = await decryptDetails(env, account, one)
      const number = details?.iban ?? details?.account
      return { id: one.id, numbers: number ? [numberKey(number)] : [] }
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

const sumText = (all: readonly FoundTransfer[], currency: string) =>
  moneyText(
    all.reduce((sum, { amount }) => add(sum, decimal(amount)), ZERO),
    currency,
  )

/** Sums up what becomes of the transfers of each batch. */
function sumBatches(entries: readonly Entry[], transferOf: (id: string) => FoundTransfer) {
  const all = entries.map(({ transfer, to }) => ({ to, transfer: transferOf(transfer) }))
  const byBatch = Map.groupBy(all, ({ transfer }) => transfer.batch)
  return [...byBatch].map(([batch, own]): BatchAnswer => {
    const currency = own[0]?.transfer.currency ?? ''
    const became = (to: Entry['to']) =>
      own.filter((one) => one.to === to).map(({ transfer }) => transfer)
    const [paid, returned] = [became('paid'), became('returned')]
    return {
      ...{ batch, currency, paid: paid.length, paid_amount: sumText(paid, currency) },
      ...{ returned: returned.length, returned_amount: sumText(returned, currency) },
      ...{ accepted: became('accepted').length, rejected: became('rejected').length },
    }
  })
}

/**
 * Reads a file, and stores what would be booked. A file that is booked, and has nothing new, stays as it is.
 *
 * @throws ApiError `validation_failed`, `not_found`
 */
export async function previewAnswer(call: AccountCall, bytes: Uint8Array, reading: Reading) {
  const { db, actor } = call
  const { id: account } = call.account
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).toHex()
  const { chosen, remembered } = await readChoice(db, account, reading)
  const { format, named, others, count, unnamed } = readRows(bytes, chosen)
  const known = await readKnown(call, named, reading.payer)
  const { entries, unmatched, unchanged } = matchRows(named, known)
  if (entries.length > MAX_ENTRIES) throw tooMany(MAX_ENTRIES)
  const transfers = new Map(
    [...known.batches.values(), [...known.transfers.values()]].flat().map((one) => [one.id, one]),
  )
  const transferOf = (id: string) => transfers.get(id) as FoundTransfer
  const summary: Summary = {
    ...{ format, rows: count, unchanged, batches: sumBatches(entries, transferOf) },
    notices: await noticesOf(call, entries, transferOf),
    unmatched: unmatched.length + unnamed,
    unmatched_rows: [...unmatched.sort((a, b) => a.row - b.row), ...others].slice(0, LISTED),
  }
  const known_before = await rows.findAnswer(db, account, hash)
  if (known_before?.applied_at && entries.length === 0) return known_before
  const stored = {
    ...{ hash, entries: JSON.stringify(entries), summary: JSON.stringify(summary) },
    ...{ created_by: actor, created_at: Date.now() },
  }
  await withD1Retry(() =>
    db.batch([
      ...rows.storeAnswer(db, account, stored),
      ...[...remembered].map(([headings, columns]) =>
        rows.storeColumns(db, account, headings, columns),
      ),
    ]),
  )
  return { ...stored, applied_by: null, applied_at: null }
}

/** Returns the transfers that a person should look at: what came back or was rejected, other names, and holds. */
async function noticesOf(
  { db, account }: AccountCall,
  entries: readonly Entry[],
  transferOf: (id: string) => FoundTransfer,
): Promise<Notice[]> {
  const paid = entries.filter(({ to }) => to === 'paid').map((one) => transferOf(one.transfer))
  const affiliates = [...new Set(paid.map(({ affiliate_id }) => affiliate_id))]
  const holds = await readHolds(db, account.id, affiliates)
  const about = (
    { id, affiliate_id, amount, currency }: FoundTransfer,
    what: Notice['what'],
    detail: string | null,
  ) => ({ transfer: id, affiliate_id, amount, currency, what, detail })
  return [
    ...entries.flatMap(({ transfer, to, reason, name_check }) =>
      to === 'paid' || to === 'accepted' || name_check === 'match'
        ? []
        : [about(transferOf(transfer), to, name_check ?? reason)],
    ),
    ...paid.filter((one) => holds.has(one.affiliate_id)).map((one) => about(one, 'held', null)),
  ].slice(0, LISTED)
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
  const stored = await rows.findAnswer(db, account, hash)
  if (!stored) throw notFound('answer', hash)
  if (stored.applied_at !== null) return stored
  const entries: Entry[] = JSON.parse(stored.entries)
  for (const step of stepsOf(entries)) {
    await untilBooked(async () => ((await bookStep(call, hash, step)) ? true : null))
  }
  const found = await readStates(db, account, entries)
  const refused = entries.flatMap(({ row, transfer, to }): Unmatched[] => {
    const state = found.get(transfer)?.state ?? 'cancelled'
    if (to === 'checked' || isDone(state, to)) return []
    return [{ row, reason: 'wrong_state', detail: stateWords(transfer, state, to) }]
  })
  const before: Summary = JSON.parse(stored.summary)
  const isBooked = ({ transfer, to }: Entry) =>
    to === 'checked' || isDone(found.get(transfer)?.state ?? 'cancelled', to)
  const summary: Summary = {
    ...before,
    batches: sumBatches(entries.filter(isBooked), (id) => found.get(id) as FoundTransfer),
    unmatched: before.unmatched + refused.length,
    unmatched_rows: [...refused, ...before.unmatched_rows].slice(0, LISTED),
  }
  const now = Date.now()
  const done = { account, hash, summary: JSON.stringify(summary), actor, now }
  const details = { hash, format: summary.format }
  await withAudit(db, { actor, action: 'answer.book', account, details }, [
    rows.finishAnswer(db, done),
  ])
  return { ...stored, summary: done.summary, applied_by: actor, applied_at: now }
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
  const current = await currentDetails(db, account, 'payee', affiliates)
  return refused.flatMap(({ entry, transfer: { affiliate_id, payee_version } }) => {
    const seen = current.get(affiliate_id)
    if (seen?.version !== payee_version || seen.state !== 'approved') return []
    const author = { account, party: 'payee', actor, now, audit: newAuditId() } as const
    return setState(db, author, seen, { state: 'returned', reason: entry.reason })
  })
}
