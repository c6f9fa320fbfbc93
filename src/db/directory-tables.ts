import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

// The tables of who may call, as the compiler knows them; a test holds them and migrations/ together.

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

/** An account, as it was set up. */
export type Account = typeof accounts.$inferSelect

/** Secrets that clients had before, each until it ends (milliseconds). */
export const clientSecrets = sqliteTable('client_secrets', {
  digest: text().primaryKey(),
  client_id: text().notNull(),
  ends_at: integer().notNull(),
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
