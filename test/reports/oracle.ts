import { metricsOf, type Unconverted } from '../../src/reports/report.ts'
import {
  add,
  divide,
  multiply,
  negate,
  parse,
  plain,
  type Rational,
  round,
  ZERO,
} from '../commission/oracle/rational.ts'
import { type Customer, dayOf, type Part, type World } from './world.ts'

// Reports as the contract words them (§10, §11, §15): record by record, with fractions.

export interface ReportQuery {
  from: string
  to: string
  groups: string[]
  currency: string
  /** The first day of which clicks are kept. */
  clicksFrom: number
}

type Value = string | number | null

const textOf = (day: number) => new Date(day * 86_400_000).toISOString().slice(0, 10)
const monthOf = (day: number) => textOf(day).slice(0, 7)

/** The week of ISO 8601: that of the Thursday, counted from January 1. */
function weekOf(day: number): string {
  const thursday = day - ((day + 3) % 7) + 3
  const year = Number(textOf(thursday).slice(0, 4))
  const week = Math.floor((thursday - dayOf(`${year}-01-01`)) / 7) + 1
  return `${year}-W${String(week).padStart(2, '0')}`
}

const partOn = <T>(parts: Part<T>[], day: number) => parts.findLastIndex(({ from }) => from <= day)

/** A field on a day; the first value that was ever known holds before. */
function fieldOn({ fields }: Customer, name: string, day: number): Value {
  const at = partOn(fields, day)
  const known = fields.findIndex(({ value }) => value[name] !== null)
  return known > at ? fields[known]!.value[name]! : fields[at]!.value[name]!
}

/** What a record contributes. */
interface Contribution {
  /** Null: it belongs to the totals only. */
  groups: Value[] | null
  day: number
  customer?: string
  counts?: Record<string, number>
  numbers?: Record<string, Rational>
  amounts?: Record<string, { currency: string | null; value: Rational; usd?: Rational }>
}

export function oracle(world: World, query: ReportQuery) {
  const { vertical, links } = world
  const isBrand = vertical === 'igaming'
  const [first, last] = [dayOf(query.from), dayOf(query.to)]
  const customers = new Map(world.customers.map((one) => [one.id, one]))

  const ownerOn = (customer: Customer, day: number) => {
    const { affiliate, link } = customer.owners[partOn(customer.owners, day)]!.value
    return { affiliate: affiliate ?? (link && links[link]) ?? null, link }
  }
  const valuesOf = (day: number, customer: Customer | null, own: Record<string, Value>) =>
    query.groups.map((group): Value => {
      if (group === 'day') return textOf(day)
      if (group === 'week') return weekOf(day)
      if (group === 'month') return monthOf(day)
      if (group in own) return own[group]!
      if (customer === null) return null
      if (['transaction_type', 'instrument', 'eventname', 'product'].includes(group)) return null
      if (group === 'affiliate_id') return ownerOn(customer, day).affiliate
      if (group === 'link' && isBrand) return ownerOn(customer, day).link
      return fieldOn(customer, group, day)
    })
  const within = ({ day }: { day: number }) => first <= day && day <= last
  const isApproved = (status: string) => (world.statusMap[status] ?? status) === 'approved'

  const found: Contribution[] = []
  for (const { day, link } of world.clicks.filter(within)) {
    const own = { link, affiliate_id: links[link]! }
    found.push({ day, groups: valuesOf(day, null, own), counts: { clicks: 1 } })
  }
  for (const customer of world.customers.filter(within)) {
    const { day } = customer
    const attributed = Number(world.configured.includes(String(ownerOn(customer, day).affiliate)))
    found.push({ day, groups: valuesOf(day, customer, {}), counts: { signups: 1, attributed } })
  }
  const firsts = new Map<string, string>()
  for (const one of [...world.transactions].sort(
    (a, b) => a.day - b.day || a.at - b.at || (a.id < b.id ? -1 : 1),
  )) {
    const customer = customers.get(one.customer)
    if (!customer || one.held || one.type !== 'deposit' || !isApproved(one.status)) continue
    if (one.day >= customer.day && !firsts.has(one.customer)) firsts.set(one.customer, one.id)
  }
  for (const one of world.transactions.filter(within)) {
    if (one.held) continue
    const name = `${one.type}${isApproved(one.status) ? '' : '_unapproved'}`
    const amount = {
      currency: one.currency,
      value: parse(one.amount),
      ...(one.usd !== null && { usd: parse(one.usd) }),
    }
    const isFirst = firsts.get(one.customer) === one.id
    found.push({
      day: one.day,
      customer: one.customer,
      groups: valuesOf(one.day, customers.get(one.customer)!, { transaction_type: one.type }),
      counts: { [`${name}_count`]: 1, ...(isFirst && { first_deposit_count: 1 }) },
      amounts: { [`${name}_amount`]: amount, ...(isFirst && { first_deposit_amount: amount }) },
    })
  }
  for (const { day, customer, instrument, currency, amounts, held } of world.activity.filter(
    within,
  )) {
    if (held) continue
    const amount = (name: string, of = currency) =>
      amounts[name] == null ? {} : { currency: of, value: parse(amounts[name]) }
    const all = {
      volume: amount('volume_usd', 'USD'),
      spread_cost: amount('spread_cost'),
      commission_charged: amount('commission'),
      pnl: amount('pnl'),
    }
    found.push({
      day,
      customer,
      numbers: { lots: parse(amounts.lots_traded!) },
      groups: valuesOf(day, customers.get(customer)!, { instrument }),
      amounts: Object.fromEntries(
        Object.entries(all).filter(([, one]) => 'value' in one),
      ) as Contribution['amounts'] & {},
    })
  }
  for (const { day, customer, name, product, held, value, kpis, ...one } of world.events.filter(
    within,
  )) {
    if (held) continue
    const currency = one.currency ?? world.eventCurrencies[name] ?? null
    const prefix = name.replaceAll('.', '\\.')
    const all = { ...(value !== null && { Value: value }), ...kpis }
    found.push({
      day,
      customer,
      groups: valuesOf(day, customers.get(customer)!, { eventname: name, product }),
      counts: { [`${prefix}.count`]: 1 },
      amounts: Object.fromEntries(
        Object.entries(all).map(([kpi, number]) => [
          `${prefix}.${kpi === 'count' ? '\\count' : kpi}`,
          { currency, value: parse(number) },
        ]),
      ),
    })
  }
  const commission = commissionOf(world, query)
  found.push(...commission.found)

  const keyed = Map.groupBy(
    found.filter(({ groups }) => groups !== null),
    ({ groups }) => JSON.stringify(groups),
  )
  const metrics = [...metricsOf(vertical).map(({ name }) => name), ...eventMetrics(found, isBrand)]
  const figures = (all: Contribution[], since: number, hasCommission: boolean) =>
    figuresOf(world, query, metrics, all, since >= query.clicksFrom, hasCommission)
  const startOf = (values: Value[]) =>
    Math.max(
      first,
      ...query.groups.map((group, i) => {
        const value = String(values[i])
        if (group === 'day') return dayOf(value)
        if (group === 'month') return dayOf(`${value}-01`)
        if (group !== 'week') return first
        let day = first - 7
        while (weekOf(day) !== value) day += 1
        return day
      }),
    )
  const totals = figures(found, first, commission.inTotals)
  return {
    data:
      query.groups.length === 0
        ? [{ groups: {}, ...totals }]
        : [...keyed].map(([key, all]) => {
            const values: Value[] = JSON.parse(key)
            return {
              groups: Object.fromEntries(query.groups.map((group, i) => [group, values[i]!])),
              ...figures(all, startOf(values), commission.inRows),
            }
          }),
    totals,
  }
}

const eventMetrics = (found: Contribution[], isBrand: boolean) =>
  isBrand
    ? [
        ...new Set(
          found.flatMap(({ counts, amounts }) => [
            ...Object.keys(counts ?? {}),
            ...Object.keys(amounts ?? {}),
          ]),
        ),
      ].filter((name) => name.includes('.'))
    : []

function figuresOf(
  world: World,
  query: ReportQuery,
  metrics: string[],
  all: Contribution[],
  hasClicks: boolean,
  hasCommission: boolean,
) {
  // The declarations of the metrics say what is added; what that comes to is counted here.
  const declared = new Map(metricsOf(world.vertical).map((one) => [one.name, one]))
  const unconverted = new Map<string, Omit<Unconverted, 'amount'> & { amount: Rational }>()
  const figureOf = (name: string) => {
    if (name === 'clicks' && !hasClicks) return null
    if (name === 'commission_owed' && !hasCommission) return null
    if (name === 'active_customers')
      return new Set(all.flatMap(({ customer }) => customer ?? [])).size
    if (name === 'lots')
      return plain(all.reduce((sum, { numbers }) => add(sum, numbers?.lots ?? ZERO), ZERO))
    const { type = name.endsWith('.count') ? 'count' : 'amount', of } = declared.get(name) ?? {}
    if (type === 'count') {
      return all.reduce((sum, { counts }) => sum + (counts?.[name] ?? 0), 0)
    }
    let total = ZERO
    for (const [part, sign] of of ?? [[name, 1] as const]) {
      const { value, rest } = convertAll(world, query.currency, part, all)
      const signed = (one: Rational) => (sign < 0 ? negate(one) : one)
      total = add(total, signed(value))
      for (const one of rest) {
        const { currency, reason } = one
        const key = JSON.stringify([name, currency, reason])
        const amount = add(unconverted.get(key)?.amount ?? ZERO, signed(one.value))
        unconverted.set(key, { metric: name, currency, reason, amount })
      }
    }
    return plain(total)
  }
  const figures = Object.fromEntries(metrics.map((name) => [name, figureOf(name)]))
  const rest = [...unconverted.values()].map((one) => ({ ...one, amount: plain(one.amount) }))
  return { metrics: figures, unconverted: rest }
}

/** The rates of each world by currency and day, and the last day of any. */
const known = new WeakMap<World, { byKey: Map<string, string>; last: number }>()

/** Returns the rate of a currency that applies to a day, or why there is none. */
function rateOn(world: World, currency: string, day: number): Rational | string {
  if (currency === 'EUR') return parse(1)
  const { byKey, last } = known.get(world) ?? {
    byKey: new Map(world.rates.map((one) => [`${one.currency} ${one.day}`, one.rate])),
    last: world.rates.reduce((latest, one) => Math.max(latest, one.day), Number.NEGATIVE_INFINITY),
  }
  known.set(world, { byKey, last })
  if (last < day) return 'fx_pending'
  for (let before = day; before >= day - 7; before--) {
    const rate = byKey.get(`${currency} ${before}`)
    if (rate !== undefined) return parse(rate)
  }
  return 'fx_missing'
}

/** Converts the amounts of a metric: those of a currency and day together, rounded once to 12 places. */
function convertAll(world: World, to: string, metric: string, all: Contribution[]) {
  let value = ZERO
  const isRated = (currency: string, day: number) =>
    typeof rateOn(world, currency, day) !== 'string'
  const pools = new Map<string, { from: string; day: number; value: Rational }>()
  const rest = new Map<
    string,
    { currency: string | null; reason: Unconverted['reason']; value: Rational }
  >()
  const leave = (
    currency: string | null,
    reason: Unconverted['reason'],
    amount: Rational,
    day: number,
  ) => {
    const key = `${currency} ${reason} ${day}`
    rest.set(key, { currency, reason, value: add(amount, rest.get(key)?.value ?? ZERO) })
  }
  const pool = (from: string, day: number, amount: Rational, of = from) => {
    const key = `${from} ${of} ${day}`
    pools.set(key, { from, day, value: add(amount, pools.get(key)?.value ?? ZERO) })
  }
  for (const { day, amounts } of all) {
    const one = amounts?.[metric]
    if (!one) continue
    if (one.currency === to) value = add(value, one.value)
    else if (one.currency === null) leave(null, 'no_currency', one.value, day)
    else if (one.usd && to === 'USD') value = add(value, one.usd)
    else {
      const reason = [rateOn(world, one.currency, day), rateOn(world, to, day)].find(
        (rate) => typeof rate === 'string',
      )
      if (reason === undefined) pool(one.currency, day, one.value)
      else if (one.usd && isRated(to, day) && isRated('USD', day))
        pool('usd', day, one.usd, one.currency)
      else leave(one.currency, reason as Unconverted['reason'], one.value, day)
    }
  }
  for (const { from, day, value: amount } of pools.values()) {
    const rate = (currency: string) => rateOn(world, currency, day) as Rational
    value = add(
      value,
      round(divide(multiply(amount, rate(to)), rate(from === 'usd' ? 'USD' : from)), 12),
    )
  }
  // A sum of 0 is 0 in every currency; the others are told by currency and reason.
  const left = [...rest.values()].filter((one) => one.value.n !== 0n)
  const byReason = Map.groupBy(left, ({ currency, reason }) => `${currency} ${reason}`)
  return {
    value,
    rest: [...byReason.values()].map((days) => ({
      ...days[0]!,
      value: days.reduce((sum, one) => add(sum, one.value), ZERO),
    })),
  }
}

/** Statements count whole, if all days of their periods are asked for. */
function commissionOf({ statements }: World, query: ReportQuery) {
  const [first, last] = [dayOf(query.from), dayOf(query.to)]
  const daysOf = (period: string) => {
    const days: number[] = []
    for (let day = first - 70; day < last + 70; day++) {
      if ((period.includes('W') ? weekOf : monthOf)(day) === period) days.push(day)
    }
    return days
  }
  const touched = statements.filter(({ period }) =>
    daysOf(period).some((day) => first <= day && day <= last),
  )
  const isWhole = touched.every(({ period }) =>
    daysOf(period).every((day) => first <= day && day <= last),
  )
  const inTotals = touched.length > 0 && isWhole
  const inRows =
    inTotals &&
    query.groups.every(
      (group) =>
        group === 'affiliate_id' ||
        ((group === 'week' || group === 'month') &&
          touched.every(
            ({ period }) =>
              new Set(daysOf(period).map(group === 'week' ? weekOf : monthOf)).size === 1,
          )),
    )
  const found: Contribution[] = !inTotals
    ? []
    : touched.map(({ affiliate, period, currency, total }) => {
        const day = daysOf(period).at(-1)!
        return {
          day,
          groups: inRows
            ? query.groups.map((group) =>
                group === 'affiliate_id' ? affiliate : (group === 'week' ? weekOf : monthOf)(day),
              )
            : null,
          amounts: { commission_owed: { currency, value: parse(total) } },
        }
      })
  return { found, inTotals, inRows }
}
