import { columnNames, type Table } from '../../platform/db/table.ts'
import * as all from '../../platform/db/tables.ts'

/** The tables of the directory, whose rows name an account. */
const DIRECTORY_TABLES = [
  'account_moves',
  'affiliate_keys',
  'brand_tokens',
  'clients',
  'doors',
  'event_definitions',
  'links',
  'vocabulary',
]

/** The tables of the database that an account's `binding` names of which a reset keeps the rows, or ends it. */
const KEPT_TABLES = [
  'affiliates',
  'affiliate_parents',
  'affiliate_members',
  'affiliate_invitations',
  'affiliate_passkeys',
  'applications',
  'payees',
  'agreements',
  'plan_versions',
  'assignments',
  'erasures',
  'changed',
  'totals',
  'resets',
  'book_resets',
  'audit_log',
]

const tables = Object.values<Table>(all).filter(
  (table) => columnNames(table).includes('account') && !DIRECTORY_TABLES.includes(table.name),
)

/** The tables of the database that an account's `binding` names. A move copies its rows of each. */
export const ACCOUNT_TABLES: readonly string[] = tables.map(({ name }) => name)

/**
 * The tables with data that an account sent, and with what was derived from it: the columns of the
 * primary key.
 */
export const SENT_TABLES: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  tables
    .filter((table) => !KEPT_TABLES.includes(table.name))
    .map((table) => [table.name, table.primaryKey]),
)
