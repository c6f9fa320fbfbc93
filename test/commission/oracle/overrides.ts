import { type Account, below } from './account.ts'
import { type Books, enter, hold, linesOf } from './books.ts'
import { firstDay, lastDay, periodOf } from './calendar.ts'
import { convertAmount } from './convert.ts'
import { roundMoney } from './currency.ts'
import { type Draft, draft } from './drafts.ts'
import { compareText, type Fact } from './facts.ts'
import { holdFact, type Place, priceLines } from './lines.ts'
import { accepted, factsOf, inUnits } from './measures.ts'
import { assignmentsOf, inForce, type Version } from './plan.ts'
import { add, count, greatest, negate, type Rational, sum, ZERO } from './rational.ts'
import { baseOf, type Money, unitsOf } from './terms.ts'

// `override`: lines of an upline for affiliates below, and lines of downlines that pay for them.

/** Returns the version that an upline or a downline follows at the end of a day (§16.25). */
function followed(account: Account, affiliate: string, day: string): Version | null {
  const assignment = assignmentsOf(account.world, affiliate).findLast((one) => one.from <= day)
  if (!assignment) return null
  const versions = account.plans.get(assignment.plan)!
  const { terms, period } = versions[0]!
  const from = terms === 'signup' ? assignment.from : firstDay(periodOf(period, day))
  return inForce(versions, from)
}

interface Source {
  value: Rational
  fx: Money[]
  facts: Set<Fact>
  isUsed: boolean
}

/** Returns the lines of an affiliate whose period ends within a period, but overrides. */
function linesWithin(books: Books, affiliate: string, period: string): Draft[] {
  return [...books.account.plans].flatMap(([plan, [version]]) =>
    books.periods[version!.period]
      .filter((one) => lastDay(one) >= firstDay(period) && lastDay(one) <= lastDay(period))
      .flatMap((one) => linesOf(books, affiliate, plan, one))
      .filter((line) => line.rule.kind !== 'override'),
  )
}

/** Adds up the amounts of an affiliate's lines by currency. */
function ofLines(books: Books, place: Place, affiliate: string, kinds: string[]): Source {
  const { version, rule, period } = place
  const lines = linesWithin(books, affiliate, period).filter((line) =>
    kinds.includes(line.rule.kind),
  )
  const source: Source = { value: ZERO, fx: [], facts: new Set(), isUsed: false }
  const currencies = new Set(lines.map((line) => line.version.currency))
  for (const currency of [...currencies].sort(compareText)) {
    const own = lines.filter((line) => line.version.currency === currency)
    const amount = sum(own.map((line) => line.amount))
    const { rates } = books.account
    const converted = convertAmount(rates, amount, currency, version.currency, lastDay(period))
    if (typeof converted !== 'string') {
      source.isUsed = true
      source.value = add(source.value, converted)
      source.fx.push({ currency, amount, converted })
      continue
    }
    for (const line of own)
      hold(books, place.affiliate, version.plan, period, {
        rule: rule.id,
        version: version.version,
        reason: converted,
        currency,
        item: lineName(line),
        field: null,
        amount: line.amount,
      })
  }
  return source
}

const lineName = ({ affiliate, version, rule, period, scope }: Draft) =>
  JSON.stringify([affiliate, version.plan, version.version, rule.id, period, scope])

function ofBase(books: Books, place: Place, affiliate: string): Source {
  const { version, rule, period } = place
  const facts = accepted(rule, factsOf(books, [affiliate], period))
  const base = baseOf(books.account.rates, rule.of!.base!, facts, version.currency)
  for (const one of base.held) holdFact(books, place, one)
  return {
    value: add(base.total, base.fixed),
    fx: [...base.fx.values()].sort((a, b) => compareText(a.currency, b.currency)),
    facts: base.counted,
    isUsed: base.counted.size > 0,
  }
}

function ofUnits(books: Books, { rule, period }: Place, affiliate: string): Source {
  const facts = accepted(rule, factsOf(books, [affiliate], period))
  const unit = rule.of!.unit!
  const named = facts.filter((fact) => unitsOf(unit, fact) !== null)
  return {
    value: sum(named.map((fact) => unitsOf(unit, fact)!)),
    fx: [],
    facts: new Set(named),
    isUsed: named.length > 0,
  }
}

function ofOnce(books: Books, { rule, period }: Place, affiliate: string): Source {
  const lines = linesWithin(books, affiliate, period).filter(
    (line) => line.rule.kind === 'once' && line.rule.id === rule.of!.once && !line.overCount,
  )
  return { value: count(lines.length), fx: [], facts: new Set(), isUsed: lines.length > 0 }
}

function sourceOf(books: Books, place: Place, affiliate: string): Source {
  const { lines, base, unit } = place.rule.of!
  if (lines) return ofLines(books, place, affiliate, lines)
  if (base) return ofBase(books, place, affiliate)
  return unit ? ofUnits(books, place, affiliate) : ofOnce(books, place, affiliate)
}

/** Returns the line of an upline for one affiliate below, before its rate. */
function overrideLine(books: Books, place: Place, affiliate: string): Draft[] {
  const { rule } = place
  const { value, fx, facts, isUsed } = sourceOf(books, place, affiliate)
  if (!isUsed) return []
  const paid = rule.negative === 'offset' ? value : greatest(value, ZERO)
  const isMoney = rule.of!.lines !== undefined || rule.of!.base !== undefined
  const quantity = rule.of!.unit ? inUnits(rule, paid) : paid
  return [
    {
      ...draft({ ...place, scope: `affiliate:${affiliate}` }),
      quantity,
      measured: quantity,
      base: isMoney ? paid : null,
      units: isMoney ? null : paid,
      fx,
      counted: facts,
    },
  ]
}

/** Returns the line by which a downline pays for an override, or null if neither line exists. */
function funding(books: Books, line: Draft, downline: string): Draft | null {
  const { version, rule, period, affiliate } = line
  const day = lastDay(period)
  const { rates } = books.account
  const payer = followed(books.account, downline, day)
  if (!payer) return null
  const own = periodOf(payer.period, day)
  const amount = convertAmount(rates, line.amount, version.currency, payer.currency, day)
  if (typeof amount === 'string') {
    const held = {
      rule: rule.id,
      version: version.version,
      reason: amount,
      currency: version.currency,
      item: lineName(line),
      field: null,
    }
    hold(books, affiliate, version.plan, period, { ...held, amount: line.amount })
    hold(books, downline, payer.plan, own, { ...held, amount: negate(line.amount) })
    return null
  }
  return {
    ...draft({
      affiliate: downline,
      version: payer,
      rule,
      period: own,
      scope: `affiliate:${affiliate}`,
    }),
    amount: negate(roundMoney(amount, payer.currency)),
    paidFor: line,
  }
}

/** Computes the override lines of one affiliate that end in a period. */
export function computeOverrides(books: Books, affiliate: string, period: string) {
  const { account } = books
  const version = followed(account, affiliate, lastDay(period))
  if (!version || periodOf(version.period, lastDay(period)) !== period) return
  for (const rule of version.rules) {
    if (rule.kind !== 'override') continue
    const place: Place = { affiliate, version, rule, period }
    const lines = below(account, affiliate, lastDay(period), rule.level)
      .sort(compareText)
      .flatMap((one) => overrideLine(books, place, one))
    for (const line of lines) enter(books, line)
    priceLines(books, lines)
    for (const line of lines) settle(books, line)
  }
}

/** Enters what a line entails: its facts are counted, and the downline may pay for it. */
function settle(books: Books, line: Draft) {
  if (line.rule.funded_by === 'downline') {
    const paid = funding(books, line, line.scope.slice('affiliate:'.length))
    if (!paid) {
      line.isDropped = true
      return
    }
    enter(books, paid)
  }
  for (const fact of line.counted) books.byOverrides.add(fact)
}
