import { introspectWorkflow } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RUN_LIMITS } from '../../src/commission/limits.ts'
import worker from '../../src/index.ts'
import { CRON_SCHEDULES } from '../../src/jobs/crons.ts'
import { CRON_QUERIES } from '../../src/platform/db/query-limit.ts'
import { HOUR_MS } from '../../src/platform/durations.ts'
import { type Job, type MorningJob, PAGE_ACCOUNTS } from '../../src/platform/jobs.ts'
import { monthly, storePlan } from '../commission/stored.ts'
import { overridingSessions } from '../overriding.ts'
import { ada, partner } from '../partner.ts'
import { deliverJob, listing, type Sent } from '../platform/crons.ts'
import { faulty } from '../platform/faulty.ts'
import { printedAs } from '../secrecy.ts'
import { faultyPlatform } from '../sweep/endure.ts'

// What crons leave to the queue: a message for each account or database, with the queries of an invocation.

const MORNING = Date.parse('2026-12-01T06:05:00Z')
const TERMS = monthly([
  { id: 'tenth', kind: 'share', percent: '10', base: [{ transactions: ['deposit'] }] },
])

type Runs = Awaited<ReturnType<typeof introspectWorkflow>>
let runs: Runs

const { ofMorning } = RUN_LIMITS
beforeEach(async () => {
  runs = await introspectWorkflow(env.STATEMENT_RUNS)
})
afterEach(async () => {
  Object.assign(RUN_LIMITS, { ofMorning })
  // A run that goes on would miss its account.
  for (const instance of await runs.get()) await instance.waitForStatus('complete')
  await runs.dispose()
})

/** Creates accounts with a plan. */
async function firms(...names: string[]) {
  for (const account of names) {
    await partner('forex', { account })
    await storePlan(account, 'ib', TERMS)
  }
}

const morningOf = (account: string): MorningJob => {
  return { job: 'morning', binding: 'DB', account, at: MORNING }
}

const storedRuns = async () =>
  (await env.DB.prepare('select account, id, period from statement_runs order by account').all())
    .results

describe('§19.4 the runs of the morning', () => {
  test('a message that arrives twice, or five times at once, starts one run', async () => {
    await firms('acme')
    for (let i = 0; i < 2; i++) await deliverJob(morningOf('acme'), env as Env)
    await Promise.all(Array.from({ length: 5 }, () => deliverJob(morningOf('acme'), env as Env)))
    for (const instance of await runs.get()) await instance.waitForStatus('complete')
    await deliverJob(morningOf('acme'), env as Env)
    expect([(await storedRuns()).length, (await runs.get()).length]).toEqual([1, 1])
    await deliverJob({ ...morningOf('acme'), at: MORNING + 24 * HOUR_MS }, env as Env)
    expect(await storedRuns()).toMatchObject([{ period: '2026-11' }, { period: '2026-12' }])
  })

  test('a consumer that is killed at any call leaves nothing that the next delivery does not do', async () => {
    await firms('acme')
    const { platform, seen } = faultyPlatform()
    await deliverJob(morningOf('acme'), platform)
    const calls = seen.calls.length
    expect(calls).toBeGreaterThan(3)
    for (let nth = 0; nth < calls; nth++) {
      const at = MORNING + (nth + 1) * 24 * HOUR_MS
      const killed = faulty([...Array(nth).fill(null), { message: 'killed', after: false }]).env
      await deliverJob({ ...morningOf('acme'), at }, killed)
      await deliverJob({ ...morningOf('acme'), at }, env as Env)
    }
    const stored = await storedRuns()
    expect(stored).toHaveLength(calls + 1)
    expect((await runs.get()).length).toBe(calls + 1)
  })

  test('the queue of the runtime delivers what a cron sends', async () => {
    await firms('acme')
    await (await partner('forex', { account: 'beta' })).post('customers', ada)
    await env.ACCOUNT_JOBS.send(morningOf('acme'))
    await expect.poll(async () => (await runs.get()).length, { timeout: 10_000 }).toBe(1)
    expect(await storedRuns()).toHaveLength(1)
  })
})

const ACCOUNTS = 80

/** The accounts of the first database, more than a message names. */
const OF_FIRST = PAGE_ACCOUNTS + 10

// 8 databases, of which the tests have two: the second one stands for seven bindings. Each account has a plan, a
// webhook, some a postback, settings that wait, rows that have expired, and a record of years ago.
describe(`with ${ACCOUNTS} accounts in 8 databases`, () => {
  const OTHERS = Array.from({ length: 7 }, (_, i) => `DB_${i + 1}`)

  /** The jobs that must name each account once, by the cron. */
  const JOBS_OF: Record<string, Job['job'][]> = {
    report: ['feeds', 'morning'],
  }

  beforeEach(async () => {
    const numbers = `with recursive n(i) as (select 0 union all select i + 1 from n where i < ${ACCOUNTS - 1})`
    const bindings = JSON.stringify(OTHERS)
    const id = `printf('firm-%04d', i)`
    await env.DB.prepare(
      `insert into accounts (id, name, vertical, mode, binding, unknown_customer, created_at, version)
       ${numbers} select ${id}, 'Firm', 'forex', 'live',
         iif(i < ${OF_FIRST}, 'DB', '${bindings}' ->> (i % 7)), 'reject', '2026-01-01T00:00:00.000Z', 2 from n`,
    ).run()
    for (const [db, where] of [
      [env.DB, `i < ${OF_FIRST}`],
      [env.DB_2, `i >= ${OF_FIRST}`],
    ] as const) {
      await db.batch(
        [
          `insert into plan_versions (account, plan, version, effective_from, terms, created_at)
           ${numbers} select ${id}, 'ib', 1, '2026-01-01', '{"period":"month","rules":[]}', '' from n where ${where}`,
          `insert into webhook_endpoints (account, id, url, events, secrets, created_at)
           ${numbers} select ${id}, 'hook', 'https://hooks.example/', '["*"]', '[]', '2026-01-01T00:00:00Z'
           from n where ${where}`,
          `insert into webhook_endpoints
             (account, id, url, events, secrets, created_at, affiliate_id)
           ${numbers} select ${id}, 'postback', 'https://t.example/',
             '["signup","first_deposit","qualified","commission.approved"]', '[]',
             '2026-01-01T00:00:00Z', 'own' from n where i % 5 = 0 and ${where}`,
          `insert into activity (account, date, customer_id, instrument, currency, lots_traded, held, delivery, idx, revision)
           ${numbers} select ${id}, 19800, 'c', 'EURUSD', 'EUR', 1, 0, 'dlv', 0, 1 from n where ${where}`,
          `insert into clicks (account, day, link_id, click_id, clicked_at)
           ${numbers} select ${id}, 1, 'abcdefgh', 'click', 0 from n where ${where}`,
        ].map((sql) => db.prepare(sql)),
      )
    }
  })

  test.each(Object.entries(CRON_SCHEDULES).filter(([name]) => name !== 'rates'))(
    'no invocation of the cron to %s visits all accounts, or makes more than 500 queries',
    async (name, cron) => {
      const created: string[] = []
      const sent: Sent[] = []
      let queries = 0
      const counted = (db: D1Database) =>
        overridingSessions(db, (real) => ({
          prepare: (text: string) => {
            queries += 1
            return real.prepare(text)
          },
          batch: (list: D1PreparedStatement[]) => real.batch(list),
        }))
      const [first, second] = [counted(env.DB), counted(env.DB_2)]
      const world = {
        ...env,
        ...Object.fromEntries(OTHERS.map((binding) => [binding, second])),
        DB: first,
        ACCOUNT_JOBS: listing(sent),
        STATEMENT_RUNS: {
          createBatch: async (all: { id: string }[]) => created.push(...all.map(({ id }) => id)),
        },
      } as unknown as Env
      Object.assign(RUN_LIMITS, { ofMorning: ACCOUNTS })
      const most: Record<string, number> = {}
      const note = (job: string) => {
        most[job] = Math.max(most[job] ?? 0, queries)
        queries = 0
      }
      await worker.scheduled({ cron, scheduledTime: MORNING } as never, world)
      note('cron')
      const messages: Job[] = []
      for (let next = sent.shift(); next; next = sent.shift()) {
        const { body } = next
        messages.push(body)
        // Each morning is like the others: those of one database suffice.
        if (body.job === 'morning' && body.binding !== 'DB') continue
        await deliverJob(body, world)
        note(body.job)
      }
      expect(Math.max(...Object.values(most))).toBeLessThanOrEqual(CRON_QUERIES)
      // These name no accounts: a query for each account would take at least as many.
      for (const job of ['cron', 'list', 'minute', 'expire'])
        expect(most[job] ?? 0, job).toBeLessThan(OF_FIRST)
      expect(printedAs('error')).toEqual([])
      const named = (job: Job['job']) =>
        messages.flatMap((one) => {
          if (one.job !== job) return []
          return 'accounts' in one ? one.accounts : 'account' in one ? [one.account] : []
        })
      for (const job of JOBS_OF[name] ?? []) {
        expect([job, named(job).length, new Set(named(job)).size]).toEqual([
          job,
          ACCOUNTS,
          ACCOUNTS,
        ])
      }
      const runsOf = name === 'report' ? OF_FIRST : 0
      expect([created.length, new Set(created).size]).toEqual([runsOf, runsOf])
    },
  )
})
