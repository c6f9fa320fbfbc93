import { counted } from '../../commission/words/english.ts'
import { HIGH_REFUSED_SHARE } from '../../ingest/feed.ts'
import type { getFeed } from '../../ingest/operations/feeds.ts'
import { dayBefore, useVisit } from '../../pages/base/page.ts'
import { Badge, count } from '../../pages/parts/data.tsx'
import { deliveriesPath, resourceTitle } from '../../pages/parts/deliveries.tsx'
import type { AnswerOf } from '../../platform/http/operation.ts'

// The part of the overview that shows how fresh the feeds are: one line each.

/** How fresh one resource is. */
export type Feed = AnswerOf<typeof getFeed>['data'][number]

/** Returns how long ago something was: `3 min ago`. */
export function agoOf(seconds: number): string {
  if (seconds < 60) return 'a moment ago'
  if (seconds < 7200) return `${Math.round(seconds / 60)} min ago`
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} hours ago`
  return `${Math.round(seconds / 86_400)} days ago`
}

/** Renders how fresh the feeds of an account are. */
export const Feeds = ({ feeds }: { feeds: readonly Feed[] }, visit = useVisit()) => (
  <ul class="feeds">
    {feeds.map((feed) => (
      <li>
        <a href={deliveriesPath(visit.account, { resource: feed.resource })}>
          {resourceTitle(feed.resource)}
        </a>
        {feed.lag_seconds === null ? (
          ': nothing has been delivered yet.'
        ) : (
          <>
            : last delivery {agoOf(feed.lag_seconds)},{' '}
            {feed.refused_share_last_day === null ? (
              <>nothing in the last 24 hours</>
            ) : feed.refused_share_last_day === 0 ? (
              <>{counted(feed.received_last_day, 'record')} in 24 hours, nothing refused</>
            ) : (
              <>
                {counted(feed.received_last_day, 'record')} in 24 hours,{' '}
                <a
                  href={deliveriesPath(visit.account, {
                    resource: feed.resource,
                    outcome: 'refused',
                    from: dayBefore(visit.now, 1),
                    to: dayBefore(visit.now, 0),
                  })}
                >
                  {count(feed.rejected_last_day)} refused
                </a>
                {feed.not_stored_last_day > 0 && (
                  <>, {count(feed.not_stored_last_day)} not stored beside them</>
                )}{' '}
                {feed.refused_share_last_day > HIGH_REFUSED_SHARE && (
                  <Badge tone="bad">{`${(feed.refused_share_last_day * 100).toFixed(1)} %`}</Badge>
                )}
              </>
            )}
            .
          </>
        )}{' '}
        {feed.yesterday === 'missing' && (
          <>
            Yesterday: <Badge tone="warn">{feed.yesterday}</Badge>{' '}
          </>
        )}
      </li>
    ))}
  </ul>
)
