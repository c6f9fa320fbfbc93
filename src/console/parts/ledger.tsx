import type { Child } from 'hono/jsx'
import type { listLedger } from '../../admin/ledger.ts'
import type { AnswerOf } from '../../http/operation.ts'
import type { Visit } from '../page.ts'
import { Actor } from './audit-words.tsx'
import { Amount, Data, EmptyState, periodWords, Table, Time } from './data.tsx'
import { AccountLink, column, prose } from './fields.tsx'
import { PlanName } from './names.tsx'

// The ledger of an affiliate, in words.

type LedgerEntry = AnswerOf<typeof listLedger>['data'][number]

const Statement = ({ visit, entry }: { visit: Visit; entry: LedgerEntry }) => (
  <AccountLink visit={visit} at={['statements', entry.statement]}>
    {periodWords(entry.period)}
  </AccountLink>
)

const Reference = ({ entry: { reference } }: { entry: LedgerEntry }) =>
  reference === null ? null : (
    <>
      , reference <Data text={reference} />
    </>
  )

/** Renders what an entry booked, as a sentence. */
function EntryWords({ visit, entry }: { visit: Visit; entry: LedgerEntry }): Child {
  const statement = <Statement visit={visit} entry={entry} />
  const { kind, amount, reference, plan } = entry
  switch (kind) {
    case 'earned':
      return (
        <>
          Earned for {statement} by the plan <PlanName visit={visit} id={plan} />
        </>
      )
    case 'adjusted':
      return <>Corrections of earlier periods, with the statement of {statement}</>
    case 'manual':
      return <>Entered by hand, with the statement of {statement}</>
    case 'dropped':
      return <>A negative balance written off, with the statement of {statement}</>
    case 'transferred':
      return (
        <>
          Moved {amount.startsWith('-') ? 'to' : 'from'} the plan{' '}
          <PlanName visit={visit} id={reference ?? ''} />, with the statement of {statement}
        </>
      )
    case 'paid':
      return (
        <>
          Paid for {statement}
          <Reference entry={entry} />
        </>
      )
    case 'returned':
      return (
        <>
          The payment for {statement} came back
          <Reference entry={entry} />
        </>
      )
  }
}

/** Renders entries of a ledger as sentences, the latest first. */
export const Ledger = ({ visit, rows }: { visit: Visit; rows: readonly LedgerEntry[] }) => (
  <Table
    caption="Ledger, the latest entry first. The balance is the sum of all entries."
    rows={rows}
    columns={[
      column('When', ({ at }: LedgerEntry) => <Time at={at} />),
      prose('What', (entry: LedgerEntry) => <EntryWords visit={visit} entry={entry} />),
      column(
        'Amount',
        ({ amount, currency }: LedgerEntry) => <Amount value={amount} currency={currency} />,
        true,
      ),
      column('By', ({ actor }: LedgerEntry) => <Actor actor={actor} />),
    ]}
    empty={
      <EmptyState title="Nothing has been booked yet.">
        <p>Approving a statement books what it earned.</p>
      </EmptyState>
    }
  />
)
