import * as v from 'valibot'
import * as tables from '../db/schema.ts'
import { describeField } from '../validation/describe.ts'
import * as f from '../validation/fields.ts'
import { defineResource } from './resource.ts'
import * as shared from './shared.ts'

/** Forex: deposits, withdrawals and rebates; lots, volume and spread. */
export const forex = {
  vertical: 'forex',
  resources: [
    defineResource(tables.customers, shared.customers, {
      ...shared.customer,
      trading_account_type: v.optional(
        describeField(
          f.text,
          'For example `standard`, `ECN`, `micro`, `demo`. Recommended.',
          'standard',
        ),
      ),
      leverage: v.optional(describeField(f.leverage, 'A ratio, for information.', '1:100')),
    }),
    defineResource(
      tables.transactions,
      shared.transactions,
      shared.transaction(
        describeField(
          f.oneOf('deposit', 'withdrawal', 'bonus', 'adjustment', 'ib_rebate', 'other'),
          'What happened. A rebate to an introducing broker is computed by the broker, and sent as a transaction.',
          'deposit',
        ),
        describeField(
          f.text,
          'A finer class, for example `wire`, `card`, `crypto`, `lot_rebate`, `spread_rebate`.',
          'card',
        ),
      ),
    ),
    defineResource(tables.activity, shared.activity, {
      ...shared.tradingActivity,
      pnl: v.optional(
        describeField(
          f.amount,
          'Realized profit or loss in `currency`, of closed positions only.',
          -12.5,
        ),
      ),
      volume_usd: v.optional(
        describeField(f.notNegative, 'Notional volume, in USD. Recommended.', 107000),
      ),
      spread_cost: v.optional(
        describeField(f.notNegative, 'What the spread cost, in `currency`.', 8.4),
      ),
      commission: v.optional(
        describeField(
          f.notNegative,
          'What the broker charged for trading, in `currency`, apart from the spread.',
          3.5,
        ),
      ),
    }),
  ],
}
