import type { Fact } from '../../src/commission/engine/facts.ts'
import type { Vertical } from '../../src/fraud/kind.ts'
import { event, paid, traded } from '../../test/fraud/view.ts'
import type { Affiliate } from './affiliate.ts'
import { YEAR } from './days.ts'
import type { Draw } from './draw.ts'

// What honest customers do after they signed up.
// - Forex: the first deposit is lognormal (median 250, sigma 0.9), 30 % deposit the broker's minimum of 100. 30 % trade on
//   1 to 4 days and stop; others stay for an exponential time (mean 70 days) and trade on 15 to 60 % of the working
//   days, in lots of their habit. Profit and loss of a day is normal, with a spread that itself is lognormal
//   (sigma 0.5). 1.5 % are whales, who deposit and trade 15 times as much. 25 % withdraw once or more.
//   0.2 % of the depositors change their mind, and withdraw all within 5 days without a trade.
// - iGaming: deposits are 10 to 200, mostly round. 40 % play on 1 or 2 days; others stay for 45 days and play on 15 to 60 %
//   of them. The margin of a day is 5 % of the stakes, with much noise. 0.05 % change their mind.
// - Prop trading (the edge of traders is set so that a firm pays out less than its fees): fees of 49 to 999. A trader risks about 1.5 % of the account a day, fails at a loss of 5 % on a day
//   or 10 % in all, passes at 8 %, and is then paid 80 % of the profit each 14 days, 1 to 3 days after asking, while
//   trading goes on. 35 % of those who fail buy again, after an exponential time (mean 10 days). The phase is
//   `failed` on the day for 98 %, and a day later otherwise; for 0.1 % it is forgotten. 2 % of the fees are
//   refunded, and half of the first payouts give the fee back.

/** The records of a customer, and their phases by day. */
interface Lived {
  readonly facts: readonly Fact[]
  readonly phases?: readonly { readonly from: number; readonly phase: string }[]
}

/** Returns what a customer does from the signup on. */
export type Life = (draw: Draw, id: string, day: number, affiliate: Affiliate) => Lived

const NOTHING: Lived = { facts: [] }
const INSTRUMENTS = ['EURUSD', 'XAUUSD', 'EURUSD', 'GBPUSD', 'XAUUSD', 'USDJPY', 'NAS100', 'BTCUSD']
const LOT_SIZES = [0.01, 0.02, 0.05, 0.1, 0.1, 0.2, 0.3, 0.5, 1]
const DECLINED = 0.04

const cents = (amount: number): number => Math.round(amount * 100) / 100
const tens = (amount: number): number => Math.max(50, Math.round(amount / 10) * 10)
const isWorkday = (day: number): boolean => ![2, 3].includes(day % 7)

/** Returns a payment; some are declined and tried again, some are reversed. */
function payment(
  draw: Draw,
  id: string,
  day: number,
  kind: string,
  amount: number,
  { reversed }: Affiliate,
): Fact[] {
  const declined = draw.chance(DECLINED) ? [paid(`${id}-x`, day, kind, amount, 'declined')] : []
  if (declined.length > 0 && draw.chance(0.3)) return declined
  return [...declined, paid(id, day, kind, amount, draw.chance(reversed) ? 'reversed' : 'approved')]
}

/** Returns a row of trading activity of a day. */
export function tradingRow(
  draw: Draw,
  day: number,
  instrument: string,
  lots: number,
  pays = true,
): Fact {
  return traded(
    day,
    {
      lots_traded: lots,
      pnl: cents(lots * draw.lognormal(80, 0.5) * draw.normal() - lots * 9),
      spread_cost: cents(lots * draw.between(6, 10)),
      commission: pays ? cents(lots * 3.5) : 0,
    },
    instrument,
  )
}

function forex(draw: Draw, id: string, day: number, affiliate: Affiliate): Lived {
  if (!draw.chance(affiliate.conversion)) return NOTHING
  const start = day + Math.floor(draw.exponential(2))
  const whale = draw.chance(0.015) ? 15 : 1
  const first = draw.chance(0.3) ? 100 : tens(draw.lognormal(250, 0.9) * whale)
  const facts = payment(draw, `${id}-d0`, start, 'deposit', first, affiliate)
  if (draw.chance(0.002)) {
    return until([...facts, paid(`${id}-w0`, start + draw.integer(1, 5), 'withdrawal', first)])
  }
  const isShort = draw.chance(0.3)
  const end = start + (isShort ? 8 : 3 + Math.ceil(draw.exponential(70 * affiliate.quality)))
  const active = isShort ? 0.4 : draw.between(0.15, 0.6)
  const lotSize = draw.pick(LOT_SIZES) * whale
  const main = draw.pick(INSTRUMENTS)
  const pays = draw.chance(0.4)
  for (let on = start; on <= end; on++) {
    if (!isWorkday(on) || !draw.chance(active)) continue
    const instrument = draw.chance(0.7) ? main : draw.pick(INSTRUMENTS)
    const lots = cents(lotSize * (1 + draw.poisson(2)))
    facts.push(tradingRow(draw, on, instrument, lots, pays))
  }
  for (
    let on = start + 5 + draw.exponential(25), n = 1;
    on <= end;
    on += 5 + draw.exponential(25), n++
  ) {
    const amount = tens(draw.lognormal(200, 0.8) * whale)
    facts.push(...payment(draw, `${id}-d${n}`, Math.floor(on), 'deposit', amount, affiliate))
  }
  if (draw.chance(0.25)) {
    const amount = tens(first * draw.between(0.2, 1.3))
    facts.push(paid(`${id}-w1`, start + draw.integer(8, 60), 'withdrawal', amount))
  }
  return until(facts)
}

const STAKES = [10, 20, 20, 20, 25, 30, 50, 50, 100, 100, 200]

/** Returns the play of a day. */
export function playDay(draw: Draw, id: string, day: number, stakes: number): Fact {
  const ggr = cents(stakes * (0.05 + 0.4 * draw.normal()))
  const one = event(`${id}-p${day}`, day, 'DailyStats', 0)
  const units = (value: number) => BigInt(Math.round(value * 100)) * 10n ** 10n
  const amounts = new Map([
    ['GGR', units(ggr)],
    ['NGR', units(ggr * 0.8)],
  ])
  return { ...one, amounts }
}

function igaming(draw: Draw, id: string, day: number, affiliate: Affiliate): Lived {
  if (!draw.chance(affiliate.conversion)) return NOTHING
  const start = day + Math.floor(draw.exponential(1.5))
  const whale = draw.chance(0.015) ? 15 : 1
  const usual = draw.pick(STAKES) * whale
  const facts = [event(`${id}-d0`, start, 'Deposit', usual)]
  if (draw.chance(0.0005)) {
    return until([...facts, event(`${id}-w0`, start + draw.integer(1, 5), 'Withdrawal', usual)])
  }
  const isShort = draw.chance(0.4)
  const end =
    start + (isShort ? draw.integer(0, 1) : Math.ceil(draw.exponential(45 * affiliate.quality)))
  const active = isShort ? 1 : draw.between(0.15, 0.6)
  for (let on = start; on <= end; on++) {
    if (!draw.chance(on === start ? 0.97 : active)) continue
    facts.push(playDay(draw, id, on, usual * draw.lognormal(4, 0.8)))
    if (on > start && draw.chance(0.45)) {
      facts.push(event(`${id}-d${on}`, on, 'Deposit', usual * draw.pick([1, 1, 1, 2])))
    }
    if (draw.chance(0.08)) {
      facts.push(event(`${id}-w${on}`, on + 1, 'Withdrawal', cents(usual * draw.lognormal(2, 0.7))))
    }
  }
  return until(facts)
}

/** The fees of challenges by the size of the account, in EUR. */
export const CHALLENGES = [
  { fee: 49, account: 5_000 },
  { fee: 99, account: 10_000 },
  { fee: 99, account: 10_000 },
  { fee: 155, account: 25_000 },
  { fee: 299, account: 50_000 },
  { fee: 299, account: 50_000 },
  { fee: 499, account: 100_000 },
  { fee: 999, account: 200_000 },
] as const

/** A trader of a prop firm. */
interface Trader {
  readonly id: string
  readonly fee: number
  readonly account: number
  readonly main: string
  /** The share of the working days on which they trade. */
  readonly active: number
  readonly lotSize: number
  readonly quality: number
}

function propTrading(draw: Draw, id: string, day: number, affiliate: Affiliate): Lived {
  if (!draw.chance(affiliate.conversion)) return NOTHING
  const { fee, account } = draw.pick(CHALLENGES)
  const main = draw.pick(INSTRUMENTS)
  const active = draw.between(0.4, 0.9)
  const lotSize = draw.pick([0.1, 0.2, 0.5, 0.5, 1, 2]) * (account / 50_000)
  const trader = { id, fee, account, main, active, lotSize, quality: affiliate.quality }
  const facts: Fact[] = []
  const phases: { from: number; phase: string }[] = []
  let on = day + Math.floor(draw.exponential(3))
  for (let n = 0; on <= YEAR.last; n++) {
    const kind = n > 0 && draw.chance(0.5) ? 'reset_fee' : 'challenge_fee'
    facts.push(...payment(draw, `${id}-f${n}`, on, kind, fee, affiliate))
    if (draw.chance(0.02)) {
      facts.push(paid(`${id}-r${n}`, on + draw.integer(1, 12), 'refund', fee))
      break
    }
    const challenge = challengeOf(draw, trader, n, on)
    facts.push(...challenge.facts)
    phases.push({ from: on, phase: 'challenge' }, ...challenge.phases)
    if (challenge.failed === null || !draw.chance(0.35)) break
    on = challenge.failed + Math.floor(draw.exponential(10))
  }
  return { facts: until(facts).facts, phases: inOrder(phases) }
}

/** Returns what a trader does in a challenge and after it, and the day of the failure; null if there is none. */
function challengeOf(draw: Draw, trader: Trader, n: number, from: number) {
  const { id, fee, account, active } = trader
  const facts: Fact[] = []
  const phases: { from: number; phase: string }[] = []
  let profit = 0
  let payable = 0
  let nextPayout = Number.POSITIVE_INFINITY
  let payouts = 0
  const end = from + 10 + Math.ceil(draw.exponential(45 * trader.quality))
  const edge = draw.between(-0.5, 0.05)
  for (let day = from + draw.integer(0, 2); day <= Math.min(end, YEAR.last); day++) {
    if (day >= nextPayout && payable > 0.005) {
      const amount = cents(payable * account * 0.8)
      facts.push(paid(`${id}-p${n}-${payouts}`, day + draw.integer(1, 3), 'payout', amount))
      if (payouts === 0 && draw.chance(0.5)) facts.push(paid(`${id}-b${n}`, day + 2, 'refund', fee))
      payouts++
      profit -= payable
      payable = 0
      nextPayout = day + 14
    }
    if (!isWorkday(day) || !draw.chance(active)) continue
    const change = 0.015 * draw.lognormal(0.8, 0.5) * (draw.normal() + edge)
    profit += change
    payable += change
    facts.push(challengeRow(draw, trader, day, change, profit))
    if (change < -0.05 || profit < -0.1) {
      const late = draw.chance(0.98) ? 0 : 1
      if (!draw.chance(0.001)) phases.push({ from: day + late, phase: 'failed' })
      return { facts, phases, failed: day }
    }
    if (nextPayout === Number.POSITIVE_INFINITY && profit >= 0.08) {
      profit = 0
      payable = 0
      nextPayout = day + 14
      phases.push({ from: day + 1, phase: 'funded' })
    }
  }
  return { facts, phases, failed: null }
}

function challengeRow(draw: Draw, trader: Trader, day: number, change: number, profit: number) {
  const instrument = draw.chance(0.8) ? trader.main : draw.pick(INSTRUMENTS)
  return traded(
    day,
    {
      lots_traded: cents(Math.max(0.01, trader.lotSize * (1 + draw.poisson(2)))),
      pnl: cents(change * trader.account),
      drawdown: cents(Math.max(0, -change) * 100),
      max_drawdown: cents(Math.max(0, -profit) * 100),
    },
    instrument,
  )
}

/** Returns the histories by day; of two values of a day the later one holds. */
function inOrder(phases: readonly { from: number; phase: string }[]) {
  return phases
    .map((one, at) => ({ ...one, at }))
    .sort((a, b) => a.from - b.from || a.at - b.at)
    .map(({ from, phase }) => ({ from, phase }))
}

const until = (facts: readonly Fact[]): Lived & { facts: Fact[] } => ({
  facts: facts.filter(({ day }) => day <= YEAR.last),
})

/** What customers of each vertical do. */
export const LIVES: Readonly<Record<Vertical, Life>> = {
  forex,
  igaming,
  'prop-trading': propTrading,
}
