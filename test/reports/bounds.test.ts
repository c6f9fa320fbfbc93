import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { REPORT_LIMITS } from '../../src/reports/limits.ts'
import { brand, dailyStats, day, eve } from '../brand.ts'
import { fetchWith } from '../checked-fetch.ts'
import { ada, deposit, json, ORIGIN, partner } from '../partner.ts'
import { overriding } from '../watched.ts'

// What one report can take of the database that accounts share.

const OCTOBER = 'reports?from=2026-10-01&to=2026-10-31'
const LIMITS = { ...REPORT_LIMITS }

afterEach(() => {
  Object.assign(REPORT_LIMITS, LIMITS)
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
      /^422 validation_failed: To find first deposits, .* Ask for fewer days, or name the `metrics`/,
    )
    expect((await acme.get(`${OCTOBER}&metrics=deposit_count`)).status).toBe(200)
    const early = { ...deposit, transaction_id: 'early', transaction_date: '2026-09-07T00:00:00Z' }
    await acme.post('transactions', early)
    REPORT_LIMITS.searched = 0
    expect((await json(acme.get(FIRST))).totals.metrics.first_deposit_count).toBe(0)
  })
})

test('a report that the database ends after 30 seconds is paid for', async () => {
  const acme = await partner()
  const DB = overriding(env.DB, {
    withSession: (bookmark: string) => {
      const session = env.DB.withSession(bookmark)
      return overriding(session, {
        batch: async <T>(list: D1PreparedStatement[]) => {
          const isReport = list.length > 2
          if (!isReport) return session.batch<T>(list)
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
    // Twice the 30 seconds, less the 10 for which an account may owe.
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '50'])
  } finally {
    vi.useRealTimers()
  }
})
