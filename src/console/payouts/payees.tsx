import { writeCsv } from '../../commission/csv.ts'
import { counted } from '../../commission/engine/reasons.ts'
import { cellOf, readColumnFile, refused } from '../../pages/csv-columns.ts'
import type { Change, Page } from '../../pages/page.ts'
import { Data, EmptyState, isolated, Pager, Time } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { ChangeForm, CSV_FILE, FoldedForm } from '../../pages/parts/forms.tsx'
import { AffiliateLink } from '../../pages/parts/names.tsx'
import { type Columns, Table } from '../../pages/parts/table.tsx'
import { DETAIL_NAMES } from '../../payouts/fields.ts'
import { importPayees, PAYEE, PAYER } from '../../payouts/operations/payees.ts'
import { Actor } from '../affiliates/audit-words.tsx'
import {
  detailFields,
  type Party,
  PartyCard,
  PartyState,
  partyChanges,
  typedDetails,
} from './payee-parts.tsx'
import { PayoutTabs } from './payout-tabs.tsx'

/** The columns of a list of bank details, behind that of their owner. */
const COLUMNS: Columns<Party> = {
  State: (party) => <PartyState party={party} />,
  Name: ({ details }) => <Data text={details?.name ?? ''} />,
  Account: ({ details }) => (
    <Data text={details?.iban ?? details?.account ?? details?.email ?? ''} />
  ),
  Entered: ({ entered_at }) => <Time at={entered_at} />,
  By: ({ entered_by }) => <Actor actor={entered_by ?? ''} />,
}

const TITLES = Object.fromEntries(
  ['affiliate_id', ...DETAIL_NAMES].map((name) => [
    name,
    name.replace('_id', '').replace('_', ' '),
  ]),
)

/** Enters the payees of a file, all or none. */
const upload: Change = {
  done: (answer) => answer as string,
  async perform(values, { api, account }) {
    const file = readColumnFile(values, {
      titles: TITLES,
      synonyms: { name: ['owner', 'account holder'], account: ['account number'] },
      required: ['affiliate_id', 'name', 'method'],
    })
    if (file.fault) throw refused(file.fault)
    const names = [...file.positions.keys()]
    const rows = file.rows.map((cells) => names.map((name) => cellOf(file, cells, name)))
    const csv = writeCsv([names, ...rows])
    const { received, changed } = await api.call(importPayees, { account, csv })
    const left = file.others.length > 0 && ` Left out: ${isolated(file.others.join(', '))}.`
    return `${changed} of ${counted(received, 'payee')} entered. Another person must approve them.${left || ''}`
  },
}

/** The bank details of affiliates: those that wait for an approval, or all. */
export const payeesPage: Page = {
  path: '/accounts/:account/payees',
  section: 'Payouts',
  query: ['state', 'cursor'],
  changes: { upload },
  async render({ api, account, query }) {
    const state = query.state ?? 'entered'
    const { data, meta } = await api.call(PAYEE.list, {
      ...{ account, cursor: query.cursor, state: state === 'all' ? undefined : state },
    })
    const isAll = state === 'all'
    const body = (
      <>
        <PayoutTabs here="Payees" />
        <p>
          {isAll ? (
            <AccountLink at={['payees']} children="Only what waits for an approval" />
          ) : (
            <AccountLink at={['payees']} query={{ state: 'all' }} children="All payees" />
          )}
        </p>
        <Table
          caption={
            isAll ? 'The bank details of affiliates' : 'Bank details that wait for an approval'
          }
          rows={data}
          columns={
            {
              Affiliate: ({ affiliate_id }) => <AffiliateLink id={affiliate_id} />,
              ...(COLUMNS as Columns<(typeof data)[number]>),
            } as Columns<(typeof data)[number]>
          }
          empty={
            <EmptyState title={isAll ? 'No bank details yet.' : 'Nothing waits for an approval.'} />
          }
        />
        <Pager meta={meta} />
        <FoldedForm
          change="upload"
          title="Upload a file"
          submit="Enter the payees"
          fields={[
            {
              ...CSV_FILE,
              hint: 'CSV with commas, semicolons or tabs. All rows are entered, or none.',
            },
          ]}
        >
          <p>
            A file with one payee in a row. Its columns may stand in any order:{' '}
            <strong>{Object.values(TITLES).join(', ')}</strong>.
          </p>
        </FoldedForm>
      </>
    )
    return { title: 'Payees', body }
  },
}

/** The bank accounts from which an account pays. */
export const payersPage: Page = {
  path: '/accounts/:account/payers',
  section: 'Payouts',
  query: ['cursor'],
  changes: {
    add: {
      done: 'The account is entered. Another person must approve it.',
      perform: (values, { api, account }) =>
        api.call(PAYER.put, {
          ...{ account, payer: values('payer').trim() },
          details: typedDetails(values) as never,
        }),
    },
  },
  async render({ api, account, query }) {
    const { data, meta } = await api.call(PAYER.list, { account, cursor: query.cursor })
    const body = (
      <>
        <PayoutTabs here="Payers" />
        <Table
          caption="The bank accounts from which the account pays"
          rows={data}
          columns={
            {
              Payer: ({ payer }) => (
                <AccountLink at={['payers', payer]}>
                  <Data text={payer} />
                </AccountLink>
              ),
              ...(COLUMNS as Columns<(typeof data)[number]>),
            } as Columns<(typeof data)[number]>
          }
          empty={<EmptyState title="No account to pay from yet." />}
        />
        <Pager meta={meta} />
        <h2>Add an account to pay from</h2>
        <ChangeForm
          change="add"
          submit="Save the account"
          fields={[
            {
              ...{ name: 'payer', label: 'Short name', required: true, pointer: '' },
              hint: 'Such as main: small letters, digits and hyphens. It never changes.',
            },
            ...detailFields(true),
          ]}
        />
      </>
    )
    return { title: 'Payers', body }
  },
}

/** One bank account from which an account pays. */
export const payerPage: Page = {
  path: '/accounts/:account/payers/:payer',
  section: 'Payouts',
  changes: partyChanges(PAYER),
  async render({ api, account, params: { payer = '' } }) {
    const party = await api.call(PAYER.get, { account, payer })
    const body = (
      <>
        <PayoutTabs here="Payers" />
        <PartyCard party={party} isPayer />
      </>
    )
    return { title: `Payer ${isolated(payer)}`, body }
  },
}
