import { counted } from '../../commission/engine/reasons.ts'
import {
  AFFILIATE_COLUMNS,
  type ImportPreview,
  previewImport,
  readAffiliateFile,
  seenText,
  storeImport,
} from '../affiliate-import.ts'
import { fileText } from '../csv-columns.ts'
import { accountPath, type Page, type Visit } from '../page.ts'
import { ColumnChoices } from '../parts/column-choices.tsx'
import { Data } from '../parts/data.tsx'
import { AccountLink } from '../parts/fields.tsx'
import { Field, Refusal } from '../parts/forms.tsx'
import { canManage, FileField, PostForm } from '../parts/payout-forms.tsx'

/** Renders the rows that are left out, with the reason of each. */
const LeftOut = ({ refusals }: Pick<ImportPreview, 'refusals'>) => (
  <>
    <p>
      <strong>{counted(refusals.length, 'reason')} why rows are left out:</strong>
    </p>
    <ul class="refused-rows">
      {refusals.map(({ row, affiliate_id, message }) => (
        <li>
          <strong>
            Row {row}
            {affiliate_id && (
              <>
                , <Data text={affiliate_id} />
              </>
            )}
            :
          </strong>{' '}
          <Data text={message.replaceAll('`', '')} />
        </li>
      ))}
    </ul>
  </>
)

/** What the choices of columns call them. */
const CHOSEN = { ...AFFILIATE_COLUMNS, from: 'First day' } as const

/** Renders which columns of a file are not used, and the form that says what its columns are. */
const Columns = ({ preview, visit }: { preview: ImportPreview; visit: Visit }) => {
  const { file, text, customers } = preview
  const { ignored } = file
  return (
    <>
      {ignored.length > 0 && (
        <p>
          {ignored.length === 1 ? 'This column is not used: ' : 'These columns are not used: '}
          {ignored.map((title, i) => (
            <>
              {i > 0 && ', '}
              <Data text={title} />
            </>
          ))}
          .
        </p>
      )}
      <details>
        <summary>Use other columns</summary>
        <PostForm visit={visit} id="change-columns" hasFile>
          <input type="hidden" name="change" value="preview" />
          <input type="hidden" name="csv" value={text} />
          <input type="hidden" name="customers" value={customers} />
          <ColumnChoices visit={visit} change="columns" file={file} titles={CHOSEN} hasAll />
          <button type="submit" class="plain">
            Show what would change
          </button>
        </PostForm>
      </details>
    </>
  )
}

/** Renders that the encoding of a file was assumed. */
const Assumed = () => (
  <p>
    The file does not say how its letters are encoded, and it is not UTF-8. It was read as
    Windows-1252. If letters such as ä or é look wrong below, save the file as “CSV UTF-8” and
    choose it again.
  </p>
)

/** Renders what a file would change, and the form that stores it. */
const Preview = ({ preview, visit }: { preview: ImportPreview; visit: Visit }) => {
  const { changes, refusals, unchanged, csv, customers, isAssumed } = preview
  return (
    <>
      {isAssumed && <Assumed />}
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
      {refusals.length > 0 && <LeftOut refusals={refusals} />}
      <Columns preview={preview} visit={visit} />
      {changes.length > 0 && (
        <PostForm visit={visit} id="change-store">
          <input type="hidden" name="change" value="store" />
          <input type="hidden" name="csv" value={csv} />
          <input type="hidden" name="customers" value={customers} />
          <input type="hidden" name="seen" value={seenText(preview)} />
          <button type="submit">Store {counted(changes.length, 'row')}</button>
        </PostForm>
      )}
    </>
  )
}

/** A file of affiliates: what it would change, before it is stored. */
export const affiliateUploadPage: Page = {
  path: '/accounts/:account/affiliate-upload',
  section: 'Affiliates',
  changes: {
    preview: {
      perform: previewImport,
      done: '',
      toneOf: (answer) => ((answer as ImportPreview).refusals.length > 0 ? 'warn' : 'good'),
      show: (answer, visit) => <Preview preview={answer as ImportPreview} visit={visit} />,
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
    const body = (
      <>
        <p class="lead">
          A file with one affiliate in a row. The columns <strong>Affiliate</strong>,{' '}
          <strong>Name</strong> (or <strong>First name</strong> and <strong>Last name</strong>),{' '}
          <strong>E-mail</strong>, <strong>Status</strong>, <strong>Parent</strong>,{' '}
          <strong>Plan</strong> and <strong>From</strong> may stand in any order; only the first is
          needed. You see what would change before anything is stored.
        </p>
        <PostForm visit={visit} id="change-preview" hasFile>
          <input type="hidden" name="change" value="preview" />
          {refused && <Refusal {...refused} />}
          {refused && (
            <ColumnChoices
              visit={visit}
              change={refused.change}
              file={readAffiliateFile(refused.values)}
              titles={CHOSEN}
            />
          )}
          <FileField id="preview-file">
            CSV with commas, semicolons or tabs. If the file has the column Parent, an empty cell
            removes the parent. A parent is an id or an e-mail address. An empty name, e-mail or
            status keeps what is stored. Without a day, parents and plans count from today on, and a
            plan that begins later from its first day on.
          </FileField>
          <Field
            visit={visit}
            change={refused?.change ?? 'preview'}
            name="customers"
            label="New plans apply to"
            options={[
              ['all', 'All customers'],
              ['new', 'Customers who sign up from then on'],
            ]}
          />
          <details open={refused !== null}>
            <summary>Paste the rows instead</summary>
            <div class="field">
              <label for="preview-csv">Rows, the first with the names of the columns</label>
              <textarea id="preview-csv" name="csv" rows={8} spellcheck={false}>
                {refused ? fileText(refused.values) : ''}
              </textarea>
            </div>
          </details>
          <button type="submit">Show what would change</button>
        </PostForm>
        <p>
          <AccountLink visit={visit} at={['affiliates']} children="All affiliates" />
        </p>
      </>
    )
    return { title: 'Upload affiliates', body }
  },
}
