import { sectionTabs } from '../../pages/parts/tabs.tsx'

/** Renders links between the pages of the section `Payouts`. */
export const PayoutTabs = sectionTabs('Payouts', {
  'To pay': 'payouts',
  Batches: 'batches',
  Answers: 'answers',
  Paid: 'paid',
  Invoices: 'invoices',
  Payees: 'payees',
  Payers: 'payers',
  Balances: 'balances',
  Journal: 'journal',
  Ledger: 'ledger',
})
