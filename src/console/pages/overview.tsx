import { DAY_MS } from '../../durations.ts'
import { apiPath, type Page } from '../page.ts'
import { Badge, Chart, type ChartRow, EmptyState, Table, Time } from '../parts/data.tsx'
import type { Feed } from './accounts.tsx'

/** The days of the chart. */
const DAYS = 30

/** Above this share of refused records a feed needs attention. */
const MANY_REFUSED = 0.05

interface Account {
  readonly name: string
  readonly vertical: string
  readonly mode: string
  readonly disabled: boolean
}

interface Total {
  readonly day: string
  readonly resource: string
  readonly count: number
}

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)

/** Returns how many records each day has, by resource. */
function chartRows(
  totals: readonly Total[],
  resources: readonly string[],
  days: readonly string[],
) {
  const counts = new Map<string, number>()
  for (const { day, resource, count } of totals) {
    const key = `${day} ${resource}`
    counts.set(key, (counts.get(key) ?? 0) + count)
  }
  return days.map(
    (day): ChartRow => [day, ...resources.map((name) => counts.get(`${day} ${name}`) ?? 0)],
  )
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
  async render({ api, account, now }) {
    const days = Array.from({ length: DAYS }, (_, i) => dayOf(now - (DAYS - 1 - i) * DAY_MS))
    const [settings, { data: feeds }, { meta: held }, { data: totals }] = await Promise.all([
      api.get<Account>(apiPath(account)),
      api.get<{ data: Feed[] }>(apiPath(account, 'feed')),
      api.get<{ meta: { total: number } }>(apiPath(account, 'held'), { per_page: 1 }),
      api.get<{ data: Total[] }>(apiPath(account, 'totals'), { from: days[0], to: days.at(-1) }),
    ])
    const resources = feeds.map(({ resource }) => resource)
    const body = (
      <>
        <p class="lead">
          {account}, {settings.vertical}, {settings.mode}
        </p>
        <Attention items={attentionOf(settings, feeds, held.total)} />
        <h2>Feeds</h2>
        <Feeds feeds={feeds} />
        <h2>Records by day</h2>
        <Chart
          caption={`Records by day, the last ${DAYS} days`}
          label="Day"
          series={resources}
          rows={chartRows(totals, resources, days)}
        />
      </>
    )
    return { title: settings.name, body }
  },
}
