import { begunWith, type Lesson, type Sample } from './lesson.ts'

/** What a vertical's records say beside what those of all partners do. */
interface Own {
  /** What it calls the most common transaction, and that with a letter too many. */
  transaction_type: string
  misspelt: string
  /** What trading activity must have. */
  activity: object
}

/** A customer that is right, but for what is said of it. */
const customer = (name: string, differs: object = {}) => ({
  customer_id: `lesson-{run}-${name}`,
  signup_date: '2026-10-01T08:30:00Z',
  affiliate_id: '{affiliate}',
  tracking_data: 'click-42',
  ...differs,
})

const { tracking_data: _, ...untracked } = customer('required')

/** What became of it, each time it is sent. */
const version = (country_code: string, last_modified_date: string) =>
  customer('1', { country_code, last_modified_date })
const FIRST = version('DE', '2026-10-02T09:00:00Z')

const customerErrors: Sample[] = [
  { record: customer('twice') },
  { error: 'duplicate_key', record: customer('twice', { lang_id: 'de' }) },
  { error: 'required', outcome: 'rejected', record: untracked },
  { error: 'unknown_field', record: customer('unknown', { contry_code: 'DE' }) },
  { error: 'type', record: customer('type', { kyc_status_id: 2 }) },
  { error: 'date_time', record: customer('time', { signup_date: '2026-10-01 08:30:00' }) },
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
    record: customer('affiliate', { affiliate_id: 'lesson-{run}-nobody' }),
  },
]

const customerWarnings: Sample[] = [
  {
    warning: 'unknown_affiliate',
    record: customer('affiliate', { affiliate_id: 'lesson-{run}-nobody' }),
  },
  { warning: 'altered', record: customer('altered', { tracking_data: '{altered}' }) },
  { warning: 'foreign', record: customer('foreign', { tracking_data: '{foreign}' }) },
  {
    warning: 'conflict',
    record: customer('conflict', { tracking_data: '{own}', affiliate_id: '{other}' }),
  },
]

function transactionSamples({ transaction_type, misspelt }: Own): Sample[] {
  const transaction = (name: string, differs: object) => ({
    transaction_id: `lesson-{run}-${name}`,
    customer_id: '{customer}',
    transaction_type,
    status: 'approved',
    amount_currency: 100.25,
    currency: 'EUR',
    transaction_date: '2026-10-02T09:30:00Z',
    ...differs,
  })
  const stranger = transaction('stranger', { customer_id: 'lesson-{run}-nobody' })
  return [
    { error: 'currency', record: transaction('currency', { currency: 'EUX' }) },
    { error: 'decimals', record: transaction('decimals', { amount_currency: 100.255 }) },
    { error: 'number', record: transaction('number', { amount_usd: '{1e400}' }) },
    { error: 'enum', record: transaction('enum', { transaction_type: misspelt }) },
    { error: 'unknown_customer', record: stranger },
    { outcome: 'held', record: stranger },
    { warning: 'withdrawn_currency', record: transaction('withdrawn', { currency: 'HRK' }) },
  ]
}

function activitySamples({ activity }: Own): Sample[] {
  const day = (instrument: string, differs: object) => ({
    date: '2026-10-02',
    customer_id: '{customer}',
    instrument,
    lots_traded: 1.5,
    currency: 'USD',
    ...activity,
    ...differs,
  })
  return [
    { error: 'date', record: day('EURUSD', { date: '2026-02-30' }) },
    { error: 'minimum', record: day('GBPUSD', { lots_traded: -1.5 }) },
    // What a sum of binary fractions is written as.
    { error: 'digits', record: day('XAUUSD', { pnl: 0.1 + 0.2 }) },
  ]
}

/** The first lesson of a partner firm. */
export const partnerLesson = (own: Own): Lesson => ({
  steps: [
    ...begunWith(FIRST),
    {
      title: 'A newer version of it',
      resource: 'customers',
      needsStored: true,
      samples: [{ outcome: 'updated', record: version('AT', '2026-10-03T09:00:00Z') }],
    },
    {
      title: 'An older version of it',
      resource: 'customers',
      needsStored: true,
      samples: [{ outcome: 'stale', record: version('CH', '2026-10-01T09:00:00Z') }],
    },
    {
      title: 'Customers with one mistake each, behind one that is right',
      resource: 'customers',
      samples: customerErrors,
    },
    {
      title: 'Customers that are stored with a warning',
      resource: 'customers',
      samples: customerWarnings,
    },
    {
      title: 'Transactions with one mistake each, and one with a warning',
      resource: 'transactions',
      samples: transactionSamples(own),
    },
    {
      title: 'Days of trading with one mistake each',
      resource: 'trading-activity',
      samples: activitySamples(own),
    },
    {
      title: 'A request without a record',
      resource: 'customers',
      whole: 'record_count',
      samples: [],
    },
  ],
  elsewhere: { erased: 'only the integrations team erases the personal data of a customer' },
})
