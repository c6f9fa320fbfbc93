import { untilBooked } from '../books/until-booked.ts'
import { digest } from '../platform/auth/secret.ts'
import { dayNumber, dayText } from '../platform/db/column-types.ts'
import type { Connection } from '../platform/db/database.ts'
import { ApiError } from '../platform/errors.ts'
import type { Call } from '../platform/http/operation.ts'
import { notFound, validationFailed } from '../platform/http/read-fields.ts'
import { decimal, sum } from '../platform/money/decimal.ts'
import { moneyText } from '../platform/money/money.ts'
import { quote } from '../platform/validation/quote.ts'
import { todayOf } from '../platform/zone.ts'
import { listMovements } from './by-hand.ts'
import * as rows from './db/batches.ts'
import { mayMove, moveTransfers, transfersOf } from './db/transfers.ts'
import { decryptDetails, fileDigest } from './details.ts'
import { fileOf, nameInFile, nameOf } from './files/file.ts'
import {
  type Details,
  PAYOUT_LIMITS,
  type StoredBatch,
  TRANSFER_STATES,
  type TransferState,
} from './model.ts'
import { requireCurrent } from './payees.ts'
import { referenceOf } from './reference.ts'
import { warningsOf } from './target-days.ts'

// A batch is computed from what is due, again for each look at a preview, until a person confirms it. From then on its
// transfers never change but in their states.

const conflict = (detail: string) => new ApiError('conflict', { detail })

const sumOf = (parts: readonly { readonly amount: string }[], currency: string) =>
  moneyText(sum(parts.map(({ amount }) => decimal(amount))), currency)

/** What a transfer of a preview has as if it were stored. */
const CREATED = { state: 'created', code: null, reason: null, name_check: null } as const

/** Computes what a batch would pay now, and what it leaves out. */
async function planBatch(db: Connection, account: string, batch: rows.NewBatch) {
  const { id, payer, payer_version, method, currency, execute_on } = batch
  const due = await rows.readDue(db, account, batch, Date.now())
  const payable = due.filter(({ left_out }) => left_out === null)
  const byPayee = [...Map.groupBy(payable, ({ affiliate_id }) => affiliate_id)]
  const next = byPayee.splice(PAYOUT_LIMITS.transfers).flatMap(([, own]) => own)
  const transfers = await Promise.all(
    byPayee.map(async ([affiliate_id, own]) => ({
      ...CREATED,
      id: await referenceOf('T', `${id} ${affiliate_id}`),
      affiliate_id,
      payee_version: own[0]?.version ?? 0,
      currency,
      amount: sumOf(own, currency),
      statements: JSON.stringify(own.map(({ statement_id }) => statement_id)),
      same_account: own[0]?.same_account ?? '[]',
    })),
  )
  const full = next.map((one) => ({ ...one, left_out: 'next_batch' as const }))
  const left_out = [...due, ...full].flatMap(
    ({ version: _, same_account: __, left_out: reason, ...one }) =>
      reason ? [{ ...one, reason }] : [],
  )
  const content = [payer, payer_version, method, currency, execute_on, transfers]
  const hash = await digest(JSON.stringify(content))
  return { hash, total: sumOf(transfers, currency), transfers, left_out }
}

/** Returns a batch as it is answered. Its state is the lowest of its transfers, or `partial` if only some of them failed. */
export function presentBatch(batch: rows.ListedBatch) {
  const { id, payer, method, currency, execute_on, total, hash } = batch
  const { created_by, confirmed_by, reason } = batch
  const states: Partial<Record<TransferState, number>> = JSON.parse(batch.states)
  const found = TRANSFER_STATES.filter((state) => states[state])
  const [lowest = 'preview' as const] = found
  const hasFailed = found.some((state) => ['returned', 'rejected', 'cancelled'].includes(state))
  const state = hasFailed && found.length > 1 ? ('partial' as const) : lowest
  const asked = { id, state, states, payer, method, currency, execute_on }
  return { ...asked, total, hash, created_by, confirmed_by, reason }
}

/**
 * Returns a batch with its transfers, and the keys of the details that it uses. A preview is computed: what it pays now,
 * and what it leaves out. Throws `not_found`.
 */
async function readBatch({ db, account }: Call, id: string) {
  const [stored, transfers] = await Promise.all([
    rows.findBatch(db, account.id, id),
    transfersOf(db, account.id, id),
  ])
  if (!stored) throw notFound('batch', id)
  const isPreview = stored.confirmed_by === null
  const plan = isPreview ? await planBatch(db, account.id, stored) : { transfers, left_out: [] }
  const batch = { ...stored, ...plan }
  const payees = batch.transfers.map((one) => ['payee', one.affiliate_id, one.payee_version])
  const keys = JSON.stringify([['payer', batch.payer, batch.payer_version], ...payees])
  return { ...batch, keys }
}

/** Returns the details with some keys, by `party id`; without those that are erased. */
async function readDetails({ env, db, account }: Call, keys: string) {
  const details = new Map<string, Details>()
  for (const one of await rows.readVersions(db, account.id, keys)) {
    const own = await decryptDetails(env, account.id, one)
    if (own) details.set(`${one.party} ${one.id}`, own)
  }
  return details
}

/** Returns a batch with its transfers as it is answered. Throws `not_found`. */
export async function showBatch(call: Call, id: string) {
  const batch = await readBatch(call, id)
  const [details, movements] = await Promise.all([
    readDetails(call, batch.keys),
    listMovements(call.db, call.account.id, [id]),
  ])
  const { file_hash: hash, transfers } = batch
  return {
    ...presentBatch(batch),
    files: hash ? [{ n: 1, rows: transfers.length, hash, name: nameOf(batch) }] : [],
    transfers: transfers.map(({ payee_version: _, statements, same_account, ...one }) => {
      const name = details.get(`payee ${one.affiliate_id}`)?.name ?? null
      const written = name && nameInFile(batch.method, name)
      const name_in_file = written === name ? null : written
      return {
        ...one,
        statements: JSON.parse(statements) as string[],
        same_account: JSON.parse(same_account) as string[],
        name,
        name_in_file,
      }
    }),
    movements,
    left_out: batch.left_out,
    warnings: warningsOf(batch),
  }
}

const pointer = '/execute_on'

/** Returns today. Throws `validation_failed` if the day on which a batch is to be executed is over. */
function requireDay(account: Call['account'], execute_on: string): string {
  const today = todayOf(account)
  if (execute_on >= today) return today
  throw validationFailed([{ pointer, code: 'minimum', expected: `${today}, today` }])
}

/**
 * Stores what a preview asks for, and returns its id.
 *
 * @param named The statements that a person chose. Absent: all that is due.
 * @throws ApiError `not_found`, `conflict`, `validation_failed`
 */
export async function previewBatch(
  { env, db, actor, account }: Call,
  asked: Pick<StoredBatch, 'payer' | 'method' | 'execute_on'>,
  named: readonly string[] | undefined,
) {
  const { payer, method } = asked
  const today = requireDay(account, asked.execute_on)
  const last = dayText(dayNumber(today) + PAYOUT_LIMITS.daysAhead)
  if (asked.execute_on > last)
    throw validationFailed([{ pointer, code: 'maximum', expected: last }])
  const now = Date.now()
  const from = await requireCurrent(db, { account: account.id, party: 'payer' }, payer)
  const currency = (await decryptDetails(env, account.id, from))?.currency ?? ''
  if (from.state !== 'approved' || (from.payable_from ?? now) > now) {
    throw conflict(
      `The payer ${quote(payer)} is not approved, or changed within the hold. Nothing is paid from it until then.`,
    )
  }
  if (method === 'sepa' && currency !== 'EUR') {
    throw conflict(`SEPA pays in EUR, and the payer ${quote(payer)} has ${currency}.`)
  }
  const id = await referenceOf('B', crypto.randomUUID())
  const statements = named ? JSON.stringify(named) : null
  const own = { id, payer_version: from.version, currency, statements }
  const batch = { ...asked, ...own, created_by: actor, created_at: now }
  const due = await rows.readDue(db, account.id, batch, now)
  const known = new Set(due.map(({ statement_id }) => statement_id))
  const other = named?.find((one) => !known.has(one))
  if (other) throw conflict(`The statement ${quote(other)} is not due by then, or a batch has it.`)
  await rows.insertPreview(db, account.id, batch)
  return id
}

/** Changes a batch; returns null if it may be tried again. Throws `conflict` if bank details that it needs cannot be paid. */
async function change(
  { db, account, actor }: Call,
  batch: StoredBatch,
  changed: Omit<rows.Change, 'account' | 'actor'>,
) {
  const all = { ...changed, account: account.id, actor }
  const found = await rows.findUnpayable(db, all)
  if (found.length === 0) return rows.changeBatch(db, batch, all)
  const whose = found.map(({ party, id, is_held }) =>
    is_held
      ? `a case of the fraud review holds the ${party} ${quote(id)}`
      : `the bank details of the ${party} ${quote(id)} changed, or are not approved for long enough`,
  )
  throw conflict(
    `Nothing can be paid by this batch: ${whose.join('; ')}. Cancel the batch and prepare it again.`,
  )
}

/**
 * Confirms a batch as a person has seen it. One that is confirmed so already stays as it is.
 *
 * @throws ApiError `not_found`, `conflict`; `validation_failed` once its day is over
 */
export const confirmBatch = (
  call: Call,
  id: string,
  seen: { readonly hash: string; readonly total: string },
): Promise<true> =>
  untilBooked(async () => {
    const { db, account, actor } = call
    const batch = await readBatch(call, id)
    const { hash, total, transfers, keys } = batch
    if (hash !== seen.hash || total !== seen.total) {
      throw conflict(
        `The batch is not what you saw: it pays ${total} ${batch.currency}, or its statements, bank details or payer changed. Nothing was stored. Look at it again.`,
      )
    }
    if (batch.confirmed_by !== null) return true
    requireDay(account, batch.execute_on)
    if (transfers.length === 0) throw conflict('The batch pays nothing.')
    const confirmed = { confirmed_by: actor, confirmed_at: Date.now() }
    const set = { hash, total, currency: batch.currency, ...confirmed }
    const statements = rows.insertTransfers(db, account.id, batch, transfers)
    return change(call, batch, { action: 'batch.confirm', set, keys, statements })
  })

/** Writes the file of a batch. Throws `conflict` if details are erased. */
async function writeFile(call: Call, batch: Awaited<ReturnType<typeof readBatch>>) {
  const file = fileOf(batch, batch.transfers, await readDetails(call, batch.keys))
  return { ...file, file_hash: await fileDigest(call.env, file.text, batch.file_hash) }
}

/**
 * Exports a confirmed batch: its transfers become `exported`, and its file never changes any more. One that is exported
 * stays as it is.
 *
 * @throws ApiError `not_found`, `conflict`
 */
export const exportBatch = (call: Call, id: string): Promise<true> =>
  untilBooked(async () => {
    const { db, account } = call
    const batch = await readBatch(call, id)
    const { transfers, keys } = batch
    if (batch.file_hash !== null) return true
    if (!JSON.parse(batch.states).created)
      throw conflict('The batch is not confirmed, or is cancelled.')
    const { file_hash } = await writeFile(call, batch)
    const moves = transfers.map(({ id }) => ({ id, state: 'exported' as const }))
    const statements = [moveTransfers(db, account.id, moves, Date.now())]
    return change(call, batch, { action: 'batch.export', set: { file_hash }, keys, statements })
  })

/**
 * Returns the file of a batch that is exported: the same bytes, whatever becomes of details and keys.
 *
 * @throws ApiError `not_found`, `conflict`
 */
export async function readFile(call: Call, id: string, n: number) {
  const batch = await readBatch(call, id)
  if (batch.file_hash === null) throw conflict('The batch has no file yet. Export it first.')
  if (n > 1) throw notFound('file', String(n))
  const file = await writeFile(call, batch)
  if (file.file_hash !== batch.file_hash) throw new Error(`The file of batch ${id} has changed.`)
  return file
}

/**
 * Cancels what is under way of a batch: its statements are due again. A batch without such stays as it is.
 *
 * @throws ApiError `not_found`
 */
export const cancelBatch = (call: Call, id: string, reason: string) =>
  untilBooked(async () => {
    const { db, account } = call
    const batch = await readBatch(call, id)
    const underWay = batch.transfers.filter(({ state }) => mayMove(state, 'cancelled'))
    if (batch.confirmed_by === null || underWay.length === 0) return true
    const moves = underWay.map(({ id }) => ({ id, state: 'cancelled' as const }))
    const statements = [moveTransfers(db, account.id, moves, Date.now())]
    return change(call, batch, { action: 'batch.cancel', set: { reason }, keys: '[]', statements })
  })
