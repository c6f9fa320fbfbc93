import { changeAccount, getAccount } from '../../src/accounts/accounts.ts'
import { issueClient } from '../../src/accounts/clients.ts'
import { consoleOf } from '../../src/console/app.ts'
import type { Page } from '../../src/pages/base/page.ts'
import { Chart } from '../../src/pages/parts/chart.tsx'
import { Live, Pager } from '../../src/pages/parts/data.tsx'
import { ChangeForm, Field, Filters } from '../../src/pages/parts/forms.tsx'
import { secretOf } from '../../src/pages/parts/rotation.tsx'

/** A page that has every part, and changes of every kind. */
const page: Page = {
  shows: 'public',
  path: '/accounts/:account/probe',
  query: ['status', 'cursor'],
  changes: {
    rename: {
      done: 'The account has its new name: “é”.',
      perform: (values, { api, account }) =>
        api.call(changeAccount, { account, name: values('name') }),
    },
    issue: {
      done: secretOf('The credential is issued.', 'client_secret'),
      perform: (_, { api, account }) => api.call(issueClient, { account }),
    },
  },
  async render(visit) {
    const { name } = await visit.api.call(getAccount, { account: visit.account })
    const meta = { total: 3, page: 1, per_page: 1, next_cursor: 'next' }
    const body = (
      <>
        <Filters
          fields={[
            {
              name: 'status',
              label: 'Status',
              options: [
                ['', 'Any'],
                ['a', 'A'],
              ],
            },
          ]}
        />
        <Pager meta={meta} />
        <Chart
          caption="Chart"
          label="Day"
          series={['One']}
          rows={[
            ['a', 1234.5],
            ['b', null],
          ]}
        />
        <Live id="live" seconds={10}>
          <p>{name}</p>
        </Live>
        <ChangeForm change="rename" submit="Rename">
          <Field change="rename" name="name" label="Name" value={name} />
        </ChangeForm>
        <ChangeForm change="issue" submit="Issue" needs="approver" />
      </>
    )
    return { title: 'Probe', body }
  },
}

/** A console that has only this page. */
export const probe = consoleOf([page])
