import { getAccount } from '../../accounts/accounts.ts'
import { startExport } from '../../exports/admin-operations.ts'
import { getExport, listExports } from '../../exports/operations.ts'
import { calling } from '../../pages/calling.ts'
import { type Page, withQuery } from '../../pages/page.ts'
import { count, EmptyState, NOTHING, Pager, periodWords, Time } from '../../pages/parts/data.tsx'
import { resourceTitle } from '../../pages/parts/deliveries.tsx'
import { storageWords } from '../../pages/parts/field-words.ts'
import { AccountLink, Facts } from '../../pages/parts/fields.tsx'
import { ChangeForm } from '../../pages/parts/forms.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { AccountTabs } from '../../pages/parts/tabs.tsx'

/** The files that a page lists. */
const PAGE_SIZE = 100

/** The Parquet files of an account. */
export const filesPage: Page = {
  path: '/accounts/:account/files',
  section: 'Account',
  query: ['cursor', 'file'],
  changes: {
    start: calling(
      startExport,
      'The files are being written. Load this page again in a few minutes.',
    ),
  },
  file: ({ api, account, query: { file: export_id } }) =>
    export_id === undefined
      ? null
      : api.file(getExport, { account, export_id }, 'application/vnd.apache.parquet'),
  async render(visit) {
    const { api, account, query } = visit
    const [{ exports = 'off' }, files] = await Promise.all([
      api.call(getAccount, { account }),
      api.call(listExports, { account, cursor: query.cursor, per_page: PAGE_SIZE }),
    ])
    const body = (
      <>
        <AccountTabs here="Files" />
        {exports === 'off' ? (
          <EmptyState title="The account writes no files.">
            <p>
              It can write its records, statements and bookings as Parquet files each morning, for a
              warehouse. Choose that in the <AccountLink at={['account']} children="settings" />,
              under “Exports”.
            </p>
          </EmptyState>
        ) : (
          <>
            <p class="lead">
              Parquet files of records, statements and bookings, for tools such as DuckDB, BigQuery
              and Snowflake. They are written each morning, after the statements are computed.
            </p>
            <Facts
              row={{}}
              names={[]}
              more={[
                ['Personal data', exports === 'with_personal_data' ? 'included' : 'left out'],
                [
                  'Complete up to',
                  files.exported_at === null ? 'not written yet' : <Time at={files.exported_at} />,
                ],
              ]}
            />
            <Table
              caption="Files for a warehouse"
              rows={files.data}
              columns={{
                'What it has': ({ resource, part }) =>
                  `${resourceTitle(resource)}${part > 1 ? `, part ${part}` : ''}`,
                Month: ({ month }) => (month === null ? NOTHING : periodWords(month)),
                Rows: { number: ({ records }) => count(records) },
                Size: { number: ({ bytes }) => storageWords(bytes) },
                Written: 'written_at',
                File: ({ id }) => (
                  <a href={withQuery(visit.path, { file: id })} download>
                    Download
                  </a>
                ),
              }}
              empty={
                <EmptyState title="There are no files yet.">
                  <p>They are written each morning. A month without rows has none.</p>
                </EmptyState>
              }
            />
            <Pager meta={files.meta} />
            <h2>Write the files now</h2>
            <ChangeForm change="start" submit="Write the files now">
              <p>
                Every month is read again, and lost files are written anew. Large accounts take some
                minutes.
              </p>
            </ChangeForm>
          </>
        )}
      </>
    )
    return { title: 'Files', body }
  },
}
