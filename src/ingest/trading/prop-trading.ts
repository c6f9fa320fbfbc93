import * as tables from '../../platform/db/tables.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, optional, said } from '../../platform/validation/fields.ts'
import * as definitions from './definitions.ts'
import { defineResource } from './resource.ts'
import * as shared from './shared.ts'

/** The prop trading vertical: challenge fees and payouts; evaluation phases. */
export const propTrading = {
  vertical: 'prop-trading',
  resources: [
    defineResource(tables.customers, definitions.customers, {
      ...shared.customer,
      challenge_type: optional(
        f.text,
        said(
          'The type of challenge, for example `standard`, `aggressive`, `rapid` or `instant_funding`. Recommended.',
          'standard',
        ),
      ),
      phase: optional(
        f.text,
        said(
          'The evaluation phase, for example `phase_1`, `phase_2`, `funded` or `failed`. Recommended. When the phase changes, send the customer again with a new `last_modified_date`.',
          'phase_1',
        ),
      ),
      account_size: optional(
        f.notNegative,
        said('The size of the challenge account in USD. Recommended.', 50000),
      ),
    }),
    defineResource(
      tables.transactions,
      definitions.transactions,
      shared.transaction(
        member(
          f.oneOf('challenge_fee', 'payout', 'reset_fee', 'refund', 'adjustment', 'other'),
          said(
            'The type of transaction: a fee for a challenge or its reset, a payout of the profit split, a refund, an adjustment, or any other.',
            'challenge_fee',
          ),
        ),
        member(
          f.text,
          said(
            'A more specific type, for example `phase_1_fee`, `phase_2_fee`, `profit_split` or `monthly_payout`.',
            'phase_1_fee',
          ),
        ),
      ),
    ),
    defineResource(tables.activity, definitions.activity, {
      ...shared.tradingActivity,
      pnl: member(
        f.amount,
        said('The realized profit or loss in `currency`. Include closed positions only.', -12.5),
      ),
      drawdown: optional(
        f.notNegativeFigure,
        said(
          'The daily drawdown: the drop in equity within the day, in percent of the account equity. `2.5` means 2.5%. Recommended.',
          2.5,
        ),
      ),
      max_drawdown: optional(
        f.notNegativeFigure,
        said(
          'The maximum drawdown: the peak-to-trough drop since the challenge began, in percent of the initial balance.',
          4,
        ),
      ),
    }),
  ],
}
