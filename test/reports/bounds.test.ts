import { describe, expect, test } from 'vitest'
import { REPORT_LIMITS } from '../../src/reports/limits.ts'
import { restoring } from '../limits.ts'
import { ada, deposit, json, partner } from '../partner.ts'

// What one report can take of the database that accounts share.

const OCTOBER = 'reports?from=2026-10-01&to=2026-10-31'
restoring(REPORT_LIMITS)

const answerOf = async (response: Promise<Response>) => {
  const { status, code, detail } = await json(response)
  return `${status} ${code}: ${detail}`
}

/** Stores a customer with so many deposits on each of some days of October. */
async function depositsOn(days: Readonly<Record<string, number>>) {
  const acme = await partner()
  await acme.post('customers', ada)
  const bulk = Object.entries(days).flatMap(([day, count]) =>
    Array.from({ length: count }, (_, i) => ({
      ...deposit,
      transaction_id: `${day}-${i}`,
      transaction_date: `${day}T00:00:00Z`,
    })),
  )
  expect((await acme.post('transactions', bulk)).status).toBe(200)
  return acme
}

test('a report of too many records says what to narrow', async () => {
  const acme = await depositsOn({ '2026-10-02': 5, '2026-10-03': 5 })
  const query = `${OCTOBER}&metrics=deposit_count`
  REPORT_LIMITS.records = 9
  expect(await answerOf(acme.get(query))).toMatch(
    /^422 validation_failed: The days have more than .* records of a resource, .* Ask for fewer days/,
  )
  REPORT_LIMITS.records = 10
  expect((await json(acme.get(query))).totals.metrics.deposit_count).toBe(10)
})

test('a report that takes too long is refused with what to narrow', async () => {
  const acme = await depositsOn({ '2026-10-02': 1 })
  REPORT_LIMITS.ms = 0
  expect(await answerOf(acme.get(OCTOBER))).toMatch(
    /^422 validation_failed: The report takes more than .* Ask for fewer days/,
  )
})

describe('first deposits', () => {
  /** A customer who signed up and withdrew on 1 September, with deposits so many days later, and on 1 October. */
  async function depositing(days: readonly number[]) {
    const acme = await partner()
    await acme.post('customers', { ...ada, signup_date: '2026-09-01T00:00:00Z' })
    const types = ['withdrawal', 'deposit']
    const before = [0, ...days].map((day, i) => ({
      ...deposit,
      ...{ transaction_id: `before-${i}`, transaction_type: types[i] },
      transaction_date: new Date(Date.UTC(2026, 8, 1 + day)).toISOString(),
    }))
    const october = { ...deposit, transaction_date: '2026-10-01T00:00:00Z' }
    expect((await acme.post('transactions', [...before, october])).status).toBe(200)
    return acme
  }
  const FIRST = `${OCTOBER}&metrics=first_deposit_count`

  test.each([
    [[], 1],
    [[0], 0],
    [[29], 0],
  ])('of October, after those %j days after the signup, are %i', async (days, count) => {
    const acme = await depositing(days)
    expect((await json(acme.get(FIRST))).totals.metrics.first_deposit_count).toBe(count)
  })
})
