import type { listPayouts } from '../../admin/payouts.ts'
import type { AnswerOf } from '../../http/operation.ts'

import { Amount, periodWords } from './data.tsx'
import { AccountLink } from './fields.tsx'

// What was approved for customers who were refused since: it stays payable until the next statement takes it back.

type Payout = AnswerOf<typeof listPayouts>['data'][number]
type TakenBack = NonNullable<Payout['taken_back']>[number]

/** Says how much is taken back by the statement of which period. */
export const TakenBackText = ({
  found: { statement, period, amount },
  currency,
}: {
  found: TakenBack
  currency: string
}) => (
  <>
    <Amount value={amount.replace('-', '')} currency={currency} /> will be taken back in{' '}
    <AccountLink at={['statements', statement]}>{periodWords(period)}</AccountLink>
  </>
)

/** Says what becomes of the commission that was approved for the refused customers of a case. */
export const TakenBackWords = ({ affiliate_id }: { affiliate_id: string }) => (
  <p class="notice">
    What was approved for the refused customers stays payable until the next statement takes it
    back. Approve that statement before you pay the affiliate:{' '}
    <AccountLink at={['payouts']} query={{ affiliate_id }}>
      its payouts
    </AccountLink>{' '}
    say how much it is, once a run has computed it.
  </p>
)
