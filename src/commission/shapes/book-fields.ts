import * as v from 'valibot'
import { DAY_MS, HOUR_MS } from '../../platform/durations.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, said } from '../../platform/validation/fields.ts'
import { ruleMessage } from '../../platform/validation/issue.ts'
import { decimal, positiveMoney } from '../plans/decimals.ts'

// The fields of request bodies about the books.

/** The setting of an account: how many persons must approve a statement. */
export const approvalsRequired = member(
  v.pipe(f.number, v.picklist([1, 2], 'pattern 1 or 2')),
  said(
    'How many different persons must approve a statement. Defaults to 1. Everyone who uses the same key counts as one person: give each approver a key in `ADMIN_KEYS`, or use Cloudflare Access.',
    2,
  ),
)

/** The fields of the approval of a statement. */
export const approval = {
  hash: member(
    v.pipe(v.string(), v.regex(/^[\da-f]{64}$/, 'pattern 64 hexadecimal digits in lower case')),
    said(
      'The `hash` of the draft that was reviewed.',
      '50d858e0985ecc7f60418aaf0cc5ab587f42c2570a884095a9e8ccacd0f6545c',
    ),
  ),
  leave_out_holds: v.optional(
    member(
      v.boolean(),
      said(
        'Approves it although records lack a rate or a currency. They are paid as an adjustment in a later period, once a rate exists. Defaults to `false`.',
      ),
    ),
  ),
}

/** The fields of the approval of a period. */
export const periodApproval = {
  plan: v.optional(member(f.text, said('Only this plan. Defaults to all.', 'standard-ib'))),
  leave_out_holds: approval.leave_out_holds,
}

/** A reference, without the white space around it. */
const reference = v.pipe(
  f.text,
  v.transform((text) => text.trim()),
  v.check((text) => text !== '', ruleMessage('length', `1 to ${f.MAX_TEXT}`)),
)

/** The first day of a payment: an earlier one is a typing error. */
const FIRST_DAY = '2000-01-01'

/** Returns today where the day begins first, in UTC+14, or so many days later. */
export const dayInFirstZone = (later: number) =>
  new Date(Date.now() + 14 * HOUR_MS + later * DAY_MS).toISOString().slice(0, 10)

const paidOn = member(
  v.pipe(
    f.day,
    v.check((day) => day >= FIRST_DAY, ruleMessage('minimum', FIRST_DAY)),
    v.check((day) => day <= dayInFirstZone(1), ruleMessage('maximum', 'tomorrow')),
  ),
  said(
    'The day of the payment, from 2000-01-01 to tomorrow (in UTC+14). Once booked, it cannot be changed.',
    '2026-11-16',
  ),
)

/** The fields of the payment of a statement. */
export const payment = {
  reference: member(
    reference,
    said(
      'Identifies the payment. The same one is never booked twice: white space around it and the case of its letters do not count.',
      'pay_2c8f1e0a94b7d36518fa',
    ),
  ),
  paid_on: paidOn,
}

/** The fields of the return of a statement's payment. */
export const paymentReturn = {
  reference: member(
    reference,
    said(
      'Identifies the return, such as the reference of the bank. It may be that of the payment, but not one of another payment or return.',
      'RET-2026-11-18-1',
    ),
  ),
  returned_on: member(
    v.pipe(
      f.day,
      v.check((day) => day <= dayInFirstZone(0), ruleMessage('maximum', 'today')),
    ),
    said(
      'The day on which the payment came back: not before the payment, and not after today (in UTC+14).',
      '2026-11-18',
    ),
  ),
  reason: member(
    f.reason,
    said('Why it came back. The statement and the audit log show it.', 'Account closed'),
  ),
}

/** The fields of a payment in a list. */
export const listedPayment = {
  affiliate_id: member(f.id, said('The affiliate who was paid.', 'IB-07')),
  currency: member(f.currency, said('The currency, an ISO 4217 code.', 'EUR')),
  amount: member(
    positiveMoney,
    said('What was paid: the sum of the statements that became payable first.', '1240.50'),
  ),
  ...payment,
}

/** The fields of a manual entry. */
export const newManualEntry = {
  affiliate_id: member(f.id, said('The affiliate. It must be configured.', 'IB-07')),
  plan: member(
    f.text,
    said(
      'A plan to which the affiliate is assigned. Its currency is that of the amount.',
      'standard-ib',
    ),
  ),
  amount: member(
    v.pipe(
      decimal,
      v.check((text) => /[1-9]/.test(text), 'pattern a decimal other than 0'),
    ),
    said(
      'The amount: a decimal with at most the minor digits of the currency. Negative: the affiliate gets less.',
      '-25.00',
    ),
  ),
  reason: member(f.reason, said('The reason. The statement and the audit log show it.', 'Bonus')),
  reference: member(
    reference,
    said(
      'Identifies the entry within the account. The same one is stored once: white space around it and the case of its letters do not count.',
      'bonus-2026-10-IB-07',
    ),
  ),
}
