import type { Page } from '../../pages/base/page.ts'
import { Badge, Data, EmptyState, Pager } from '../../pages/parts/data.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { AccountTabs } from '../../pages/parts/tabs.tsx'
import { listNotices } from '../../people/operations/notices.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'

type Notice = AnswerOf<typeof listNotices>['data'][number]

const ROLES: Readonly<Record<string, string>> = {
  viewer: 'The team',
  manager: 'Managers and approvers',
  approver: 'Approvers',
}

/** Says whom a notice is for. */
const To = ({ recipient }: Notice) => {
  const [, to = '', name = ''] = /^(\w+):(.*)$/s.exec(recipient) ?? []
  return <Data text={to === 'role' ? (ROLES[name] ?? name) : to === 'member' ? 'A member' : name} />
}

/** Says what became of a notice. */
const Sent = ({ sent, error, next_attempt_at: next, attempts }: Notice) => {
  if (sent > 0) return <Badge tone="good">{sent === 1 ? 'sent' : `sent to ${sent}`}</Badge>
  if (error === 'no_cause') return <Badge tone="quiet">no longer true</Badge>
  if (next !== null) return <Badge tone="warn">{attempts > 0 ? 'is tried again' : 'waits'}</Badge>
  return error ? <Badge tone="bad">not sent</Badge> : <Badge tone="quiet">not by e-mail</Badge>
}

/** The notices of an account: whom it told what, also without e-mail. */
export const noticesPage: Page = {
  path: '/accounts/:account/notices',
  shows: 'account',
  section: 'Account',
  query: ['cursor'],
  async render({ api, account, query }) {
    const { data, meta } = await api.call(listNotices, { account, ...query })
    const body = (
      <>
        <AccountTabs here="Notices" />
        <Table
          caption="Notices, the latest first"
          rows={data}
          columns={{
            At: 'at',
            To,
            'What it says': { prose: ({ subject }) => subject && <Data text={subject} /> },
            'E-mail': Sent,
          }}
          empty={
            <EmptyState title="Nobody was told anything yet.">
              <p>Affiliates, applicants and your team are told what concerns them.</p>
            </EmptyState>
          }
        />
        <Pager meta={meta} />
      </>
    )
    return { title: 'Notices', body }
  },
}
