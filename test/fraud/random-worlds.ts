import { storable } from '../commission/stored-world.ts'
import type { World } from '../commission/world.ts'
import { randomSource, randomWorld, type Source } from '../commission/worlds.ts'
import type { FraudWorld } from './fraud-world.ts'

// Random worlds of commissions, with what only fraud rules look at: crowds of signups, pairs of opposite
// trades, drawdowns, failed challenges, codes of links and statements. And random rules, whose thresholds
// are low, so that small worlds reach them.

const DAY_MS = 86_400_000
const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)

/** The days of a world that rules are applied to. */
export interface Days {
  first: string
  last: string
}

/** Returns the world of a seed, and some of its days. */
export function fraudWorld(seed: number): { world: FraudWorld; days: Days } {
  const from = randomSource(seed + 77)
  const base = storable(randomWorld(seed))
  // The words for events of money are those of rules.
  const renamed: World = {
    ...base,
    events: base.events
      .filter(({ status }) => status === undefined || from.oneIn(2))
      .map(({ kpis: { stake, ...kpis } = {}, ...one }) => ({
        ...one,
        kpis: { ...kpis, ...(stake !== undefined && { GGR: stake }) },
      })),
  }
  const days = daysOf(from, renamed)
  const world = {
    ...addCrowd(from, renamed, days),
    kpis: from.pick([[], ['GGR', 'bonus'], ['GGR', 'ngr']]),
    clicks: {},
    statements: [],
    payees: [],
    emails: {},
    names: {},
    contacts: {},
  }
  const plans = from.oneIn(2) ? world.plans : withMinimum(world)
  const withRows = { ...world, plans, activity: addPairs(from, world, days) }
  const ready = withRows.customers.map((one) => fail(from, one))
  const final: FraudWorld = {
    ...withRows,
    customers: ready,
    transactions: [...withRows.transactions, ...moreTransactions(from, withRows, days)],
    clicks: Object.fromEntries(
      ready
        .filter(() => from.oneIn(2))
        .map(({ customer_id, signup }) => [
          customer_id,
          signup - from.pick([0, 1000, 9999, 10_000, 60_000, 3_600_000, 90 * 3_600_000]),
        ]),
    ),
    ...identities(from, withRows),
    payees: randomPayees(from, withRows, days),
    statements: randomStatements(from, withRows, days),
  }
  return { world: storable(final) as FraudWorld, days }
}

const DEPOSITS: Record<string, object> = {
  'prop-trading': { transactions: ['challenge_fee'] },
  forex: { transactions: ['deposit'] },
  igaming: { event: 'Deposit' },
}

/** Returns the plans of a world with a rule that asks for a deposit. */
const withMinimum = ({ vertical, plans }: World): World['plans'] =>
  plans.map(({ versions, ...plan }) => ({
    ...plan,
    versions: versions.map(({ version, terms }) => {
      const { rules, ...others } = terms as { rules: object[] }
      const trigger = { ...DEPOSITS[vertical], min: '90' }
      const rule = { id: 'least', kind: 'once', trigger, amount: '10' }
      return { version, terms: { ...others, rules: [...rules, rule] } }
    }),
  }))

/** Returns some days in the later part of a world, and a few after its end. */
function daysOf(from: Source, world: World): Days {
  const all = [
    ...world.customers.map(({ signup }) => signup),
    ...world.transactions.map(({ at }) => at),
    ...world.activity.map(({ date }) => Date.parse(date)),
    ...world.events.map(({ day }) => Date.parse(day)),
  ].sort((a, b) => a - b)
  const last = all[Math.floor(all.length * (0.6 + from.below(40) / 100))]! + from.below(4) * DAY_MS
  return { first: dayOf(last - from.between(6, 14) * DAY_MS), last: dayOf(last) }
}

/** Adds customers who sign up on a few days, most of them in one country. */
function addCrowd(from: Source, world: World, { first, last }: Days): World {
  const { customers } = world
  const span = (Date.parse(last) - Date.parse(first)) / DAY_MS
  const peaks = Array.from({ length: 3 }, () => Date.parse(first) + from.below(span + 1) * DAY_MS)
  const crowd = Array.from({ length: from.pick([0, 4, 8, 14]) }, (_, i) => {
    const model = from.pick(customers)
    const country_code = from.pick(['JP', 'JP', 'DE'])
    return {
      ...model,
      customer_id: `n${i}`,
      signup: from.pick(peaks) + from.pick([0, 1, 3_600_000, 3_700_000, 9 * 3_600_000]),
      fields: model.fields.map(({ from: start, values }) => ({
        from: start,
        values: { ...values, country_code },
      })),
    }
  })
  return { ...world, customers: [...customers, ...crowd] }
}

/** Rounds an amount to the digits that senders have. */
const cut = (amount: number) => Math.round(amount * 1e6) / 1e6

/** Adds drawdowns, and the opposite sides of some trades. */
function addPairs(from: Source, world: World, { first, last }: Days): FraudWorld['activity'] {
  if (world.vertical === 'igaming') return []
  const span = (Date.parse(last) - Date.parse(first)) / DAY_MS
  const regular = world.customers.slice(0, 2).flatMap(({ customer_id }) =>
    Array.from({ length: from.pick([0, 0, 14]) }, (_, i) => ({
      date: dayOf(Date.parse(last) - (i + from.below(2)) * DAY_MS),
      customer_id,
      instrument: 'EURUSD',
      currency: 'EUR',
      lots_traded: from.pick([1, 1, 2, 30]),
      pnl: from.pick([-10, 10, 20, -300]),
      spread_cost: 3,
    })),
  )
  const some = [...world.activity, ...regular]
  const sides = some
    .filter(() => from.oneIn(2))
    .map((one) => ({
      ...one,
      customer_id: from.pick(world.customers).customer_id,
      lots_traded: cut(one.lots_traded * from.pick([1, 1, 1.005, 1.2])),
      ...(one.pnl !== undefined && { pnl: cut(-one.pnl * from.pick([1, 1, 0.95, 0.5])) }),
    }))
  const moved = [...some, ...sides].map((one) =>
    from.oneIn(3)
      ? { ...one, date: dayOf(Date.parse(first) + from.below(span + 1) * DAY_MS) }
      : one,
  )
  const keys = moved.map(({ date, customer_id, instrument, currency }) =>
    [date, customer_id, instrument, currency].join(),
  )
  return moved
    .filter((_, i) => keys.indexOf(keys[i]!) === i)
    .map((one) => ({
      ...one,
      ...(from.oneIn(2) && { drawdown: from.pick([0, 4.99, 5, 5.01, 12]) }),
      ...(from.oneIn(2) && { max_drawdown: from.pick([0, 10, 10.5, 30]) }),
    }))
}

/** Lets some phases fail. */
const fail = (from: Source, customer: World['customers'][number]) => ({
  ...customer,
  fields: customer.fields.map(({ from: start, values }) => ({
    from: start,
    values: from.oneIn(4) ? { ...values, phase: 'failed' } : values,
  })),
})

/** Adds transactions to the days, of those who are followed. */
function moreTransactions(from: Source, world: World, { first, last }: Days) {
  if (world.vertical === 'igaming') return []
  const span = (Date.parse(last) - Date.parse(first)) / DAY_MS
  const types =
    world.vertical === 'forex'
      ? ['deposit', 'withdrawal', 'withdrawal', 'deposit']
      : ['challenge_fee', 'reset_fee', 'payout', 'refund']
  const few = world.customers.slice(0, 4)
  // Those of a crowd deposit once, and do nothing after.
  const idle = world.customers
    .filter(({ customer_id }) => customer_id.startsWith('n'))
    .map(({ customer_id, signup }, i) => ({
      ...{ transaction_id: `i${i}`, customer_id, transaction_type: types[0]!, at: signup },
      ...{ amount_currency: from.pick([100, 250.5, 9000]), currency: 'EUR', status: 'approved' },
    }))
  const more = Array.from({ length: from.pick([0, 10, 25]) }, (_, i) => ({
    transaction_id: `x${i}`,
    customer_id: from.pick(few).customer_id,
    transaction_type: from.pick(types),
    amount_currency: from.pick([90, 100, 100, 101, 250.5]),
    currency: from.pick(['EUR', 'EUR', 'USD', 'XOF']),
    at: Date.parse(first) + from.below(span + 1) * DAY_MS + from.pick([0, 3_600_000, 5]),
    status: from.pick(['approved', 'ok', 'ok', 'bad', 'reversed', 'pending']),
  }))
  return [...idle, ...more]
}

/** Returns bank details of affiliates, some of whom share an account for a while. */
const randomPayees = (from: Source, { affiliates }: World, { first }: Days): FraudWorld['payees'] =>
  affiliates.flatMap(({ affiliate_id }) => {
    const times = Array.from(
      { length: from.below(4) },
      () => Date.parse(first) + from.below(240) * 3_600_000,
    )
    return times
      .sort((a, b) => a - b)
      .map((at, i) => ({
        ...{ affiliate_id, version: i + 1, account: from.pick(['1', '1', '2']), at },
        state: from.pick(['approved', 'entered', 'approved', 'blocked']),
      }))
  })

const EMAILS = [
  'jo.doe@gmail.com',
  'JoDoe+2@Gmail.com',
  'jodoe@googlemail.com',
  ' jo.doe@firm.example',
  'jodoe@firm.example',
  'Jo.Doe+a+b@firm.example',
  'no address',
  '+tag@firm.example',
  '@gmail.com',
]

function identities(from: Source, { customers, affiliates }: World) {
  const some = customers.filter(() => !from.oneIn(3))
  return {
    emails: Object.fromEntries(some.map((one) => [one.customer_id, from.pick(EMAILS)])),
    names: Object.fromEntries(
      some.map((one) => [
        one.customer_id,
        { first_name: from.pick(['Jo', 'jo ', 'Al']), last_name: from.pick(['Doe', 'DOE']) },
      ]),
    ),
    contacts: Object.fromEntries(
      affiliates
        .filter(() => from.oneIn(3))
        .map(({ affiliate_id }) => [affiliate_id, from.pick(EMAILS)]),
    ),
  }
}

/** Returns statements of the months and weeks that end before or within the days. */
function randomStatements(from: Source, world: World, { last }: Days): FraudWorld['statements'] {
  const ends = Array.from({ length: 130 }, (_, i) => Date.parse(last) - i * DAY_MS)
  const ending = ends.flatMap((end) => {
    const after = new Date(end + DAY_MS)
    const months = after.getUTCDate() === 1 ? [dayOf(end).slice(0, 7)] : []
    return after.getUTCDay() === 1 ? [...months, isoWeek(end)] : months
  })
  return world.affiliates.flatMap(({ affiliate_id }) =>
    ending
      .filter(() => !from.oneIn(4))
      .flatMap((period) =>
        (from.oneIn(5) ? ['p1', 'p2'] : ['p1']).map((plan) => ({
          id: `stm_${affiliate_id}_${period}_${plan}`,
          affiliate_id,
          plan,
          period,
          currency: from.pick(['EUR', 'EUR', 'USD']),
          earned: from.pick(['0.00', '10.00', '250.55', '1000.00', '-5.00']),
        })),
      ),
  )
}

function isoWeek(at: number): string {
  const thursday = at + (3 - ((new Date(at).getUTCDay() + 6) % 7)) * DAY_MS
  const year = dayOf(thursday).slice(0, 4)
  const week = Math.floor((thursday - Date.parse(`${year}-01-01`)) / (7 * DAY_MS)) + 1
  return `${year}-W${String(week).padStart(2, '0')}`
}

/** Returns the parameters of a rule of a kind; at times the defaults. */
export function randomParameters(from: Source, kind: string): object {
  const events = {
    deposits: from.pick([['deposit'], ['deposit', 'ftd']]),
    withdrawals: from.pick([['ftd'], ['bet']]),
    bets: from.pick([['bet'], ['bonus']]),
  }
  const some: Record<string, () => object> = {
    shared_identity: () => ({ names: from.oneIn(2) }),
    shared_payee: () => ({}),
    click_to_signup: () => ({
      min_signups: from.between(1, 3),
      days: from.pick([1, 7, 30]),
      share_percent: from.pick(['1', '50', '66.67', '100']),
      ...(from.oneIn(2) && { seconds: from.pick([60, 3600]) }),
    }),
    signup_burst: () => ({ min: from.between(1, 3), times: from.pick(['0.5', '1', '2']) }),
    country_mix: () => ({
      min_signups: from.between(1, 3),
      days: from.pick([1, 7, 20]),
      points: from.pick(['0.5', '10', '40']),
    }),
    minimum_deposit: () => ({
      min_customers: 1,
      days: from.pick([10, 30]),
      share_percent: from.pick(['1', '50']),
      within_percent: from.pick(['0', '200', '100000']),
      idle_days: from.pick([1, 1, 3]),
      events,
    }),
    short_life: () => ({
      min_customers: 1,
      share_percent: from.pick(['1', '80']),
      active_days: from.between(1, 3),
      days: from.pick([3, 10]),
      events,
    }),
    deposit_withdrawal: () => ({
      percent: from.pick(['10', '90']),
      days: from.pick([2, 7, 20]),
      lots: from.pick(['0.1', '5']),
      share_percent: from.pick(['1', '30']),
      min_customers: from.between(1, 2),
      events,
    }),
    reversals: () => ({
      percent: from.pick(['1', '20']),
      min_count: from.between(1, 2),
      days: from.pick([7, 30]),
    }),
    resets: () => ({ count: from.between(1, 3), days: from.pick([3, 14]) }),
    hedge_pair: () => ({
      days: from.between(1, 2),
      window_days: from.pick([5, 30]),
      lots_percent: from.pick(['1', '20']),
      pnl_percent: from.pick(['5', '50']),
    }),
    drawdown_breach: () => ({
      grace_days: from.between(0, 3),
      ...(from.oneIn(2) && {
        by_challenge_type: [{ challenge_type: 'one-step', daily: '4', total: '20' }],
      }),
    }),
    payout_without_trading: () => ({
      days: from.pick([1, 30]),
      times: from.pick(['0.1', '1', '3']),
    }),
    activity_outlier: () => ({ times: from.pick(['0.5', '1.5', '3']) }),
    lot_churn: () => ({ percent: from.pick(['1', '80']), days: from.pick([5, 30]) }),
    commission_over_revenue: () => ({
      periods: from.between(1, 3),
      percent: from.pick(['1', '100']),
      min: from.pick(['0', '10', '500']),
      events,
    }),
  }
  return from.oneIn(12) ? {} : (some[kind]?.() ?? {})
}
