// The tables that a backup keeps: nobody could send them again. None of them holds records.

/** The books. Triggers allow their deletion only to accounts in `book_resets`. Lines come before their statements: those of an approved one cannot change. */
const BOOKS =
  'statement_lines statements manual_entries payments payment_returns ledger transfers invoices'.split(
    ' ',
  )

/** Settings, and what people decided. */
const SETTINGS = `
clients brand_tokens affiliate_keys affiliate_members affiliate_passkeys affiliate_invitations affiliate_questions
affiliate_question_messages applications event_definitions vocabulary links account_moves doors accounts affiliates erasures
affiliate_parents plan_versions assignments fx_rates customer_refusals statement_approvals closed_periods open_affiliates
payees payout_batches payout_answers answer_columns bank_movements
agreements fraud_rule_versions fraud_cases fraud_decisions fraud_evidence
postback_customers webhook_endpoints member_passkeys member_keys member_invitations members outbox mail_stops`
  .trim()
  .split(/\s+/)

/** All that is kept, lines first. The audit log only grows: rows that it has stay unchanged. */
export const KEPT = [...BOOKS, ...SETTINGS, 'audit_log']

/** What begins anew: the days of fraud rules are evaluated again, and postbacks go on with what happens from now on. */
export const BEGUN_ANEW = ['fraud_progress', 'postback_progress']

/** Returns a file that restores exactly these tables from their rows; `lines` are those of statements. */
export const restoring = (lines: string, others: string): string =>
  [
    ...BOOKS.map((table) => `INSERT OR IGNORE INTO book_resets SELECT account FROM ${table};`),
    ...[...BOOKS, ...SETTINGS, 'book_resets', ...BEGUN_ANEW].map(
      (table) => `DELETE FROM ${table};`,
    ),
    lines,
    others,
  ].join('\n')
