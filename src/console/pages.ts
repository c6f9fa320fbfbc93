import type { Page } from '../pages/base/page.ts'
import { accountsPage } from './accounts/accounts.tsx'
import { accountAuditLogPage, auditLogPage } from './accounts/audit-log.tsx'
import { credentialsPage } from './accounts/credentials.tsx'
import { noticesPage } from './accounts/notices.tsx'
import { settingsPage } from './accounts/settings.tsx'
import { affiliatePage } from './affiliates/affiliate.tsx'
import { affiliatesPage } from './affiliates/affiliates.tsx'
import { applicationsPage } from './affiliates/applications.tsx'
import { linksPage } from './affiliates/links.tsx'
import { questionPage, questionsPage } from './affiliates/questions.tsx'
import { linePage } from './books/line.tsx'
import { statementPage } from './books/statement.tsx'
import { statementsPage } from './books/statements.tsx'
import { casePage } from './fraud/case.tsx'
import { casesPage } from './fraud/cases.tsx'
import { fraudRulePage, fraudRulesPage } from './fraud/fraud-rules.tsx'
import { findPage } from './overview/find.tsx'
import { overviewPage } from './overview/overview.tsx'
import { answerPage } from './payouts/answer.tsx'
import { batchPage } from './payouts/batch.tsx'
import { batchesPage } from './payouts/batches.tsx'
import { balancesPage, journalPage, ledgerPage } from './payouts/finance.tsx'
import { invoicesPage } from './payouts/invoices.tsx'
import { paidPage } from './payouts/paid.tsx'
import { payeesPage, payersPage } from './payouts/payees.tsx'
import { toPayPage } from './payouts/to-pay.tsx'
import { planPage } from './plans/plan.tsx'
import { plansPage } from './plans/plans.tsx'
import { ratesPage } from './plans/rates.tsx'
import { customerPage } from './records/customer.tsx'
import { customersPage } from './records/customers.tsx'
import { deliveriesPage } from './records/deliveries.tsx'
import { deliveryPage } from './records/delivery.tsx'
import { heldPage } from './records/held.tsx'
import { mappingsPage } from './records/mappings.tsx'
import { recordPage } from './records/record.tsx'
import { unearnedPage } from './records/unearned.tsx'
import { reportsPage } from './reports/reports.tsx'
import { mePage } from './team/me.tsx'
import { teamPage } from './team/team.tsx'
import { webhookPage } from './webhooks/webhook.tsx'
import { webhooksPage } from './webhooks/webhooks.tsx'

/** Every page of the console. */
export const PAGES: readonly Page[] = [
  accountsPage,
  overviewPage,
  affiliatesPage,
  affiliatePage,
  applicationsPage,
  questionsPage,
  questionPage,
  plansPage,
  planPage,
  statementsPage,
  statementPage,
  linePage,
  unearnedPage,
  toPayPage,
  paidPage,
  answerPage,
  payeesPage,
  payersPage,
  batchesPage,
  batchPage,
  balancesPage,
  journalPage,
  ledgerPage,
  invoicesPage,
  casesPage,
  casePage,
  fraudRulesPage,
  fraudRulePage,
  deliveriesPage,
  deliveryPage,
  findPage,
  recordPage,
  heldPage,
  customersPage,
  customerPage,
  reportsPage,
  ratesPage,
  settingsPage,
  credentialsPage,
  mappingsPage,
  linksPage,
  noticesPage,
  webhooksPage,
  webhookPage,
  accountAuditLogPage,
  auditLogPage,
  mePage,
  teamPage,
]
