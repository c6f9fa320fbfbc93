import { type Context, Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import type { Grant } from '../auth/grant.ts'
import { csvHeaders, writeCsv } from '../commission/csv.ts'
import { formatOf } from '../commission/export/respond.ts'
import { findPayoutCurrency } from '../db/commission/statements.ts'
import { ReadMemory } from '../http/memory.ts'
import { readQuery } from '../http/query.ts'
import { withReadSession } from '../http/read-session.ts'
import { sendJson, sendText } from '../http/send.ts'
import { showTo } from '../http/show.ts'
import { computeReport, type ReportedAffiliates } from './compute.ts'
import { REPORT_WEIGHT } from './limits.ts'
import { groupsOfAffiliate, reportOfAffiliate } from './own-report.ts'
import {
  type Figures,
  metricsOf,
  parseReport,
  REPORT_PARAMETERS,
  type Report,
  type ReportQuery,
  type Unconverted,
} from './report.ts'

/** The path of reports, below the path of an account. */
export const REPORT_PATHS = { reports: '/reports' } as const

/**
 * Returns the number of requests that a request to a path of an account counts as; null: not a
 * report.
 */
export const reportWeight = (path: string): number | null =>
  path === REPORT_PATHS.reports ? REPORT_WEIGHT : null

/** Routes for an account and the integrations team: reports. */
export const accountReports = new Hono<AppEnv>().get(REPORT_PATHS.reports, respondWithReport)

function respondWithReport(c: Context<AppEnv>): Promise<Response> {
  const sent = readQuery(c.req.url, ...REPORT_PARAMETERS)
  const isCsv = formatOf(c) === 'csv'
  return withReadSession(c, async ({ grant, session }) => {
    const { account, vertical } = grant
    const { affiliate } = grant
    const allowed = affiliate ? groupsOfAffiliate(affiliate, vertical) : undefined
    const query = await completed(session, grant, parseReport(vertical, sent, allowed), sent)
    const databases = { session, directory: c.env.DB }
    const compute = (one: ReportQuery, of: ReportedAffiliates | null = null) =>
      computeReport(databases, { account, vertical }, one, Date.now(), of)
    const report = await (affiliate
      ? reportOfAffiliate(affiliate, vertical, query, compute)
      : compute(query))
    const memory = new ReadMemory(account)
    if (!isCsv) return sendJson(c, report, memory)
    const headers = csvHeaders('report', account, query.from, query.to)
    return sendText(c, reportCsv(await showTo(c, report)), headers, memory)
  })
}

/**
 * Returns a query with the currency that is meant if none was sent: an affiliate means that in which they are
 * paid. Counts have no currency, so that nothing is read for them.
 */
async function completed(
  session: D1DatabaseSession,
  { account, vertical, affiliate }: Grant,
  query: ReportQuery,
  sent: { readonly currency?: string | undefined },
): Promise<ReportQuery> {
  const counts = metricsOf(vertical).flatMap(({ name, type }) => (type === 'count' ? [name] : []))
  const hasOnlyCounts = query.metrics?.every((name) => counts.includes(name)) ?? false
  if (!affiliate || sent.currency !== undefined || hasOnlyCounts) return query
  const currency = await findPayoutCurrency(session, account, affiliate.id)
  return currency === null ? query : { ...query, currency }
}

/** The first group of the row of totals. */
const TOTAL = 'total'

const restText = ({ metric, amount, currency, reason }: Unconverted): string =>
  `${metric}: ${amount} ${currency ?? '-'} (${reason})`

const cellText = (value: string | number | null | undefined): string => String(value ?? '')

/**
 * Writes a report as CSV: a column that tells rows from totals, the groups, the metrics, and what could
 * not be converted. A value that is unknown is empty.
 */
function reportCsv({ columns, group_by, data, totals }: Report): string {
  const names = columns.flatMap(({ name, type }) => (type === 'group' ? [] : [name]))
  const cells = ({ metrics, unconverted }: Figures) => [
    ...names.map((name) => cellText(metrics[name])),
    unconverted.map(restText).join('; '),
  ]
  return writeCsv([
    ['row', ...group_by, ...names, 'unconverted'],
    ...data.map((row) => [
      'data',
      ...group_by.map((name) => cellText(row.groups[name])),
      ...cells(row),
    ]),
    [TOTAL, ...group_by.map(() => ''), ...cells(totals)],
  ])
}
