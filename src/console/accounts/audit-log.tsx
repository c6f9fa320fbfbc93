import { listAuditLog, PLACES } from '../../accounts/audit-log.ts'
import { accountPath, type Page, type Visit, VisitContext } from '../../pages/base/page.ts'
import { Data, EmptyState, isolated, Pager, Time, titleOf } from '../../pages/parts/data.tsx'
import { Filters, type Option } from '../../pages/parts/forms.tsx'
import { listTeam } from '../../people/operations/members.ts'
import { ROOT_ACTOR } from '../../platform/directory/members.ts'
import { Actor, AuditWords } from '../affiliates/audit-words.tsx'

/** The kinds of actions. */
const KINDS = Object.keys(PLACES)
  .filter((name) => !name.includes('.'))
  .map((name): Option => [name, titleOf(name.replaceAll('-', ' '))])

async function render(visit: Visit) {
  const { api } = visit
  const { from, to, member, affiliate_id, action, cursor } = visit.query
  const filter = { from, to, member, affiliate_id, action }
  const [{ data, meta }, team] = await Promise.all([
    api.call(listAuditLog, { account: visit.account, ...filter, cursor }),
    // Not every member sees the team.
    api.call(listTeam, {}).catch(() => ({ data: [] })),
  ])
  const people = [
    ...team.data.map(({ id, name }): Option => [id, isolated(name)]),
    [ROOT_ACTOR, 'The root key'] as const,
  ]
  const isFiltered = Object.values(filter).some(Boolean)
  const body = (
    <>
      <Filters
        fields={[
          { name: 'from', label: 'From (UTC)', type: 'date' },
          { name: 'to', label: 'To (UTC)', type: 'date' },
          { name: 'member', label: 'Who', options: [['', 'Anybody'], ...people] },
          ...(visit.account ? [{ name: 'affiliate_id', label: 'Affiliate' }] : []),
          { name: 'action', label: 'What', options: [['', 'Anything'], ...KINDS] },
        ]}
      />
      {data.length > 0 ? (
        <ol class="log" aria-label="Changes, the newest first">
          {data.map((entry) => (
            <VisitContext.Provider value={{ ...visit, account: entry.account ?? '' }}>
              <li>
                <Time at={entry.at} />
                <div>
                  <Actor actor={entry.actor} name={entry.name} /> <AuditWords entry={entry} />
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
              ? 'Choose other days, another person, affiliate or kind of change.'
              : 'Every change by a member, a program or the service itself is listed here.'}
          </p>
        </EmptyState>
      )}
      <Pager meta={meta} />
    </>
  )
  return { title: 'Audit log', body }
}

const QUERY = ['from', 'to', 'member', 'affiliate_id', 'action', 'cursor'] as const

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
