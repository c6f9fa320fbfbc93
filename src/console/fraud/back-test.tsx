import type { Child } from 'hono/jsx'
import { counted } from '../../commission/words/english.ts'
import { simulateFraudRule } from '../../fraud/operations/fraud-simulations.ts'
import type { Visit } from '../../pages/base/page.ts'
import { Badge, count, Data, dayWords } from '../../pages/parts/data.tsx'
import { AffiliateLink } from '../../pages/parts/names.tsx'
import { Table } from '../../pages/parts/table.tsx'
import type { InputOf } from '../../platform/http/operation.ts'
import { CustomerLinks } from '../records/customer-parts.tsx'
import { customersOf } from './case-parts.tsx'

// What a fraud rule would have found on past days.

/** The most cases that are listed. */
const LISTED = 200

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
            Records: { number: ({ evidence_total }) => count(evidence_total) },
          }}
        />
      )}
      {rest > 0 && <p class="note">{`${counted(rest, 'case')} more.`}</p>}
    </>
  )
}
