import * as tables from '../../platform/db/tables.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, optional, said } from '../../platform/validation/fields.ts'
import * as definitions from './definitions.ts'
import { defineResource } from './resource.ts'
import * as shared from './shared.ts'

/** The forex vertical: deposits, withdrawals and rebates; lots, volume and spread. */
export const forex = {
  vertical: 'forex',
  resources: [
    defineResource(tables.customers, definitions.customers, {
      ...shared.customer,
      trading_account_type: optional(
        f.text,
        said(
          'The type of the trading account, for example `standard`, `ECN`, `micro` or `demo`. Recommended.',
          'standard',
        ),
      ),
      leverage: optional(
        f.leverage,
        said('The leverage of the trading account as a ratio. For information only.', '1:100'),
      ),
    }),
    defineResource(
      tables.transactions,
      definitions.transactions,
      shared.transaction(
        member(
          f.oneOf('deposit', 'withdrawal', 'bonus', 'adjustment', 'ib_rebate', 'other'),
          said(
            'The type of transaction. Send a rebate to an introducing broker, as computed by the broker, as `ib_rebate`.',
            'deposit',
          ),
        ),
        member(
          f.text,
          said(
            'A more specific type, for example `wire`, `card`, `crypto`, `lot_rebate` or `spread_rebate`.',
            'card',
          ),
        ),
      ),
    ),
    defineResource(tables.activity, definitions.activity, {
      ...shared.tradingActivity,
      pnl: optional(
        f.amount,
        said('The realized profit or loss in `currency`. Include closed positions only.', -12.5),
      ),
      volume_usd: optional(f.notNegative, said('The notional volume in USD. Recommended.', 107000)),
      spread_cost: optional(f.notNegative, said('The cost of the spread in `currency`.', 8.4)),
      commission: optional(
        f.notNegative,
        said(
          'The trading commission that the broker charged in `currency`, without the spread.',
          3.5,
        ),
      ),
    }),
  ],
}
