import * as v from 'valibot'
import { findPayoutCurrency } from '../commission/db/statements.ts'
import type { Grant } from '../platform/auth/grant.ts'
import { operation, type ReadCall } from '../platform/http/operation.ts'
import { showTo } from '../platform/http/show.ts'
import { csvHeaders, writeCsv } from '../platform/money/csv.ts'
import { described } from '../platform/validation/described.ts'
import { member, optional, said } from '../platform/validation/fields.ts'
import { computeReport } from './compute.ts'
import { CLICK_DAYS, REPORT_LIMITS } from './limits.ts'
import { groupsOfAffiliate, reportOfAffiliate } from './own-report.ts'
import {
  type Figures,
  parseReport,
  type Report,
  type ReportQuery,
  reportSchema,
  type SentReport,
  type Unconverted,
} from './report.ts'

/** Reads and computes the report that a caller asks for. */
async function readReport(
  { env, grant, session }: ReadCall,
  { affiliate_id, ...sent }: SentReport & { readonly affiliate_id?: string | undefined },
): Promise<Report> {
  const { account, vertical, affiliate } = grant
  const allowed = affiliate ? groupsOfAffiliate(affiliate, vertical) : undefined
  const query = await completed(session, grant, parseReport(vertical, sent, allowed), sent)
  const databases = { session, directory: env.DB }
  return affiliate
    ? reportOfAffiliate(databases, { account, vertical }, affiliate, query)
    : computeReport(
        databases,
        { account, vertical },
        query,
        Date.now(),
        affiliate_id === undefined ? null : { ids: [affiliate_id], drafts: true },
      )
}

const CSV = [
  'row,day,deposit_count,deposit_amount,unconverted',
  'data,2026-10-02,12,1200.25,',
  'total,,12,1200.25,deposit_amount: 80 HUF (fx_missing)',
]

const written = (limit: number) => limit.toLocaleString('en')

export const getReport = operation({
  topic: 'monitoring',
  id: 'getReport',
  shows: 'affiliate',
  method: 'GET',
  path: '/reports',
  callers: ['team', 'account', 'affiliate'],
  params: {
    from: member(v.string(), said('The first day.', '2026-10-01')),
    to: member(
      v.string(),
      said('The last day, inclusive. A report covers at most 366 days.', '2026-10-31'),
    ),
    group_by: optional(
      v.string(),
      said(
        'Up to three groups, separated by commas: `day`, `week`, `month`, `affiliate_id`, `link`, `country_code`, `sub1` to `sub5`; of partners also `kyc_status_id`, `sales_status_id`, `transaction_type`, `instrument`; of prop trading `challenge_type`, `phase`, `account_size`; of forex `trading_account_type`; of brands `eventname`, `product`. Affiliates have no groups of what they do not see.',
        'day,link',
      ),
    ),
    affiliate_id: optional(
      v.string(),
      said(
        'Reports only on this affiliate. The report of an affiliate is always its own.',
        'IB-07',
      ),
    ),
    currency: optional(
      v.string(),
      said(
        'The currency of all amounts. The default is USD; for an affiliate, that of the latest statement.',
        'EUR',
      ),
    ),
    metrics: optional(
      v.string(),
      said(
        'Metrics, separated by commas. The default is all of the vertical.',
        'signups,active_customers',
      ),
    ),
  },
  words: described(() => ({
    description: `Returns metrics of some days by up to three groups, converted to one currency, with their totals. The totals are those of the control totals. Clicks are kept for ${CLICK_DAYS} days. A report has at most ${written(REPORT_LIMITS.groups)} rows and ${written(REPORT_LIMITS.figures)} figures, and reads at most ${written(REPORT_LIMITS.records)} records of a resource, which are counted first. \`Accept: text/csv\` returns the same as CSV.`,
    answer: reportSchema,
    files: {
      'text/csv': {
        example: CSV.map((row) => `${row}\r\n`).join(''),
        headers: ['Content-Disposition'],
      },
    },
    errors: ['validation_failed', 'unavailable'],
    command: { name: 'reports' },
  })),
  run: readReport,
  files: {
    'text/csv': async (c, call, sent) => {
      const { account } = call.grant
      const headers = csvHeaders('report', account, sent.from, sent.to)
      const report = await showTo(c, await readReport(call, sent))
      return c.body(reportCsv(report), 200, headers)
    },
  },
})

/**
 * Returns a query with the currency that is meant if none was sent: an affiliate means that in which they are
 * paid.
 */
async function completed(
  session: D1DatabaseSession,
  { account, affiliate }: Grant,
  query: ReportQuery,
  sent: { readonly currency?: string | undefined },
): Promise<ReportQuery> {
  if (!affiliate || sent.currency !== undefined) return query
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
