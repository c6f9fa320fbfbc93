import { counted } from '../../commission/engine/reasons.ts'
import { HIGH_REFUSED_SHARE } from '../../ingest/feed.ts'
import type { getFeed } from '../../ingest/operations/feeds.ts'
import { useVisit } from '../../pages/page.ts'
import { Badge, count, dayWords, titleOf } from '../../pages/parts/data.tsx'
import { deliveriesPath, refusedPath } from '../../pages/parts/deliveries.tsx'
import type { AnswerOf } from '../../platform/http/operation.ts'

// The part of the overview that shows how fresh and complete the feeds are: one line each.

/** How fresh and complete one resource is. */
export type Feed = AnswerOf<typeof getFeed>['data'][number]

/** The maximum number of missing days that a feed lists; the others are counted. */
const LISTED_DAYS = 3

/** Returns how long ago something was: `3 min ago`. */
export function agoOf(seconds: number): string {
  if (seconds < 60) return 'a moment ago'
  if (seconds < 7200) return `${Math.round(seconds / 60)} min ago`
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} hours ago`
  return `${Math.round(seconds / 86_400)} days ago`
}

/** Returns days in words, and how many more there are: `12 Nov 2026, 15 Nov 2026 and 2 other days`. */
function daysOf(days: readonly string[]): string {
  const more = days.length - LISTED_DAYS
  const last = days.slice(-LISTED_DAYS).map(dayWords).join(', ')
  return more > 0 ? `${last} and ${counted(more, 'other day')}` : last
}

/** Renders how fresh and complete the feeds of an account are. */
export const Feeds = ({ feeds }: { feeds: readonly Feed[] }, visit = useVisit()) => (
  <ul class="feeds">
    {feeds.map((feed) => (
      <li>
        <a href={deliveriesPath(visit.account, { resource: feed.resource })}>
          {titleOf(feed.resource.replaceAll('-', ' '))}
        </a>
        {feed.lag_seconds === null ? (
          ': nothing has been delivered yet.'
        ) : (
          <>
            : last delivery {agoOf(feed.lag_seconds)},{' '}
            {feed.refused_share_last_day === null ? (
              <>nothing in the last 24 hours</>
            ) : feed.refused_last_day === 0 ? (
              <>{count(feed.received_last_day)} records in 24 hours, nothing refused</>
            ) : (
              <>
                {count(feed.received_last_day)} records in 24 hours,{' '}
                <a href={refusedPath(visit, [1, 0], feed.resource)}>
                  {count(feed.refused_last_day)} refused
                </a>{' '}
                {feed.refused_share_last_day > HIGH_REFUSED_SHARE && (
                  <Badge tone="bad">{`${(feed.refused_share_last_day * 100).toFixed(1)} %`}</Badge>
                )}
              </>
            )}
            .
          </>
        )}{' '}
        {(feed.yesterday === 'late' || feed.yesterday === 'missing') && (
          <>
            Yesterday: <Badge tone="warn">{feed.yesterday}</Badge>{' '}
          </>
        )}
        {feed.lag_seconds !== null && feed.missing_days.length > 0 && (
          <small>No records on {daysOf(feed.missing_days)}. </small>
        )}
      </li>
    ))}
  </ul>
)
