import { putAffiliates } from '../../affiliates/operations/affiliates.ts'
import { listPlans } from '../../commission/operations/plans.ts'
import { counted } from '../../commission/words/english.ts'
import type { Change } from '../../pages/base/page.ts'
import { cellOf, readColumnFile, refused } from '../../pages/csv-columns.ts'
import { isolated } from '../../pages/parts/data.tsx'
import { CSV_FILE, FoldedForm } from '../../pages/parts/forms.tsx'
import type { InputOf } from '../../platform/http/operation.ts'
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

/** Stores the affiliates of a file, all or none. An empty cell keeps what is stored; an empty parent removes it. */
export const uploadAffiliates: Change = {
  done: (answer) => answer as string,
  async perform(values, { api, account, today }) {
    const file = readColumnFile(values, {
      titles: COLUMNS,
      synonyms: {
        affiliate_id: ['affiliate code', 'ib', 'partner id', 'user id', 'id'],
        display_name: ['affiliate name'],
        contact_email: ['email', 'email address'],
        from: ['from'],
      },
      required: ['affiliate_id'],
    })
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
    const sent = { account, affiliates } as unknown as InputOf<typeof putAffiliates>
    const { received, changed } = await api.call(putAffiliates, sent)
    const stored = `${changed} of ${counted(received, 'affiliate')} stored.`
    return file.others.length === 0
      ? stored
      : `${stored} Left out are the columns ${isolated(file.others.join(', '))}.`
  },
}

/** Renders the form that uploads a file of affiliates. */
export const UploadForm = () => (
  <FoldedForm
    change="upload"
    title="Upload a file"
    submit="Store the affiliates"
    fields={[
      {
        ...CSV_FILE,
        hint: 'CSV with commas, semicolons or tabs; days as 2026-12-31. If the file has the column Parent, an empty cell removes the parent. Any other empty cell keeps what is stored. Parents and plans count from today on; a plan that begins later from its first day.',
      },
    ]}
  >
    <p>
      A file with one affiliate in a row. Its columns may stand in any order:{' '}
      <strong>{Object.values(COLUMNS).join(', ')}</strong>. Only the first is needed.
    </p>
  </FoldedForm>
)
