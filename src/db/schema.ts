// Written by scripts/tables.ts from migrations/: add a migration, then `npm run generate`.

import {
  integer,
  primaryKey,
  real,
  type SQLiteTable,
  sqliteTable,
  text,
} from 'drizzle-orm/sqlite-core'

/** A table, for the rooms that name one and speak no SQL. */
export type Table = SQLiteTable

/** Partner firms and brands. */
export const accounts = sqliteTable('accounts', {
  id: text().primaryKey(),
  name: text().notNull(),
  vertical: text({ enum: ['prop-trading', 'forex', 'igaming'] }).notNull(),
  mode: text({ enum: ['live', 'test'] }).notNull(),
  time_zone: text().notNull(),
  binding: text().notNull(),
  unknown_customer: text({ enum: ['reject', 'hold'] }).notNull(),
  unknown_affiliate: text({ enum: ['warn', 'reject'] }).notNull(),
  disabled: integer().notNull(),
  created_at: text().notNull(),
  version: integer().notNull(),
  pushed: integer().notNull(),
})

/** The OAuth clients of partner firms. */
export const clients = sqliteTable('clients', {
  client_id: text().primaryKey(),
  account: text().notNull(),
  secret_digest: text().notNull(),
  previous_digest: text(),
  previous_until: integer(),
  version: integer().notNull(),
  revoked: integer().notNull(),
  created_at: text().notNull(),
})

/** Secrets that clients had before, each until it ends (milliseconds). */
export const clientSecrets = sqliteTable('client_secrets', {
  digest: text().primaryKey(),
  client_id: text().notNull(),
  ends_at: integer().notNull(),
})

/** Who may be paid, as the account names them. */
export const affiliates = sqliteTable(
  'affiliates',
  {
    account: text().notNull(),
    affiliate_id: text().notNull(),
    parent: text(),
  },
  (t) => [primaryKey({ columns: [t.account, t.affiliate_id] })],
)

/** Customers of every vertical. */
export const customers = sqliteTable(
  'customers',
  {
    account: text().notNull(),
    customer_id: text().notNull(),
    signup_date: text(),
    last_modified_date: text(),
    affiliate_id: text(),
    tracking_data: text(),
    lang_id: text(),
    country_code: text(),
    kyc_status_id: text(),
    sales_status_id: text(),
    challenge_type: text(),
    phase: text(),
    account_size: real(),
    trading_account_type: text(),
    leverage: text(),
    first_name: text(),
    last_name: text(),
    email: text(),
    day: text().notNull(),
    delivery: text().notNull(),
    idx: integer().notNull(),
    revision: integer().notNull(),
    regtime: text(),
    extras: text(),
    first_day: text(),
    verdict: text({ enum: ['attributed', 'altered', 'foreign', 'unrecognised', 'conflict'] }),
    link: text(),
  },
  (t) => [primaryKey({ columns: [t.account, t.customer_id] })],
)

/** Financial events on trader accounts. */
export const transactions = sqliteTable(
  'transactions',
  {
    account: text().notNull(),
    transaction_id: text().notNull(),
    customer_id: text().notNull(),
    transaction_type: text().notNull(),
    amount_currency: real().notNull(),
    currency: text().notNull(),
    transaction_date: text().notNull(),
    status: text().notNull(),
    amount_usd: real(),
    transaction_subtype: text(),
    note: text(),
    day: text().notNull(),
    held: integer().notNull(),
    delivery: text().notNull(),
    idx: integer().notNull(),
    revision: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.account, t.transaction_id] })],
)

/** What traders did, a row a day, customer, instrument and currency. */
export const activity = sqliteTable(
  'activity',
  {
    account: text().notNull(),
    date: text().notNull(),
    customer_id: text().notNull(),
    instrument: text().notNull(),
    currency: text().notNull(),
    lots_traded: real().notNull(),
    pnl: real(),
    drawdown: real(),
    max_drawdown: real(),
    volume_usd: real(),
    spread_cost: real(),
    commission: real(),
    held: integer().notNull(),
    delivery: text().notNull(),
    idx: integer().notNull(),
    revision: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.account, t.date, t.customer_id, t.instrument, t.currency] })],
)

/** What customers of brands did. */
export const events = sqliteTable(
  'events',
  {
    account: text().notNull(),
    id: text().notNull(),
    eventname: text().notNull(),
    customer_id: text().notNull(),
    eventid: text(),
    createtime: text(),
    amount: real(),
    currency: text(),
    product: text(),
    kpis: text(),
    details: text(),
    record: text().notNull(),
    day: text().notNull(),
    first_day: text().notNull(),
    held: integer().notNull(),
    delivery: text().notNull(),
    idx: integer().notNull(),
    revision: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.account, t.id] })],
)

/** How many records an account has of a resource, held ones left out. */
export const totals = sqliteTable(
  'totals',
  {
    account: text().notNull(),
    resource: text().notNull(),
    total: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.account, t.resource] })],
)

/** What arrived, a row a request. */
export const deliveries = sqliteTable(
  'deliveries',
  {
    account: text().notNull(),
    id: text().notNull(),
    attempt: integer().notNull(),
    received_at: integer().notNull(),
    resource: text().notNull(),
    form: text({ enum: ['object', 'array', 'data'] }).notNull(),
    dry_run: integer().notNull(),
    lenient: integer().notNull(),
    received: integer().notNull(),
    errors_total: integer().notNull(),
    rejected: integer().notNull(),
    refused: integer().notNull(),
    held: integer().notNull(),
    stale: integer().notNull(),
    created: integer().notNull(),
    listed: integer().notNull(),
    written: integer().notNull(),
    held_written: integer().notNull(),
    errors: text(),
    unknown_at: text(),
    unknown_keys: text(),
    stale_at: text(),
    moved: text(),
    reused: integer().notNull(),
    erased_at: text(),
    verdicts: text(),
  },
  (t) => [primaryKey({ columns: [t.account, t.id] })],
)

/** An account, as it was set up. */
export type Account = typeof accounts.$inferSelect

/** A line of the log of deliveries. */
export type Delivery = typeof deliveries.$inferSelect
