import { partnerCustomerTable, tradingActivityTable, transactionTable } from '../db/record-table.ts'

// The resources that both partner verticals have.

/** The definition of the customers resource, without its fields. */
export const customers = {
  name: 'customers' as const,
  title: 'Customer',
  dayField: 'signup_date',
  hasItemRoute: true,
  groups: [],
  summedFields: [],
  recordTable: partnerCustomerTable,
  policy: (grant: { unknown_affiliate: 'warn' | 'reject' }) => grant.unknown_affiliate,
}

/** The definition of the transactions resource, without its fields. */
export const transactions = {
  name: 'transactions' as const,
  title: 'Transaction',
  dayField: 'transaction_date',
  hasItemRoute: true,
  groups: ['transaction_type', 'status', 'currency'],
  summedFields: ['amount_currency'],
  recordTable: transactionTable,
  policy: (grant: { unknown_customer: 'reject' | 'hold' }) => grant.unknown_customer,
}

/** The definition of the trading activity resource, without its fields. */
export const activity = {
  name: 'trading-activity' as const,
  title: 'Trading activity',
  dayField: null,
  hasItemRoute: false,
  groups: ['currency'],
  // Drawdowns are percentages, which cannot be summed.
  summedFields: ['lots_traded', 'pnl', 'volume_usd', 'spread_cost', 'commission'],
  recordTable: tradingActivityTable,
  policy: transactions.policy,
}
