import type { Context } from 'hono'
import * as v from 'valibot'
import { BOOK_LIMITS } from '../../books/limits.ts'
import { currency } from '../../books/operations/ledger.ts'
import { type Call, list, operation } from '../../platform/http/operation.ts'
import { count, day, money } from '../../platform/validation/answer-fields.ts'
import { described, named } from '../../platform/validation/described.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, said } from '../../platform/validation/fields.ts'
import { listOf } from '../../platform/validation/shapes.ts'
import * as batches from '../batches.ts'
import { listBatches as readBatches } from '../db/batches.ts'
import { FILE_TYPES } from '../files/file.ts'
import { LEFT_OUT, METHODS, PAYOUT_LIMITS, TRANSFER_STATES } from '../model.ts'
import { referencesIn } from '../reference.ts'
import { bankMovement, SHOWN_MOVEMENTS } from './movement.ts'

const text = v.string()

/** Returns what the operations on one batch share. */
const ofBatch = (verb = '') =>
  ({
    topic: 'payouts',
    path: `/batches/{batch}${verb}`,
    params: { batch: member(text, said('The reference of the batch.', 'B7K2M9XQ4D')) },
  }) as const

const method = member(f.oneOf(...METHODS), said('How its payees are paid.', 'sepa' as const))
const payer = member(text, said('The id of the payer.', 'main'))

const fileNumber = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(1),
  v.maxValue(PAYOUT_LIMITS.transfers),
)

const listed = described(() => ({
  id: member(text, 'Its reference, which its file has.'),
  state: member(
    v.picklist(['preview', ...TRANSFER_STATES, 'partial']),
    'The state of its transfers, the lowest of them while none fails; else `partial`.',
  ),
  states: member(v.record(v.picklist(TRANSFER_STATES), count), 'The number of its transfers.'),
  payer,
  method,
  currency,
  execute_on: member(day, 'When the bank executes it.'),
  total: member(money, 'The sum of its transfers.'),
  hash: member(text, 'What it pays, as a SHA-256 in hex. It is sent to confirm it.'),
  created_by: member(text, 'Who prepared it.'),
  confirmed_by: v.nullable(member(text, 'Who confirmed it. Null for a preview.')),
  reason: v.nullable(member(text, 'Why it was cancelled, or null.')),
}))

const batchAnswer = described(() => {
  const transfer = v.object({
    id: member(text, 'Its reference, which the bank carries: 10 letters and digits.'),
    affiliate_id: member(text, 'The affiliate.'),
    name: v.nullable(member(text, 'The owner of the account. Null if the details are erased.')),
    name_in_file: v.nullable(member(text, 'The same in the letters of the file, if they differ.')),
    currency,
    amount: member(money, 'The sum of its statements.'),
    statements: member(v.array(text), 'The ids of the statements that it pays.'),
    state: member(v.picklist(TRANSFER_STATES), 'Its state. Before `paid`, it is under way.'),
    code: v.nullable(member(text, 'The code with which the bank gave this state, or null.')),
    reason: v.nullable(member(text, 'What the bank says of it, or null.')),
    name_check: v.nullable(member(text, 'What the bank says of the name of the owner, or null.')),
    same_account: member(
      v.array(text),
      'Up to 10 other affiliates who are paid to the same account, until an approver says why.',
    ),
  })
  const leftOut = v.object({
    statement_id: member(text, 'The id of the statement.'),
    affiliate_id: member(text, 'The affiliate.'),
    currency,
    amount: member(money, 'What it has to pay.'),
    reason: member(
      v.picklist(LEFT_OUT),
      'The first reason that applies. `returned`, `suspended`, `case` and `paid_twice` leave out only what `statements` does not name; `next_batch` is what does not fit in this one.',
    ),
  })
  const file = v.object({
    n: member(count, 'Its number, from 1.'),
    rows: member(count, 'The transfers that it orders.'),
    hash: member(text, 'A digest of its bytes, which nobody else can compute.'),
    name: member(text, 'Its name.'),
  })
  const warning = v.object({
    code: member(v.picklist(['bank_holiday']), 'Banks execute no transfer by SEPA on its day.'),
    next_open_day: member(day, 'The next day on which they do.'),
  })
  const left = 'What is due and not in it, and why. Empty once it is confirmed.'
  return named(
    'Batch',
    v.object({
      ...listed,
      files: member(v.array(file), 'Its files. Empty until it is exported.'),
      transfers: member(v.array(named('Transfer', transfer)), 'One for each payee.'),
      movements: member(v.array(bankMovement), SHOWN_MOVEMENTS),
      left_out: member(v.array(leftOut), left),
      warnings: member(v.array(warning), 'What a person should know before they confirm it.'),
    }),
  )
})

export const previewBatch = operation({
  topic: 'payouts',
  path: '/batches',
  id: 'previewBatch',
  method: 'POST',
  role: 'manager',
  status: 201,
  body: {
    payer,
    method,
    execute_on: member(f.day, said(`At most ${PAYOUT_LIMITS.daysAhead} days ahead.`, '2026-12-15')),
    statements: v.optional(
      member(
        listOf(text, BOOK_LIMITS.due),
        said('The ids of the statements that it pays. Absent: all that are due.'),
      ),
    ),
  },
  words: described(() => ({
    description: `Previews what one payer pays by one method, in its currency, of what is due when the bank executes it: a transfer for each payee, at most ${PAYOUT_LIMITS.transfers.toLocaleString('en')}. Nothing is paid or taken until it is confirmed with its \`hash\` and \`total\`. A preview is kept for a day.`,
    answer: batchAnswer,
    errors: ['conflict'],
    command: { name: 'batches prepare' },
  })),
  async run(call, { statements, ...asked }) {
    return batches.showBatch(call, await batches.previewBatch(call, asked, statements))
  },
})

export const listBatches = list({
  topic: 'payouts',
  path: '/batches',
  id: 'listBatches',
  params: {
    reference: v.optional(
      member(text, said('Only that with the reference, or with a transfer of it.', 'T7K2M9XQ4D')),
    ),
  },
  words: described(() => ({
    description:
      'Lists the batches that were confirmed, the latest first. A reference is found in any text, whatever its letter case, spaces and signs.',
    answer: named('ListedBatch', v.object(listed)),
    command: {
      name: 'batches list',
      columns: Object.keys(listed).filter((name) => name !== 'states' && name !== 'hash'),
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
  method: 'GET',
  words: described(() => ({
    description: 'Returns a batch with its transfers. A preview is computed again.',
    answer: batchAnswer,
    command: { name: 'batches show' },
  })),
  run: (call, { batch }) => batches.showBatch(call, batch),
})

export const confirmBatch = operation({
  ...ofBatch('/confirm'),
  id: 'confirmBatch',
  method: 'POST',
  body: {
    hash: member(text, said('The `hash` of the preview.', '0'.repeat(64))),
    total: member(text, said('The `total` of the preview.', '1240.50')),
  },
  words: described(() => ({
    description:
      'Confirms what a preview pays. From then on its transfers never change, and no other payment can have their statements. If it would pay anything else now, or its day is over, it is refused. The same again returns the batch as it is.',
    answer: batchAnswer,
    errors: ['conflict'],
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
  method: 'POST',
  body: { reason: member(f.reason, said('Why.', 'The bank refused the file.')) },
  words: described(() => ({
    description:
      'Cancels what is under way of a batch: its statements are due again. What is paid stays paid. Once the file was exported, make sure that the bank does not execute it.',
    answer: batchAnswer,
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
  method: 'POST',
  words: described(() => ({
    description:
      'Writes the file of a confirmed batch, and its transfers become `exported`, unless the bank details of a payee or the payer changed, are not approved, or a case holds a payee. The same again changes nothing.',
    answer: batchAnswer,
    errors: ['conflict'],
    command: { name: 'batches export' },
  })),
  async run(call, { batch }) {
    await batches.exportBatch(call, batch)
    return batches.showBatch(call, batch)
  },
})

export const getBatchFile = operation({
  ...ofBatch('/file'),
  id: 'getBatchFile',
  method: 'GET',
  role: 'approver',
  params: {
    ...ofBatch().params,
    n: v.optional(member(fileNumber, said('Its number. Defaults to 1.', 1))),
  },
  words: described(() => ({
    description:
      'Returns a file of a batch that is exported, as the bank takes it: `pain.001.001.09` for `sepa` and `bank`, a CSV for Wise, PayPal and `manual`. It is the same file for ever, byte by byte.',
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
  const { text, type, name, file_hash } = await batches.readFile(call, batch, n)
  return c.body(text, 200, {
    ETag: `"${file_hash}"`,
    'Content-Type': `${type}; charset=utf-8`,
    'Content-Disposition': `attachment; filename="${name}"`,
  })
}

/** The operations on batches. */
export const BATCH_OPERATIONS = [
  previewBatch,
  listBatches,
  getBatch,
  confirmBatch,
  exportBatch,
  getBatchFile,
  cancelBatch,
]
