import { type Books, enter, hold, joinKey, latest } from './books.ts'
import { firstDay, lastDay, periodOf } from './calendar.ts'
import { applyAdvance, applyMax, applyNegative, roundAndCap } from './caps.ts'
import { currencyOf } from './convert.ts'
import { type Draft, draft } from './drafts.ts'
import { compareText, type Fact } from './facts.ts'
import { applyFence } from './fence.ts'
import { accepted, factsOf, inUnits, measuresFor, network, onceMeasured } from './measures.ts'
import { paysPercent, triggerField, waitsFor } from './once.ts'
import { inForce, type Rule, type Version } from './plan.ts'
import { add, greatest, isZero, ONE, type Rational, subtract, sum, ZERO } from './rational.ts'
import { evaluateRule, qualifiedBy } from './reasons.ts'
import { type Base, baseOf, type Held, unitsOf } from './terms.ts'
import { applyRate } from './tiers.ts'

// The lines of one affiliate, plan and period, but those of overrides.

export interface Place {
  affiliate: string
  version: Version
  rule: Rule
  period: string
}

/** Names what passes on from period to period: under `current` to the next version, too. */
const ownerOf = ({ affiliate, version, rule }: Pick<Place, 'affiliate' | 'version' | 'rule'>) =>
  joinKey(affiliate, version.plan, rule.id, version.terms === 'signup' ? version.version : null)

/** Returns what each scope of a rule carries. */
function carriesOf(books: Books, place: Pick<Place, 'affiliate' | 'version' | 'rule'>) {
  const owner = ownerOf(place)
  const carries = books.carries.get(owner) ?? new Map<string, Rational>()
  books.carries.set(owner, carries)
  return carries
}

/** Returns the facts that a version governs, of one affiliate and period. */
const governedFacts = (books: Books, { affiliate, version, period }: Omit<Place, 'rule'>) =>
  factsOf(books, [affiliate], period).filter((fact) => fact.version === version)

function scopeOf(rule: Rule, fact: Fact): string {
  if (rule.per === 'customer') return `customer:${fact.customer.customer_id}`
  return rule.per === 'product' ? `product:${fact.product ?? ''}` : 'affiliate'
}

/** Returns the scopes that a line of a `share` can have: with a fact, a carry or a deficit. */
function scopesOf(books: Books, place: Place, facts: Fact[]): string[] {
  const { rule } = place
  const scopes = facts.map((fact) => scopeOf(rule, fact))
  // What was carried under another `per` waits.
  const isOfRule = (scope: string) => scope.split(':')[0] === (rule.per ?? 'affiliate')
  if (rule.negative === 'carry')
    scopes.push(...[...carriesOf(books, place).keys()].filter(isOfRule))
  if (rule.recoups !== undefined) scopes.push('affiliate')
  return [...new Set(scopes)]
}

/** Applies the fence to a base, and sets what it prints. */
function fenceIn(books: Books, line: Draft, base: Base, facts: Fact[], total: Rational): Rational {
  const { fence } = line.rule
  if (!fence) return total
  const customers = new Map<string, Rational>()
  for (const { customer } of base.counted) {
    const own = facts.filter((fact) => fact.customer === customer)
    const { rates } = books.account
    const of = baseOf(rates, line.rule.base!, own, line.version.currency)
    customers.set(customer.customer_id, of.total)
  }
  const owner = ownerOf(line)
  const held = books.fenced.get(owner) ?? new Map<string, Rational>()
  books.fenced.set(owner, held)
  const { after, paidBack, fenced } = applyFence(fence, total, customers, held)
  line.fence = { base: total, paidBack, fenced }
  return after
}

function shareLines(books: Books, place: Place, advances: Draft[]): Draft[] {
  const { version, rule } = place
  const facts = accepted(rule, governedFacts(books, place))
  return scopesOf(books, place, facts).flatMap((scope) => {
    const own = facts.filter((fact) => scopeOf(rule, fact) === scope)
    const base = baseOf(books.account.rates, rule.base!, own, version.currency)
    const carried = carriesOf(books, place).get(scope) ?? ZERO
    const waits = rule.negative === 'carry' && !isZero(carried)
    const deficit = books.deficits.get(ownerOf(place)) ?? ZERO
    const owes =
      rule.recoups !== undefined && !(isZero(deficit) && isZero(advanced(place, advances)))
    if (base.counted.size === 0 && !waits && !owes) return []
    const line = draft({ ...place, scope })
    const after = fenceIn(books, line, base, own, add(base.total, base.fixed))
    return {
      ...line,
      quantity: after,
      measured: after,
      base: after,
      counted: base.counted,
      fx: [...base.fx.values()].sort((a, b) => compareText(a.currency, b.currency)),
    }
  })
}

function unitLines(books: Books, place: Place): Draft[] {
  const { rule } = place
  const facts = accepted(rule, governedFacts(books, place))
  const counted = facts.filter((fact) => unitsOf(rule.unit!, fact) !== null)
  if (counted.length === 0) return []
  const units = sum(counted.map((fact) => unitsOf(rule.unit!, fact)!))
  const quantity = inUnits(rule, units)
  const line = draft({ ...place, scope: 'affiliate' })
  return [{ ...line, units, quantity, measured: quantity, counted: new Set(counted) }]
}

/** Returns the lines of a `once` rule id, of all versions, in order of qualification. */
function onceLines(books: Books, affiliate: string, plan: string, rule: string, period: string) {
  return books.once
    .filter(
      (one) =>
        one.affiliate === affiliate &&
        one.plan === plan &&
        one.rule === rule &&
        one.period === period,
    )
    .map(({ qualified, overCount }): Draft => {
      const { trigger, used, attempt } = qualified
      const { version, rule, amount } = attempt
      const isPercent = paysPercent(rule)
      const scope = `customer:${trigger.customer.customer_id}`
      return {
        ...draft({ affiliate, version, rule, period, scope }),
        qualified,
        overCount,
        counted: used,
        quantity: isPercent ? amount! : ONE,
        measured: onceMeasured(overCount),
        base: isPercent ? amount : null,
        fx: isPercent ? [triggerMoney(trigger, rule, amount!)] : [],
      }
    })
}

function triggerMoney(trigger: Fact, rule: Rule, converted: Rational) {
  const field = triggerField(rule)
  return { currency: currencyOf(trigger, field)!, amount: trigger.numbers.get(field)!, converted }
}

const byScope = (a: Draft, b: Draft) =>
  compareText(a.scope, b.scope) || a.version.version - b.version.version
const byVersion = (a: Draft, b: Draft) =>
  a.version.version - b.version.version || compareText(a.scope, b.scope)

/** Prices the lines of one rule id of an affiliate, plan and period. */
export function priceLines(books: Books, lines: Draft[]) {
  if (lines.length === 0) return
  const isOnce = lines[0]!.rule.kind === 'once'
  const inSlice = isOnce ? lines : lines.toSorted(byVersion)
  for (const rule of new Set(lines.map((line) => line.rule))) {
    const { affiliate, version, period } = lines.find((line) => line.rule === rule)!
    applyRate(inSlice, rule, measuresFor(books, affiliate, version, rule, period))
  }
  for (const line of lines) {
    roundAndCap(line)
    const carries = carriesOf(books, line)
    applyNegative(line, carries.get(line.scope) ?? ZERO)
    if (line.rule.negative === 'carry') carries.set(line.scope, line.carriedOut)
  }
  applyMax(isOnce ? lines : lines.toSorted(byScope), latest(lines).rule.max)
}

/**
 * Returns what the `once` rule that a share recoups paid in the period: under the same version, or
 * under `current` under any.
 */
const advanced = ({ rule, version }: Place, lines: Draft[]) =>
  sum(
    lines
      .filter((one) => one.rule.id === rule.recoups)
      .filter((one) => version.terms === 'current' || one.version === version)
      .map(({ amount }) => amount),
  )

/** Sets the shares that recoup against the `once` lines of their version; deficits pass on. */
function recoup(books: Books, place: Place, lines: Draft[]) {
  const { rule } = place
  if (rule.recoups === undefined) return
  const owner = ownerOf(place)
  const line = lines.find((one) => one.rule === rule)
  const share = line?.amount ?? ZERO
  const { amount, deficit } = applyAdvance(
    share,
    advanced(place, lines),
    books.deficits.get(owner) ?? ZERO,
  )
  books.deficits.set(owner, deficit)
  if (!line) return
  line.recouped = subtract(greatest(share, ZERO), amount)
  line.amount = amount
  line.deficit = deficit
}

/** Holds what a measure cannot convert: own facts, and those of the network if there is a line. */
function holdMeasure(books: Books, place: Place, facts: Fact[], lines: Draft[]) {
  const { affiliate, version, rule, period } = place
  const { tiers } = rule
  const held: Held[] = []
  if (tiers?.by?.base)
    held.push(...baseOf(books.account.rates, tiers.by.base, facts, version.currency).held)
  if (tiers?.over === 'network' && lines.some((line) => line.rule === rule))
    held.push(...network(books, affiliate, version, rule, period).held)
  for (const one of held) holdFact(books, place, one)
}

/** Holds the amount of a fact that waits. */
export function holdFact(books: Books, place: Place, { fact, field, reason }: Held) {
  const { affiliate, version, rule, period } = place
  hold(books, affiliate, version.plan, period, {
    rule: rule.id,
    version: version.version,
    reason,
    currency: currencyOf(fact, field),
    item: fact,
    field,
    amount: fact.numbers.get(field)!,
  })
}

/** Holds the facts that a rule cannot convert. */
function holdFacts(books: Books, place: Place, facts: Fact[]) {
  const { version, rule, period } = place
  for (const fact of facts)
    for (const { field, reason } of evaluateRule(
      books.account,
      version,
      rule,
      fact,
      lastDay(period),
    ).held)
      holdFact(books, place, { fact, field, reason })
}

/**
 * Holds what makes candidates of `once` rules wait: in the period in which the later of the candidate
 * and the fact that it waits for lies, in the statement of the candidate's affiliate and plan.
 */
export function holdCandidates(books: Books) {
  const { account } = books
  for (const attempt of [...account.attempts.values()].flat())
    for (const { fact, field, reason } of waitsFor(attempt)) {
      const { version, rule, candidate } = attempt
      const later = fact.day > candidate!.day ? fact.day : candidate!.day
      const period = periodOf(version.period, later)
      if (qualifiedBy(account, fact, rule.id, lastDay(period))) continue
      const place: Place = { affiliate: candidate!.affiliate!, version, rule, period }
      holdFact(books, place, { fact, field, reason })
    }
}

/** Enters lines, then prices those of each rule id together. */
function priceAll(books: Books, lines: Draft[]) {
  for (const line of lines) enter(books, line)
  for (const id of new Set(lines.map((line) => line.rule.id)))
    priceLines(
      books,
      lines.filter((line) => line.rule.id === id),
    )
}

/** Computes the lines of one affiliate, plan and period; carries and deficits pass on. */
export function computeLines(books: Books, affiliate: string, versions: Version[], period: string) {
  const [{ plan, terms }] = versions as [Version]
  const active = terms === 'signup' ? versions : [inForce(versions, firstDay(period))]
  const places = active.flatMap((version) =>
    version.rules.map((rule): Place => ({ affiliate, version, rule, period })),
  )
  const ids = [...new Set(versions.flatMap(({ rules }) => rules.map(({ id }) => id)))]
  const advances = ids.flatMap((id) => onceLines(books, affiliate, plan, id, period))
  priceAll(books, advances)
  const others = places.flatMap((place) => {
    if (place.rule.kind === 'share') return shareLines(books, place, advances)
    return place.rule.kind === 'unit' ? unitLines(books, place) : []
  })
  priceAll(books, others)
  const lines = [...advances, ...others]
  for (const place of places) {
    recoup(books, place, lines)
    const facts = governedFacts(books, place)
    holdFacts(books, place, facts)
    holdMeasure(books, place, facts, lines)
  }
}
