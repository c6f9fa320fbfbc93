import type { Page } from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import { Data, EmptyState, isolated, Pager } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { CSV_FILE, Filters, FoldedForm, type Input, type Option } from '../../pages/parts/forms.tsx'
import { type Cell, Table } from '../../pages/parts/table.tsx'
import { DETAIL_NAMES } from '../../payouts/fields.ts'
import { DETAILS_STATES } from '../../payouts/model.ts'
import { importPayees, PAYEE, PAYER } from '../../payouts/operations/payees.ts'
import {
  EnterForm,
  PartyCard,
  PartyState,
  partyChanges,
  type Shown,
  STATES,
} from './payee-parts.tsx'
import { PayoutTabs } from './payout-tabs.tsx'

/** The columns of a list of bank details, behind that of their owner. */
const COLUMNS: Readonly<Record<string, Cell<Shown>>> = {
  State: (shown) => <PartyState {...shown} />,
  Name: ({ details }) => <Data text={details?.name ?? ''} />,
  Account: ({ details }) => (
    <Data
      text={details?.iban ?? details?.account ?? details?.wallet_address ?? details?.email ?? ''}
    />
  ),
  Entered: 'entered_at',
}

/** The bank details of affiliates. */
export const payeesPage: Page = {
  path: '/accounts/:account/payees',
  shows: 'affiliate',
  section: 'Payouts',
  query: ['state', 'cursor'],
  changes: {
    upload: calling(
      importPayees,
      'The payees are entered. Another person must approve them.',
      (values) => ({ csv: values('file') }),
    ),
  },
  async render({ api, account, query }) {
    const { data, meta } = await api.call(PAYEE.list, { account, ...query })
    const states = DETAILS_STATES.map((state): Option => [state, STATES[state][1]])
    const body = (
      <>
        <PayoutTabs here="Payees" />
        <Filters fields={[{ name: 'state', options: [['', 'All'], ...states] }]} />
        <Table
          caption="The bank details of affiliates"
          rows={data}
          columns={{ Affiliate: 'affiliate_id', ...COLUMNS }}
          empty={<EmptyState title="There are no such bank details." />}
        />
        <Pager meta={meta} />
        <FoldedForm
          change="upload"
          title="Upload a file"
          submit="Enter the payees"
          fields={[{ ...CSV_FILE, hint: 'All rows are entered, or none.' }]}
        >
          <p>
            A CSV file with one affiliate in a row. Its columns may stand in any order:{' '}
            <strong>affiliate id, {DETAIL_NAMES.join(', ').replaceAll('_', ' ')}</strong>.
          </p>
        </FoldedForm>
      </>
    )
    return { title: 'Payees', body }
  },
}

const SHORT_NAME: Input = {
  name: 'payer',
  label: 'Short name of the account',
  required: true,
  hint: 'Such as main: small letters, digits and hyphens. It never changes.',
}

/** The bank accounts from which an account pays, with all of the one that the query names. */
export const payersPage: Page = {
  path: '/accounts/:account/payers',
  shows: 'account',
  section: 'Payouts',
  query: ['payer'],
  changes: partyChanges(PAYER),
  async render({ api, account, query }) {
    const { data } = await api.call(PAYER.list, { account })
    const shown = data.find(({ payer }) => payer === query.payer)
    const body = (
      <>
        <PayoutTabs here="Payers" />
        <Table
          caption="The bank accounts from which the account pays"
          rows={data}
          columns={{
            Payer: ({ payer }) => (
              <AccountLink at={['payers']} query={{ payer }} children={<Data text={payer} />} />
            ),
            ...COLUMNS,
          }}
          empty={<EmptyState title="No account to pay from yet." />}
        />
        {shown ? (
          <>
            <h2>{isolated(shown.payer)}</h2>
            <PartyCard party="payer" shown={shown} />
          </>
        ) : (
          <EnterForm party="payer" fields={[SHORT_NAME]} />
        )}
      </>
    )
    return { title: 'Payers', body }
  },
}
