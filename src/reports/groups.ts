const TIMES = ['day', 'week', 'month'] as const
const CUSTOMERS = ['affiliate_id', 'link', 'country_code'] as const
const STATUSES = ['kyc_status_id', 'sales_status_id'] as const

/** What the records of each vertical can be grouped by. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'prop-trading': [
    ...TIMES,
    ...CUSTOMERS,
    ...STATUSES,
    'challenge_type',
    'phase',
    'account_size',
    'transaction_type',
    'instrument',
  ],
  forex: [
    ...TIMES,
    ...CUSTOMERS,
    ...STATUSES,
    'trading_account_type',
    'transaction_type',
    'instrument',
  ],
  igaming: [...TIMES, ...CUSTOMERS, 'eventname', 'product'],
}

/** Returns what the records of a vertical can be grouped by. */
export const groupsOf = (vertical: string): readonly string[] => GROUPS[vertical] ?? []
