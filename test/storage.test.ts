import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { CRON_SCHEDULES } from '../src/admin/crons.ts'
import { measureUsage, readUsages } from '../src/db/records/storage.ts'
import { MAX_LOGGED_BYTES_PER_DAY } from '../src/db/records/storage-limits.ts'
import { MEASURED_ROWS } from '../src/db/records/storage-sql.ts'
import { brand, deposited, eve } from './brand.ts'
import { fetchWith } from './checked-fetch.ts'
import { runCron } from './crons.ts'
import { CURABLE, faulty } from './faulty.ts'
import {
  ada,
  askAdmin,
  deposit,
  json,
  ORIGIN,
  issuedPartner as partner,
  traded,
} from './partner.ts'
import { printedAs } from './secrecy.ts'
import { overriding } from './watched.ts'
import { emptyWorld } from './world.ts'

type Partner = Awaited<ReturnType<typeof partner>>

const HOUR = 3_600_000
const QUOTA = 1_000_000
const LENIENT = { Prefer: 'handling=lenient' }
const LOST = { message: CURABLE[0]!, after: true }

/** Returns the single value that a query selects. */
const count = async (sql: string) => {
  const [row] = await env.DB.prepare(`select ${sql}`).raw<[number]>()
  return row![0]
}

/** Sets the bytes that an account has logged in this hour. */
const setLogged = (account: string, bytes: number) =>
  env.DB.prepare(
    `insert into arrivals (account, hour, resource, deliveries, received, refused, last_at, yesterday,
       today, logged_bytes) values (?, ?, 'earlier', 0, 0, 0, 0, 0, 0, ?)`,
  )
    .bind(account, Math.floor(Date.now() / HOUR), bytes)
    .run()

/** Sets the bytes that an account stores. */
const setStored = (account: string, bytes: number) =>
  env.DB.prepare(
    `insert into storage (account, bytes, until_hour) values (?1, ?2, 0)
     on conflict do update set bytes = ?2`,
  )
    .bind(account, bytes)
    .run()

const setQuota = (account: string, storage_quota: number) =>
  askAdmin(`accounts/${account}`, 'PATCH', { storage_quota })

/** Has an account measured just now, so that a refused delivery does not measure it again. */
const setMeasured = (account: string) =>
  env.DB.prepare('update storage set measured_at = ?2, measured_bytes = bytes where account = ?1')
    .bind(account, Date.now())
    .run()

/** Creates a partner with a customer, whose stored bytes have reached the quota. */
const fullAccount = async () => {
  const acme = await partner()
  await acme.post('customers', ada)
  await setQuota(acme.account, QUOTA)
  await setStored(acme.account, QUOTA)
  return acme
}

const cron = (scheduledTime = Date.now(), world: Env = env) =>
  runCron(CRON_SCHEDULES.storage, scheduledTime, world)

const usageOf = async (account: string) => (await readUsages(env.DB, [account]))[0]!

/** Sends a request whose first answer of the database is lost. */
const postLosing = (acme: Partner, path: string, body: unknown, headers = {}) =>
  json(
    fetchWith(
      faulty([LOST]).env,
      new Request(new URL(`/api/v1/${acme.vertical}/${path}`, ORIGIN), {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${acme.access_token}`,
          'Content-Type': 'application/json',
          ...headers,
        },
        body: JSON.stringify(body),
      }),
    ),
  )

describe('the log of refused requests', () => {
  test('a logged error keeps 40 characters of an id; the answer has it whole', async () => {
    const acme = await partner()
    await acme.post('customers', ada)
    const long = 'x'.repeat(500)
    const sent = [
      { ...deposit, transaction_id: long, currency: 'EUX' },
      { ...deposit, transaction_id: `y${long.slice(1)}`, customer_id: `n${long.slice(1)}` },
    ]
    const { delivery_id, errors } = await json(acme.post('transactions', sent))
    const ids = (list: { key: { transaction_id: string } }[]) =>
      list.map(({ key }) => key.transaction_id)

    expect(ids(errors)).toEqual(sent.map(({ transaction_id }) => transaction_id))
    const logged = await json(acme.get(`deliveries/${delivery_id}`))
    expect(ids(logged.errors)).toEqual([`${long.slice(0, 40)}…`, `y${long.slice(0, 39)}…`])
    expect(
      await count('octet_length(errors || unknown_keys) from deliveries where rejected'),
    ).toBeLessThan(500)
  })

  test('the identity of a daily aggregate is readable in the log', async () => {
    const casino = await brand({ unknown_customer: 'reject' })
    const customerid = 'p'.repeat(100)
    const day = { eventname: 'Daily', customerid, createtime: '2026-10-02', Value: 1 }
    const { delivery_id } = await json(casino.post('activities', day))
    const { errors } = await json(casino.get(`deliveries/${delivery_id}`))

    expect(errors[0].key.customerid).toBe(`${'p'.repeat(40)}…`)
  })

  test('refused requests beyond the budget leave no row, and are still counted', async () => {
    const acme = await partner()
    await setLogged(acme.account, MAX_LOGGED_BYTES_PER_DAY)
    const sent = Array.from({ length: 100 }, () => ({ transaction_id: 'x'.repeat(500) }))
    for (const headers of [{}, LENIENT]) {
      const refused = await acme.post('transactions', sent, headers)
      const { errors_total, delivery_id, errors } = await json(refused)
      expect([refused.status, errors.length]).toEqual([422, 699])
      expect(errors_total).toBeGreaterThan(0)
      const found = await acme.get(`deliveries/${delivery_id}`)
      expect([found.status, (await json(found)).detail]).toEqual([
        404,
        expect.stringContaining('16 MiB of rejected requests and dry runs a day'),
      ])
    }
    expect(await count('count(*) from deliveries')).toBe(0)
    expect(
      await env.DB.prepare(
        "select deliveries, refused, logged_bytes from arrivals where resource = 'transactions'",
      ).first(),
    ).toEqual({ deliveries: 2, refused: 200, logged_bytes: 0 })
  })

  test('a request that stores something keeps its row, without errors', async () => {
    const acme = await partner()
    await acme.post('customers', ada)
    await setLogged(acme.account, MAX_LOGGED_BYTES_PER_DAY)
    const unknown = { ...deposit, transaction_id: 't-2', customer_id: 'nobody' }
    const sent = [deposit, unknown, { ...deposit, transaction_id: 't-3', currency: 'x' }]
    const answer = await acme.post('transactions', sent, LENIENT)
    const { delivery_id, errors_total, results } = await json(answer)

    expect([answer.status, errors_total]).toEqual([207, 2])
    expect(results.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
      'created',
      'rejected',
      'rejected',
    ])
    expect(await json(acme.get(`deliveries/${delivery_id}`))).toMatchObject({
      status: 207,
      errors: [],
      errors_total: 2,
      errors_not_kept: true,
      summary: { created: 1, rejected: 2 },
    })
    expect((await json(acme.get('transactions'))).meta.total).toBe(1)
  })

  test('a dry run beyond the budget has its answer and leaves no row', async () => {
    const acme = await partner()
    await acme.post('customers', ada)
    const run = async () => {
      const {
        delivery_id: _,
        delivery_url: _u,
        ...answer
      } = await json(
        acme.post('transactions?dry_run=true', [deposit, { ...deposit, transaction_id: 't-2' }]),
      )
      return answer
    }
    const before = await run()
    expect(before.summary).toMatchObject({ created: 2 })
    expect(await count('sum(dry_run) from deliveries')).toBe(1)
    const logged = () => count("logged_bytes from arrivals where resource = 'dry-run'")
    expect(await logged()).toBeGreaterThanOrEqual(200)
    await setLogged(acme.account, MAX_LOGGED_BYTES_PER_DAY)
    const counted = await logged()

    expect(await run()).toEqual(before)
    expect(await count('sum(dry_run) from deliveries')).toBe(1)
    expect(await logged()).toBe(counted)
    const { data } = await json(acme.get('feed'))
    expect(data[1]).toMatchObject({ resource: 'transactions', last_delivery_at: null })
  })

  test('the triggers and the code have the same budget', async () => {
    const { results } = await env.DB.prepare(
      "select sql from sqlite_schema where name in ('deliveries_arrived', 'deliveries_tried')",
    ).all<{ sql: string }>()
    const budgets = results.flatMap(({ sql }) => sql.match(/(?<=(?:>=|<) )\d{8}\b(?!0)/g) ?? [])
    expect(budgets.filter((bytes) => bytes !== '86400000').map(Number)).toEqual(
      Array(4).fill(MAX_LOGGED_BYTES_PER_DAY),
    )
  })

  test('the budget is per account and day', async () => {
    const acme = await partner()
    const other = await partner('forex', { account: 'other' })
    await setLogged(other.account, MAX_LOGGED_BYTES_PER_DAY)
    await env.DB.prepare('update arrivals set hour = hour - 24').run()
    await setLogged(acme.account, MAX_LOGGED_BYTES_PER_DAY)
    await acme.post('transactions', {})
    await other.post('transactions', {})

    expect(await count('group_concat(account) from deliveries')).toBe('other')
  })

  test('the answer is right after a retry whose first row was not kept', async () => {
    const acme = await partner()
    await acme.post('customers', ada)
    await setLogged(acme.account, MAX_LOGGED_BYTES_PER_DAY)
    const unknown = { ...deposit, customer_id: 'nobody' }

    expect(await postLosing(acme, 'transactions', [deposit, unknown])).toMatchObject({
      status: 422,
      errors_total: 2,
      errors: [{ code: 'duplicate_key' }, { code: 'unknown_customer' }],
    })
    expect(await postLosing(acme, 'transactions', [unknown])).toMatchObject({
      status: 422,
      errors: [{ code: 'unknown_customer' }],
    })
    expect(await postLosing(acme, 'transactions?dry_run=true', [deposit])).toMatchObject({
      summary: { created: 1 },
    })
    const mixed = [deposit, { ...unknown, transaction_id: 't-2' }]
    const { summary, results } = await postLosing(acme, 'transactions', mixed, LENIENT)
    expect(summary).toMatchObject({ created: 1, rejected: 1 })
    expect(results).toMatchObject([
      { outcome: 'created' },
      { outcome: 'rejected', errors: [{ code: 'unknown_customer' }] },
    ])
    expect(await count('count(*) from transactions')).toBe(1)
  })

  test('the counted bytes are at least those of the rows', async () => {
    const acme = await partner()
    await acme.post('customers', ada)
    for (let i = 0; i < 20; i++)
      await acme.post('transactions', [{}, { ...deposit, currency: 'x' }])
    await acme.post('transactions', [{}, deposit], LENIENT)

    expect(await count('sum(logged_bytes) from arrivals')).toBeGreaterThanOrEqual(
      await count(
        `(select sum(octet_length(errors) + 200) from deliveries where errors is not null)`,
      ),
    )
    expect(await count("sum(logged_bytes) from arrivals where resource = 'customers'")).toBe(0)
  })
})

test('the log keeps no days of requests that store nothing', async () => {
  const acme = await partner()
  await acme.post('customers', ada)
  await acme.post('transactions?dry_run=true', deposit)
  await acme.post('transactions', [deposit, {}])
  await acme.post('transactions', deposit)
  const { results } = await env.DB.prepare(
    `select days from deliveries where resource = 'transactions' order by id`,
  ).all<{ days: string }>()
  expect(results.map(({ days }) => JSON.parse(days).length)).toEqual([0, 0, 1])
})

test('the usage of each of several accounts is its own', async () => {
  const [first, second] = [await partner(), await partner('forex', { account: 'other' })]
  await setStored(first.account, 1000)
  await setStored(second.account, 2_000_000)
  await setMeasured(second.account)
  expect(await readUsages(env.DB, [first.account, second.account])).toMatchObject([
    { account: first.account, measured_at: null },
    { account: second.account, measured_bytes: 2_000_000 },
  ])
})

describe('the storage quota', () => {
  const expectRefused = async (response: Response) => {
    expect(response.status).toBe(403)
    const problem = await json(response)
    expect(problem).toMatchObject({
      code: 'quota_exceeded',
      title: 'The storage quota is exceeded',
    })
    expect(problem.detail).toMatch(
      /stores an estimated \d+ bytes; its storage quota is 1000000 bytes/,
    )
    expect(response.headers.get('Retry-After')).toBeNull()
  }
  const changed = { ...ada, country_code: 'MT' }

  test.each<[string, string, unknown, object]>([
    ['a new record', 'transactions', deposit, {}],
    ['an update', 'customers', changed, {}],
    ['a lenient request', 'transactions', [deposit, {}], LENIENT],
    ['a record that moves', 'customers', { ...ada, signup_date: '2026-09-01T00:00:00Z' }, {}],
  ])('%s is refused at the quota, and nothing is stored', async (_, path, body, headers) => {
    const acme = await fullAccount()
    const before = await env.DB.batch(
      ['customers', 'transactions', 'deliveries', 'totals', 'arrivals'].map((table) =>
        env.DB.prepare(`select * from ${table}`),
      ),
    )
    await expectRefused(await acme.post(path, body, headers))
    const after = await env.DB.batch(
      ['customers', 'transactions', 'deliveries', 'totals', 'arrivals'].map((table) =>
        env.DB.prepare(`select * from ${table}`),
      ),
    )
    expect(after.map(({ results }) => results)).toEqual(before.map(({ results }) => results))
  })

  test('a refused delivery has the account measured, which then stores again', async () => {
    const acme = await partner('forex', { account: 'sends-again' })
    await acme.post('customers', ada)
    await setQuota(acme.account, QUOTA)
    await setStored(acme.account, QUOTA)
    const request = (body: unknown) =>
      new Request(`${ORIGIN}/api/v1/forex/customers`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${acme.access_token}`,
          'Content-Type': 'application/json',
        },
        body: JSON.stringify(body),
      })
    const context = createExecutionContext()
    await expectRefused(await fetchWith(env, request(changed), context))
    await waitOnExecutionContext(context)
    expect((await usageOf(acme.account)).bytes).toBeLessThan(10_000)
    expect((await acme.post('customers', changed)).status).toBe(200)

    await setStored(acme.account, QUOTA)
    await expectRefused(await acme.post('customers', ada))
    // At most once a minute.
    expect((await usageOf(acme.account)).bytes).toBeGreaterThanOrEqual(QUOTA)
  })

  test('a measurement that fails after a refusal is logged', async () => {
    const acme = await partner('forex', { account: 'not-measured' })
    await setQuota(acme.account, QUOTA)
    await setStored(acme.account, QUOTA)
    const context = createExecutionContext()
    // The delivery uses a session, the measurement does not.
    const DB = overriding(env.DB, {
      prepare: () => {
        throw new TypeError('out of order')
      },
    })
    const request = new Request(`${ORIGIN}/api/v1/forex/customers`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${acme.access_token}`,
        'Content-Type': 'application/json',
      },
      body: JSON.stringify(ada),
    })
    await expectRefused(await fetchWith({ ...env, DB } as Env, request, context))
    await waitOnExecutionContext(context)
    expect(printedAs('error').map((line) => JSON.parse(line))).toEqual([
      { fault: 'TypeError', not_measured: 'account' },
    ])
  })

  test('an account with held records and a brand are refused, too', async () => {
    const casino = await brand()
    await casino.post('customers', eve)
    await setQuota(casino.account, QUOTA)
    await setStored(casino.account, QUOTA)
    await setMeasured(casino.account)
    for (const headers of [{}, { 'Idempotency-Key': 'k' }]) {
      const sent = [deposited, { ...deposited, customerid: 'nobody', eventid: 'e-9' }, deposited]
      await expectRefused(await casino.post('activities', sent, headers))
    }
    await expectRefused(await casino.post('customers', { ...eve, country: 'FR' }))
    expect(await count('count(*) from events')).toBe(0)
    expect(await count('count(*) from idempotency_keys')).toBe(0)
  })

  test('a dry run is refused as the request itself, and leaves no row', async () => {
    const acme = await fullAccount()
    await setMeasured(acme.account)
    for (const body of [deposit, [deposit, { ...deposit, transaction_id: 't-2' }]]) {
      await expectRefused(await acme.post('transactions?dry_run=true', body))
    }
    expect(await count('sum(dry_run) from deliveries')).toBe(0)
    expect(await json(acme.post('customers?dry_run=true', [ada]))).toMatchObject({
      dry_run: true,
      results: [{ outcome: 'unchanged' }],
    })
    expect(await count('sum(dry_run) from deliveries')).toBe(1)
  })

  test('a request that changes nothing has its ordinary answer at the quota', async () => {
    const acme = await partner('forex', { unknown_customer: 'hold' })
    const casino = await brand()
    const newer = { ...ada, last_modified_date: '2026-10-02T00:00:00Z' }
    const older = { ...newer, last_modified_date: '2026-10-01T00:00:00Z', country_code: 'MT' }
    const held = { ...deposit, customer_id: 'nobody' }
    const player = { ...eve, wallet: 'x'.repeat(16_000) }
    const others = [1, 2, 3].map((n) => ({ customerId: eve.customerId, [`x${n}`]: player.wallet }))
    const day = { ...deposited, eventid: 'e-2' }
    const requests = [
      () => acme.post('customers', [older]),
      () => acme.post('customers', newer),
      () => acme.post('transactions', [held]),
      () => casino.post('customers', [player]),
      () => casino.post('activities', [deposited, day, deposited], { 'Idempotency-Key': 'k' }),
    ]
    await acme.post('customers', newer)
    await acme.post('transactions', held)
    for (const sent of [player, ...others]) await casino.post('customers', sent)
    await casino.post('activities', [deposited, day])
    const answers = async () => {
      const all = []
      for (const send of requests) {
        const response = await send()
        const { delivery_id: _, delivery_url: _u, ...answer } = await json(response)
        all.push([response.status, answer])
      }
      return all
    }
    const before = await answers()
    expect(before.map(([status]) => status)).toEqual([200, 200, 200, 200, 200])
    for (const { account } of [acme, casino]) {
      await setQuota(account, QUOTA)
      await setStored(account, QUOTA)
      await setMeasured(account)
    }
    const rows = async () =>
      (
        await env.DB.batch(
          ['deliveries', 'arrivals', 'idempotency_keys', 'totals', 'customers'].map((table) =>
            env.DB.prepare(`select * from ${table}`),
          ),
        )
      ).map(({ results }) => results)
    const stored = await rows()

    expect(await answers()).toEqual(before)
    expect(await rows()).toEqual(stored)
    await expectRefused(await acme.post('customers', [newer, { ...ada, customer_id: 'c-2' }]))
    expect(await rows()).toEqual(stored)
  })

  test('a lost answer to a request that changes nothing is repeated at the quota', async () => {
    const acme = await fullAccount()
    for (const path of ['customers', 'customers?dry_run=true']) {
      expect(await postLosing(acme, path, [ada])).toMatchObject({
        results: [{ outcome: 'unchanged' }],
      })
    }
    expect(await postLosing(acme, 'customers?dry_run=true', [changed])).toMatchObject({
      code: 'quota_exceeded',
    })
  })

  test('reading and the errors of rejected requests are unaffected', async () => {
    const acme = await fullAccount()

    expect((await json(acme.get('customers'))).meta.total).toBe(1)
    const unknown = { ...deposit, customer_id: 'nobody' }
    for (const invalid of [{}, unknown, [deposit, unknown]]) {
      expect((await acme.post('transactions', invalid)).status).toBe(422)
    }
  })

  test('another account in the same database is unaffected', async () => {
    await fullAccount()
    const other = await partner('forex', { account: 'other' })

    expect((await other.post('customers', ada)).status).toBe(201)
  })

  test('the quota counts in the database that has the records', async () => {
    const acme = await partner('forex', { binding: 'DB_2' })
    await setQuota(acme.account, 1000)
    const sent = Array.from({ length: 10 }, (_, i) => ({ ...ada, customer_id: `c-${i}` }))

    expect((await acme.post('customers', sent)).status).toBe(200)
    expect((await acme.post('customers', { ...ada, customer_id: 'c-99' })).status).toBe(403)
    const shown = await json(askAdmin(`accounts/${acme.account}`))
    expect(shown).toMatchObject({ storage_quota: 1000 })
    expect(shown.storage_bytes).toBeGreaterThan(1000)
  })

  test('the quota is reached when the stored bytes equal it', async () => {
    const acme = await fullAccount()
    const { bytes } = await usageOf(acme.account)
    await setQuota(acme.account, bytes)
    expect((await acme.post('transactions', deposit)).status).toBe(403)
    await setQuota(acme.account, bytes + 1)
    expect((await acme.post('transactions', deposit)).status).toBe(201)
  })

  test('a larger quota makes writing work again', async () => {
    const acme = await fullAccount()
    await expectRefused(await acme.post('transactions', deposit))
    expect(await json(setQuota(acme.account, 2 * QUOTA))).toMatchObject({
      storage_quota: 2 * QUOTA,
      takes_effect: 'now',
    })

    expect((await acme.post('transactions', deposit)).status).toBe(201)
    expect((await json(askAdmin('audit-log'))).data[0]).toMatchObject({
      action: 'account.change',
      details: { storage_quota: 2 * QUOTA },
    })
  })

  test('a retry of a request that was stored has its answer, although the quota is reached', async () => {
    const acme = await partner()
    await setQuota(acme.account, 1)
    const { summary, results } = await postLosing(acme, 'customers', [ada])

    expect(summary).toMatchObject({ created: 1 })
    expect(results).toMatchObject([{ outcome: 'created' }])
    expect(await postLosing(acme, 'customers', [changed])).toMatchObject({
      code: 'quota_exceeded',
    })
    expect(await count('count(*) from deliveries')).toBe(1)
  })

  test('a record that moves is stored while the quota is not reached', async () => {
    const acme = await fullAccount()
    await setQuota(acme.account, 2 * QUOTA)
    const moved = { ...ada, signup_date: '2026-09-01T00:00:00Z' }

    expect(await json(acme.post('customers', moved))).toMatchObject({ summary: { updated: 1 } })
  })
})

test('three accounts with the default quota in one database are no news', async () => {
  for (const account of ['a', 'b', 'c']) {
    const created = await json(
      askAdmin('accounts', 'POST', { account, name: 'A', vertical: 'forex' }),
    )
    expect(created).not.toHaveProperty('overcommitted')
  }
})

describe('what an account stores', () => {
  /** The records of which the size is compared with that of the database. */
  const COUNTED = 600
  const shapes: [string, string, (i: number) => object, records?: number][] = [
    [
      'short records',
      'transactions',
      (i) => ({ ...deposit, transaction_id: `t-${(i * 7919) % COUNTED}` }),
    ],
    [
      'UUIDs',
      'transactions',
      (i) => ({ ...deposit, transaction_id: crypto.randomUUID(), note: `n-${i}` }),
    ],
    [
      'long ids',
      'transactions',
      (i) => ({ ...deposit, transaction_id: `${(i * 7919) % COUNTED}${'x'.repeat(400)}` }),
    ],
    [
      'records of more than a quarter of a page',
      'transactions',
      (i) => ({
        ...deposit,
        transaction_id: `t-${i}`,
        note: '€'.repeat(320),
        status: 'x'.repeat(100),
      }),
      // A body of 1000 of these is large: its records are kept in another form.
      2000,
    ],
    [
      'activity',
      'trading-activity',
      (i) => ({ ...traded, instrument: `i-${(i * 7919) % COUNTED}` }),
    ],
  ]

  test.each(shapes)(
    '%s are counted with at least their bytes',
    async (_, path, make, records = COUNTED) => {
      // Free pages of the database would hide its growth.
      await emptyWorld()
      const acme = await partner()
      await acme.post('customers', ada)
      const size = async () => (await env.DB.prepare('select 1').run()).meta.size_after
      const [before, counted] = [await size(), (await usageOf(acme.account)).bytes]
      for (const from of [0, records / 2]) {
        const sent = Array.from({ length: records / 2 }, (_, i) => make(from + i))
        expect((await acme.post(path, sent)).status).toBe(200)
      }
      const grown = (await size()) - before
      const added = (await usageOf(acme.account)).bytes - counted
      expect(added / grown).toBeGreaterThanOrEqual(1)
      expect(added / grown).toBeLessThan(4)

      await measureUsage(env.DB, { account: acme.account, measuring: null }, Date.now() + HOUR, 100)
      const { bytes, measured_at } = await usageOf(acme.account)
      expect(measured_at).not.toBeNull()
      expect(bytes / grown).toBeGreaterThan(0.8)
      expect(bytes / grown).toBeLessThan(1.6)
    },
  )

  test('a request is counted with the records that it writes', async () => {
    const acme = await partner('forex', { unknown_customer: 'hold' })
    const written = () => count('coalesce(sum(written_bytes), 0) from arrivals')
    /** Returns the bytes that a request adds to the count beside its row in the log. */
    const added = async (path: string, records: unknown[], row = 200) => {
      const before = await written()
      expect((await acme.post(path, records)).status).toBe(200)
      return (await written()) - before - row
    }
    const newer = { ...ada, last_modified_date: '2026-10-02T00:00:00Z' }
    const sent = Array.from({ length: 100 }, (_, i) => ({ ...newer, customer_id: `c-${100 + i}` }))
    const [first, ...others] = sent
    const all = await added('customers', sent)
    const updated = sent.map((customer) => ({ ...customer, country_code: 'MT' }))

    expect(await added('customers', sent)).toBe(0)
    expect(await added('customers', updated)).toBeGreaterThan(0.9 * all)
    const older = { ...first, last_modified_date: '2026-10-01T00:00:00Z' }
    expect(await added('customers', [older], 200 + '[0]'.length)).toBe(0)
    // One update and one new record count as two of the largest records.
    const two = await added('customers', [first, ...updated.slice(1), { ...ada, customer_id: 'n' }])
    expect([two > (2 / 101) * all, two < (6 / 101) * all]).toEqual([true, true])
    const long = { ...others[0], trading_account_type: '€'.repeat(500) }
    expect(await added('customers', [...updated.slice(2), long])).toBeGreaterThan(1500)
    const held = { ...deposit, customer_id: 'nobody' }
    const listed = 200 + '[0]'.length
    expect(await added('transactions', [held], listed)).toBeGreaterThan(100)
    expect(await added('transactions', [held], listed)).toBe(0)
    const moved = { ...first, signup_date: '2026-08-01T00:00:00Z' }
    expect(await added('customers', [moved], listed)).toBeGreaterThan(100)
  })

  test('an hourly run adds the counts of past hours once', async () => {
    const acme = await partner()
    await acme.post('customers', ada)
    const before = await usageOf(acme.account)
    expect(before.bytes).toBeGreaterThan(0)
    await cron()
    expect(await count('count(*) from storage')).toBe(0)
    for (const hours of [1, 1, 2]) {
      await cron(Date.now() + hours * HOUR)
      expect((await usageOf(acme.account)).bytes).toBe(before.bytes)
      expect(await count('bytes from storage')).toBe(before.bytes)
    }
  })

  test('a measurement corrects the counts of updates, and writing works again', async () => {
    const acme = await fullAccount()
    await setStored(acme.account, QUOTA)
    expect((await acme.post('transactions', deposit)).status).toBe(403)
    await cron()

    const { bytes, measured_at } = await usageOf(acme.account)
    expect(bytes).toBeLessThan(10_000)
    expect(measured_at).not.toBeNull()
    expect((await acme.post('transactions', deposit)).status).toBe(201)
  })

  test('a measurement replaces the counts of its own hour', async () => {
    const acme = await partner()
    await setQuota(acme.account, 62_000)
    const sent = Array.from({ length: 100 }, (_, i) => ({ ...ada, customer_id: `c-${i}` }))
    for (const country_code of ['MT', 'DE', 'FR']) {
      await acme.post(
        'customers',
        sent.map((customer) => ({ ...customer, country_code })),
      )
    }
    expect((await acme.post('customers', sent)).status).toBe(403)
    await cron()
    const measured = (await usageOf(acme.account)).bytes
    expect(measured).toBeLessThan(31_000)
    expect(await acme.post('customers', sent)).toMatchObject({ status: 200 })
    const counted = await count('max(written_bytes) from deliveries')
    for (const hours of [0, 1, 2]) {
      await cron(Date.now() + hours * HOUR)
      const { bytes } = await usageOf(acme.account)
      expect([bytes, bytes < measured + counted + 1000]).toEqual([bytes, true])
    }
  })

  test('records that are written during a measurement are counted', async () => {
    const acme = await fullAccount()
    const now = Date.now()
    await measureUsage(env.DB, { account: acme.account, measuring: null }, now, 2)
    const { measuring } = await usageOf(acme.account)
    expect(JSON.parse(measuring!)).toMatchObject({ table: 'activity', after: null })
    await setQuota(acme.account, 1e9)
    await acme.post('transactions', deposit)
    await cron(now + HOUR)
    const { bytes, measuring: rest } = await usageOf(acme.account)

    expect(rest).toBeNull()
    expect(bytes).toBeGreaterThan(
      await count("written_bytes from deliveries where resource = 'transactions'"),
    )
    expect(bytes).toBeLessThan(20_000)
  })

  test('a measurement reads a bounded number of rows a statement, and goes on where it ended', async () => {
    const acme = await fullAccount()
    const rows = MEASURED_ROWS + 500
    await env.DB.prepare(
      `insert into transactions (account, transaction_id, customer_id, transaction_type,
         amount_currency, currency, transaction_date, status, day, held, delivery, idx, revision)
       select ?1, 't-' || value, 'c-' || (value % 1000), 'deposit', 1, 'EUR', 1790699200000,
         'ok', 20728 + value % 7, 0, 'd', 0, 1 from json_each(?2)`,
    )
      .bind(acme.account, JSON.stringify(Array.from({ length: rows }, (_, i) => i)))
      .run()
    const measureAll = async (maxSteps: number) => {
      let steps = 0
      let measuring: string | null = null
      do {
        steps += await measureUsage(env.DB, { account: acme.account, measuring }, 0, maxSteps)
        measuring = (await usageOf(acme.account)).measuring
      } while (measuring !== null)
      return { steps, bytes: await count('bytes from storage') }
    }
    const oneByOne = await measureAll(1)

    expect(oneByOne.steps).toBe(15)
    expect(await measureAll(100)).toEqual(oneByOne)
    expect(oneByOne.bytes / rows).toBeGreaterThan(100)
    expect(oneByOne.bytes / rows).toBeLessThan(300)
    // To search so many rows for secrets takes longer than the test.
    await emptyWorld()
  })

  test('a measurement is repeated after a day, or when the counts have grown', async () => {
    const acme = await fullAccount()
    const now = Date.now()
    const measuredAt = async () => (await usageOf(acme.account)).measured_at
    /** Sets the stored bytes and the last measurement. */
    const setMeasured = async (bytes: number, measured: number) => {
      await setStored(acme.account, bytes)
      await env.DB.prepare(
        'update storage set measured_at = ?, measured_bytes = ?, until_hour = 9e6',
      )
        .bind(now, measured)
        .run()
    }
    for (const [bytes, measured, hours, isMeasured] of [
      [QUOTA / 2 - 1, 0, 25, false],
      [QUOTA / 2, QUOTA / 2, 23, false],
      [QUOTA / 2, QUOTA / 2, 24, true],
      [QUOTA * 0.6, QUOTA * 0.55 + 1, 1, false],
      [QUOTA * 0.6, QUOTA * 0.55, 1, true],
    ] as const) {
      await setMeasured(bytes, measured)
      await cron(now + hours * HOUR)
      expect(await measuredAt()).toBe(isMeasured ? now + hours * HOUR : now)
    }
  })

  test('the log names accounts at 70 % of their quota, once they are measured', async () => {
    const acme = await fullAccount()
    const lines = () => printedAs('warn').map((line) => JSON.parse(line))
    await cron()
    expect(lines()).toEqual([])
    const { bytes } = await usageOf(acme.account)
    for (const [quota, isLogged] of [
      [Math.floor(bytes / 0.7) + 1, false],
      [Math.floor(bytes / 0.7), true],
    ] as const) {
      await setQuota(acme.account, quota)
      await cron()
      expect(lines()).toEqual(
        isLogged
          ? [{ storage_alarm: 'account', account: acme.account, binding: 'DB', bytes, quota }]
          : [],
      )
    }
  })

  test('the log names databases at 70 % of their limit', async () => {
    await partner('forex', { binding: 'DB_2' })
    const ofSize = (size_after: number) =>
      overriding(env.DB_2, {
        prepare: (text: string) => {
          const statement = env.DB_2.prepare(text)
          const run = async () => {
            const result = await statement.run()
            return { ...result, meta: { ...result.meta, size_after } }
          }
          return text === 'select 1' ? overriding(statement, { run }) : statement
        },
      })
    for (const size of [7e9 - 1, 7e9]) {
      await cron(Date.now(), { ...env, DB_2: ofSize(size) } as Env)
    }
    expect(printedAs('warn').map((line) => JSON.parse(line))).toEqual([
      { storage_alarm: 'database', binding: 'DB_2', bytes: 7e9, limit: 1e10 },
    ])
  })

  test('a database that fails does not stop the run', async () => {
    const acme = await partner()
    const other = await partner('forex', { account: 'other', binding: 'DB_2' })
    await acme.post('customers', ada)
    await other.post('customers', ada)
    const batch = () => Promise.reject(new Error('out of order'))
    const broken = { ...env, DB_2: overriding(env.DB_2, { batch }) }
    await cron(Date.now() + HOUR, broken)

    expect(await count('count(*) from storage')).toBe(1)
    expect(printedAs('error').map((line) => JSON.parse(line))).toEqual([
      { fault: 'Error', job: 'storage', binding: 'DB_2' },
    ])
  })

  test('a reset empties the storage of an account', async () => {
    const acme = await fullAccount()
    expect((await askAdmin(`accounts/${acme.account}/reset`, 'POST')).status).toBe(204)

    expect((await usageOf(acme.account)).bytes).toBe(0)
    expect((await acme.post('customers', ada)).status).toBe(201)
  })
})
