import type { CallingAffiliate } from '../platform/auth/grant.ts'
import { invalidQuery } from '../platform/http/query.ts'
import { computeReport, type ReportAccount, type ReportDatabases } from './compute.ts'
import { groupsOf, metricsOf, type Report, type ReportQuery } from './report.ts'

/** Groups that no affiliate has: the report is of one, and what the team decides of a customer is not shown. */
const HIDDEN_GROUPS = ['affiliate_id', 'kyc_status_id', 'sales_status_id']

/** Returns what the report of an affiliate may be grouped by. */
export function groupsOfAffiliate({ view }: CallingAffiliate, vertical: string): string[] {
  const hidden = [...HIDDEN_GROUPS, ...(view.countries ? [] : ['country_code'])]
  return groupsOf(vertical).filter((name) => !hidden.includes(name))
}

/**
 * Computes the report of an affiliate: the rows that the report of the account has of them.
 *
 * @throws ApiError `invalid_query`, `validation_failed` if the report is too large.
 */
export function reportOfAffiliate(
  databases: ReportDatabases,
  account: ReportAccount,
  { id, view }: CallingAffiliate,
  query: ReportQuery,
): Promise<Report> {
  const metrics = view.amounts ? query.metrics : earnedMetrics(account.vertical, query.metrics)
  const of = { ids: [id], drafts: view.drafts }
  return computeReport(databases, account, { ...query, metrics }, Date.now(), of)
}

/**
 * Returns the metrics that do not tell what customers paid: counts, and what is earned.
 *
 * @throws ApiError `invalid_query` if others are named.
 */
function earnedMetrics(vertical: string, named: readonly string[] | null): readonly string[] {
  const earned = metricsOf(vertical).flatMap(({ name, type }) =>
    type === 'count' || name === 'commission_owed' ? [name] : [],
  )
  const hidden = named?.find((name) => !earned.includes(name))
  if (hidden === undefined) return named ?? earned
  throw invalidQuery('The account does not show amounts. Leave `metrics` out, or name counts.')
}
