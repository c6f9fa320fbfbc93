import { env } from 'cloudflare:workers'
import { describe, expect, test, vi } from 'vitest'
import { CRON_SCHEDULES } from '../src/admin/crons.ts'
import type { OldMonthsJob } from '../src/admin/jobs.ts'
import type { Rule } from '../src/commission/engine/plan.ts'
import { dayNumber } from '../src/db/column-types.ts'
import { ageTotals, archive, keepTotals, monthOf } from './archive-steps.ts'
import { assign, monthly, storePlan } from './commission/stored.ts'
import { deliverJob, listing, runCron, type Sent } from './crons.ts'
import { runExport, turnOn } from './exported.ts'
import { killedAt, overriding } from './overriding.ts'
import { ada, askAdmin, deposit, json, partner, traded } from './partner.ts'

// Which old months leave the database by themselves, and which stay.

/** Returns a firm with a deposit and trading activity in some months. */
async function firm(account: string, months: readonly string[], hasTotals = true) {
  const acme = await partner('forex', { account, unknown_customer: 'hold' })
  await acme.post('customers', [ada])
  for (const month of months) {
    const transaction_date = `${month}-05T09:30:00.000Z`
    const sent = { ...deposit, transaction_id: `t-${month}`, transaction_date }
    expect((await acme.post('transactions', [sent])).status).toBe(200)
    expect((await acme.post('trading-activity', [{ ...traded, date: `${month}-07` }])).status).toBe(
      200,
    )
  }
  const [first = '', last = first] = [months[0], months.at(-1)]
  if (hasTotals) await keepTotals(account, 'forex', `${first}-01`, `${last}-28`)
  return acme
}

/** Delivers the message that looks for old months, and those that follow. Returns the messages that follow. */
async function lookForOldMonths(account: string, change: Partial<OldMonthsJob> = {}) {
  const sent: Sent[] = []
  const world = overriding(env as Env, { ACCOUNT_JOBS: listing(sent) })
  const job: OldMonthsJob = { job: 'old-months', account, at: Date.now(), round: 1, ...change }
  expect(await deliverJob(job, world)).toBe(false)
  return sent
}

/** Returns the months of an account that leave or have left, with their states. */
const monthsOf = async (account: string) =>
  (
    await env.DB.prepare(
      `select resource, strftime('%Y-%m', first_day * 86400, 'unixepoch') as month, state from archived_months
       where account = ? order by first_day, resource`,
    )
      .bind(account)
      .all<{ resource: string; month: string; state: string }>()
  ).results.map(({ resource, month, state }) => `${month} ${resource} ${state}`)

describe('an old month', () => {
  test('leaves the database by itself, within a day and with its control totals', async () => {
    const acme = await firm('acme', ['2024-01', '2024-02', '2024-03'])
    const totals = await json(acme.get('totals?from=2024-01-01&to=2024-06-30'))
    const waiting = await runCron(CRON_SCHEDULES.report)
    expect(waiting).toMatchObject([{ job: 'old-months', account: 'acme', round: 1 }])
    expect(await lookForOldMonths('acme')).toEqual([])
    expect(await monthsOf('acme')).toEqual([
      '2024-01 trading-activity writing',
      '2024-01 transactions writing',
      '2024-02 trading-activity writing',
      '2024-02 transactions writing',
    ])
    await runCron(CRON_SCHEDULES.propagate)
    expect(await lookForOldMonths('acme')).toEqual([])
    await runCron(CRON_SCHEDULES.propagate)
    expect(await monthsOf('acme')).toEqual(
      ['01', '02', '03'].flatMap((month) =>
        ['trading-activity', 'transactions'].map((one) => `2024-${month} ${one} archived`),
      ),
    )
    expect(await json(acme.get('totals?from=2024-01-01&to=2024-06-30'))).toEqual(totals)
  })
})

describe('a message that looks for old months', () => {
  const FOUR = ['2024-01', '2024-02'].flatMap((month) =>
    ['trading-activity', 'transactions'].map((resource) => `${month} ${resource} writing`),
  )

  test('begins each month once, also if it arrives five times at once', async () => {
    await firm('acme', ['2024-01', '2024-02'])
    await Promise.all(Array.from({ length: 5 }, () => lookForOldMonths('acme')))
    const begun = await monthsOf('acme')
    expect(begun.map((one) => one.replace(/ \w+$/, ' writing'))).toEqual(FOUR)
    await runCron(CRON_SCHEDULES.propagate)
    const { data } = await json(askAdmin('accounts/acme/archives'))
    expect(data).toMatchObject(Array.from({ length: 4 }, () => ({ state: 'archived', records: 1 })))
    expect(data[1]).toMatchObject({
      ...{ month: '2024-01', resource: 'transactions', damaged_object: null, wanted_at: null },
      objects: [{ sha256: expect.stringMatching(/^[\da-f]{64}$/), records: 1 }],
      totals: [
        {
          transaction_type: 'deposit',
          status: 'approved',
          count: 1,
          sums: { amount_currency: '100.25' },
        },
      ],
    })
    expect(data[1].first_delivery_id).toMatch(/^dlv_/)
  })

  test('that is killed at any call leaves nothing that the next delivery does not do', async () => {
    vi.spyOn(console, 'error').mockReturnValue()
    await firm('acme', ['2024-01', '2024-02'])
    const job: OldMonthsJob = { job: 'old-months', account: 'acme', at: Date.now(), round: 1 }
    for (let nth = 0; ; nth++) {
      const world = overriding(env as Env, { DB: killedAt(env.DB, nth), ACCOUNT_JOBS: listing([]) })
      const isRepeated = await deliverJob(job, world)
      if (!isRepeated) break
      expect(FOUR).toEqual(expect.arrayContaining(await monthsOf('acme')))
    }
    expect(await monthsOf('acme')).toEqual(FOUR)
  })
})

/** Returns the reasons of the months that stay in the database, by month and resource. */
async function reasonsOf(account: string): Promise<Record<string, string | null>> {
  const { data } = await json(askAdmin(`accounts/${account}/archives/kept`))
  return Object.fromEntries(
    data.map((one: { month: string; resource: string; reason: string | null }) => [
      `${one.month} ${one.resource}`,
      one.reason,
    ]),
  )
}

/** Returns why the transactions of a month of acme stay; null if they leave soon. */
const reasonOf = async (month: string) => (await reasonsOf('acme'))[`${month} transactions`]

/** Asks to archive a month. Returns why it stays; null if it leaves. */
async function refusalOf(account: string, month: string): Promise<string | null> {
  const response = await askAdmin(`accounts/${account}/archives`, 'POST', { month })
  if (response.status === 202) return null
  expect(response.status).toBe(409)
  return (await response.json<{ detail: string }>()).detail
}

const run = (sql: string, ...values: unknown[]) =>
  env.DB.prepare(sql)
    .bind(...values)
    .run()

/** Stores a statement of a period. */
const statement = (period: string, status: string, plan = 'ib') =>
  run(
    `insert into statements (account, period, affiliate_id, plan, id, status, hash, digest, payable, closing,
       statement, lines, parts, state, read_at, computed_at)
     values ('acme', ?1, 'aff-7', ?3, ?1 || ?3, ?2, ?4, ?4, '0', '0', '{}', '[]', 1, '{}', 0, '')`,
    ...[period, status, plan, '0'.repeat(64)],
  )

/** Returns the month so many months ago. */
function monthAgo(back: number): string {
  const date = new Date()
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - back, 1))
    .toISOString()
    .slice(0, 7)
}

describe('a month stays in the database', () => {
  test('while a statement of it, or of an earlier month, is a draft', async () => {
    await firm('acme', ['2024-02', '2024-03', '2024-04'])
    await storePlan('acme', 'ib', monthly([]))
    await statement('2024-03', 'draft')
    const open = 'The plan ib has statements of this month or an earlier one that are not approved.'
    expect(await reasonsOf('acme')).toEqual({
      ...{ '2024-02 trading-activity': null, '2024-02 transactions': null },
      ...{ '2024-03 trading-activity': open, '2024-03 transactions': open },
      ...{ '2024-04 trading-activity': open, '2024-04 transactions': open },
    })
    expect(await refusalOf('acme', '2024-03')).toBe(open)
    expect(await lookForOldMonths('acme')).toEqual([])
    expect(await monthsOf('acme')).toEqual([
      '2024-02 trading-activity writing',
      '2024-02 transactions writing',
    ])
    await run(`update statements set status = 'approved', approval = 'a', approved_at = 1`)
    expect(Object.values(await reasonsOf('acme'))).toEqual([null, null, null, null])
  })

  test('while a period between approved statements and drafts is open', async () => {
    await firm('acme', ['2024-03'])
    await storePlan('acme', 'ib', monthly([]))
    await statement('2024-01', 'approved')
    expect(await reasonOf('2024-03')).toBeNull()
    await statement('2024-05', 'draft')
    expect(await refusalOf('acme', '2024-03')).toMatch('not approved')
    await run(
      `insert into closed_periods (account, plan, period, closed_at) values ('acme', 'ib', '2024-03', 1)`,
    )
    expect(await reasonOf('2024-03')).toBeNull()
  })

  test('while a week that has days of it is a draft, also for one affiliate alone', async () => {
    await firm('acme', ['2024-03'])
    await storePlan('acme', 'weekly', { ...monthly([]), period: 'week' })
    await statement('2024-W14', 'draft', 'weekly')
    await run(
      `insert into closed_periods (account, plan, period, closed_at) values ('acme', 'weekly', '2024-W13', 1)`,
    )
    // It ends in April.
    expect(await reasonOf('2024-03')).toBeNull()
    await run(`delete from closed_periods`)
    await statement('2024-W13', 'draft', 'weekly')
    expect(await refusalOf('acme', '2024-03')).toMatch('not approved')
    await run(
      `insert into closed_periods (account, plan, period, closed_at) values ('acme', 'weekly', '2024-W13', 1)`,
    )
    await run(
      `insert into open_affiliates (account, plan, period, affiliate_id) values ('acme', 'weekly', '2024-W13', 'aff-7')`,
    )
    expect(await refusalOf('acme', '2024-03')).toMatch('not approved')
  })

  test('while a record of it waits for its customer', async () => {
    const acme = await firm('acme', ['2024-03'])
    const unknown = { ...deposit, transaction_id: 'held', customer_id: 'nobody' }
    await acme.post('transactions', [{ ...unknown, transaction_date: '2024-03-09T10:00:00.000Z' }])
    expect(await refusalOf('acme', '2024-03')).toBe('Records wait for their customers.')
  })

  test('for 30 days after it came back, unless somebody archives it', async () => {
    const acme = await firm('acme', ['2024-03'])
    const month = monthOf('acme', 'transactions', '2024-03')
    await archive(month)
    expect(await json(askAdmin('accounts/acme/archives/2024-03/restore', 'POST', {}))).toEqual({
      ...{ month: '2024-03', resources: ['transactions'] },
    })
    await runCron(CRON_SCHEDULES.propagate)
    expect(await json(askAdmin('accounts/acme/archives/2024-03/restore', 'POST', {}))).toEqual({
      ...{ month: '2024-03', resources: [] },
    })
    expect((await acme.get('transactions')).status).toBe(200)
    await ageTotals()
    expect(await reasonOf('2024-03')).toBe('Its records came back less than 30 days ago.')
    await run('update retired_archives set delete_at = delete_at - 30 * 86400000 + 60000')
    expect(await reasonOf('2024-03')).toMatch('less than 30 days ago')
    await run('update retired_archives set delete_at = delete_at - 120000')
    expect(await reasonOf('2024-03')).toBeNull()
    await run('update retired_archives set delete_at = delete_at + 120000')
    expect(await lookForOldMonths('acme')).toEqual([])
    expect(await monthsOf('acme')).toEqual(['2024-03 trading-activity writing'])
    expect(await refusalOf('acme', '2024-03')).toBeNull()
    expect(await lookForOldMonths('acme', { first_day: month.first_day })).toEqual([])
    expect(await monthsOf('acme')).toEqual([
      '2024-03 trading-activity writing',
      '2024-03 transactions writing',
    ])
  })

  test('while statements read its records, since their facts are not kept', async () => {
    await firm('acme', ['2024-03'])
    await storePlan('acme', 'ib', monthly([]))
    await assign('acme', 'ib')
    expect(await refusalOf('acme', '2024-03')).toMatch('Statements still read its records')
    const kept = (last: string) =>
      run(
        `insert or replace into kept_days (account, first_day, last_day, generation, form, summed_from, begun_at, ready)
         values ('acme', ?, ?, 'g', 'f', 0, 0, 1)`,
        ...[dayNumber('2024-01-03'), dayNumber(last)],
      )
    await kept('2024-03-06')
    expect(await refusalOf('acme', '2024-03')).toMatch('Statements still read its records')
    await kept('2024-03-07')
    expect(await reasonOf('2024-03')).toBeNull()
    await run(
      `insert into changed_days (account, first_day, generation, day) values ('acme', ?, 'g', ?)`,
      ...[dayNumber('2024-01-03'), dayNumber('2024-03-07')],
    )
    expect(await refusalOf('acme', '2024-03')).toMatch('Statements still read its records')
  })

  test('while a run, an erasure, a reset or a move of the account goes on', async () => {
    await firm('acme', ['2024-03'])
    for (const [begin, end, detail] of [
      [
        `insert into statement_runs (account, id, period, status, started_at) values ('acme', 'r', '2026-10', 'running', '')`,
        'delete from statement_runs',
        'A statement run goes on. Archive the month after that.',
      ],
      [
        `insert into resets (account, started_at) values ('acme', '')`,
        'delete from resets',
        'Records of the account are being deleted or erased.',
      ],
      [`insert into move_sources (account) values ('acme')`, 'delete from move_sources', null],
    ] as const) {
      await run(begin)
      if (detail !== null) expect(await refusalOf('acme', '2024-03')).toBe(detail)
      const [again] = await lookForOldMonths('acme')
      expect(again?.body).toMatchObject({ job: 'old-months', account: 'acme', round: 2 })
      expect(await monthsOf('acme')).toEqual([])
      await run(end)
    }
    await run(
      `insert into account_moves (account, id, source, target, status, actor, started_at, due_at)
       values ('acme', 'mov_1', 'DB', 'DB_2', 'copying', 'a', '', 1)`,
    )
    expect(await refusalOf('acme', '2024-03')).toBe(
      'The account is being moved to DB_2. Archive the month after that.',
    )
  })

  test('while its control totals are not kept: they are, and then it leaves', async () => {
    await firm('acme', ['2024-03'], false)
    const [again] = await lookForOldMonths('acme')
    expect(again).toMatchObject({ body: { round: 2 }, delaySeconds: 360 })
    expect(await monthsOf('acme')).toEqual([])
    await ageTotals()
    await lookForOldMonths('acme', { round: 2 })
    expect(await monthsOf('acme')).toHaveLength(1)
    await ageTotals()
    expect(await lookForOldMonths('acme', { round: 3 })).toEqual([])
    expect(await monthsOf('acme')).toEqual([
      '2024-03 trading-activity writing',
      '2024-03 transactions writing',
    ])
  })

  test('while the files for the warehouse lack a record of it', async () => {
    const acme = await firm('acme', ['2024-03'])
    await turnOn('acme')
    expect(await refusalOf('acme', '2024-03')).toMatch('The files for the warehouse')
    expect(await lookForOldMonths('acme')).toEqual([])
    expect(await monthsOf('acme')).toEqual([])
    await runExport('acme')
    const later = { ...deposit, transaction_id: 'later' }
    await acme.post('transactions', [{ ...later, transaction_date: '2024-03-09T10:00:00.000Z' }])
    await keepTotals('acme', 'forex', '2024-03-01', '2024-03-31')
    await lookForOldMonths('acme')
    expect(await monthsOf('acme')).toEqual(['2024-03 trading-activity writing'])
    await runExport('acme')
    await lookForOldMonths('acme')
    expect(await monthsOf('acme')).toHaveLength(2)
  })

  test('while it is younger than the setting, a plan or a fraud rule asks for', async () => {
    await firm('acme', ['2025-05'])
    await keepTotals('acme', 'forex', '2025-05-01', '2025-05-31')
    const kept = () => json(askAdmin('accounts/acme/archives/kept'))
    const after = (months: number | null) =>
      askAdmin('accounts/acme', 'PATCH', { archive_after: months })
    const month = (back: number) => monthAgo(back)
    expect(await kept()).toMatchObject({
      archive_after: 13,
      first_month: month(13),
      kept_for: null,
    })
    await after(24)
    expect(await kept()).toMatchObject({ archive_after: 24, first_month: month(24), data: [] })
    expect(await refusalOf('acme', '2025-05')).toBe(
      `Months from ${month(24)} on stay in the database: \`archive_after\` is 24 months.`,
    )
    await after(null)
    expect(await kept()).toEqual({
      ...{ archive_after: null, first_month: null, kept_for: null, data: [] },
    })
    expect(await refusalOf('acme', '2025-05')).toMatch('set `archive_after` first')
    await lookForOldMonths('acme')
    await after(13)
    const qualify = [{ sum: [{ transactions: ['deposit'] }], min: '1', within_days: 900 }]
    const once: Rule = { id: 'cpa', kind: 'once', trigger: { signup: true }, amount: '1', qualify }
    await storePlan('acme', 'cpa', monthly([{ ...once, grace_hours: 48 }]))
    expect(await kept()).toMatchObject({
      kept_for: { days: 902, plan: 'cpa', fraud_rule: null },
      data: [],
    })
    expect(await refusalOf('acme', '2025-05')).toMatch('the plan cpa looks back 902 days.')
    await lookForOldMonths('acme')
    expect(await monthsOf('acme')).toEqual([])
  })
})
