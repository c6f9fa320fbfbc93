import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { USUAL_EVENTS } from '../../src/commission/engine/net-revenue.ts'
import { evaluateRules } from '../../src/fraud/evaluate.ts'
import { MARK_DAYS } from '../../src/ingest/db/changed.ts'
import { bindStatement } from '../../src/platform/db/statement.ts'
import { findAccount } from '../../src/platform/directory/accounts.ts'
import { dayNumber } from '../../src/platform/money/calendar.ts'
import { morningAfter, simulatedCases, storeRules } from './evaluated-cases.ts'
import { WORLD } from './fees.ts'
import { NOTHING_ELSE } from './fraud-world.ts'
import { storeFraudWorld } from './stored-fraud-world.ts'

const STATEMENT = { id: 'stm_1', affiliate_id: 'a', plan: 'p', period: '2026-09', currency: 'EUR' }
const DAYS = { first: '2026-09-30', last: '2026-09-30' }
const kind = 'commission_over_revenue'
const RULES = [
  {
    ...{ rule: 'revenue', kind, version: 1, effective_from: DAYS.first },
    parameters: { periods: 1, percent: '100', min: '1', events: USUAL_EVENTS },
  },
]
const statements = [{ ...STATEMENT, earned: '1000' }]

/** Returns the net revenue that the case of affiliate a names. */
const revenue = async () =>
  (await simulatedCases('firm', RULES, DAYS))[0]?.[1][0]?.figures[0]?.threshold

const marked = (resource: string, day: string) => (account: string) =>
  bindStatement(env.DB, MARK_DAYS, { account, resource, days: JSON.stringify([dayNumber(day)]) })

const RATE = `insert into fx_rates (day, known_from, rates) values (?, 1790000000000, '{"USD":"1.1"}')`

// Affiliate a has five fees of 99 in September.
test.each<[string, string, (account: string) => D1PreparedStatement]>([
  ['a record of its days', '495', marked('transactions', '2026-09-30')],
  ['a customer before its end', '495', marked('customer-changes', '2026-09-30')],
  ['an affiliate from the beginning', '495', marked('attribution', '0000-01-01')],
  [
    'a word for a status',
    '495',
    (account) =>
      env.DB.prepare(`insert into vocabulary values (?, 'ok', 'approved')`).bind(account),
  ],
  ['a rate of its days', '495', () => env.DB.prepare(RATE).bind(dayNumber('2026-09-30'))],
  ['a record of a later day', '1', marked('transactions', '2026-10-01')],
  ['a record that is not in the revenue', '1', marked('trading-activity', '2026-09-30')],
])(
  'the revenue of a period is read once, until it depends on what has changed: %s',
  async (_, expected, change) => {
    await storeFraudWorld({ ...WORLD, ...NOTHING_ELSE, statements }, 'firm')
    await storeRules('firm', RULES)
    const stored = (await findAccount(env.DB, 'firm'))!
    const now = morningAfter(DAYS.last, 'UTC')
    await evaluateRules(env as Env, stored, { actor: 'cron', now }, Number.POSITIVE_INFINITY)
    expect(await revenue()).toBe('495')

    await env.DB.prepare(`update fraud_revenue set revenue = '1'`).run()
    expect(await revenue()).toBe('1')
    await change('firm').run()
    expect(await revenue()).toBe(expected)
  },
)

const event = (eventname: string, Value: number, kpis = {}) => ({
  ...{ id: eventname, customer_id: 'c-a', eventname, day: '2026-09-02', Currency: 'EUR' },
  ...{ at: Date.parse('2026-09-02T12:00:00Z'), Value, kpis },
})

test.each([
  [[], '60'],
  [['bonus'], '60'],
  [['GGR', 'bonus'], '700'],
  [['GGR', 'ngr'], '55'],
])('§15 the net revenue of a brand whose events have the KPIs %j is %s', async (kpis, expected) => {
  const events = [
    event('Deposit', 100),
    event('Withdrawal', 40),
    event('Bet', 9, { GGR: 700, ngr: 55, bonus: 3 }),
  ]
  const world = { ...WORLD, vertical: 'igaming' as const, transactions: [], events }
  await storeFraudWorld({ ...world, ...NOTHING_ELSE, kpis, statements }, 'firm')
  expect(await revenue()).toBe(expected)
})
