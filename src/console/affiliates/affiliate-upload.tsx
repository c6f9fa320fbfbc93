import { putAffiliates } from '../../affiliates/operations/affiliates.ts'
import { counted } from '../../commission/engine/reasons.ts'
import { listPlans } from '../../commission/operations/plans.ts'
import { cellOf, readColumnFile, refused } from '../../pages/csv-columns.ts'
import { accountPath, type Page, type Values, type Visit } from '../../pages/page.ts'
import { count, Data } from '../../pages/parts/data.tsx'
import { CSV_FILE, Field } from '../../pages/parts/forms.tsx'
import { Table } from '../../pages/parts/table.tsx'
import type { InputOf } from '../../platform/http/operation.ts'
import { canManage, PostForm } from '../books/payout-forms.tsx'
import { startOf } from './affiliate-forms.tsx'

/** The columns of a file of affiliates, with what members call them. */
const COLUMNS = {
  affiliate_id: 'Affiliate',
  display_name: 'Name',
  contact_email: 'E-mail',
  status: 'Status',
  parent: 'Parent',
  plan: 'Plan',
  from: 'Plan from',
} as const

const readFile = (values: Values) =>
  readColumnFile(values, {
    titles: COLUMNS,
    synonyms: {
      affiliate_id: ['affiliate code', 'ib', 'partner id', 'user id', 'id'],
      display_name: ['affiliate name'],
      contact_email: ['email', 'email address'],
      from: ['from'],
    },
    required: ['affiliate_id'],
  })

/**
 * Sends the affiliates of the file of a form. An empty cell keeps what is stored; an empty parent removes it.
 *
 * @throws ApiError `validation_failed` for a file that cannot be read, or rows that the API refuses.
 */
async function send(values: Values, { api, account, today }: Visit, dry_run: boolean) {
  const file = readFile(values)
  if (file.fault) throw refused(file.fault)
  const { data: plans } = await api.call(listPlans, { account })
  const affiliates = file.rows.map((cells) => {
    const cell = (name: keyof typeof COLUMNS) => cellOf(file, cells, name) || undefined
    const named = cell('plan')
    const plan = plans.find((one) => one.plan === named || one.name === named)
    return {
      affiliate_id: cell('affiliate_id') ?? '',
      display_name: cell('display_name'),
      contact_email: cell('contact_email'),
      status: cell('status')?.toLowerCase(),
      parent: file.positions.has('parent') ? (cell('parent') ?? null) : undefined,
      assignment: named && {
        plan: plan?.plan ?? named,
        from: cell('from') ?? startOf(plan, today),
        customers: 'all',
      },
    }
  })
  // The operation checks each member.
  const sent = { account, dry_run, affiliates } as unknown as InputOf<typeof putAffiliates>
  return { affiliates, file, ...(await api.call(putAffiliates, sent)) }
}

type Sent = Awaited<ReturnType<typeof send>>

/** Renders what a file would store. */
const Preview = ({ affiliates, file, received, changed }: Sent) => (
  <>
    <p>
      <strong>
        {changed === 0
          ? 'The file changes nothing.'
          : `Nothing is stored yet. The file would change ${count(changed)} of ${counted(received, 'affiliate')}.`}
      </strong>
    </p>
    <Table
      caption="What the file has"
      rows={affiliates.map((one) => ({ ...one, ...(one.assignment || {}) }))}
      columns={{
        Affiliate: ({ affiliate_id }) => <Data text={affiliate_id} />,
        Name: 'display_name',
        'E-mail': 'contact_email',
        Status: 'status',
        Parent: 'parent',
        Plan: 'plan',
        'Plan from': 'from',
      }}
    />
    {file.others.length > 0 && (
      <p class="note">
        Left out are the columns <Data text={file.others.join(', ')} />.
      </p>
    )}
    {changed > 0 && (
      <PostForm id="change-store" hasFile>
        <input type="hidden" name="csv" value={file.text} />
        <button type="submit" name="change" value="store">
          Store {counted(received, 'affiliate')}
        </button>
      </PostForm>
    )}
  </>
)

/** A file of affiliates: what it has, before it is stored. */
export const affiliateUploadPage: Page = {
  path: '/accounts/:account/affiliate-upload',
  section: 'Affiliates',
  changes: {
    preview: {
      perform: (values, visit) => send(values, visit, true),
      done: '',
      show: (answer) => <Preview {...(answer as Sent)} />,
    },
    store: {
      perform: (values, visit) => send(values, visit, false),
      done: (answer) => `${counted((answer as Sent).changed, 'affiliate')} stored.`,
      next: (_, { account }) => accountPath(account, 'affiliates'),
    },
  },
  async render(visit) {
    const { refused } = visit
    const title = 'Upload affiliates'
    if (!canManage(visit)) {
      return { title, body: <p class="note">Only the role manager can upload affiliates.</p> }
    }
    const file = refused && readFile(refused.values)
    const body = (
      <>
        <p class="lead">
          A file with one affiliate in a row. Its columns may stand in any order:{' '}
          <strong>{Object.values(COLUMNS).join(', ')}</strong>. Only the first is needed. You see
          what would be stored before it is.
        </p>
        <PostForm id="change-preview" hasFile>
          <input type="hidden" name="change" value="preview" />
          {file && <input type="hidden" name="csv" value={file.text} />}
          <Field
            change="preview"
            {...CSV_FILE}
            hint="CSV with commas, semicolons or tabs; days as 2026-12-31. If the file has the column Parent, an empty cell removes the parent. Any other empty cell keeps what is stored. Parents and plans count from today on; a plan that begins later from its first day."
          />
          <button type="submit">Show what would be stored</button>
        </PostForm>
      </>
    )
    return { title, body }
  },
}
