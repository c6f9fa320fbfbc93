import type { Child } from 'hono/jsx'
import { counted, listed } from '../../commission/engine/reasons.ts'
import type { Subject } from '../../fraud/kind.ts'
import { simulateFraudRule } from '../../fraud/operations/fraud-simulations.ts'
import type { PresentedCase, SimulatedPage } from '../../fraud/simulated-page.ts'
import { accountPath, type Visit } from '../../pages/page.ts'
import { Badge, Data, Day, dayWords } from '../../pages/parts/data.tsx'
import { AffiliateLink } from '../../pages/parts/names.tsx'
import { RecordLink } from '../../pages/parts/record-link.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { Sum } from '../plans/plan-figures.tsx'
import { CustomerLinks } from '../records/customer-parts.tsx'
import { customersOf } from './case-parts.tsx'

// What a fraud rule would have found on past days.

/** What to test. */
export interface BackTestInput {
  readonly rule: string
  readonly from: string
  readonly to: string
  /** A version; if absent, those that are stored. */
  readonly version?: unknown
  readonly affiliate_id?: string | undefined
}

/** The most cases that are listed, on a page of their own and beside a form. */
const LISTED = 200
const LISTED_BESIDE = 5

/** Renders whom a case is about, with links. */
export const SubjectLinks = ({ subject }: { subject: Subject }) =>
  'affiliate_id' in subject ? (
    <AffiliateLink id={subject.affiliate_id} />
  ) : (
    <CustomerLinks ids={customersOf(subject)} />
  )

/** Renders the records behind a case, folded. */
const Records = ({ account, one }: { account: string; one: PresentedCase }) => {
  const rest = one.evidence_total - one.evidence.length
  return (
    <details>
      <summary>{counted(one.evidence_total, 'record')}</summary>
      <ul>
        {one.evidence.map(({ resource, customer_id, id, day }) => (
          <li>
            {resource === 'statements' ? (
              <a href={accountPath(account, 'statements', id)}>Statement until {dayWords(day)}</a>
            ) : (
              <RecordLink
                account={account}
                record={{ resource, id, day, ...(customer_id !== null && { customer_id }) }}
              />
            )}
          </li>
        ))}
        {rest > 0 && <li>{`and ${rest.toLocaleString('en')} more`}</li>}
      </ul>
    </details>
  )
}

/** What persons decided of the same case. */
const OUTCOMES = {
  confirmed: { tone: 'bad', text: 'was confirmed' },
  dismissed: { tone: 'good', text: 'was dismissed' },
  reversed: { tone: 'quiet', text: 'was confirmed, and its hold ended' },
} as const

/** Says how many of the cases were decided; nothing if none was. */
function Decided({ outcomes, data }: Pick<SimulatedPage, 'outcomes' | 'data'>) {
  const { confirmed, dismissed, reversed } = outcomes
  if (confirmed + dismissed + reversed === 0) {
    return data.length === 0 ? null : (
      <>Nobody has decided {data.length === 1 ? 'it' : 'any of them'} so far.</>
    )
  }
  const parts = [
    confirmed > 0 && `confirmed ${confirmed}`,
    dismissed > 0 && `dismissed ${dismissed}`,
    reversed > 0 && `confirmed ${reversed} and ended the hold later`,
  ].filter((part) => part !== false)
  return <>Of these, your team has {listed(parts)}.</>
}

const casesTable = (visit: Visit, cases: readonly PresentedCase[], isHolding: boolean) => (
  <Table
    caption="Cases, by day"
    rows={cases}
    columns={{
      Day: 'opened_for',
      Affiliate: (one) => <AffiliateLink id={one.affiliate_id} />,
      About: (one) =>
        'affiliate_id' in one.subject ? 'the affiliate' : <SubjectLinks subject={one.subject} />,
      'What was found': {
        prose: (one) => (
          <>
            <Data text={one.sentence} />{' '}
            {one.status === 'expired' && <Badge tone="quiet">expired</Badge>}{' '}
            {one.outcome && (
              <Badge tone={OUTCOMES[one.outcome].tone}>{OUTCOMES[one.outcome].text}</Badge>
            )}
          </>
        ),
      },
      Records: (one) => <Records account={visit.account} one={one} />,
      'Would hold': isHolding && { number: ({ would_hold }) => <Sum money={would_hold} /> },
    }}
  />
)

/** Renders how many cases were found, and what they would have held. */
const Summary = ({ page, isHolding }: { page: SimulatedPage; isHolding: boolean }) => {
  const { from, to, data, would_hold: held, affiliates } = page
  if (affiliates === 0) {
    return (
      <p>
        The rule applied to no affiliate from {dayWords(from)} to {dayWords(to)}, so nothing was
        tested. A version that is chosen under “Terms” is tested on all days.
      </p>
    )
  }
  const affected = new Set(data.map(({ affiliate_id }) => affiliate_id)).size
  const statements = held.reduce((sum, one) => sum + one.statements, 0)
  return (
    <p>
      From {dayWords(from)} to {dayWords(to)} it would have opened{' '}
      <strong>{data.length === 0 ? 'no case' : counted(data.length, 'case')}</strong>
      {affected > 0 && ` at ${counted(affected, 'affiliate')}`}, of{' '}
      {counted(affiliates, 'affiliate')} that were tested.{' '}
      {isHolding && held.length > 0 && (
        <>
          It would have held <Sum money={held} /> of {counted(statements, 'statement')}.
        </>
      )}
      {isHolding && held.length === 0 && 'It would have held no payout.'}
      {data.length > 0 && !isHolding && 'It only flags, so it would have held no payout.'}{' '}
      <Decided {...page} />
      {isHolding && ' Statements that nobody has approved yet are not counted.'}
    </p>
  )
}

/** Computes and renders what a rule would have found. Beside a form, the cases are a short list. */
export async function computeBackTest(
  visit: Visit,
  input: BackTestInput,
  isBeside = false,
): Promise<Child> {
  const page = await visit.api.call(simulateFraudRule, { account: visit.account, ...input })
  const isHolding = page.data.some(({ action }) => action === 'hold')
  const cases = page.data.slice(0, isBeside ? LISTED_BESIDE : LISTED)
  const rest = page.data.length - cases.length
  return (
    <>
      <Summary page={page} isHolding={isHolding} />
      {cases.length > 0 && isBeside && (
        <ul class="rule-words">
          {cases.map((one) => (
            <li>
              <Day day={one.opened_for} />, <SubjectLinks subject={one.subject} />:{' '}
              <Data text={one.sentence} />
            </li>
          ))}
        </ul>
      )}
      {cases.length > 0 && !isBeside && casesTable(visit, cases, isHolding)}
      {rest > 0 && <p class="note">{`${counted(rest, 'case')} more.`}</p>}
    </>
  )
}
