import type { Page } from './page.ts'
import { accountsPage } from './pages/accounts.tsx'
import { affiliatePage } from './pages/affiliate.tsx'
import { affiliateKeysPage } from './pages/affiliate-keys.tsx'
import { affiliateUploadPage } from './pages/affiliate-upload.tsx'
import { affiliatesPage } from './pages/affiliates.tsx'
import { accountAuditLogPage, auditLogPage } from './pages/audit-log.tsx'
import { casePage } from './pages/case.tsx'
import { casesPage } from './pages/cases.tsx'
import { credentialsPage } from './pages/credentials.tsx'
import { customerPage } from './pages/customer.tsx'
import { customersPage } from './pages/customers.tsx'
import { deliveriesPage } from './pages/deliveries.tsx'
import { deliveryPage } from './pages/delivery.tsx'
import { filesPage } from './pages/files.tsx'
import { findPage } from './pages/find.tsx'
import { fraudRulePage } from './pages/fraud-rule.tsx'
import { fraudRulesPage } from './pages/fraud-rules.tsx'
import { fraudSimulationPage } from './pages/fraud-simulation.tsx'
import { heldPage } from './pages/held.tsx'
import { linePage } from './pages/line.tsx'
import { linksPage } from './pages/links.tsx'
import { mappingsPage } from './pages/mappings.tsx'
import { overviewPage } from './pages/overview.tsx'
import { payoutsPage } from './pages/payouts.tsx'
import { planPage } from './pages/plan.tsx'
import { plansPage } from './pages/plans.tsx'
import { questionPage, questionsPage } from './pages/questions.tsx'
import { ratesPage } from './pages/rates.tsx'
import { recordPage } from './pages/record.tsx'
import { reportsPage } from './pages/reports.tsx'
import { settingsPage } from './pages/settings.tsx'
import { simulationPage } from './pages/simulation.tsx'
import { statementPage } from './pages/statement.tsx'
import { statementsPage } from './pages/statements.tsx'
import { unearnedPage } from './pages/unearned.tsx'
import { webhookPage } from './pages/webhook.tsx'
import { webhooksPage } from './pages/webhooks.tsx'

/** Every page of the console. */
export const PAGES: readonly Page[] = [
  accountsPage,
  overviewPage,
  affiliatesPage,
  affiliateUploadPage,
  affiliatePage,
  affiliateKeysPage,
  questionsPage,
  questionPage,
  plansPage,
  planPage,
  simulationPage,
  statementsPage,
  statementPage,
  linePage,
  unearnedPage,
  payoutsPage,
  casesPage,
  casePage,
  fraudRulesPage,
  fraudRulePage,
  fraudSimulationPage,
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
  filesPage,
  webhooksPage,
  webhookPage,
  accountAuditLogPage,
  auditLogPage,
]
