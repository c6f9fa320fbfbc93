import type { Context } from 'hono'
import * as v from 'valibot'
import { BOOK_LIMITS } from '../../books/limits.ts'
import { currency } from '../../books/operations/ledger.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { type Call, list, operation } from '../../platform/http/operation.ts'
import { count, day, money, time } from '../../platform/validation/answer-fields.ts'
import { component, described } from '../../platform/validation/described.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, nullable, optional, said } from '../../platform/validation/fields.ts'
import { sendCaused } from '../../webhooks/operations/send-caused.ts'
import * as batches from '../batches.ts'
import { listBatches as readBatches } from '../db/batches.ts'
import { FILE_TYPES } from '../files/file.ts'
import { DOUBTS, METHODS, PAYOUT_LIMITS, TRANSFER_STATES } from '../model.ts'
import { referencesIn } from '../reference.ts'
import { bankMovement, SHOWN_MOVEMENTS } from './movement.ts'
import { account, doubt, listPayable, paidStatement, reasons } from './payable.ts'

const text = v.string()

/** Returns what the operations on one batch share. */
const ofBatch = (verb = '') =>
  ({
    topic: 'payouts',
    path: `/batches/{batch}${verb}`,
    params: { batch: member(text, said('The reference of the batch.', 'B7K2M9XQ4D')) },
  }) as const

const method = member(f.oneOf(...METHODS), said('How its payees are paid.', 'sepa' as const))
const fileNumber = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(1),
  v.maxValue(PAYOUT_LIMITS.transfers),
)

const listed = described(() => ({
  id: member(text, 'Its reference, which its files have.'),
  state: member(
    v.picklist(['prepared', ...TRANSFER_STATES, 'partial']),
    '`prepared` until it is confirmed; then the state of its transfers, the lowest of them while none fails; else `partial`.',
  ),
  states: member(v.record(v.picklist(TRANSFER_STATES), count), 'The number of its transfers.'),
  payer: nullable(
    text,
    'The id of the payer. Null: it is paid by hand, from no account of the service.',
  ),
  method,
  currency,
  execute_on: member(day, 'When the bank executes it.'),
  total: member(money, 'The sum of its transfers.'),
  hash: member(text, 'What it pays, as a SHA-256 in hex. It is sent to confirm it.'),
  authors: member(v.array(text), 'Who prepared it, then who added something.'),
  ends_at: nullable(time, 'Until when it can be confirmed. Null once it is confirmed.'),
  confirmed_by: nullable(text, 'Who confirmed it, or null.'),
  reason: nullable(text, 'Why it was cancelled, or null.'),
}))

const doubts = described(() =>
  member(
    v.array(
      v.object({
        ...doubt,
        detail: nullable(
          text,
          'The same in words. Null once it is confirmed: banks may name persons.',
        ),
        waived_by: nullable(text, 'Who said that it is paid nevertheless.'),
      }),
    ),
    'What a person should look at.',
  ),
)

const transfer = component('Transfer', () => ({
  id: member(text, 'Its reference, which the bank carries: 10 letters and digits.'),
  affiliate_id: member(text, 'The affiliate.'),
  name: nullable(text, 'The owner of the account. Null if the details are erased.'),
  name_in_file: nullable(text, 'The same in the letters of the file, if they differ.'),
  account,
  currency,
  amount: member(money, 'The sum of its statements.'),
  statements: member(v.array(v.object(paidStatement)), 'What it pays.'),
  doubts,
  note: nullable(text, 'Why it is paid otherwise than the bank details say, or null.'),
  state: member(v.picklist(TRANSFER_STATES), 'Its state. Before `paid`, it is under way.'),
  code: nullable(text, 'The code with which the bank gave this state, or null.'),
  reason: nullable(text, 'What the bank says of it, or null.'),
  name_check: nullable(text, 'What the bank says of the name of the owner, or null.'),
}))

const leftOut = component('LeftOutRow', () => ({
  id: member(text, 'The row.'),
  affiliate_id: member(text, 'The affiliate.'),
  currency,
  amount: member(money, 'What is due.'),
  reasons,
  doubts,
}))

const batchAnswer = component('Batch', () => {
  const file = v.object({
    n: member(count, 'Its number, from 1.'),
    rows: member(count, 'The transfers that it orders.'),
    hash: member(text, 'A digest of its bytes, which nobody else can compute.'),
    name: member(text, 'Its name.'),
  })
  const before = v.object({
    id: member(text, 'Its reference.'),
    execute_on: member(day, 'When the bank executed it.'),
    total: member(money, 'The sum of its transfers.'),
    transfers: member(count, 'Their number.'),
  })
  const warning = v.object({
    code: member(
      v.picklist(['bank_holiday']),
      'Banks settle nothing in EUR on the day of the batch.',
    ),
    next_open_day: member(day, 'The next day on which they do.'),
  })
  return {
    ...listed,
    files: member(v.array(file), 'Its files. Empty until it is exported.'),
    transfers: member(v.array(transfer), 'One for each payee.'),
    movements: member(v.array(bankMovement), SHOWN_MOVEMENTS),
    left_out: member(
      v.array(leftOut),
      'The rows that were chosen and are not in it. Empty once it is confirmed.',
    ),
    before: nullable(before, 'The batch before it of the same payer and method, or null.'),
    confirmers: member(
      v.array(text),
      'Approvers who may confirm it, as far as the service knows their names. Empty once it is confirmed.',
    ),
    may_confirm: member(v.boolean(), 'Whether you may confirm it.'),
    warnings: member(v.array(warning), 'Empty once it is confirmed.'),
  }
})

const askedRow = v.strictObject({
  id: member(text, said('The `id` of the row.', 'IB-07:EUR')),
  waive: optional(
    v.array(v.picklist(DOUBTS)),
    said('The doubts with which it is paid nevertheless.'),
  ),
  reason: optional(
    f.reason,
    said('Of a batch of method `manual`: why it is paid otherwise than its bank details say.'),
  ),
})

const askedRows = member(
  v.pipe(v.array(askedRow), v.maxLength(BOOK_LIMITS.due)),
  said('The rows of what is payable that it pays.', [{ id: 'IB-07:EUR' }]),
)

export const prepareBatch = operation({
  topic: 'payouts',
  path: '/batches',
  id: 'prepareBatch',
  shows: 'account',
  method: 'POST',
  role: 'manager',
  status: 201,
  body: {
    payer: optional(
      text,
      said('The id of the payer. A batch of method `manual` needs none.', 'main'),
    ),
    method,
    execute_on: member(f.day, said(`At most ${PAYOUT_LIMITS.daysAhead} days ahead.`, '2026-12-15')),
    rows: askedRows,
  },
  words: described(() => ({
    description: `Prepares a batch of rows of what is payable by its day: a transfer for each payee, at most ${PAYOUT_LIMITS.transfers.toLocaleString('en')}. Rows that cannot be paid by it are left out and listed. A row with a doubt that stops it and is not waived is refused. It reserves nothing, and nothing is paid until an approver confirms it with its \`hash\` and \`total\`, at most ${PAYOUT_LIMITS.preparedMs / DAY_MS} days later and before its day is over. If the account asks for two persons, that is another one than its authors.`,
    answer: batchAnswer,
    errors: ['conflict', 'same_person'],
    command: { name: 'batches prepare' },
  })),
  async run(call, asked) {
    const id = await batches.prepareBatch(call, asked)
    sendCaused(call, call.account)
    return batches.showBatch(call, id)
  },
})

export const setBatchRows = operation({
  ...ofBatch('/rows'),
  id: 'setBatchRows',
  shows: 'account',
  method: 'PUT',
  role: 'manager',
  body: { rows: askedRows },
  words: described(() => ({
    description:
      'Sets anew which rows a prepared batch pays. It keeps its id, and its hash changes. Who adds a row or waives a doubt becomes an author; who only takes out does not.',
    answer: batchAnswer,
    errors: ['conflict', 'same_person'],
    command: { name: 'batches rows' },
  })),
  async run(call, { batch, rows }) {
    await batches.setRows(call, batch, rows)
    return batches.showBatch(call, batch)
  },
})

export const discardBatch = operation({
  ...ofBatch(),
  id: 'discardBatch',
  shows: 'account',
  method: 'DELETE',
  role: 'manager',
  words: described(() => ({
    description: 'Deletes a prepared batch. One that is confirmed is cancelled instead.',
    answer: null,
    errors: ['conflict', 'same_person'],
    command: { name: 'batches discard', done: 'The batch {batch} is deleted.' },
  })),
  async run(call, { batch }) {
    await batches.discardBatch(call, batch)
    return null
  },
})

export const listBatches = list({
  topic: 'payouts',
  path: '/batches',
  id: 'listBatches',
  shows: 'affiliate',
  params: {
    reference: optional(
      text,
      said('Only that with the reference, or with a transfer of it.', 'T7K2M9XQ4D'),
    ),
  },
  words: described(() => ({
    description:
      'Lists the batches that are prepared or were confirmed, the latest first. A reference is found in any text, whatever its letter case, spaces and signs.',
    answer: component('ListedBatch', () => listed),
    command: {
      name: 'batches list',
      columns: Object.keys(listed).filter((name) => !['states', 'hash', 'authors'].includes(name)),
    },
  })),
  async list({ db, account }, { reference }, page) {
    const references = reference === undefined ? null : referencesIn(reference)
    const found = await readBatches(db, account.id, references, page)
    return { ...found, data: found.data.map(batches.presentBatch) }
  },
})

export const getBatch = operation({
  ...ofBatch(),
  id: 'getBatch',
  shows: 'affiliate',
  method: 'GET',
  words: described(() => ({
    description: 'Returns a batch with its transfers. What is prepared is computed again.',
    answer: batchAnswer,
    command: { name: 'batches show' },
  })),
  run: (call, { batch }) => batches.showBatch(call, batch),
})

export const confirmBatch = operation({
  ...ofBatch('/confirm'),
  id: 'confirmBatch',
  shows: 'account',
  method: 'POST',
  body: {
    hash: member(text, said('The `hash` of the batch.', '0'.repeat(64))),
    total: member(text, said('The `total` of the batch.', '1240.50')),
  },
  words: described(() => ({
    description:
      'Confirms what a batch pays. From then on its transfers never change, and no other payment can have their statements. If it would pay anything else now, has other doubts, or its day is over, it is refused. If the account asks for two persons, its authors and whoever entered bank details that it uses get `same_person`. The same again returns the batch as it is.',
    answer: batchAnswer,
    errors: ['conflict', 'same_person'],
    command: { name: 'batches confirm' },
  })),
  async run(call, { batch, ...seen }) {
    await batches.confirmBatch(call, batch, seen)
    return batches.showBatch(call, batch)
  },
})

export const cancelBatch = operation({
  ...ofBatch('/cancel'),
  id: 'cancelBatch',
  shows: 'account',
  method: 'POST',
  body: { reason: member(f.reason, said('Why.', 'The bank refused the file.')) },
  words: described(() => ({
    description:
      'Cancels what is under way of a batch: its statements are due again. What is paid stays paid. Once it was exported, make sure that the bank does not execute its files; if the account asks for two persons, another one than its authors cancels it then.',
    answer: batchAnswer,
    errors: ['same_person'],
    command: { name: 'batches cancel' },
  })),
  async run(call, { batch, reason }) {
    await batches.cancelBatch(call, batch, reason)
    return batches.showBatch(call, batch)
  },
})

export const exportBatch = operation({
  ...ofBatch('/export'),
  id: 'exportBatch',
  shows: 'account',
  method: 'POST',
  body: {
    template: optional(
      v.picklist(['ach']),
      said('`ach`: a CSV in place of XML, if all are accounts in the United States.', 'ach'),
    ),
  },
  words: described(() => ({
    description:
      'Writes the files of a confirmed batch, as many as the template of its method needs, and its transfers become `exported`, unless the bank details of a payee or the payer changed, are not approved, or a case holds a payee. The same again changes nothing.',
    answer: batchAnswer,
    errors: ['conflict'],
    command: { name: 'batches export' },
  })),
  async run(call, { batch, template }) {
    await batches.exportBatch(call, batch, template)
    return batches.showBatch(call, batch)
  },
})

export const payBatch = operation({
  ...ofBatch('/pay'),
  id: 'payBatch',
  shows: 'account',
  method: 'POST',
  body: {
    paid_on: member(
      f.day,
      said('When it was paid: not before the periods that it pays ended.', '2026-11-15'),
    ),
  },
  words: described(() => ({
    description:
      'Books that a confirmed batch of method `manual` was paid: what is under way of it becomes `paid`. Batches of other methods are paid by what the bank answers. The same again changes nothing.',
    answer: batchAnswer,
    errors: ['conflict', 'same_person'],
    command: { name: 'batches pay' },
  })),
  async run(call, { batch, paid_on }) {
    await batches.payBatch(call, batch, paid_on)
    sendCaused(call, call.account)
    return batches.showBatch(call, batch)
  },
})

export const getBatchFile = operation({
  ...ofBatch('/file'),
  id: 'getBatchFile',
  shows: 'account',
  method: 'GET',
  role: 'approver',
  params: {
    ...ofBatch().params,
    n: optional(fileNumber, said('Its number. Defaults to 1.', 1)),
  },
  words: described(() => ({
    description:
      'Returns a file of a batch that is exported, as the bank takes it: `pain.001.001.09` for `sepa` and `bank`, or a CSV for these if `ach` was asked for; a CSV for Wise, PayPal, wallets and `manual`. It is the same file for ever, byte by byte.',
    answer: null,
    files: Object.fromEntries(FILE_TYPES.map((type) => [type, { isBinary: true }])),
    errors: ['conflict'],
    command: { name: 'batches file' },
  })),
  files: Object.fromEntries(FILE_TYPES.map((type) => [type, respondFile])),
})

/** Responds with the file of a batch, whose method says which media type it has. */
async function respondFile(
  c: Context,
  call: Call,
  { batch, n = 1 }: { readonly batch: string; readonly n?: number },
) {
  const { text, type, name, hash } = await batches.readFile(call, batch, n)
  return c.body(text, 200, {
    ETag: `"${hash}"`,
    'Content-Type': `${type}; charset=utf-8`,
    'Content-Disposition': `attachment; filename="${name}"`,
  })
}

/** The operations on batches. */
export const BATCH_OPERATIONS = [
  listPayable,
  prepareBatch,
  listBatches,
  getBatch,
  setBatchRows,
  discardBatch,
  confirmBatch,
  exportBatch,
  getBatchFile,
  payBatch,
  cancelBatch,
]
