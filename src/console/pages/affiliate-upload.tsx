import { counted } from '../../commission/engine/reasons.ts'
import {
  type ImportPreview,
  previewImport,
  readAffiliateFile,
  seenText,
  storeImport,
} from '../affiliate-import.ts'
import { cellOf } from '../csv-columns.ts'
import { accountPath, type Page } from '../page.ts'
import { Data } from '../parts/data.tsx'
import { AccountLink } from '../parts/fields.tsx'
import { CSV_FILE, Field } from '../parts/forms.tsx'
import { canManage, PostForm, RowRefusal } from '../parts/payout-forms.tsx'

/** A file of affiliates: what it would change, before it is stored. */
export const affiliateUploadPage: Page = {
  path: '/accounts/:account/affiliate-upload',
  section: 'Affiliates',
  changes: {
    preview: {
      perform: previewImport,
      done: '',
      show: (answer) => {
        const { changes, unchanged, customers, file } = answer as ImportPreview
        return (
          <>
            <p>
              <strong>
                {changes.length === 0
                  ? 'The file changes nothing.'
                  : `Nothing is stored yet. ${counted(changes.length, 'row')} would change something:`}
              </strong>
            </p>
            {changes.length > 0 && (
              <ul class="import-changes">
                {changes.map(({ row, sentence }) => (
                  <li>
                    <small>Row {row}</small> <bdi>{sentence}</bdi>
                  </li>
                ))}
              </ul>
            )}
            {unchanged > 0 && <p>{counted(unchanged, 'row')} would change nothing.</p>}
            {file.others.length > 0 && (
              <p class="note">
                Left out are the columns <Data text={file.others.join(', ')} />.
              </p>
            )}
            {changes.length > 0 && (
              <PostForm id="change-store" hasFile>
                <input type="hidden" name="customers" value={customers} />
                <input type="hidden" name="seen" value={seenText(answer as ImportPreview)} />
                <input type="hidden" name="csv" value={file.text} />
                <button type="submit" name="change" value="store">
                  Store {counted(changes.length, 'row')}
                </button>
              </PostForm>
            )}
          </>
        )
      },
    },
    store: {
      perform: storeImport,
      done: (answer) => `${counted(answer as number, 'affiliate')} stored.`,
      next: (_, { account }) => accountPath(account, 'affiliates'),
    },
  },
  async render(visit) {
    const { refused } = visit
    if (!canManage(visit)) {
      const note = <p class="note">Only the role manager can upload affiliates.</p>
      return { title: 'Upload affiliates', body: note }
    }
    const file = refused && readAffiliateFile(refused.values)
    const body = (
      <>
        <p class="lead">
          A file with one affiliate in a row. The columns <strong>Affiliate</strong>,{' '}
          <strong>Name</strong>, <strong>E-mail</strong>, <strong>Status</strong>,{' '}
          <strong>Parent</strong>, <strong>Plan</strong> and <strong>From</strong> may stand in any
          order; only the first is needed. You see what would change before anything is stored.
        </p>
        <PostForm id="change-preview" hasFile>
          <input type="hidden" name="change" value="preview" />
          {refused && file && (
            <>
              <RowRefusal
                refused={refused}
                rows={file.rows.map((cells) => ({
                  affiliate_id: cellOf(file, cells, 'affiliate_id'),
                }))}
              />
              <input type="hidden" name="csv" value={file.text} />
            </>
          )}
          <Field
            change="preview"
            {...CSV_FILE}
            hint="CSV with commas, semicolons or tabs. If the file has the column Parent, an empty cell removes the parent. An empty name, e-mail or status keeps what is stored. Without a day, parents and plans count from today on, and a plan that begins later from its first day on."
          />
          <Field
            change={refused?.change ?? 'preview'}
            name="customers"
            label="New plans apply to"
            options={[
              ['all', 'All customers'],
              ['new', 'Customers who sign up from then on'],
            ]}
          />
          <button type="submit">Show what would change</button>
        </PostForm>
        <p>
          <AccountLink at={['affiliates']} children="All affiliates" />
        </p>
      </>
    )
    return { title: 'Upload affiliates', body }
  },
}
