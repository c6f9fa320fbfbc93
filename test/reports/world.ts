import { randomSource } from '../commission/worlds.ts'

// Random accounts for reports: their records with the histories of their customers.

/** Days since 1970-01-01. */
export const dayOf = (text: string) => Date.parse(text) / 86_400_000

/** 2026-09-20, a Sunday: the first day with records. */
export const FIRST = dayOf('2026-09-20')
const DAYS = 45
/** The day of which the last exchange rate is published. */
const LAST_RATE = FIRST + 36

export type Vertical = 'prop-trading' | 'forex' | 'igaming'
type Value = string | number | null

/** What holds from a day on; the first part holds from the beginning. */
export interface Part<T> {
  from: number
  value: T
}

export interface Owner {
  affiliate: string | null
  link: string | null
}

export interface Customer {
  id: string
  day: number
  owners: Part<Owner>[]
  fields: Part<Record<string, Value>>[]
}

export interface Transaction {
  id: string
  customer: string
  day: number
  at: number
  type: string
  status: string
  currency: string
  amount: number
  usd: number | null
  held: boolean
}

export interface Activity {
  customer: string
  day: number
  instrument: string
  currency: string
  amounts: Record<string, number | null>
  held: boolean
}

export interface Event {
  id: string
  customer: string
  day: number
  name: string
  currency: string | null
  product: string | null
  value: number | null
  kpis: Record<string, number>
  held: boolean
}

export interface Statement {
  affiliate: string
  plan: string
  period: string
  currency: string
  total: string
}

export interface World {
  account: string
  vertical: Vertical
  statusMap: Record<string, string>
  eventCurrencies: Record<string, string>
  /** The affiliates that are configured; customers also have others. */
  configured: string[]
  /** The affiliate of each link. */
  links: Record<string, string>
  customers: Customer[]
  transactions: Transaction[]
  activity: Activity[]
  events: Event[]
  clicks: { day: number; link: string; id: string }[]
  statements: Statement[]
  rates: { currency: string; day: number; rate: string }[]
}

export const TYPES: Record<Vertical, string[]> = {
  'prop-trading': ['challenge_fee', 'payout', 'reset_fee', 'refund', 'adjustment', 'other'],
  forex: ['deposit', 'withdrawal', 'bonus', 'adjustment', 'ib_rebate', 'other'],
  igaming: [],
}

export const FIELDS = [
  'country_code',
  'kyc_status_id',
  'sales_status_id',
  'challenge_type',
  'phase',
  'account_size',
  'trading_account_type',
  'link',
]

const VALUES: Record<string, Value[]> = {
  country_code: ['DE', 'CZ', null],
  kyc_status_id: ['1', '2', null],
  sales_status_id: ['hot', null],
  challenge_type: ['standard', 'rapid', null],
  phase: ['phase_1', 'phase_2', 'funded', null],
  account_size: [5000, 50_000.5, null],
  trading_account_type: ['ECN', 'micro', null],
  link: ['lnk00001', 'lnk00002', null],
}

const LINKS = { lnk00001: 'A', lnk00002: 'B', lnk00003: 'A' }
const CURRENCIES = ['EUR', 'USD', 'HUF', 'JPY', 'XAU']

type Source = ReturnType<typeof randomSource>

const someDay = (from: Source) => FIRST + from.below(DAYS)
const amount = (from: Source) =>
  from.pick([
    from.below(100_000) / 100,
    -from.below(10_000) / 100,
    from.below(10),
    from.below(1_000_000_000) * 1000 + 0.07,
  ])

/** Returns a history that changes on up to two days. */
function history<T>(from: Source, value: () => T): Part<T>[] {
  const changes = from.pick([0, 0, 1, 2])
  const days = [...new Set(Array.from({ length: changes }, () => someDay(from)))].sort()
  return [Number.NEGATIVE_INFINITY, ...days].map((day) => ({ from: day, value: value() }))
}

function customer(from: Source, vertical: Vertical, id: string): Customer {
  const isBrand = vertical === 'igaming'
  const link = () => from.pick(['lnk00001', 'lnk00002', 'lnk00003', null])
  const owner = (): Owner =>
    isBrand
      ? from.oneIn(6)
        ? { affiliate: 'C', link: null }
        : { affiliate: null, link: link() }
      : { affiliate: from.pick(['A', 'B', 'C']), link: null }
  const owners = history(from, owner)
  // What holds now is stored with the customer; a brand's customer has no affiliate there.
  const last = owners.at(-1)!
  if (isBrand && owners.length === 1) last.value = { affiliate: null, link: link() }
  const fields = (): Record<string, Value> =>
    Object.fromEntries(
      FIELDS.map((name) => [
        name,
        isBrand && name !== 'country_code' ? null : from.pick(VALUES[name]!),
      ]),
    )
  return { id, day: someDay(from), owners, fields: history(from, fields) }
}

/** Returns a random account, the same for the same seed. */
export function randomWorld(seed: number, vertical: Vertical): World {
  const from = randomSource(seed)
  const ids = Array.from({ length: 9 }, (_, i) => `c-${i}`)
  const who = () => (from.oneIn(15) ? 'stranger' : from.pick(ids))
  const isHeld = (id: string) => id === 'stranger'
  const isBrand = vertical === 'igaming'
  const list = <T>(count: number, make: (i: number) => T) =>
    Array.from({ length: count }, (_, i) => make(i))
  const transactions = list(isBrand ? 0 : 90, (i): Transaction => {
    const id = who()
    const day = someDay(from)
    return {
      id: `t-${i}`,
      customer: id,
      day,
      at: day * 86_400_000 + from.below(3) * 3_600_000,
      type: from.oneIn(2) ? TYPES[vertical][0]! : from.pick(TYPES[vertical]),
      status: from.pick(['approved', 'approved', 'ok', 'ok', 'pending', 'declined', 'strange']),
      currency: from.pick(CURRENCIES),
      amount: amount(from),
      usd: from.oneIn(3) ? amount(from) : null,
      held: isHeld(id),
    }
  })
  const seen = new Set<string>()
  const activity = list(isBrand ? 0 : 70, (): Activity => {
    const id = who()
    const maybe = () => (from.oneIn(3) ? null : amount(from))
    const amounts =
      vertical === 'forex'
        ? { pnl: maybe(), volume_usd: maybe(), spread_cost: maybe(), commission: maybe() }
        : { pnl: amount(from) }
    for (const [name, value] of Object.entries(amounts)) {
      if (name !== 'pnl' && value !== null) amounts[name as 'pnl'] = Math.abs(value)
    }
    return {
      customer: id,
      day: someDay(from),
      instrument: from.pick(['EURUSD', 'XAUUSD', 'US30']),
      currency: from.pick(CURRENCIES),
      amounts: { lots_traded: from.below(1000) / 100, ...amounts },
      held: isHeld(id),
    }
  }).filter(({ customer: id, day, instrument, currency }) => {
    const key = [id, day, instrument, currency].join()
    return seen.has(key) ? false : seen.add(key)
  })
  const events = list(isBrand ? 120 : 0, (i): Event => {
    const id = who()
    const isSingle = from.oneIn(2)
    return {
      id: `e ${i}`,
      customer: id,
      day: someDay(from),
      name: isSingle ? from.pick(['deposit', 'with.dot']) : 'stats',
      currency: from.pick([...CURRENCIES, null]),
      product: from.pick(['casino', 'poker', null]),
      value: isSingle || from.oneIn(2) ? amount(from) : null,
      kpis: isSingle ? {} : { GGR: amount(from), count: from.below(9) },
      held: isHeld(id),
    }
  })
  const days = list(DAYS + 12, (i) => FIRST - 8 + i).filter(
    (day) => day <= LAST_RATE && (day + 3) % 7 < 5,
  )
  return {
    account: `world-${seed}`,
    vertical,
    transactions,
    activity,
    events,
    statusMap: from.oneIn(2) ? { ok: 'approved' } : { ok: 'approved', approved: 'pending' },
    eventCurrencies: from.oneIn(2) ? { deposit: 'HUF' } : {},
    configured: ['A', 'B'],
    links: LINKS,
    customers: ids.map((id) => customer(from, vertical, id)),
    clicks: list(40, (i) => ({
      day: someDay(from),
      link: from.pick(Object.keys(LINKS)),
      id: `k-${i}`,
    })),
    statements: randomStatements(from),
    rates: days.flatMap((day) => [
      { currency: 'USD', day, rate: `1.${100 + from.below(99)}` },
      ...(day < FIRST + 12 || day > FIRST + 26
        ? [{ currency: 'HUF', day, rate: `36${from.below(9)}.3` }]
        : []),
      { currency: 'JPY', day, rate: String(180 + from.below(9)) },
    ]),
  }
}

function randomStatements(from: Source): Statement[] {
  const periods = from.pick([['2026-09', '2026-10'], ['2026-10'], ['2026-W40', '2026-W41'], []])
  return periods.flatMap((period) =>
    ['A', 'B'].flatMap((affiliate) =>
      from.oneIn(4)
        ? []
        : [
            {
              affiliate,
              plan: 'p',
              period,
              ...from.pick([
                { currency: 'EUR', total: '12.50' },
                { currency: 'USD', total: '-3.05' },
                { currency: 'JPY', total: '1500' },
                { currency: 'XAU', total: '2.00' },
              ]),
            },
          ],
    ),
  )
}
