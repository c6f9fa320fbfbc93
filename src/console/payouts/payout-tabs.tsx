import { accountPath, useVisit, withQuery } from '../../pages/page.ts'
import { Tabs } from '../../pages/parts/tabs.tsx'

/** Renders links between the pages of the section `Payouts`. */
export const PayoutTabs = ({ here }: { here: string }, { account } = useVisit()) => {
  const payouts = accountPath(account, 'payouts')
  return (
    <Tabs
      label="Payouts"
      here={here}
      tabs={[
        ['To pay', payouts],
        ['Batches', accountPath(account, 'batches')],
        ['Answers', accountPath(account, 'answers')],
        ['Paid', withQuery(payouts, { status: 'paid' })],
        ['Payees', accountPath(account, 'payees')],
        ['Payers', accountPath(account, 'payers')],
      ]}
    />
  )
}
