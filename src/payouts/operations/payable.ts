import * as v from 'valibot'
import { currency } from '../../books/operations/ledger.ts'
import { operation } from '../../platform/http/operation.ts'
import { money } from '../../platform/validation/answer-fields.ts'
import { component, described, listOf } from '../../platform/validation/described.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, nullable, optional, said } from '../../platform/validation/fields.ts'
import { todayOf } from '../../platform/zone.ts'
import { DOUBTS, METHODS, REASONS } from '../model.ts'
import { accountOf, isTicked, readPayable } from '../payable.ts'

const text = v.string()

/** Why something cannot be paid. */
export const reasons = described(() =>
  member(
    v.array(v.picklist(REASONS)),
    'Why it cannot be paid, all reasons. A batch also knows `other_method` and `other_currency` than its own, `next_batch`, as it is full, and `taken`, as another payment has it.',
  ),
)

/** A doubt, without who waived it. */
export const doubt = described(() => ({
  code: member(
    v.picklist(DOUBTS),
    'What a person should look at. With `came_back`, `open_case` and `paid_twice`, nothing is paid before they waive it.',
  ),
  about: member(text, 'The payment or the case that it is about, or an empty text.'),
}))

/** A statement that a row or a transfer pays. */
export const paidStatement = described(() => ({
  id: member(text, 'Its id.'),
  period: nullable(text, 'Its month or week. Null if it is gone.'),
}))

/** The account of a payee. */
export const account = described(() =>
  nullable(text, 'The account, masked. Null if there is none.'),
)

const payableRow = component('PayableRow', () => ({
  id: member(text, 'Names the row in a batch: the affiliate and the currency.'),
  affiliate_id: member(text, 'The affiliate.'),
  currency,
  amount: member(money, 'The sum of its statements, without those that have reasons.'),
  account,
  method: nullable(v.picklist(METHODS), 'How the affiliate is paid. Null without bank details.'),
  statements: member(
    v.array(v.object({ ...paidStatement, amount: member(money, 'What it has to pay.'), reasons })),
    'What is due.',
  ),
  reasons,
  doubts: member(
    v.array(v.object({ ...doubt, detail: member(text, 'The same in words.') })),
    'What a person should look at before they pay it.',
  ),
  ticked: member(v.boolean(), 'Whether a batch pays it unless a person decides otherwise.'),
}))

export const listPayable = operation({
  topic: 'payouts',
  id: 'listPayable',
  shows: 'affiliate',
  method: 'GET',
  path: '/payable',
  params: {
    on: optional(f.day, said('What is payable by this day. Defaults to today.', '2026-12-15')),
  },
  words: described(() => ({
    description:
      'Returns what has to be paid: a row for each payee and currency, with every reason why it cannot be paid, and every doubt. What a batch under way pays is not listed.',
    answer: listOf(payableRow),
    command: {
      name: 'payable',
      columns: ['id', 'amount', 'method', 'account', 'reasons', 'ticked'],
    },
  })),
  async run(call, { on = todayOf(call.account) }) {
    const data = (await readPayable(call, on)).map(({ version: _, details, ...row }) => ({
      ...row,
      account: accountOf(details),
      method: details?.method ?? null,
      ticked: isTicked(row),
    }))
    return { data }
  },
})
