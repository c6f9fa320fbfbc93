import * as v from 'valibot'
import { busy } from '../../platform/http/body-errors.ts'
import { WORKING } from '../../platform/http/memory.ts'
import { type Answer, accountOperation } from '../../platform/http/operation.ts'
import { count, money, time } from '../../platform/validation/answer-fields.ts'
import { described, named } from '../../platform/validation/described.ts'
import { member, said } from '../../platform/validation/fields.ts'
import { sendCaused } from '../../webhooks/operations/send-caused.ts'
import { BECOMES, UNMATCHED } from '../answers/match.ts'
import { applyAnswer, previewAnswer, readAnswer, type Summary } from '../answers.ts'
import type { StoredAnswer } from '../db/answers.ts'
import { PAYOUT_LIMITS } from '../model.ts'

const HASH = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'

const hash = member(
  v.pipe(v.string(), v.regex(/^[\da-f]{64}$/)),
  said('The SHA-256 of the file.', HASH),
)

const text = v.string()

const transfer = described(() => ({
  amount: member(money, 'The amount.'),
  currency: member(text, 'An ISO 4217 code.'),
}))

const answer = described(() =>
  named(
    'PayoutAnswer',
    v.object({
      hash,
      format: member(text, '`camt.053`, `camt.054`, `pain.002`, or whose CSV it is.'),
      rows: member(count, 'The entries, statuses or lines of the file.'),
      booked: member(
        v.array(
          v.object({
            becomes: member(v.picklist(BECOMES), '`checked`: only the name is known now.'),
            count: member(count, 'The number of transfers.'),
            ...transfer,
          }),
        ),
        'What becomes of transfers.',
      ),
      notices: member(
        v.array(
          v.object({
            transfer: member(text, 'Its reference.'),
            affiliate_id: member(text, 'The affiliate.'),
            ...transfer,
            what: member(
              v.picklist([...BECOMES, 'held']),
              'What became of it. `checked`: the owner has another name. `held`: a case of the fraud review holds the affiliate, whom the bank has paid.',
            ),
            detail: v.nullable(member(text, 'What the bank says.')),
          }),
        ),
        'Transfers that a person should look at, at most 100.',
      ),
      unchanged: member(count, 'The transfers that the file names and that are booked already.'),
      unmatched: member(count, 'The rows of which nothing is booked.'),
      unmatched_rows: member(
        v.array(
          v.object({
            row: member(count, 'Its position in the file, from 1.'),
            reason: member(v.picklist(UNMATCHED), 'Why nothing is booked of it.'),
            detail: member(text, 'The same in words.'),
          }),
        ),
        'These rows, at most 100: first those that name a transfer.',
      ),
      applied_at: v.nullable(member(time, 'When it was booked. Null if it is only previewed.')),
    }),
  ),
)

const present = ({ hash, summary, applied_at }: StoredAnswer) =>
  ({
    ...{ hash, ...(JSON.parse(summary) as Summary) },
    applied_at: applied_at === null ? null : new Date(applied_at).toISOString(),
  }) satisfies Answer<typeof answer>

/** How much memory a byte of a file takes: its text, and the rows that name transfers. */
const WEIGHT = 4

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
  },
  body: { file: v.instance(Uint8Array) },
  words: described(() => ({
    description:
      'Reads the file with which a bank or payment service answers: `pain.002`, `camt.053`, `camt.054` (any version) or CSV, of at most 10 MiB, whatever its `Content-Type`. Returns what would be booked, and books nothing. Rows are matched by the references of transfers, wherever they stand; amount, currency and payer must be the same. A spreadsheet is read, too, if its columns are called `paid_on`, `amount`, `currency` and `reference`: all its rows are payments.',
    answer,
    errors: ['payload_too_large', 'validation_failed'],
    command: { name: 'answers preview' },
  })),
  async run(call, { file, payer }) {
    const memory = await WORKING.reserve(call.account.id, WEIGHT * file.byteLength, busy)
    try {
      return present(await previewAnswer(call, file, payer))
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
  async run({ db, account }, { hash }) {
    return present(await readAnswer(db, account.id, hash))
  },
})

/** The operations on answers of banks. */
export const ANSWER_OPERATIONS = [previewPayoutAnswer, applyPayoutAnswer, getPayoutAnswer]
