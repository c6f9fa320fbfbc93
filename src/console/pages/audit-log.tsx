import { listAuditLog } from '../../admin/audit-log.ts'
import type { AnswerOf } from '../../http/operation.ts'
import { namesOf } from '../names.ts'
import { accountPath, type Page, type Visit, VisitContext } from '../page.ts'
import { AUDIT_KINDS, wordsOfKind } from '../parts/audit-actions.ts'
import { AuditWords, actorTitle, NamedActor } from '../parts/audit-words.tsx'
import { EmptyState, Name, Pager, Time } from '../parts/data.tsx'
import { Filters, type Option } from '../parts/forms.tsx'

type Entry = AnswerOf<typeof listAuditLog>['data'][number]

/** Renders an entry. `named` is its account if the page is of all. */
const EntryItem = (props: { entry: Entry; named: string | null }) => {
  const { entry, named } = props
  const { at, actor, role, action, details } = entry
  return (
    <li>
      <Time at={at} />
      <div>
        <NamedActor actor={actor} role={role} /> <AuditWords action={action} details={details} />
        {named && (
          <p class="note">
            Account{' '}
            <a href={accountPath(named)}>
              <Name text={named} />
            </a>
          </p>
        )}
      </div>
    </li>
  )
}

/** The number of the latest changes whose people can be chosen. */
const SEARCHED_FOR_PEOPLE = 100

const KINDS: readonly Option[] = Object.entries(AUDIT_KINDS).map(([kind, { name }]) => [kind, name])

/** Returns the people who can be chosen: those of the latest changes of the days, and the chosen one. */
function peopleOf(entries: readonly Entry[], chosen: string | undefined): readonly Option[] {
  const actors = new Set([...entries.map(({ actor }) => actor), ...(chosen ? [chosen] : [])])
  return [...actors].sort().map((actor): Option => [actor, actorTitle(actor)])
}

async function render(visit: Visit) {
  const { api } = visit
  const { from, to, actor, kind, cursor } = visit.query
  const days = { account: visit.account, from, to }
  const words = kind && wordsOfKind(kind)
  const [{ data, meta }, latest] = await Promise.all([
    api.call(listAuditLog, { ...days, actor, kind: words, cursor }),
    api.call(listAuditLog, { ...days, per_page: SEARCHED_FOR_PEOPLE }),
  ])
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
            options: [['', 'Everyone'], ...peopleOf(latest.data, actor)],
          },
          { name: 'kind', label: 'What', options: [['', 'Everything'], ...KINDS] },
        ]}
      />
      {data.length > 0 ? (
        <ol class="log" aria-label="Changes, the newest first">
          {data.map((entry) => (
            <VisitContext.Provider value={visitFor(entry)}>
              <EntryItem entry={entry} named={visit.account === '' ? entry.account : null} />
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
  hasNames: true,
  query: QUERY,
  render,
}

/** Every change of all accounts. */
export const auditLogPage: Page = { path: '/audit-log', query: QUERY, render }
