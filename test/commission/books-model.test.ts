import { env } from 'cloudflare:workers'
import { expect, test, vi } from 'vitest'
import { openAccount } from '../../src/commission/engine/account.ts'
import { type Period, parsePeriod } from '../../src/commission/engine/calendar.ts'
import { plainText } from '../../src/commission/engine/decimal.ts'
import { memoize } from '../../src/commission/engine/memoize.ts'
import type { StatementJson } from '../../src/commission/engine/statement.ts'
import { type Bookkeeper, openBooks } from './bookkeeper.ts'
import { open } from './engine.ts'
import { evaluate as oracle } from './oracle/evaluate.ts'
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
} from './oracle/rational.ts'
import { reveal } from './reveal.ts'
import type { World } from './world.ts'
import { periodsOf, randomSource, randomWorld, type Source } from './worlds.ts'

// Closing the books of random worlds, period by period, while records arrive late, are reversed, and
// customers turn out to belong to other affiliates. `npm run worlds` tries more worlds.

vi.setConfig({ testTimeout: 3_600_000 })

const WORLDS = env.MODEL_RUNS || 2
const seeds = Array.from({ length: WORLDS }, (_, index) => env.SEED * 2_000_000 + index)

const total = (texts: readonly string[]): Rational => sum(texts.map((text) => parse(text)))

/** Computes all periods of a world beside the books. */
function settle(world: World, books: Bookkeeper, periods: readonly Period[]) {
  const { input } = open(world)
  const firstDay = Math.min(input.firstDay.month, ...periods.map(({ first }) => first))
  const account = openAccount({
    ...input,
    firstDay: { month: firstDay, week: Math.min(firstDay, input.firstDay.week) },
    booksOf: books.booksOf,
  })
  return periods.flatMap((period) => account.settle(period).map((one) => ({ ...one, period })))
}

/** Lets the books run to the end of a world; approvals come at random, but in order. */
const keepBooks = memoize((seed: number) => {
  // 25 weeks, or 24 months.
  const world = randomWorld(seed, seed % 3 === 0 ? 700 : 170)
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
  return {
    world: known(last + 100),
    books,
    periods,
    results: settle(known(last + 100), books, periods),
  }
})

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
function sumsOfLines(statements: readonly StatementJson[]): Map<string, Rational> {
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
  return new Map([...sums].filter(([, amount]) => !isZero(amount)))
}

const written = (sums: Map<string, Rational>) =>
  [...sums].map(([key, amount]) => `${key} ${plain(amount)}`).sort()

test('what was approved and adjusted is what a fresh computation of all periods gives', () => {
  let adjusted = 0
  for (const seed of seeds) {
    const { world, books, periods, results } = keepBooks(seed)
    const drafts = results.flatMap(({ statement }) => (statement ? [statement] : []))
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
    const sums = sumsOfLines([
      ...all,
      ...later.map(
        ({ affiliate, plan, differences }) =>
          ({
            ...{ affiliate_id: affiliate, plan: plan.plan, period: '', lines: [] },
            adjustments: differences.map((one) => ({ ...one, amount: plainText(one.amount) })),
          }) as never as StatementJson,
      ),
    ])
    expect(written(sums), `seed ${seed}`).toEqual(written(expected))
    adjusted += all.flatMap(({ adjustments }) => adjustments).length
  }
  expect(adjusted).toBeGreaterThan(WORLDS)
})

test('each statement adds up, and begins with what the one before left', () => {
  for (const seed of seeds) {
    const { books, results } = keepBooks(seed)
    const drafts = results.flatMap(({ statement }) => (statement ? [statement] : []))
    const chains = Map.groupBy([...books.all(), ...drafts], ({ affiliate_id, plan }) =>
      JSON.stringify([affiliate_id, plan]),
    )
    for (const [key, chain] of chains) {
      let closing = ZERO
      for (const one of chain) {
        const label = `seed ${seed}, ${key}, ${one.period}`
        const received = total(one.received.map(({ amount }) => amount))
        expect(plain(parse(one.opening)), label).toBe(plain(add(closing, received)))
        const parts = [one.lines_sum, one.adjustments_sum, one.manual_sum]
        expect(plain(total(parts)), label).toBe(plain(parse(one.total)))
        expect(plain(total(one.adjustments.map(({ amount }) => amount))), label).toBe(
          plain(parse(one.adjustments_sum)),
        )
        const left = [one.payable, one.closing, one.dropped, one.transferred?.amount ?? '0']
        expect(plain(total([one.opening, one.total])), label).toBe(plain(total(left)))
        closing = parse(one.closing)
      }
    }
  }
})

test('what moves between plans and what was entered is booked once', () => {
  for (const seed of seeds) {
    const { books, results } = keepBooks(seed)
    const drafts = results.flatMap(({ statement }) => (statement ? [statement] : []))
    const all = [...books.all(), ...drafts]
    const received = all.flatMap((one) =>
      one.received.map((part) =>
        JSON.stringify([one.affiliate_id, part.from, part.period, one.plan]),
      ),
    )
    expect(new Set(received).size, `seed ${seed}`).toBe(received.length)
    for (const one of all) {
      if (one.transferred === null) continue
      const { to, amount } = one.transferred
      const isThere = all.some(
        (other) =>
          other.affiliate_id === one.affiliate_id &&
          other.plan === to &&
          other.received.some(
            (part) =>
              part.from === one.plan && part.period === one.period && part.amount === amount,
          ),
      )
      const target = parsePeriod(one.transferred.period)!
      const isDue = results.some(
        ({ period }) => period.kind === target.kind && period.last >= target.last,
      )
      if (isDue) expect(isThere, `seed ${seed}: ${JSON.stringify(one)}`).toBe(true)
    }
    const booked = all.flatMap(({ manual }) => manual.map(({ id }) => id))
    expect(new Set(booked).size).toBe(booked.length)
    for (const { id, affiliate, plan, booked: isBooked } of books.entries) {
      const hasOpen = results.some(
        (one) => one.affiliate === affiliate && one.plan.plan === plan && !one.closed,
      )
      if (isBooked || hasOpen) expect(booked, `seed ${seed}`).toContain(id)
    }
  }
})

test('corrections restore no more than what statements dropped, and first what their period dropped', () => {
  let restored = 0
  for (const seed of seeds) {
    const { books, results } = keepBooks(seed)
    const drafts = results.flatMap(({ statement }) => (statement ? [statement] : []))
    const all = [...books.all(), ...drafts]
    for (const { affiliate_id, plan, period, dropped } of books.all()) {
      const label = `seed ${seed}, ${affiliate_id}, ${plan}, ${period}`
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
      expect(compare(taken, ZERO), label).toBeGreaterThanOrEqual(0)
      expect(compare(taken, lost), label).toBeLessThanOrEqual(0)
      const corrected = total(
        entries.filter(({ line, period: of }) => line && of === period).map(({ amount }) => amount),
      )
      const gained = compare(corrected, ZERO) > 0 ? corrected : ZERO
      const due = compare(gained, lost) < 0 ? gained : lost
      const own = takenFor((of) => of === period)
      if (isZero(takenFor((of) => of !== period))) expect(plain(own), label).toBe(plain(due))
      else expect(compare(own, due), label).toBeLessThanOrEqual(0)
      if (!isZero(taken)) restored++
    }
  }
  if (WORLDS >= 50) expect(restored).toBeGreaterThan(0)
})
