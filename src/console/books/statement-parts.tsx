import type { Child } from 'hono/jsx'
import type { getStatement } from '../../commission/operations/statements.ts'
import type { Adjustment } from '../../commission/run/draft.ts'
import { type BalanceRow, balanceOf } from '../../commission/why/balance.ts'
import { correctionSentence } from '../../commission/why/cause-words.ts'
import { money } from '../../commission/words/english.ts'
import { ENGLISH } from '../../commission/words/words.ts'
import { useVisit } from '../../pages/base/page.ts'
import { Amount, Data, Day, periodWords } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { AffiliateLink, PlanLink } from '../../pages/parts/names.tsx'
import { StatusBadge } from '../../pages/parts/statement-lists.tsx'
import { Table } from '../../pages/parts/table.tsx'
import type { AnswerOf } from '../../platform/http/operation.ts'

// The parts of the page of a statement, without its lines.

/** A statement with one part of its lines and adjustments. */
export type WholeStatement = AnswerOf<typeof getStatement>

/** A statement on a page. */
export interface ShownStatement {
  readonly statement: WholeStatement
}

/** Renders what a statement pays, to whom, for which period, and its status. */
export const StatementHead = ({ statement }: ShownStatement) => {
  const { payable, currency, affiliate_id, plan, period, payable_on, paid } = statement
  return (
    <div class="statement-head">
      <p class="big">
        <Amount value={payable} currency={currency} /> <StatusBadge {...statement} />
      </p>
      <p>
        To <AffiliateLink id={affiliate_id} /> for{' '}
        <AccountLink at={['statements']} query={{ period }}>
          {periodWords(period)}
        </AccountLink>
        , by the plan <PlanLink id={plan} />.{' '}
        {paid ? (
          <>
            Paid on <Day day={paid.paid_on} /> with the reference <Data text={paid.reference} />.
          </>
        ) : (
          <>
            Payable from <Day day={payable_on} /> on.
          </>
        )}
      </p>
    </div>
  )
}

/** The parts of the page that list what amounts of the balance sum. */
const PARTS: Readonly<Partial<Record<BalanceRow['name'], string>>> = {
  lines: '#lines',
  earned: '#lines',
  adjustments: '#adjustments',
  manual: '#manual',
}

/** Renders how the payable amount comes about; nothing if it is just what the rules pay. */
export const Balance = async ({ statement }: ShownStatement, visit = useVisit()) => {
  const { affiliate_id, plan, currency, payable } = statement
  const names = await visit.names.plans()
  const sums = balanceOf(statement, ENGLISH, (id) => names.get(id) ?? id)
  if (sums.length === 2 && statement.earned === payable) return null
  const amountOf = ({ name, amount }: BalanceRow): Child => {
    const text = <Amount value={amount} currency={currency} />
    const part = PARTS[name]
    if (part) return <a href={part}>{text}</a>
    if (name !== 'opening' && name !== 'closing') return text
    const query = { affiliate_id, plan }
    return <AccountLink at={['statements']} query={query} children={text} />
  }
  return (
    <Table
      caption={`How ${money(payable, currency)} comes to be`}
      rows={sums}
      columns={{
        Sum: ({ title }) => <Data text={title} />,
        Amount: { number: amountOf },
        'What it is': { prose: ({ explanation }) => explanation },
      }}
    />
  )
}

/** The maximum number of corrections that a page shows. */
const SHOWN_CORRECTIONS = 100

/** Renders the corrections of closed periods; nothing if there are none. */
export const Adjustments = (props: {
  statement: WholeStatement
  adjustments: readonly Adjustment[]
}) => {
  const { adjustments, statement } = props
  const more = statement.adjustments_total - Math.min(adjustments.length, SHOWN_CORRECTIONS)
  if (adjustments.length === 0) return null
  return (
    <>
      <h2 id="adjustments">Corrections of closed periods</h2>
      <ul class="sentences">
        {adjustments.slice(0, SHOWN_CORRECTIONS).map((adjustment) => (
          <li>
            {periodWords(adjustment.of.period)}:{' '}
            <AccountLink at={['lines', adjustment.id]}>
              {money(adjustment.amount, statement.currency)}
            </AccountLink>{' '}
            <Data text={correctionSentence(adjustment)} />
          </li>
        ))}
      </ul>
      {more > 0 && <p class="note">The CSV file has {more} more.</p>}
    </>
  )
}

/** Renders the manual entries; nothing if there are none. */
export const Manual = ({ statement: { manual, currency } }: ShownStatement) => {
  if (manual.length === 0) return null
  return (
    <>
      <h2 id="manual">Manual entries</h2>
      <Table
        caption="Entries of the team"
        rows={manual}
        columns={{
          Reason: 'reason',
          Reference: 'reference',
          Entered: ({ at }) => <Day day={at.slice(0, 10)} />,
          Amount: { number: ({ amount }) => <Amount value={amount} currency={currency} /> },
        }}
      />
    </>
  )
}

const HOLD_WORDS: Readonly<Record<string, string>> = {
  no_currency: 'The records have no currency',
  fx_pending: 'The exchange rate is not published yet',
  fx_missing: 'There is no exchange rate',
}

/** Renders what waits for a rate or a currency. */
export const Holds = ({ statement: { holds, affiliate_id, period } }: ShownStatement) => {
  return (
    <Table
      caption="Not paid yet: records that wait for a rate or a currency"
      rows={holds}
      columns={{
        Why: { prose: ({ reason }) => HOLD_WORDS[reason] ?? reason.replaceAll('_', ' ') },
        Rule: 'rule',
        Sum: { number: ({ sum, currency }) => <Amount value={sum} currency={currency ?? ''} /> },
        Records: {
          number: ({ reason, count }) => {
            // The rates of later days turn a rate that is not published yet into one that is missing.
            const why = reason.startsWith('fx_') ? 'no_rate' : reason
            const query = { period, affiliate_id, reason: why, list: 'records' }
            return <AccountLink at={['unearned']} query={query} children={count} />
          },
        },
      }}
      empty={<p hidden />}
    />
  )
}
