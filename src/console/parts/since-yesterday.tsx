import { getChanges } from '../../admin/changes.ts'
import { counted } from '../../commission/engine/reasons.ts'
import type { AnswerOf } from '../../http/operation.ts'
import { accountPath, dayBefore, useVisit, type Visit, withQuery } from '../page.ts'
import { dayWords } from './data.tsx'
import { deliveriesPath } from './deliveries.tsx'
import { AccountLink } from './fields.tsx'

type Changes = AnswerOf<typeof getChanges>

/** Reads what has changed since yesterday. */
export const readSinceYesterday = ({ api, account }: Visit): Promise<Changes> =>
  api.call(getChanges, { account })

/** Returns the day (UTC) on which an instant lies, by which deliveries and the audit log are filtered. */
const utcDay = (at: string): string => at.slice(0, 'YYYY-MM-DD'.length)

/** Renders what has changed since the start of yesterday, each with a link to it; nothing if nothing has. */
export function SinceYesterdayList({ changes }: { changes: Changes }, visit = useVisit()) {
  const { since, yesterday, signups, records, refused_records: refused } = changes
  const { approved_statements: approved, cases_opened: cases } = changes
  if (signups + records + approved + cases === 0) return null
  const days = { from: utcDay(since), to: dayBefore(visit.today, 0) }
  const lines = [
    [
      signups,
      'customer',
      'signed up',
      withQuery(accountPath(visit.account, 'customers'), { from: yesterday, to: days.to }),
    ],
    [records, 'record', 'arrived', deliveriesPath(visit.account, days)],
    [refused, 'record', 'refused', deliveriesPath(visit.account, { ...days, status: 'refused' })],
    [
      approved,
      'statement',
      'approved',
      withQuery(accountPath(visit.account, 'statements'), { approved_since: since }),
    ],
    [
      cases,
      'case',
      'opened',
      withQuery(accountPath(visit.account, 'cases'), { opened_since: since }),
    ],
  ] as const
  return (
    <section id="since-yesterday">
      <h2>Since yesterday</h2>
      <ul class="since">
        {lines.map(
          ([number, noun, what, path]) =>
            number > 0 && (
              <li>
                <a href={path}>{counted(number, noun)}</a> {what}
              </li>
            ),
        )}
      </ul>
      <p class="note">
        Since the start of {dayWords(yesterday)} in the time zone of the records.{' '}
        <AccountLink at={['audit-log']} query={{ from: utcDay(since) }}>
          All changes
        </AccountLink>
      </p>
    </section>
  )
}
