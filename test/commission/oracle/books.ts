import type { OutcomeHold } from '../world.ts'
import type { Account } from './account.ts'
import { type Kind, nextPeriod, periodOf } from './calendar.ts'
import { NO_RATES, type NoRate } from './convert.ts'
import type { Draft } from './drafts.ts'
import { compareText, type Fact } from './facts.ts'
import { inOrderOfQualification, type Qualified } from './once.ts'
import type { Version } from './plan.ts'
import { add, plain, type Rational, ZERO } from './rational.ts'

export const joinKey = (...parts: (string | number | null | undefined)[]) => JSON.stringify(parts)

/** One customer who qualified, under the affiliate, plan and period that pay for them. */
export interface OnceEntry {
  qualified: Qualified
  affiliate: string
  plan: string
  rule: string
  period: string
  /** Whether `max_count` takes the line. */
  overCount: boolean
}

/** What is computed so far: lines, holds, and what passes from period to period. */
export interface Books {
  account: Account
  /** All periods of each kind, from the first fact on. */
  periods: Record<Kind, string[]>
  /** The facts that can earn, by affiliate and by month and week. */
  earning: Map<string, Fact[]>
  once: OnceEntry[]
  /** The first day on which a qualification used a fact. */
  usedOn: Map<Fact, string>
  /** Lines by affiliate, plan and period. */
  lines: Map<string, Draft[]>
  holds: Holds
  /** What is carried, by affiliate, rule and scope. */
  carries: Map<string, Map<string, Rational>>
  deficits: Map<string, Rational>
  /** What a fence holds, by customer. */
  fenced: Map<string, Map<string, Rational>>
  /** Facts that an override counts. */
  byOverrides: Set<Fact>
}

/** Returns the periods of a kind from the first fact to the last day asked for. */
export function periodsUntil(account: Account, kind: Kind, until: string): string[] {
  const days = account.facts.map((one) => one.day)
  if (days.length === 0) return []
  const periods: string[] = []
  const last = periodOf(kind, until)
  let period = periodOf(
    kind,
    days.reduce((a, b) => (a < b ? a : b)),
  )
  for (; period <= last; period = nextPeriod(period)) periods.push(period)
  return periods
}

/** Returns the facts that can earn, by affiliate and by month and week, in order of time. */
export function earningFacts(account: Account): Map<string, Fact[]> {
  const found = new Map<string, Fact[]>()
  for (const fact of account.earning)
    for (const kind of ['month', 'week'] as const) {
      const key = joinKey(fact.affiliate, periodOf(kind, fact.day))
      const facts = found.get(key)
      if (facts) facts.push(fact)
      else found.set(key, [fact])
    }
  return found
}

/** Returns the first day on which each fact was used by a qualification. */
export function usedOn(entries: readonly OnceEntry[]): Map<Fact, string> {
  const days = new Map<Fact, string>()
  for (const { qualified } of entries)
    for (const fact of qualified.used) {
      const known = days.get(fact)
      if (known === undefined || qualified.day < known) days.set(fact, qualified.day)
    }
  return days
}

/** Returns all qualifications with what `max_count` takes (§16.5, over all versions of a plan). */
export function onceEntries(account: Account): OnceEntry[] {
  const entries = [...account.qualified.values()]
    .sort(inOrderOfQualification)
    .map((qualified): OnceEntry => {
      const { version, rule } = qualified.attempt
      return {
        qualified,
        affiliate: qualified.trigger.affiliate!,
        plan: version.plan,
        rule: rule.id,
        period: periodOf(version.period, qualified.day),
        overCount: false,
      }
    })
  const entryKey = (one: OnceEntry) => joinKey(one.affiliate, one.plan, one.rule, one.period)
  const byKey = Map.groupBy(entries, entryKey)
  const before = new Map<string, number>()
  for (const entry of entries) {
    const key = entryKey(entry)
    const together = byKey.get(key)!
    const limit = latest(together.map((one) => one.qualified.attempt)).rule.max_count
    const counted = before.get(key) ?? 0
    entry.overCount = limit !== undefined && counted >= limit
    if (!entry.overCount) before.set(key, counted + 1)
  }
  return entries
}

/** Returns the one of the latest version: its limits bind the lines of all versions. */
export const latest = <T extends { version: Version }>(all: T[]): T =>
  all.reduce((a, b) => (b.version.effective_from > a.version.effective_from ? b : a))

export const linesOf = (books: Books, affiliate: string, plan: string, period: string) =>
  books.lines.get(joinKey(affiliate, plan, period)) ?? []

export function enter(books: Books, line: Draft) {
  const key = joinKey(line.affiliate, line.version.plan, line.period)
  books.lines.set(key, [...(books.lines.get(key) ?? []), line])
}

export interface Hold {
  rule: string
  version: number
  reason: NoRate
  currency: string | null
  /** What is held: a fact, or lines. The count is the number of different ones. */
  item: Fact | string
  /** Names the amount within the item: one is not added twice. */
  field: string | null
  amount: Rational
}

/** The holds of each affiliate, plan and period. */
export type Holds = Map<string, Hold[]>

export function hold(books: Books, affiliate: string, plan: string, period: string, one: Hold) {
  const key = joinKey(affiliate, plan, period)
  const all = books.holds.get(key) ?? []
  const isSame = (other: Hold) =>
    other.rule === one.rule &&
    other.version === one.version &&
    other.item === one.item &&
    other.field === one.field &&
    other.reason === one.reason
  if (!all.some(isSame)) all.push(one)
  books.holds.set(key, all)
}

/** Adds up holds by rule, version, reason and currency. */
export function sumHolds(holds: Hold[], ruleOrder: string[]): OutcomeHold[] {
  const groups = new Map<string, Hold[]>()
  for (const one of holds) {
    const key = joinKey(one.rule, one.version, one.reason, one.currency)
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  return [...groups.values()]
    .map((all) => {
      const { rule, version, reason, currency } = all[0]!
      return {
        rule,
        version,
        reason,
        currency,
        count: new Set(all.map((one) => one.item)).size,
        sum: plain(all.reduce((so, one) => add(so, one.amount), ZERO)),
      }
    })
    .sort(
      (a, b) =>
        place(ruleOrder, a.rule) - place(ruleOrder, b.rule) ||
        compareText(a.rule, b.rule) ||
        a.version - b.version ||
        NO_RATES.indexOf(a.reason) - NO_RATES.indexOf(b.reason) ||
        compareText(a.currency ?? '', b.currency ?? ''),
    )
}

/** Returns the place of a rule in a list; those that are not in it come last. */
export const place = (order: string[], rule: string) =>
  order.includes(rule) ? order.indexOf(rule) : order.length

/** Returns the rule ids of a plan: those of its latest version first, then what only older ones have. */
export const ruleOrderOf = (versions: Version[]) => [
  ...new Set(versions.toReversed().flatMap((one) => one.rules.map(({ id }) => id))),
]
