import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, test, vi } from 'vitest'
import type { AttemptLimits, IssuedToken } from '../../src/platform/auth/client-limits.ts'
import { d1Fault } from '../../src/platform/db/retry.ts'
import { fetchWith } from '../checked-fetch.ts'
import { overriding } from '../ingest/watched.ts'
import { ada, deposit, json, ORIGIN, partner, register, traded } from '../partner.ts'
import { printedAs } from '../secrecy.ts'
import { CURABLE, type Fault, faulty } from './faulty.ts'

// The platform fails in the middle of a request. Everything is real except for the one call that
// throws, before or after its effect.

type Partner = Awaited<ReturnType<typeof partner>>

const ask = async (world: { env: Env }, acme: Partner, path: string, init: RequestInit = {}) =>
  fetchWith(
    world.env,
    new Request(new URL(`/api/v1/${acme.vertical}/${path}`, ORIGIN), {
      ...init,
      headers: {
        Authorization: `Bearer ${acme.access_token}`,
        'Content-Type': 'application/json',
        ...init.headers,
      },
    }),
  )

const post = (world: { env: Env }, acme: Partner, path: string, body: unknown, headers = {}) =>
  ask(world, acme, path, { method: 'POST', body: JSON.stringify(body), headers })

const stored = async () => {
  const tables = ['customers', 'transactions', 'activity', 'totals']
  const all = await env.DB.batch(tables.map((table) => env.DB.prepare(`select * from ${table}`)))
  // What differs between two requests: their id, and when they were received.
  const own = { delivery: null, first_seen_at: null }
  return all.map(({ results }) => results.map((row) => ({ ...(row as object), ...own })))
}

describe('retries by the service', () => {
  // D1 is called twice: a fault hits either call.
  const payments = [
    { ...deposit, status: 'reversed' },
    { ...deposit, transaction_id: 't-2' },
    { ...deposit, transaction_id: 't-3', transaction_date: '2026-10-05T00:00:00Z' },
    { ...deposit, transaction_id: 't-4', customer_id: 'nobody' },
  ]
  const bodies = [
    {
      path: 'customers',
      spared: 0,
      body: [
        { ...ada, email: 'a@b.org' },
        { ...ada, customer_id: 'c-3' },
      ],
    },
    { path: 'transactions', spared: 0, body: payments },
    { path: 'transactions', spared: 1, body: payments },
    { path: 'trading-activity', spared: 0, body: [traded, { ...traded, instrument: 'X' }] },
  ]

  test.each(
    bodies.flatMap((each) =>
      [true, false].map((after) => ({ ...each, after, when: after ? 'after' : 'before' })),
    ),
  )(
    '$path: a fault $when the effect, after $spared calls, leaves the response unchanged',
    async ({ path, spared, body, after }) => {
      const lenient = { Prefer: 'handling=lenient' }
      const run = async (faults: (Fault | null)[], account: string) => {
        const acme = await partner('forex', { account })
        await acme.post('customers', ada)
        await acme.post('transactions', [
          deposit,
          { ...deposit, transaction_id: 't-3', status: 'pending' },
        ])
        await acme.post('trading-activity', traded)
        const world = faulty(faults)
        const response = await post(world, acme, path, body, lenient)
        const { delivery_id, delivery_url: _url, ...answer } = await json(response)
        const {
          delivery_id: _,
          received_at: __,
          ...logged
        } = await json(acme.get(`deliveries/${delivery_id}`))
        const rows = (await stored()).map((table) =>
          table
            .filter((row) => (row as unknown as { account: string }).account === account)
            .map((row) => ({ ...row, account: null })),
        )
        return { status: response.status, answer, logged, rows }
      }
      const calm = await run([], 'calm')
      const message = CURABLE[0]!
      const faulted = await run(
        [...Array(spared).fill(null), { message, after }, { message, after }],
        'shaken',
      )

      expect(faulted).toEqual(calm)
    },
  )

  const first = { ...deposit, status: 'first', transaction_date: '2026-10-05T00:00:00.000Z' }
  const second = { ...deposit, status: 'second', transaction_date: '2026-10-09T00:00:00.000Z' }

  // The first call classifies the record as moved and writes nothing; the second moves it.
  test.each([
    { faultOf: 'the classification', spared: [], last: first },
    { faultOf: 'the move', spared: [null], last: second },
  ])('a retry of $faultOf never overwrites a later delivery', async ({ spared, last }) => {
    const acme = await partner('forex', { unknown_customer: 'hold' })
    await acme.post('customers', ada)
    await acme.post('transactions', deposit)
    const meanwhile = () => acme.post('transactions', second)
    const world = faulty([...spared, { message: CURABLE[0]!, after: true, meanwhile }])
    const answer = await json(post(world, acme, 'transactions', [first]))

    expect(answer.summary).toMatchObject({ received: 1, updated: 1, unchanged: 0 })
    expect((await json(acme.get('transactions'))).data).toEqual([last])
    const { data } = await json(acme.get('totals?from=2026-10-02&to=2026-10-31'))
    const { status, transaction_date } = last
    expect(data).toMatchObject([{ day: transaction_date.slice(0, 10), status, count: 1 }])
  })

  test('a retried dry run or refusal is logged once, as it was answered', async () => {
    const acme = await partner()
    const fault = { message: CURABLE[0]!, after: true }
    await acme.post('customers', ada)
    const changed = [
      { ...ada, email: 'a@b.org' },
      { ...ada, customer_id: 'c-2' },
    ]
    const dry = await post(faulty([fault]), acme, 'customers?dry_run=true', changed)
    await post(faulty([fault]), acme, 'transactions', [{ ...deposit, customer_id: 'nobody' }])

    const { warnings: _, ...summary } = (await json(dry)).summary
    expect(summary).toMatchObject({ received: 2, created: 1, updated: 1, unchanged: 0 })
    const { data } = await json(acme.get('deliveries'))
    expect(data).toMatchObject([{ status: 422 }, { status: 200, summary }, { status: 201 }])
  })
})

test('a token request gets 503 temporarily_unavailable if its retries fail', async () => {
  const { client_id, client_secret } = await register('forex')
  const world = faulty(Array(3).fill({ message: CURABLE[0], after: false }))
  const response = await fetchWith(
    world.env,
    new Request(`${ORIGIN}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret }),
    }),
  )
  expect(response.status).toBe(503)
  expect(response.headers.has('Retry-After')).toBe(true)
  expect(await json(response)).toMatchObject({ error: 'temporarily_unavailable' })
})

describe('a database that lacks a migration', () => {
  const missing = [
    ['drop table customers', 'no such table: customers'],
    ['alter table customers rename column email to mail', 'no such column: t.email'],
    ['alter table deliveries rename column attempt to digest', 'no such column: '],
  ]

  test.each(missing)(
    'after %s requests get 503 and the log names the cause',
    async (change, cause) => {
      const acme = await partner()
      const log = vi.spyOn(console, 'error')
      await env.DB.exec(change)
      const response = await post({ env }, acme, 'customers', [{ ...ada, email: 'ada@person.org' }])

      expect(response.status).toBe(503)
      expect(response.headers.has('Retry-After')).toBe(true)
      expect(log.mock.calls.flat().join()).toContain(cause)
      expect(log.mock.calls.flat().join()).not.toContain('ada@person')
      expect((await acme.get('held')).status).toBe(200)
    },
  )
})

test('requests that a full database refuses get 503, and the log says that it is full', async () => {
  const acme = await partner()
  const fullDatabase = { message: 'D1_ERROR: Exceeded maximum DB size.', after: false }
  const response = await post(faulty([fullDatabase]), acme, 'customers', [ada])

  expect(response.status).toBe(503)
  expect(response.headers.get('Retry-After')).toBe('10')
  expect(printedAs('error')).toContain('{"fault":"database_full"}')
})

test('a database of an older layout is refused, and nothing is read or stored', async () => {
  const acme = await partner()
  await acme.post('customers', [ada])
  await env.DB.exec('drop index transactions_key')
  for (const path of ['transactions', 'transactions?dry_run=true']) {
    expect((await post({ env }, acme, path, [deposit])).status).toBe(503)
  }
  expect((await acme.get('transactions')).status).toBe(503)
  expect((await json(acme.get('deliveries'))).data).toHaveLength(1)
})

describe('an account in another database', () => {
  test('a request gets 503 if the binding of its database is missing', async () => {
    const acme = await partner('forex', { binding: 'DB_2' })
    const response = await post(
      { env: { ...env, DB_2: undefined } as never },
      acme,
      'customers',
      ada,
    )
    expect(response.status).toBe(503)
  })
})

test('a token is listed once although the response to its listing was lost', async () => {
  const { client_id, client_secret } = await register('forex')
  const clientObject = () => env.CLIENT_GATE.getByName(`client:${client_id}`)
  let calls = 0
  const CLIENT_GATE = overriding(env.CLIENT_GATE, {
    getByName: (name: string) => ({
      attempt: (...sent: [AttemptLimits, string, boolean]) =>
        env.CLIENT_GATE.getByName(name).attempt(...sent),
      mint: async (token: IssuedToken) => {
        const minted = await clientObject().mint(token)
        calls += 1
        if (calls === 1) throw Object.assign(new Error('gone'), { retryable: true })
        return minted
      },
    }),
  })
  const response = await fetchWith(
    { ...env, CLIENT_GATE } as Env,
    new Request(`${ORIGIN}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret }),
    }),
  )
  expect([response.status, calls]).toEqual([200, 2])
  const listed = await runInDurableObject(clientObject(), (_, { storage }) =>
    storage.kv.get('tokens'),
  )
  expect(listed).toHaveLength(1)
})

test('a refused request logs no fault', async () => {
  const acme = await partner()
  expect((await acme.post('customers', [{}])).status).toBe(422)
  expect((await acme.get('customers/nobody')).status).toBe(404)

  expect(printedAs('error')).toEqual([])
})

describe('an internal error', () => {
  test('the caller gets only a request id, the log gets the cause', async () => {
    const acme = await partner()
    await env.DB.exec(
      `create trigger bug before insert on customers begin select raise(abort, 'look at ada@person.org'); end`,
    )
    const response = await post({ env }, acme, 'customers', [{ ...ada, email: 'ada@person.org' }])
    const logged = printedAs('error')

    expect(response.status).toBe(500)
    expect(await json(response)).toEqual({
      type: `${ORIGIN}/problems/internal_error`,
      title: 'Internal error',
      status: 500,
      code: 'internal_error',
      detail: 'Internal error.',
      request_id: response.headers.get('X-Request-Id'),
    })
    expect(logged).toHaveLength(1)
    expect(logged[0]).toContain(response.headers.get('X-Request-Id'))
    expect(logged[0]).not.toContain('ada@person')
    const { at, ...line } = JSON.parse(logged[0]!)
    expect(line).toEqual({ request_id: response.headers.get('X-Request-Id'), fault: 'Error' })
    expect(at).toHaveLength(5)
    for (const frame of at) expect(frame).toMatch(/^ +at .+:\d+:\d+/)
  })
})

test('the log says of a fault of D1 what it is, without what quotes a row', () => {
  const constraint = new Error(
    'D1_ERROR: UNIQUE constraint failed: customers.account: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_UNIQUE)',
  )
  const faults: [unknown, string | null][] = [
    [new Error('D1_ERROR: Exceeded maximum DB size.'), 'Exceeded maximum DB size'],
    [
      new Error('Failed', { cause: new Error('Network connection lost.') }),
      'Network connection lost',
    ],
    [new Error('D1_ERROR: no such table: accounts: SQLITE_ERROR'), 'no such table: accounts'],
    [constraint, 'SQLITE_CONSTRAINT_UNIQUE'],
    [new Error('ada@person.example'), null],
    ['ada@person.example', null],
  ]
  expect(faults.map(([fault]) => d1Fault(fault))).toEqual(faults.map(([, known]) => known))
})
