import type { getChanges } from '../../accounts/changes.ts'
import { counted } from '../../commission/engine/reasons.ts'
import { dayBefore, useVisit } from '../../pages/page.ts'
import { dayWords } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import type { AnswerOf } from '../../platform/http/operation.ts'

/** Renders what has changed since the start of yesterday; nothing if nothing has. No list but that of customers has just these. */
export function SinceYesterday(
  { changes }: { changes: AnswerOf<typeof getChanges> },
  { today } = useVisit(),
) {
  const { since, yesterday, signups, records, approved_statements, cases_opened } = changes
  const shown = [
    signups > 0 && (
      <>
        <AccountLink at={['customers']} query={{ from: yesterday, to: dayBefore(today, 0) }}>
          {counted(signups, 'customer')}
        </AccountLink>{' '}
        signed up
      </>
    ),
    records > 0 && `${counted(records, 'record')} arrived`,
    approved_statements > 0 && `${counted(approved_statements, 'statement')} approved`,
    cases_opened > 0 && `${counted(cases_opened, 'case')} opened`,
  ].filter(Boolean)
  if (shown.length === 0) return null
  return (
    <section id="since-yesterday">
      <h2>Since yesterday</h2>
      <ul class="since">
        {shown.map((line) => (
          <li>{line}</li>
        ))}
      </ul>
      <p class="note">
        Since the start of {dayWords(yesterday)} in the time zone of the records.{' '}
        {/* The audit log has days in UTC. */}
        <AccountLink at={['audit-log']} query={{ from: since.slice(0, 'YYYY-MM-DD'.length) }}>
          All changes
        </AccountLink>
      </p>
    </section>
  )
}
