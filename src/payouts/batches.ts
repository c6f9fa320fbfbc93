import { untilBooked } from '../books/until-booked.ts'
import { digest } from '../platform/auth/secret.ts'
import { compareText } from '../platform/compare-text.ts'
import { dayNumber, dayText } from '../platform/db/column-types.ts'
import { changesOf } from '../platform/directory/audit.ts'
import { DAY_MS } from '../platform/durations.ts'
import { ApiError } from '../platform/errors.ts'
import type { Call } from '../platform/http/operation.ts'
import { notFound, validationFailed } from '../platform/http/read-fields.ts'
import {
  listOthers,
  mayDecide,
  requireOther,
  requirePerson,
  withInviters,
} from '../platform/http/two-persons.ts'
import { storedPeriod } from '../platform/money/calendar.ts'
import { sumOfMoney } from '../platform/money/sums.ts'
import type { Issue } from '../platform/validation/issue.ts'
import { quote } from '../platform/validation/quote.ts'
import { bookZoneOf, instantOfLocalTime, todayOf } from '../platform/zone.ts'
import { bookTransfers } from './book.ts'
import { listMovements } from './by-hand.ts'
import * as rows from './db/batches.ts'
import { findTransfers, mayMove, moveTransfers, tellSent, transfersOf } from './db/transfers.ts'
import { decryptDetails, fileDigest } from './details.ts'
import { fileOf, nameInFile, nameOf, type StoredFile, typeOf } from './files/file.ts'
import { TEMPLATE_ROWS } from './files/templates.ts'
import {
  BY_HAND,
  type Details,
  type DoubtCode,
  type Method,
  PAYOUT_LIMITS,
  type Reason,
  STOPPING,
  type StoredBatch,
  type StoredTransfer,
  TRANSFER_STATES,
  type TransferState,
} from './model.ts'
import { accountOf, affiliateOfRow, type Doubt, type PayableRow, readPayable } from './payable.ts'
import { requireCurrent } from './payees.ts'
import { referenceOf } from './reference.ts'
import { warningsOf } from './target-days.ts'

// A batch pays the rows of the list of what is payable that a person chose. It is computed again for each look, until
// another person confirms it. From then on its transfers never change but in their states.

const conflict = (detail: string) => new ApiError('conflict', { detail })

/** A row as a person asks for it. */
export interface AskedRow {
  readonly id: string
  readonly waive?: readonly DoubtCode[] | undefined
  readonly reason?: string | undefined
}

/** A row that a person has chosen, and the doubts that were waived, by whom. */
interface ChosenRow {
  readonly id: string
  readonly waived: readonly (Pick<Doubt, 'code' | 'about'> & { readonly by: string })[]
  /** Why it is paid otherwise than its bank details say. */
  readonly note: string | null
}

/** Returns what the audit log has of the rows of a batch. */
const countsOf = (rows: readonly ChosenRow[]) => ({
  rows: rows.length,
  waived: rows.reduce((sum, { waived }) => sum + waived.length, 0),
})

/** A doubt as it is shown: what a bank said of it is not kept once the batch is confirmed. */
export interface ShownDoubt extends Pick<Doubt, 'code' | 'about'> {
  readonly detail: string | null
  readonly waived_by: string | null
}

/** A transfer as it is shown. */
interface ShownTransfer
  extends Omit<StoredTransfer, 'batch' | 'changed_at' | 'statements' | 'doubts'> {
  readonly statements: PayableRow['statements']
  readonly doubts: readonly ShownDoubt[]
}

/** Returns the doubts of a row, and who waived them. */
const doubtsOf = (row: PayableRow, { waived }: ChosenRow): ShownDoubt[] =>
  row.doubts.map(({ code, detail, about }) => {
    const by = waived.find((one) => one.code === code && one.about === about)?.by ?? null
    return { code, detail, about, waived_by: by }
  })

/** Returns why a batch does not pay a row. */
function reasonsOf(
  { method, currency }: Pick<StoredBatch, 'method' | 'currency'>,
  row: PayableRow,
  { note }: ChosenRow,
): Reason[] {
  const isOther = row.details && row.details.method !== method
  const all: Reason[] = [...row.reasons, ...(isOther ? (['other_method'] as const) : [])]
  const isByHand = method === 'manual' && note !== null
  const kept = all.filter((one) => !isByHand || !BY_HAND.includes(one))
  return row.currency === currency ? kept : [...new Set([...kept, 'other_currency' as const])]
}

/** Computes what a batch would pay now, and what it leaves out of what was chosen. */
async function planBatch(call: Call, batch: Omit<rows.NewBatch, 'hash' | 'total'>) {
  const { id, payer, payer_version, method, currency, execute_on } = batch
  const chosen: ChosenRow[] = JSON.parse(batch.rows)
  const affiliates = [...new Set(chosen.map((one) => affiliateOfRow(one.id)))]
  const payable = await readPayable(call, execute_on, affiliates)
  const byId = new Map(payable.map((row) => [row.id, row]))
  const transfers: ShownTransfer[] = []
  const left_out = []
  for (const one of chosen) {
    const row = byId.get(one.id)
    const affiliate_id = affiliateOfRow(one.id)
    const own = { affiliate_id, currency: row?.currency ?? currency, amount: row?.amount ?? '0' }
    const reasons = row ? reasonsOf(batch, row, one) : (['taken'] as const)
    const doubts = row ? doubtsOf(row, one) : []
    const isStopped = doubts.some((one) => STOPPING.includes(one.code) && !one.waived_by)
    if (!row || reasons.length > 0 || isStopped) {
      left_out.push({ id: one.id, ...own, reasons: [...reasons], doubts })
    } else if (transfers.length === PAYOUT_LIMITS.transfers) {
      left_out.push({ id: one.id, ...own, reasons: ['next_batch' as const], doubts })
    } else {
      transfers.push({
        ...{ ...own, id: await referenceOf('T', `${id} ${affiliate_id}`), doubts, note: one.note },
        ...{
          payee_version: row.version,
          state: 'created',
          code: null,
          reason: null,
          name_check: null,
        },
        statements: row.statements.filter((part) => part.reasons.length === 0),
      })
    }
  }
  const content = [payer, payer_version, method, currency, execute_on, transfers]
  const hash = await digest(JSON.stringify(content))
  return { hash, total: sumOfMoney(transfers, currency), transfers, left_out }
}

/** Returns a batch as lists have it. Its state is the lowest of its transfers, or `partial` if only some of them failed. */
export function presentBatch(batch: rows.ListedBatch) {
  const { id, method, currency, execute_on, total, hash, confirmed_by, reason } = batch
  const states: Partial<Record<TransferState, number>> = JSON.parse(batch.states)
  const found = TRANSFER_STATES.filter((state) => states[state])
  const [lowest = 'prepared' as const] = found
  const hasFailed = found.some((state) => ['returned', 'rejected', 'cancelled'].includes(state))
  const state = hasFailed && found.length > 1 ? ('partial' as const) : lowest
  const ends_at = confirmed_by === null ? new Date(batch.ends_at).toISOString() : null
  const asked = { id, state, states, payer: batch.payer || null, method, currency, execute_on }
  const authors: string[] = JSON.parse(batch.authors)
  return { ...asked, total, hash, authors, ends_at, confirmed_by, reason }
}

/** Returns a batch with its transfers, and the keys of the details that it uses. Throws `not_found`. */
async function readBatch(call: Call, id: string) {
  const { db, account } = call
  const [stored, transfers] = await Promise.all([
    rows.findBatch(db, account.id, id),
    transfersOf(db, account.id, id),
  ])
  if (!stored) throw notFound('batch', id)
  const isPrepared = stored.confirmed_by === null
  const plan = isPrepared
    ? await planBatch(call, stored)
    : {
        transfers: transfers.map(
          ({ statements, doubts, ...one }): ShownTransfer => ({
            ...one,
            statements: JSON.parse(statements),
            doubts: JSON.parse(doubts),
          }),
        ),
        left_out: [],
      }
  const batch = { ...stored, ...plan }
  const payees = batch.transfers.map((one) => ['payee', one.affiliate_id, one.payee_version])
  const payer = batch.payer ? [['payer', batch.payer, batch.payer_version]] : []
  return { ...batch, keys: JSON.stringify([...payer, ...payees]) }
}

type ReadBatch = Awaited<ReturnType<typeof readBatch>>

/** Returns the details with some keys, by `party id`; without those that are erased. */
async function readDetails({ env, db, account }: Call, keys: string) {
  const details = new Map<string, Details>()
  for (const one of await rows.readVersions(db, account.id, keys)) {
    const own = await decryptDetails(env, account.id, one)
    if (own) details.set(`${one.party} ${one.id}`, own)
  }
  return details
}

/** Returns who prepared a batch, added to it, or entered bank details that it uses: none of them decides on it alone. */
async function personsOf(call: Call, { authors, keys }: ReadBatch) {
  const versions = await rows.readVersions(call.db, call.account.id, keys)
  return withInviters(call, [...JSON.parse(authors), ...versions.map((one) => one.entered_by)])
}

const decidersOf = async (call: Call, id: string) =>
  withInviters(call, await rows.readPersons(call.db, call.account.id, id))

/** Returns a batch with its transfers as it is answered. Throws `not_found`. */
export async function showBatch(call: Call, id: string) {
  const { db, account } = call
  const batch = await readBatch(call, id)
  const isPrepared = batch.confirmed_by === null
  const [details, movements, before, persons] = await Promise.all([
    readDetails(call, batch.keys),
    listMovements(db, account.id, [id]),
    rows.findBefore(db, account.id, batch),
    personsOf(call, batch),
  ])
  const stored: StoredFile[] = JSON.parse(batch.files ?? '[]')
  return {
    ...presentBatch(batch),
    files: stored.map(({ template, ...one }, i) => ({
      ...one,
      n: i + 1,
      name: nameOf({ ...batch, template }, i + 1, stored.length),
    })),
    transfers: batch.transfers.map(({ payee_version: _, statements, ...one }) => {
      const own = details.get(`payee ${one.affiliate_id}`)
      const name = own?.name ?? null
      const written = name && nameInFile(batch.method, name)
      return {
        ...one,
        statements: statements.map(({ id, period }) => ({ id, period })),
        name,
        name_in_file: written === name ? null : written,
        account: accountOf(own),
      }
    }),
    movements,
    left_out: batch.left_out,
    before,
    confirmers: isPrepared ? await listOthers(call, persons) : [],
    may_confirm: isPrepared && mayDecide(call, persons),
    warnings: isPrepared ? warningsOf(batch) : [],
  }
}

/** Returns today. Throws `validation_failed` if the day on which a batch is to be executed is over. */
function requireDay(account: Call['account'], execute_on: string): string {
  const today = todayOf(account)
  if (execute_on >= today) return today
  const pointer = '/execute_on'
  throw validationFailed([{ pointer, code: 'minimum', expected: `${today}, today` }])
}

/**
 * Returns the rows of a batch as they are stored, in order. What was chosen and waived before stays so.
 *
 * @throws ApiError `validation_failed` if there is none, or one is not due, or has a doubt that stops it and is not waived.
 */
function chooseRows(
  asked: readonly AskedRow[],
  payable: readonly PayableRow[],
  before: readonly ChosenRow[],
  actor: string,
): ChosenRow[] {
  if (asked.length === 0) {
    const message = 'The batch would pay nothing: choose a row that can be paid by it.'
    throw validationFailed([{ pointer: '/rows', code: 'required', message }])
  }
  const byId = new Map(payable.map((row) => [row.id, row]))
  const known = new Map(before.map((one) => [one.id, one]))
  const seen = new Set<string>()
  const issues: Issue[] = []
  const chosen = asked.map(({ id, waive = [], reason }, i): ChosenRow => {
    const pointer = `/rows/${i}`
    const row = byId.get(id)
    const expected = 'a row of what is payable by then, which no other batch pays'
    if (!row)
      issues.push({ pointer: `${pointer}/id`, code: 'unknown_reference', expected, value: id })
    if (seen.has(id)) issues.push({ pointer: `${pointer}/id`, code: 'duplicate_key', value: id })
    seen.add(id)
    const doubts = row?.doubts ?? []
    const missing = doubts.find(({ code }) => STOPPING.includes(code) && !waive.includes(code))
    if (missing) {
      const message = `Look at it, and send \`waive\` with \`${missing.code}\`: ${missing.detail}.`
      issues.push({ pointer: `${pointer}/waive`, code: 'required', message })
    }
    const waived = doubts.flatMap(({ code, about }) => {
      if (!waive.includes(code)) return []
      const old = known.get(id)?.waived.find((one) => one.code === code && one.about === about)
      return old ?? { code, about, by: actor }
    })
    return { id, waived, note: reason ?? null }
  })
  if (issues.length > 0) throw validationFailed(issues)
  return chosen.sort((a, b) => compareText(a.id, b.id))
}

/** Returns the payer of a batch as it can pay now, and its currency. Throws `not_found`, `conflict`. */
async function readPayer({ env, db, account }: Call, payer: string, method: Method) {
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
  return { payer, payer_version: from.version, currency }
}

/** What a person asks a batch to pay. */
interface Asked extends Pick<StoredBatch, 'method' | 'execute_on'> {
  /** May be absent if it is paid by hand. */
  readonly payer?: string | undefined
  readonly rows: readonly AskedRow[]
}

/**
 * Prepares a batch, and returns its id. It reserves nothing.
 *
 * @throws ApiError `not_found`, `conflict`, `same_person`, `validation_failed`
 */
export async function prepareBatch(call: Call, { payer, method, execute_on, rows: asked }: Asked) {
  const { db, actor, account } = call
  await requirePerson(call)
  const today = requireDay(account, execute_on)
  const last = dayText(dayNumber(today) + PAYOUT_LIMITS.daysAhead)
  if (execute_on > last)
    throw validationFailed([{ pointer: '/execute_on', code: 'maximum', expected: last }])
  if (payer === undefined && method !== 'manual')
    throw validationFailed([{ pointer: '/payer', code: 'required' }])
  const affiliates = asked.map(({ id }) => affiliateOfRow(id))
  const payable = await readPayable(call, execute_on, affiliates)
  // What is paid by hand may come from no account that the service knows: its first row says the currency.
  const [{ id = '' } = {}] = asked
  const from = payer
    ? await readPayer(call, payer, method)
    : { payer: '', payer_version: 0, currency: id.slice(id.lastIndexOf(':') + 1) }
  const chosen = chooseRows(asked, payable, [], actor)
  const created_at = Date.now()
  const dayEnds = instantOfLocalTime(bookZoneOf(account), (dayNumber(execute_on) + 1) * DAY_MS)
  const batch = {
    ...{ id: await referenceOf('B', crypto.randomUUID()), ...from, method, execute_on, created_at },
    rows: JSON.stringify(chosen),
    authors: JSON.stringify([actor]),
    ends_at: Math.min(created_at + PAYOUT_LIMITS.preparedMs, dayEnds.instant),
  }
  const { hash, total } = await planBatch(call, batch)
  await rows.insertPrepared(db, account.id, { ...batch, hash, total }, actor, chosen.length)
  return batch.id
}

/** Returns the batch if it can still be confirmed. Throws `conflict`. */
function requirePrepared<B extends StoredBatch>(batch: B): B {
  if (batch.confirmed_by !== null) throw conflict('The batch is confirmed: it never changes.')
  if (batch.ends_at <= Date.now()) throw conflict('The batch has ended. Prepare it again.')
  return batch
}

/**
 * Sets anew which rows a prepared batch pays. Who adds a row, or waives a doubt, is an author; who only takes out is not.
 *
 * @throws ApiError `not_found`, `conflict`, `same_person`, `validation_failed`
 */
export const setRows = (call: Call, id: string, asked: readonly AskedRow[]): Promise<true> =>
  untilBooked(async () => {
    const { db, account, actor } = call
    await requirePerson(call)
    const stored = await rows.findBatch(db, account.id, id)
    if (!stored) throw notFound('batch', id)
    const batch = requirePrepared(stored)
    const affiliates = asked.map((one) => affiliateOfRow(one.id))
    const payable = await readPayable(call, batch.execute_on, affiliates)
    const before: ChosenRow[] = JSON.parse(batch.rows)
    const chosen = chooseRows(asked, payable, before, actor)
    const kept = new Set(before.map((one) => JSON.stringify(one)))
    const added = chosen.filter((one) => !kept.has(JSON.stringify(one)))
    const authors: string[] = JSON.parse(batch.authors)
    const all = added.length > 0 ? [...new Set([...authors, actor])] : authors
    const set = { rows: JSON.stringify(chosen), authors: JSON.stringify(all) }
    const { hash, total } = await planBatch(call, { ...batch, ...set })
    const was = { ...countsOf(before), total: batch.total }
    const changes = changesOf(was, { ...countsOf(chosen), total })
    const audited = { added: added.length, changes }
    const changed = { set: { ...set, hash, total }, audited, keys: '[]', statements: [] }
    return change(call, batch, { action: 'batch.change', ...changed })
  })

/** Deletes a prepared batch. Throws `not_found`, `same_person`, `conflict` if it is confirmed. */
export async function discardBatch(call: Call, id: string): Promise<void> {
  const { db, account, actor } = call
  await requirePerson(call)
  const batch = await rows.findBatch(db, account.id, id)
  if (!batch) throw notFound('batch', id)
  if (batch.confirmed_by !== null)
    throw conflict('The batch is confirmed. Cancel it with a reason.')
  await rows.discardBatch(db, account.id, id, actor)
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

/** The rows that an error names. */
const NAMED = 10

/** Returns the error of a confirmation of something else than the batch pays now. */
function changedError({ total, currency, left_out }: ReadBatch): ApiError {
  const taken = left_out.filter(({ reasons }) => reasons.includes('taken'))
  const names = taken.slice(0, NAMED).map(({ affiliate_id }) => quote(affiliate_id))
  const lost = `Another payment has taken what was due to ${names.join(', ')}. `
  return conflict(
    `The batch is not what you saw: it pays ${total} ${currency}. ${taken.length > 0 ? lost : ''}Its statements, doubts, bank details or payer changed. Nothing was stored. Look at it again.`,
  )
}

/**
 * Confirms a batch as a person has seen it. One that is confirmed so already stays as it is.
 *
 * @throws ApiError `not_found`, `conflict`, `same_person`; `validation_failed` once its day is over
 */
export const confirmBatch = (
  call: Call,
  id: string,
  seen: { readonly hash: string; readonly total: string },
): Promise<true> =>
  untilBooked(async () => {
    const { db, account, actor } = call
    const batch = await readBatch(call, id)
    const { hash, total, transfers, keys, confirmed_by } = batch
    if (confirmed_by === null) await requireOther(call, await personsOf(call, batch))
    if (hash !== seen.hash || total !== seen.total) throw changedError(batch)
    if (confirmed_by !== null) return true
    requireDay(account, batch.execute_on)
    requirePrepared(batch)
    if (transfers.length === 0) throw conflict('The batch pays nothing.')
    const set = { hash, total, confirmed_by: actor, confirmed_at: Date.now() }
    const audited = { hash, total, currency: batch.currency }
    const stored = transfers.map((one) => ({
      ...one,
      statements: one.statements.map((part) => part.id),
      doubts: one.doubts.map((doubt) => ({ ...doubt, detail: null })),
    }))
    const statements = rows.insertTransfers(db, account.id, batch, stored)
    return change(call, batch, { action: 'batch.confirm', audited, set, keys, statements })
  })

/** Writes the files of a batch. Throws `conflict` if details are erased. */
async function writeFiles(call: Call, batch: ReadBatch, stored: readonly StoredFile[]) {
  const details = await readDetails(call, batch.keys)
  const files = []
  let from = 0
  for (const { rows, hash, template } of stored) {
    const own = batch.transfers.slice(from, from + rows)
    from += rows
    const text = fileOf(batch, own, details, template)
    const digest = await fileDigest(call.env, text, hash || null)
    files.push({ text, rows, template, hash: digest })
  }
  return files
}

/**
 * Exports a confirmed batch: its transfers become `exported`, and its files, as many as the template needs, never change
 * any more. One that is exported stays as it is.
 *
 * @param template Another file than that of the method.
 * @throws ApiError `not_found`, `conflict`
 */
export const exportBatch = (
  call: Call,
  id: string,
  template?: StoredFile['template'],
): Promise<true> =>
  untilBooked(async () => {
    const { db, account } = call
    const batch = await readBatch(call, id)
    const { transfers, keys } = batch
    if (batch.files !== null) return true
    if (!JSON.parse(batch.states).created)
      throw conflict('The batch is not confirmed, or is cancelled.')
    const most = TEMPLATE_ROWS[batch.method] ?? transfers.length
    const parts = Array.from({ length: Math.ceil(transfers.length / most) }, (_, i) => ({
      rows: Math.min(most, transfers.length - i * most),
      hash: '',
      template,
    }))
    const written = await writeFiles(call, batch, parts)
    const files = JSON.stringify(written.map(({ text: _, ...file }) => file))
    const moves = transfers.map(({ id }) => ({ id, state: 'exported' as const }))
    const statements = [
      moveTransfers(db, account.id, moves, Date.now()),
      tellSent(db, account.id, id),
    ]
    const audited = { files: parts.length }
    return change(call, batch, {
      ...{ action: 'batch.export', audited, set: { files }, keys, statements },
    })
  })

/**
 * Returns a file of a batch that is exported: the same bytes, whatever becomes of details and keys.
 *
 * @throws ApiError `not_found`, `conflict`
 */
export async function readFile(call: Call, id: string, n: number) {
  const batch = await readBatch(call, id)
  if (batch.files === null) throw conflict('The batch has no file yet. Export it first.')
  const stored: StoredFile[] = JSON.parse(batch.files)
  const file = (await writeFiles(call, batch, stored))[n - 1]
  if (!file) throw notFound('file', String(n))
  const form = { ...batch, template: file.template }
  if (file.hash !== stored[n - 1]?.hash) throw new Error(`A file of batch ${id} has changed.`)
  return { ...file, name: nameOf(form, n, stored.length), type: typeOf(form) }
}

/**
 * Cancels what is under way of a batch: its statements are due again. A batch without such stays as it is.
 *
 * @throws ApiError `not_found`; `same_person` for its authors once it is exported
 */
export const cancelBatch = (call: Call, id: string, reason: string) =>
  untilBooked(async () => {
    const { db, account } = call
    await requirePerson(call)
    const batch = await readBatch(call, id)
    const underWay = batch.transfers.filter(({ state }) => mayMove(state, 'cancelled'))
    if (batch.confirmed_by === null || underWay.length === 0) return true
    if (batch.files !== null) await requireOther(call, await decidersOf(call, id))
    const moves = underWay.map(({ id }) => ({ id, state: 'cancelled' as const }))
    const statements = [moveTransfers(db, account.id, moves, Date.now())]
    const changed = { set: { reason }, audited: { reason }, keys: '[]', statements }
    return change(call, batch, { action: 'batch.cancel', ...changed })
  })

/** How many payments one step books. */
const STEP = 100

/**
 * Books that a batch which is paid by hand was paid on a day: its transfers that are under way become `paid`. The same
 * again changes nothing.
 *
 * @throws ApiError `not_found`, `conflict`, `same_person`, `validation_failed`
 */
export async function payBatch(call: Call, id: string, paid_on: string): Promise<void> {
  await requirePerson(call)
  const batch = await readBatch(call, id)
  if (batch.method !== 'manual')
    throw conflict('A bank pays this batch: read the file with which it answers.')
  await requireOther(call, await decidersOf(call, id))
  const today = todayOf(call.account)
  const refuse = (code: Issue['code'], expected: string) =>
    validationFailed([{ pointer: '/paid_on', code, expected }])
  if (paid_on > today) throw refuse('maximum', `${today}, today`)
  const paid = batch.transfers.flatMap(({ statements }) => statements)
  const first = dayText(Math.max(0, ...paid.map(({ period }) => storedPeriod(period).last)))
  if (paid_on < first) throw refuse('minimum', `${first}, when the last period that it pays ended`)
  await exportBatch(call, id)
  while (await payStep(call, id, paid_on)) {}
}

/** Books some of the payments of a batch. Returns false if there are none left. */
const payStep = (call: Call, id: string, day: string): Promise<boolean> =>
  untilBooked(async () => {
    const all = await findTransfers(call.db, call.account.id, [id], PAYOUT_LIMITS.transfers)
    const step = all.filter(({ state }) => mayMove(state, 'paid')).slice(0, STEP)
    if (step.length === 0) return false
    const changes = step.map((transfer) => {
      const moved = { direction: 'paid', day, other: '', bank_reference: '', n: 1 } as const
      const movement = { reference: transfer.id, ...moved }
      const entry = { transfer: transfer.id, becomes: 'paid', day, movement } as const
      return { transfer, entry: { ...entry, code: null, reason: null } }
    })
    const details = { batch: id, paid: step.length, paid_on: day }
    return (await bookTransfers(call, changes, { action: 'batch.pay', details })) || null
  })
