import {
  daysOfZone,
  firstDay,
  kindOf,
  lastDay,
  nextPeriod,
} from '../../commission/oracle/calendar.ts'
import { convertAmount, readRates } from '../../commission/oracle/convert.ts'
import { compareText, type Fact, fieldsOn } from '../../commission/oracle/facts.ts'
import {
  add,
  compare,
  count,
  divide,
  greatest,
  HUNDRED,
  isNegative,
  isPositive,
  multiply,
  negate,
  parse,
  plain,
  type Rational,
  round,
  subtract,
  sum,
  ZERO,
} from '../../commission/oracle/rational.ts'
import type { FraudWorld, WorldFinding } from '../fraud-world.ts'
import {
  before,
  lastVersion,
  type Qualification,
  type Scene,
  type SeenCustomer,
} from './account.ts'

// The kinds of fraud rules, from the table of §17: each a function of what is seen on a day.

type Figure = WorldFinding['figures'][number]

interface Found {
  subject: string[]
  figures: Figure[]
  evidence: (
    | Fact
    | { statement: string; day: string }
    | { earlier: string; day: string }
    | { payee: string; day: string }
  )[]
}

// biome-ignore lint/suspicious/noExplicitAny: each kind has parameters of its own
type Parameters = any

/** A figure that is at least its threshold. */
const figure = (name: string, value: string, threshold: string, unit: string): Figure => ({
  ...{ name, value, comparison: 'at_least', threshold, unit },
})

/** A figure that is more than its threshold. */
const over = (name: string, value: string, threshold: string, unit: string): Figure => ({
  ...{ name, value, comparison: 'more_than', threshold, unit },
})

/** A figure that is at most, or less than, its threshold. */
const under = (
  name: string,
  value: string,
  threshold: string,
  unit: string,
  comparison = 'less_than',
): Figure => ({ name, value, comparison, threshold, unit })

const approved = ({ state, reason }: Fact) => state === 'approved' && reason !== 'implausible_time'

const size = (value: Rational) => (isNegative(value) ? negate(value) : value)

const percentOf = (part: Rational, whole: Rational) =>
  plain(round(divide(multiply(part, HUNDRED), whole), 2))

const reaches = (part: Rational, whole: Rational, percent: string) =>
  compare(multiply(part, HUNDRED), multiply(whole, parse(percent))) >= 0

const between = (facts: Fact[], from: string, to: string) =>
  facts.filter(({ day }) => day >= from && day <= to)

const of = (facts: Fact[], resource: Fact['resource']) =>
  facts.filter((fact) => fact.resource === resource)

const everyone = ({ customers }: Scene) => customers.flatMap(({ facts }) => facts)

const signups = (scene: Scene, from: string, to: string) =>
  between(of(everyone(scene), 'customers'), from, to).filter(approved)

const number = (fact: Fact, field: string) => fact.numbers.get(field) ?? ZERO

function middle(values: Rational[]): Rational | null {
  const sorted = [...values].sort(compare)
  if (sorted.length === 0) return null
  const at = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[at]! : divide(add(sorted[at - 1]!, sorted[at]!), count(2))
}

const isDeposit = (fact: Fact, { deposits }: { deposits: string[] }) =>
  approved(fact) &&
  ((fact.resource === 'transactions' && fact.type === 'deposit') ||
    (fact.resource === 'activities' && deposits.includes(fact.type!)))

const isWithdrawal = (fact: Fact, { withdrawals }: { withdrawals: string[] }) =>
  approved(fact) &&
  ((fact.resource === 'transactions' && fact.type === 'withdrawal') ||
    (fact.resource === 'activities' && withdrawals.includes(fact.type!)))

const isPlay = (fact: Fact, { bets }: { bets: string[] }) =>
  approved(fact) &&
  (fact.resource === 'trading-activity' ||
    (fact.resource === 'activities' && bets.includes(fact.type!)))

const money = (scene: Scene, fact: Fact) =>
  scene.amount(fact, fact.resource === 'transactions' ? 'amount_currency' : 'Value')

const total = (scene: Scene, facts: Fact[]) => sum(facts.map((fact) => money(scene, fact)))

function clickToSignup(scene: Scene, p: Parameters): Found[] {
  const timed = signups(scene, before(scene.day, p.days - 1), scene.day).filter(
    ({ customer }) => scene.world.clicks[customer.customer_id] !== undefined,
  )
  if (timed.length < p.min_signups) return []
  const after = (fact: Fact) => fact.instant - scene.world.clicks[fact.customer.customer_id]!
  const soon = timed.filter((one) => after(one) < p.seconds * 1000)
  const [part, whole] = [count(soon.length), count(timed.length)]
  if (!reaches(part, whole, p.share_percent)) return []
  const name = 'signups_soon_after_the_click'
  return [
    {
      subject: [scene.affiliate],
      figures: [
        figure('signups_with_a_click', String(timed.length), String(p.min_signups), 'signups'),
        figure(name, percentOf(part, whole), p.share_percent, 'percent'),
      ],
      evidence: soon,
    },
  ]
}

function signupBurst(scene: Scene, p: Parameters): Found[] {
  const today = signups(scene, scene.day, scene.day)
  const earlier = signups(scene, before(scene.day, 399), before(scene.day, 1))
  const days = [...new Set(earlier.map(({ day }) => day))].sort().reverse().slice(0, 28)
  const ofDay = (day: string) => earlier.filter((one) => one.day === day)
  const mostInHour = (facts: Fact[]) => {
    const hours = facts
      .filter((one) => !one.wholeDay)
      .map((one) => Math.floor(one.instant / 3_600_000))
    return Math.max(0, ...hours.map((hour) => hours.filter((one) => one === hour).length))
  }
  const spans: [string, (facts: Fact[]) => number][] = [
    ['signups_of_a_day', (facts) => facts.length],
    ['signups_of_an_hour', mostInHour],
  ]
  const figures = spans.flatMap(([name, measure]) => {
    const value = measure(today)
    const usual = middle(
      days
        .map((day) => measure(ofDay(day)))
        .filter((one) => one > 0)
        .map(count),
    )
    if (!usual || value < p.min) return []
    const most = multiply(usual, parse(p.times))
    if (compare(count(value), most) <= 0) return []
    return [
      over(name, String(value), plain(most), 'signups'),
      figure(name, String(value), String(p.min), 'signups'),
    ]
  })
  return figures.length > 0 ? [{ subject: [scene.affiliate], figures, evidence: today }] : []
}

function countryMix(scene: Scene, p: Parameters): Found[] {
  const country = (fact: Fact) => fieldsOn(fact.customer, fact.day).country_code ?? ''
  const first = before(scene.day, p.days - 1)
  const now = signups(scene, first, scene.day).filter(country)
  const then = signups(scene, before(first, 90), before(first, 1)).filter(country)
  if (now.length < p.min_signups || then.length === 0) return []
  return [...new Set(now.map(country))].sort(compareText).flatMap((name) => {
    const own = now.filter((one) => country(one) === name)
    const usual = then.filter((one) => country(one) === name)
    const share = divide(count(100 * own.length), count(now.length))
    const before_ = divide(count(100 * usual.length), count(then.length))
    if (compare(subtract(share, before_), parse(p.points)) <= 0) return []
    const [a, b] = [round(share, 2), round(before_, 2)]
    return [
      {
        subject: [scene.affiliate],
        figures: [
          figure('signups_with_a_country', String(now.length), String(p.min_signups), 'signups'),
          over('growth_of_the_share', plain(subtract(a, b)), p.points, 'points'),
        ],
        evidence: own,
      },
    ]
  })
}

const PAID_IN = ['deposit', 'challenge_fee', 'reset_fee']

function minimumDeposit(scene: Scene, p: Parameters): Found[] {
  const last = before(scene.day, p.idle_days)
  const first = before(last, p.days - 1)
  const minimum = (one: Qualification) =>
    one.minimums
      .filter(({ kinds }) =>
        kinds.every((kind) => PAID_IN.includes(kind) || p.events.deposits.includes(kind)),
      )
      .filter(({ least }) => isPositive(least))
      .sort((a, b) => compare(b.least, a.least))[0]
  const all = scene.customers.flatMap((customer) => {
    const one = scene
      .qualified(customer.id)
      .find(({ day, ...rest }) => day >= first && day <= last && minimum({ day, ...rest }))
    return one ? [{ customer, one, minimum: minimum(one)! }] : []
  })
  if (all.length < p.min_customers) return []
  const found = all.filter(({ customer, one, minimum: { least, reached } }) => {
    const most = multiply(least, add(count(1), divide(parse(p.within_percent), HUNDRED)))
    const later = customer.facts.filter(
      (fact) => fact.day > one.day && before(fact.day, p.idle_days) <= one.day,
    )
    return (
      compare(reached, most) <= 0 &&
      !later.some((fact) => isPlay(fact, p.events) || isDeposit(fact, p.events))
    )
  })
  // The idle days of one of them end on the day.
  if (!found.some(({ one }) => one.day === last)) return []
  const above = ({ minimum: { least, reached } }: (typeof found)[number]) =>
    divide(subtract(reached, least), least)
  const [highest] = [...found].sort((a, b) => compare(above(b), above(a)))
  return shareOf(scene, all.length, found, p, 'share_at_the_minimum', [
    ...(highest
      ? [
          under(
            'largest_deposit_above_the_minimum',
            plain(round(multiply(above(highest), HUNDRED), 2)),
            p.within_percent,
            'percent',
            'at_most',
          ),
        ]
      : []),
  ])
}

function shareOf(
  scene: Scene,
  all: number,
  found: { one: Qualification }[],
  p: Parameters,
  shareName: string,
  limits: Figure[],
): Found[] {
  if (!reaches(count(found.length), count(all), p.share_percent)) return []
  return [
    {
      subject: [scene.affiliate],
      figures: [
        figure('customers_who_qualified', String(all), String(p.min_customers), 'customers'),
        figure(shareName, percentOf(count(found.length), count(all)), p.share_percent, 'percent'),
        ...limits,
      ],
      evidence: found.flatMap(({ one }) => one.facts),
    },
  ]
}

function shortLife(scene: Scene, p: Parameters): Found[] {
  const last = before(scene.day, p.days)
  const first = before(last, p.days - 1)
  const all = scene.customers.flatMap((customer) => {
    const one = scene.qualified(customer.id).find(({ day }) => day >= first && day <= last)
    return one ? [{ customer, one }] : []
  })
  if (all.length < p.min_customers) return []
  const activeDays = ({ customer, one }: (typeof all)[number]) => {
    const after = customer.facts.filter(
      (fact) => fact.day > one.day && before(fact.day, p.days) <= one.day,
    )
    return new Set(after.filter((fact) => isPlay(fact, p.events)).map(({ day }) => day)).size
  }
  const short = all.filter((one) => activeDays(one) < p.active_days)
  if (!short.some(({ one }) => one.day === last)) return []
  return shareOf(scene, all.length, short, p, 'share_who_stopped', [
    under(
      'most_active_days',
      String(Math.max(...short.map(activeDays))),
      String(p.active_days),
      'days',
    ),
  ])
}

function depositWithdrawal(scene: Scene, p: Parameters): Found[] {
  const stays = scene.customers.flatMap(({ id, facts }) => {
    const recent = between(facts, before(scene.day, 30 + p.days - 1), scene.day)
    const first = recent.find((fact) => isDeposit(fact, p.events))
    if (!first || first.day <= before(scene.day, 30)) return []
    const during = recent.filter(
      ({ day }) => day >= first.day && before(day, p.days - 1) <= first.day,
    )
    const deposits = during.filter((fact) => isDeposit(fact, p.events))
    const withdrawals = during.filter((fact) => isWithdrawal(fact, p.events))
    const play = during.filter((fact) => isPlay(fact, p.events))
    const deposited = total(scene, deposits)
    const withdrawn = total(scene, withdrawals)
    const lots = sum(play.map((fact) => number(fact, 'lots_traded')))
    const isBack =
      isPositive(deposited) &&
      reaches(withdrawn, deposited, p.percent) &&
      compare(lots, parse(p.lots)) < 0 &&
      of(play, 'activities').length === 0
    const isNew =
      before(scene.day, p.days - 1) <= first.day && withdrawals.some(({ day }) => day === scene.day)
    const all = [...deposits, ...withdrawals, ...play]
    return [{ id, facts: all, deposited, withdrawn, lots, isBack, isNew }]
  })
  type Stay = (typeof stays)[number]
  const share = ({ withdrawn, deposited }: Stay) =>
    figure('withdrawn_of_deposits', percentOf(withdrawn, deposited), p.percent, 'percent')
  const played = ({ lots }: Stay) =>
    scene.world.vertical === 'igaming'
      ? under('bets', '0', '1', 'bets')
      : under('lots_traded', plain(lots), p.lots, 'lots')
  const back = stays.filter(({ isBack }) => isBack)
  const found: Found[] = back
    .filter(({ isNew }) => isNew)
    .map((one) => ({
      subject: [one.id],
      figures: [share(one), played(one)],
      evidence: one.facts,
    }))
  const [some, whole] = [count(back.length), count(stays.length)]
  if (found.length === 0) return []
  if (stays.length >= p.min_customers && reaches(some, whole, p.share_percent))
    found.push({
      subject: [scene.affiliate],
      figures: [
        figure(
          'customers_who_deposited',
          String(stays.length),
          String(p.min_customers),
          'customers',
        ),
        figure('share_who_withdrew', percentOf(some, whole), p.share_percent, 'percent'),
      ],
      evidence: back.flatMap(({ facts }) => facts),
    })
  return found
}

function reversals(scene: Scene, p: Parameters): Found[] {
  const own = between(of(everyone(scene), 'transactions'), before(scene.day, p.days - 1), scene.day)
  const isPaid = ({ type }: Fact) => PAID_IN.includes(type!)
  const lost = own.filter(
    (fact) =>
      (isPaid(fact) &&
        fact.reason !== 'implausible_time' &&
        (fact.state === 'reversed' || fact.state === 'declined')) ||
      (fact.type === 'refund' && approved(fact)),
  )
  const kept = own.filter((fact) => isPaid(fact) && approved(fact))
  const [a, b] = [total(scene, lost), total(scene, kept)]
  if (lost.length < p.min_count || !lost.some(({ day }) => day === scene.day)) return []
  if (isPositive(b) ? !reaches(a, b, p.percent) : !isPositive(a)) return []
  const counted = figure(
    'reversed_declined_or_refunded',
    String(lost.length),
    String(p.min_count),
    'transactions',
  )
  const amount = isPositive(b)
    ? figure('share_of_the_approved_amount', percentOf(a, b), p.percent, 'percent')
    : over('amount_that_was_taken_back', plain(a), '0', scene.currency)
  return [{ subject: [scene.affiliate], figures: [counted, amount], evidence: lost }]
}

const isFee = (fact: Fact) =>
  approved(fact) && (fact.type === 'challenge_fee' || fact.type === 'reset_fee')

function resets(scene: Scene, p: Parameters): Found[] {
  return scene.customers.flatMap(({ id, facts }) => {
    const fees = between(
      of(facts, 'transactions'),
      before(scene.day, p.days - 1),
      scene.day,
    ).filter(isFee)
    if (fees.length < p.count || !fees.some(({ day }) => day === scene.day)) return []
    const figures = [figure('fees', String(fees.length), String(p.count), 'fees')]
    return [{ subject: [id], figures, evidence: fees }]
  })
}

function hedgePair(scene: Scene, p: Parameters): Found[] {
  const rowsOf = ({ facts }: SeenCustomer) =>
    between(of(facts, 'trading-activity'), before(scene.day, p.window_days - 1), scene.day)
  const near = (a: Rational, b: Rational, percent: string) =>
    compare(multiply(size(subtract(a, b)), HUNDRED), multiply(greatest(a, b), parse(percent))) <= 0
  const isHedge = (a: Fact, b: Fact) => {
    const [x, y] = [number(a, 'pnl'), number(b, 'pnl')]
    return (
      a.day === b.day &&
      symbol(a.instrument!) === symbol(b.instrument!) &&
      a.currency === b.currency &&
      ((isPositive(x) && isNegative(y)) || (isNegative(x) && isPositive(y))) &&
      near(number(a, 'lots_traded'), number(b, 'lots_traded'), p.lots_percent) &&
      near(size(x), size(y), p.pnl_percent)
    )
  }
  // Each cluster has its customers and its hedges. A pair joins the clusters that have one of the two.
  let clusters: { ids: Set<string>; hedges: Fact[][] }[] = []
  for (const [at, first] of scene.customers.entries())
    for (const second of scene.customers.slice(at + 1)) {
      const hedges = rowsOf(first).flatMap((a) =>
        rowsOf(second).flatMap((b) => (isHedge(a, b) ? [[a, b]] : [])),
      )
      const days = new Set(hedges.map(([a]) => a!.day)).size
      if (days < p.days || days === 0) continue
      const touched = clusters.filter(({ ids }) => ids.has(first.id) || ids.has(second.id))
      clusters = [
        ...clusters.filter((one) => !touched.includes(one)),
        {
          ids: new Set([first.id, second.id, ...touched.flatMap(({ ids }) => [...ids])]),
          hedges: [...hedges, ...touched.flatMap((one) => one.hedges)],
        },
      ]
    }
  const ofDay = clusters.filter(({ hedges }) => hedges.some(([a]) => a!.day === scene.day))
  return ofDay.map(({ ids, hedges }) => {
    const days = new Set(hedges.map(([a]) => a!.day)).size
    return {
      subject: [...ids].sort(compareText).slice(0, 2),
      figures: [figure('days_with_opposite_trades', String(days), String(p.days), 'days')],
      evidence: hedges.flat(),
    }
  })
}

/** The name of an instrument without letter case and suffix, at least four characters of which stay. */
function symbol(name: string): string {
  const mark = [...name].findIndex((letter, i) => i >= 4 && '.-_#'.includes(letter))
  if (mark > 0) return name.slice(0, mark).toUpperCase()
  let end = name.length
  while (end > 4 && /[a-z]/.test(name[end - 1]!)) end--
  return (/[A-Z0-9]/.test(name[end - 1]!) ? name.slice(0, end) : name).toUpperCase()
}

function drawdownBreach(scene: Scene, p: Parameters): Found[] {
  const day = before(scene.day, p.grace_days)
  return scene.customers.flatMap(({ id, facts }) => {
    const rows = between(of(facts, 'trading-activity'), day, day)
    const [first] = rows
    if (!first) return []
    for (let on = day; on <= scene.day; on = before(on, -1))
      if (fieldsOn(first.customer, on).phase === 'failed') return []
    const type = fieldsOn(first.customer, day).challenge_type ?? ''
    const own = p.by_challenge_type.find((one: Parameters) => one.challenge_type === type)
    const limits: [string, string][] = [
      ['drawdown', own?.daily ?? p.daily],
      ['max_drawdown', own?.total ?? p.total],
    ]
    const figuresOf = (row: Fact) =>
      limits.flatMap(([name, limit]) =>
        compare(number(row, name), parse(limit)) > 0
          ? [over(name, plain(number(row, name)), limit, 'percent')]
          : [],
      )
    const evidence = rows.filter((row) => figuresOf(row).length > 0)
    const figures = evidence.flatMap(figuresOf)
    const later = between(of(facts, 'transactions'), day, scene.day)
    if (later.some(isFee)) return []
    return figures.length > 0 ? [{ subject: [id], figures, evidence }] : []
  })
}

function payoutWithoutTrading(scene: Scene, p: Parameters): Found[] {
  return scene.customers.flatMap(({ id, facts }) => {
    const payouts = between(of(facts, 'transactions'), before(scene.day, 399), scene.day).filter(
      (fact) => fact.type === 'payout' && approved(fact),
    )
    const today = payouts.filter(({ day }) => day === scene.day)
    if (today.length === 0) return []
    const trading = between(of(facts, 'trading-activity'), before(scene.day, 399), scene.day)
    if (!trading.some(({ day }) => day > before(scene.day, p.days)))
      return [
        {
          subject: [id],
          figures: [under('days_with_trading', '0', '1', 'days')],
          evidence: today,
        },
      ]
    const last = payouts.findLast(({ day }) => day < scene.day)?.day ?? before(scene.day, 399)
    // What was won while the last payout was under way counts for this one.
    const won = between(trading, before(last, 3), scene.day).filter((fact) =>
      isPositive(number(fact, 'pnl')),
    )
    const profit = sum(won.map((fact) => scene.amount(fact, 'pnl')))
    const most = multiply(profit, parse(p.times))
    const paid = total(scene, today)
    if (!isPositive(paid) || compare(paid, most) <= 0) return []
    return [
      {
        subject: [id],
        figures: [over('payout', plain(paid), plain(most), scene.currency)],
        evidence: [...today, ...won],
      },
    ]
  })
}

function activityOutlier(scene: Scene, p: Parameters): Found[] {
  return scene.customers.flatMap(({ id, facts }) => {
    const rows = of(facts, 'trading-activity')
    const today = between(rows, scene.day, scene.day)
    const earlier = between(rows, before(scene.day, 399), before(scene.day, 1))
    if (today.length === 0) return []
    const on = (own: Fact[], field: string) => size(sum(own.map((fact) => number(fact, field))))
    const currencies = new Set(today.map(({ currency }) => currency))
    const measures: [string, string, string][] = [
      ['lots_of_a_day', 'lots_traded', 'lots'],
      ['profit_or_loss_of_a_day', 'pnl', [...currencies][0]!],
    ]
    const found = measures.flatMap(([name, field, unit]) => {
      if (field === 'pnl' && currencies.size > 1) return []
      const comparable = earlier.filter((one) => field !== 'pnl' || one.currency === unit)
      const days = [...new Set(comparable.map(({ day }) => day))].sort().reverse().slice(0, 60)
      if (days.length < 10) return []
      const usual = middle(days.map((day) => on(between(comparable, day, day), field)))!
      const most = multiply(usual, parse(p.times))
      const value = on(today, field)
      if (!isPositive(usual) || compare(value, most) <= 0) return []
      const own = over(name, plain(value), plain(most), unit)
      return [{ own, count: days.length }]
    })
    if (found.length === 0) return []
    const fewest = String(Math.min(...found.map((one) => one.count)))
    const active = figure('earlier_active_days', fewest, '10', 'days')
    return [{ subject: [id], figures: [...found.map(({ own }) => own), active], evidence: today }]
  })
}

function lotChurn(scene: Scene, p: Parameters): Found[] {
  const first = before(scene.day, p.days - 1)
  const sums = scene.customers.flatMap(({ id, facts }) => {
    const own = between(facts, first, scene.day).filter(approved)
    const trading = of(own, 'trading-activity')
    const typed = (type: string) =>
      between(of(facts, 'transactions'), before(scene.day, 399), scene.day).filter(
        (fact) => approved(fact) && fact.type === type,
      )
    const earned = sum(own.map(scene.unitPay))
    const [deposits, withdrawals] = [typed('deposit'), typed('withdrawal')]
    return isPositive(earned) ? [{ id, earned, trading, deposits, withdrawals }] : []
  })
  const findingOf = (id: string, parts: typeof sums): Found[] => {
    const compared = parts.filter(({ deposits }) => deposits.length > 0)
    const earnedBy = (some: typeof parts) => sum(some.map((one) => one.earned))
    const trading = parts.flatMap((one) => one.trading)
    const [spread, charged] = ['spread_cost', 'commission'].map((field) =>
      sum(trading.map((fact) => scene.amount(fact, field))),
    )
    const deposits = compared.flatMap((one) => one.deposits)
    const withdrawals = compared.flatMap((one) => one.withdrawals)
    const mostOfCharges = divide(multiply(add(spread!, charged!), parse(p.percent)), HUNDRED)
    const net = subtract(total(scene, deposits), total(scene, withdrawals))
    const figures: Figure[] = []
    const evidence: Fact[] = [...trading]
    if (compare(earnedBy(parts), mostOfCharges) > 0)
      figures.push(
        over(
          'earned_by_volume_of_charges',
          plain(earnedBy(parts)),
          plain(mostOfCharges),
          scene.currency,
        ),
      )
    if (compare(earnedBy(compared), net) > 0) {
      figures.push(
        over(
          'earned_by_volume_of_net_deposits',
          plain(earnedBy(compared)),
          plain(net),
          scene.currency,
        ),
      )
      evidence.push(...deposits, ...withdrawals)
    }
    return figures.length > 0 ? [{ subject: [id], figures, evidence }] : []
  }
  const ofDay = sums.filter(({ trading, deposits, withdrawals }) =>
    [...trading, ...deposits, ...withdrawals].some(({ day }) => day === scene.day),
  )
  // All customers are compared on days whose customers together are above the limits.
  const isAbove = findingOf(scene.affiliate, ofDay).length > 0
  return [
    ...ofDay.flatMap((one) => findingOf(one.id, [one])),
    ...(isAbove ? findingOf(scene.affiliate, sums) : []),
  ]
}

function commissionOverRevenue(scene: Scene, p: Parameters): Found[] {
  const { world, affiliate, day, currency } = scene
  const kind = lastVersion(world, affiliate)?.period ?? 'month'
  const own = world.statements.filter(
    (one) => one.affiliate_id === affiliate && kindOf(one.period) === kind,
  )
  const ending = own.find(({ period }) => lastDay(period) === day)
  if (!ending) return []
  const periods = [ending.period]
  while (periods.length < p.periods) {
    const [first] = periods
    const previous = [...new Set([before(firstDay(first!), 1)])].map((end) =>
      kind === 'month' ? end.slice(0, 7) : weekBefore(first!),
    )
    periods.unshift(previous[0]!)
  }
  if (!own.some(({ period }) => period === periods[0])) return []
  const counted = own.filter(({ period }) => periods.includes(period))
  const rates = readRates(world)
  const amountOf = (one: (typeof counted)[number]) =>
    convertAmount(rates, parse(one.earned), one.currency, currency, lastDay(one.period))
  const earnedIn = (some: typeof counted) =>
    sum(
      some.map((one) => {
        const converted = amountOf(one)
        return typeof converted === 'string' ? ZERO : converted
      }),
    )
  const earned = earnedIn(counted)
  const facts = between(everyone(scene), firstDay(periods[0]!), day).filter(approved)
  let revenue = ZERO
  const addTo = (fact: Fact, field: string, isOut = false) => {
    const amount = scene.amount(fact, field)
    revenue = isOut ? subtract(revenue, amount) : add(revenue, amount)
  }
  // Of a brand all that definitions call NGR, else all that they call GGR.
  const named = ['NGR', 'GGR']
    .map((name) => world.kpis.filter((kpi) => kpi.toUpperCase() === name))
    .find((kpis) => kpis.length > 0)
  for (const fact of facts)
    if (world.vertical === 'forex' && fact.resource === 'trading-activity') {
      addTo(fact, 'spread_cost')
      addTo(fact, 'commission')
    } else if (world.vertical === 'prop-trading' && fact.resource === 'transactions') {
      const isIn = ['challenge_fee', 'reset_fee'].includes(fact.type!)
      const isOut = ['payout', 'refund'].includes(fact.type!)
      if (isIn) addTo(fact, 'amount_currency')
      if (isOut) addTo(fact, 'amount_currency', true)
    } else if (fact.resource === 'activities') {
      if (named) for (const kpi of named) addTo(fact, kpi)
      else if (isDeposit(fact, p.events)) addTo(fact, 'Value')
      else if (isWithdrawal(fact, p.events)) addTo(fact, 'Value', true)
    }
  const most = isPositive(revenue) ? divide(multiply(revenue, parse(p.percent)), HUNDRED) : ZERO
  if (compare(earned, parse(p.min)) < 0 || compare(earned, most) <= 0) return []
  return [
    {
      subject: [affiliate],
      figures: [
        over('earned', plain(earned), plain(most), currency),
        figure('earned', plain(earned), p.min, currency),
      ],
      evidence: counted.map(({ id, period }) => ({ statement: id, day: lastDay(period) })),
    },
  ]
}

/** Returns the week before another, which is found by going forward from a year earlier. */
function weekBefore(week: string): string {
  let found = `${Number(week.slice(0, 4)) - 1}-W10`
  while (nextPeriod(found) !== week) found = nextPeriod(found)
  return found
}

/** Returns an e-mail without letter case, tag and, at Gmail, dots; null if it is no e-mail. */
function mailbox(email: string | undefined): string | null {
  const [local, domain] = (email ?? '').trim().toLowerCase().split('@')
  if (!local || domain === undefined) return null
  const at = local.indexOf('+')
  const name = at < 0 ? local : local.slice(0, at)
  const isGmail = domain === 'gmail.com' || domain === 'googlemail.com'
  return isGmail ? `${name.replaceAll('.', '')}@gmail.com` : `${name}@${domain}`
}

function sharedIdentity(scene: Scene, p: Parameters): Found[] {
  const { world } = scene
  const person = ({ customer_id, fields }: FraudWorld['customers'][number]) => {
    const name = world.names[customer_id]
    const country = fields.at(-1)?.values.country_code
    const words = [name?.first_name, name?.last_name].map((one) => one?.trim().toLowerCase())
    return name && country !== undefined ? JSON.stringify([...words, country]) : null
  }
  const earlier = (
    own: Fact,
    identity: (one: FraudWorld['customers'][number]) => string | null,
  ) => {
    const mine = identity(own.customer)
    if (mine === null) return []
    return world.customers.filter((one) => {
      const day = own.dayOf(one.signup)
      const isEarlier =
        day < own.signupDay ||
        (day === own.signupDay && compareText(one.customer_id, own.customer.customer_id) < 0)
      return isEarlier && identity(one) === mine
    })
  }
  const email = ({ customer_id }: { customer_id: string }) => mailbox(world.emails[customer_id])
  const contact = mailbox(world.contacts[scene.affiliate])
  return signups(scene, scene.day, scene.day).flatMap((own) => {
    const named: [string, FraudWorld['customers']][] = [
      ['customers_with_the_email', earlier(own, email)],
      ['customers_with_the_name', p.names ? earlier(own, person) : []],
    ]
    const figures = named
      .filter(([, twins]) => twins.length > 0)
      .map(([name, twins]) => figure(name, String(twins.length + 1), '2', 'customers'))
    // A finding names the first 20 of each.
    const others = named.flatMap(([, twins]) =>
      twins
        .map((one) => ({ earlier: one.customer_id, day: own.dayOf(one.signup) }))
        .sort((a, b) => compareText(a.day, b.day) || compareText(a.earlier, b.earlier))
        .slice(0, 20),
    )
    const found =
      figures.length > 0 ? [{ subject: [own.id], figures, evidence: [own, ...others] }] : []
    const isContact = contact !== null && email(own.customer) === contact
    const ofContact = figure('customers_with_the_contact_email', '1', '1', 'customers')
    return isContact
      ? [...found, { subject: [scene.affiliate], figures: [ofContact], evidence: [own] }]
      : found
  })
}

function sharedPayee({ world, affiliate, day }: Scene): Found[] {
  const { dayOf } = daysOfZone(world.book_zone)
  /** The last details of an affiliate at the end of the day. */
  const payeeOf = (id: string) =>
    world.payees.filter((one) => one.affiliate_id === id && dayOf(one.at) <= day).at(-1)
  const all = [...new Set(world.payees.map((one) => one.affiliate_id))].sort(compareText)
  const usable = all.map(payeeOf).filter((one) => one && one.state !== 'blocked')
  const own = usable.find((one) => one!.affiliate_id === affiliate)
  const others = usable.filter((one) => own && one !== own && one!.account === own.account)
  if (others.length === 0) return []
  const count = String(others.length + 1)
  return [
    {
      subject: [affiliate],
      figures: [figure('affiliates_with_the_account', count, '2', 'affiliates')],
      evidence: [own, ...others].map((one) => ({
        payee: `${one!.affiliate_id} ${one!.version}`,
        day: dayOf(one!.at),
      })),
    },
  ]
}

const KINDS: Record<string, (scene: Scene, parameters: Parameters) => Found[]> = {
  shared_identity: sharedIdentity,
  shared_payee: sharedPayee,
  click_to_signup: clickToSignup,
  signup_burst: signupBurst,
  country_mix: countryMix,
  minimum_deposit: minimumDeposit,
  short_life: shortLife,
  deposit_withdrawal: depositWithdrawal,
  reversals,
  resets,
  hedge_pair: hedgePair,
  drawdown_breach: drawdownBreach,
  payout_without_trading: payoutWithoutTrading,
  activity_outlier: activityOutlier,
  lot_churn: lotChurn,
  commission_over_revenue: commissionOverRevenue,
}

/** Returns what a rule of a kind finds on the day of a scene, in order of subject. */
export function findings(kind: string, scene: Scene, parameters: Parameters): WorldFinding[] {
  const found = KINDS[kind]!(scene, parameters)
  return [...Map.groupBy(found, ({ subject }) => JSON.stringify(subject)).values()].map((own) => {
    const records = own
      .flatMap(({ evidence }) => evidence)
      .map((one) =>
        'statement' in one
          ? { customer_id: null, resource: 'statements', id: one.statement, day: one.day }
          : 'payee' in one
            ? { customer_id: null, resource: 'payees', id: one.payee, day: one.day }
            : 'earlier' in one
              ? { customer_id: one.earlier, resource: 'customers', id: one.earlier, day: one.day }
              : {
                  customer_id: one.customer.customer_id,
                  resource: one.resource,
                  id: one.id,
                  day: one.day,
                },
      )
    const byId = new Map(records.map((one) => [`${one.resource}:${one.id}`, one]))
    return {
      day: scene.day,
      subject: own[0]!.subject,
      figures: own.flatMap(({ figures }) => figures),
      evidence: [...byId.entries()]
        .sort(([a, x], [b, y]) => compareText(x.day, y.day) || compareText(a, b))
        .map(([, one]) => one),
    }
  })
}
