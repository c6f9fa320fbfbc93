import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import type { Explanation } from '../../src/commission/shapes/steps.ts'
import { type Period, parsePeriod } from '../../src/platform/money/calendar.ts'
import { ask, json } from '../partner.ts'
import { evaluate } from './engine.ts'
import { follow } from './follow.ts'
import {
  add,
  compare,
  parse,
  plain,
  type Rational,
  subtract,
  sum,
  ZERO,
} from './oracle/rational.ts'
import { draftsOf } from './stored.ts'
import { storeDrafts } from './stored-runs.ts'
import { storable, storeRates, storeWorld } from './stored-world.ts'
import type { World } from './world.ts'
import { periodsOf, randomWorld, zonedWorld } from './worlds.ts'

// What the service answers about random worlds that are stored, by its routes.

const WORLDS = env.MODEL_RUNS || 2
const FIRST_SEED = env.SEED * 3_000_000

const headers = { Authorization: `Bearer ${env.ADMIN_KEY}` }
const get = (account: string, path: string) =>
  json(ask(`/admin/v1/accounts/${account}/${path}`, { headers }))

/** Reads all pages of a list. */
async function getAll(account: string, path: string) {
  const data = []
  for (let cursor = ''; ; ) {
    const page = await get(account, `${path}${path.includes('?') ? '&' : '?'}per_page=7${cursor}`)
    expect(page.meta.per_page).toBe(7)
    // Nothing changes while these worlds are read.
    expect(page.changed ?? false).toBe(false)
    data.push(...page.data)
    if (page.meta.next_cursor === null) return data
    cursor = `&cursor=${page.meta.next_cursor}`
  }
}

const eachWorld = async (run: (world: World, account: string, period: Period) => Promise<void>) => {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + WORLDS; seed++) {
    // Of three partners one has a book zone.
    const world = storable((seed % 3 === 0 && zonedWorld(seed)) || randomWorld(seed))
    const account = `why-${seed}`
    await storeWorld(world, account)
    await storeRates(world)
    const periods = periodsOf(world)
    const months = periods.filter((period) => !period.includes('W'))
    const weeks = periods.filter((period) => period.includes('W'))
    for (const period of [months.at(-2), weeks.at(-3)]) {
      if (period !== undefined) await run(world, account, parsePeriod(period)!)
    }
  }
}

type Group = { resource: string; currency: string | null; count: number; sums: object }

/** Adds up groups by resource and field, whatever their currency. */
function totalsOf(groups: readonly Group[]): Record<string, string> {
  const sums: Record<string, Rational> = {}
  const put = (key: string, value: Rational) => {
    sums[key] = add(sums[key] ?? ZERO, value)
  }
  for (const { resource, currency, count, sums: amounts } of groups) {
    put(`${resource} ${currency} count`, parse(count))
    for (const [field, value] of Object.entries(amounts))
      put(`${resource} ${currency} ${field}`, parse(value))
  }
  return Object.fromEntries(
    Object.entries(sums)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => [key, plain(value)]),
  )
}

const dayOf = (day: number) => new Date(day * 86_400_000).toISOString().slice(0, 10)

test('counted + unearned − held are the control totals, to the last decimal', async () => {
  await eachWorld(async (world, account, period) => {
    // Control totals sum the amounts as they were sent, `unearned` their magnitudes.
    if (world.amount_signs === 'signed') return
    const { data, counted } = await get(account, `unearned?period=${period.id}`)
    const notHeld = data.filter(({ reason }: { reason: string }) => reason !== 'held')
    const totals = await get(account, `totals?from=${dayOf(period.first)}&to=${dayOf(period.last)}`)
    const isEvents = world.vertical === 'igaming'
    const expected = totals.data.map((one: Record<string, unknown>) => ({
      ...one,
      currency: (isEvents ? one.Currency : one.currency) ?? null,
    }))
    // The control totals of a vertical sum the amounts that its records can have.
    expect(totalsOf([...counted, ...notHeld]), `${account} ${period.id}`).toMatchObject(
      totalsOf(expected),
    )
  })
})

test('the records that earned nothing are those of the engine, each with its reason', async () => {
  await eachWorld(async (world, account, period) => {
    const listed = await getAll(account, `unearned/facts?period=${period.id}`)
    const [expected] = evaluate(world, [period.id])
    expect(
      listed.map(({ resource, id, reason, rule }) => ({ resource, id, state: reason, rule })),
      `${account} ${period.id}`,
    ).toEqual(expected!.facts.filter(({ state }) => state !== 'counted'))
  })
})

test('every line is explained, its parts sum to it, and records to parts', async () => {
  await eachWorld(async (world, account, period) => {
    const affiliates = world.affiliates.map(({ affiliate_id }) => affiliate_id)
    await storeDrafts(account, period.id, affiliates)
    const drafts = await draftsOf(account, period.id, affiliates)
    for (const draft of drafts) {
      const seen = new Set<string>()
      for (const line of draft.lines.slice(0, 4)) {
        if (seen.has(line.id)) continue
        seen.add(line.id)
        const explanation: Explanation & { id: string } = await get(
          account,
          `lines/${line.id}/explain`,
        )
        const { id, ...own } = line
        expect([explanation.id, explanation.line]).toEqual([id, own])
        follow(explanation)
        const parts = await getAll(account, `lines/${id}/parts`)
        await checkParts(account, explanation, parts)
      }
    }
  })
})

async function checkParts(
  account: string,
  explanation: Explanation & { id: string },
  parts: { customer_id: string; base: string | null; units: string | null; records: number }[],
) {
  const { id, line, steps } = explanation
  if (line.kind === 'once') {
    expect(parts).toHaveLength(1)
    const customer = encodeURIComponent(parts[0]!.customer_id)
    const used = await getAll(account, `lines/${id}/parts/${customer}/facts`)
    expect(used).toHaveLength(parts[0]!.records)
    return
  }
  const base = steps.find((one) => one.step === 'base')
  const counted = base ?? steps.find((one) => one.step === 'units')
  const isOfLines = steps.some(({ step }) => step === 'sources')
  expect(parts).toHaveLength(isOfLines ? 0 : (counted?.customers ?? 0))
  const fixed = (base?.terms ?? []).filter(({ term }) => 'fixed' in (term as object))
  if (base && fixed.length === 0 && line.fence === null) {
    expectNear(sum(parts.map((part) => parse(part.base!))), parse(base.base))
  }
  if (line.kind === 'unit')
    expect(plain(sum(parts.map((part) => parse(part.units!))))).toBe(line.units)
  for (const part of parts.slice(0, 2)) {
    const customer = encodeURIComponent(part.customer_id)
    const records = await getAll(account, `lines/${id}/parts/${customer}/facts`)
    expect(records).toHaveLength(part.records)
    const name = line.kind === 'unit' ? 'units' : 'base'
    const found = sum(records.map((record) => parse(record[name] ?? '0')))
    expectNear(found, parse(part[name] ?? '0'))
  }
}

/** Records that convert together can differ in the 12th place from the same that convert apart. */
function expectNear(found: Rational, expected: Rational) {
  const off = subtract(found, expected)
  expect(compare({ n: off.n < 0n ? -off.n : off.n, d: off.d }, parse('0.00000001'))).toBe(-1)
}
