import type { Rule, Term, Version } from './oracle/plan.ts'
import type { World, WorldActivity, WorldCustomer } from './world.ts'
import type { Source } from './worlds.ts'

// Facts that meet the windows, thresholds and limits of a world's plans exactly, or miss them by one
// millisecond, day or cent. Facts at random hardly ever do.

const DAY_MS = 86_400_000
const dayOf = (instant: number) => new Date(instant).toISOString().slice(0, 10)
const startOf = (day: string) => Date.parse(`${day}T00:00:00Z`)

interface Stage {
  from: Source
  world: World
  currency: string
}

/** Returns by what an amount is divided, so that the term makes that amount of it. */
const timesOf = ({ times = '1' }: Term) =>
  ['-0.2', '0.5', '2'].includes(times) ? Number(times) : times.startsWith('-') ? -1 : 1

/** Adds a fact that a term names. A whole-day fact stands on the day of the instant. */
function add(stage: Stage, term: Term, customer: WorldCustomer, at: number, amount: number) {
  const { from, world, currency } = stage
  const { customer_id } = customer
  const value = Math.round((amount / timesOf(term)) * 100) / 100
  if (term.transactions)
    world.transactions.push({
      transaction_id: `s${world.transactions.length}`,
      customer_id,
      transaction_type: term.transactions[0]!,
      ...(term.subtypes && { transaction_subtype: term.subtypes[0]! }),
      amount_currency: value,
      currency,
      at,
      status: 'ok',
    })
  if (term.activity) {
    const row: WorldActivity = {
      date: dayOf(at),
      customer_id,
      instrument: from.pick(['EURUSD', 'XAUUSD', 'US30']),
      currency,
      lots_traded: 1,
      ...(term.activity !== 'lots_traded' && { [term.activity]: value }),
    }
    const key = (one: WorldActivity) => [one.date, one.customer_id, one.instrument, one.currency]
    if (!world.activity.some((one) => `${key(one)}` === `${key(row)}`)) world.activity.push(row)
  }
  if (term.event) {
    const kpi = term.kpi ?? 'Value'
    world.events.push({
      id: `s${world.events.length}`,
      customer_id,
      eventname: term.event,
      ...(!from.oneIn(3) && { at }),
      day: dayOf(at),
      Currency: currency,
      ...(!from.oneIn(3) && { product: from.pick(['casino', 'sports']) }),
      ...(kpi === 'Value' ? { Value: value } : { kpis: { [kpi]: value } }),
    })
  }
}

/** Returns an instant at the edge of a window that ends `days` after a start. */
const edge = (from: Source, start: number, days: number) =>
  from.oneIn(3)
    ? startOf(dayOf(start + days * DAY_MS)) + from.pick([-1, 0, DAY_MS - 1, DAY_MS])
    : start + days * DAY_MS + from.pick([-1, 0, 0, 1])

/** Adds a trigger, then what voids it and what qualifies, for one customer. */
function stageOnce(stage: Stage, rule: Rule, customer: WorldCustomer, at: number) {
  const { from, world } = stage
  const trigger: Term = rule.trigger!
  const amount = Number(from.pick([rule.trigger!.min ?? '100', '100', '250']))
  if (!rule.trigger!.signup) {
    const count = world.transactions.length
    add(stage, trigger, customer, at, amount)
    const added = world.transactions[count]
    if (added && from.oneIn(4)) {
      added.status = 'reversed'
      add(stage, trigger, customer, at + from.pick([0, 1, DAY_MS]), amount)
    }
  }
  if (rule.void_by && !from.oneIn(3)) {
    const { terms, within_days: days } = rule.void_by
    const when = !from.oneIn(3) ? edge(from, at, days) : at + from.pick([0, 0, 1, DAY_MS / 2])
    add(stage, terms[0]!, customer, when, amount - (from.oneIn(4) ? 0.01 : 0))
    if (from.oneIn(2)) add(stage, trigger, customer, at + from.pick([2, DAY_MS]), amount)
  }
  for (const { sum, count, min, within_days: days } of rule.qualify ?? []) {
    if (!sum && !count) continue
    const term: Term = sum ? sum[0]! : { ...count }
    const start = customer.signup
    const when = days !== undefined && from.oneIn(2) ? edge(from, start, days) : start
    const needed = Number(min)
    if (sum) add(stage, term, customer, when, needed)
    else for (let at = 0; at < needed; at += 1) add(stage, term, customer, when, at + 1)
  }
}

/** Adds losses of a period that a fence holds, and wins of the next that pay them back. */
function stageFence(stage: Stage, rule: Rule, customers: WorldCustomer[], at: number) {
  const { from } = stage
  const { customer: limit, affiliate } = rule.fence!
  const term = rule.base![0]!
  const losses = [Number(limit), Number(affiliate), -10, -33.33, -100]
  if (from.oneIn(3)) add(stage, term, customers[0]!, at, Math.min(Number(limit), Number(affiliate)))
  else for (const one of customers) add(stage, term, one, at, from.pick(losses))
  if (from.oneIn(3)) add(stage, term, customers[0]!, at, 50)
  const later = at + from.pick([7, 31, 32]) * DAY_MS
  for (const one of customers) add(stage, term, one, later, from.pick([10, 33.33, 100, 5000]))
}

/** Adds facts of one customer and day that a base converts together, or apart by product. */
function stageConversion(stage: Stage, rule: Rule, customer: WorldCustomer, at: number) {
  const { from } = stage
  const currency = stage.currency === 'EUR' ? 'USD' : 'EUR'
  const term = rule.base![0]!
  for (let count = from.between(2, 4); count > 0; count -= 1)
    add({ ...stage, currency }, term, customer, at, from.pick([0.01, 0.07, 10, 33.33]))
}

/** Returns the affiliate's customers, or any. */
function customersOf(world: World, affiliate: string): WorldCustomer[] {
  const own = world.customers.filter((one) => one.affiliates[0]!.affiliate_id === affiliate)
  return own.length > 0 ? own : world.customers.slice(-3)
}

/** Adds staged facts to a world. */
export function stageFacts(from: Source, world: World): World {
  const assigned = world.assignments.filter(({ affiliate_id }) => affiliate_id !== '*')
  const { plan, affiliate_id } =
    assigned.length > 0
      ? from.pick(assigned)
      : { plan: world.plans[0]!.plan, affiliate_id: world.affiliates[0]!.affiliate_id }
  const { terms } = from.pick(world.plans.find((one) => one.plan === plan)!.versions)
  const { rules, currency } = terms as Version
  const stage: Stage = { from, world, currency }
  const customers = customersOf(world, affiliate_id).slice(-4)
  const start = startOf(dayOf(Math.max(...customers.map(({ signup }) => signup)) + 2 * DAY_MS))
  for (const rule of rules) {
    // Customers who qualify in one period compete for `max_count`, `max` and the steps of tiers.
    if (rule.kind === 'once')
      for (const one of customers)
        stageOnce(stage, rule, one, start + from.pick([0, 0, 1, DAY_MS / 2, DAY_MS]))
    if (rule.kind === 'share' && from.oneIn(3)) stageConversion(stage, rule, customers[0]!, start)
    if (rule.kind === 'share' && rule.fence) stageFence(stage, rule, customers.slice(-2), start)
  }
  return world
}
