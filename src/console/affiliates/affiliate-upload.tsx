import { putAffiliates } from '../../affiliates/operations/affiliates.ts'
import { counted } from '../../commission/engine/reasons.ts'
import { listPlans } from '../../commission/operations/plans.ts'
import { cellOf, readColumnFile, refused } from '../../pages/csv-columns.ts'
import {
  accountPath,
  type FieldError,
  type Page,
  type Values,
  type Visit,
} from '../../pages/page.ts'
import { count, Data } from '../../pages/parts/data.tsx'
import { AccountLink, Value } from '../../pages/parts/fields.tsx'
import { CSV_FILE, Field } from '../../pages/parts/forms.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { readDay, type Typed } from '../../pages/typed.ts'
import type { InputOf } from '../../platform/http/operation.ts'
import { canManage, PostForm } from '../books/payout-forms.tsx'
import { type Plan, startOf } from './affiliate-forms.tsx'

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

type Column = keyof typeof COLUMNS

const readFile = (values: Values) =>
  readColumnFile(values, {
    titles: COLUMNS,
    synonyms: {
      affiliate_id: ['affiliate code', 'custom id', 'ib', 'ib id', 'partner id', 'user id', 'id'],
      display_name: ['affiliate name', 'full name', 'company', 'company name'],
      contact_email: ['email', 'email address', 'mail'],
      status: ['affiliate status', 'account status'],
      parent: ['parent id', 'parent affiliate', 'parent user id', 'master ib'],
      plan: ['plan name', 'commission plan'],
      from: ['from', 'start date', 'valid from'],
    },
    required: ['affiliate_id'],
  })

/** What other systems call the two states of affiliates. */
const STATUSES = {
  active: ['active', 'approved', 'accepted', 'enabled', 'a'],
  suspended: ['suspended', 'inactive', 'pending', 'rejected', 'declined', 'disabled', 'p', 'd'],
}

const folded = (text: string) => text.trim().replaceAll(/\s+/g, ' ').toLowerCase()

/** Returns the state that a cell means. */
function readStatus(text: string): Typed {
  const found = Object.entries(STATUSES).find(([, words]) => words.includes(folded(text)))
  if (found) return { value: found[0] }
  return { problem: `The status ${text} is not known. Write active or suspended.` }
}

/** Returns the plan that a cell means: by its short name, else by its name in any case. */
function findPlan(plans: readonly Plan[], text: string): Typed {
  if (plans.some(({ plan }) => plan === text)) return { value: text }
  const [found, second] = plans.filter(({ name }) => folded(name) === folded(text))
  if (!found) return { problem: `There is no plan ${text}.` }
  if (!second) return { value: found.plan }
  return { problem: `More than one plan has the name ${text}. Write a short name.` }
}

/**
 * Sends the affiliates of the file of a form. An empty cell keeps what is stored; an empty parent removes it.
 *
 * @throws ApiError `validation_failed` for a file or rows that cannot be understood, or that the API refuses.
 */
async function send(values: Values, { api, account, today }: Visit, dry_run: boolean) {
  const file = readFile(values)
  if (file.fault) throw refused(file.fault)
  const { data: plans } = await api.call(listPlans, { account })
  const problems: FieldError[] = []
  const affiliates = file.rows.map((cells, i) => {
    const cell = (name: Column) => cellOf(file, cells, name) || undefined
    const understood = (name: Column, read: (text: string) => Typed) => {
      const text = cell(name)
      const typed = text === undefined ? null : read(text)
      if (typed && 'problem' in typed) problems.push({ pointer: `/${i}`, message: typed.problem })
      return typed && 'value' in typed ? typed.value : undefined
    }
    const affiliate_id = cell('affiliate_id') ?? ''
    if (!affiliate_id) problems.push({ pointer: `/${i}`, message: 'The id is missing.' })
    const plan = understood('plan', (text) => findPlan(plans, text))
    const from = understood('from', readDay)
    const begin = startOf(
      plans.find((one) => one.plan === plan),
      today,
    )
    return {
      affiliate_id,
      display_name: cell('display_name'),
      contact_email: cell('contact_email'),
      status: understood('status', readStatus),
      parent: file.positions.has('parent') ? (cell('parent') ?? null) : undefined,
      assignment: plan && { plan, from: from ?? begin, customers: values('customers') || 'all' },
    }
  })
  if (problems.length > 0) throw refused('Nothing was stored.', problems)
  // The operation checks each member.
  const sent = { account, dry_run, affiliates } as unknown as InputOf<typeof putAffiliates>
  return {
    affiliates,
    file,
    customers: values('customers'),
    ...(await api.call(putAffiliates, sent)),
  }
}

type Sent = Awaited<ReturnType<typeof send>>

/** Renders what a file would store. */
const Preview = ({ affiliates, file, customers, received, changed }: Sent) => (
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
      rows={affiliates.map((one) => ({ ...one, ...one.assignment }))}
      columns={{
        Affiliate: ({ affiliate_id }) => <Data text={affiliate_id} />,
        Name: 'display_name',
        'E-mail': 'contact_email',
        Status: 'status',
        Parent: ({ parent }) => (parent === null ? 'none' : <Value name="parent" value={parent} />),
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
        <input type="hidden" name="customers" value={customers} />
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
    if (!canManage(visit)) {
      const note = <p class="note">Only the role manager can upload affiliates.</p>
      return { title: 'Upload affiliates', body: note }
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
            hint="CSV with commas, semicolons or tabs. If the file has the column Parent, an empty cell removes the parent. Any other empty cell keeps what is stored. Parents count from today on. Without a day, plans count from today on, or from their first day if that is later."
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
          <button type="submit">Show what would be stored</button>
        </PostForm>
        <p>
          <AccountLink at={['affiliates']} children="All affiliates" />
        </p>
      </>
    )
    return { title: 'Upload affiliates', body }
  },
}
