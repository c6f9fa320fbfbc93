import type { Page, Section } from './page.ts'
import { accountsPage } from './pages/accounts.tsx'
import { accountAuditLogPage, auditLogPage } from './pages/audit-log.tsx'
import { overviewPage } from './pages/overview.tsx'

/** Every page of the console. */
export const PAGES: readonly Page[] = [
  accountsPage,
  overviewPage,
  accountAuditLogPage,
  auditLogPage,
]

/** The entries of the navigation that have a page. */
export const SECTION_NAMES: ReadonlySet<Section> = new Set(
  PAGES.flatMap(({ section }) => section ?? []),
)
