import { introspectWorkflow } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { PERIOD_FORMS, RUN_LIMITS } from '../../src/commission/limits.ts'
import { beginRun, makeStep, newRunId } from '../../src/commission/run/runs.ts'
import { CRON_SCHEDULES } from '../../src/jobs/crons.ts'
import { ada, askAdmin, deposit, json, partner } from '../partner.ts'
import { runCron } from '../platform/crons.ts'
import { assign, monthly, storePlan } from './stored.ts'
import { storeStarted } from './stored-runs.ts'

const PATH = 'accounts/acme-forex'

type Runs = Awaited<ReturnType<typeof introspectWorkflow>>
let runs: Runs

beforeEach(async () => {
  runs = await introspectWorkflow(env.STATEMENT_RUNS)
  await runs.modifyAll((one) => one.disableRetryDelays())
})
afterEach(() => runs.dispose())

/** A firm with two affiliates and a plan that pays 10 % of deposits. */
async function firm() {
  const acme = await partner('forex', { affiliates: ['aff-7', 'aff-8'] })
  const base = [{ transactions: ['deposit'] }]
  await storePlan(
    acme.account,
    'ib',
    monthly([{ id: 'tenth', kind: 'share', percent: '10', base }]),
  )
  await assign(acme.account, 'ib')
  await acme.post('customers', [ada, { ...ada, customer_id: 'c-2', affiliate_id: 'aff-8' }])
  await acme.post('transactions', [
    deposit,
    { ...deposit, transaction_id: 't-2', customer_id: 'c-2' },
  ])
  return acme
}

const start = async (period = '2026-10') => {
  const started = await askAdmin(`${PATH}/periods/${period}/run`, 'POST')
  expect(started.status).toBe(202)
  const body = await json(started)
  expect(body.id).toMatch(/^run_[0-9A-Z]{26}$/)
  return body
}

/** Starts a run and waits for its end. */
async function run(period = '2026-10') {
  const { id } = await start(period)
  for (const instance of await runs.get()) await instance.waitForStatus('complete')
  return json(askAdmin(`${PATH}/runs/${id}`))
}

interface Listed {
  affiliate_id: string
  total: string
  hash: string
}

const totals = async (period = '2026-10') => {
  const { data } = await json(askAdmin(`${PATH}/statements?period=${period}`))
  return data.map(({ affiliate_id, total }: Listed) => [affiliate_id, total])
}

const BOTH = [
  ['aff-7', '10.02'],
  ['aff-8', '10.02'],
]

test('a run computes the statements of a period, and another changes nothing', async () => {
  await firm()
  const stored = async () => (await env.DB.prepare('select * from statements').all()).results
  expect(await run()).toMatchObject({
    period: '2026-10',
    status: 'done',
    affiliates: 2,
    steps: 1,
    steps_done: 1,
  })
  expect(await totals()).toEqual(BOTH)
  const before = await stored()
  expect(await run()).toMatchObject({ status: 'done' })
  expect(await stored()).toEqual(before)
})

test('a computation that began to read earlier never replaces a later one', async () => {
  const acme = await firm()
  const late = await storeStarted('acme-forex', '2026-10', 'run_late')
  const early = await storeStarted('acme-forex', '2026-10', 'run_early')
  await beginRun(env as Env, late, Date.now())
  await beginRun(env as Env, early, Date.now())
  await makeStep(env as Env, late, 1, 2000)
  await acme.post('transactions', [{ ...deposit, amount_currency: 5 }])
  await makeStep(env as Env, early, 1, 1000)
  expect(await totals()).toEqual(BOTH)
})

test('a run drops drafts that are no longer due', async () => {
  const acme = await firm()
  await run()
  await acme.post('transactions', [{ ...deposit, status: 'declined' }])
  expect(await run()).toMatchObject({ status: 'done' })
  expect(await totals()).toEqual([['aff-8', '10.02']])
})

test('the run of a period brings earlier open periods up to date, whose carries it continues', async () => {
  const acme = await firm()
  await storePlan(
    acme.account,
    'ib',
    monthly(
      [{ id: 'tenth', kind: 'share', percent: '10', base: [{ transactions: ['deposit'] }] }],
      {
        effective_from: '2026-09-01',
        minimum_payout: '50',
      },
    ),
    2,
  )
  await run('2026-11')
  expect(await totals('2026-10')).toEqual(BOTH)
  const { data } = await json(askAdmin(`${PATH}/statements?affiliate_id=aff-7`))
  expect(
    data.map(({ period, opening, closing }: Record<string, string>) => [period, opening, closing]),
  ).toEqual([
    ['2026-10', '0.00', '10.02'],
    ['2026-11', '10.02', '10.02'],
  ])
})

test('an account without plans has a run of no steps', async () => {
  await partner('forex')
  expect(await run()).toMatchObject({ status: 'done', affiliates: 0, steps: 0 })
})

/** Stores runs of October that are running, and began some milliseconds ago. */
const storeRunning = (count: number, { ago = 0, affiliates = null as number | null } = {}) =>
  env.DB.batch(
    Array.from({ length: count }, (_, i) =>
      env.DB.prepare(
        `insert into statement_runs (account, id, period, status, affiliates, started_at)
         values ('acme-forex', ?, '2026-10', 'running', ?, ?)`,
      ).bind(
        `${newRunId(Date.now() - ago).slice(0, -2)}${10 + i}`,
        affiliates,
        new Date(Date.now() - ago).toISOString(),
      ),
    ),
  )

const countRuns = () =>
  env.DB.prepare('select count(*) as n from statement_runs').first<number>('n')

const audited = async () =>
  (await json(askAdmin('audit-log'))).data.filter(
    ({ action }: { action: string }) => action === 'period.run',
  ).length

test('every morning a run of the period of yesterday begins for each account with plans', async () => {
  await firm()
  await partner('forex', { account: 'planless' })
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-12-01T07:00:00.000Z') })
  await runCron(CRON_SCHEDULES.report)
  const instances = await runs.get()
  for (const instance of instances) await instance.waitForStatus('complete')
  const { results } = await env.DB.prepare(
    'select account, period, status from statement_runs',
  ).all()
  expect(results).toEqual([{ account: 'acme-forex', period: '2026-11', status: 'done' }])
  expect(instances).toHaveLength(1)
})

test.each([
  ['Pacific/Honolulu', 'statement.ready at the second 06:05 UTC after the month', 2],
  ['America/Los_Angeles', 'statement.ready at the second 06:05 UTC after the month', 2],
  ['UTC', 'statement.ready at the first 06:05 UTC after the month', 1],
  ['Pacific/Kiritimati', 'statement.ready at the first 06:05 UTC after the month', 1],
])('the morning runs of an account in %s cause %s', async (zone, _, first) => {
  const { account } = await firm()
  await env.DB.prepare('update accounts set book_zone = ?').bind(zone).run()
  await askAdmin(`accounts/${account}/webhooks`, 'POST', {
    url: 'https://hooks.example/',
    events: ['statement.ready'],
  })
  const mornings: [string, number | null][] = []
  for (const day of ['2026-11-01', '2026-11-02']) {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(`${day}T06:05:00.000Z`) })
    await runCron(CRON_SCHEDULES.report)
    for (const instance of await runs.get()) await instance.waitForStatus('complete')
    const count = "select count(*) as n from webhook_events where type = 'statement.ready'"
    mornings.push([day, await env.DB.prepare(count).first('n')])
  }
  expect(mornings).toEqual([
    ['2026-11-01', first === 1 ? 2 : 0],
    ['2026-11-02', 2],
  ])
})

test('runs are limited, and those of yesterday do not count', async () => {
  const { byHand } = RUN_LIMITS
  onTestFinished(() => void Object.assign(RUN_LIMITS, { byHand }))
  RUN_LIMITS.byHand = 20
  await firm()
  await storeRunning(5, { ago: 86_400_001, affiliates: 1 })
  await storeRunning(RUN_LIMITS.byHand - 1, { ago: 3_600_000, affiliates: 1 })
  expect((await start()).status).toBe('running')
  await storeRunning(1, { affiliates: 1 })
  const refused = await askAdmin(`${PATH}/periods/2026-10/run`, 'POST')
  expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '60'])
  expect(await json(refused)).toMatchObject({
    code: 'rate_limited',
    detail: expect.stringMatching(/^100 runs are running, the maximum/),
  })
  expect([await countRuns(), await audited()]).toEqual([RUN_LIMITS.byHand + 6, 1])
})

test('a period that has not begun in the zone of the account is not run', async () => {
  await firm()
  await env.DB.prepare(`update accounts set book_zone = 'America/New_York'`).run()
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-12-01T04:59:59.999Z') })
  const refused = await askAdmin(`${PATH}/periods/2026-12/run`, 'POST')
  expect([refused.status, await json(refused)]).toMatchObject([
    422,
    {
      code: 'validation_failed',
      detail:
        'The period 2026-12 has not begun. It can be computed from 2026-12-01T05:00:00.000Z on.',
    },
  ])
  expect(await countRuns()).toBe(0)
  vi.setSystemTime(Date.parse('2026-12-01T05:00:00.000Z'))
  expect((await start('2026-12')).period).toBe('2026-12')
})

test.each([['2025-W53'], ['9999-12'], ['0001-01']])(
  'no period %s is run or approved',
  async (period) => {
    await firm()
    for (const verb of ['run', 'approve']) {
      const answer = await askAdmin(`${PATH}/periods/${period}/${verb}`, 'POST', {})
      expect([answer.status, (await json(answer)).detail]).toEqual([
        404,
        `\`${period}\` is not a period. Use ${PERIOD_FORMS}.`,
      ])
    }
  },
)

test('a list by change is the whole list in that order, page by page', async () => {
  const acme = await firm()
  const amounts = [300, 5, 120, 40, 260, 90]
  for (const [i, amount_currency] of amounts.entries()) {
    const day = `2026-${i % 2 === 0 ? '10' : '11'}-05T00:00:00Z`
    const customer_id = i < 4 ? 'c-2' : ada.customer_id
    const sent = { ...deposit, transaction_id: `t-${i + 3}`, customer_id, amount_currency }
    await acme.post('transactions', [{ ...sent, transaction_date: day }])
  }
  await run('2026-11')
  const query = 'statements?period=2026-11'
  const { data: all } = await json(askAdmin(`${PATH}/${query}`))
  const before = new Map(await totals('2026-10'))
  expect(all).toHaveLength(2)
  const change = (one: Listed) => Math.abs(Number(one.total) - Number(before.get(one.affiliate_id)))
  const found: (Listed & { earned_before?: string })[] = []
  for (let next = `${query}&order=change&per_page=1`; next; ) {
    const { data, meta } = await json(askAdmin(`${PATH}/${next}`))
    found.push(...data)
    next = meta.next_cursor && `${query}&order=change&per_page=1&cursor=${meta.next_cursor}`
  }
  expect(found.map(({ hash }) => hash)).toEqual(
    all.toSorted((a: Listed, b: Listed) => change(b) - change(a)).map(({ hash }: Listed) => hash),
  )
  for (const one of found) expect(one.earned_before).toBe(before.get(one.affiliate_id))
  expect(await askAdmin(`${PATH}/statements?order=change`)).toHaveProperty('status', 400)
})
