import type { Attention } from '../../ingest/attention.ts'
import type { Feed } from '../../ingest/feed.ts'
import { accountPath, apiPath, dayBefore, type Page, type Visit } from '../page.ts'
import { Chart, type ChartRow } from '../parts/chart.tsx'
import { Badge, count, EmptyState, isolated, Sentence, Time, titleOf } from '../parts/data.tsx'
import { deliveriesPath, refusedPath } from '../parts/deliveries.tsx'
import { Feeds } from '../parts/feeds.tsx'
import { AccountLink } from '../parts/fields.tsx'
import { type PeriodSums, Periods } from '../parts/statement-lists.tsx'

interface Account {
  readonly account: string
  readonly name: string
  readonly vertical: string
  readonly mode: string
  readonly disabled: boolean
}

/** What arrived of a resource on a day. */
interface DayArrivals {
  readonly day: string
  readonly resource: string
  readonly deliveries: number
  readonly received: number
  readonly refused: number
}

/** The page of each code of attention, below the path of the account. Others are about refused records. */
const PLACE_OF: Readonly<Record<string, string>> = {
  feed_late: '#feeds',
  held_records: '/held',
  unmapped_statuses: '/mappings',
  expiring_credentials: '/credentials',
  unconfigured_affiliates: '/affiliates',
  negative_amounts: '/account',
  implausible_times: '/deliveries',
  unknown_events: '/mappings',
  unapproved_drafts: '/statements?status=draft',
  waiting_for_rates: '/statements?status=draft',
}

const addressOf = (visit: Visit, code: string) =>
  code in PLACE_OF ? accountPath(visit.account) + PLACE_OF[code] : refusedPath(visit, [1, 0])

/** Returns a row for each day with the records that were accepted and those that were refused. */
function chartRows(arrivals: readonly DayArrivals[]): ChartRow[] {
  const byDay = Map.groupBy(arrivals, ({ day }) => day)
  return [...byDay].map(([day, rows]): ChartRow => {
    const refused = rows.reduce((sum, row) => sum + row.refused, 0)
    const received = rows.reduce((sum, row) => sum + row.received, 0)
    return [day, received - refused, refused]
  })
}

const AttentionList = (props: { visit: Visit; account: Account; items: readonly Attention[] }) => (
  <section class="attention">
    <h2>Needs attention</h2>
    {props.items.length === 0 && !props.account.disabled ? (
      <p>
        <Badge tone="good">Fine</Badge> Nothing needs attention.
      </p>
    ) : (
      <ul>
        {props.account.disabled && <li>The account is disabled: its credentials are refused.</li>}
        {props.items.map(({ code, count: number, detail }) => (
          <li>
            <a href={addressOf(props.visit, code)}>
              {titleOf(code)} ({count(number)})
            </a>{' '}
            <Sentence text={detail} />
          </li>
        ))}
      </ul>
    )}
  </section>
)

/** Renders how many records were refused today and yesterday. */
const RefusedDays = ({ visit, rows }: { visit: Visit; rows: readonly ChartRow[] }) => (
  <p class="quick">
    {['today', 'yesterday'].map((name, ago) => {
      const [, , refused] = rows.find(([day]) => day === dayBefore(visit.now, ago)) ?? []
      return (
        <a href={refusedPath(visit, [ago, ago])}>
          Refused {name}: {count(refused ?? 0)}
        </a>
      )
    })}
  </p>
)

const Arrivals = ({ account, rows }: { account: string; rows: readonly ChartRow[] }) => (
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
          caption="Records by the day they came (UTC), in the last 30 days. A delivery that was refused as a whole counts with all its records."
          label="Day"
          series={['Accepted', 'Refused']}
          rows={rows}
        />
        <p>
          <a href={deliveriesPath(account)}>The deliveries</a> they came in, and{' '}
          <a href={deliveriesPath(account, { status: 'refused' })}>why records were refused</a>
        </p>
      </>
    )}
  </>
)

/** The overview of an account: what needs attention, its feeds, its records and its commission. */
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
      api.get<PeriodSums>(apiPath(account, 'periods')),
    ])
    const days = chartRows(arrivals.data)
    const body = (
      <>
        <p class="lead">
          {account}, {settings.vertical}, {settings.mode}
        </p>
        <RefusedDays visit={visit} rows={days} />
        <AttentionList visit={visit} account={settings} items={attention.data} />
        <section id="feeds">
          <h2>Feeds</h2>
          <Feeds visit={visit} feeds={feeds.data} />
        </section>
        <Arrivals account={account} rows={days} />
        <h2>Commission</h2>
        <p>
          Commission is calculated per period, not per day. The last run ended:{' '}
          <Time at={commission.last_run_at} />.{' '}
          <AccountLink visit={visit} at={['reports']} query={{ group_by: 'affiliate_id' }}>
            A report by affiliate
          </AccountLink>
        </p>
        <Periods visit={visit} sums={commission} />
      </>
    )
    return { title: isolated(settings.name), body }
  },
}
