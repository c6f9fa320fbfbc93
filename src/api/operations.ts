import { ACCOUNT_OPERATIONS } from '../accounts/accounts.ts'
import { getOwnAccount, listAttention } from '../accounts/attention.ts'
import { listAuditLog } from '../accounts/audit-log.ts'
import { BRAND_TOKEN_OPERATIONS } from '../accounts/brand-tokens.ts'
import { CLIENT_OPERATIONS } from '../accounts/clients.ts'
import { listDatabases } from '../accounts/databases.ts'
import { ERASURE_OPERATIONS } from '../accounts/erasure/erasures.ts'
import { EVENT_OPERATIONS } from '../accounts/events.ts'
import { MOVE_OPERATIONS } from '../accounts/move/moves.ts'
import { MAPPING_OPERATIONS } from '../accounts/status-map.ts'
import { getCustomerNames } from '../affiliates/customer-names.ts'
import { AFFILIATE_KEY_OPERATIONS } from '../affiliates/operations/affiliate-keys.ts'
import { AFFILIATE_MEMBER_OPERATIONS } from '../affiliates/operations/affiliate-members.ts'
import { listAffiliatePostbacks } from '../affiliates/operations/affiliate-postbacks.ts'
import { AFFILIATE_OPERATIONS } from '../affiliates/operations/affiliates.ts'
import { QUESTION_OPERATIONS } from '../affiliates/operations/questions.ts'
import { LINK_OPERATIONS } from '../attribution/operations/links.ts'
import { APPROVAL_OPERATIONS } from '../books/operations/approvals.ts'
import { LEDGER_OPERATIONS } from '../books/operations/ledger.ts'
import { MANUAL_ENTRY_OPERATIONS } from '../books/operations/manual-entries.ts'
import { listPayouts } from '../books/operations/payouts.ts'
import { HISTORY_OPERATIONS } from '../commission/operations/histories.ts'
import { PLAN_OPERATIONS } from '../commission/operations/plans.ts'
import { simulatePlan } from '../commission/operations/simulations.ts'
import { STATEMENT_OPERATIONS } from '../commission/operations/statements.ts'
import { getFxRates, importFxRates } from '../commission/rates/routes.ts'
import { WHY_OPERATIONS } from '../commission/why/operations.ts'
import { startExport } from '../exports/admin-operations.ts'
import { EXPORT_OPERATIONS } from '../exports/operations.ts'
import { DECISION_OPERATIONS } from '../fraud/operations/fraud-decisions.ts'
import { FRAUD_RULE_OPERATIONS } from '../fraud/operations/fraud-rules.ts'
import { runFraudRules } from '../fraud/operations/fraud-runs.ts'
import { simulateFraudRule } from '../fraud/operations/fraud-simulations.ts'
import { CASE_OPERATIONS } from '../fraud/operations.ts'
import { listAttributed } from '../ingest/operations/attribution.ts'
import { DELIVERY_OPERATIONS } from '../ingest/operations/deliveries.ts'
import { getFeed, listFeeds } from '../ingest/operations/feeds.ts'
import { listHeld } from '../ingest/operations/held.ts'
import { findRecords, listRecords } from '../ingest/operations/records.ts'
import { getTotals } from '../ingest/operations/totals.ts'
import { ANSWER_OPERATIONS } from '../payouts/operations/answers.ts'
import { BATCH_OPERATIONS } from '../payouts/operations/batches.ts'
import { INVOICE_OPERATIONS } from '../payouts/operations/invoices.ts'
import { listJournal } from '../payouts/operations/journal.ts'
import { PAYEE_OPERATIONS } from '../payouts/operations/payees.ts'
import { APPLICATION_OPERATIONS } from '../people/operations/applications.ts'
import { ME_OPERATIONS } from '../people/operations/me.ts'
import { MEMBER_OPERATIONS } from '../people/operations/members.ts'
import { listNotices } from '../people/operations/notices.ts'
import type { AnyOperation } from '../platform/http/operation.ts'
import { getReport } from '../reports/operations.ts'
import { WEBHOOK_OPERATIONS } from '../webhooks/operations/webhooks.ts'

/** The operations of the administration API, in the order of the reference. */
export const OPERATIONS: readonly AnyOperation[] = [
  ...ACCOUNT_OPERATIONS,
  ...CLIENT_OPERATIONS,
  ...BRAND_TOKEN_OPERATIONS,
  ...MOVE_OPERATIONS,
  listAuditLog,
  ...MEMBER_OPERATIONS,
  ...ME_OPERATIONS,
  ...LINK_OPERATIONS,
  ...AFFILIATE_OPERATIONS,
  ...AFFILIATE_KEY_OPERATIONS,
  ...AFFILIATE_MEMBER_OPERATIONS,
  ...APPLICATION_OPERATIONS,
  ...QUESTION_OPERATIONS,
  getCustomerNames,
  listAffiliatePostbacks,
  ...WEBHOOK_OPERATIONS,
  listNotices,
  ...WHY_OPERATIONS,
  ...CASE_OPERATIONS,
  ...STATEMENT_OPERATIONS,
  ...APPROVAL_OPERATIONS,
  ...MANUAL_ENTRY_OPERATIONS,
  ...LEDGER_OPERATIONS,
  listJournal,
  listPayouts,
  ...PAYEE_OPERATIONS,
  ...BATCH_OPERATIONS,
  ...ANSWER_OPERATIONS,
  ...INVOICE_OPERATIONS,
  ...HISTORY_OPERATIONS,
  ...EXPORT_OPERATIONS,
  startExport,
  getFxRates,
  importFxRates,
  ...MAPPING_OPERATIONS,
  ...EVENT_OPERATIONS,
  ...PLAN_OPERATIONS,
  simulatePlan,
  ...FRAUD_RULE_OPERATIONS,
  runFraudRules,
  simulateFraudRule,
  ...DECISION_OPERATIONS,
  listAttributed,
  ...ERASURE_OPERATIONS,
  getOwnAccount,
  listAttention,
  ...DELIVERY_OPERATIONS,
  listRecords,
  findRecords,
  getTotals,
  listHeld,
  getFeed,
  getReport,
  listFeeds,
  listDatabases,
]
