import { newCustomerSteps, type SampleRun } from './sample.ts'

/** Returns a valid event with some members replaced. */
const event = (name: string, changes: object = {}) => ({
  eventname: 'sample_bet',
  customerid: '{customer}',
  eventid: `sample-{run}-${name}`,
  createtime: '2026-10-22 09:30',
  Value: '100.00',
  Currency: 'EUR',
  ...changes,
})

const customer = (name: string, changes: object = {}) => ({
  customerId: `sample-{run}-${name}`,
  regtime: '2024-10-21 08:30',
  tracking_data: '{own?}',
  ...changes,
})

const FIRST = customer('1', { country: 'DE' })

const { eventid: _, ...unnamed } = event('')
const { createtime: __, ...withoutTime } = event('undated')
const { regtime: ___, ...unregistered } = customer('unregistered')
const { Value: ____, ...worthless } = event('worthless')
const stranger = event('stranger', { customerid: 'sample-{run}-nobody' })

/** The sample run of a brand. */
export const igaming: SampleRun = {
  steps: [
    ...newCustomerSteps(FIRST),
    {
      title: 'Another field of the customer: missing fields are kept',
      resource: 'customers',
      needsStored: true,
      samples: [
        { outcome: 'updated', record: { customerId: 'sample-{run}-1', firstName: 'Jane' } },
      ],
    },
    {
      title: 'Customers with one mistake each, after a valid one',
      resource: 'customers',
      samples: [
        { record: customer('right') },
        { error: 'required', outcome: 'rejected', record: { country: 'DE' } },
        { error: 'type', record: customer('', { customerId: 1001 }) },
        { error: 'date_time', record: customer('time', { regtime: '01.10.2026 08:30' }) },
        { error: 'length', record: customer('length', { country: '' }) },
        { error: 'text', record: customer('text', { lastName: 'Doe\u0000' }) },
      ],
    },
    {
      title: 'Customers that are accepted with a warning',
      resource: 'customers',
      samples: [
        { warning: 'unattributed', record: customer('organic', { tracking_data: undefined }) },
        { warning: 'altered', record: customer('altered', { tracking_data: '{altered}' }) },
        { warning: 'foreign', record: customer('foreign', { tracking_data: '{foreign}' }) },
        { warning: 'unrecognised', record: customer('own', { tracking_data: 'click-42' }) },
        { warning: 'field_case', record: customer('case', { Country: 'DE' }) },
        { warning: 'implausible_time', record: customer('epoch', { regtime: '1970-01-01' }) },
        { warning: 'no_regtime', record: unregistered },
        { record: customer('twice') },
        { warning: 'repeated_key', record: customer('twice', { firstName: 'Jane' }) },
        { warning: 'whitespace', record: customer('space', { customerId: 'sample-{run}-space ' }) },
        { warning: 'country', record: customer('country', { country: 'Germany' }) },
      ],
    },
    {
      title: 'Activities with one mistake each',
      resource: 'activities',
      samples: [
        { error: 'field_case', record: { ...withoutTime, CreateTime: '2026-10-22 09:30' } },
        { error: 'currency', record: event('currency', { Currency: 'EURO' }) },
        { error: 'number', record: event('number', { Value: '1,000.00' }) },
        // A sum of binary floating-point numbers has too many digits.
        { error: 'digits', record: event('digits', { Value: 0.1 + 0.2 }) },
        { error: 'no_kpi', record: worthless },
        { error: 'unknown_customer', record: stranger },
      ],
    },
    {
      title: 'Activities that are accepted with a warning, and one that is held for its customer',
      resource: 'activities',
      samples: [
        { warning: 'not_deduplicated', record: unnamed },
        { warning: 'no_createtime', record: withoutTime },
        { warning: 'skipped_time', record: event('skipped', { createtime: '{skipped}' }) },
        { warning: 'ambiguous_time', record: event('ambiguous', { createtime: '{ambiguous}' }) },
        { warning: 'not_a_number', record: { ...worthless, GGR: '12.50', NGR: '1,000.00' } },
        { warning: 'unmapped_product', record: event('product', { product: 'Lottery' }) },
        { warning: 'before_signup', record: event('early', { createtime: '2000-06-01 00:00' }) },
        { warning: 'withdrawn_currency', record: event('withdrawn', { Currency: 'HRK' }) },
        { outcome: 'held', record: stranger },
      ],
    },
    {
      title: 'An activity under an Idempotency-Key',
      resource: 'activities',
      stores: true,
      idempotencyKey: 'sample-{run}',
      samples: [{ outcome: 'created', record: event('1') }],
    },
    {
      title: 'Another activity under the same Idempotency-Key',
      resource: 'activities',
      needsStored: true,
      idempotencyKey: 'sample-{run}',
      wholeError: 'idempotency_key_reused',
      samples: [{ record: event('2') }],
    },
    {
      title: 'Another event under the eventid of the first',
      resource: 'activities',
      needsStored: true,
      samples: [{ warning: 'changed_event', record: event('1', { eventname: 'sample_cashout' }) }],
    },
    {
      title: 'A request without records',
      resource: 'activities',
      wholeError: 'record_count',
      samples: [],
    },
  ],
  notShown: {
    affiliation_changed: 'it needs links of two affiliates',
    erased: 'only the integrations team erases the personal data of a customer',
    negative_amount: 'it needs an event definition of an outflow',
    unmapped_status: 'it needs an event definition with a status member',
    unknown_event: 'it needs an event definition of a similar name',
  },
}
