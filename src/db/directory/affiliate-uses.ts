import { findCustomersOf } from '../commission/customers-of.ts'
import type { Databases } from '../commission/histories.ts'
import { all } from '../query.ts'
import { bindStatement, compileStatement } from '../statement.ts'
import { hasLiveKeys } from './affiliate-keys.ts'
import { linksOf } from './links.ts'

// What names an affiliate. Only an affiliate that nothing names can be deleted.

const isIn = (table: string, column: string) =>
  `exists (select 1 from ${table} where account = :account and ${column} = :id)`

/** What can name the affiliate `:id` in the database of the account, apart from customers. */
const USED_BY = {
  'parent of others': `${isIn('affiliates', 'parent')} or ${isIn('affiliate_parents', 'parent')}`,
  assignments: isIn('assignments', 'affiliate_id'),
  statements: isIn('statements', 'affiliate_id'),
  'manual entries': isIn('manual_entries', 'affiliate_id'),
  'ledger entries': isIn('ledger', 'affiliate_id'),
  members: isIn('affiliate_members', 'affiliate_id'),
}

/** Selects what names the affiliate. D1 refuses a UNION of more than five. */
const USES = `
  select value as use from json_each(json_array(
    ${Object.entries(USED_BY)
      .map(([use, condition]) => `iif(${condition}, '${use}', null)`)
      .join(',\n    ')}))
  where value is not null`

const FIND_USES = compileStatement(USES)

/** All days that a history can have. */
const ALL_DAYS = { from: '0000-01-01', to: '9999-12-31' }

/** Returns what names an affiliate, in words. */
export async function findAffiliateUses(
  databases: Databases,
  account: string,
  id: string,
): Promise<string[]> {
  const { db, directory } = databases
  const uses = await all<{ use: string }>(db, FIND_USES, { account, id })
  const found = uses.map(({ use }) => use)
  if ((await linksOf(directory, account, [id])).size > 0) found.push('links')
  if (await hasLiveKeys(directory, account, id, Date.now())) found.push('keys that are valid')
  // The search for customers may read all of them.
  if (found.length === 0 && (await hasCustomers(databases, account, id))) found.push('customers')
  return found
}

async function hasCustomers(databases: Databases, account: string, id: string): Promise<boolean> {
  const query = { account, affiliates: [id], ...ALL_DAYS }
  for (let cursor: Parameters<typeof findCustomersOf>[2] = null; ; ) {
    const { customers, next } = await findCustomersOf(databases, query, cursor)
    if (customers.length > 0) return true
    if (next === null) return false
    cursor = next
  }
}

const REJECT_USED = compileStatement(`select json('no use') from (${USES}) limit 1`)

const DELETE_AFFILIATE = compileStatement(
  'delete from affiliates where account = :account and affiliate_id = :id',
)

const DELETE_INVITATIONS = compileStatement(
  'delete from affiliate_invitations where account = :account and affiliate_id = :id',
)

const DELETE_MESSAGES = compileStatement(`
  delete from affiliate_question_messages where account = :account and question in (
    select q.id from affiliate_questions q where q.account = :account and q.affiliate_id = :id)`)

const DELETE_QUESTIONS = compileStatement(
  'delete from affiliate_questions where account = :account and affiliate_id = :id',
)

const DELETE_PARENTS = compileStatement(
  'delete from affiliate_parents where account = :account and affiliate_id = :id',
)

/**
 * Deletes an affiliate with its parents by day, its invitations and its questions. Fails, and so does its batch, if anything but customers
 * and links names it by then.
 */
export const deleteAffiliate = (
  db: D1Database,
  account: string,
  id: string,
): D1PreparedStatement[] =>
  [
    ...[REJECT_USED, DELETE_INVITATIONS, DELETE_MESSAGES, DELETE_QUESTIONS, DELETE_PARENTS],
    DELETE_AFFILIATE,
  ].map((statement) => bindStatement(db, statement, { account, id }))
