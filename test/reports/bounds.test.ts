import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test } from 'vitest'
import { REPORT_LIMITS, REPORT_STEPS } from '../../src/reports/limits.ts'
import { fetchWith } from '../checked-fetch.ts'
import { overridingSessions } from '../ingest/watched.ts'
import { ada, deposit, json, ORIGIN, partner } from '../partner.ts'

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
