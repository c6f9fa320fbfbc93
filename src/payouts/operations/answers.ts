import * as v from 'valibot'
import { positiveMoney } from '../../commission/plans/decimals.ts'
import { dayInFirstZone } from '../../commission/shapes/book-fields.ts'
import { busy } from '../../platform/http/body-errors.ts'
import { WORKING } from '../../platform/http/memory.ts'
import { list, operation } from '../../platform/http/operation.ts'
import { isZip } from '../../platform/unzip.ts'
import { count, day, money, time } from '../../platform/validation/answer-fields.ts'
import { component, described } from '../../platform/validation/described.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, nullable, optional, said } from '../../platform/validation/fields.ts'
import { ruleMessage } from '../../platform/validation/issue.ts'
import { objectOf } from '../../platform/validation/shapes.ts'
import { sendCaused } from '../../webhooks/operations/send-caused.ts'
import { DAY_ORDERS } from '../answers/days.ts'
import { BECOMES } from '../answers/row.ts'
import { applyAnswer, presentApplied, previewAnswer, readAnswer, showAnswer } from '../answers.ts'
import { bookByHand, dismissDoubts } from '../by-hand.ts'
import { listApplied } from '../db/answers.ts'
import { MOVEMENT_DOUBTS, PAYOUT_LIMITS } from '../model.ts'
import { bankMovement, SHOWN_MOVEMENTS } from './movement.ts'

const HASH = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'

const hash = member(
  v.pipe(v.string(), v.regex(/^[\da-f]{64}$/, 'pattern the hash of an answer')),
  said('The SHA-256 of the file, its payer and what would be booked.', HASH),
)

/** What transfers become, and of what amounts. */
const becoming = described(() => ({
  becomes: member(v.picklist(BECOMES), '`checked`: only the owner’s name is known now.'),
  amount: member(money, 'The amount.'),
  currency: member(v.string(), 'An ISO 4217 code.'),
}))

const applied = described(() => ({
  hash,
  applied_at: nullable(time, 'When it was booked. Null: it is only previewed.'),
  applied_by: nullable(v.string(), 'Who booked it, or null.'),
}))

const listed = described(() => {
  const booked = v.object({ ...becoming, count: member(count, 'The number of transfers.') })
  return {
    ...applied,
    format: member(v.string(), '`camt.052`, `camt.053`, `camt.054`, `pain.002` or `CSV`.'),
    rows: member(count, 'The entries, statuses or lines of the file.'),
    booked: member(v.array(booked), 'What becomes of transfers.'),
    doubts: member(
      count,
      'Of the rows of which nothing is booked, those that a person has to look at.',
    ),
    unchanged: member(count, 'How often the file says what is booked or noted already.'),
    unmatched: member(count, 'The rows of which nothing is booked.'),
  }
})

const answer = described(() => {
  const transfer = v.object({
    ...becoming,
    transfer: member(v.string(), 'Its reference.'),
    affiliate_id: member(v.string(), 'The affiliate.'),
    day: nullable(day, 'Its booking day.'),
    reason: nullable(v.string(), 'What the bank says.'),
  })
  const unmatched = v.object({
    row: member(count, 'Its position in the file, from 1.'),
    states: member(v.string(), 'The day and the amount that it states.'),
    detail: member(v.string(), 'Why nothing is booked of it.'),
    doubt: nullable(
      v.picklist(MOVEMENT_DOUBTS),
      'Money that moved and is not booked, or null. `paid_twice`: it left twice; `paid_after_cancel`: it left although the transfer is cancelled or rejected; `not_booked`: anything else that names a transfer.',
    ),
  })
  return component('PayoutAnswer', () => ({
    ...listed,
    transfers: member(v.array(transfer), 'These, at most 100: first what failed.'),
    unmatched_rows: member(
      v.array(unmatched),
      'These, at most 100: first the doubts, then those that name a transfer.',
    ),
    booked_before: nullable(v.object(applied), 'How the same file was booked before, or null.'),
    movements: member(v.array(bankMovement), `Once it is booked: ${SHOWN_MOVEMENTS}`),
  }))
})

/** How much memory a byte of a file takes: its text, and the rows that name transfers. */
const WEIGHT = 4

/** Returns the parameter that names a column of a CSV. */
const columnParam = (meaning: string) =>
  optional(
    f.labelOf(100),
    said(`The heading of ${meaning}, if the service does not know it.`, 'Kwota'),
  )

const columnParams = {
  day_column: columnParam('the booking day'),
  amount_column: columnParam('the amount'),
  out_column: columnParam('what left, if that is a column of its own'),
  in_column: columnParam('what came, if that is a column of its own'),
  currency_column: columnParam('the currency'),
}

export const previewPayoutAnswer = operation({
  topic: 'payouts',
  id: 'previewPayoutAnswer',
  shows: 'account',
  method: 'POST',
  path: '/payouts/answers',
  role: 'manager',
  whole: true,
  maxBytes: PAYOUT_LIMITS.answerBytes,
  params: {
    payer: optional(
      v.string(),
      said('Needed if there are several and the file names no account.', 'main'),
    ),
    day_order: optional(
      v.picklist(DAY_ORDERS),
      said('What stands first in days such as `05/11/2026`, if the file leaves that open.'),
    ),
    ...columnParams,
  },
  body: { file: v.instance(Uint8Array) },
  words: described(() => ({
    description:
      'Reads the file with which a bank or payment service answers: `pain.002`, `camt.052`, `camt.053`, `camt.054` (any version), a ZIP file of these, or CSV, of at most 10 MiB, whatever its `Content-Type`. Returns what would be booked, and books nothing. Rows are matched by the references of transfers, wherever they stand; the booked amount, its currency and the payer must be the same, where charges that a row states may explain a difference. Of a CSV, the columns are found by the words that banks use for booking day, amount and currency, else by those that were chosen once for the payer; in a table with a column `paid_on`, a negative amount is a return.',
    answer,
    errors: ['payload_too_large', 'validation_failed', 'conflict'],
    command: { name: 'answers preview' },
  })),
  async run(call, { file, payer, day_order: order, ...named }) {
    const columns = Object.fromEntries(
      Object.entries(named).map(([name, heading]) => [name.replace('_column', ''), heading]),
    )
    const bytes = isZip(file) ? PAYOUT_LIMITS.answerBytes : file.byteLength
    const memory = await WORKING.reserve(call.account.id, WEIGHT * bytes, busy)
    try {
      return await showAnswer(call, await previewAnswer(call, file, { payer, order, columns }))
    } finally {
      memory.release()
    }
  },
})

export const applyPayoutAnswer = operation({
  topic: 'payouts',
  id: 'applyPayoutAnswer',
  shows: 'account',
  method: 'POST',
  path: '/payouts/answers/apply',
  body: { hash },
  words: described(() => ({
    description:
      'Books an answer as its preview says, and notes its doubts in “Needs attention”. Repeated, it changes nothing, or goes on where it ended. If a transfer changed meanwhile, so that it does not match any more, nothing is booked: read the file again. If the account asks for two persons, a CSV, which anybody can write, is booked as by hand: by another one than the authors of its batches.',
    answer,
    errors: ['conflict', 'same_person'],
    command: { name: 'answers apply', argument: 'hash' },
  })),
  async run(call, { hash }) {
    const stored = await applyAnswer(call, hash)
    sendCaused(call, call.account)
    return showAnswer(call, stored)
  },
})

export const getPayoutAnswer = operation({
  topic: 'payouts',
  id: 'getPayoutAnswer',
  shows: 'account',
  method: 'GET',
  path: '/payouts/answers/{hash}',
  params: { hash },
  words: described(() => ({
    description:
      'Returns an answer of a bank, previewed or booked. A preview is forgotten after a day.',
    answer,
    command: { name: 'answers show' },
  })),
  async run(call, { hash }) {
    return showAnswer(call, await readAnswer(call.db, call.account.id, hash))
  },
})

export const listPayoutAnswers = list({
  topic: 'payouts',
  id: 'listPayoutAnswers',
  shows: 'account',
  path: '/payouts/answers',
  words: described(() => ({
    description: 'Lists the answers of banks that are booked, the latest first.',
    answer: component('ListedPayoutAnswer', () => listed),
    command: {
      name: 'answers list',
      columns: ['applied_at', 'applied_by', 'format', 'rows', 'doubts', 'unmatched', 'hash'],
    },
  })),
  async list({ db, account }, _, page) {
    const found = await listApplied(db, account.id, page)
    const data = found.data.map(({ hash, summary, ...row }) => ({
      ...JSON.parse(summary),
      hash,
      ...presentApplied(row),
    }))
    return { ...found, data }
  },
})

export const bookTransfer = operation({
  topic: 'payouts',
  id: 'bookTransfer',
  shows: 'account',
  method: 'POST',
  path: '/transfers/{reference}/book',
  params: { reference: member(v.string(), said('That of a transfer.', 'T7K2M9XQ4D')) },
  body: {
    direction: member(f.oneOf('paid', 'returned'), said('Whether it left or came back.', 'paid')),
    booked_on: member(
      v.pipe(
        f.day,
        v.check((day) => day <= dayInFirstZone(1), ruleMessage('maximum', 'tomorrow')),
      ),
      said('The booking day: not before the batch was confirmed, or the payment.', '2026-11-27'),
    ),
    amount: member(positiveMoney, said('What moved, in the currency of the transfer.', '1237.50')),
    bank_reference: optional(
      v.pipe(f.text, v.maxLength(140, ruleMessage('length', 'at most 140 characters'))),
      said('How the bank calls the movement, or the hash of a transaction.', 'B-2026-771'),
    ),
    difference: optional(
      objectOf({
        kind: member(f.oneOf('fee', 'owed'), said('What becomes of it.', 'owed')),
        reason: member(f.reason, said('Why.', 'The bank kept a fee.')),
      }),
      said(
        'Needed if another amount moved than the transfer orders. `fee`: the bank kept what is missing, or took more, which is the firm’s: the transfer is settled in whole. `owed`: only what moved is settled, and the rest stays as it was: due, or after a return paid.',
      ),
    ),
  },
  words: described(() => ({
    description:
      'Books what a person knows to have moved: of a transfer of any batch that was exported, of one that left although it was cancelled or rejected, and of a payment that came back. It ends the doubt about that movement. The same again is `unchanged`.',
    answer: component('BookedTransfer', () => ({
      transfer: member(v.string(), 'The reference of the transfer.'),
      direction: member(v.picklist(['paid', 'returned']), 'Whether it left or came back.'),
      outcome: member(v.picklist(['booked', 'unchanged']), 'Whether it is booked anew.'),
    })),
    errors: ['conflict', 'same_person'],
    command: { name: 'answers book' },
  })),
  async run(call, { reference, ...booked }) {
    const answer = await bookByHand(call, reference, booked)
    sendCaused(call, call.account)
    return answer
  },
})

export const dismissMovements = operation({
  topic: 'payouts',
  id: 'dismissMovements',
  shows: 'account',
  method: 'POST',
  path: '/transfers/{reference}/dismiss',
  params: { reference: member(v.string(), said('That of a transfer or a batch.', 'T7K2M9XQ4D')) },
  body: { reason: member(f.reason, said('Why.', 'The bank has taken its own mistake back.')) },
  words: described(() => ({
    description:
      'Ends the doubts about money that moved under the reference and needs no entry: a payment that left twice does not leave its affiliate out of batches any more. The same again changes nothing.',
    answer: component('Dismissed', () => ({
      reference: member(v.string(), 'The reference.'),
      dismissed: member(count, 'The movements of which a doubt has ended.'),
    })),
    errors: ['same_person'],
    command: { name: 'answers dismiss' },
  })),
  run: (call, { reference, reason }) => dismissDoubts(call, reference, reason),
})

/** The operations on answers of banks. */
export const ANSWER_OPERATIONS = [
  previewPayoutAnswer,
  applyPayoutAnswer,
  listPayoutAnswers,
  getPayoutAnswer,
  bookTransfer,
  dismissMovements,
]
