import type { Child } from 'hono/jsx'
import { counted } from '../../commission/words/english.ts'
import { simulateFraudRule } from '../../fraud/operations/fraud-simulations.ts'
import type { PresentedCase } from '../../fraud/simulated-page.ts'
import { useVisit, type Visit } from '../../pages/base/page.ts'
import { Badge, Data, dayWords } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { AffiliateLink } from '../../pages/parts/names.tsx'
import { RecordLink } from '../../pages/parts/record-link.tsx'
import { Table } from '../../pages/parts/table.tsx'
import type { InputOf } from '../../platform/http/operation.ts'
import { CustomerLinks } from '../records/customer-parts.tsx'
import { BankDetailsOf, customersOf } from './case-parts.tsx'

// What a fraud rule would have found on past days.

/** The most cases that are listed. */
const LISTED = 200

/** Renders the first records behind a case, folded. */
const Records = ({ one }: { one: PresentedCase }, { account } = useVisit()) => (
  <details>
    <summary>{counted(one.evidence_total, 'record')}</summary>
    <ul>
      {one.evidence.map(({ resource, id, day, customer_id }) => (
        <li>
          {resource === 'statements' ? (
            <AccountLink at={['statements', id]}>Statement until {dayWords(day)}</AccountLink>
          ) : resource === 'payees' ? (
            <BankDetailsOf id={id} />
          ) : (
            <RecordLink
              account={account}
              record={{ resource, id, day, customer_id: customer_id ?? '' }}
            />
          )}
        </li>
      ))}
    </ul>
  </details>
)

/** Computes and renders the cases that a rule would have opened on some days. */
export async function computeBackTest(
  { api, account }: Visit,
  input: Omit<InputOf<typeof simulateFraudRule>, 'account'>,
): Promise<Child> {
  const page = await api.call(simulateFraudRule, { account, ...input })
  const { from, to, data } = page
  const rest = data.length - LISTED
  return (
    <>
      <p>
        From {dayWords(from)} to {dayWords(to)} it would have opened{' '}
        <strong>{data.length === 0 ? 'no case' : counted(data.length, 'case')}</strong>.
      </p>
      {data.length > 0 && (
        <Table
          caption="Cases, by day"
          rows={data.slice(0, LISTED)}
          columns={{
            Day: 'opened_for',
            About: ({ affiliate_id, subject }) => (
              <>
                <AffiliateLink id={affiliate_id} />
                {'affiliate_id' in subject || ': '}
                <CustomerLinks ids={customersOf(subject)} />
              </>
            ),
            'What was found': {
              prose: ({ sentence, status }) => (
                <>
                  <Data text={sentence} />{' '}
                  {status === 'expired' && <Badge tone="quiet">expired</Badge>}
                </>
              ),
            },
            Records: (one) => <Records one={one} />,
          }}
        />
      )}
      {rest > 0 && <p class="note">{`${counted(rest, 'case')} more.`}</p>}
    </>
  )
}
