import * as v from 'valibot'
import { DAY_MS, HOUR_MS } from '../../platform/durations.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, optional, said } from '../../platform/validation/fields.ts'
import { ruleMessage } from '../../platform/validation/issue.ts'
import { decimal } from '../plans/decimals.ts'

// The fields of request bodies about the books.

/** The setting of an account: how many persons must approve a statement. */
export const approvalsRequired = member(
  v.pipe(f.number, v.picklist([1, 2], 'pattern 1 or 2')),
  said('How many different persons must approve a statement. Defaults to 1.', 2),
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
  leave_out_holds: optional(
    v.boolean(),
    said(
      'Approves it although records lack a rate or a currency. They are paid as an adjustment in a later period, once a rate exists. Defaults to `false`.',
    ),
  ),
}

/** The fields of the approval of a period. */
export const periodApproval = {
  plan: optional(f.text, said('Only this plan. Defaults to all.', 'standard-ib')),
  leave_out_holds: approval.leave_out_holds,
}

/** A reference, without the white space around it. */
const reference = v.pipe(
  f.text,
  v.transform((text) => text.trim()),
  v.check((text) => text !== '', ruleMessage('length', `1 to ${f.MAX_TEXT}`)),
)

/** Returns today where the day begins first, in UTC+14, or so many days later. */
export const dayInFirstZone = (later: number) =>
  new Date(Date.now() + 14 * HOUR_MS + later * DAY_MS).toISOString().slice(0, 10)

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
