import { sumPayable } from '../books/holds.ts'
import { BOOK_LIMITS } from '../books/limits.ts'
import { untilBooked } from '../books/until-booked.ts'
import { moneyText } from '../commission/statements/money.ts'
import { digest } from '../platform/auth/secret.ts'
import type { Connection } from '../platform/db/database.ts'
import { ApiError } from '../platform/errors.ts'
import { notFound } from '../platform/http/read-fields.ts'
import { quote } from '../platform/validation/quote.ts'
import * as rows from './db/batches.ts'
import { mayMove, moveTransfers, transfersOf } from './db/transfers.ts'
import { decryptDetails, fileDigest } from './details.ts'
import { fileOf, nameInFile } from './files/file.ts'
import {
  type Details,
  LEFT_OUT,
  type LeftOut,
  type Method,
  PAYOUT_LIMITS,
  type StoredBatch,
  type StoredTransfer,
  TRANSFER_STATES,
  type TransferState,
} from './model.ts'
import { requireCurrent } from './payees.ts'
import { referenceOf } from './reference.ts'

// A batch is computed from what is due, again for each look at a preview, until a person confirms it. From then on its
// transfers never change but in their states.

/** A statement that is not in a batch, and why. */
export interface LeftOutStatement {
  readonly statement_id: string
  readonly affiliate_id: string
  readonly currency: string
  readonly amount: string
  readonly reason: LeftOut
}

/** What a batch pays of what is due, and how. */
interface Choice {
  readonly method: Method
  readonly currency: string
  /** Whether a person chose the statements. */
  readonly isNamed: boolean
  /** In milliseconds. */
  readonly now: number
  /** Whether the batch has no room for another payee. */
  readonly isFull: (affiliate: string) => boolean
}

/** When each reason applies. What came back or is suspended, a person may name; the rest is forbidden. */
const REASONS: Readonly<Record<LeftOut, (row: rows.DueStatement, choice: Choice) => boolean>> = {
  held: ({ is_held }) => is_held === 1,
  no_payee: ({ version }) => version === null,
  blocked: ({ state }) => state === 'blocked',
  not_approved: ({ state }) => state !== 'approved',
  changed: ({ payable_from }, { now }) => payable_from === null || payable_from > now,
  other_method: (row, { method }) => row.method !== method,
  other_currency: (row, { currency }) => row.currency !== currency,
  returned: ({ came_back }, { isNamed }) => came_back === 1 && !isNamed,
  suspended: ({ is_suspended }, { isNamed }) => is_suspended === 1 && !isNamed,
  next_batch: ({ affiliate_id }, { isFull }) => isFull(affiliate_id),
}

/** Returns what is in a batch, by payee, and what is left out. */
function chooseDue(due: readonly rows.DueStatement[], choice: Omit<Choice, 'isFull'>) {
  const chosen = new Map<string, rows.DueStatement[]>()
  const left_out: LeftOutStatement[] = []
  const isFull = (affiliate: string) =>
    chosen.size >= PAYOUT_LIMITS.transfers && !chosen.has(affiliate)
  for (const row of due) {
    const { id: statement_id, affiliate_id, currency, payable: amount } = row
    const reason = LEFT_OUT.find((one) => REASONS[one](row, { ...choice, isFull }))
    if (reason) left_out.push({ statement_id, affiliate_id, currency, amount, reason })
    else chosen.set(affiliate_id, [...(chosen.get(affiliate_id) ?? []), row])
  }
  return { chosen, left_out }
}

/** Computes what a batch would pay now. */
async function planBatch(db: Connection, account: string, batch: StoredBatch, now: number) {
  const { id, method, currency, payer, execute_on, statements } = batch
  const [due, from] = await Promise.all([
    rows.readDue(db, account, batch, BOOK_LIMITS.due + 1),
    requireCurrent(db, { account, party: 'payer' }, payer),
  ])
  if (due.length > BOOK_LIMITS.due) throw tooMany()
  const isNamed = statements !== null
  const { chosen, left_out } = chooseDue(due, { method, currency, isNamed, now })
  const transfers = await Promise.all(
    [...chosen].map(async ([affiliate_id, own]) => ({
      id: await referenceOf('T', `${id} ${affiliate_id}`),
      affiliate_id,
      payee_version: own[0]?.version ?? 0,
      amount: moneyText(sumPayable(own), currency),
      statements: own.map((one) => one.id),
    })),
  )
  const total = moneyText(sumPayable([...chosen.values()].flat()), currency)
  const payer_version = from.version
  const paid = transfers.map(({ id: _, ...transfer }) => transfer)
  const content = { payer, payer_version, method, currency, execute_on, paid }
  return { transfers, left_out, total, payer_version, hash: await digest(JSON.stringify(content)) }
}

const tooMany = () =>
  new ApiError('validation_failed', {
    detail: `More than ${BOOK_LIMITS.due.toLocaleString('en')} statements are due. Name those of the batch as \`statements\`.`,
  })

/** The state of a batch. */
export type BatchState = 'preview' | TransferState | 'partial'

/** Returns the state of a batch: that of its transfers, or the lowest if all go well, or `partial`. */
export function stateOf({ status, states }: rows.ListedBatch): BatchState {
  if (status === 'preview') return status
  const found = Object.keys(JSON.parse(states)) as TransferState[]
  const [only = 'created', ...others] = found
  if (others.length === 0) return only
  const lowest = TRANSFER_STATES.find((state) => found.includes(state)) ?? only
  return found.every((state) => GOES_WELL.has(state)) ? lowest : 'partial'
}

const GOES_WELL = new Set<TransferState>(['created', 'exported', 'accepted', 'paid'])

/**
 * Returns a batch.
 *
 * @throws ApiError `not_found`
 */
export async function requireBatch(db: Connection, account: string, id: string) {
  const batch = await rows.findBatch(db, account, id)
  if (!batch) throw notFound('batch', id)
  return batch
}

/**
 * Returns the details of some versions, by `party id`; without those that are erased.
 *
 * @throws ApiError `unavailable` if they cannot be decrypted.
 */
async function readDetails(
  env: Env,
  db: Connection,
  account: string,
  keys: readonly rows.VersionKey[],
): Promise<ReadonlyMap<string, Details>> {
  const found = await rows.readVersions(db, account, keys)
  const details = await Promise.all(
    found.map(async (one) => {
      const own = await decryptDetails(env, account, one)
      return own ? [[`${one.party} ${one.id}`, own] as const] : []
    }),
  )
  return new Map(details.flat())
}

type Payment = Pick<StoredTransfer, 'affiliate_id' | 'payee_version'>

const payeeKeys = (transfers: readonly Payment[]) =>
  transfers.map((one) => ['payee', one.affiliate_id, one.payee_version] as const)

/** What a transfer of a preview has as if it were stored. */
const CREATED = { state: 'created', code: null, reason: null, name_check: null } as const

/**
 * Returns a batch with its transfers. A preview is computed: what it pays now, and what it leaves out.
 *
 * @throws ApiError `not_found`
 */
export async function readBatch(env: Env, db: Connection, account: string, id: string) {
  const [batch, stored] = await Promise.all([
    requireBatch(db, account, id),
    transfersOf(db, account, id),
  ])
  const { method, currency, hash } = batch
  const isPreview = batch.status === 'preview'
  const plan = isPreview ? await planBatch(db, account, batch, Date.now()) : null
  const details = await readDetails(env, db, account, payeeKeys(plan?.transfers ?? stored))
  const shown =
    plan?.transfers.map((one) => ({ ...one, ...CREATED, currency })) ??
    stored.map((one) => ({ ...one, statements: JSON.parse(one.statements) as string[] }))
  const transfers = shown.map(({ id, affiliate_id, amount, statements, ...one }) => {
    const name = details.get(`payee ${affiliate_id}`)?.name ?? null
    return {
      ...{ id, affiliate_id, currency, amount, statements, state: one.state, code: one.code },
      ...{ reason: one.reason, name_check: one.name_check },
      ...{ name, name_in_file: name === null ? null : nameInFile(method, name) },
    }
  })
  const planned = plan && { total: plan.total, count: transfers.length }
  return {
    batch: { ...batch, ...planned },
    content: { hash: plan?.hash ?? hash ?? '', left_out: plan?.left_out ?? [], transfers },
  }
}

/** Who does something with which batch. */
interface BatchCall extends rows.Change {
  readonly env: Env
  readonly db: D1Database
  readonly id: string
}

/** What a preview asks for. */
type PreviewCall = Omit<BatchCall, 'id'> &
  Pick<StoredBatch, 'payer' | 'method' | 'execute_on'> & {
    /** The statements that a person chose; null: all that is due. */
    readonly statements: readonly string[] | null
  }

/**
 * Stores what a preview asks for, and returns its id.
 *
 * @throws ApiError `not_found`, `conflict`, `validation_failed`
 */
export async function previewBatch({ env, db, account, actor, now, ...sent }: PreviewCall) {
  const { payer, method } = sent
  const from = await requireCurrent(db, { account, party: 'payer' }, payer)
  const details = await decryptDetails(env, account, from)
  if (from.state !== 'approved' || (from.payable_from ?? now + 1) > now || !details?.currency) {
    throw conflict(
      `The payer ${quote(payer)} is not approved, or changed within the hold. Nothing is paid from it until then.`,
    )
  }
  const { currency } = details
  if (method === 'sepa' && currency !== 'EUR') {
    throw conflict(`SEPA pays in EUR, and the payer ${quote(payer)} has ${currency}.`)
  }
  const id = await referenceOf('B', crypto.randomUUID())
  const statements = sent.statements && JSON.stringify(sent.statements)
  const batch = { ...sent, id, currency, statements, created_by: actor, created_at: now }
  await rows.insertPreview(db, account, batch)
  return id
}

const conflict = (detail: string) => new ApiError('conflict', { detail })

/**
 * Confirms a batch as a person has seen it. One that is confirmed so already stays as it is.
 *
 * @throws ApiError `not_found`, `conflict`
 */
export const confirmBatch = (
  { db, id, ...change }: BatchCall,
  seen: { readonly hash: string; readonly total: string },
): Promise<true> =>
  untilBooked(async () => {
    const { account, now } = change
    const batch = await requireBatch(db, account, id)
    if (batch.status !== 'preview') {
      if (batch.hash === seen.hash && batch.total === seen.total) return true
      throw conflict('The batch is confirmed already, with other transfers.')
    }
    if (batch.created_at < now - PAYOUT_LIMITS.previewMs) {
      throw conflict('The preview is older than a day. Prepare the batch again.')
    }
    const { transfers, hash, total, payer_version } = await planBatch(db, account, batch, now)
    if (total !== seen.total) {
      throw conflict(
        `The batch would now pay ${total} ${batch.currency} by ${transfers.length} transfers, and not ${seen.total}. Nothing was stored. Look at it again.`,
      )
    }
    if (hash !== seen.hash) {
      throw conflict(
        'What the batch pays is not what you saw: statements, bank details or the payer changed meanwhile. Nothing was stored. Look at it again.',
      )
    }
    if (transfers.length === 0) throw conflict('The batch pays nothing.')
    const set = {
      ...({ status: 'confirmed', payer_version, hash, total, count: transfers.length } as const),
      ...{ confirmed_by: change.actor, confirmed_at: now },
    }
    const keys = [payerKey({ ...batch, payer_version }), ...payeeKeys(transfers)]
    const statements = rows.insertTransfers(db, change, batch, transfers)
    const changed = { action: 'batch.confirm', set, keys, statements }
    return (await rows.changeBatch(db, change, batch, changed)) || explain(db, change, keys)
  })

const payerKey = ({ payer, payer_version }: Pick<StoredBatch, 'payer' | 'payer_version'>) =>
  ['payer', payer, payer_version ?? 0] as const

/** The most affiliates that a sentence names. */
const MAX_NAMED = 5

/** Throws `conflict` if something changed that the batch needs; returns null if it may be tried again. */
async function explain(
  db: Connection,
  { account, now }: rows.Change,
  keys: readonly rows.VersionKey[],
): Promise<null> {
  const found = await rows.findUnpayable(db, account, keys, now)
  if (found.length === 0) return null
  const whose = found
    .slice(0, MAX_NAMED)
    .map(({ party, id }) => `${party === 'payer' ? 'the payer' : 'affiliate'} ${quote(id)}`)
  throw conflict(
    `Nothing can be paid by this batch: the bank details of ${whose.join(', ')} changed, or are not approved for long enough, or a case of the fraud review holds the payout. Cancel the batch and prepare it again.`,
  )
}

const movesTo = (transfers: readonly StoredTransfer[], state: TransferState) =>
  transfers.map(({ id }) => ({ id, state }))

/**
 * Returns the file of a confirmed batch. The first time, its transfers become `exported`; from then on it is the same
 * file, whatever becomes of details and keys.
 *
 * @throws ApiError `not_found`, `conflict`
 */
export const exportBatch = ({ env, db, id, ...change }: BatchCall) =>
  untilBooked(async () => {
    const { account, now } = change
    const batch = await requireBatch(db, account, id)
    if (batch.status === 'preview') throw conflict('Confirm the batch first.')
    const isFirst = batch.exported_at === null
    if (isFirst && batch.status === 'cancelled') throw conflict('The batch is cancelled.')
    const transfers = await transfersOf(db, account, id)
    const keys = [payerKey(batch), ...payeeKeys(transfers)]
    const details = await readDetails(env, db, account, keys)
    if (details.size < keys.length) throw conflict('Bank details of the batch are erased.')
    const file = fileOf(batch, transfers, details)
    const file_hash = await fileDigest(env, file.text, batch.file_hash)
    if (isFirst) {
      const set = { exported_at: now, file_hash }
      const statements = [moveTransfers(db, account, movesTo(transfers, 'exported'), now)]
      const changed = { action: 'batch.export', set, keys, statements }
      const isStored = await rows.changeBatch(db, change, batch, changed)
      return isStored ? { ...file, file_hash } : explain(db, change, keys)
    }
    if (file_hash !== batch.file_hash) throw new Error(`The file of batch ${id} has changed.`)
    return { ...file, file_hash }
  })

/**
 * Cancels what is under way of a batch: its statements are due again. One that is cancelled stays as it is.
 *
 * @throws ApiError `not_found`, `conflict`
 */
export const cancelBatch = ({ db, id, ...change }: BatchCall, reason: string | null) =>
  untilBooked(async () => {
    const { account, now } = change
    const batch = await requireBatch(db, account, id)
    if (batch.status === 'cancelled') return true
    if (batch.status === 'preview') throw conflict('A preview pays nothing, and ends after a day.')
    if (batch.exported_at !== null && reason === null) {
      throw conflict(
        'The file of the batch was exported: say why it is cancelled, and make sure that the bank does not execute it.',
      )
    }
    const transfers = await transfersOf(db, account, id)
    const underWay = transfers.filter(({ state }) => mayMove(state, 'cancelled'))
    if (underWay.length === 0) throw conflict('No transfer of the batch is under way.')
    const set = { status: 'cancelled', reason } as const
    const statements = [moveTransfers(db, account, movesTo(underWay, 'cancelled'), now)]
    const changed = { action: 'batch.cancel', set, statements }
    return (await rows.changeBatch(db, change, batch, changed)) || null
  })
