import * as v from 'valibot'
import * as tables from '../db/tables.ts'
import * as f from '../fields.ts'
import { defineResource } from './resource.ts'
import * as shared from './shared.ts'

/** Forex: deposits, withdrawals and rebates; lots, volume and spread. */
export const forex = {
  vertical: 'forex',
  resources: [
    defineResource(tables.customers, shared.customers, {
      ...shared.customer,
      trading_account_type: v.optional(f.text),
      leverage: v.optional(f.leverage),
    }),
    defineResource(tables.transactions, shared.transactions, {
      ...shared.transaction,
      transaction_type: f.oneOf(
        'deposit',
        'withdrawal',
        'bonus',
        'adjustment',
        'ib_rebate',
        'other',
      ),
    }),
    defineResource(tables.activity, shared.activity, {
      ...shared.tradingActivity,
      pnl: v.optional(f.amount),
      volume_usd: v.optional(f.notNegative),
      spread_cost: v.optional(f.notNegative),
      commission: v.optional(f.notNegative),
    }),
  ],
}
