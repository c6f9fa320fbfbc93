import * as v from 'valibot'
import * as tables from '../db/tables.ts'
import * as f from '../fields.ts'
import { defineResource } from './resource.ts'
import * as shared from './shared.ts'

/** Prop trading: challenge fees and payouts; evaluation phases. */
export const propTrading = {
  vertical: 'prop-trading',
  resources: [
    defineResource(tables.customers, shared.customers, {
      ...shared.customer,
      challenge_type: v.optional(f.text),
      phase: v.optional(f.text),
      account_size: v.optional(f.notNegative),
    }),
    defineResource(tables.transactions, shared.transactions, {
      ...shared.transaction,
      transaction_type: f.oneOf(
        'challenge_fee',
        'payout',
        'reset_fee',
        'refund',
        'adjustment',
        'other',
      ),
    }),
    defineResource(tables.activity, shared.activity, {
      ...shared.tradingActivity,
      pnl: f.amount,
      drawdown: v.optional(f.notNegative),
      max_drawdown: v.optional(f.notNegative),
    }),
  ],
}
