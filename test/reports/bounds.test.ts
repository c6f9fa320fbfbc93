import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { scheduleSteps, sourcesOf } from '../../src/reports/compute.ts'
import { REPORT_LIMITS, REPORT_STEPS } from '../../src/reports/limits.ts'
import { selectMetrics } from '../../src/reports/report.ts'
import { brand, dailyStats, day, eve } from '../brand.ts'
import { fetchWith } from '../checked-fetch.ts'
import { ada, deposit, json, ORIGIN, partner } from '../partner.ts'
import { overriding, overridingSessions } from '../watched.ts'

// What one report can take of the database that accounts share.

const OCTOBER = 'reports?from=2026-10-01&to=2026-10-31'
const LIMITS = { ...REPORT_LIMITS }
const STEPS = { ...REPORT_STEPS }

afterEach(() => {
  Object.assign(REPORT_LIMITS, LIMITS)
  Object.assign(REPORT_STEPS, STEPS)
})

const answerOf = async (response: Promise<Response>) => {
  const { status, code, detail } = await json(response)
  return `${status} ${code}: ${detail}`
}

test('the values of KPIs are limited, not only the records', async () => {
  const casino = await brand({ events: { DailyStats: dailyStats } })
  await casino.post('customers', [eve])
  // A record with four KPIs.
  expect((await casino.post('activities', [day])).status).toBe(200)
  REPORT_LIMITS.kpis = 4
  expect((await casino.get(OCTOBER)).status).toBe(200)
  REPORT_LIMITS.kpis = 3
  expect(await answerOf(casino.get(OCTOBER))).toMatch(
    /^422 validation_failed: These days have more than .* values of KPIs\. Ask for fewer days, or/,
  )
  expect((await casino.get(`${OCTOBER}&metrics=signups`)).status).toBe(200)
})

/** Requests a report. Returns its batches with the rows that they read, and the SQL of all statements. */
async function watch({ access_token }: { access_token: string }, query: string) {
  const batches: { rowsRead: number }[] = []
  const sql: string[] = []
  const DB = overridingSessions(env.DB, (real) => ({
    prepare: (text: string) => {
      sql.push(text)
      return real.prepare(text)
    },
    batch: async (list: D1PreparedStatement[]) => {
      const results = await real.batch(list)
      batches.push({ rowsRead: results.reduce((sum, { meta }) => sum + meta.rows_read, 0) })
      return results
    },
  }))
  const headers = { Authorization: `Bearer ${access_token}` }
  const request = new Request(new URL(`/api/v1/forex/${query}`, ORIGIN), { headers })
  const body = await json(fetchWith({ ...env, DB } as Env, request))
  return { batches, sql, body }
}

/** Stores a customer with so many deposits on each of some days of October. */
async function depositsOn(days: Readonly<Record<string, number>>, more: object = {}) {
  const acme = await partner()
  await acme.post('customers', ada)
  const bulk = Object.entries(days).flatMap(([day, count]) =>
    Array.from({ length: count }, (_, i) => ({
      ...{ ...deposit, ...more },
      transaction_id: `${day}-${i}`,
      transaction_date: `${day}T00:00:00Z`,
    })),
  )
  expect((await acme.post('transactions', bulk)).status).toBe(200)
  return acme
}

test('the records are counted before any is summed, and the error names days that can be read', async () => {
  const acme = await depositsOn({ '2026-10-02': 2, '2026-10-05': 3, '2026-10-09': 1 })
  REPORT_LIMITS.records = 4
  const query = `${OCTOBER}&group_by=country_code`
  expect(await answerOf(acme.get(query))).toBe(
    '422 validation_failed: The days from 2026-10-01 to 2026-10-05 have more than 4 transactions, the most that a report reads. Ask for fewer days, such as `from=2026-10-01&to=2026-10-04`.',
  )
  const { batches, sql } = await watch(acme, query)
  // The lease and the counts.
  expect(batches.length).toBe(2)
  expect(sql.filter((one) => one.includes('transactions r '))).toHaveLength(1)
  expect((await acme.get('reports?from=2026-10-01&to=2026-10-04')).status).toBe(200)
  REPORT_LIMITS.records = 2
  expect(await answerOf(acme.get('reports?from=2026-10-05&to=2026-10-05'))).toMatch(
    /^422 .* more than 2 transactions, .* Name `metrics` of other records\.$/,
  )
  expect((await acme.get(`${OCTOBER}&metrics=lots`)).status).toBe(200)
})

test('the records of one customer are limited', async () => {
  const acme = await depositsOn({ '2026-10-02': 5, '2026-10-03': 5 })
  Object.assign(REPORT_STEPS, { cost: 1, count: 1e6, excess: 1 })
  REPORT_LIMITS.customer = 4
  const query = `${OCTOBER}&metrics=deposit_count`
  expect(await answerOf(acme.get(query))).toMatch(
    /^422 validation_failed: A customer has more than .* records of one resource on these days\./,
  )
  REPORT_LIMITS.customer = 5
  expect((await json(acme.get(query))).totals.metrics.deposit_count).toBe(10)
  // Active customers are counted over all days.
  const active = `${OCTOBER}&metrics=active_customers`
  expect((await acme.get(active)).status).toBe(422)
  REPORT_LIMITS.customer = 10
  expect((await json(acme.get(active))).totals.metrics.active_customers).toBe(1)
})

test('a report in USD reads one sum over all days of amounts with `amount_usd`', async () => {
  const acme = await depositsOn({ '2026-10-02': 1, '2026-10-05': 1 }, { amount_usd: 110 })
  const query = `${OCTOBER}&currency=USD&metrics=deposit_amount`
  const { batches, body } = await watch(acme, query)
  expect(body.totals.metrics).toEqual({ deposit_amount: '220' })
  REPORT_LIMITS.rows = 1
  expect((await watch(acme, query)).batches).toHaveLength(batches.length)
})

test('no statement of a report reads more records than a step, and other statements run in between', async () => {
  const acme = await partner()
  const customers = Array.from({ length: 40 }, (_, i) => ({ ...ada, customer_id: `c-${i}` }))
  await acme.post('customers', customers)
  const deposits = Array.from({ length: 200 }, (_, i) => ({
    ...deposit,
    transaction_id: `t-${i}`,
    customer_id: `c-${i % 40}`,
    transaction_date: `2026-10-0${2 + (i % 2)}T00:00:00Z`,
  }))
  await acme.post('transactions', deposits)
  const whole = await json(acme.get(OCTOBER))
  Object.assign(REPORT_STEPS, { cost: 20, count: 1e6, excess: 0 })
  const { batches, body } = await watch(acme, OCTOBER)
  expect(body.totals).toEqual(whole.totals)
  expect(batches.length).toBeGreaterThan(20)
  // The first batches take the lease and count; the others read at most a step, or divide one.
  const read = batches.slice(2).map(({ rowsRead }) => rowsRead)
  expect(Math.max(...read)).toBeLessThanOrEqual(20 * 33)
})

/** Weights of the records of the days of a year. */
const YEARS: Readonly<Record<string, (day: number) => number>> = {
  'the same each day': () => 1,
  'on one day': (day) => Number(day === 100),
  'on every other day': (day) => day % 2,
  'on days that no two fit into a step': (day) => Number(day % 4 === 0),
  'on days that are divided in three': (day) => Number(day % 16 === 0),
}

test.each(Object.entries(YEARS))(
  'the largest report has far less than 1000 statements, with records %s',
  (_, weightOf) => {
    for (const vertical of ['forex', 'igaming']) {
      const query = { from: '', to: '', groups: [], currency: 'EUR', metrics: null }
      const selection = selectMetrics(vertical, query, {
        signed: false,
        hasStatus: false,
        own: null,
      })
      const weights = Array.from({ length: 366 }, (_, day) => [day, weightOf(day)] as const)
      const sum = weights.reduce((all, [, weight]) => all + weight, 0)
      const counts = new Map(weights.map(([day, weight]) => [day, (1e6 * weight) / sum]))
      const parts = selection.statements.map(([part]) => part)
      const sources = sourcesOf(parts, selection.shape)
      const { steps } = scheduleSteps(selection, new Map(sources.map((one) => [one, counts])), {
        ...{ from: 0, to: 365, first: '', end: null },
      })
      // A step that is divided first counts its records and divides its largest day.
      const dividing = steps.filter(({ pieces }) => pieces > 1).length * (sources.length + 1)
      const reading = steps.map(({ parts, pieces }) => parts.length * pieces)
      const statements = sources.length + dividing + reading.reduce((all, one) => all + one, 0)
      expect(statements).toBeLessThan(500)
      expect(steps.reduce((all, { pieces }) => all + pieces, 0)).toBeLessThanOrEqual(92)
      expect(new Set(steps.flatMap((step) => step.parts))).toEqual(new Set(parts))
    }
  },
)

describe('first deposits', () => {
  /** A customer who signed up on 1 September with deposits so many days later, and in October. */
  async function depositing(days: readonly number[]) {
    const acme = await partner()
    await acme.post('customers', { ...ada, signup_date: '2026-09-01T00:00:00Z' })
    const before = days.map((day, i) => ({
      ...deposit,
      transaction_id: `before-${i}`,
      transaction_date: new Date(Date.UTC(2026, 8, 1 + day)).toISOString(),
    }))
    const october = { ...deposit, transaction_date: '2026-10-05T00:00:00Z' }
    expect((await acme.post('transactions', [...before, october])).status).toBe(200)
    return acme
  }
  const FIRST = `${OCTOBER}&metrics=first_deposit_count`

  test.each([0, 3, 6, 7, 8, 20, 29])(
    'an earlier one %i days after the signup counts',
    async (days) => {
      const acme = await depositing([days])
      expect((await json(acme.get(FIRST))).totals.metrics.first_deposit_count).toBe(0)
    },
  )

  test('the days that are searched are limited, but not those after a signup', async () => {
    // A withdrawal of the account's first day: no day before it is searched.
    const acme = await depositing([])
    const first = { ...deposit, transaction_id: 'w', transaction_type: 'withdrawal' }
    await acme.post('transactions', { ...first, transaction_date: '2026-09-01T00:00:00Z' })
    REPORT_LIMITS.searched = 30 - 7
    expect((await json(acme.get(FIRST))).totals.metrics.first_deposit_count).toBe(1)
    REPORT_LIMITS.searched -= 1
    expect(await answerOf(acme.get(FIRST))).toMatch(
      /^422 validation_failed: Finding first deposits would need .* Ask for fewer days, or name the `metrics`/,
    )
    expect((await acme.get(`${OCTOBER}&metrics=deposit_count`)).status).toBe(200)
    const early = { ...deposit, transaction_id: 'early', transaction_date: '2026-09-07T00:00:00Z' }
    await acme.post('transactions', early)
    REPORT_LIMITS.searched = 0
    expect((await json(acme.get(FIRST))).totals.metrics.first_deposit_count).toBe(0)
  })
})

test('a report that the database ends after 30 seconds counts towards the time of the account', async () => {
  const acme = await partner()
  let batches = 0
  const DB = overriding(env.DB, {
    withSession: (bookmark: string) => {
      const session = env.DB.withSession(bookmark)
      return overriding(session, {
        batch: async <T>(list: D1PreparedStatement[]) => {
          batches += 1
          // The first batch takes the lease, and the second one counts the records.
          if (batches <= 2) return session.batch<T>(list)
          vi.setSystemTime(Date.now() + 30_000)
          throw new Error('D1_ERROR: D1 DB exceeded its CPU time limit and was reset.')
        },
      })
    },
  })
  const ask = (world: Env) =>
    fetchWith(
      world,
      new Request(new URL(`/api/v1/forex/${OCTOBER}`, ORIGIN), {
        headers: { Authorization: `Bearer ${acme.access_token}` },
      }),
    )
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    expect((await ask({ ...env, DB } as Env)).status).toBe(503)
    const refused = await ask(env)
    // Twice the 30 seconds and the milliseconds of counting, less the 10 for which an account may owe.
    expect(refused.status).toBe(429)
    expect(refused.headers.get('Retry-After')).toMatch(/^5[01]$/)
  } finally {
    vi.useRealTimers()
  }
})
