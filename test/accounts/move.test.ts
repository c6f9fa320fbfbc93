import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test } from 'vitest'
import { ACCOUNT_TABLES } from '../../src/accounts/db/account-tables.ts'
import { compareCounts, copyStep } from '../../src/accounts/move/copy.ts'
import { closeDoor, openDoor, shutDoor, takeCopy } from '../../src/accounts/move/doors.ts'
import { dropStep } from '../../src/accounts/move/drop.ts'
import { advanceMove, MOVE_LIMITS } from '../../src/accounts/move/move-steps.ts'
import { COPY_LIMITS, type CopyPlace } from '../../src/accounts/move/place.ts'
import { commonTables, describeTables } from '../../src/accounts/move/tables.ts'
import { withoutTriggers } from '../../src/accounts/move/write.ts'
import worker from '../../src/index.ts'
import { CRON_SCHEDULES } from '../../src/jobs/crons.ts'
import { limitQueries } from '../../src/platform/db/query-limit.ts'
import { insertMove } from '../../src/platform/directory/account-moves.ts'
import { storedBrand } from '../brand.ts'
import { randomSource } from '../commission/worlds.ts'
import { anyTables, bytesOf, fillTables } from '../ingest/any-rows.ts'
import { overriding } from '../overriding.ts'
import { ada, ask, askAdmin, askToken, issuedPartner, json, partner } from '../partner.ts'
import { runCron } from '../platform/crons.ts'
import { asks, ROUTES, requestOf } from '../sweep/routes.ts'
import { prepare } from '../sweep/worlds.ts'

const { DB, DB_2 } = env
type Binding = 'DB' | 'DB_2'
const { below } = randomSource(1)
const random = () => below(2 ** 30) / 2 ** 30
const limits = { ...COPY_LIMITS }
const moveLimits = { ...MOVE_LIMITS }

afterEach(() => {
  Object.assign(COPY_LIMITS, limits)
  Object.assign(MOVE_LIMITS, moveLimits)
})

const customersIn = async (binding: Binding) =>
  (await env[binding].prepare('select customer_id from customers').all()).results

const latestMove = async (account: string) =>
  (await json(askAdmin(`accounts/${account}/moves`))).data[0]

/** Stores a move of an account: tests make its steps. */
async function storeMove(account: string, id = 'mov_1') {
  const { binding: source } = await json(askAdmin(`accounts/${account}`))
  const target = source === 'DB' ? 'DB_2' : 'DB'
  const started_at = new Date().toISOString()
  await insertMove(env.DB, { id, account, source, target, actor: 'root-key', started_at }).run()
  return account
}

/** Makes steps until the move has switched the account, or has ended; returns the move. */
async function end(account: string) {
  while (await advanceMove(env as Env, account));
  return latestMove(account)
}

/** Makes the steps of a move until it has made some queries. Returns whether it ended before. */
async function stepsWithin(account: string, queries: number): Promise<boolean> {
  const limited = limitQueries(env as Env, queries, () => {})
  try {
    while (await advanceMove(limited, account));
    return true
  } catch (error) {
    expect(String(error)).toContain('TooManyQueries')
    return false
  }
}

/** Returns the tables of a database with rows of an account. */
async function filled(binding: Binding, account: string): Promise<string[]> {
  const bytes = await bytesOf(env[binding], account, ['audit_log'])
  return Object.keys(bytes).filter((name) => (bytes[name]?.length ?? 0) > 0)
}

const schemaOf = async (binding: Binding) =>
  (await env[binding].prepare('select name, sql from sqlite_schema order by 1').all()).results

const outcome = async (response: Promise<Response>) => {
  const { status, headers } = await response
  return [status, headers.get('Retry-After')]
}

/** The queries between two that a move is killed after. */
const BETWEEN = env.FUZZ_RUNS > 0 ? 7 : 149

const customer = (n: number) => ({ ...ada, customer_id: `c-${n}` })

describe('§19.2 a move', () => {
  test('brings an account to another database, where its tokens find it', async () => {
    const acme = await issuedPartner('forex', { account: 'mover' })
    await acme.post('customers', [ada])
    const schemas = [await schemaOf('DB'), await schemaOf('DB_2')]
    const before = await bytesOf(DB, 'mover', ['audit_log'])
    const started = await askAdmin('accounts/mover/moves', 'POST', { to: 'DB_2' })
    expect([started.status, await started.json()]).toMatchObject([
      202,
      { account: 'mover', from: 'DB', to: 'DB_2', status: 'copying', started_by: 'root-key' },
    ])
    await runCron('* * * * *')
    expect(await latestMove('mover')).toMatchObject({
      ...{ status: 'switched', reason: null, ended_at: null },
    })
    expect(await json(askAdmin('accounts/mover'))).toMatchObject({ binding: 'DB_2' })
    for (const binding of ['DB', 'DB_2'] as const) {
      expect(await bytesOf(env[binding], 'mover', ['audit_log'])).toEqual(before)
    }
    expect((await acme.post('customers', [customer(2)])).status).toBe(200)
    expect([(await customersIn('DB')).length, (await customersIn('DB_2')).length]).toEqual([1, 2])

    MOVE_LIMITS.keptMs = 0
    await runCron('* * * * *')
    expect(await latestMove('mover')).toMatchObject({ status: 'done' })
    expect(await filled('DB', 'mover')).toEqual([])
    expect([await schemaOf('DB'), await schemaOf('DB_2')]).toEqual(schemas)
    expect((await json(acme.get('customers'))).meta.total).toBe(2)
    const { data } = await json(askAdmin('audit-log?account=mover&action=account'))
    expect(data.map((entry: { action: string }) => entry.action)).toEqual([
      ...['account.move', 'account.move.start'],
    ])

    // And back, where its door was closed.
    await end(await storeMove('mover', 'mov_9'))
    expect((await acme.post('customers', [customer(3)])).status).toBe(200)
    expect(await customersIn('DB')).toHaveLength(3)
  })

  test('refuses writers whose settings name the old database, and loses nothing of them', async () => {
    COPY_LIMITS.pages = 1
    const acme = await issuedPartner('forex', { account: 'stale' })
    await acme.post('customers', [ada])
    const account = await storeMove('stale')
    for (let status = ''; status !== 'switched'; { status } = await latestMove(account)) {
      await advanceMove(env as Env, account)
      expect(await outcome(acme.post('customers', [customer(2)]))).toEqual([503, '10'])
      expect((await acme.get('customers')).status).toBe(200)
    }
    expect(await customersIn('DB_2')).toHaveLength(1)
    await end(account)
    expect((await acme.post('customers', [customer(2)])).status).toBe(200)
    expect(await customersIn('DB_2')).toHaveLength(2)
  })

  test('is refused while work of the account goes on, and fails if it began meanwhile', async () => {
    const acme = await issuedPartner('forex', { account: 'busy' })
    await DB.prepare(
      `insert into resets (account, started_at) values ('busy', '2026-11-27T10:00:00.000Z')`,
    ).run()
    expect((await askAdmin('accounts/busy/moves', 'POST', { to: 'DB_2' })).status).toBe(409)
    const { status, reason } = await end(await storeMove('busy'))
    expect([status, reason]).toEqual(['failed', expect.stringContaining('a reset')])
    await DB.prepare('delete from resets').run()
    expect((await acme.post('customers', [ada])).status).toBe(200)
    expect(await end(await storeMove('busy', 'mov_2'))).toMatchObject({ status: 'switched' })
  })

  test('fails if the copy differs, and leaves the account where it was', async () => {
    COPY_LIMITS.pages = 1
    const acme = await issuedPartner('forex', { account: 'differs' })
    await acme.post('customers', [ada])
    const account = await storeMove('differs')
    while ((await customersIn('DB_2')).length === 0) await advanceMove(env as Env, account)
    await DB_2.prepare('delete from customers').run()
    const { reason, status } = await end(account)
    expect([status, reason]).toEqual(['failed', expect.stringContaining('customers')])
    expect(await filled('DB_2', 'differs')).toEqual([])
    expect((await acme.post('customers', [customer(2)])).status).toBe(200)
    expect(await customersIn('DB')).toHaveLength(2)
  })

  test('that is killed or cancelled after any number of queries leaves the account whole and writable', async () => {
    MOVE_LIMITS.keptMs = 0
    Object.assign(COPY_LIMITS, { rows: 1, pages: 2, deleted: 1 })
    let hasEnded = false
    let cancels = false
    // The day chooses which.
    for (let queries = 1 + (env.DAY % BETWEEN); !hasEnded; queries += BETWEEN) {
      cancels = !cancels
      const account = `killed-${queries}`
      const acme = await issuedPartner('forex', { account })
      await acme.post('customers', [ada, customer(2)])
      const id = `mov_${queries}`
      await storeMove(account, id)
      hasEnded = await stepsWithin(account, queries)
      const cancelled =
        cancels && (await askAdmin(`accounts/${account}/moves/${id}/cancel`, 'POST')).ok
      await runCron('* * * * *')
      const status = cancelled ? 'cancelled' : 'done'
      expect(await latestMove(account)).toMatchObject({ status, reason: null })
      expect(await filled(cancelled ? 'DB_2' : 'DB', account)).toEqual([])
      expect((await acme.post('customers', [customer(3)])).status).toBe(200)
      expect((await json(acme.get('customers'))).meta.total).toBe(3)
    }
  })
})

/** Returns a database that reads one value of a table otherwise than it is stored. */
const misreading = (db: D1Database, table: string): D1Database =>
  overriding(db, {
    prepare(sql: string) {
      const statement = db.prepare(sql)
      if (!sql.includes(`from "${table}"`)) return statement
      const raw = async (bound: D1PreparedStatement) => {
        const [first = [], ...others] = await bound.raw<unknown[]>()
        const at = below(first.length - 1)
        return [first.with(at, first[at] === null ? 'x' : null), ...others]
      }
      return overriding(statement, {
        bind: (...values: unknown[]) => ({ raw: () => raw(statement.bind(...values)) }),
      })
    },
  })

describe('the copy of an account', () => {
  const mover = { account: 'acme', id: 'mov_1' }

  afterEach(async () => {
    for (const db of [DB, DB_2]) {
      const all = (await anyTables(db)).flatMap(({ name, triggers }) => [
        ...triggers.map((trigger) => `drop trigger ${trigger.name}`),
        `delete from ${name}`,
        ...triggers.map(({ sql }) => sql),
      ])
      await db.batch(all.map((sql) => db.prepare(sql)))
    }
  })

  test('has every byte of every table, and the old one is dropped', async () => {
    await fillTables(DB_2, random, 'acme', 3)
    Object.assign(COPY_LIMITS, { rows: 2, pages: 9, deleted: 3 })
    await takeCopy(DB, mover, (await describeTables(DB)).tables)
    // Some of its rows are work that goes on.
    await DB_2.prepare(`insert into doors values ('acme', 'mov_1', 'leaving')`).run()
    for (let place: CopyPlace | null = null, isFirst = true; place || isFirst; isFirst = false) {
      place = await copyStep(DB_2, DB, mover, place)
    }
    await compareCounts(DB_2, DB, 'acme')
    const bytes = await bytesOf(DB_2, 'acme')
    expect(await bytesOf(DB, 'acme')).toEqual(bytes)
    await openDoor(DB, mover)
    await shutDoor(DB_2, mover)
    while (!(await dropStep(DB_2, mover)));
    expect(Object.values(await bytesOf(DB_2, 'acme')).flat()).toEqual([])
    expect(await bytesOf(DB, 'acme')).toEqual(bytes)
  })

  test('§19.2 is refused if a page of it differs from its source in one value, of any table', async () => {
    await fillTables(DB_2, random, 'acme', 2)
    const { tables } = await describeTables(DB)
    await takeCopy(DB, mover, tables)
    for (const { name: table } of tables) {
      const copied = copyStep(DB_2, misreading(DB, table), mover, { table, after: null })
      // Another database may have entries of its own there.
      if (table === 'audit_log') await copied
      else await expect(copied).rejects.toMatchObject({ refusal: 'copy_differs', table })
    }
  })

  test.each([
    ['a column', 'alter table totals add column more text', 'alter table totals drop column more'],
    [
      'a trigger',
      `create trigger more after insert on totals begin select 1; end`,
      'drop trigger more',
    ],
  ])('§19.2 is refused between databases of which one lacks %s', async (_, more, less) => {
    await DB_2.prepare(more).run()
    try {
      await expect(commonTables(DB, DB_2)).rejects.toThrow('tables_differ')
    } finally {
      await DB_2.prepare(less).run()
    }
  })

  test('is refused by a database that has rows of the account, and those that live there stay', async () => {
    await fillTables(DB, random, 'acme', 1)
    const bytes = await bytesOf(DB, 'acme')
    const { tables } = await describeTables(DB)
    await expect(takeCopy(DB, mover, tables)).rejects.toThrow('target_has_rows')
    await dropStep(DB, mover)
    expect(await bytesOf(DB, 'acme')).toEqual(bytes)
  })

  test('is refused while a migration replaces a trigger', async () => {
    const { tables } = await describeTables(DB)
    const table = tables.find(({ triggers }) => triggers.length > 0)!
    const triggers = table.triggers.map((one) => ({
      ...one,
      sql: one.sql.replace(/end$/i, ' end'),
    }))
    const writing = DB.batch(withoutTriggers(DB, { ...table, triggers }, []))
    await expect(writing).rejects.toThrow('changed meanwhile')
  })

  test('is ended: a late step of its move writes, opens, closes and drops nothing', async () => {
    const { tables } = await describeTables(DB)
    await takeCopy(DB, mover, tables)
    await closeDoor(DB_2, mover)
    await openDoor(DB_2, mover)
    await expect(closeDoor(DB_2, mover)).rejects.toThrow('moved_away')
    await shutDoor(DB, mover)
    await expect(takeCopy(DB, mover, tables)).rejects.toThrow('target_has_rows')
    await openDoor(DB, mover)
    await takeCopy(DB, { ...mover, id: 'mov_2' }, tables)
    for (const late of [openDoor, shutDoor]) await late(DB, mover)
    const { results } = await DB.prepare('select * from doors').all()
    expect(results).toEqual([{ account: 'acme', move: 'mov_2', state: 'copying' }])
  })
})

describe('while a door is closed', () => {
  test('no request, cron or click writes a row of its account, which answers reads', async () => {
    const worlds = await Promise.all(
      ['forex', 'igaming'].map((vertical) => prepare(vertical, true, { binding: 'DB_2' })),
    )
    const rowsOf = () => Promise.all(worlds.map(({ account }) => bytesOf(DB_2, account)))
    const before = await rowsOf()
    for (const { account } of worlds) await closeDoor(DB_2, { account, id: 'mov_1' })
    const refused = new Set<string>()
    for (const [nth, route] of ROUTES.entries()) {
      const world = worlds.find(({ vertical }) => vertical === route.vertical)
      if (!world || route.as === 'anyone') continue
      // The verticals have the same reads, of which the day chooses a third.
      if (!route.writes && (route.vertical !== 'forex' || nth % 3 !== env.DAY % 3)) continue
      const context = createExecutionContext()
      const response = await asks(route, world, env as Env, context)
      const isRefused = (await response.text()).includes('"code":"moving"')
      await waitOnExecutionContext(context)
      const isRead = requestOf(route, world).method === 'GET' && !route.writes
      // What sums days keeps the sums.
      if (isRead && !/(Totals|Report|Overview)$/.test(route.id)) {
        expect([route.id, isRefused]).toEqual([route.id, false])
      }
      expect([route.id, response.status]).not.toEqual([route.id, 500])
      if (isRefused) refused.add(route.as)
    }
    expect([...refused].sort()).toEqual(['account', 'affiliate', 'team'])
    expect(await rowsOf()).toEqual(before)
    for (const cron of Object.values(CRON_SCHEDULES)) await runCron(cron)
    const [{ account, link_id }] = worlds as [(typeof worlds)[0]]
    const click = { account, link_id, click_id: 'a'.repeat(12), clicked_at: Date.now(), subs: {} }
    let retried = 0
    const messages = [
      { body: { ...click, binding: 'DB_2' }, ack() {}, retry: () => retried++ },
    ] as unknown as Message[]
    const batch = { queue: 'tributary-clicks', messages } as unknown as MessageBatch
    await worker.queue(batch, env as Env, createExecutionContext())
    expect(await rowsOf()).toEqual(before)
    expect(retried).toBe(1)
  })

  test('a reset is refused until the old copy is deleted', async () => {
    const acme = await issuedPartner('forex', { account: 'acme' })
    await acme.post('customers', [ada])
    const account = await storeMove('acme')
    for (const isSwitched of [false, true]) {
      if (isSwitched) await end(account)
      const reset = await askAdmin('accounts/acme/reset', 'POST')
      const { detail } = await json(reset)
      expect([reset.status, detail]).toEqual([409, expect.stringContaining('is being moved')])
    }
    MOVE_LIMITS.keptMs = 0
    await end(account)
    expect((await askAdmin('accounts/acme/reset', 'POST')).status).toBe(204)
  })
})

describe('what names the database of an account follows it', () => {
  test('credentials, affiliate keys and Brand Tokens of before', async () => {
    const acme = await issuedPartner('forex', { affiliates: [] })
    const casino = await storedBrand()
    const path = `accounts/${acme.account}/affiliates`
    await askAdmin(path, 'PUT', [{ affiliate_id: 'a' }])
    const { affiliate_key } = await json(askAdmin(`${path}/a/keys`, 'POST', { name: 'Tracker' }))
    for (const [i, { account }] of [acme, casino].entries()) {
      await end(await storeMove(account, `mov_${i}`))
    }
    const { client_id, client_secret } = acme
    const grant = { grant_type: 'client_credentials', client_id, client_secret }
    const { access_token } = await json(askToken(grant))
    const sent = await ask('/api/v1/forex/customers', {
      method: 'POST',
      headers: { Authorization: `Bearer ${access_token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify([ada]),
    })
    expect(sent.status).toBe(200)
    expect((await casino.post('customers', [{ customer_id: 'eve' }])).status).toBeLessThan(503)
    const me = await ask('/affiliate/v1/me', {
      headers: { Authorization: `Bearer ${affiliate_key}` },
    })
    expect(me.status).toBe(200)
    expect(await customersIn('DB')).toEqual([])
  })
})

test('each table with an account is copied by a move, or belongs to the directory or to one database', async () => {
  const { results } = await DB.prepare(
    `select name from sqlite_schema where type = 'table' and sql like '% account %'`,
  ).all<{ name: string }>()
  const others = [
    ...['account_moves', 'affiliate_keys', 'brand_tokens', 'clients', 'doors'],
    ...['event_definitions', 'links', 'vocabulary'],
  ]
  expect(results.map(({ name }) => name).sort()).toEqual([...ACCOUNT_TABLES, ...others].sort())
})

test('a database that cannot take the records of an account is refused, with the field', async () => {
  await partner('forex', { account: 'acme' })
  const refusal = async (to: string) => {
    const response = await askAdmin('accounts/acme/moves', 'POST', { to })
    const [{ pointer, message }] = (await json(response)).errors
    expect([response.status, pointer]).toEqual([422, '/to'])
    return message
  }
  expect(await refusal('DB_9')).toBe('The value is not one of `DB`, `DB_2`.')
  expect(await refusal('DB')).toBe('The account is in DB already.')
  await env.DB.prepare("update accounts set jurisdiction = 'eu'").run()
  expect(await refusal('DB_2')).toBe('DB_2 has no jurisdiction, and the account belongs to eu.')
  await env.DB.prepare('update accounts set jurisdiction = null, storage_quota = 9e9').run()
  await env.DB.prepare(
    "insert into totals (account, resource, total, bytes) values ('acme', 'customers', 0, 5e9)",
  ).run()
  expect(await refusal('DB_2')).toContain('5.00 GB')
  expect(await latestMove('acme')).toBeUndefined()
})
