import { accountPath, type Page, type Visit } from '../page.ts'
import { EmptyState, type List, Pager, Table } from '../parts/data.tsx'
import { column, fields, Members } from '../parts/fields.tsx'

interface Entry {
  readonly id: string
  readonly at: string
  readonly actor: string
  readonly action: string
  readonly account: string | null
  readonly details: Readonly<Record<string, unknown>>
}

async function render(visit: Visit) {
  const query = { ...visit.query, account: visit.account }
  const { data, meta } = await visit.api.get<List<Entry>>('/audit-log', query)
  const body = (
    <>
      <Table
        caption={
          visit.account
            ? `Changes of ${visit.account}, the newest first`
            : 'Changes, the newest first'
        }
        rows={data}
        columns={[
          ...fields<Entry>(visit, 'at', 'actor', 'action'),
          column(
            'Account',
            ({ account }: Entry) => account && <a href={accountPath(account)}>{account}</a>,
          ),
          column('Details', ({ details }: Entry) => <Members object={details} />),
        ]}
        empty={
          <EmptyState title="Nothing has been changed yet.">
            <p>Every change by the API, the command line or the console is listed here.</p>
          </EmptyState>
        }
      />
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
