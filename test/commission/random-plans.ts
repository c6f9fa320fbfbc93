import { FACT_CONDITIONS, conditions as offered } from '../../src/commission/plans/conditions.ts'
import { type ALL_MODIFIERS, MODIFIERS } from '../../src/commission/plans/modifiers/order.ts'
import type { ConditionName } from '../../src/commission/plans/types.ts'
import type { World } from './world.ts'
import type { Source, Span } from './worlds.ts'

// Random plans that §12 and §16 accept, for the facts of test/commission/worlds.ts. Conditions and modifiers are drawn
// from those that the product offers.

type Json = Record<string, unknown>
type Rule = Json & { id: string; kind: keyof typeof MODIFIERS }
type Vertical = World['vertical']

const addDays = (day: string, days: number) =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)

/** The first day of the month or week of a day. */
function firstOfPeriod(kind: string, day: string): string {
  if (kind === 'month') return `${day.slice(0, 7)}-01`
  return addDays(day, -((new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7))
}

const TYPES: Record<Vertical, string[]> = {
  'prop-trading': ['challenge_fee', 'reset_fee', 'payout'],
  forex: ['deposit', 'withdrawal', 'ib_rebate'],
  igaming: [],
}
const EVENTS = ['bet', 'deposit', 'ftd']
const KPIS = ['ngr', 'stake', 'bonus', 'Value']

/** What conditions name, by the list without `not_`: the size of an account is one of these, a list some of them. */
const VALUES: Record<ConditionName, readonly (string | Json)[]> = {
  countries: ['DE', 'CZ', 'JP', 'deu', 'Atlantis'],
  account_types: ['standard', 'raw'],
  challenge_types: ['one-step', 'two-step'],
  phases: ['phase_1', 'phase_2', 'funded'],
  kyc: ['0', '1', '2'],
  sales: ['new', 'lost'],
  links: ['l1', 'l2'],
  account_size: [{ min: '50000' }, { max: '50000' }, { min: '10000', max: '60000' }],
  instruments: ['EURUSD*', 'XAU*', '*usd*', '??????', 'US30', 'eurus?', '*'],
  products: ['casino', 'sports'],
  currencies: ['EUR', 'USD', 'JPY'],
  subtypes: ['card', 'crypto'],
}

/** The conditions that the product offers. */
export const CONDITIONS = Object.keys(offered.entries)

/** Conditions on facts of one vertical only. */
const IS_OF_BRANDS: Record<string, boolean> = {
  products: true,
  instruments: false,
  subtypes: false,
}

/** Partners name countries by their codes; brands also as they send them. */
const CODE_OF: Record<string, string> = { deu: 'PL', Atlantis: 'US' }

/** Returns one of the conditions on customers, or of those on facts. */
function condition(from: Source, vertical: Vertical, isOfFact: boolean): Json {
  const names = CONDITIONS.filter(
    (name) =>
      FACT_CONDITIONS.has(name) === isOfFact &&
      (IS_OF_BRANDS[listOf(name)] ?? vertical === 'igaming') === (vertical === 'igaming'),
  )
  const name = from.pick(names)
  const values = VALUES[listOf(name)]
  if (name === 'account_size') return { [name]: from.pick(values) }
  const isCoded = vertical !== 'igaming'
  return {
    [name]: from.some(values).map((one) => (isCoded && CODE_OF[String(one)]) || one),
  }
}

const listOf = (name: string) => name.replace('not_', '') as ConditionName

const customerConditions = (from: Source, vertical: Vertical) => condition(from, vertical, false)

const conditions = (from: Source, vertical: Vertical): Json => ({
  ...(from.oneIn(2) && customerConditions(from, vertical)),
  ...condition(from, vertical, from.oneIn(2)),
})

const when = (from: Source, vertical: Vertical, times: number) =>
  from.oneIn(times) ? { when: conditions(from, vertical) } : {}

/** Returns a term that adds up amounts. */
function term(from: Source, vertical: Vertical): Json {
  const what =
    vertical === 'igaming'
      ? { event: from.pick(EVENTS), kpi: from.pick(KPIS) }
      : from.oneIn(2)
        ? {
            transactions: from.oneIn(2) ? TYPES[vertical] : from.some(TYPES[vertical]),
            ...(from.oneIn(6) && { subtypes: from.some(['card', 'wire']) }),
          }
        : { activity: from.pick(['pnl', 'pnl', 'spread_cost', 'commission', 'volume_usd']) }
  const times =
    'activity' in what && what.activity === 'volume_usd'
      ? from.pick(['0.001', '-0.0005'])
      : from.pick(['-1', '-0.2', '0.5', '2', '0.333333'])
  return { ...what, ...(from.oneIn(3) && { times }), ...when(from, vertical, 6) }
}

/** Returns the terms of a base, with parts of named terms and, for an affiliate, fixed terms. */
function base(from: Source, vertical: Vertical, takesFixed: boolean): Json[] {
  const terms = Array.from({ length: from.between(1, 3) }, () => term(from, vertical))
  if (from.oneIn(3)) {
    terms[0] = { ...terms[0], name: 'first' }
    const part = { of: ['first'], times: from.pick(['-0.2', '-0.05', '0.1']) }
    terms.push(from.oneIn(3) ? { ...part, name: 'part' } : part)
    if (terms.at(-1)!.name) terms.push({ of: ['part', 'first'], times: '-0.01' })
  }
  if (takesFixed && from.oneIn(5)) terms.push({ fixed: from.pick(['-50.00', '-10', '25']) })
  return terms
}

const unit = (from: Source, vertical: Vertical): Json => {
  if (vertical === 'igaming')
    return from.oneIn(3)
      ? { count: { event: from.pick(EVENTS) } }
      : { event: from.pick(EVENTS), kpi: from.pick(KPIS) }
  return from.oneIn(4)
    ? { count: { transactions: from.some(TYPES[vertical]) } }
    : { activity: from.pick(['lots_traded', 'lots_traded', 'volume_usd']) }
}

const each = (from: Source, of: Json) =>
  of.activity === 'volume_usd' ? { each: '100000' } : from.oneIn(5) ? { each: '3' } : {}

/** Returns an amount in the minor unit of any currency. */
const whole = (from: Source) => from.pick(['5', '20', '50', '100', '150', '300'])

const percent = (from: Source) =>
  from.pick(['10', '25', '30', '33.333333', '12.5', '0.5', '100', '7'])
const price = (from: Source) => from.pick(['5.00', '7', '3.5', '0.125', '200', '2.505', '100'])

function pay(from: Source, isPercent: boolean): Json {
  return isPercent ? { percent: percent(from) } : { amount: price(from) }
}

function tiers(from: Source, isPercent: boolean, extra: Json): Json {
  const isSlice = Object.keys(extra).every((one) => one === 'window') && from.oneIn(2)
  const starts = [...new Set(Array.from({ length: from.between(1, 3) }, () => from.below(8)))]
  const scale = from.pick([1, 1, 5, 100, 0.5])
  const steps = ['0', ...starts.sort((a, b) => a - b).map((one) => String((one + 1) * scale))]
  return {
    tiers: {
      mode: isSlice ? 'slice' : 'whole',
      steps: steps.map((start) => ({ from: start, ...pay(from, isPercent) })),
      ...extra,
    },
  }
}

/** Returns what a rule's tiers measure. */
function measured(from: Source, vertical: Vertical, once: string | null): Json {
  const over = from.oneIn(3) ? { over: 'network' } : {}
  const window = from.oneIn(3) ? { window: from.pick(['period', 'quarter', 'lifetime']) } : {}
  const by = from.below(5)
  if (by === 0 && once !== null) return { by: { once }, ...over, ...window }
  if (by === 1) return { by: { customers: 'active' }, ...over }
  if (by === 2) return { by: { base: [term(from, vertical)] }, ...over, ...window }
  return { ...over, ...window }
}

function rate(from: Source, vertical: Vertical, isPercent: boolean, once: string | null): Json {
  if (!from.oneIn(3)) return pay(from, isPercent)
  return tiers(from, isPercent, measured(from, vertical, once))
}

function trigger(from: Source, vertical: Vertical): { trigger: Json; hasAmount: boolean } {
  if (from.oneIn(7)) return { trigger: { signup: true }, hasAmount: false }
  const min = from.oneIn(2) ? { min: from.pick(['50', '100', '91.274']) } : {}
  if (vertical !== 'igaming')
    return { trigger: { transactions: from.some(TYPES[vertical]), ...min }, hasAmount: true }
  const event = from.pick(EVENTS)
  if (from.oneIn(3)) return { trigger: { event }, hasAmount: false }
  return { trigger: { event, kpi: from.pick(KPIS), ...min }, hasAmount: true }
}

function qualify(from: Source, vertical: Vertical): Json {
  const days = from.pick([1, 5, 7, 10, 30])
  const within = from.oneIn(2) ? { within_days: days } : {}
  const kind = from.below(5)
  if (kind === 0) return { customer: customerConditions(from, vertical) }
  if (kind === 1) {
    const count =
      vertical === 'igaming'
        ? { event: from.pick(EVENTS) }
        : from.oneIn(2)
          ? { transactions: from.some(TYPES[vertical]) }
          : { activity: from.pick(['lots_traded', 'pnl']) }
    return { count, min: from.pick(['1', '2', '3']), ...within }
  }
  const sum = Array.from({ length: from.between(1, 2) }, () => term(from, vertical))
  const min = from.pick(['0', '50', '100', '250', '500'])
  return from.oneIn(4) ? { sum, min, within_days: days, at: 'end' } : { sum, min, ...within }
}

/** A rule without modifiers, and the `once` rule of its plan. */
interface Modified {
  from: Source
  rule: Rule
  once: string | null
}

type NamesOf<M> = M extends { members: infer Members } ? keyof Members : never

const pays = ({ from, rule }: Modified, value: string) =>
  rule.percent !== undefined && from.oneIn(2) ? value : undefined

const isOwn = ({ rule }: Modified) => (rule.per ?? 'affiliate') === 'affiliate'

/** Returns what a rule has of each member of a modifier; undefined: it has none, or may not. */
const MEMBERS: Record<NamesOf<(typeof ALL_MODIFIERS)[number]>, (modified: Modified) => unknown> = {
  min_amount: (modified) => pays(modified, '5'),
  max_amount: (modified) => pays(modified, '75.505'),
  max_per_customer: ({ from, rule }) =>
    (rule.kind === 'once' || rule.per === 'customer') && from.oneIn(4) ? whole(from) : undefined,
  max_count: ({ from }) => (from.oneIn(3) ? from.between(1, 2) : undefined),
  max: ({ from }) => (from.oneIn(5) ? whole(from) : undefined),
  negative: ({ from }) => from.pick([undefined, 'offset', 'zero', 'carry', 'carry', 'carry']),
  fence: (modified) =>
    isOwn(modified) &&
    ['zero', 'carry'].includes(String(modified.rule.negative)) &&
    !modified.from.oneIn(3)
      ? {
          customer: modified.from.pick(['-7000', '-100', '-10', '-1', '-0.5', '0']),
          affiliate: modified.from.pick(['-2000', '-50', '-1', '0']),
        }
      : undefined,
  recoups: (modified) =>
    modified.once !== null && isOwn(modified) && modified.from.oneIn(2) ? modified.once : undefined,
}

/** Gives a rule some of the modifiers that the product offers for its kind. */
function modified(from: Source, rule: Rule, once: string | null = null): Rule {
  // The last ones first: whether a fence may be there depends on `negative`.
  for (const { members } of MODIFIERS[rule.kind].toReversed())
    for (const name of Object.keys(members) as (keyof typeof MEMBERS)[]) {
      const value = MEMBERS[name]({ from, rule, once })
      if (value !== undefined) rule[name] = value
    }
  return rule
}

function onceRule(from: Source, vertical: Vertical, id: string): Rule {
  const { trigger: of, hasAmount } = trigger(from, vertical)
  const isPercent = hasAmount && from.oneIn(3)
  return modified(from, {
    id,
    kind: 'once',
    trigger: of,
    ...when(from, vertical, 4),
    ...(from.oneIn(6) && { months: from.between(1, 3) }),
    ...(from.oneIn(2) && {
      qualify: Array.from({ length: from.between(1, 2) }, () => qualify(from, vertical)),
    }),
    ...(from.oneIn(2) && { grace_hours: from.pick([0, 0, 1, 24, 48, 168]) }),
    ...rate(from, vertical, isPercent, null),
    ...(from.oneIn(2) && { requalify: !from.oneIn(3) }),
    ...(hasAmount &&
      from.oneIn(3) && {
        void_by: {
          terms: [term(from, vertical)],
          within_days: from.pick([1, 7, 30]),
        },
      }),
  })
}

function shareRule(from: Source, vertical: Vertical, id: string, once: string | null): Rule {
  const per = from.pick(['affiliate', 'affiliate', 'affiliate', 'customer', 'product'])
  const isOfAll = per === 'affiliate'
  const rule: Rule = {
    id,
    kind: 'share',
    base: base(from, vertical, isOfAll),
    ...(!isOfAll || from.oneIn(2) ? { per } : {}),
    ...when(from, vertical, 4),
    ...(from.oneIn(6) && { months: from.between(1, 3) }),
    ...rate(from, vertical, true, once),
  }
  return modified(from, rule, once)
}

function unitRule(from: Source, vertical: Vertical, id: string, once: string | null): Rule {
  const of = unit(from, vertical)
  return modified(from, {
    id,
    kind: 'unit',
    unit: of,
    ...each(from, of),
    ...when(from, vertical, 3),
    ...(from.oneIn(6) && { months: from.between(1, 3) }),
    ...rate(from, vertical, false, once),
  })
}

function overrideRule(from: Source, vertical: Vertical, id: string, once: string | null): Rule {
  const form = from.below(once === null ? 4 : 6)
  const ofUnit = unit(from, vertical)
  const of =
    form < 2
      ? { lines: from.some(['once', 'share', 'unit']) }
      : form === 2
        ? { base: base(from, vertical, false) }
        : form === 3
          ? { unit: ofUnit }
          : { once }
  const isPercent = form < 3
  const window = from.oneIn(3) ? { window: from.pick(['quarter', 'lifetime']) } : {}
  const bindsFacts = form === 2 || form === 3
  return modified(from, {
    id,
    kind: 'override',
    level: from.pick([1, 1, 2]),
    of,
    ...(form === 3 && each(from, ofUnit)),
    ...(bindsFacts && when(from, vertical, 4)),
    ...(bindsFacts && from.oneIn(6) && { months: from.between(1, 3) }),
    ...(from.oneIn(4) ? tiers(from, isPercent, window) : pay(from, isPercent)),
    ...(from.oneIn(3) && { negative: 'offset' }),
    ...(from.oneIn(3) && { funded_by: 'downline' }),
  })
}

/** Returns the rules of a first version: an id has the same kind in every plan. */
function rules(from: Source, vertical: Vertical): Rule[] {
  const all: Rule[] = []
  const hasOnce = !from.oneIn(4)
  const once = hasOnce ? 'cpa' : null
  if (hasOnce) all.push(onceRule(from, vertical, 'cpa'))
  if (from.oneIn(4)) all.push(onceRule(from, vertical, 'first'))
  if (!from.oneIn(5)) all.push(shareRule(from, vertical, 'revenue', once))
  if (from.oneIn(2)) all.push(shareRule(from, vertical, 'net', once))
  if (from.oneIn(2)) all.push(unitRule(from, vertical, 'lots', once))
  if (from.oneIn(2)) all.push(overrideRule(from, vertical, 'master', once))
  if (from.oneIn(5)) all.push(overrideRule(from, vertical, 'sub', once))
  if (all.length === 0) all.push(unitRule(from, vertical, 'lots', null))
  return from.shuffle(all).slice(0, 5)
}

const mentions = (rule: Rule, id: string) => {
  const { recoups, tiers: of, of: follows } = rule as Json & { tiers?: Json; of?: Json }
  return (
    recoups === id ||
    (of?.by as Json | undefined)?.once === id ||
    (rule.kind === 'override' && follows?.once === id)
  )
}

/** Leaves out rules that refer to a `once` rule which the version lacks. */
function valid(all: Rule[]): Rule[] {
  const hasCpa = all.some(({ id }) => id === 'cpa')
  return all.filter((rule) => hasCpa || !mentions(rule, 'cpa'))
}

/** Returns the rules of a later version: some new, some gone, some with another rate. */
function changed(from: Source, vertical: Vertical, before: Rule[]): Rule[] {
  const kept = before.filter(() => !from.oneIn(6))
  const rated = kept.map((rule): Rule => {
    if (rule.tiers && !from.oneIn(4)) {
      const of = rule.tiers as { steps: Json[] }
      const isPercent = of.steps[0]!.percent !== undefined
      const steps = of.steps.map(({ from: start }) => ({ from: start, ...pay(from, isPercent) }))
      return { ...rule, tiers: { ...of, steps } }
    }
    if (rule.percent !== undefined) return { ...rule, percent: percent(from) }
    return rule.amount === undefined ? rule : { ...rule, amount: price(from) }
  })
  const fresh = from.oneIn(3) ? rules(from, vertical) : []
  const added = fresh.filter(({ id }) => !before.some((rule) => rule.id === id))
  const all = [...added, ...rated].slice(0, 5)
  return all.length > 0 ? all : before
}

/** Returns a rule with another unit, if it has one. */
function withUnit(rule: Rule, of: Json, per: Json): Rule {
  const { each: _, ...rest } = rule
  if (rule.kind === 'unit') return { ...rest, unit: of, ...per } as Rule
  return (rule.of as Json | undefined)?.unit
    ? ({ ...rest, of: { unit: of }, ...per } as Rule)
    : rule
}

/** Gives rules of later versions another unit, or tiers that measure something else. */
export function changeMeasures(from: Source, world: World): World {
  const { vertical } = world
  const changedIn = (all: Rule[]) =>
    all.map((rule): Rule => {
      const once = all.some(({ id }) => id === 'cpa') && rule.kind !== 'once' ? 'cpa' : null
      const of = unit(from, vertical)
      const own = from.oneIn(3) ? withUnit(rule, of, each(from, of)) : rule
      const { tiers: before } = own as { tiers?: { mode: string; steps: Json[] } }
      if (!before || rule.kind === 'override' || !from.oneIn(2)) return own
      const measure = before.mode === 'slice' ? {} : measured(from, vertical, once)
      return { ...own, tiers: { mode: before.mode, steps: before.steps, ...measure } }
    })
  const plans = world.plans.map(({ plan, versions }) => ({
    plan,
    versions: versions.map((one, at) => {
      const terms = one.terms as Json & { rules: Rule[] }
      return at === 0 ? one : { ...one, terms: { ...terms, rules: changedIn(terms.rules) } }
    }),
  }))
  return { ...world, plans }
}

function plan(from: Source, vertical: Vertical, span: Span, name: string): World['plans'][number] {
  const period = from.oneIn(3) ? 'week' : 'month'
  const terms = from.pick(['signup', 'current'])
  const currency = from.pick(['EUR', 'EUR', 'USD', 'USD', 'JPY', 'KWD', 'GBP'])
  const days = Array.from({ length: from.between(1, 3) }, (_, at) => {
    const day = addDays(span.first, at === 0 ? from.pick([-60, -5, 20]) : from.below(span.days))
    return terms === 'current' ? firstOfPeriod(period, day) : day
  })
  let current = valid(rules(from, vertical))
  if (current.length === 0) current = [unitRule(from, vertical, 'lots', null)]
  return {
    plan: name,
    versions: [...new Set(days)].sort().map((effective_from, at) => {
      const next = at === 0 ? current : valid(changed(from, vertical, current))
      if (next.length > 0) current = next
      return {
        version: at + 1,
        terms: {
          name: `Plan ${name}`,
          currency,
          period,
          effective_from,
          terms,
          negative: from.pick(['carry', 'zero']),
          minimum_payout: from.pick(['0', '50', '100']),
          hold_days: 14,
          rules: current,
        },
      }
    }),
  }
}

/** Adds plans and assignments to a world. */
export function addPlans(from: Source, world: World, span: Span): World {
  const names = ['standard', 'master', 'Prop'].slice(0, from.between(1, 3))
  const plans = names.map((name) => plan(from, world.vertical, span, name))
  const assignments: World['assignments'] = []
  const assign = (affiliate_id: string) => {
    const start = addDays(span.first, from.pick([-100, -100, -100, -5, 10, 30]))
    if (assignments.some((one) => one.affiliate_id === affiliate_id && one.from === start)) return
    assignments.push({
      affiliate_id,
      plan: from.pick(names),
      from: start,
      customers: from.pick(['new', 'all']),
    })
  }
  for (const { affiliate_id } of world.affiliates)
    for (let at = from.pick([0, 1, 1, 2, 3]); at > 0; at -= 1) assign(affiliate_id)
  if (!from.oneIn(3)) assign('*')
  if (from.oneIn(4)) assign('*')
  if (names.length > 1 && from.oneIn(2)) {
    makeMovable(from, plans)
    for (const affiliate_id of ['*', ...world.affiliates.map((one) => one.affiliate_id)])
      if (!from.oneIn(3)) assignments.push(...moves(from, span, names, affiliate_id, assignments))
  }
  return { ...world, plans, assignments }
}

/** Gives most plans the currency of the first and amounts to carry, so that closings move. */
function makeMovable(from: Source, plans: World['plans']) {
  const { currency } = plans[0]!.versions[0]!.terms as Json
  for (const { versions } of plans) {
    if (from.oneIn(4)) continue
    const minimum_payout = from.pick(['100', '1000000'])
    const negative = from.pick(['carry', 'carry', 'zero'])
    for (const { terms } of versions)
      Object.assign(terms as Json, { currency, minimum_payout, negative })
  }
}

/** Returns assignments that bring an affiliate to other plans, mostly with all of its customers. */
function moves(
  from: Source,
  span: Span,
  names: string[],
  affiliate_id: string,
  known: World['assignments'],
): World['assignments'] {
  const days = Array.from({ length: from.between(1, 3) }, () => {
    const day = addDays(span.first, from.below(span.days))
    return from.oneIn(3) ? firstOfPeriod(from.pick(['month', 'week']), day) : day
  })
  return [...new Set(days)]
    .filter((day) => !known.some((one) => one.affiliate_id === affiliate_id && one.from === day))
    .map((day) => ({
      affiliate_id,
      plan: from.pick(names),
      from: day,
      customers: from.oneIn(5) ? 'new' : 'all',
    }))
}
