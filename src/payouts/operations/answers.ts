import * as v from 'valibot'
import { busy } from '../../platform/http/body-errors.ts'
import { WORKING } from '../../platform/http/memory.ts'
import {
  type AccountCall,
  type Answer,
  accountList,
  accountOperation,
} from '../../platform/http/operation.ts'
import { notFound } from '../../platform/http/read-fields.ts'
import { count, money, time } from '../../platform/validation/answer-fields.ts'
import { described, named } from '../../platform/validation/described.ts'
import { member, said } from '../../platform/validation/fields.ts'
import { sendCaused } from '../../webhooks/operations/send-caused.ts'
import { UNMATCHED } from '../answers/match.ts'
import { applyAnswer, previewAnswer, type Summary } from '../answers.ts'
import { findAnswer, listAnswers, type StoredAnswer } from '../db/answers.ts'
import { PAYOUT_LIMITS } from '../model.ts'

const HASH = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'

const hash = member(
  v.pipe(v.string(), v.regex(/^[\da-f]{64}$/)),
  said('The SHA-256 of the file.', HASH),
)

const listed = described(() =>
  v.object({
    hash,
    format: member(
      v.string(),
      'What the file is: `camt.053`, `camt.054`, `pain.002`, or a CSV of whom.',
    ),
    rows: member(count, 'The entries, statuses or lines of the file.'),
    unchanged: member(count, 'The transfers that the file names and that are booked already.'),
    unmatched: member(count, 'The rows of which nothing is booked.'),
    batches: member(
      v.array(
        v.object({
          batch: member(v.string(), 'The batch.'),
          currency: member(v.string(), 'An ISO 4217 code.'),
          paid: member(count, 'The transfers that the bank has paid.'),
          paid_amount: member(money, 'Their sum.'),
          returned: member(count, 'The transfers that came back.'),
          returned_amount: member(money, 'Their sum.'),
          accepted: member(count, 'The transfers that the bank has accepted.'),
          rejected: member(count, 'The transfers that the bank has rejected.'),
        }),
      ),
      'What is booked, by batch.',
    ),
    created_by: member(v.string(), 'Who sent the file.'),
    created_at: member(time, 'When.'),
    applied_by: v.nullable(member(v.string(), 'Who booked it. Null if nobody has.')),
    applied_at: v.nullable(member(time, 'When it was booked. Null if it is only previewed.')),
  }),
)

const answer = described(() =>
  named(
    'PayoutAnswer',
    v.object({
      ...listed.entries,
      notices: member(
        v.array(
          v.object({
            transfer: member(v.string(), 'The reference of the transfer.'),
            affiliate_id: member(v.string(), 'The affiliate.'),
            amount: member(money, 'Its amount.'),
            currency: member(v.string(), 'An ISO 4217 code.'),
            what: member(
              v.picklist(['returned', 'rejected', 'checked', 'held']),
              'Why a person should look at it. `checked`: the name of the owner does not match. `held`: a case of the fraud review holds the affiliate, whom the bank has paid.',
            ),
            detail: v.nullable(member(v.string(), 'What the bank says.')),
          }),
        ),
        'Transfers that a person should look at, at most 100.',
      ),
      unmatched_rows: member(
        v.array(
          v.object({
            row: member(count, 'Its position in the file, from 1.'),
            reason: member(v.picklist(UNMATCHED), 'Why nothing is booked of it.'),
            detail: member(v.string(), 'The same in words.'),
          }),
        ),
        'The rows of which nothing is booked, at most 100: first those that name a transfer.',
      ),
    }),
  ),
)

const instant = (at: number | null) => (at === null ? null : new Date(at).toISOString())

function present({ summary, created_at, applied_at, entries: _, ...stored }: StoredAnswer) {
  const at = { created_at: new Date(created_at).toISOString(), applied_at: instant(applied_at) }
  return { ...stored, ...(JSON.parse(summary) as Summary), ...at } satisfies Answer<typeof answer>
}

/** How much memory a byte of a file takes: its text, and the rows that name transfers. */
const WEIGHT = 4

const column = (what: string, example: string) =>
  v.optional(
    member(v.string(), said(`Of a CSV that is not known: the heading of ${what}.`, example)),
  )

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
        said('The payer, if the file does not name its account and there are several.', 'main'),
      ),
    ),
    date_column: column('the booking day', 'Booked on'),
    amount_column: column('the amount', 'Amount'),
    currency_column: column('the currency. Absent: it is that of the account', 'Currency'),
  },
  body: { file: v.instance(Uint8Array) },
  words: described(() => ({
    description:
      'Reads the file with which a bank or payment service answers: `pain.002`, `camt.053`, `camt.054` (any version) or CSV, of at most 10 MiB, whatever its `Content-Type`. Returns what would be booked, and books nothing. Rows are matched by the references of transfers, wherever they stand; amount, currency and payer must be the same. The columns of a CSV that is not known are given once as parameters. If they are missing, the error has `headings`.',
    answer,
    errors: ['payload_too_large', 'validation_failed'],
    command: { name: 'answers preview' },
  })),
  async run(call, { file, ...reading }) {
    const memory = await WORKING.reserve(call.account.id, WEIGHT * file.byteLength, busy)
    try {
      return present(await previewAnswer(call, file, reading))
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
      'Books an answer as its preview says. Repeated, it changes nothing, or goes on where it ended. What changed meanwhile, so that it does not match any more, is listed instead.',
    answer,
    command: { name: 'answers apply', argument: 'hash' },
  })),
  async run(call, { hash }) {
    const applied = await applyAnswer(call, hash)
    sendCaused(call, call.account)
    return present(applied)
  },
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
  async run({ db, account }: AccountCall, { hash }) {
    const found = await findAnswer(db, account.id, hash)
    if (!found) throw notFound('answer', hash)
    return present(found)
  },
})

export const listPayoutAnswers = accountList({
  topic: 'payouts',
  id: 'listPayoutAnswers',
  path: '/payouts/answers',
  role: 'viewer',
  words: described(() => ({
    description: 'Lists the answers of banks, the latest first.',
    answer: listed,
    command: {
      name: 'answers list',
      columns: ['created_at', 'format', 'rows', 'unchanged', 'unmatched', 'applied_at', 'hash'],
    },
  })),
  async list({ db, account }, _, page) {
    const found = await listAnswers(db, account.id, page)
    const data = found.data.map((one) => {
      const { notices: _, unmatched_rows: __, ...row } = present(one)
      return row
    })
    return { ...found, data }
  },
})

/** The operations on answers of banks. */
export const ANSWER_OPERATIONS = [
  previewPayoutAnswer,
  applyPayoutAnswer,
  listPayoutAnswers,
  getPayoutAnswer,
]
