import { getFxRates, importFxRates } from '../commission/rates/routes.ts'
import { STATEMENT_OPERATIONS } from '../commission/statements/operations.ts'
import { WHY_OPERATIONS } from '../commission/why/operations.ts'
import { EXPORT_OPERATIONS } from '../exports/operations.ts'
import { CASE_OPERATIONS } from '../fraud/operations.ts'
import type { AnyOperation } from '../http/operation.ts'
import { getReport } from '../reports/operations.ts'
import { ACCOUNT_OPERATIONS } from './accounts.ts'
import { AFFILIATE_KEY_OPERATIONS } from './affiliate-keys.ts'
import { AFFILIATE_MEMBER_OPERATIONS } from './affiliate-members.ts'
import { listAffiliatePostbacks } from './affiliate-postbacks.ts'
import { AFFILIATE_OPERATIONS } from './affiliates.ts'
import { APPROVAL_OPERATIONS } from './approvals.ts'
import { ARCHIVE_OPERATIONS } from './archives.ts'
import { getOwnAccount, listAttention } from './attention.ts'
import { listAttributed } from './attribution.ts'
import { listAuditLog } from './audit-log.ts'
import { BRAND_TOKEN_OPERATIONS } from './brand-tokens.ts'
import { getChanges } from './changes.ts'
import { CLIENT_OPERATIONS } from './clients.ts'
import { listDatabases } from './databases.ts'
import { DELIVERY_OPERATIONS } from './deliveries.ts'
import { ERASURE_OPERATIONS } from './erasures.ts'
import { EVENT_OPERATIONS } from './events.ts'
import { startExport } from './exports.ts'
import { getFeed, listFeeds } from './feeds.ts'
import { DECISION_OPERATIONS } from './fraud-decisions.ts'
import { FRAUD_RULE_OPERATIONS } from './fraud-rules.ts'
import { runFraudRules } from './fraud-runs.ts'
import { simulateFraudRule } from './fraud-simulations.ts'
import { listHeld } from './held.ts'
import { HISTORY_OPERATIONS } from './histories.ts'
import { LEDGER_OPERATIONS } from './ledger.ts'
import { LINK_OPERATIONS } from './links.ts'
import { MANUAL_ENTRY_OPERATIONS } from './manual-entries.ts'
import { MOVE_OPERATIONS } from './moves.ts'
import { importPayouts, listPayouts } from './payouts.ts'
import { PLAN_OPERATIONS } from './plans.ts'
import { QUESTION_OPERATIONS } from './questions.ts'
import { findRecords, listRecords } from './records.ts'
import { searchAccounts } from './search.ts'
import { simulatePlan } from './simulations.ts'
import { MAPPING_OPERATIONS } from './status-map.ts'
import { getTotals } from './totals.ts'
import { WEBHOOK_OPERATIONS } from './webhooks.ts'

/** The operations of the administration API, in the order of the reference. */
export const OPERATIONS: readonly AnyOperation[] = [
  ...ACCOUNT_OPERATIONS,
  ...CLIENT_OPERATIONS,
  ...BRAND_TOKEN_OPERATIONS,
  ...MOVE_OPERATIONS,
  ...ARCHIVE_OPERATIONS,
  listAuditLog,
  ...LINK_OPERATIONS,
  ...AFFILIATE_OPERATIONS,
  ...AFFILIATE_KEY_OPERATIONS,
  ...AFFILIATE_MEMBER_OPERATIONS,
  ...QUESTION_OPERATIONS,
  listAffiliatePostbacks,
  ...WEBHOOK_OPERATIONS,
  ...WHY_OPERATIONS,
  ...CASE_OPERATIONS,
  ...STATEMENT_OPERATIONS,
  ...APPROVAL_OPERATIONS,
  ...MANUAL_ENTRY_OPERATIONS,
  ...LEDGER_OPERATIONS,
  listPayouts,
  importPayouts,
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
  searchAccounts,
  getReport,
  getChanges,
  listFeeds,
  listDatabases,
]
