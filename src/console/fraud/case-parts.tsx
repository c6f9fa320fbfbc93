import type { Child } from 'hono/jsx'
import { counted, listed } from '../../commission/words/english.ts'
import { payeeOf, type Subject } from '../../fraud/kind.ts'
import { listFraudCases } from '../../fraud/operations.ts'
import { useVisit, type Visit } from '../../pages/base/page.ts'
import { Amounts, Badge, Data, isolated, titleOf } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import type { Option } from '../../pages/parts/forms.tsx'
import { AffiliateLink, affiliateText } from '../../pages/parts/names.tsx'
import type { AnswerOf } from '../../platform/http/operation.ts'

// Cases of the fraud review, as lists show them.

/** Cases as a list has them. */
export type FraudCases = AnswerOf<typeof listFraudCases>

/** A case as lists show it. */
export type FraudCase = FraudCases['data'][number]

/** The colors of the severities. */
export const SEVERITY_TONES = { high: 'bad', medium: 'warn', low: 'quiet' } as const

/** The decisions of a case, in words. */
export const DECISIONS: readonly Option[] = [
  ['', 'Choose'],
  ['confirmed', 'Confirm: it is fraud'],
  ['dismissed', 'Dismiss: there is an honest explanation'],
]

/** What is said of the reason of a decision. */
export const DECISION_HINT = 'The case and the audit log show it.'

/** Renders bank details that a case names, as a link to their affiliate. */
export const BankDetailsOf = ({ id }: { id: string }) => (
  <>
    Bank details of <AffiliateLink id={payeeOf(id)} />
  </>
)

/** Renders how serious a case is. */
export const SeverityBadge = ({ severity }: Pick<FraudCase, 'severity'>) => (
  <Badge tone={SEVERITY_TONES[severity]}>{titleOf(severity)}</Badge>
)

const STATUS_TONES = {
  open: 'warn',
  confirmed: 'bad',
  dismissed: 'good',
  expired: 'quiet',
} as const

/** Renders the status of a case. */
export const CaseStatusBadge = ({ status }: Pick<FraudCase, 'status'>) => (
  <Badge tone={STATUS_TONES[status]}>{titleOf(status)}</Badge>
)

/** Says that a second person must decide the same; nothing of other cases. */
export const WaitingBadge = ({ waiting }: Pick<FraudCase, 'waiting'>) =>
  waiting ? <Badge tone="warn">A second person must agree</Badge> : null

/** Returns the ids of the customers whom a case is about; none if it is about the affiliate. */
export const customersOf = (subject: Subject): readonly string[] =>
  'customer_ids' in subject
    ? subject.customer_ids
    : 'customer_id' in subject
      ? [subject.customer_id]
      : []

/** Names whom a case is about, such as `Alpine Markets (IB-4)` or `C-17 of Alpine Markets (IB-4)`. */
export async function subjectText(
  visit: Visit,
  { affiliate_id, subject }: Pick<FraudCase, 'affiliate_id' | 'subject'>,
): Promise<string> {
  const customers = customersOf(subject)
  const affiliate = await affiliateText(visit, affiliate_id)
  return customers.length === 0 ? affiliate : `${listed(customers.map(isolated))} of ${affiliate}`
}

/** Says a case in one sentence with a link to it. */
export const CaseLink = async ({ found }: { found: FraudCase }, visit = useVisit()) => (
  <AccountLink at={['cases', found.case_id]}>
    {await subjectText(visit, found)}: <Data text={found.sentence} />
  </AccountLink>
)

/** Returns whether a case holds payouts now. */
export const isHolding = ({
  action,
  status,
  keep_hold,
}: Pick<FraudCase, 'action' | 'status' | 'keep_hold'>): boolean =>
  keep_hold || (action === 'hold' && status === 'open')

/** Renders the amounts that a case holds, one line each: currencies are never added. */
export function HeldAmounts(found: FraudCase) {
  const { amount_held } = found
  if (!isHolding(found)) return <span class="quiet">Nothing</span>
  if (amount_held.length === 0) return <span class="quiet">Nothing payable yet</span>
  return <Amounts amounts={amount_held} />
}

/** The cases that pages of an affiliate name. */
const NAMED = 5

/** Reads the open cases of an affiliate that its pages name. */
export const readAffiliateCases = (
  { api, account }: Visit,
  affiliate_id: string,
): Promise<FraudCases> =>
  api.call(listFraudCases, { account, affiliate_id, status: 'open', per_page: NAMED })

/** Names the open cases of an affiliate; nothing if there are none. */
export const CasesOfAffiliate = ({ found }: { found: FraudCases }) => {
  const { data, meta } = found
  const hold = meta.total === 1 ? ', which holds payouts' : ', which hold payouts'
  return (
    <NamedCases found={found} query={{ affiliate_id: data[0]?.affiliate_id, status: 'open' }}>
      {counted(meta.total, 'open case')} of the fraud review{data.some(isHolding) ? hold : ''}.
    </NamedCases>
  )
}

interface NamedProps {
  readonly found: FraudCases
  /** Finds all of them in the list of cases. */
  readonly query: Visit['query']
  /** What is said of them. */
  readonly children?: Child
}

/** Names the first of the cases that are about what a page shows; nothing if there are none. */
export function NamedCases({ found: { data, meta }, query, children }: NamedProps) {
  if (data.length === 0) return null
  return (
    <div class="notice why">
      <p>
        <strong>{children}</strong>
      </p>
      <ul>
        {data.map((one) => (
          <li>
            <CaseLink found={one} /> <SeverityBadge {...one} /> <WaitingBadge {...one} />
          </li>
        ))}
      </ul>
      {meta.total > data.length && (
        <p>
          <AccountLink at={['cases']} query={query}>
            All {meta.total} cases
          </AccountLink>
        </p>
      )}
    </div>
  )
}
