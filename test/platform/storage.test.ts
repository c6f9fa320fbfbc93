import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { MAX_LOGGED_BYTES_PER_DAY, readUsage } from '../../src/ingest/db/storage.ts'
import { CRON_SCHEDULES } from '../../src/jobs/crons.ts'
import { brand, deposited, eve } from '../brand.ts'
import { ada, askAdmin, deposit, json, issuedPartner as partner } from '../partner.ts'
import { printedAs } from '../secrecy.ts'
import { emptyWorld } from '../world.ts'
import { runCron } from './crons.ts'

const HOUR = 3_600_000
const QUOTA = 1_000_000
const LENIENT = { Prefer: 'handling=lenient' }
/** Returns the single value that a query selects. */
const count = async (sql: string) => {
  const [row] = await env.DB.prepare(`select ${sql}`).raw<[number]>()
  return row![0]
}

/** Sets the bytes that an account has logged in this hour. */
const setLogged = (account: string, bytes: number) =>
  env.DB.prepare(
    `insert into arrivals (account, hour, resource, received, last_at, logged_bytes)
     values (?, ?, 'earlier', 0, 0, ?)`,
  )
    .bind(account, Math.floor(Date.now() / HOUR), bytes)
    .run()

/** Sets the bytes that an account stores. */
const setStored = (account: string, bytes: number) =>
  env.DB.prepare(
    `insert into totals (account, resource, total, bytes) values (?1, 'customers', 0, ?2)
     on conflict do update set bytes = ?2`,
  )
    .bind(account, bytes)
    .run()

const setQuota = (account: string, storage_quota: number) =>
  askAdmin(`accounts/${account}`, 'PATCH', { storage_quota })

/** Creates a partner with a customer, whose stored bytes have reached the quota. */
const fullAccount = async () => {
  const acme = await partner()
  await acme.post('customers', ada)
  await setQuota(acme.account, QUOTA)
  await setStored(acme.account, QUOTA)
  return acme
}

const usageOf = async (account: string) => readUsage(env.DB, account)

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
        "select rejected, logged_bytes from arrivals where resource = 'transactions'",
      ).first(),
    ).toEqual({ rejected: 200, logged_bytes: 0 })
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

  test('an account with held records and a brand are refused, too', async () => {
    const casino = await brand()
    await casino.post('customers', eve)
    await setQuota(casino.account, QUOTA)
    await setStored(casino.account, QUOTA)
    for (const headers of [{}, { 'Idempotency-Key': 'k' }]) {
      const sent = [deposited, { ...deposited, customerid: 'nobody', eventid: 'e-9' }, deposited]
      await expectRefused(await casino.post('activities', sent, headers))
    }
    await expectRefused(await casino.post('customers', { ...eve, country: 'FR' }))
    expect(await count('count(*) from events')).toBe(0)
    expect(await count('count(*) from idempotency_keys')).toBe(0)
  })

  test('what is wrong with a lenient request is logged at the quota, too', async () => {
    const acme = await fullAccount()
    const wrong = { ...ada, customer_id: 'c-9', lang_id: 'wrong' }
    const lenient = { Prefer: 'handling=lenient' }
    const { delivery_id } = await json(acme.post('customers', [ada, wrong], lenient))
    expect(await json(acme.get(`deliveries/${delivery_id}`))).toMatchObject({ errors_total: 1 })
  })

  test('a dry run is refused as the request itself, and leaves no row', async () => {
    const acme = await fullAccount()
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

  test('reading and the errors of rejected requests are unaffected', async () => {
    const acme = await fullAccount()

    expect((await json(acme.get('customers'))).meta.total).toBe(1)
    const unknown = { ...deposit, customer_id: 'nobody' }
    for (const invalid of [{}, unknown, [deposit, unknown]]) {
      expect((await acme.post('transactions', invalid)).status).toBe(422)
    }
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

  test('of requests at once, one at most is stored beyond the quota', async () => {
    const acme = await partner()
    await acme.post('customers', ada)
    await setQuota(acme.account, QUOTA)
    await setStored(acme.account, QUOTA - 1)
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        acme.post('transactions', { ...deposit, transaction_id: `t-${i}` }),
      ),
    )
    const statuses = all.map(({ status }) => status).sort()
    expect(statuses).toEqual([201, ...Array(19).fill(403)])
    expect(await count('count(*) from transactions')).toBe(1)
  })

  test('the quota is reached when the stored bytes equal it', async () => {
    const acme = await fullAccount()
    const bytes = await usageOf(acme.account)
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
      changes: [{ field: 'storage_quota', before: QUOTA, after: 2 * QUOTA }],
    })
  })

  test('a record that moves is stored while the quota is not reached', async () => {
    const acme = await fullAccount()
    await setQuota(acme.account, 2 * QUOTA)
    const moved = { ...ada, signup_date: '2026-09-01T00:00:00Z' }

    expect(await json(acme.post('customers', moved))).toMatchObject({ summary: { updated: 1 } })
  })
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
  ]

  test.each(shapes)(
    '%s are counted with at least their bytes',
    async (_, path, make, records = COUNTED) => {
      // Free pages of the database would hide its growth.
      await emptyWorld()
      const acme = await partner()
      await acme.post('customers', ada)
      const size = async () => (await env.DB.prepare('select 1').run()).meta.size_after
      const [before, counted] = [await size(), await usageOf(acme.account)]
      for (const from of [0, records / 2]) {
        const sent = Array.from({ length: records / 2 }, (_, i) => make(from + i))
        expect((await acme.post(path, sent)).status).toBe(200)
      }
      const grown = (await size()) - before
      const added = (await usageOf(acme.account)) - counted
      expect(added / grown).toBeGreaterThanOrEqual(1)
      expect(added / grown).toBeLessThan(2.5)
    },
  )

  test('a record that is replaced takes as much as before', async () => {
    const acme = await partner()
    await acme.post('customers', ada)
    const before = await usageOf(acme.account)
    expect(await json(acme.post('customers', { ...ada, country_code: 'MT' }))).toMatchObject({
      summary: { updated: 1 },
    })
    expect(await usageOf(acme.account)).toBe(before)
  })

  test('an account that has almost all of its quota is logged each morning', async () => {
    const { account } = await fullAccount()
    await runCron(CRON_SCHEDULES.report)
    const line = { storage_alarm: 'account', account, binding: 'DB', bytes: QUOTA, quota: QUOTA }
    expect(printedAs('warn')).toContain(JSON.stringify(line))
  })
})
