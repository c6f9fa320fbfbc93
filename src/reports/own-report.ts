import type { CallingAffiliate } from '../auth/grant.ts'
import { ApiError } from '../errors.ts'
import { invalidQuery } from '../http/query.ts'
import { REPORT_LIMITS } from './limits.ts'
import {
  type AllowedGroups,
  type Figures,
  groupsOf,
  metricsOf,
  type Report,
  type ReportQuery,
  type Row,
} from './report.ts'

const AFFILIATE = 'affiliate_id'

/** Groups that no affiliate has: what the team decides of a customer. */
const TEAM_GROUPS = ['kyc_status_id', 'sales_status_id']

/** Returns what the report of an affiliate may be grouped by. It is itself grouped by affiliate. */
export function groupsOfAffiliate({ view }: CallingAffiliate, vertical: string): AllowedGroups {
  const hidden = [AFFILIATE, ...TEAM_GROUPS, ...(view.countries ? [] : ['country_code'])]
  const names = groupsOf(vertical).filter((name) => !hidden.includes(name))
  return { names, most: REPORT_LIMITS.groupBy - 1 }
}

/**
 * Returns the report of an affiliate: the rows that the report of the account has of them. A count of customers
 * is no sum of rows, so the totals are the affiliate's row of a report without other groups.
 *
 * @throws ApiError `invalid_query`, `validation_failed` if the report is too large.
 */
export async function reportOfAffiliate(
  { id, view }: CallingAffiliate,
  vertical: string,
  query: ReportQuery,
  compute: (query: ReportQuery) => Promise<Report>,
): Promise<Report> {
  const { groups } = query
  const metrics = view.amounts ? query.metrics : earnedMetrics(vertical, query.metrics)
  const read = (more: readonly string[]) =>
    compute({ ...query, metrics, groups: [AFFILIATE, ...more] }).catch(hideCounts)
  const whole = await read([])
  const report = groups.length === 0 ? whole : await read(groups)
  const [own = { groups: {}, ...nothingOf(whole) }] = rowsOf(whole, id)
  const { groups: _, ...totals } = own
  const data = groups.length === 0 ? [own] : rowsOf(report, id)
  return { ...report, group_by: groups, columns: report.columns.slice(1), data, totals }
}

/** The messages about a report that is too large count records of the whole account. */
function hideCounts(error: unknown): never {
  if (!(error instanceof ApiError) || error.code !== 'validation_failed') throw error
  throw new ApiError('validation_failed', {
    detail: 'The report is too large. Ask for fewer days, fewer groups, or name `metrics`.',
    cause: error,
  })
}

/** Returns the figures of an affiliate without records. */
const nothingOf = ({ columns }: Report): Figures => ({
  metrics: Object.fromEntries(
    columns.flatMap(({ name, type }) =>
      type === 'group' ? [] : [[name, type === 'count' ? 0 : '0']],
    ),
  ),
  unconverted: [],
})

/** Returns the rows of an affiliate, without the group that names them. */
const rowsOf = ({ data }: Report, id: string): Row[] =>
  data.flatMap(({ groups: { [AFFILIATE]: owner, ...groups }, ...figures }) =>
    owner === id ? [{ groups, ...figures }] : [],
  )

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
