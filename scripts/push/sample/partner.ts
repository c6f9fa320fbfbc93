import { newCustomerSteps, type Sample, type SampleRun } from './sample.ts'

/** What changes between the verticals of partners. */
interface PartnerOptions {
  /** The most common type of transaction, and a misspelling of it. */
  transaction_type: string
  misspelled: string
  /** The required members of trading activity. */
  activity: object
}

/** Returns a valid customer with some members replaced. */
const customer = (name: string, changes: object = {}) => ({
  customer_id: `sample-{run}-${name}`,
  signup_date: '2026-10-21T08:30:00Z',
  affiliate_id: '{affiliate}',
  tracking_data: 'click-42',
  ...changes,
})

const { tracking_data: _, ...untracked } = customer('required')

/** Returns a version of the first customer. */
const version = (country_code: string, last_modified_date: string) =>
  customer('1', { country_code, last_modified_date })
const FIRST = version('DE', '2026-10-22T09:00:00Z')

const customerErrors: Sample[] = [
  { record: customer('twice') },
  { error: 'duplicate_key', record: customer('twice', { lang_id: 'de' }) },
  { error: 'required', outcome: 'rejected', record: untracked },
  { error: 'unknown_field', record: customer('unknown', { contry_code: 'DE' }) },
  { error: 'type', record: customer('type', { kyc_status_id: 2 }) },
  { error: 'date_time', record: customer('time', { signup_date: '2026-10-21 08:30:00' }) },
  {
    error: 'length',
    record: customer('length', {
      tracking_data: 'autumn-campaign/landing-page-7/banner-300x250/visitor-000042',
    }),
  },
  { error: 'text', record: customer('text', { last_name: 'Doe\u0000' }) },
  { error: 'pattern', record: customer('pattern', { country_code: 'de' }) },
  { error: 'email', record: customer('email', { email: 'jane.doe@example' }) },
  {
    error: 'unknown_affiliate',
    record: customer('affiliate', { affiliate_id: 'sample-{run}-nobody' }),
  },
]

const customerWarnings: Sample[] = [
  {
    warning: 'unknown_affiliate',
    record: customer('affiliate', { affiliate_id: 'sample-{run}-nobody' }),
  },
  { warning: 'altered', record: customer('altered', { tracking_data: '{altered}' }) },
  { warning: 'foreign', record: customer('foreign', { tracking_data: '{foreign}' }) },
  {
    warning: 'conflict',
    record: customer('conflict', { tracking_data: '{own}', affiliate_id: '{other}' }),
  },
  {
    warning: 'implausible_time',
    record: customer('epoch', { signup_date: '1970-01-01T00:00:00Z' }),
  },
  { warning: 'whitespace', record: customer('space', { customer_id: 'sample-{run}-space ' }) },
  { warning: 'country', record: customer('country', { country_code: 'UK' }) },
]

function transactionSamples({ transaction_type, misspelled }: PartnerOptions): Sample[] {
  const transaction = (name: string, changes: object) => ({
    transaction_id: `sample-{run}-${name}`,
    customer_id: '{customer}',
    transaction_type,
    status: 'approved',
    amount_currency: 100.25,
    currency: 'EUR',
    transaction_date: '2026-10-22T09:30:00Z',
    ...changes,
  })
  const stranger = transaction('stranger', { customer_id: 'sample-{run}-nobody' })
  return [
    { error: 'currency', record: transaction('currency', { currency: 'EUX' }) },
    { error: 'decimals', record: transaction('decimals', { amount_currency: 100.255 }) },
    { error: 'number', record: transaction('number', { amount_usd: '{1e400}' }) },
    { error: 'enum', record: transaction('enum', { transaction_type: misspelled }) },
    { error: 'unknown_customer', record: stranger },
    { outcome: 'held', record: stranger },
    { warning: 'withdrawn_currency', record: transaction('withdrawn', { currency: 'HRK' }) },
    { warning: 'negative_amount', record: transaction('negative', { amount_currency: -100.25 }) },
    {
      warning: 'before_signup',
      record: transaction('early', { transaction_date: '2000-06-01T00:00:00Z' }),
    },
    { warning: 'amount_usd', record: transaction('usd', { amount_usd: 0 }) },
    { warning: 'unmapped_status', record: transaction('status', { status: 'sample-{run}' }) },
  ]
}

function activitySamples({ activity }: PartnerOptions): Sample[] {
  const day = (instrument: string, changes: object) => ({
    date: '2026-10-22',
    customer_id: '{customer}',
    instrument,
    lots_traded: 1.5,
    currency: 'USD',
    ...activity,
    ...changes,
  })
  return [
    { error: 'date', record: day('EURUSD', { date: '2026-02-30' }) },
    { error: 'minimum', record: day('GBPUSD', { lots_traded: -1.5 }) },
    // A sum of binary floating-point numbers has too many digits.
    { error: 'digits', record: day('XAUUSD', { pnl: 0.1 + 0.2 }) },
  ]
}

/** Returns the sample run of a partner firm. */
export const partnerSampleRun = (options: PartnerOptions): SampleRun => ({
  steps: [
    ...newCustomerSteps(FIRST),
    {
      title: 'A newer version of the customer',
      resource: 'customers',
      needsStored: true,
      samples: [{ outcome: 'updated', record: version('AT', '2026-10-23T09:00:00Z') }],
    },
    {
      title: 'The customer under another affiliate',
      resource: 'customers',
      needsStored: true,
      samples: [
        {
          warning: 'affiliation_changed',
          record: { ...version('AT', '2026-10-23T10:00:00Z'), affiliate_id: '{other}' },
        },
      ],
    },
    {
      title: 'An older version of the customer',
      resource: 'customers',
      needsStored: true,
      samples: [{ outcome: 'stale', record: version('CH', '2026-10-21T09:00:00Z') }],
    },
    {
      title: 'Customers with one mistake each, after a valid one',
      resource: 'customers',
      samples: customerErrors,
    },
    {
      title: 'Customers that are accepted with a warning',
      resource: 'customers',
      samples: customerWarnings,
    },
    {
      title: 'Transactions with one mistake each, and some with a warning',
      resource: 'transactions',
      samples: transactionSamples(options),
    },
    {
      title: 'Trading activity with one mistake each',
      resource: 'trading-activity',
      samples: activitySamples(options),
    },
    {
      title: 'A request without records',
      resource: 'customers',
      wholeError: 'record_count',
      samples: [],
    },
  ],
  notShown: { erased: 'only the integrations team erases the personal data of a customer' },
})
