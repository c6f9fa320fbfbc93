import type { StatementJson } from '../../src/commission/engine/statement.ts'
import { type Period, parsePeriod } from '../../src/platform/money/calendar.ts'
import { plainText } from '../../src/platform/money/decimal.ts'
import { open } from '../commission/engine.ts'
import { openAccount } from '../commission/open-account.ts'
import { evaluate as oracle } from '../commission/oracle/evaluate.ts'
import {
  add,
  compare,
  isZero,
  negate,
  parse,
  plain,
  type Rational,
  sum,
  ZERO,
} from '../commission/oracle/rational.ts'
import { reveal } from '../commission/reveal.ts'
import type { World } from '../commission/world.ts'
import { periodsOf, randomSource, randomWorld, type Source } from '../commission/worlds.ts'
import { type Bookkeeper, openBooks } from './bookkeeper.ts'

// Closes the books of a random world, period by period, while records arrive late, are reversed, and
// customers turn out to belong to other affiliates; and compares the books with the laws that they must
// keep. Vitest does it, and so do the threads that run mutation tests of the engine, which have no Vitest.

/** Two values that a law says are equal. */
export interface Comparison {
  readonly label: string
  readonly actual: unknown
  readonly expected: unknown
}

/** The result of a law for the books of one world. */
interface LawResult {
  readonly comparisons: readonly Comparison[]
  /** How often the books met what the law is about. */
  readonly met: number
}

/** The books of a world at its end, and what the engine then computes beside them. */
export interface KeptBooks {
  readonly seed: number
  readonly world: World
  readonly books: Bookkeeper
  readonly periods: readonly Period[]
  readonly results: ReturnType<typeof settle>
  /** The statements that are not approved yet. */
  readonly drafts: readonly StatementJson[]
}

const total = (texts: readonly string[]): Rational => sum(texts.map((text) => parse(text)))

/** Computes all periods of a world beside the books. */
function settle(world: World, books: Bookkeeper, periods: readonly Period[]) {
  const { input } = open(world)
  const firstDay = Math.min(input.firstDay, ...periods.map(({ first }) => first))
  const account = openAccount({ ...input, firstDay, books: books.byPlan() })
  return periods.flatMap((period) => account.settle(period).map((one) => ({ ...one, period })))
}

/** Lets the books run to the end of a world of some days; approvals come at random, but in order. */
export function keepBooks(seed: number, days: number): KeptBooks {
  const world = randomWorld(seed, days)
  const from = randomSource(seed + 1)
  const periods = periodsOf(world)
    .map((id) => parsePeriod(id)!)
    .sort((a, b) => a.last - b.last || a.first - b.first)
  const last = periods.at(-1)!.last
  const known = reveal(world, from, last)
  const books = openBooks()
  for (const { last: day } of periods) {
    const over = periods.filter((one) => one.last <= day)
    for (let round = 0; round < 2; round++) {
      const results = settle(known(day), books, over)
      enter(books, results, from, day)
      const done = new Set<string>()
      for (const { affiliate, plan, period, closed, statement } of results) {
        const key = JSON.stringify([affiliate, plan.plan])
        // What was computed before an earlier statement was approved may be out of date.
        if (closed || done.has(key) || period.kind !== plan.first.period) continue
        done.add(key)
        if (isUnsent(books, statement)) continue
        if (!from.oneIn(3)) books.close(affiliate, plan.plan, period.id, statement)
      }
    }
  }
  const results = settle(known(last + 100), books, periods)
  return {
    ...{ seed, books, periods, results },
    world: known(last + 100),
    drafts: results.flatMap(({ statement }) => (statement ? [statement] : [])),
  }
}

/** Whether a statement received what no approved statement transferred: it cannot be approved yet. */
const isUnsent = (books: Bookkeeper, statement: StatementJson | null): boolean =>
  (statement?.received ?? []).some(({ from, period, amount }) => {
    const sender = books
      .approvedOf(statement?.affiliate_id ?? '', from)
      .find((one) => one.period === period)
    return sender?.transferred?.amount !== amount
  })

/** Enters an amount now and then. */
function enter(books: Bookkeeper, results: ReturnType<typeof settle>, from: Source, day: number) {
  const chosen = results.length > 0 && from.oneIn(4) ? from.pick(results) : null
  if (!chosen) return
  const { affiliate, plan } = chosen
  const amount = plan.first.digits === 0 ? '-7' : '12.5'
  const id = `man-${day}-${books.entries.length}`
  books.entries.push({ id, affiliate, plan: plan.plan, amount, booked: false })
}

/** Sums what statements say of each line of each period, adjustments included. */
function sumsOfLines(statements: readonly StatementJson[]): string[] {
  const sums = new Map<string, Rational>()
  const put = (owner: string[], period: string, line: object | null, amount: string) => {
    if (line === null) return
    const key = JSON.stringify([...owner, period, line])
    sums.set(key, add(sums.get(key) ?? ZERO, parse(amount)))
  }
  for (const { affiliate_id, plan, period, lines, adjustments } of statements) {
    const owner = [affiliate_id, plan]
    for (const { rule, version, scope, amount } of lines) {
      put(owner, period, [rule, version, scope], amount)
    }
    for (const { period: of, line, amount } of adjustments) {
      put(owner, of, line && [line.rule, line.version, line.scope], amount)
    }
  }
  const notZero = [...sums].filter(([, amount]) => !isZero(amount))
  return notZero.map(([key, amount]) => `${key} ${plain(amount)}`).sort()
}

/** What was approved and adjusted is what a fresh computation of all periods gives. */
export function compareWithFresh({
  seed,
  world,
  books,
  periods,
  results,
  drafts,
}: KeptBooks): LawResult {
  const fresh = oracle(
    world,
    periods.map(({ id }) => id),
  )
  const expected = sumsOfLines(
    fresh.flatMap(({ statements }) =>
      statements.map((one) => ({ ...one, adjustments: [] }) as never as StatementJson),
    ),
  )
  // A correction that belongs to a period after the last one has no statement yet.
  const waiting = results.filter(
    ({ closed, period, plan, affiliate }) =>
      closed && period.last === books.closedThrough(affiliate, plan.plan),
  )
  const later = waiting.flatMap(({ affiliate, plan, differences }) => {
    const hasOpen = drafts.some((one) => one.affiliate_id === affiliate && one.plan === plan.plan)
    const isLast = !results.some(
      (one) => one.affiliate === affiliate && one.plan === plan && !one.closed,
    )
    return hasOpen || !isLast ? [] : [{ affiliate, plan, differences }]
  })
  const all = [...books.all(), ...drafts]
  const actual = sumsOfLines([
    ...all,
    ...later.map(
      ({ affiliate, plan, differences }) =>
        ({
          ...{ affiliate_id: affiliate, plan: plan.plan, period: '', lines: [] },
          adjustments: differences.map((one) => ({ ...one, amount: plainText(one.amount) })),
        }) as never as StatementJson,
    ),
  ])
  return {
    comparisons: [{ label: `seed ${seed}`, actual, expected }],
    met: all.flatMap(({ adjustments }) => adjustments).length,
  }
}

/** Each statement adds up, and begins with what the one before left. */
export function addUp({ seed, books, drafts }: KeptBooks): LawResult {
  const comparisons: Comparison[] = []
  const chains = Map.groupBy([...books.all(), ...drafts], ({ affiliate_id, plan }) =>
    JSON.stringify([affiliate_id, plan]),
  )
  for (const [key, chain] of chains) {
    let closing = ZERO
    for (const one of chain) {
      const label = `seed ${seed}, ${key}, ${one.period}`
      const equal = (actual: Rational, expected: string) =>
        comparisons.push({ label, actual: plain(actual), expected: plain(parse(expected)) })
      const received = total(one.received.map(({ amount }) => amount))
      equal(add(closing, received), one.opening)
      equal(total([one.lines_sum, one.adjustments_sum, one.manual_sum]), one.total)
      equal(total([one.lines_sum, one.adjustments_sum]), one.earned)
      equal(total(one.adjustments.map(({ amount }) => amount)), one.adjustments_sum)
      const left = [one.payable, one.closing, one.dropped, one.transferred?.amount ?? '0']
      equal(total(left), plain(total([one.opening, one.total])))
      closing = parse(one.closing)
    }
  }
  return { comparisons, met: comparisons.length }
}

/** What moves between plans and what was entered is booked once. */
export function bookOnce({ seed, books, results, drafts }: KeptBooks): LawResult {
  const label = `seed ${seed}`
  const comparisons: Comparison[] = []
  const all = [...books.all(), ...drafts]
  const received = all.flatMap((one) =>
    one.received.map((part) =>
      JSON.stringify([one.affiliate_id, part.from, part.period, one.plan]),
    ),
  )
  comparisons.push({ label, actual: new Set(received).size, expected: received.length })
  for (const one of all) {
    if (one.transferred === null) continue
    const { to, amount } = one.transferred
    const isThere = all.some(
      (other) =>
        other.affiliate_id === one.affiliate_id &&
        other.plan === to &&
        other.received.some(
          (part) => part.from === one.plan && part.period === one.period && part.amount === amount,
        ),
    )
    const target = parsePeriod(one.transferred.period)!
    const isDue = results.some(
      ({ period }) => period.kind === target.kind && period.last >= target.last,
    )
    const of = `${label}: ${JSON.stringify(one)}`
    if (isDue) comparisons.push({ label: of, actual: isThere, expected: true })
  }
  const booked = all.flatMap(({ manual }) => manual.map(({ id }) => id))
  comparisons.push({ label, actual: new Set(booked).size, expected: booked.length })
  for (const { id, affiliate, plan, booked: isBooked } of books.entries) {
    const hasOpen = results.some(
      (one) => one.affiliate === affiliate && one.plan.plan === plan && !one.closed,
    )
    if (!isBooked && !hasOpen) continue
    comparisons.push({ label: `${label}, ${id}`, actual: booked.includes(id), expected: true })
  }
  return { comparisons, met: received.length + booked.length }
}

/** Corrections restore no more than what statements dropped, and first what their period dropped. */
export function restoreDropped({ seed, books, drafts }: KeptBooks): LawResult {
  const comparisons: Comparison[] = []
  let restored = 0
  const all = [...books.all(), ...drafts]
  for (const { affiliate_id, plan, period, dropped } of books.all()) {
    const label = `seed ${seed}, ${affiliate_id}, ${plan}, ${period}`
    const hold = (isTrue: boolean) => comparisons.push({ label, actual: isTrue, expected: true })
    const entries = all
      .filter((one) => one.affiliate_id === affiliate_id && one.plan === plan)
      .flatMap(({ adjustments }) => adjustments)
    const takenFor = (by: (of: string) => boolean) =>
      negate(
        total(
          entries
            .filter(({ line, droppedIn, period: of }) => !line && droppedIn === period && by(of))
            .map(({ amount }) => amount),
        ),
      )
    const lost = negate(parse(dropped))
    const taken = takenFor(() => true)
    hold(compare(taken, ZERO) >= 0)
    hold(compare(taken, lost) <= 0)
    const corrected = total(
      entries.filter(({ line, period: of }) => line && of === period).map(({ amount }) => amount),
    )
    const gained = compare(corrected, ZERO) > 0 ? corrected : ZERO
    const due = compare(gained, lost) < 0 ? gained : lost
    const own = takenFor((of) => of === period)
    if (isZero(takenFor((of) => of !== period))) {
      comparisons.push({ label, actual: plain(own), expected: plain(due) })
    } else hold(compare(own, due) <= 0)
    if (!isZero(taken)) restored++
  }
  return { comparisons, met: restored }
}
