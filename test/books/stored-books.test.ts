import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { nextPeriod, type Period, parsePeriod } from '../../src/platform/money/calendar.ts'
import { type Amounts, bookedLines, sumsOf } from '../commission/fresh-lines.ts'
import { evaluate as oracle } from '../commission/oracle/evaluate.ts'
import { reveal } from '../commission/reveal.ts'
import { replaceWorld, storable } from '../commission/stored-world.ts'
import type { World } from '../commission/world.ts'
import { periodsOf, randomSource, randomWorld, type Source } from '../commission/worlds.ts'
import { at } from '../days.ts'
import { bookRequests, bookRuns } from './book-firm.ts'
import { bookBack } from './book-rows.ts'
import { type Booked, checkBooks, frozenOf, readStatements } from './check-books.ts'

// The model of books-model.test.ts with the real service: runs, approvals, payments and entries of random
// worlds over several months, while records arrive late and are reversed. `npm run worlds -- model` tries more.

const WORLDS = env.MODEL_RUNS || 1
const DAY_MS = 86_400_000

const chainsOf = (all: readonly Booked[]) =>
  Map.groupBy(all, ({ affiliate_id, plan }) => JSON.stringify([affiliate_id, plan]))

/** Lets the service keep the books of a world. Returns the world at its end, and what was closed. */
async function keepBooks(seed: number, account: string) {
  const world = storable(randomWorld(seed, 100))
  const from = randomSource(seed + 1)
  const parsed = periodsOf(world).map((id) => parsePeriod(id)!)
  const periods = parsed.sort((a, b) => a.last - b.last || a.first - b.first)
  const last = periods.at(-1)!.last
  const known = reveal(world, from, last)
  const service = { ...bookRequests(`accounts/${account}`), ...bookRuns(account) }
  let frozen = new Map<string, string>()
  for (const period of periods) {
    await replaceWorld(known(period.last), account)
    at(new Date((period.last + 3) * DAY_MS).toISOString())
    await service.run(period.id)
    await decide(service, account, from, period)
    await service.run(period.id)
    const now = frozenOf(await checkBooks(account))
    for (const [id, text] of frozen) expect(now.get(id), `seed ${seed}, ${id}`).toBe(text)
    frozen = now
  }
  await replaceWorld(known(last + 100), account)
  at(new Date((last + 100) * DAY_MS).toISOString())
  const next = (['month', 'week'] as const).flatMap((kind) => {
    const latest = periods.findLast((one) => one.kind === kind)
    return latest ? [nextPeriod(latest, 1)] : []
  })
  for (const { id } of next) await service.run(id)
  return { world: known(last + 100), periods: [...periods, ...next], closed: frozen.size }
}

type Service = ReturnType<typeof bookRequests>

/** Approves and pays some statements. Now and then a payment comes back, and an amount is entered. */
async function decide(
  service: Service,
  account: string,
  from: Source,
  { id: period, last }: Period,
) {
  const drafts = (await readStatements(account)).filter(({ status }) => status === 'draft')
  for (const chain of chainsOf(drafts).values()) {
    const first = chain.find(({ head }) => head !== null)
    const isOver = first && parsePeriod(first.period)!.last <= last
    if (!isOver || from.oneIn(3)) continue
    expect([200, 409]).toContain((await service.approve(first)).status)
  }
  if (from.oneIn(3)) expect(await service.payDue()).toBe(0)
  const paid = (await readStatements(account)).filter(({ status }) => status === 'paid')
  if (paid.length > 0 && from.oneIn(3)) {
    const { id } = from.pick(paid)
    expect(await bookBack(id, '2000-01-03', account)).toBe(true)
  }
  const chosen = drafts.length > 0 && from.oneIn(3) ? from.pick(drafts) : null
  if (!chosen) return
  const reference = `m-${period}-${chosen.id}`
  const { status } = await service.enter(chosen.affiliate_id, chosen.plan, '-7', reference)
  expect([200, 201]).toContain(status)
}

/** Returns the lines of all periods as the oracle computes them at once. */
const expectedLines = (world: World, periods: readonly Period[]): string[] =>
  sumsOf(
    oracle(
      world,
      periods.map(({ id }) => id),
    ).flatMap(({ statements }) =>
      statements.flatMap(
        ({ affiliate_id, plan, period, lines }): Amounts =>
          lines.map(({ rule, version, scope, amount }) => [
            [affiliate_id, plan, period, rule, version, scope],
            amount,
          ]),
      ),
    ),
  )

test(`${WORLDS} random worlds: approved amounts and adjustments sum to a fresh computation`, async () => {
  let withClosed = 0
  for (let index = 0; index < WORLDS; index++) {
    const seed = env.SEED * 3_000_000 + index
    const account = `books-${seed}`
    const { world, periods, closed } = await keepBooks(seed, account)
    if (closed > 0) withClosed += 1
    const statements = await checkBooks(account)
    expect(bookedLines(statements), `seed ${seed}`).toEqual(expectedLines(world, periods))
  }
  // In some worlds nothing can be approved.
  expect(withClosed).toBeGreaterThan(WORLDS / 2)
})
