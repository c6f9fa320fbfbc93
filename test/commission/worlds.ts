import { instantOfLocalTime } from '../../src/platform/zone.ts'
import { addPlans, changeMeasures } from './random-plans.ts'
import { stageFacts } from './staged-facts.ts'
import type {
  World,
  WorldActivity,
  WorldCustomer,
  WorldEvent,
  WorldFields,
  WorldTransaction,
} from './world.ts'

// Random worlds, the same for the same seed. They are small, so that a difference between the engine
// and the oracle can be followed by hand, and crowd many features into a few facts.

/** A generator of random numbers with a seed (mulberry32). */
export function randomSource(seed: number) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (count: number) => Math.floor(next() * count)
  return {
    /** Returns a whole number from 0 to `count` - 1. */
    below,
    between: (from: number, to: number) => from + below(to - from + 1),
    /** Returns true once in `times`. */
    oneIn: (times: number) => below(times) === 0,
    pick: <T>(all: readonly T[]): T => all[below(all.length)]!,
    /** Returns some of a list, in its order, at least one. */
    some<T>(all: readonly T[]): T[] {
      const kept = all.filter(() => below(2) === 0)
      return kept.length > 0 ? kept : [all[below(all.length)]!]
    },
    /** Returns a list in a random order. */
    shuffle: <T>(list: readonly T[]): T[] =>
      list
        .map((one) => [below(1_000_000), one] as const)
        .sort(([a], [b]) => a - b)
        .map(([, one]) => one),
  }
}

export type Source = ReturnType<typeof randomSource>

const DAY_MS = 86_400_000
const dayOf = (instant: number) => new Date(instant).toISOString().slice(0, 10)
const startOf = (day: string) => Date.parse(`${day}T00:00:00Z`)
const addDays = (day: string, days: number) => dayOf(startOf(day) + days * DAY_MS)

/** Where a world lies in time. */
export interface Span {
  first: string
  days: number
}

/** February of a leap year and of others, and the end of years with and without an ISO week 53. */
const STARTS = ['2023-12-04', '2015-11-09', '2026-01-01', '2025-11-24', '2026-05-25', '2020-11-23']

const AFFILIATES = ['a1', 'a2', 'a10', 'B1', 'b-2', 'a3', 'z', 'a20']
const INSTRUMENTS = ['EURUSD', 'eurusd.m', 'XAUUSD', 'GBPUSD', 'US30', 'BTC-USD', 'EURUS']
const CURRENCIES = ['EUR', 'USD', 'JPY', 'KWD', 'GBP']
const PRODUCTS = ['casino', 'sports', 'poker']
const KPIS = ['ngr', 'stake', 'bonus']
const EVENTS = ['bet', 'deposit', 'ftd']
const TYPES = {
  'prop-trading': ['challenge_fee', 'reset_fee', 'payout', 'refund'],
  forex: ['deposit', 'withdrawal', 'ib_rebate', 'credit'],
  igaming: [],
}
const SUBTYPES = ['card', 'crypto', 'wire']

/** Returns an amount: usually few values, so that thresholds are met exactly, at times many digits. */
function amount(from: Source): number {
  const kind = from.below(20)
  if (kind < 11) return from.pick([0, 1, 10, 20, 50, 100, 100, 150, 250, 500, 1000])
  if (kind < 14) return -from.pick([1, 5, 10, 50, 100, 250, 500, 1000])
  if (kind < 17) return from.between(-9999, 99_999) / 100
  if (kind < 19) return from.between(1, 999_999_999) / 10 ** from.between(3, 8)
  return from.pick([0.005, 0.015, 2.5, 1e-7, 1e-8, 0.125, -0.005, 12_345_678.25])
}

const DAY_PARTS = [0, 0, 1, 12 * 3_600_000, DAY_MS - 1]

/** Returns an instant of the span: often one of a few, so that there are ties. */
function instant(from: Source, { first, days }: Span): number {
  const day = startOf(addDays(first, from.below(days)))
  return day + (from.oneIn(3) ? from.below(DAY_MS) : from.pick(DAY_PARTS))
}

const day = (from: Source, { first, days }: Span) => addDays(first, from.below(days))

/** Returns a history: a first value that holds from the beginning, and at times others. */
function history<T>(from: Source, span: Span, value: () => T): { from: string | null; value: T }[] {
  const days = Array.from({ length: from.oneIn(3) ? from.between(1, 2) : 0 }, () => day(from, span))
  const changes = [...new Set(days)].sort()
  return [null, ...changes].map((start) => ({ from: start, value: value() }))
}

function affiliates(from: Source, span: Span): World['affiliates'] {
  const ids = AFFILIATES.slice(0, from.between(2, AFFILIATES.length))
  return ids
    .map((affiliate_id, at) => ({
      affiliate_id,
      parents: history(from, span, () =>
        at === 0 || from.oneIn(4) ? null : ids[from.below(Math.min(at, 3))]!,
      ).map(({ from: start, value }) => ({ from: start, parent: value })),
    }))
    .filter((_, at) => at === 0 || !from.oneIn(8))
}

const FIELDS: { [F in keyof WorldFields]-?: readonly NonNullable<WorldFields[F]>[] } = {
  country_code: ['DE', 'CZ', 'JP', 'de', 'Germany', ' jpn'],
  trading_account_type: ['standard', 'raw'],
  challenge_type: ['one-step', 'two-step'],
  phase: ['phase_1', 'phase_2', 'funded'],
  kyc_status_id: ['0', '1', '2'],
  sales_status_id: ['new', 'lost'],
  account_size: [10_000, 50_000, 100_000.5],
  link: ['l1', 'l2'],
}

function fields(from: Source): WorldFields {
  const entries = Object.entries(FIELDS).filter(() => !from.oneIn(5))
  return Object.fromEntries(
    entries.map(([name, values]) => [name, from.pick<string | number>(values)]),
  )
}

function customers(from: Source, span: Span, ids: string[]): WorldCustomer[] {
  // A signup may lie before the span, and facts before a signup.
  const early = { first: addDays(span.first, -40), days: span.days + 20 }
  return Array.from({ length: from.between(3, 12) }, (_, at): WorldCustomer => {
    const affiliate = () =>
      from.oneIn(16) ? null : from.oneIn(20) ? 'unknown' : from.pick(ids.slice(0, 3))
    const values = () => fields(from)
    return {
      customer_id: `c${at + 1}`,
      signup: instant(from, from.oneIn(3) ? early : { ...span, days: Math.ceil(span.days / 2) }),
      affiliates: history(from, span, affiliate).map((one) => ({
        from: one.from,
        affiliate_id: one.value,
      })),
      fields: history(from, span, values).map((one) => ({ from: one.from, values: one.value })),
      ...(from.oneIn(16) && { refused: { from: from.oneIn(3) ? null : day(from, span) } }),
    }
  })
}

const STATUSES = [
  'approved',
  'ok',
  'ok',
  'ok',
  'ok',
  'approved',
  'pending',
  'bad',
  'reversed',
  'odd',
]

function transactions(from: Source, span: Span, world: World): WorldTransaction[] {
  const types = TYPES[world.vertical].slice(0, 3)
  const few = world.customers.slice(0, from.between(1, world.customers.length))
  const count = from.oneIn(12) ? 0 : from.between(4, 30)
  return Array.from({ length: count }, (_, at): WorldTransaction => {
    const currency = from.pick(CURRENCIES)
    const value = amount(from)
    const customer = from.pick(few)
    // Some facts lie close to the signup, where windows open and close.
    const near = customer.signup + from.pick([-1, 0, 0, 1, 5, 7, 10, 30]) * DAY_MS
    const last = startOf(addDays(span.first, span.days)) - 1
    const start = startOf(span.first)
    return {
      transaction_id: `t${String(from.oneIn(2) ? at : 100 - at)}`,
      customer_id: customer.customer_id,
      transaction_type: from.pick(types),
      ...(from.oneIn(2) && { transaction_subtype: from.pick(SUBTYPES) }),
      amount_currency: from.oneIn(3) ? value : Math.abs(value),
      currency: from.oneIn(15) ? 'XOF' : currency,
      ...(from.oneIn(4) && { amount_usd: currency === 'USD' ? value : amount(from) }),
      at: from.oneIn(2) && near >= start && near <= last ? near : instant(from, span),
      status: from.pick(STATUSES),
    }
  }).filter((one, at, all) => all.findIndex((o) => o.transaction_id === one.transaction_id) === at)
}

function activity(from: Source, span: Span, world: World): WorldActivity[] {
  const days = Array.from({ length: 6 }, () => day(from, span))
  const few = world.customers.slice(0, from.between(1, world.customers.length))
  const rows = Array.from({ length: from.between(0, 16) }, (): WorldActivity => {
    const customer = from.pick(few)
    const signupDay = dayOf(customer.signup)
    return {
      date: from.oneIn(6) && signupDay >= span.first ? signupDay : from.pick(days),
      customer_id: customer.customer_id,
      instrument: from.pick(INSTRUMENTS),
      currency: from.pick(CURRENCIES),
      lots_traded: from.pick([0, 1, 3, 5, 7, 10.5, 0.01, 2.345]),
      ...(!from.oneIn(4) && { pnl: from.oneIn(2) ? amount(from) : -amount(from) }),
      ...(from.oneIn(2) && { volume_usd: from.pick([0, 1000, 100_000, 250_000.5, 1_234_567.891]) }),
      ...(!from.oneIn(3) && { spread_cost: Math.abs(amount(from)) }),
      ...(from.oneIn(2) && { commission: amount(from) }),
    }
  })
  const id = (one: WorldActivity) =>
    [one.date, one.customer_id, one.instrument, one.currency].join('|')
  return rows.filter((one, at) => rows.findIndex((other) => id(other) === id(one)) === at)
}

function events(from: Source, span: Span, world: World): WorldEvent[] {
  const few = world.customers.slice(0, from.between(1, world.customers.length))
  const hasStatus = from.oneIn(3)
  return Array.from({ length: from.oneIn(12) ? 0 : from.between(5, 45) }, (_, at): WorldEvent => {
    const at_ = instant(from, span)
    const kpis = Object.fromEntries(
      KPIS.filter(() => !from.oneIn(3)).map((name) => [
        name,
        from.oneIn(3) ? -amount(from) : amount(from),
      ]),
    )
    return {
      id: `e${from.oneIn(2) ? at : 200 - at}`,
      customer_id: from.pick(few).customer_id,
      eventname: from.pick(EVENTS),
      ...(!from.oneIn(3) && { at: at_ }),
      day: dayOf(at_),
      ...(hasStatus && !from.oneIn(3) && { status: from.pick(STATUSES) }),
      ...(!from.oneIn(3) && { Value: from.oneIn(3) ? amount(from) : Math.abs(amount(from)) }),
      ...(!from.oneIn(8) && { Currency: from.oneIn(15) ? 'XOF' : from.pick(CURRENCIES) }),
      ...(!from.oneIn(4) && { product: from.pick(PRODUCTS) }),
      ...(Object.keys(kpis).length > 0 && { kpis }),
    }
  })
}

const RATES: Record<string, string[]> = {
  USD: ['1.0956', '1.1', '1.083', '1'],
  JPY: ['161.33', '160', '158.9105'],
  KWD: ['0.33512', '0.34'],
  GBP: ['0.8431', '0.85', '0.8'],
}

/** Returns rates of working days, at times with gaps, and often none at the end of the span. */
function rates(from: Source, span: Span): World['rates'] {
  const published: World['rates'] = []
  const until = from.oneIn(2) ? span.days + 7 : from.between(1, span.days)
  const days = Array.from({ length: until + 10 }, (_, at) => addDays(span.first, at - 10))
  for (const currency of Object.keys(RATES)) {
    const gap = from.oneIn(3) ? { start: from.below(span.days), length: from.between(3, 25) } : null
    for (const [index, on] of days.entries()) {
      const at = index - 10
      // Few days have rates of their own; the others take the last one.
      const inGap = gap && at >= gap.start && at < gap.start + gap.length
      if (!inGap && (index % 3 === 0 || index % 7 === 2))
        published.push({ day: on, currency, rate: from.pick(RATES[currency]!) })
    }
  }
  return from.oneIn(25) ? [] : published
}

/** Returns the world of a seed, without plans; `days` are its days if they are not left to chance. */
export function randomFacts(from: Source, days?: number): { world: World; span: Span } {
  const vertical = from.pick(['forex', 'forex', 'prop-trading', 'igaming'] as const)
  const span = { first: from.pick(STARTS), days: from.pick([20, 60, 60, 95, 125]) }
  if (days !== undefined) span.days = days
  const world: World = {
    vertical,
    ...(from.oneIn(4) && { amount_signs: 'signed', outflows: from.some(EVENTS) }),
    // Some days of a few worlds have not come.
    ...(from.oneIn(6) && {
      now:
        instant(from, { ...span, days: Math.ceil(span.days / 3) }) + (span.days * DAY_MS * 2) / 3,
    }),
    affiliates: affiliates(from, span),
    status_map: from.oneIn(5)
      ? { ok: 'approved', approved: 'pending' }
      : { ok: 'approved', bad: 'declined' },
    customers: [],
    transactions: [],
    activity: [],
    events: [],
    rates: rates(from, span),
    plans: [],
    assignments: [],
  }
  world.customers = customers(
    from,
    span,
    world.affiliates.map((one) => one.affiliate_id),
  )
  if (vertical === 'igaming') world.events = events(from, span, world)
  else {
    world.transactions = transactions(from, span, world)
    world.activity = activity(from, span, world)
  }
  return { world, span }
}

/** Returns the world of a seed; `days` are its days if they are not left to chance. */
export function randomWorld(seed: number, days?: number): World {
  const from = randomSource(seed)
  const { world, span } = randomFacts(from, days)
  const planned = stageFacts(from, addPlans(from, world, span))
  return changeMeasures(randomSource(seed + 0.5 * 2 ** 32), planned)
}

/** Zones whose offset changes within worlds: by an hour, at midnight, in winter; and one of 5:30 h. */
const ZONES = [
  'America/New_York',
  'America/Havana',
  'Africa/Casablanca',
  'Asia/Kolkata',
  'Pacific/Auckland',
]

/** Returns the world of a seed, where it is a partner's, with a book zone in place of UTC. */
export function zonedWorld(seed: number): World | null {
  const world = randomWorld(seed)
  if (world.vertical === 'igaming') return null
  const book_zone = ZONES[seed % ZONES.length]!
  // What was at midnight in UTC is at midnight in the zone, so that ties and edges of days remain.
  const moved = (at: number) => instantOfLocalTime(book_zone, at).instant
  return {
    ...world,
    book_zone,
    customers: world.customers.map((one) => ({ ...one, signup: moved(one.signup) })),
    transactions: world.transactions.map((one) => ({ ...one, at: moved(one.at) })),
  }
}

const isoWeek = (on: string) => {
  const thursday = addDays(on, 3 - ((new Date(startOf(on)).getUTCDay() + 6) % 7))
  const days = (startOf(thursday) - startOf(`${thursday.slice(0, 4)}-01-01`)) / DAY_MS
  return `${thursday.slice(0, 4)}-W${String(Math.floor(days / 7) + 1).padStart(2, '0')}`
}

/** Returns the months in which a world has facts, without gaps, and the next; weeks if a plan has weeks. */
export function periodsOf(world: World): string[] {
  const days = [
    ...world.customers.map(({ signup }) => dayOf(signup)),
    ...world.transactions.map(({ at }) => dayOf(at)),
    ...world.activity.map(({ date }) => date),
    ...world.events.map((one) => one.day),
  ].sort()
  const last = addDays(days.at(-1)!, 31)
  const isWeekly = ({ versions }: World['plans'][number]) =>
    (versions[0]!.terms as { period: string }).period === 'week'
  const all = new Set<string>()
  for (let on = days[0]!; on <= last; on = addDays(on, 27)) all.add(on.slice(0, 7))
  all.add(last.slice(0, 7))
  if (world.plans.some(isWeekly))
    for (let on = days[0]!; on <= addDays(last, -18); on = addDays(on, 7)) all.add(isoWeek(on))
  return [...all]
}

/** Yields seeds: as many as these, and up to 100 more while something is missing that worlds have to meet. */
export function* seedsFrom(first: number, count: number, isMissing: () => boolean) {
  for (let i = 0; i < count || (i < count + 100 && isMissing()); i++) yield first + i
}
