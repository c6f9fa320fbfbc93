import type { Child } from 'hono/jsx'
import type {
  getStatementTotals,
  listPeriods,
  listStatements,
} from '../../commission/operations/statements.ts'
import { counted } from '../../commission/words/english.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { nextPeriod, storedPeriod } from '../../platform/money/calendar.ts'
import { useVisit } from '../base/page.ts'
import { Amount, Badge, count, periodWords } from './data.tsx'
import { AccountLink } from './fields.tsx'
import { AffiliateName } from './names.tsx'
import { type Cell, Table } from './table.tsx'

// The parts of pages that list statements.

/** A statement of a list. */
export type Statement = AnswerOf<typeof listStatements>['data'][number]

/** Sums of statements. */
export type StatementTotals = AnswerOf<typeof getStatementTotals>

/** The words of the statuses. */
export const STATUS_WORDS: Readonly<Record<Statement['status'], string>> = {
  draft: 'Draft',
  approved: 'To pay',
  paid: 'Paid',
}

const TONES = { draft: 'warn', approved: 'quiet', paid: 'good' } as const

/** What is said of approved statements that pay nothing: they stay approved, and nobody pays them. */
const NOTHING_TO_PAY = 'Nothing to pay'

/** Renders the status of a statement in words. */
export const StatusBadge = ({ status, payable }: Pick<Statement, 'status' | 'payable'>) => (
  <Badge tone={TONES[status]}>
    {status === 'approved' && !isSome(payable) ? NOTHING_TO_PAY : STATUS_WORDS[status]}
  </Badge>
)

const isSome = (amount: string): boolean => /[1-9]/.test(amount)

/** Returns whether a statement pays another amount than it earned, or has a balance of the period before. */
const isOtherThanPayable = ({ earned, payable, opening }: Statement): boolean =>
  earned !== payable || isSome(opening)

interface StatementsProps {
  readonly caption: string
  readonly period?: string | undefined
  readonly rows: readonly Statement[]
  readonly empty: Child
}

/** Renders statements, each with a link to it: those of one `period` by their affiliates. */
export const Statements = (props: StatementsProps) => {
  const { caption, period, rows, empty } = props
  /** Returns a column of amounts, each with the balance that was carried, unless that is 0. */
  const amount = (
    name: 'earned' | 'payable',
    balance: 'opening' | 'closing',
    carried: string,
  ): Cell<Statement> => ({
    number: (row) => (
      <>
        <Amount value={row[name]} currency={row.currency} />
        {isSome(row[balance]) && (
          <small>
            <Amount value={row[balance]} currency={row.currency} /> {carried}
          </small>
        )}
      </>
    ),
  })
  const before = period && periodWords(nextPeriod(storedPeriod(period), -1).id)
  const isCompared = rows.some(({ earned_before }) => earned_before !== undefined)
  const held = ({ holds }: Statement) => holds.reduce((sum, hold) => sum + hold.count, 0)
  return (
    <Table
      caption={caption}
      rows={rows}
      empty={empty}
      columns={{
        Statement: ({ id, affiliate_id, period: own }) => (
          <AccountLink at={['statements', id]}>
            <AffiliateName id={affiliate_id} />
            {!period && `, ${periodWords(own)}`}
          </AccountLink>
        ),
        Earned:
          (isCompared || rows.some(isOtherThanPayable)) &&
          amount('earned', 'opening', 'carried in'),
        [`Earned in ${before}`]: isCompared && {
          number: (row) => <Amount value={row.earned_before ?? '0'} currency={row.currency} />,
        },
        Payable: amount('payable', 'closing', 'carried on'),
        Status: (row) => (
          <>
            <StatusBadge {...row} />
            {held(row) > 0 && <small class="held">{counted(held(row), 'record')} on hold</small>}
          </>
        ),
        Due: 'payable_on',
        Plan: 'plan',
      }}
    />
  )
}

/** Renders what statements have earned and what they pay: one row for each status and currency. */
export const StatusSums = ({ totals }: { totals: StatementTotals }, visit = useVisit()) => {
  const rows = totals.data
  type Row = (typeof rows)[number]
  return (
    <>
      {rows.length > 0 && (
        <Table
          caption="Sums of the statements"
          rows={rows}
          columns={{
            Status: ({ status }) => STATUS_WORDS[status],
            Earned: 'earned',
            Payable: 'payable',
            Statements: {
              number: ({ status, statements: all, with_holds: holds, paying }: Row) => {
                const unpaid = status === 'approved' ? all - paying : 0
                const query = { ...visit.query, status, run: undefined, cursor: undefined }
                return (
                  <>
                    <AccountLink at={['statements']} query={query}>
                      {counted(all, 'statement')}
                    </AccountLink>
                    {unpaid > 0 && <small>{count(unpaid)} with nothing to pay</small>}
                    {holds > 0 && <small class="held">{holds} with records on hold</small>}
                  </>
                )
              },
            },
          }}
        />
      )}
      {totals.is_limited && <p class="note">These are the sums of the first 100,000 statements.</p>}
    </>
  )
}

/** The statements of the latest periods, added up. */
export type PeriodSums = AnswerOf<typeof listPeriods>
