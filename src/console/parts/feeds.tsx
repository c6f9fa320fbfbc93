import type { getFeed } from '../../admin/feeds.ts'
import type { AnswerOf } from '../../http/operation.ts'
import { HIGH_REFUSED_SHARE } from '../../ingest/feed.ts'

import { useVisit } from '../page.ts'
import { Badge, count, dayWords, titleOf } from './data.tsx'
import { deliveriesPath, refusedPath } from './deliveries.tsx'

// The part of the overview that shows how fresh and complete the feeds are: one line each.

/** How fresh and complete one resource is. */
export type Feed = AnswerOf<typeof getFeed>['data'][number]

/** The maximum number of missing days that a feed lists; the others are counted. */
const LISTED_DAYS = 3

const YESTERDAY = {
  in_time: ['good', 'In time'],
  late: ['warn', 'Late'],
  missing: ['bad', 'Missing'],
  pending: ['quiet', 'Not due yet'],
} as const

/** Returns how long ago something was: `3 min ago`. */
export function agoOf(seconds: number): string {
  if (seconds < 60) return 'a moment ago'
  if (seconds < 7200) return `${Math.round(seconds / 60)} min ago`
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} hours ago`
  return `${Math.round(seconds / 86_400)} days ago`
}

/** Renders whether the activity of yesterday has arrived. */
export const Yesterday = ({ yesterday }: Pick<Feed, 'yesterday'>) => {
  if (!yesterday) return <>–</>
  const [tone, text] = YESTERDAY[yesterday]
  return <Badge tone={tone}>{text}</Badge>
}

/** Returns days in words, and how many more there are: `12 Nov 2026, 15 Nov 2026 and 2 other days`. */
function daysOf(days: readonly string[]): string {
  const more = days.length - LISTED_DAYS
  const listed = days.slice(-LISTED_DAYS).map(dayWords).join(', ')
  return more > 0 ? `${listed} and ${more} other ${more === 1 ? 'day' : 'days'}` : listed
}

const Refused = ({ feed }: { feed: Feed }, visit = useVisit()) => {
  const { resource, refused_last_day: refused, refused_share_last_day: share } = feed
  if (share === null) return <>nothing in the last 24 hours</>
  if (refused === 0)
    return <>{count(feed.received_last_day)} records in 24 hours, nothing refused</>
  return (
    <>
      {count(feed.received_last_day)} records in 24 hours,{' '}
      <a href={refusedPath(visit, [1, 0], resource)}>{count(refused)} refused</a>{' '}
      {share > HIGH_REFUSED_SHARE && <Badge tone="bad">{`${(share * 100).toFixed(1)} %`}</Badge>}
    </>
  )
}

const FeedLine = ({ feed }: { feed: Feed }, visit = useVisit()) => {
  const { resource, lag_seconds: lag, yesterday, missing_days, low_days } = feed
  const low = low_days.map(({ day }) => day)
  return (
    <li>
      <a href={deliveriesPath(visit.account, { resource })}>
        {titleOf(resource.replaceAll('-', ' '))}
      </a>
      {lag === null ? (
        ': nothing has been delivered yet.'
      ) : (
        <>
          : last delivery {agoOf(lag)}, <Refused feed={feed} />.
        </>
      )}{' '}
      {(yesterday === 'late' || yesterday === 'missing') && (
        <>
          Yesterday: <Yesterday yesterday={yesterday} />{' '}
        </>
      )}
      {lag !== null && missing_days.length > 0 && (
        <small>No records on {daysOf(missing_days)}. </small>
      )}
      {low.length > 0 && <small>Far fewer records than usual on {daysOf(low)}.</small>}
    </li>
  )
}

/** Renders how fresh and complete the feeds of an account are. */
export const Feeds = ({ feeds }: { feeds: readonly Feed[] }) => (
  <ul class="feeds">
    {feeds.map((feed) => (
      <FeedLine feed={feed} />
    ))}
  </ul>
)
