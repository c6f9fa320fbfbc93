import * as v from 'valibot'
import * as tables from '../db/schema.ts'
import { describeField } from '../validation/describe.ts'
import * as f from '../validation/fields.ts'
import { defineResource } from './resource.ts'
import * as shared from './shared.ts'

/** Prop trading: challenge fees and payouts; evaluation phases. */
export const propTrading = {
  vertical: 'prop-trading',
  resources: [
    defineResource(tables.customers, shared.customers, {
      ...shared.customer,
      challenge_type: v.optional(
        describeField(
          f.text,
          'For example `standard`, `aggressive`, `rapid`, `instant_funding`. Recommended.',
          'standard',
        ),
      ),
      phase: v.optional(
        describeField(
          f.text,
          'For example `phase_1`, `phase_2`, `funded`, `failed`; recommended. A change is sent again, with a new `last_modified_date`.',
          'phase_1',
        ),
      ),
      account_size: v.optional(
        describeField(
          f.notNegative,
          'The size of the challenge account, in USD. Recommended.',
          50000,
        ),
      ),
    }),
    defineResource(
      tables.transactions,
      shared.transactions,
      shared.transaction(
        describeField(
          f.oneOf('challenge_fee', 'payout', 'reset_fee', 'refund', 'adjustment', 'other'),
          'What happened: a fee for a challenge or its reset, a profit split paid out, a refund or correction.',
          'challenge_fee',
        ),
        describeField(
          f.text,
          'A finer class, for example `phase_1_fee`, `phase_2_fee`, `profit_split`, `monthly_payout`.',
          'phase_1_fee',
        ),
      ),
    ),
    defineResource(tables.activity, shared.activity, {
      ...shared.tradingActivity,
      pnl: describeField(
        f.amount,
        'Realized profit or loss in `currency`, of closed positions only.',
        -12.5,
      ),
      drawdown: v.optional(
        describeField(
          f.notNegative,
          'The drop of equity within the day, in percent: 2.5 is 2.5 %. Recommended.',
          2.5,
        ),
      ),
      max_drawdown: v.optional(
        describeField(
          f.notNegative,
          'From peak to trough since the challenge began, in percent of the initial balance.',
          4,
        ),
      ),
    }),
  ],
}
