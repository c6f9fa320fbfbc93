import { introspectWorkflow } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { endStep, storeSteps } from '../../src/commission/db/runs.ts'
import { STEP_LIMITS } from '../../src/commission/limits.ts'
import { beginRun, finishRun, makeStep, type RunParameters } from '../../src/commission/run/runs.ts'
import { CRON_SCHEDULES } from '../../src/jobs/crons.ts'
import { restoring } from '../limits.ts'
import { ada, askAdmin, deposit, json, partner } from '../partner.ts'
import { runCron as runCronAt } from '../platform/crons.ts'
import { surrounded } from '../sweep/platform.ts'
import { assign, monthly, storePlan } from './stored.ts'
import { storeStarted } from './stored-runs.ts'

const PATH = 'accounts/acme-forex'
const PERIOD = '2026-10'
const AFFILIATES = ['aff-1', 'aff-2', 'aff-3', 'aff-4']

type Runs = Awaited<ReturnType<typeof introspectWorkflow>>
let runs: Runs

restoring(STEP_LIMITS)
beforeEach(async () => {
  Object.assign(STEP_LIMITS, { affiliates: 2 })
  runs = await introspectWorkflow(env.STATEMENT_RUNS)
  await runs.modifyAll((one) => one.disableRetryDelays())
})
afterEach(async () => {
  await runs.dispose()
})

/** A firm with four affiliates, the statements of which a run computes in two steps. */
async function firm() {
  const acme = await partner('forex', { affiliates: AFFILIATES })
  const base = [{ transactions: ['deposit'] }]
  const terms = monthly([{ id: 'tenth', kind: 'share', percent: '10', base }])
  await storePlan(acme.account, 'ib', terms)
  await assign(acme.account, 'ib')
  const customers = AFFILIATES.map((affiliate_id, i) => {
    return { ...ada, customer_id: `c-${i}`, affiliate_id }
  })
  await acme.post('customers', customers)
  await acme.post(
    'transactions',
    customers.map(({ customer_id }, i) => ({ ...deposit, transaction_id: `t-${i}`, customer_id })),
  )
  return acme
}

/** Runs the job of every minute, some minutes from now. */
const runCron = (minutes: number) =>
  runCronAt(CRON_SCHEDULES.propagate, Date.now() + minutes * 60_000)

const show = (run: string) => json(askAdmin(`${PATH}/runs/${run}`))

/** Returns what is stored of the account's statements. */
const stored = async () =>
  (await env.DB.prepare('select * from statements order by id').all()).results

const countStored = async () => (await stored()).length

/** Makes the steps of a run that its Workflow would make, up to one of them. */
async function makeSteps(parameters: RunParameters, last: number) {
  await beginRun(env as Env, parameters, Date.now())
  for (let step = 1; step <= last; step++) await makeStep(env as Env, parameters, step, Date.now())
}

const waitForEnd = async () => {
  for (const instance of await runs.get()) await instance.waitForStatus('complete')
}

test('a run that shows no activity for 20 minutes ends as failed, and the next one is computed', async () => {
  await firm()
  const parameters = await storeStarted('acme-forex', PERIOD)
  await makeSteps(parameters, 1)
  const before = await stored()
  await runCron(19)
  expect(await show(parameters.run)).toMatchObject({ status: 'running', steps: 2, steps_done: 1 })
  await runCron(21)
  expect(await show(parameters.run)).toMatchObject({
    ...{ status: 'failed', steps_done: 1, ended_at: expect.any(String) },
    reason: expect.stringMatching(/^It has stopped\. .* Start another run of the period\.$/),
  })
  expect(await stored()).toEqual(before)
  await askAdmin(`${PATH}/periods/${PERIOD}/run`, 'POST')
  await waitForEnd()
  expect((await stored()).length).toBe(4)
})

test('a step that fails in every attempt fails the run, which says so and keeps what it stored', async () => {
  await firm()
  await runs.modifyAll((one) => one.mockStepError({ name: 'affiliates 2' }, new Error('gone'), 16))
  const { id } = await json(askAdmin(`${PATH}/periods/${PERIOD}/run`, 'POST'))
  for (const instance of await runs.get()) await instance.waitForStatus('errored')
  expect(await show(id)).toMatchObject({
    ...{ status: 'failed', steps: 2, steps_done: 1 },
    reason: expect.stringMatching(/^The step "affiliates 2" failed in all attempts/),
  })
  expect(await countStored()).toBe(2)
})

test.each(['run is deleted', 'run has ended'])(
  'a step in flight stores nothing after its %s',
  async (what) => {
    await firm()
    const parameters = await storeStarted('acme-forex', PERIOD)
    await beginRun(env as Env, parameters, Date.now())
    const sql =
      what === 'run has ended'
        ? `update statement_runs set status = 'failed'`
        : 'delete from statement_runs'
    let deleted = 0
    // Just before the batch that stores the drafts.
    const platform = surrounded(async (call, act) => {
      if (call.sql.includes('insert into statements ')) deleted += await execute(sql)
      return act()
    })
    await makeStep(platform, parameters, 1, Date.now())
    expect([deleted, await countStored()]).toEqual([1, 0])
  },
)

const execute = async (sql: string) => (await env.DB.prepare(sql).run()).meta.changes

test('the reset of an account in the middle of a run leaves no statement and no run', async () => {
  await firm()
  const parameters = await storeStarted('acme-forex', PERIOD)
  await makeSteps(parameters, 1)
  expect((await askAdmin(`${PATH}/reset`, 'POST')).status).toBe(204)
  await makeStep(env as Env, parameters, 2, Date.now())
  expect(await beginRun(env as Env, parameters, Date.now())).toBe(0)
  await finishRun(env as Env, parameters, Date.now())
  const tables = ['statements', 'statement_runs', 'statement_run_steps']
  const left = tables.map((table) =>
    env.DB.prepare(`select count(*) as n from ${table}`).first('n'),
  )
  expect(await Promise.all(left)).toEqual([0, 0, 0])
  // What was in flight when the run was deleted stores nothing.
  expect(await storeSteps(env.DB, 'acme-forex', parameters.run, [['aff-1']])).toBe(0)
  await endStep(env.DB, { account: 'acme-forex', id: parameters.run, step: 2 })
  expect(await Promise.all(left)).toEqual([0, 0, 0])
})

test('a statement that is approved between two steps of a run stays as it was approved', async () => {
  const acme = await firm()
  const first = await storeStarted('acme-forex', PERIOD)
  await makeSteps(first, 2)
  await finishRun(env as Env, first, Date.now())
  const before = await stored()
  await acme.post(
    'transactions',
    // What `aff-4` is owed stays as it is.
    AFFILIATES.slice(0, -1).map((_, i) => ({
      ...deposit,
      ...{ transaction_id: `t-${i}`, customer_id: `c-${i}`, amount_currency: 500 },
    })),
  )
  const second = await storeStarted('acme-forex', PERIOD)
  await makeSteps(second, 1)
  const last = before.find(({ affiliate_id }) => affiliate_id === 'aff-4')
  const approved = await askAdmin(`${PATH}/statements/${last?.id}/approve`, 'POST', {
    hash: last?.hash,
  })
  expect(approved.status).toBe(200)
  await makeStep(env as Env, second, 2, Date.now())
  await finishRun(env as Env, second, Date.now())
  expect(await show(second.run)).toMatchObject({ status: 'done', steps_done: 2 })
  const hashes = (rows: Record<string, unknown>[], id: unknown) =>
    rows.filter((row) => row.id === id).map(({ hash, status }) => [hash, status])
  const after = await stored()
  expect(hashes(after, last?.id)).toEqual([[last?.hash, 'approved']])
  expect(after.filter(({ hash }) => !before.some((one) => one.hash === hash)).length).toBe(3)
})
