import type { getChanges } from '../../accounts/changes.ts'
import { counted } from '../../commission/engine/reasons.ts'
import { dayBefore, useVisit, type Visit } from '../../pages/page.ts'
import { dayWords } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import type { AnswerOf } from '../../platform/http/operation.ts'

/** Renders what has changed since the start of yesterday, each with a link to such; nothing if nothing has. */
export function SinceYesterday(
  { changes }: { changes: AnswerOf<typeof getChanges> },
  visit = useVisit(),
) {
  const { since, yesterday, signups, records, approved_statements, cases_opened } = changes
  // Deliveries and the audit log have days in UTC.
  const days = { from: since.slice(0, 'YYYY-MM-DD'.length), to: dayBefore(visit.today, 0) }
  const lines: readonly (readonly [number, string, string, string, Visit['query']])[] = [
    [signups, 'customer', 'signed up', 'customers', { from: yesterday, to: days.to }],
    [records, 'record', 'arrived', 'deliveries', days],
    [approved_statements, 'statement', 'approved', 'statements', { status: 'approved' }],
    [cases_opened, 'case', 'opened', 'cases', {}],
  ]
  const shown = lines.filter(([number]) => number > 0)
  if (shown.length === 0) return null
  return (
    <section id="since-yesterday">
      <h2>Since yesterday</h2>
      <ul class="since">
        {shown.map(([number, noun, what, page, query]) => (
          <li>
            <AccountLink at={[page]} query={query}>
              {counted(number, noun)}
            </AccountLink>{' '}
            {what}
          </li>
        ))}
      </ul>
      <p class="note">
        Since the start of {dayWords(yesterday)} in the time zone of the records.{' '}
        <AccountLink at={['audit-log']} query={{ from: days.from }}>
          All changes
        </AccountLink>
      </p>
    </section>
  )
}
