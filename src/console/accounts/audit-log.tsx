import { listAuditLog } from '../../accounts/audit-log.ts'
import { accountPath, type Page, type Visit, VisitContext } from '../../pages/base/page.ts'
import { Data, EmptyState, Pager, Time } from '../../pages/parts/data.tsx'
import { Filters } from '../../pages/parts/forms.tsx'
import { Actor, AuditWords } from '../affiliates/audit-words.tsx'

async function render(visit: Visit) {
  const { api } = visit
  const { from, to, actor, kind, cursor } = visit.query
  const { data, meta } = await api.call(listAuditLog, {
    account: visit.account,
    from,
    to,
    actor,
    kind,
    cursor,
  })
  const isFiltered = Boolean(from || to || actor || kind)
  const body = (
    <>
      <Filters
        fields={[
          { name: 'from', label: 'From (UTC)', type: 'date' },
          { name: 'to', label: 'To (UTC)', type: 'date' },
          { name: 'actor', label: 'Who' },
          { name: 'kind', label: 'What', placeholder: 'such as plan' },
        ]}
      />
      {data.length > 0 ? (
        <ol class="log" aria-label="Changes, the newest first">
          {data.map((entry) => (
            <VisitContext.Provider value={{ ...visit, account: entry.account ?? '' }}>
              <li>
                <Time at={entry.at} />
                <div>
                  <Actor actor={entry.actor} />{' '}
                  <AuditWords action={entry.action} details={entry.details} />
                  {visit.account === '' && entry.account && (
                    <p class="note">
                      Account{' '}
                      <a href={accountPath(entry.account)}>
                        <Data text={entry.account} />
                      </a>
                    </p>
                  )}
                </div>
              </li>
            </VisitContext.Provider>
          ))}
        </ol>
      ) : (
        <EmptyState title={isFiltered ? 'No change matches.' : 'Nothing has been changed yet.'}>
          <p>
            {isFiltered
              ? 'Choose other days, another person or another kind of change.'
              : 'Every change by a member, a program or the service itself is listed here.'}
          </p>
        </EmptyState>
      )}
      <Pager meta={meta} />
    </>
  )
  return { title: 'Audit log', body }
}

const QUERY = ['from', 'to', 'actor', 'kind', 'cursor'] as const

/** Every change of an account. */
export const accountAuditLogPage: Page = {
  path: '/accounts/:account/audit-log',
  shows: 'affiliate',
  section: 'Audit log',
  query: QUERY,
  render,
}

/** Every change of all accounts. */
export const auditLogPage: Page = { path: '/audit-log', shows: 'account', query: QUERY, render }
