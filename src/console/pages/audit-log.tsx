import { accountPath, type Page, type Visit } from '../page.ts'
import { Actor, AuditWords } from '../parts/audit-words.tsx'
import { Data, EmptyState, type List, Pager, Time } from '../parts/data.tsx'

interface Entry {
  readonly id: string
  readonly at: string
  readonly actor: string
  readonly role: string | null
  readonly action: string
  readonly account: string | null
  readonly details: Readonly<Record<string, unknown>>
}

const EntryItem = ({ visit, entry }: { visit: Visit; entry: Entry }) => {
  const { at, actor, role, action, account, details } = entry
  const named = visit.account === '' ? account : null
  return (
    <li>
      <Time at={at} />
      <div>
        <Actor actor={actor} role={role} />{' '}
        <AuditWords
          visit={{ ...visit, account: account ?? '' }}
          action={action}
          details={details}
        />
        {named && (
          <p class="note">
            Account{' '}
            <a href={accountPath(named)}>
              <Data text={named} />
            </a>
          </p>
        )}
      </div>
    </li>
  )
}

async function render(visit: Visit) {
  const query = { ...visit.query, account: visit.account }
  const { data, meta } = await visit.api.get<List<Entry>>('/audit-log', query)
  const body = (
    <>
      {data.length > 0 ? (
        <ol class="log" aria-label="Changes, the newest first">
          {data.map((entry) => (
            <EntryItem visit={visit} entry={entry} />
          ))}
        </ol>
      ) : (
        <EmptyState title="Nothing has been changed yet.">
          <p>Every change by a member, a program or the service itself is listed here.</p>
        </EmptyState>
      )}
      <Pager visit={visit} meta={meta} />
    </>
  )
  return { title: 'Audit log', body }
}

/** Every change of an account. */
export const accountAuditLogPage: Page = {
  path: '/accounts/:account/audit-log',
  section: 'Audit log',
  query: ['cursor'],
  render,
}

/** Every change of all accounts. */
export const auditLogPage: Page = { path: '/audit-log', query: ['cursor'], render }
