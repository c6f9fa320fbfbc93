import { type Feed, HIGH_REFUSED_SHARE, type YesterdayState } from '../../ingest/feed.ts'
import type { Visit } from '../page.ts'
import { Badge, count, Table, Time } from './data.tsx'
import { deliveriesPath, refusedPath } from './deliveries.tsx'

// The part of the overview that shows how fresh and complete the feeds are.

/** The maximum number of missing days that a feed lists; the others are counted. */
const LISTED_DAYS = 3

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

/** Renders whether the activity of yesterday has arrived. */
export const Yesterday = ({ yesterday }: { yesterday?: YesterdayState | undefined }) => {
  if (!yesterday) return <>–</>
  const [tone, text] = YESTERDAY[yesterday]
  return <Badge tone={tone}>{text}</Badge>
}

const Refused = ({ visit, feed }: { visit: Visit; feed: Feed }) => {
  const { resource, refused_last_day: refused, refused_share_last_day: share } = feed
  if (share === null) return <>–</>
  const text = `${count(refused)} (${(share * 100).toFixed(1)} %)`
  if (share === 0) return <>{text}</>
  return (
    <a href={refusedPath(visit, [1, 0], resource)}>
      {share > HIGH_REFUSED_SHARE ? <Badge tone="bad">{text}</Badge> : text}
    </a>
  )
}

const Complete = ({ feed: { missing_days, low_days, last_delivery_at } }: { feed: Feed }) => {
  if (last_delivery_at === null) return <>–</>
  if (missing_days.length + low_days.length === 0) return <Badge tone="good">Complete</Badge>
  const more = missing_days.length - LISTED_DAYS
  return (
    <>
      {missing_days.length > 0 && (
        <span title={missing_days.join(', ')}>
          No records on{' '}
          {missing_days.slice(-LISTED_DAYS).map((day, i) => (
            <>
              {i > 0 && ', '}
              <time>{day}</time>
            </>
          ))}
          {more > 0 && ` and ${more} other days`}
        </span>
      )}{' '}
      {low_days.slice(-LISTED_DAYS).map(({ day, count: records, median }) => (
        <span>
          Only {count(records)} on <time>{day}</time>, usually {count(median)}.{' '}
        </span>
      ))}
    </>
  )
}

/** Renders how fresh and complete the feeds of an account are. */
export const Feeds = ({ visit, feeds }: { visit: Visit; feeds: readonly Feed[] }) => (
  <Table
    caption="Feeds, with the records of the last 24 hours and the gaps of the last 30 days"
    rows={feeds}
    columns={[
      {
        title: 'Feed',
        cell: ({ resource }) => (
          <a href={deliveriesPath(visit.account, { resource })}>{resource}</a>
        ),
      },
      { title: 'Last delivery', cell: ({ last_delivery_at }) => <Time at={last_delivery_at} /> },
      { title: 'Lag', isNumeric: true, cell: ({ lag_seconds }) => lagOf(lag_seconds) },
      {
        title: 'Records',
        isNumeric: true,
        cell: ({ received_last_day }) => count(received_last_day),
      },
      {
        title: 'Refused',
        isNumeric: true,
        cell: (feed) => <Refused visit={visit} feed={feed} />,
      },
      { title: 'Yesterday', cell: Yesterday },
      { title: 'Complete', cell: (feed) => <Complete feed={feed} /> },
    ]}
  />
)
