import { listAuditLog } from '../../accounts/audit-log.ts'
import { accountPath, type Page, type Visit, VisitContext } from '../../pages/base/page.ts'
import { namesOf } from '../../pages/names.ts'
import { Data, EmptyState, Pager, Time } from '../../pages/parts/data.tsx'
import { Filters } from '../../pages/parts/forms.tsx'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { Actor, AuditWords } from '../affiliates/audit-words.tsx'

type Entry = AnswerOf<typeof listAuditLog>['data'][number]

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
  const visits = new Map([[visit.account, visit]])
  /** Returns a visit of the account of an entry, whose names are read once. */
  const visitFor = ({ account }: Entry): Visit => {
    const id = account ?? ''
    const own = visits.get(id) ?? { ...visit, account: id, names: namesOf(api, id) }
    visits.set(id, own)
    return own
  }
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
            <VisitContext.Provider value={visitFor(entry)}>
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
  section: 'Audit log',
  query: QUERY,
  render,
}

/** Every change of all accounts. */
export const auditLogPage: Page = { path: '/audit-log', query: QUERY, render }
