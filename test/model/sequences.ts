import fc, { type Arbitrary } from 'fast-check'
import type { Account, Data, Delivery } from './oracle.ts'

// Generates requests. The pools of ids are so small that the accounts use the same ids again and again.

/** A request to one of the two accounts. */
export type Step = { at: 0 | 1 } & (
  | { do: 'deliver'; delivery: Delivery; wrapped: boolean; minimal: boolean }
  | { do: 'resend'; which: number; reversed: boolean; amended: boolean }
  | { do: 'erase'; customer: string }
  | { do: 'read'; resource: string; customer?: string; from?: string; to?: string }
)

export const IDS = ['c-1', 'C-1', '0b9fb2a0-7f7e-4c0e-9d8e-3a4f1e2d5c6b']
const DAYS = ['2026-10-01', '2026-10-02', '2026-10-03']
const AMOUNTS = [0.1, 0.2, 0.7, 19.99, -5.05, 1234567.89]

const one = <T>(...values: T[]) => fc.constantFrom(...values)
const rarely = <T, U>(usual: Arbitrary<T>, rare: Arbitrary<U>): Arbitrary<T | U> =>
  fc.oneof({ arbitrary: usual, weight: 30 }, { arbitrary: rare, weight: 1 })

/** Generates a record with the first members, and any of the second. */
function record(required: Record<string, Arbitrary<unknown>>, optional = {}) {
  const requiredKeys = Object.keys(required)
  const whole = fc.record({ ...required, ...optional }, { requiredKeys }) as Arbitrary<Data>
  return rarely(
    whole,
    fc.tuple(whole, one(...requiredKeys)).map(([sent, name]) => {
      const { [name]: _, ...less } = sent
      return less
    }),
  )
}

const instant = one(
  '2026-10-01T23:30:00Z',
  '2026-10-02T01:30:00+02:00',
  '2026-10-02T08:00:00.5Z',
  '2026-10-03T01:00:00-01:00',
)
const customer_id = one(...IDS)
const currency = rarely(one('EUR', 'EUR', 'USD', 'HRK'), one('EUX'))
const amount = one(...AMOUNTS)

const partnerRecords = (vertical: 'forex' | 'prop-trading'): Record<string, Arbitrary<Data>> => ({
  customers: record(
    {
      customer_id,
      signup_date: instant,
      affiliate_id: one('aff-1', 'aff-1', 'aff-2'),
      tracking_data: one('x', 'y'),
    },
    {
      last_modified_date: instant,
      first_name: one('Augusta', 'Evelyn'),
      email: one('ada@a.example'),
      ...(vertical === 'forex' ? { leverage: one('1:30') } : { phase: one('phase_1', 'funded') }),
    },
  ),
  transactions: record(
    {
      transaction_id: one('t-1', 't-2', 'T-2', 't-3'),
      customer_id,
      transaction_type: rarely(
        vertical === 'forex' ? one('deposit', 'withdrawal') : one('challenge_fee', 'payout'),
        vertical === 'forex' ? one('challenge_fee') : one('deposit'),
      ),
      amount_currency: rarely(amount, one(0.001)),
      currency,
      transaction_date: instant,
      status: one('pending', 'approved'),
    },
    { note: one('n'), amount_usd: one(0.123456) },
  ),
  'trading-activity': record(
    {
      date: one(...DAYS),
      customer_id,
      instrument: one('EURUSD', 'eurusd'),
      lots_traded: rarely(one(0.1, 0.2, 1.07), one(-1, 0.001)),
      currency,
      ...(vertical === 'prop-trading' && { pnl: amount }),
    },
    vertical === 'forex'
      ? { pnl: one(-0.000001, 0.3), spread_cost: one(0.1, 0.2), commission: one(0.7) }
      : { drawdown: one(2.5), max_drawdown: one(0.1) },
  ),
})

const decimal = one<unknown>('0.10', 0.1, '0.2', '19.99', '-5.05', 100, '100.00')
const createtime = one(
  '2026-10-01',
  '2026-10-02',
  '2026-10-02 09:30',
  '2026-10-02 09:30:00',
  '2026-10-02T09:30',
  '2026-10-03T02:30:00Z',
)

const brandRecords: Record<string, Arbitrary<Data>> = {
  customers: record(
    { customerId: customer_id },
    {
      regtime: one('2026-10-01', '2026-10-01 08:30', '2026-10-01 08:30:00', '2026-10-03T02:30:00Z'),
      country: one('DE', null),
      firstName: one('Augusta', 'Evelyn'),
      tracking_data: one('x', 'y', '', 'z'.repeat(51), null),
      vip: one<unknown>(true, 1, null),
      crm: one({ a: 1 }, { b: 2 }),
    },
  ),
  activities: fc.oneof(
    record(
      {
        eventname: one('Deposit', 'Bet'),
        customerid: customer_id,
        Value: rarely(decimal, one('x')),
      },
      {
        createtime,
        eventid: one('e-1', 'e-2'),
        Currency: one('EUR', 'USD'),
        product: one('casino', 'Sports'),
        method: one<unknown>('card', '1', null),
      },
    ),
    record(
      { eventname: one('DailyStats'), customerid: customer_id },
      {
        createtime,
        eventid: one('e-1', 'e-2', 'e-3'),
        Currency: one('EUR', 'USD'),
        Product: one('Casino', 'casino', 'Slots'),
        GGR: decimal,
        NGR: decimal,
        Bonus: one<unknown>('1,000.00', '5'),
      },
    ),
  ),
}

const kinds = { minLength: 1, maxLength: 4, size: 'max' } as const

/** Generates the settings of an account of this vertical. */
export const account = (vertical: Account['vertical']): Arbitrary<Account> =>
  fc.record({
    vertical: fc.constant(vertical),
    unknown_customer: one<'hold' | 'reject'>('hold', 'hold', 'reject'),
    unknown_affiliate: one<'warn' | 'reject'>('warn', 'warn', 'reject'),
    affiliates: one(['aff-1'], ['aff-1', 'aff-2']),
    time_zone: one('UTC', 'America/New_York'),
    events: vertical === 'igaming' ? definitions : fc.constant({}),
  })

const definitions = fc.record(
  {
    DailyStats: fc.record(
      {
        granularity: one<'day' | 'event'>('day', 'event'),
        eventid: one<'required' | 'used' | 'ignored'>('required', 'used', 'ignored'),
        kpis: one(['GGR', 'NGR'], ['GGR']),
        product: fc.constant({ field: 'Product', map: { Casino: 'casino' } }),
        currency: one('EUR'),
      },
      { requiredKeys: ['granularity', 'eventid', 'kpis'] },
    ),
  },
  { requiredKeys: [] },
)

/** Generates sequences of requests to two accounts of these verticals. */
export function steps(verticals: readonly [Account['vertical'], Account['vertical']]) {
  const of = ([0, 1] as const).map((at) => stepsOf(at, verticals[at]))
  return fc.array(fc.oneof(...of), { minLength: 1, maxLength: 14, size: 'max' })
}

function stepsOf(at: 0 | 1, vertical: Account['vertical']): Arbitrary<Step> {
  const brand = vertical === 'igaming'
  const records = brand ? brandRecords : partnerRecords(vertical)
  const resources = Object.keys(records)
  const here = fc.constant(at)
  const deliver = (resource: string) =>
    fc
      .record({
        records: fc.array(records[resource]!, kinds),
        lenient: one(false, true),
        dry_run: one(false, false, false, true),
        single: one(false, false, true),
        wrapped: one(false, true),
        twice: one(false, false, brand),
        minimal: one(false, false, true),
        idempotency_key: brand ? one(undefined, 'k-1', 'k-2') : fc.constant(undefined),
      })
      .map(({ wrapped, minimal, records, single, twice, ...rest }): Step => {
        const all = twice ? [...records, records[0]!] : records
        const sent = single ? records.slice(0, 1) : all
        const delivery = { ...rest, resource, single, records: sent }
        return { at, do: 'deliver', wrapped: wrapped && !brand, minimal, delivery }
      })
  return fc.oneof(
    ...resources.map((resource) => ({ arbitrary: deliver(resource), weight: 3 })),
    {
      arbitrary: fc.record({
        at: here,
        do: fc.constant('resend' as const),
        which: fc.nat(5),
        reversed: one(false, false, true),
        amended: brand ? one(false, true) : fc.constant(false),
      }),
      weight: 3,
    },
    {
      arbitrary: fc.record({ at: here, do: fc.constant('erase' as const), customer: customer_id }),
      weight: 2,
    },
    {
      arbitrary: fc.record(
        {
          at: here,
          do: fc.constant('read' as const),
          resource: one(...resources),
          customer: customer_id,
          from: one(...DAYS.slice(0, 2)),
          to: one(...DAYS.slice(1)),
        },
        { requiredKeys: ['at', 'do', 'resource'] },
      ),
      weight: 2,
    },
  )
}
