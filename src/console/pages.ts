import type { Page, Section } from './page.ts'
import { accountsPage } from './pages/accounts.tsx'
import { accountAuditLogPage, auditLogPage } from './pages/audit-log.tsx'
import { customerPage } from './pages/customer.tsx'
import { customersPage } from './pages/customers.tsx'
import { deliveriesPage } from './pages/deliveries.tsx'
import { deliveryPage } from './pages/delivery.tsx'
import { heldPage } from './pages/held.tsx'
import { overviewPage } from './pages/overview.tsx'
import { reportsPage } from './pages/reports.tsx'

/** Every page of the console. */
export const PAGES: readonly Page[] = [
  accountsPage,
  overviewPage,
  deliveriesPage,
  deliveryPage,
  heldPage,
  customersPage,
  customerPage,
  reportsPage,
  accountAuditLogPage,
  auditLogPage,
]

/** The entries of the navigation that have a page. */
export const SECTION_NAMES: ReadonlySet<Section> = new Set(
  PAGES.flatMap(({ section }) => section ?? []),
)
