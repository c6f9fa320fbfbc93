import * as v from 'valibot'
import { requireRole } from '../../platform/auth/roles.ts'
import { busy } from '../../platform/http/body-errors.ts'
import { WORKING } from '../../platform/http/memory.ts'
import { type AccountCall, type Answer, accountOperation } from '../../platform/http/operation.ts'
import { count, day, money, time } from '../../platform/validation/answer-fields.ts'
import { described, named } from '../../platform/validation/described.ts'
import { member, said } from '../../platform/validation/fields.ts'
import { sendCaused } from '../../webhooks/operations/send-caused.ts'
import { BECOMES } from '../answers/row.ts'
import { applyAnswer, previewAnswer, readAnswer } from '../answers.ts'
import type { StoredAnswer } from '../db/answers.ts'
import { PAYOUT_LIMITS } from '../model.ts'

const HASH = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'

const hash = member(
  v.pipe(v.string(), v.regex(/^[\da-f]{64}$/, 'pattern the SHA-256 of a file')),
  said('The SHA-256 of the file.', HASH),
)

const answer = described(() => {
  const becomes = member(v.picklist(BECOMES), '`checked`: only the owner’s name is known now.')
  const sum = {
    amount: member(money, 'The amount.'),
    currency: member(v.string(), 'An ISO 4217 code.'),
  }
  const booked = v.object({ becomes, count: member(count, 'The number of transfers.'), ...sum })
  const transfer = v.object({
    transfer: member(v.string(), 'Its reference.'),
    affiliate_id: member(v.string(), 'The affiliate.'),
    becomes,
    ...sum,
    day: v.nullable(member(day, 'Its booking day.')),
    reason: v.nullable(member(v.string(), 'What the bank says.')),
  })
  const unmatched = v.object({
    row: member(count, 'Its position in the file, from 1.'),
    states: member(v.string(), 'The day and the amount that it states.'),
    detail: member(v.string(), 'Why nothing is booked of it.'),
  })
  return named(
    'PayoutAnswer',
    v.object({
      hash,
      format: member(v.string(), '`camt.053`, `camt.054`, `pain.002`, or whose CSV it is.'),
      rows: member(count, 'The entries, statuses or lines of the file.'),
      booked: member(v.array(booked), 'What becomes of transfers.'),
      transfers: member(v.array(transfer), 'These, at most 100: first what failed.'),
      unchanged: member(count, 'How often the file says what is booked already.'),
      unmatched: member(count, 'The rows of which nothing is booked.'),
      unmatched_rows: member(v.array(unmatched), 'These, at most 100: first those that name one.'),
      applied_at: v.nullable(member(time, 'When it was booked. Null: it is only previewed.')),
    }),
  )
})

const present = ({ hash, summary, applied_at }: StoredAnswer): Answer<typeof answer> => ({
  ...JSON.parse(summary),
  hash,
  applied_at: applied_at ? new Date(applied_at).toISOString() : null,
})

/** How much memory a byte of a file takes: its text, and the rows that name transfers. */
const WEIGHT = 4

/** Books an answer, and sends the events that it causes. */
async function apply(call: AccountCall, hash: string) {
  const applied = await applyAnswer(call, hash)
  sendCaused(call, call.account)
  return applied
}

export const previewPayoutAnswer = accountOperation({
  topic: 'payouts',
  id: 'previewPayoutAnswer',
  method: 'POST',
  path: '/payouts/answers',
  role: 'manager',
  whole: true,
  maxBytes: PAYOUT_LIMITS.answerBytes,
  params: {
    payer: v.optional(
      member(
        v.string(),
        said('Needed if there are several and the file names no account.', 'main'),
      ),
    ),
    book: v.optional(
      member(v.literal('yes'), said('Also books it, as `apply` does: only for an approver.')),
    ),
  },
  body: { file: v.instance(Uint8Array) },
  words: described(() => ({
    description:
      'Reads the file with which a bank or payment service answers: `pain.002`, `camt.053`, `camt.054` (any version) or CSV, of at most 10 MiB, whatever its `Content-Type`. Returns what would be booked, and books nothing without `book`. Rows are matched by the references of transfers, wherever they stand; amount, currency and payer must be the same. A spreadsheet is read, too, if its columns are called `paid_on` (or “Paid on”), `amount`, `currency` and `reference`: its rows are payments, and those with a negative amount are returns.',
    answer,
    errors: ['payload_too_large', 'validation_failed', 'conflict'],
    command: { name: 'answers preview' },
  })),
  async run(call, { file, payer, book }) {
    if (book) requireRole(call.role, 'approver')
    const memory = await WORKING.reserve(call.account.id, WEIGHT * file.byteLength, busy)
    try {
      const previewed = await previewAnswer(call, file, payer)
      return present(book ? await apply(call, previewed.hash) : previewed)
    } finally {
      memory.release()
    }
  },
})

export const applyPayoutAnswer = accountOperation({
  topic: 'payouts',
  id: 'applyPayoutAnswer',
  method: 'POST',
  path: '/payouts/answers/apply',
  body: { hash },
  words: described(() => ({
    description:
      'Books an answer as its preview says. Repeated, it changes nothing, or goes on where it ended. If a transfer changed meanwhile, so that it does not match any more, nothing is booked: read the file again.',
    answer,
    errors: ['conflict'],
    command: { name: 'answers apply', argument: 'hash' },
  })),
  run: async (call, { hash }) => present(await apply(call, hash)),
})

export const getPayoutAnswer = accountOperation({
  topic: 'payouts',
  id: 'getPayoutAnswer',
  method: 'GET',
  path: '/payouts/answers/{hash}',
  role: 'viewer',
  params: { hash },
  words: described(() => ({
    description:
      'Returns an answer of a bank, previewed or booked. A preview is forgotten after a day.',
    answer,
    command: { name: 'answers show' },
  })),
  async run({ db, account }, { hash }) {
    return present(await readAnswer(db, account.id, hash))
  },
})

/** The operations on answers of banks. */
export const ANSWER_OPERATIONS = [previewPayoutAnswer, applyPayoutAnswer, getPayoutAnswer]
