import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { BOOK_LIMITS } from '../../src/books/limits.ts'
import { brand } from '../brand.ts'
import { fetchWith } from '../checked-fetch.ts'
import { monthly, storePlan } from '../commission/stored.ts'
import { overridingSessions } from '../ingest/watched.ts'
import { restoring } from '../limits.ts'
import { askAdmin, json, ORIGIN, partner, register } from '../partner.ts'
import {
  askAda,
  askBen,
  digestOf,
  digits,
  earning,
  idOf,
  rowsOf,
  type StatementRow,
  storeRows,
  storeRun,
} from './book-rows.ts'

restoring(BOOK_LIMITS)

const PATH = 'accounts/acme-forex'
const PERIOD = '2024-10'

/** A manual entry as a statement lists it. */
const LISTED = {
  ...{ id: 'man_1', amount: '5.00', reason: 'bonus', reference: 'r' },
  at: '2024-10-05T09:00:00.000Z',
}

beforeEach(async () => {
  await register('forex', { affiliates: ['a', 'b', 'c'] })
  await storePlan('acme-forex', 'ib', monthly([]))
})

const approve = (row: StatementRow, body: object = {}) =>
  askAdmin(`${PATH}/statements/${row.id ?? idOf(row)}/approve`, 'POST', {
    hash: digestOf(row),
    ...body,
  })

const approvePeriod = (body: object = {}, period = PERIOD) =>
  json(askAdmin(`${PATH}/periods/${period}/approve`, 'POST', body))

/** Sends a request that must be refused, and returns the code and the detail. */
async function refusal(response: Response | Promise<Response>) {
  const answer = await response
  expect(answer.status).toBe(409)
  const { code, detail } = await json(answer)
  expect(await rowsOf('ledger')).toEqual([])
  return `${code}: ${detail}`
}

const a = earning('a', PERIOD, '25.00')
const b = earning('b', PERIOD, '5.50')

const actionsOf = async () =>
  (await json(askAdmin('audit-log'))).data.map(({ actor, action, details }: never) => ({
    ...{ actor, action, details: details as object },
  }))

describe('one statement', () => {
  test('is approved by its hash, and never twice', async () => {
    await storeRows([a, b])
    const before = Date.now()
    const first = await approve(a)
    expect(first.status).toBe(200)
    const statement = await json(first)
    expect(statement).toMatchObject({
      id: idOf(a),
      status: 'approved',
      payable: '25.00',
      paid: null,
    })
    expect(Date.parse(statement.approved_at)).toBeGreaterThanOrEqual(before)
    expect(await json(approve(a))).toEqual(statement)
    expect(await rowsOf('ledger')).toMatchObject([
      { affiliate_id: 'a', kind: 'earned', amount: '25.00', currency: 'EUR', statement: idOf(a) },
    ])
    expect(await actionsOf()).toEqual([
      {
        actor: 'root-key',
        action: 'statement.approve',
        details: { statement: idOf(a), affiliate_id: 'a', hash: digestOf(a), approved: 1 },
      },
    ])
  })

  test('of another hash is 409 hash_changed, also once it is approved', async () => {
    await storeRows([a])
    const hash = digits('other')
    expect(await refusal(approve(a, { hash }))).toBe(
      'hash_changed: The statement is not as it was reviewed, and nothing was approved. Review it as it is now.',
    )
    await approve(a)
    expect(await json(approve(a, { hash }))).toMatchObject({ code: 'hash_changed' })
  })

  test('of a period that has not ended is 409 period_not_over', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2024-10-31T23:59:59.999Z') })
    await storeRows([a])
    expect(await refusal(approve(a))).toBe(
      'period_not_over: The period 2024-10 can be approved from 2024-11-01T00:00:00.000Z on.',
    )
    vi.setSystemTime(Date.parse('2024-11-01T00:00:00.000Z'))
    expect((await approve(a)).status).toBe(200)
  })

  test('of a brand is over when the last day ends in its zone', async () => {
    await brand({ account: 'casino', time_zone: 'America/New_York' })
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2024-11-01T03:59:59.999Z') })
    await storeRows([{ ...a, account: 'casino' }])
    const ask = () =>
      askAdmin(`accounts/casino/statements/${idOf(a)}/approve`, 'POST', { hash: digestOf(a) })
    expect(await refusal(ask())).toContain('from 2024-11-01T04:00:00.000Z on')
    vi.setSystemTime(Date.parse('2024-11-01T04:00:00.000Z'))
    expect((await ask()).status).toBe(200)
  })

  test('waits for earlier statements, and also approves carry-only rows', async () => {
    const first = { affiliate: 'a', period: '2024-08', head: {} }
    const withoutStatement = { ...first, period: '2024-09', head: null, previous: digestOf(first) }
    const last = { ...a, previous: digestOf(withoutStatement) }
    await storeRows([first, withoutStatement, last])
    expect(await refusal(approve(last))).toBe(
      `earlier_not_approved: An earlier statement, ${idOf(first)}, is not approved yet. Approve it first.`,
    )
    expect((await approve(first)).status).toBe(200)
    expect((await approve(last)).status).toBe(200)
    const rows = await rowsOf('statements')
    expect(rows.map(({ period, status }) => [period, status])).toEqual([
      ['2024-08', 'approved'],
      ['2024-09', 'approved'],
      [PERIOD, 'approved'],
    ])
    expect(rows[1]?.approval).toBe(rows[2]?.approval)
  })

  test('waits for the statement of another plan that transfers to it', async () => {
    const transferred = { to: 'ib', period: PERIOD, amount: '10.00' }
    const old = { affiliate: 'a', plan: 'old', period: '2024-09', head: { transferred } }
    const received = [{ from: 'old', period: '2024-09', amount: '10.00' }]
    const mine = { ...a, head: { ...a.head, received } }
    await storeRows([old, mine])
    expect(await refusal(approve(mine))).toContain(
      `earlier_not_approved: An earlier statement, ${idOf(old)}, is not approved yet.`,
    )
    await approve(old)
    expect((await approve(mine)).status).toBe(200)
    const other = {
      ...mine,
      affiliate: 'b',
      head: { ...mine.head, received: [{ ...received[0], amount: '9.00' }] },
    }
    await storeRows([{ ...old, affiliate: 'b', status: 'approved', approved_at: 1 }, other])
    expect(await json(approve(other))).toMatchObject({ code: 'stale' })
  })

  const STALE = /^stale: This draft is outdated/

  test.each<[string, () => Promise<unknown>]>([
    ['it builds on another digest', () => storeRows([{ ...a, previous: digits('else') }])],
    [
      'a row before it was approved with another digest',
      () =>
        storeRows([
          { affiliate: 'a', period: '2024-09', head: {}, status: 'approved', approved_at: 1 },
          { ...a, previous: '' },
        ]),
    ],
    [
      'its period is closed for its affiliate',
      async () => {
        await storeRows([a])
        await env.DB.prepare(
          `insert into closed_periods values ('acme-forex', 'ib', '2024-11', 1)`,
        ).run()
      },
    ],
    [
      'another statement has its manual entry',
      async () => {
        await storeRows([{ ...a, head: { ...a.head, manual: [LISTED] } }])
        await env.DB.prepare(
          `insert into manual_entries values ('acme-forex', 'man_1', 'a', 'ib', 'EUR', '5.00', 'x',
             'r', 'ada', 'now', 'stm_other', 'r')`,
        ).run()
      },
    ],
  ])('is 409 stale if %s', async (_, prepare) => {
    await prepare()
    expect(await refusal(approve(a))).toMatch(STALE)
  })

  test('with records that wait is 409 holds, unless they are left out', async () => {
    const hold = {
      rule: 'r',
      version: 1,
      reason: 'fx_pending',
      currency: 'USD',
      count: 3,
      sum: '1',
    }
    const held = { ...a, head: { ...a.head, holds: [hold, { ...hold, currency: 'HUF' }] } }
    await storeRows([held])
    expect(await refusal(approve(held))).toMatch(/^holds: 6 records wait for a rate or a currency/)
    expect((await approve(held, { leave_out_holds: true })).status).toBe(200)
    const [{ details }] = await actionsOf()
    expect(details).toMatchObject({ leave_out_holds: true })
  })

  test('that does not exist, or only carries something, is 404', async () => {
    const withoutStatement = { ...a, head: null }
    await storeRows([withoutStatement])
    expect((await approve(withoutStatement)).status).toBe(404)
    expect((await approve(b)).status).toBe(404)
  })
})

describe('two persons', () => {
  beforeEach(async () => {
    expect(await json(askAdmin(PATH, 'PATCH', { approvals: 2 }))).toMatchObject({ approvals: 2 })
  })

  const path = `${PATH}/statements/${idOf(a)}/approve`
  const body = { hash: digestOf(a) }
  const approve = (_: StatementRow, sent: object = {}) => askBen(path, 'POST', { ...body, ...sent })
  const approvePeriod = () => json(askBen(`${PATH}/periods/${PERIOD}/approve`, 'POST', {}))

  test('are not the root key, which nobody has alone', async () => {
    await storeRows([a])
    await storeRun(PERIOD)
    for (const to of [path, `${PATH}/periods/${PERIOD}/approve`]) {
      const sent = to === path ? body : {}
      expect(await refusal(askAdmin(to, 'POST', sent))).toMatch(/^same_person: The root key/)
    }
  })

  test('must approve, and the second is another one', async () => {
    await storeRows([a])
    const first = await approve(a)
    expect(first.status).toBe(202)
    const waiting = await json(first)
    expect(waiting).toMatchObject({
      status: 'draft',
      approvals: [{ actor: 'ben@team.example' }],
      approvals_required: 2,
      message: expect.stringContaining('Another person must approve it, too.'),
    })
    const again = await approve(a)
    expect([again.status, (await json(again)).message]).toEqual([
      202,
      'Another person must approve it, too.',
    ])
    const second = await askAda(path, 'POST', body)
    expect([second.status, (await json(second)).status]).toEqual([200, 'approved'])
    const actions = await actionsOf()
    const stored = { statement: idOf(a), affiliate_id: 'a', ...body }
    expect(
      actions.map(({ actor, details }: { actor: string; details: never }) => [actor, details]),
    ).toEqual([
      ['ada@team.example', { ...stored, approved: 1 }],
      ['ben@team.example', { ...stored, approved: 0 }],
      ['root-key', {}],
    ])
  })

  test('begin again once the draft has changed', async () => {
    await storeRows([a])
    await approve(a)
    const changed = { ...a, digest: digits('changed'), hash: digits('changed') }
    await env.DB.prepare('delete from statements').run()
    await storeRows([changed])
    const second = await askAda(path, 'POST', { hash: changed.hash })
    expect(second.status).toBe(202)
    expect((await json(second)).approvals).toMatchObject([{ actor: 'ada@team.example' }])
    const again = await json(askAda(path, 'POST', { hash: changed.hash }))
    expect(again.message).toMatch(/^Another person must/)
    expect((await approve(a, { hash: changed.hash })).status).toBe(200)
  })

  test('approve a period, and only then it is closed', async () => {
    await storeRows([a, b])
    await storeRun(PERIOD)
    expect(await approvePeriod()).toMatchObject({ closed: false, open_total: 0, waiting: 2 })
    expect(await rowsOf('closed_periods')).toEqual([])
    expect(await approvePeriod()).toMatchObject({ closed: false, approved: 0, waiting: 2 })
    const second = await askAda(`${PATH}/periods/${PERIOD}/approve`, 'POST', {})
    expect(second.status).toBe(200)
    expect(await json(second)).toMatchObject({ closed: true, approved: 2, waiting: 0 })
    expect(await rowsOf('open_affiliates')).toEqual([])
  })
})

describe('a period', () => {
  test('needs a run that began after its end', async () => {
    await storeRows([a])
    const ask = () => askAdmin(`${PATH}/periods/${PERIOD}/approve`, 'POST', {})
    expect(await refusal(ask())).toMatch(/^not_run: No run of 2024-10 that began after its end/)
    await storeRun('2024-09')
    await storeRun(PERIOD, 'acme-forex', '2024-10-31T23:00:00.000Z')
    expect(await refusal(ask())).toMatch(/^not_run/)
    await storeRun('2024-11')
    expect((await ask()).status).toBe(200)
  })

  test('that has not ended is refused, and so is an unknown period or plan', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2024-10-31T00:00:00.000Z') })
    const ask = (period: string, body = {}) =>
      askAdmin(`${PATH}/periods/${period}/approve`, 'POST', body)
    expect(await refusal(ask(PERIOD))).toMatch(/^period_not_over/)
    expect((await ask('2024-13')).status).toBe(404)
    expect(await json(ask(PERIOD, { plan: 'other' }))).toMatchObject({
      errors: [{ pointer: '/plan', code: 'unknown_reference' }],
    })
    expect((await ask('2024-W41', { plan: 'ib' })).status).toBe(422)
  })

  test.each([500, 2])('approves by %i, names what cannot be, and closes', async (batch) => {
    BOOK_LIMITS.batch = batch
    const hold = {
      rule: 'r',
      version: 1,
      reason: 'fx_pending',
      currency: 'USD',
      count: 1,
      sum: '1',
    }
    const held = { ...b, head: { ...b.head, holds: [hold] } }
    const early = { affiliate: 'c', period: '2024-09', head: {} }
    const late = { affiliate: 'c', period: PERIOD, head: {}, previous: digestOf(early) }
    const withoutStatement = { affiliate: 'd', period: PERIOD, head: null }
    const lonely = { affiliate: 'e', period: '2024-08', head: {} }
    const carries = { affiliate: 'f', period: '2024-09', head: {} }
    const carried = { ...withoutStatement, affiliate: 'f', previous: digestOf(carries) }
    const broken = { ...withoutStatement, affiliate: 'g', previous: digits('else') }
    const quiet = { affiliate: 'h', period: '2024-07', head: null }
    await storeRows([
      a,
      held,
      early,
      late,
      withoutStatement,
      lonely,
      carries,
      carried,
      broken,
      quiet,
    ])
    await storeRun(PERIOD)
    const result = await approvePeriod()
    expect(result).toEqual({
      period: PERIOD,
      plans: ['ib'],
      closed: true,
      open_total: 6,
      approved: 1,
      waiting: 0,
      refused_total: 3,
      refused: [
        {
          id: idOf(held),
          affiliate_id: 'b',
          plan: 'ib',
          period: PERIOD,
          code: 'holds',
          detail: expect.any(String),
          currencies: ['USD'],
        },
        {
          id: idOf(late),
          affiliate_id: 'c',
          plan: 'ib',
          period: PERIOD,
          code: 'earlier_not_approved',
          detail: expect.any(String),
          currencies: [],
        },
        {
          id: idOf(broken),
          affiliate_id: 'g',
          plan: 'ib',
          period: PERIOD,
          code: 'stale',
          detail: expect.any(String),
          currencies: [],
        },
      ],
    })
    const open = await rowsOf('open_affiliates')
    expect(open.map(({ affiliate_id }) => affiliate_id)).toEqual(['b', 'c', 'e', 'f', 'g', 'h'])
    expect(await rowsOf('closed_periods')).toMatchObject([{ plan: 'ib', period: PERIOD }])
    expect(
      (await rowsOf('statements')).find(({ affiliate_id }) => affiliate_id === 'd'),
    ).toMatchObject({ status: 'approved' })

    await approve(early)
    await env.DB.prepare(`delete from statements where affiliate_id in ('f', 'g', 'h')`).run()
    const second = await approvePeriod({ leave_out_holds: true })
    expect(second).toMatchObject({ approved: 2, open_total: 1, refused_total: 0 })
    expect((await rowsOf('open_affiliates')).map(({ affiliate_id }) => affiliate_id)).toEqual(['e'])
    const again = await approvePeriod()
    expect(again).toMatchObject({ approved: 0, refused: [], closed: true })
    const actions = (await actionsOf()).map(
      ({ action, details }: { action: string; details: { approved?: number } }) => [
        action,
        details.approved,
      ],
    )
    // The entries of one batch have the same time and no order.
    expect(actions.toSorted()).toEqual([
      ['period.approve', 1],
      ['period.approve', 2],
      ['period.close', undefined],
      ['statement.approve', 1],
    ])
  })

  test('names a statement that changes while it is being approved', async () => {
    await storeRows([a])
    await storeRun(PERIOD)
    const DB = overridingSessions(env.DB, (real) => ({
      prepare: (text: string) => real.prepare(text),
      batch: async (list: D1PreparedStatement[]) => {
        await env.DB.prepare(
          `update statements set digest = substr(digest, 2) || substr(digest, 1, 1)`,
        ).run()
        return real.batch(list)
      },
    }))
    const url = new URL(`/admin/v1/${PATH}/periods/${PERIOD}/approve`, ORIGIN)
    const headers = { Authorization: `Bearer ${env.ADMIN_KEY}`, 'Content-Type': 'application/json' }
    const request = new Request(url, { method: 'POST', headers, body: '{}' })
    expect(await json(fetchWith({ ...env, DB } as Env, request))).toMatchObject({
      ...{ approved: 0, refused_total: 1 },
      refused: [{ id: idOf(a), code: 'stale' }],
    })
  })
})

test('partners have none of these routes', async () => {
  const acme = await partner('prop-trading')
  for (const path of ['payouts', 'payable', 'manual-entries', 'ledger?affiliate_id=a']) {
    expect((await acme.get(path)).status).toBe(404)
  }
  expect((await acme.post(`statements/${idOf(a)}/approve`, {})).status).toBe(404)
  expect((await acme.post(`periods/${PERIOD}/approve`, {})).status).toBe(404)
})
