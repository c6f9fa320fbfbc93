import { accountPath, apiPath, type Page, type Visit, withQuery } from '../page.ts'
import { Chart, type ChartRow } from '../parts/chart.tsx'
import {
  type Commission,
  CommissionTable,
  commissionOf,
  type Statement,
} from '../parts/commission.tsx'
import { Badge, EmptyState, type List, Sentence } from '../parts/data.tsx'
import { deliveriesPath, FindRecord } from '../parts/deliveries.tsx'
import { type Feed, Feeds } from '../parts/feeds.tsx'

interface Account {
  readonly account: string
  readonly name: string
  readonly vertical: string
  readonly mode: string
  readonly disabled: boolean
}

/** What needs the attention of the account, as the administration API says it. */
interface Attention {
  readonly code: string
  readonly count: number
  readonly detail: string
}

/** What arrived of a resource on a day. */
interface DayArrivals {
  readonly day: string
  readonly resource: string
  readonly deliveries: number
  readonly received: number
  readonly refused: number
}

/** The section that shows what an item of attention is about. */
const SECTION_OF: Readonly<Record<string, string>> = {
  held_records: 'held',
  unmapped_statuses: 'account',
  expiring_credentials: 'account',
  unconfigured_affiliates: 'customers',
}

const addressOf = (account: string, code: string) =>
  code === 'log_budget_used'
    ? deliveriesPath(account, { status: 'refused' })
    : code in SECTION_OF
      ? accountPath(account, SECTION_OF[code] ?? '')
      : '#feeds'

/** Returns a row for each day with the records that were accepted and those that were refused. */
function chartRows(arrivals: readonly DayArrivals[]): ChartRow[] {
  const byDay = Map.groupBy(arrivals, ({ day }) => day)
  return [...byDay].map(([day, rows]): ChartRow => {
    const refused = rows.reduce((sum, row) => sum + row.refused, 0)
    const received = rows.reduce((sum, row) => sum + row.received, 0)
    return [day, received - refused, refused]
  })
}

const AttentionList = ({ account, items }: { account: Account; items: readonly Attention[] }) => (
  <section class="attention">
    <h2>Needs attention</h2>
    {items.length === 0 && !account.disabled ? (
      <p>
        <Badge tone="good">Fine</Badge> Nothing needs attention.
      </p>
    ) : (
      <ul>
        {account.disabled && <li>The account is disabled: its credentials are refused.</li>}
        {items.map(({ code, count, detail }) => (
          <li>
            <a href={addressOf(account.account, code)}>
              {code.replaceAll('_', ' ')} ({count.toLocaleString('en')})
            </a>{' '}
            <Sentence text={detail} />
          </li>
        ))}
      </ul>
    )}
  </section>
)

const Arrivals = ({ account, rows }: { account: string; rows: readonly DayArrivals[] }) => (
  <>
    <h2>Records a day</h2>
    {rows.length === 0 ? (
      <EmptyState title="Nothing has been delivered in the last 30 days.">
        <p>
          The <a href="/docs/start">guide</a> shows how a first record is sent.
        </p>
      </EmptyState>
    ) : (
      <>
        <Chart
          caption="Records by the day they came (UTC), in the last 30 days"
          label="Day"
          series={['Accepted', 'Refused']}
          rows={chartRows(rows)}
        />
        <p>
          <a href={deliveriesPath(account)}>The deliveries</a> they came in, and{' '}
          <a href={deliveriesPath(account, { status: 'refused' })}>why records were refused</a>
        </p>
      </>
    )}
  </>
)

/** Returns this month and the last one, such as `2026-10`. */
function lastMonths(now: number): string[] {
  const last = new Date(now)
  last.setUTCDate(0)
  return [new Date(now), last].map((date) => date.toISOString().slice(0, 7))
}

const STATEMENTS_READ = 500

async function readCommission({ api, account, now }: Visit): Promise<Commission[]> {
  const lists = await Promise.all(
    lastMonths(now).map((period) =>
      api
        .get<List<Statement>>(apiPath(account, 'statements'), { period, per_page: STATEMENTS_READ })
        .then(({ data, meta }) => commissionOf(period, data, meta.total)),
    ),
  )
  return lists.flat()
}

/** The overview of an account: its feeds, what needs attention, its records and its commission. */
export const overviewPage: Page = {
  path: '/accounts/:account',
  section: 'Overview',
  async render(visit) {
    const { api, account } = visit
    const [settings, attention, feeds, arrivals, commission] = await Promise.all([
      api.get<Account>(apiPath(account)),
      api.get<{ data: Attention[] }>(apiPath(account, 'attention')),
      api.get<{ data: Feed[] }>(apiPath(account, 'feed')),
      api.get<{ data: DayArrivals[] }>(apiPath(account, 'arrivals')),
      readCommission(visit),
    ])
    const body = (
      <>
        <p class="lead">
          {account}, {settings.vertical}, {settings.mode}
        </p>
        <FindRecord account={account} />
        <AttentionList account={settings} items={attention.data} />
        <section id="feeds">
          <h2>Feeds</h2>
          <Feeds account={account} feeds={feeds.data} />
        </section>
        <Arrivals account={account} rows={arrivals.data} />
        <h2>Commission</h2>
        <CommissionTable account={account} rows={commission} />
        <p>
          <a href={withQuery(accountPath(account, 'reports'), { group_by: 'affiliate_id' })}>
            A report by affiliate
          </a>
        </p>
      </>
    )
    return { title: settings.name, body }
  },
}
