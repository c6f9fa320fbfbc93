import { apiPath, type Page } from '../page.ts'
import { Badge, Chart, type ChartRow, EmptyState, type List, Table, Time } from '../parts/data.tsx'
import type { Feed } from './accounts.tsx'

/** The deliveries that the chart sums. */
const DELIVERIES = 500

/** Above this share of refused records a feed needs attention. */
const MANY_REFUSED = 0.05

interface Account {
  readonly name: string
  readonly vertical: string
  readonly mode: string
  readonly disabled: boolean
}

interface Delivery {
  readonly received_at: string
  readonly dry_run: boolean
  readonly summary: { readonly received: number; readonly rejected: number }
}

/** Returns how many records each day had that were stored or held, and how many that were refused. */
function chartRows(deliveries: readonly Delivery[]): ChartRow[] {
  const stored = deliveries.filter(({ dry_run }) => !dry_run)
  const byDay = Map.groupBy(stored, ({ received_at }) => received_at.slice(0, 10))
  const sum = (list: readonly Delivery[], of: (one: Delivery['summary']) => number) =>
    list.reduce((total, { summary }) => total + of(summary), 0)
  const rows = [...byDay].map(([day, list]): ChartRow => {
    const accepted = sum(list, ({ received, rejected }) => received - rejected)
    return [day, accepted, sum(list, ({ rejected }) => rejected)]
  })
  return rows.reverse()
}

/** Returns what somebody should look at, as sentences. */
function attentionOf({ disabled }: Account, feeds: readonly Feed[], held: number): string[] {
  return [
    ...(disabled ? ['The account is disabled: its credentials are refused.'] : []),
    ...feeds.flatMap(({ resource, yesterday, refused_share_last_day: share, last_delivery_at }) => [
      ...(yesterday === 'missing' ? [`No ${resource} of yesterday has arrived.`] : []),
      ...(yesterday === 'late' ? [`The ${resource} of yesterday arrived after 06:00 UTC.`] : []),
      ...(share !== null && share > MANY_REFUSED
        ? [`${percent(share)} of the ${resource} of the last 24 hours were refused.`]
        : []),
      ...(last_delivery_at === null ? [`No ${resource} has ever arrived.`] : []),
    ]),
    ...(held > 0 ? [`${held.toLocaleString('en')} records wait for their customer.`] : []),
  ]
}

const percent = (share: number) => `${(share * 100).toFixed(1)} %`

const YESTERDAY = {
  in_time: ['good', 'In time'],
  late: ['warn', 'Late'],
  missing: ['bad', 'Missing'],
  pending: ['quiet', 'Not due yet'],
} as const

function lagOf(seconds: number | null): string {
  if (seconds === null) return '–'
  if (seconds < 120) return `${seconds} s`
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`
}

const Feeds = ({ feeds }: { feeds: readonly Feed[] }) => (
  <Table
    caption="Feeds"
    rows={feeds}
    columns={[
      { title: 'Feed', of: ({ resource }) => resource },
      { title: 'Last delivery', of: ({ last_delivery_at }) => <Time at={last_delivery_at} /> },
      { title: 'Lag', isNumeric: true, of: ({ lag_seconds }) => lagOf(lag_seconds) },
      {
        title: 'Records in 24 hours',
        isNumeric: true,
        of: ({ received_last_day }) => received_last_day.toLocaleString('en'),
      },
      {
        title: 'Refused',
        isNumeric: true,
        of: ({ refused_share_last_day: share }) => (share === null ? '–' : percent(share)),
      },
      {
        title: 'Yesterday',
        of: ({ yesterday }) => {
          if (!yesterday) return '–'
          const [tone, text] = YESTERDAY[yesterday]
          return <Badge tone={tone}>{text}</Badge>
        },
      },
    ]}
  />
)

const Attention = ({ items }: { items: readonly string[] }) => (
  <section class="attention">
    <h2>Needs attention</h2>
    {items.length === 0 ? (
      <EmptyState title="Nothing needs attention." />
    ) : (
      <ul>
        {items.map((item) => (
          <li>{item}</li>
        ))}
      </ul>
    )}
  </section>
)

/** The overview of an account: its feeds, what needs attention, and its records by day. */
export const overviewPage: Page = {
  path: '/accounts/:account',
  section: 'Overview',
  async render({ api, account }) {
    const [settings, { data: feeds }, { meta: held }, { data: deliveries }] = await Promise.all([
      api.get<Account>(apiPath(account)),
      api.get<{ data: Feed[] }>(apiPath(account, 'feed')),
      api.get<List<unknown>>(apiPath(account, 'held'), { per_page: 1 }),
      api.get<List<Delivery>>(apiPath(account, 'deliveries'), { per_page: DELIVERIES }),
    ])
    const body = (
      <>
        <p class="lead">
          {account}, {settings.vertical}, {settings.mode}
        </p>
        <Attention items={attentionOf(settings, feeds, held.total)} />
        <h2>Feeds</h2>
        <Feeds feeds={feeds} />
        <h2>Records received</h2>
        {deliveries.length === 0 ? (
          <EmptyState title="Nothing has been delivered in the last 30 days.">
            <p>
              The <a href="/docs/start">guide</a> shows how a first record is sent.
            </p>
          </EmptyState>
        ) : (
          <Chart
            caption={`Records by the day they came, in the latest ${deliveries.length} deliveries`}
            label="Day"
            series={['Accepted', 'Refused']}
            rows={chartRows(deliveries)}
          />
        )}
      </>
    )
    return { title: settings.name, body }
  },
}
