import type { Context } from 'hono'
import * as v from 'valibot'
import { BOOK_LIMITS } from '../../books/limits.ts'
import { currency } from '../../books/operations/ledger.ts'
import {
  type AccountCall,
  accountList,
  accountOperation,
  noJson,
  type ReadCall,
  readOperation,
} from '../../platform/http/operation.ts'
import { validationFailed } from '../../platform/http/read-fields.ts'
import { count, day, money, time } from '../../platform/validation/answer-fields.ts'
import { described, named } from '../../platform/validation/described.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, said } from '../../platform/validation/fields.ts'
import { todayOf } from '../../platform/zone.ts'
import * as batches from '../batches.ts'
import { type ListedBatch, listBatches as readBatches } from '../db/batches.ts'
import { FILE_TYPES } from '../files/file.ts'
import { LEFT_OUT, METHODS, PAYOUT_LIMITS, TRANSFER_STATES, type TransferState } from '../model.ts'
import { referencesIn } from '../reference.ts'

const text = v.string()
const actor = v.string()

const ofBatches = { topic: 'payouts', path: '/batches' } as const

const ofBatch = {
  topic: 'payouts',
  params: { batch: member(text, said('The reference of the batch.', 'B7K2M9XQ4D')) },
} as const

const method = member(v.picklist(METHODS), said('How its payees are paid.', 'sepa' as const))
const payer = member(text, said('The id of the payer.', 'main'))
const nullableTime = (words: string) => v.nullable(member(time, words))

const listed = described(() => ({
  id: member(text, 'Its reference, which its file has.'),
  state: member(
    v.picklist(['preview', ...TRANSFER_STATES, 'partial']),
    'The state of its transfers, the lowest of them while none fails; else `partial`.',
  ),
  states: member(
    v.record(v.picklist(TRANSFER_STATES), count),
    'How many transfers have each state. Empty for a preview.',
  ),
  payer,
  method,
  currency,
  execute_on: member(day, 'When the bank executes it.'),
  total: v.nullable(member(money, 'The sum of its transfers.')),
  count: v.nullable(member(count, 'The number of its transfers.')),
  created_by: member(actor, 'Who prepared it.'),
  created_at: member(time, 'When.'),
  confirmed_by: v.nullable(member(actor, 'Who confirmed it. Null for a preview.')),
  confirmed_at: nullableTime('When, or null.'),
  exported_at: nullableTime('When its file was exported first. Null if it was not.'),
  file_hash: v.nullable(member(text, 'Names the bytes of its file. Null if it was not exported.')),
  reason: v.nullable(member(text, 'Why it was cancelled, or null.')),
}))

const transfer = described(() =>
  named(
    'Transfer',
    v.object({
      id: member(text, 'Its reference, which the bank carries: 10 letters and digits.'),
      affiliate_id: member(text, 'The affiliate.'),
      name: v.nullable(
        member(text, 'The owner of the account that it pays. Null if the details are erased.'),
      ),
      name_in_file: v.nullable(
        member(text, 'The same in the letters that the file may have: the bank compares this.'),
      ),
      currency,
      amount: member(money, 'The sum of its statements.'),
      statements: member(v.array(text), 'The ids of the statements that it pays.'),
      state: member(v.picklist(TRANSFER_STATES), 'Its state. Before `paid`, it is under way.'),
      code: v.nullable(member(text, 'The code with which the bank gave this state, or null.')),
      reason: v.nullable(member(text, 'What the bank says of it, or null.')),
      name_check: v.nullable(
        member(text, 'What the bank says of the name of the account’s owner, or null.'),
      ),
    }),
  ),
)

const leftOut = described(() =>
  v.object({
    statement_id: member(text, 'The id of the statement.'),
    affiliate_id: member(text, 'The affiliate.'),
    currency,
    amount: member(money, 'What it has to pay.'),
    reason: member(
      v.picklist(LEFT_OUT),
      'The first reason that applies. `returned` and `suspended` leave out only what `statements` does not name; `next_batch` is what does not fit in this one.',
    ),
  }),
)

const listedBatch = described(() => named('ListedBatch', v.object(listed)))

const batchAnswer = described(() =>
  named(
    'Batch',
    v.object({
      ...listed,
      hash: member(text, 'What it pays, as a SHA-256 in hex. It is sent to confirm it.'),
      transfers: member(v.array(transfer), 'One for each payee.'),
      left_out: member(
        v.array(leftOut),
        'What is due and not in it, and why. Empty once it is confirmed.',
      ),
    }),
  ),
)

const timeOf = (at: number | null) => (at === null ? null : new Date(at).toISOString())

/** Returns a batch as it is answered. */
function present(batch: ListedBatch) {
  const { status: _, payer_version: __, statements: ___, hash: ____, ...shown } = batch
  return {
    ...shown,
    state: batches.stateOf(batch),
    states: JSON.parse(batch.states) as Partial<Record<TransferState, number>>,
    created_at: new Date(batch.created_at).toISOString(),
    confirmed_at: timeOf(batch.confirmed_at),
    exported_at: timeOf(batch.exported_at),
  }
}

/** Returns a batch with its transfers as it is answered. */
async function show({ env, db, account }: AccountCall, id: string) {
  const { batch, content } = await batches.readBatch(env, db, account.id, id)
  return { ...present(batch), ...content }
}

const callOf = ({ env, db, account: { id: account }, actor }: AccountCall) => ({
  ...{ env, db, account, actor, now: Date.now() },
})

export const previewBatch = accountOperation({
  ...ofBatches,
  id: 'previewBatch',
  method: 'POST',
  role: 'manager',
  status: 201,
  body: {
    payer,
    method,
    execute_on: member(
      f.day,
      said('When the bank executes it, today or later. It pays what is due by then.', '2026-12-15'),
    ),
    statements: v.optional(
      member(
        v.pipe(v.array(text), v.minLength(1), v.maxLength(BOOK_LIMITS.due)),
        said('The ids of the statements that it pays. Absent: all that are due.'),
      ),
    ),
  },
  words: described(() => ({
    description: `Previews what one payer pays by one method in its currency: a transfer for each payee, at most ${PAYOUT_LIMITS.transfers.toLocaleString('en')}. Nothing is paid or taken; the preview can be confirmed for a day, with its \`hash\` and \`total\`.`,
    answer: batchAnswer,
    errors: ['conflict'],
    command: { name: 'batches prepare' },
  })),
  async run(call, { statements = null, ...sent }) {
    const today = todayOf(call.account)
    if (sent.execute_on < today) {
      const issue = {
        code: 'minimum',
        expected: `${today}, today`,
        value: sent.execute_on,
      } as const
      throw validationFailed([{ pointer: '/execute_on', ...issue }])
    }
    return show(call, await batches.previewBatch({ ...callOf(call), ...sent, statements }))
  },
})

export const listBatches = accountList({
  ...ofBatches,
  id: 'listBatches',
  role: 'viewer',
  params: {
    reference: v.optional(
      member(
        text,
        said(
          'Returns only the batches whose reference, or that of one of their transfers, this text has. Letter case, spaces and signs are ignored.',
          'T7K2M9XQ4D',
        ),
      ),
    ),
  },
  words: described(() => ({
    description: 'Lists the batches that were confirmed, the latest first.',
    answer: listedBatch,
    command: {
      name: 'batches list',
      columns: [
        ...['id', 'state', 'payer', 'method', 'execute_on', 'count', 'total', 'currency'],
        ...['created_by', 'confirmed_by', 'exported_at', 'reason'],
      ],
    },
  })),
  async list({ db, account }, { reference }, page) {
    const references = reference === undefined ? null : referencesIn(reference)
    const found = await readBatches(db, account.id, references, page)
    return { ...found, data: found.data.map(present) }
  },
})

export const getBatch = accountOperation({
  ...ofBatch,
  path: '/batches/{batch}',
  id: 'getBatch',
  method: 'GET',
  role: 'viewer',
  words: described(() => ({
    description: 'Returns a batch with its transfers. A preview is computed again.',
    answer: batchAnswer,
    command: { name: 'batches show' },
  })),
  run: (call, { batch }) => show(call, batch),
})

export const confirmBatch = accountOperation({
  ...ofBatch,
  path: '/batches/{batch}/confirm',
  id: 'confirmBatch',
  method: 'POST',
  body: {
    hash: member(text, said('The `hash` of the preview.', '0'.repeat(64))),
    total: member(text, said('The `total` of the preview.', '1240.50')),
  },
  words: described(() => ({
    description:
      'Confirms what a preview pays. From then on its transfers never change, and no other payment can have their statements. If it would pay anything else now, it is refused. The same again returns the batch as it is.',
    answer: batchAnswer,
    errors: ['conflict'],
    command: { name: 'batches confirm' },
  })),
  async run(call, { batch: id, ...seen }) {
    await batches.confirmBatch({ ...callOf(call), id }, seen)
    return show(call, id)
  },
})

export const cancelBatch = accountOperation({
  ...ofBatch,
  path: '/batches/{batch}/cancel',
  id: 'cancelBatch',
  method: 'POST',
  body: {
    reason: v.optional(
      member(
        f.reason,
        said('Why. It is needed once the file was exported.', 'The bank refused the file.'),
      ),
    ),
  },
  words: described(() => ({
    description:
      'Cancels what is under way of a batch: its statements are due again. What is paid stays paid. Once the file was exported, make sure that the bank does not execute it.',
    answer: batchAnswer,
    errors: ['conflict'],
    command: { name: 'batches cancel' },
  })),
  async run(call, { batch: id, reason = null }) {
    await batches.cancelBatch({ ...callOf(call), id }, reason)
    return show(call, id)
  },
})

export const getBatchFile = readOperation({
  ...ofBatch,
  path: '/batches/{batch}/file',
  id: 'getBatchFile',
  method: 'GET',
  role: 'approver',
  words: described(() => ({
    description:
      'Returns the file that the bank takes: `pain.001.001.09` for `sepa` and `bank`, a CSV for Wise, PayPal and `manual`. The first time, the transfers become `exported`, unless the bank details of a payee or the payer changed, are not approved, or a case holds a payee. From then on it is the same file, byte by byte.',
    answer: null,
    files: Object.fromEntries(FILE_TYPES.map((type) => [type, { isBinary: true }])),
    errors: ['conflict'],
    command: { name: 'batches file' },
  })),
  files: Object.fromEntries(FILE_TYPES.map((type) => [type, respondFile])),
  run: noJson,
})

/** Responds with the file of a batch, whose method says which media type it has. */
async function respondFile(
  c: Context,
  call: ReadCall,
  { batch: id }: { readonly batch: string },
): Promise<Response> {
  const { env, actor, db, grant } = call as ReadCall & AccountCall
  const of = { env, db, account: grant.account, actor, id, now: Date.now() }
  const { text, type, name, file_hash } = await batches.exportBatch(of)
  return c.body(text, 200, {
    ETag: `"${file_hash}"`,
    'Content-Type': `${type}; charset=utf-8`,
    'Content-Disposition': `attachment; filename="${name}"`,
  })
}

/** The operations on batches. */
export const BATCH_OPERATIONS = [
  ...[previewBatch, listBatches, getBatch, confirmBatch, getBatchFile, cancelBatch],
]
