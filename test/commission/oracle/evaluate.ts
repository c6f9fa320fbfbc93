import type { Outcome, OutcomeFact, World } from '../world.ts'
import { readAccount } from './account.ts'
import { type Books, earningFacts, onceEntries, periodsUntil, usedOn } from './books.ts'
import { kindOf, lastDay, periodOf } from './calendar.ts'
import { compareText, type Fact } from './facts.ts'
import { computeLines, holdCandidates } from './lines.ts'
import { computeOverrides } from './overrides.ts'
import { evaluateRule, reasonOf } from './reasons.ts'
import { affiliateStatements } from './statements.ts'

// The contract of commissions as a program: slow and plain, with exact numbers throughout. It
// computes the whole account from the first fact on, and imports nothing of the service.

function openBooks(world: World, until: string): Books {
  const account = readAccount(world)
  const once = onceEntries(account)
  return {
    account,
    periods: {
      month: periodsUntil(account, 'month', until),
      week: periodsUntil(account, 'week', until),
    },
    earning: earningFacts(account),
    once,
    usedOn: usedOn(once),
    lines: new Map(),
    holds: new Map(),
    carries: new Map(),
    deficits: new Map(),
    fenced: new Map(),
    byOverrides: new Set(),
  }
}

/** Computes all lines: those that overrides follow first, then the overrides. */
function compute(books: Books) {
  const { affiliates, plans } = books.account
  for (const affiliate of affiliates)
    for (const versions of plans.values())
      for (const period of books.periods[versions[0]!.period])
        computeLines(books, affiliate, versions, period)
  holdCandidates(books)
  for (const affiliate of affiliates)
    for (const period of [...books.periods.month, ...books.periods.week])
      computeOverrides(books, affiliate, period)
}

/** Returns whether a rule counts the fact: of its own plan, of a qualification or of an upline. */
function isCounted(books: Books, fact: Fact, until: string): boolean {
  if (fact.state !== 'approved') return false
  if (books.byOverrides.has(fact)) return true
  const day = books.usedOn.get(fact)
  if (day !== undefined && day <= until) return true
  const { version } = fact
  if (fact.reason || !version) return false
  return version.rules.some(
    (rule) =>
      rule.kind !== 'once' &&
      evaluateRule(books.account, version, rule, fact, until).reason === 'counted',
  )
}

function evaluateFact(books: Books, fact: Fact, until: string): OutcomeFact {
  const { resource, id } = fact
  if (isCounted(books, fact, until)) return { resource, id, state: 'counted', rule: null }
  return { resource, id, ...reasonOf(books.account, fact, until) }
}

/** Returns what a world comes to in each period. */
export function evaluate(world: World, periods: string[]): Outcome[] {
  const books = openBooks(
    world,
    periods.map(lastDay).reduce((a, b) => (a > b ? a : b)),
  )
  compute(books)
  const { affiliates, facts, held } = books.account
  const statements = [...affiliates]
    .sort(compareText)
    .flatMap((affiliate) =>
      affiliateStatements(books, affiliate).sort((a, b) => compareText(a.plan, b.plan)),
    )
  return periods.map((period) => {
    const kind = kindOf(period)
    const isWithin = ({ day }: { day: string }) => periodOf(kind, day) === period
    const waiting = held
      .filter(isWithin)
      .map(({ resource, id }) => ({ resource, id, state: 'held', rule: null }))
    const own = facts.filter(isWithin).map((fact) => evaluateFact(books, fact, lastDay(period)))
    return {
      period,
      statements: statements.filter((one) => one.period === period),
      facts: [...own, ...waiting].sort(
        (a, b) => compareText(a.resource, b.resource) || compareText(a.id, b.id),
      ),
    }
  })
}
