import { listAuditLog } from '../../accounts/audit-log.ts'
import { namesOf } from '../../pages/names.ts'
import { accountPath, type Page, type Visit, VisitContext } from '../../pages/page.ts'
import { EmptyState, Name, Pager, Time } from '../../pages/parts/data.tsx'
import { Filters, type Option } from '../../pages/parts/forms.tsx'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { Actor, AuditWords, actorTitle, subjectTitle } from '../affiliates/audit-words.tsx'

type Entry = AnswerOf<typeof listAuditLog>['data'][number]

/** Returns the values that can be chosen: those of the changes on the page, and the chosen one. */
const choicesOf = (
  found: readonly string[],
  chosen: string | undefined,
  titleOf: (value: string) => string,
): readonly Option[] =>
  [...new Set([...found, ...(chosen ? [chosen] : [])])].sort().map((one) => [one, titleOf(one)])

async function render(visit: Visit) {
  const { api } = visit
  const { from, to, actor, kind, cursor } = visit.query
  const { data, meta } = await api.call(listAuditLog, {
    ...{ account: visit.account, from, to, actor, kind, cursor },
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
          {
            name: 'actor',
            label: 'Who',
            options: [
              ['', 'Everyone'],
              ...choicesOf(
                data.map((one) => one.actor),
                actor,
                actorTitle,
              ),
            ],
          },
          {
            name: 'kind',
            label: 'What',
            options: [
              ['', 'Everything'],
              ...choicesOf(
                data.map(({ action }) => action.replace(/\..*/, '')),
                kind,
                subjectTitle,
              ),
            ],
          },
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
                        <Name text={entry.account} />
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
