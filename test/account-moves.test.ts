import {
  createExecutionContext,
  createMessageBatch,
  getQueueResult,
  introspectWorkflow,
  runInDurableObject,
  waitOnExecutionContext,
} from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { MOVE_LIMITS, MOVE_RETRIES } from '../src/admin/move-limits.ts'
import { advanceMove, failMove } from '../src/admin/move-steps.ts'
import { archiveStep } from '../src/archive/archive-month.ts'
import type { Grant } from '../src/auth/grant.ts'
import { ACCOUNT_TABLES } from '../src/db/account-tables.ts'
import { readMonth } from '../src/db/archive/months.ts'
import { cancelMove, insertMove } from '../src/db/directory/account-moves.ts'
import { closeWrites, openWrites } from '../src/db/move/follow.ts'
import { COPY_LIMITS } from '../src/db/move/place.ts'
import { limitQueries } from '../src/db/query-limit.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../src/durations.ts'
import { EXPORT_LIMITS } from '../src/exports/limits.ts'
import worker from '../src/index.ts'
import { archive, formOfResource, keepTotals, monthOf, place } from './archive-steps.ts'
import { deposited, eve, storedBrand } from './brand.ts'
import { signedIn } from './console/browser.ts'
import { deliverJob, listing, runCron, type Sent } from './crons.ts'
import { emptyBucket, filesOf, rowsOf, runExport, turnOn } from './exported.ts'
import { overriding } from './overriding.ts'
import { ada, ask, askAdmin, askToken, deposit, issuedPartner, json, partner } from './partner.ts'

/** Names another database as that of an account, as the end of a move does, without its rows. */
async function renameDatabase(account: string, binding: 'DB' | 'DB_2') {
  await env.DB.prepare('update accounts set binding = ?, version = version + 1 where id = ?')
    .bind(binding, account)
    .run()
}

const customersIn = async (binding: 'DB' | 'DB_2') =>
  (await env[binding].prepare('select customer_id from customers').all()).results

async function consume(queue: string, body: unknown) {
  const messages = [{ id: 'm', timestamp: new Date(), attempts: 1, body }]
  const batch = createMessageBatch<unknown>(queue, messages)
  const context = createExecutionContext()
  await worker.queue(batch, env, context)
  await waitOnExecutionContext(context)
  return getQueueResult(batch, context)
}

describe('what names the database of an account follows it', () => {
  test('tokens and credentials of before, and their objects', async () => {
    const acme = await issuedPartner('forex', { affiliates: [] })
    const casino = await storedBrand()
    const path = `accounts/${acme.account}/affiliates`
    await askAdmin(path, 'PUT', [{ affiliate_id: 'a' }])
    const { affiliate_key } = await json(askAdmin(`${path}/a/keys`, 'POST', { name: 'Tracker' }))
    for (const { account } of [acme, casino]) {
      await renameDatabase(account, 'DB_2')
      await askAdmin(`accounts/${account}`, 'PATCH', {})
    }
    await env.DB_2.prepare('insert into affiliates (account, affiliate_id) values (?, ?)')
      .bind(acme.account, 'a')
      .run()

    expect((await acme.post('customers', [ada])).status).toBe(200)
    const { client_id, client_secret } = acme
    const grant = { grant_type: 'client_credentials', client_id, client_secret }
    const { access_token } = await json(askToken(grant))
    const again = await ask('/api/v1/forex/customers', {
      method: 'POST',
      headers: { Authorization: `Bearer ${access_token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify([{ ...ada, customer_id: 'second' }]),
    })
    expect(again.status).toBe(200)
    expect((await casino.post('customers', [eve])).status).toBe(200)
    expect(await customersIn('DB')).toEqual([])
    expect((await customersIn('DB_2')).length).toBe(3)
    await env.DB.prepare('delete from affiliates').run()
    const me = await ask('/affiliate/v1/me', {
      headers: { Authorization: `Bearer ${affiliate_key}` },
    })
    expect(me.status).toBe(200)
  })

  test('settings that an object stored before they named the database leave the grant its own', async () => {
    const acme = await partner('forex', { binding: 'DB_2' })
    const jti = JSON.parse(atob(acme.access_token.split('.')[1]!)).jti
    const object = env.TOKEN_GATE.getByName(jti)
    const { binding: _, ...settings } = await runInDurableObject(
      object,
      (_instance, { storage }) => storage.kv.get<Grant>('grant')!,
    )
    await object.change({ ...settings, version: settings.version + 1, name: 'New' } as Grant)
    expect((await acme.post('customers', [ada])).status).toBe(200)
    expect((await customersIn('DB_2')).length).toBe(1)
  })

  test('a click that was queued before', async () => {
    await partner('forex', { account: 'acme', binding: 'DB_2' })
    const click = {
      link_id: 'abcdefgh',
      click_id: 'abcdefghijkl',
      clicked_at: Date.now(),
      subs: {},
    }
    await consume('tributary-clicks', { account: 'acme', binding: 'DB', ...click })
    const { results } = await env.DB_2.prepare('select account from clicks').all()
    expect(results).toEqual([{ account: 'acme' }])
  })

  test('an event of a webhook that was queued before, which is sent once', async () => {
    const { account } = await partner('forex', { binding: 'DB_2' })
    await askAdmin(`accounts/${account}/webhooks`, 'POST', { url: 'https://hooks.example/' })
    await env.DB_2.prepare(
      `insert into webhook_events values (?, 'evt_1', 'feed.late', '', 0, '{}', null)`,
    )
      .bind(account)
      .run()
    const pending = 'select account, event, endpoint, 0 as attempts from webhook_messages'
    const message = await env.DB_2.prepare(pending).first()
    for (let i = 0; i < 2; i++) await consume('tributary-webhooks', { ...message, binding: 'DB' })
    const { results } = await env.DB_2.prepare('select attempt from webhook_attempts').all()
    expect(results).toEqual([{ attempt: 1 }])
  })

  test('the job of an account that was asked for before', async () => {
    const acme = await partner('forex', { account: 'job-moved' })
    const object = env.BACKGROUND_JOBS.getByName('webhooks job-moved')
    await renameDatabase(acme.account, 'DB_2')
    await askAdmin(`accounts/${acme.account}/webhooks`, 'POST', { url: 'https://hooks.example/' })
    await env.DB_2.prepare(
      `insert into webhook_events values ('job-moved', 'evt_1', 'feed.late', '', 0, '{}', null)`,
    ).run()
    await object.request({ name: 'webhooks', account: acme.account, binding: 'DB' })
    await expect
      .poll(() =>
        env.DB_2.prepare('select queued_until > 0 as queued from webhook_messages').first(),
      )
      .toEqual({ queued: 1 })
  })
})

type Moves = Awaited<ReturnType<typeof introspectWorkflow>>
let workflows: Moves

beforeEach(async () => {
  workflows = await introspectWorkflow(env.ACCOUNT_MOVES)
  await workflows.modifyAll(async (modifier) => {
    await modifier.disableSleeps()
    await modifier.disableRetryDelays()
  })
})
afterEach(() => workflows.dispose())

/** Lets the Workflows that have begun end. */
async function settle(status: 'complete' | 'errored' = 'complete') {
  for (const workflow of await workflows.get()) await workflow.waitForStatus(status)
}

const startMove = (account: string, to = 'DB_2', fields: object = {}) =>
  askAdmin(`accounts/${account}/moves`, 'POST', { to, ...fields })

const latestMove = async (account: string) =>
  (await json(askAdmin(`accounts/${account}/moves`))).data[0]

/** Stores a move of an account without a Workflow: tests make its steps. */
async function storeMove(account: string, { confirmed = 0 as 0 | 1, id = 'mov_1' } = {}) {
  const { binding: source } = await json(askAdmin(`accounts/${account}`))
  const target = source === 'DB' ? 'DB_2' : 'DB'
  await insertMove(env.DB, {
    ...{ id, account, source, target, confirmed, actor: 'admin-key' },
    ...{ started_at: new Date().toISOString(), due_at: Date.now() + 60_000 },
  }).run()
  return { account, move: id, attempt: 1 }
}

type Turn = Awaited<ReturnType<typeof storeMove>>

const stateOf = ({ account, move }: Turn) => json(askAdmin(`accounts/${account}/moves/${move}`))

/** Makes steps until the move has a status, or waits. Returns the move. */
async function stepUntil(turn: Turn, ...statuses: string[]) {
  for (let step = 0; step < 50; step++) {
    const { status } = await stateOf(turn)
    if (statuses.includes(status)) return stateOf(turn)
    const seconds = await advanceMove(env as Env, turn)
    if (seconds === null || seconds > 0) return stateOf(turn)
  }
  throw new Error('The move makes no progress.')
}

const end = (turn: Turn) => stepUntil(turn, 'nothing')

const LIMITS = { ...MOVE_LIMITS }
const STEP_LIMITS = { ...COPY_LIMITS }
afterEach(() => {
  Object.assign(MOVE_LIMITS, LIMITS)
  Object.assign(COPY_LIMITS, STEP_LIMITS)
})

/** Returns the tables of a database with rows of an account. */
async function filled(binding: 'DB' | 'DB_2', account: string): Promise<string[]> {
  const found: string[] = []
  for (const table of ACCOUNT_TABLES) {
    if (table === 'audit_log') continue
    const sql = `select 1 from ${table} where account = ? limit 1`
    if (await env[binding].prepare(sql).bind(account).first()) found.push(table)
  }
  return found
}

const triggersOf = async (binding: 'DB' | 'DB_2') =>
  (
    await env[binding]
      .prepare(`select name, sql from sqlite_schema where type = 'trigger' order by 1`)
      .all()
  ).results

const outcome = async (response: Promise<Response>) => {
  const { status, headers } = await response
  return [status, headers.get('Retry-After')]
}

const putAffiliate = (account: string, affiliate_id: string) =>
  askAdmin(`accounts/${account}/affiliates`, 'PUT', [{ affiliate_id }])

const customer = (n: number) => ({ ...ada, customer_id: `c-${n}` })

describe('a move', () => {
  test('brings an account to another database, where its tokens find it', async () => {
    const acme = await issuedPartner('forex', { account: 'mover' })
    await acme.post('customers', [ada])
    const before = await filled('DB', 'mover')
    const triggers = [await triggersOf('DB'), await triggersOf('DB_2')]
    const started = await startMove('mover')
    expect([started.status, await started.json()]).toMatchObject([
      202,
      { account: 'mover', from: 'DB', to: 'DB_2', status: 'copying', started_by: 'admin-key' },
    ])
    await settle()
    const { pause_ms, switched_at, drop_at, ...move } = await latestMove('mover')
    expect(move).toMatchObject({
      status: 'switched',
      reason: null,
      waits_for: null,
      ended_at: null,
    })
    expect(pause_ms).toBeLessThan(5000)
    expect(Date.parse(drop_at) - Date.parse(switched_at)).toBe(7 * DAY_MS)
    expect(await json(askAdmin('accounts/mover'))).toMatchObject({ binding: 'DB_2' })
    expect((await acme.post('customers', [customer(2)])).status).toBe(200)
    expect(await customersIn('DB')).toHaveLength(1)
    expect(await customersIn('DB_2')).toHaveLength(2)

    // The old copy refuses writes until it is gone.
    expect(await filled('DB', 'mover')).toEqual(before)
    MOVE_LIMITS.leastMs = 0
    const confirmed = await askAdmin(`accounts/mover/moves/${move.move}/confirm`, 'POST')
    expect([confirmed.status, await confirmed.json()]).toMatchObject([202, { status: 'switched' }])
    await runCron('* * * * *', Date.now() + 1000)
    await settle()
    expect(await latestMove('mover')).toMatchObject({ status: 'done', drop_at: null })
    expect(await filled('DB', 'mover')).toEqual([])
    expect([await triggersOf('DB'), await triggersOf('DB_2')]).toEqual(triggers)
    expect((await json(acme.get('customers'))).meta.total).toBe(2)
    const { data } = await json(askAdmin('audit-log?account=mover&kind=account'))
    expect(data.map((entry: { action: string }) => entry.action)).toEqual([
      ...['account.move.drop', 'account.move.confirm', 'account.moved', 'account.move.start'],
    ])
  })

  test('of a brand goes back to the first database once the old copy is deleted', async () => {
    const casino = await storedBrand()
    await casino.post('customers', [eve])
    await casino.post('activities', [deposited])
    MOVE_LIMITS.leastMs = 0
    const there = await storeMove(casino.account, { confirmed: 1 })
    expect(await end(there)).toMatchObject({ status: 'done', to: 'DB_2' })
    const back = await storeMove(casino.account, { confirmed: 1, id: 'mov_2' })
    expect(await end(back)).toMatchObject({ status: 'done', to: 'DB' })
    expect(await filled('DB_2', casino.account)).toEqual([])
    expect((await json(casino.get('activities'))).data).toHaveLength(1)
    expect((await casino.post('customers', [eve])).status).toBe(200)
  })

  test.each<['DB' | 'DB_2', 'DB' | 'DB_2']>([
    ['DB', 'DB_2'],
    ['DB_2', 'DB'],
  ])(
    'leaves each entry of the audit log once while an old copy exists: from %s to %s',
    async (binding, to) => {
      await partner('forex', { account: 'noted', binding })
      await partner('forex', { account: 'neighbour', binding: 'DB_2' })
      await putAffiliate('noted', 'aff-1')
      await storeMove('noted')
      const turn = { account: 'noted', move: 'mov_1', attempt: 1 }
      expect(await stepUntil(turn, 'switched')).toMatchObject({ to, status: 'switched' })
      await putAffiliate('noted', 'aff-2')
      const lists = ['audit-log', 'audit-log?account=noted'].map((path) => json(askAdmin(path)))
      for (const { data, meta } of await Promise.all(lists)) {
        const ids = data.map(({ id }: { id: string }) => id)
        expect(new Set(ids).size).toBe(ids.length)
        expect(meta.total).toBe(ids.length)
        const affiliates = data.filter(({ action }: { action: string }) =>
          action.startsWith('affiliate'),
        )
        expect(affiliates).toHaveLength(2)
      }
    },
  )

  test('shows how many of about how many records are copied and compared', async () => {
    const acme = await issuedPartner('forex', { account: 'shown' })
    await acme.post('customers', [customer(1), customer(2), customer(3)])
    Object.assign(COPY_LIMITS, { rows: 1, pagesPerBatch: 1, pages: 1 })
    const turn = await storeMove('shown')
    const browser = await signedIn()
    const shown = new Set<string>()
    let page = ''
    while ((await stateOf(turn)).status !== 'waiting') {
      await advanceMove(env as Env, turn)
      const { status, records_done, records_about } = await stateOf(turn)
      shown.add(`${status} ${records_done} of ${records_about}`)
      if (records_done === 2)
        page += await (await browser.get('/console/accounts/shown/account')).text()
    }
    expect([...shown]).toEqual([
      ...[1, 2, 3].map((done) => `copying ${done} of 3`),
      'comparing null of null',
      ...[1, 2, 3].map((done) => `comparing ${done} of 3`),
      'waiting null of null',
    ])
    expect(page).toContain('Its records are being copied: 2 of about 3.')
    expect(page).toContain('The copied records are being compared: 2 of about 3.')
    expect(await end(turn)).toMatchObject({ status: 'switched' })
  })

  test('refuses writes in its pause with 503 and Retry-After; reads go on', async () => {
    const acme = await issuedPartner('forex', { account: 'paused' })
    const casino = await storedBrand({ account: 'not-paused' })
    await acme.post('customers', [ada])
    const turn = await storeMove('paused')
    await stepUntil(turn, 'switching')
    await closeWrites(env.DB, 'paused', 1)
    expect(await outcome(acme.post('customers', [customer(2)]))).toEqual([503, '2'])
    const affiliates = () =>
      askAdmin('accounts/paused/affiliates', 'PUT', [{ affiliate_id: 'new' }])
    expect(await outcome(affiliates())).toEqual([503, '2'])
    const hook = () =>
      askAdmin('accounts/paused/webhooks', 'POST', { url: 'https://hooks.example/' })
    expect(await outcome(hook())).toEqual([503, '2'])
    const erase = () => askAdmin('accounts/paused/customers/c-1/personal-data', 'DELETE')
    expect(await outcome(erase())).toEqual([503, '2'])
    expect((await acme.get('customers')).status).toBe(200)
    expect((await casino.post('customers', [eve])).status).toBe(200)

    expect(await end(turn)).toMatchObject({ status: 'switched' })
    const repeated = [acme.post('customers', [customer(2)]), affiliates(), hook(), erase()]
    for (const response of repeated) expect((await response).status).toBeLessThan(300)
    expect(await customersIn('DB_2')).toHaveLength(2)
  })

  test.each([
    [
      'run',
      `insert into statement_runs (account, id, period, status, started_at)
       values ('busy', 'run_1', '2026-10', 'running', '2026-11-01')`,
      `update statement_runs set status = 'done'`,
    ],
    ['reset', `insert into resets values ('busy', '2026-11-01')`, 'delete from resets'],
    [
      'erasure',
      `insert into erasures (account, customer_id, erased_at, next_day) values ('busy', 'c', '', 0)`,
      'update erasures set next_day = null, after_id = null',
    ],
    [
      'archive',
      `insert into archived_months (account, resource, first_day, last_day, state, begun_at, totals_at, erasures, prefix)
       values ('busy', 'transactions', 0, 30, 'writing', 0, 0, 0, 'archive/busy/transactions/1970-01/0')`,
      `update archived_months set state = 'archived'`,
    ],
  ])(
    'waits until a work of the kind %s has ended before it refuses writes',
    async (waits_for, begin, finish) => {
      const acme = await issuedPartner('forex', { account: 'busy' })
      const turn = await storeMove('busy')
      await stepUntil(turn, 'waiting')
      await env.DB.prepare(begin).run()
      expect(await end(turn)).toMatchObject({ status: 'waiting', waits_for })
      if (waits_for !== 'reset') expect((await acme.post('customers', [ada])).status).toBe(200)
      await env.DB.prepare(finish).run()
      expect(await end(turn)).toMatchObject({ status: 'switched', waits_for: null })
    },
  )

  test.each(['drops its old copy', 'is cancelled'])(
    'that %s leaves the objects of archived months to the account',
    async (what) => {
      const acme = await issuedPartner('forex', { account: 'archived' })
      await acme.post('customers', [ada])
      await acme.post('transactions', [deposit])
      await keepTotals('archived', 'forex', '2026-10-01', '2026-10-31')
      const month = monthOf('archived', 'transactions')
      await archive(month)
      MOVE_LIMITS.leastMs = 0
      const turn = await storeMove('archived', { confirmed: 1 })
      if (what === 'is cancelled') {
        await stepUntil(turn, 'waiting')
        await askAdmin('accounts/archived/moves/mov_1/cancel', 'POST', {})
      }
      const isMoved = what !== 'is cancelled'
      expect(await end(turn)).toMatchObject({ status: isMoved ? 'done' : 'cancelled' })
      expect(await filled(isMoved ? 'DB' : 'DB_2', 'archived')).toEqual([])
      const dayLater = Date.now() + 31 * DAY_MS
      for (const binding of ['DB', 'DB_2'] as const) {
        await env[binding].prepare('update retired_archives set delete_at = 0').run()
        await runCron('* * * * *', dayLater)
      }
      const { prefix } = (await readMonth(env[isMoved ? 'DB_2' : 'DB'], month))!
      expect((await env.ARCHIVE.list({ prefix })).objects).toHaveLength(1)
      await askAdmin('accounts/archived/archives/2026-10/restore', 'POST', {})
      await runCron('* * * * *')
      expect((await json(acme.get('transactions'))).data).toHaveLength(1)
      expect(await json(askAdmin('accounts/archived/archives'))).toMatchObject({ data: [] })
    },
  )

  test('with a month that is being written ends, and the month leaves its new database', async () => {
    const acme = await issuedPartner('forex', { account: 'writing' })
    await acme.post('customers', [ada])
    await acme.post('transactions', [deposit])
    await keepTotals('writing', 'forex', '2026-10-01', '2026-10-31')
    const month = monthOf('writing', 'transactions')
    const task = { month, form: formOfResource('transactions') }
    const turn = await storeMove('writing')
    expect(await archiveStep(place, task, Date.now())).toBe(true)
    expect(await end(turn)).toMatchObject({ status: 'waiting', waits_for: 'archive' })
    // None begins while the account moves.
    const other = monthOf('writing', 'transactions', '2026-09')
    expect(await archiveStep(place, { ...task, month: other }, Date.now())).toBe(false)
    await archive(month)
    expect(await end(turn)).toMatchObject({ status: 'switched' })
    expect(await readMonth(env.DB_2, month)).toMatchObject({ state: 'archived' })
  })

  test('accepts writes again if a run began when they were refused', async () => {
    const acme = await issuedPartner('forex', { account: 'busy' })
    const turn = await storeMove('busy')
    await stepUntil(turn, 'switching')
    await env.DB.prepare(
      `insert into statement_runs (account, id, period, status, started_at)
       values ('busy', 'run_1', '2026-10', 'running', '2026-11-01')`,
    ).run()
    await advanceMove(env as Env, turn)
    expect(await stateOf(turn)).toMatchObject({ status: 'waiting', waits_for: 'run' })
    expect((await acme.post('customers', [ada])).status).toBe(200)
  })

  test('that is stopped before it accepts writes again begins another pause, although a run began', async () => {
    const acme = await issuedPartner('forex', { account: 'stopped' })
    const turn = await storeMove('stopped')
    await stepUntil(turn, 'switching')
    await env.DB.prepare(
      `insert into statement_runs (account, id, period, status, started_at)
       values ('stopped', 'run_1', '2026-10', 'running', '2026-11-01')`,
    ).run()
    const prepare = (sql: string) => {
      if (sql.includes('update move_sources set closed_at = null')) throw new Error('stopped')
      return env.DB.prepare(sql)
    }
    const stopped = overriding(env as Env, { DB: overriding(env.DB, { prepare }) } as object)
    await expect(advanceMove(stopped, turn)).rejects.toThrow('stopped')
    expect((await acme.post('customers', [ada])).status).toBe(503)
    await advanceMove(env as Env, turn)
    expect(await stateOf(turn)).toMatchObject({ status: 'waiting', waits_for: 'run' })
    expect((await acme.post('customers', [ada])).status).toBe(200)
  })

  test('that is confirmed while a step keeps its old copy has it deleted as confirmed', async () => {
    await issuedPartner('forex', { account: 'confirmed' })
    const turn = await storeMove('confirmed')
    await stepUntil(turn, 'switched')
    const confirm = () => askAdmin(`accounts/confirmed/moves/${turn.move}/confirm`, 'POST')
    const prepare = (sql: string) => {
      const statement = env.DB_2.prepare(sql)
      if (!sql.includes('delete from move_copies')) return statement
      const run = async (bound: D1PreparedStatement) => {
        expect((await confirm()).status).toBe(202)
        return bound.run()
      }
      return { bind: (...values: unknown[]) => ({ run: () => run(statement.bind(...values)) }) }
    }
    const slow = overriding(env as Env, { DB_2: overriding(env.DB_2, { prepare }) } as object)
    expect(await advanceMove(slow, turn)).toBe(0)
    expect(await advanceMove(env as Env, turn)).toBe(null)
    const { due_at, switched_at } = (await env.DB.prepare(
      'select due_at, switched_at from account_moves',
    ).first<{ due_at: number; switched_at: string }>())!
    expect(due_at - Date.parse(switched_at)).toBe(MOVE_LIMITS.leastMs)
  })

  test('accepts writes again if the pause takes too long, and tries again', async () => {
    const acme = await issuedPartner('forex', { account: 'slow' })
    const turn = await storeMove('slow')
    await stepUntil(turn, 'switching')
    MOVE_LIMITS.pauseMs = -1
    await advanceMove(env as Env, turn)
    expect(await stateOf(turn)).toMatchObject({ status: 'waiting', waits_for: 'writes' })
    expect((await acme.post('customers', [ada])).status).toBe(200)
    MOVE_LIMITS.pauseMs = LIMITS.pauseMs
    expect(await end(turn)).toMatchObject({ status: 'switched', waits_for: null })
  })

  test('says for how long writes were refused in all of its pauses, also in one that was interrupted', async () => {
    await issuedPartner('forex', { account: 'again' })
    const turn = await storeMove('again')
    await stepUntil(turn, 'switching')
    expect(await latestMove('again')).toMatchObject({ pause_ms: null })
    await env.DB.prepare('update account_moves set closed_at = ?')
      .bind(Date.now() - MINUTE_MS)
      .run()
    MOVE_LIMITS.pauseMs = -1
    await advanceMove(env as Env, turn)
    MOVE_LIMITS.pauseMs = LIMITS.pauseMs
    const { status, pause_ms } = await latestMove('again')
    expect(status).toBe('waiting')
    expect(pause_ms).toBeGreaterThanOrEqual(MINUTE_MS)
    await end(turn)
    const moved = await latestMove('again')
    expect(moved.pause_ms).toBeGreaterThanOrEqual(pause_ms)
    expect(moved.pause_ms).toBeLessThan(MINUTE_MS + 30_000)
  })

  test('fails if the copy differs, and leaves the account where it was', async () => {
    const acme = await issuedPartner('forex', { account: 'differs' })
    await acme.post('customers', [ada])
    const turn = await storeMove('differs')
    await stepUntil(turn, 'switching')
    await env.DB_2.prepare('delete from customers').run()
    const { reason, status } = await end(turn)
    expect([status, reason]).toEqual(['failed', expect.stringContaining('customers')])
    expect(await filled('DB_2', 'differs')).toEqual([])
    expect((await acme.post('customers', [customer(2)])).status).toBe(200)
    expect(await customersIn('DB')).toHaveLength(2)
  })

  test('of a database that has rows of the account fails, and these rows stay', async () => {
    await issuedPartner('forex', { account: 'twice' })
    await env.DB_2.prepare(
      `insert into affiliates (account, affiliate_id) values ('twice', 'a')`,
    ).run()
    const turn = await storeMove('twice')
    expect(await end(turn)).toMatchObject({
      status: 'failed',
      reason:
        'DB_2 has records of the account that are not of this move, in affiliates. If the directory was restored, the account may live there. Find out before you move it again. The account stays where it was.',
    })
    expect(await filled('DB_2', 'twice')).toEqual(['affiliates'])
  })

  test.each(['copying', 'comparing', 'waiting', 'switching'])(
    'can be cancelled while it is %s',
    async (status) => {
      const acme = await issuedPartner('forex', { account: 'stays' })
      await acme.post('customers', [ada])
      const triggers = [await triggersOf('DB'), await triggersOf('DB_2')]
      const turn = await storeMove('stays')
      await stepUntil(turn, status)
      if (status === 'switching') await closeWrites(env.DB, 'stays', 1)
      const path = `accounts/stays/moves/${turn.move}`
      expect((await askAdmin(`${path}/cancel`, 'POST')).status).toBe(202)
      expect(await end(turn)).toMatchObject({
        status: 'cancelled',
        reason: null,
        switched_at: null,
      })
      expect((await askAdmin(`${path}/cancel`, 'POST')).status).toBe(202)
      expect((await askAdmin(`${path}/confirm`, 'POST')).status).toBe(409)
      expect(await filled('DB_2', 'stays')).toEqual([])
      expect([await triggersOf('DB'), await triggersOf('DB_2')]).toEqual(triggers)
      expect((await acme.post('customers', [customer(2)])).status).toBe(200)
      expect(await customersIn('DB')).toHaveLength(2)
    },
  )

  test('that was cancelled during its pause does not switch', async () => {
    const acme = await issuedPartner('forex', { account: 'late' })
    const turn = await storeMove('late')
    await stepUntil(turn, 'switching')
    // The cancellation comes when everything is compared.
    const cancelling = overriding(env as Env, {
      DB: overriding(env.DB, {
        batch: async (statements: D1PreparedStatement[]) => {
          await env.DB.batch([cancelMove(env.DB, { account: 'late', id: turn.move }, Date.now())])
          return env.DB.batch(statements)
        },
      }),
    })
    await advanceMove(cancelling, turn).catch(() => {})
    expect(await end(turn)).toMatchObject({ status: 'cancelled' })
    expect(await json(askAdmin('accounts/late'))).toMatchObject({ binding: 'DB' })
    expect((await acme.post('customers', [ada])).status).toBe(200)
  })

  test('cannot be cancelled after the switch, nor confirmed before it', async () => {
    await issuedPartner('forex', { account: 'over' })
    const turn = await storeMove('over')
    const path = `accounts/over/moves/${turn.move}`
    expect((await askAdmin(`${path}/confirm`, 'POST')).status).toBe(409)
    expect(await end(turn)).toMatchObject({ status: 'switched' })
    expect((await askAdmin(`${path}/cancel`, 'POST')).status).toBe(409)
    expect((await startMove('over', 'DB')).status).toBe(409)
    expect((await askAdmin('accounts/over/moves/mov_none')).status).toBe(404)
  })

  test('that is killed after any number of queries goes on by itself', async () => {
    MOVE_LIMITS.leastMs = 0
    let hasEnded = false
    // The seed chooses which.
    for (let queries = 1 + (env.SEED % 97); !hasEnded; queries += 97) {
      const account = `killed-${queries}`
      const acme = await issuedPartner('forex', { account })
      await acme.post('customers', [ada, customer(2)])
      const turn = await storeMove(account, { confirmed: 1, id: `mov_${queries}` })
      const limited = limitQueries(env as Env, queries, () => {})
      try {
        while ((await advanceMove(limited, turn)) !== null);
        hasEnded = true
      } catch (error) {
        expect(String(error)).toContain('TooManyQueries')
      }
      await runCron('* * * * *', Date.now() + HOUR_MS)
      await settle()
      expect(await stateOf(turn)).toMatchObject({ status: 'done', reason: null })
      expect(await filled('DB', account)).toEqual([])
      expect((await acme.post('customers', [customer(3)])).status).toBe(200)
      expect((await json(acme.get('customers'))).meta.total).toBe(3)
    }
  })

  test('of which a step fails again and again ends as failed', async () => {
    const acme = await issuedPartner('forex', { account: 'faulty' })
    const turn = await storeMove('faulty')
    await stepUntil(turn, 'waiting')
    expect(await failMove(env as Env, turn)).toBe(true)
    expect(await end(turn)).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('Move it again'),
    })
    expect((await acme.post('customers', [ada])).status).toBe(200)
    expect(await failMove(env as Env, turn)).toBe(false)
  })

  test('of which each pause fails ends as failed, too', async () => {
    const acme = await issuedPartner('forex', { account: 'pausing' })
    const index = await env.DB_2.prepare(
      "select sql from sqlite_schema where name = 'statements_id'",
    ).first<{ sql: string }>()
    await env.DB_2.prepare('drop index statements_id').run()
    const logged = vi.spyOn(console, 'error')
    const { move } = await json(startMove('pausing'))
    await settle()
    const lines = logged.mock.calls.map(([line]) => JSON.parse(String(line)))
    logged.mockRestore()
    const ofMove = lines.filter((line) => line.move === move)
    expect(ofMove).toHaveLength(25)
    expect(ofMove[0]).toEqual({
      ...{ move, fault: 'Error', d1: 'no such index: statements_id' },
      at: expect.arrayContaining([expect.stringContaining('readHashes')]),
    })
    await env.DB_2.prepare(index?.sql ?? '').run()
    expect(await latestMove('pausing')).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching(/^A step failed 25 times in about 25 minutes;/),
    })
    expect((await acme.post('customers', [ada])).status).toBe(200)
  })

  test('is not taken over between two attempts of a step', () => {
    const { retries, timeout } = MOVE_RETRIES
    expect([timeout, retries]).toEqual([
      '10 minutes',
      { limit: 24, delay: '5 seconds', backoff: 'linear' },
    ])
    const waits = Array.from({ length: retries.limit }, (_, n) => (n + 1) * 5000)
    expect(10 * MINUTE_MS + Math.max(...waits)).toBeLessThan(MOVE_LIMITS.quietMs)
    expect(waits.reduce((sum, wait) => sum + wait)).toBe(25 * MINUTE_MS)
  })

  test('whose pause has failed is not taken over before its next attempt', async () => {
    await issuedPartner('forex', { account: 'between' })
    const turn = await storeMove('between')
    await stepUntil(turn, 'switching')
    const failing = overriding(
      env as Env,
      {
        DB_2: overriding(env.DB_2, { batch: () => Promise.reject(new Error('down')) }),
      } as object,
    )
    await expect(advanceMove(failing, turn)).rejects.toThrow('down')
    const stored = await env.DB.prepare(
      'select status, closed_at, due_at from account_moves',
    ).first()
    expect(stored).toMatchObject({ status: 'switching', closed_at: null })
    expect(stored?.due_at).toBeGreaterThan(Date.now() + 15 * MINUTE_MS)
    expect(await end(turn)).toMatchObject({ status: 'switched' })
  })

  test('accepts writes again if the directory is too full to note the switch', async () => {
    const acme = await issuedPartner('forex', { account: 'full' })
    const turn = await storeMove('full')
    await stepUntil(turn, 'switching')
    const inBoth = (sql: string) =>
      Promise.all([env.DB, env.DB_2].map((database) => database.prepare(sql).run()))
    await inBoth(`create trigger full before insert on audit_log when new.action = 'account.moved'
      begin select raise(abort, 'Exceeded maximum DB size'); end`)
    await expect(advanceMove(env as Env, turn)).rejects.toThrow('unavailable')
    expect((await acme.post('customers', [ada])).status).toBe(200)
    await inBoth('drop trigger full')
    expect(await end(turn)).toMatchObject({ status: 'switched' })
    expect(await customersIn('DB_2')).toHaveLength(1)
  })

  test.each(['copying', 'waiting', 'switching', null])(
    'that a restored directory knows as %s leaves the old database closed',
    async (status) => {
      const acme = await issuedPartner('forex', { account: 'restored' })
      await acme.post('customers', [ada])
      const turn = await storeMove('restored')
      if (status) await stepUntil(turn, status)
      const read = (table: string, column: string) =>
        env.DB.prepare(`select * from ${table} where ${column} = 'restored'`).first()
      const before = await read('account_moves', 'account')
      await end(turn)
      const saved = await read('account_moves', 'account')
      const store = (row: Record<string, unknown> | null) =>
        env.DB.batch([
          env.DB.prepare("delete from account_moves where account = 'restored'"),
          ...(row
            ? [
                env.DB.prepare(
                  `insert into account_moves (${Object.keys(row)}) values (${Object.keys(row).map(() => '?')})`,
                ).bind(...Object.values(row)),
              ]
            : []),
        ])
      await store(status === null ? null : before)
      await renameDatabase('restored', 'DB')
      if (status !== null) {
        await advanceMove(env as Env, turn).catch(() => {})
        await failMove(env as Env, turn)
        expect(await end(turn)).toMatchObject({ status: 'failed' })
      }
      expect((await putAffiliate('restored', 'new')).status).toBe(503)
      const again = await storeMove('restored', { id: 'mov_2' })
      expect(await end(again)).toMatchObject({
        status: 'failed',
        reason: expect.stringContaining('The directory was restored'),
      })
      expect((await putAffiliate('restored', 'new')).status).toBe(503)

      // Its saved settings are loaded.
      await store(saved)
      await renameDatabase('restored', 'DB_2')
      expect((await putAffiliate('restored', 'new')).status).toBe(200)
      expect((await acme.post('customers', [customer(2)])).status).toBe(200)
      MOVE_LIMITS.leastMs = 0
      await askAdmin(`accounts/restored/moves/${turn.move}/confirm`, 'POST')
      expect(await end(turn)).toMatchObject({ status: 'done' })
      expect(await filled('DB', 'restored')).toEqual([])
      expect(await customersIn('DB_2')).toHaveLength(2)
    },
  )
})

describe('a request to move an account', () => {
  const refusal = async (account: string, to: string) => {
    const response = await startMove(account, to)
    const { detail, errors } = await json(response)
    const [{ pointer, message, hint }] = errors ?? [{}]
    return [response.status, pointer, message ?? detail, ...(hint ? [hint] : [])]
  }

  test('is refused for a database that cannot take its records, with the field', async () => {
    await partner('forex', { account: 'acme' })
    expect(await refusal('acme', 'DB_9')).toEqual([
      422,
      '/to',
      'The value is not one of `DB`, `DB_2`.',
    ])
    expect(await refusal('acme', 'DB')).toEqual([
      ...[422, '/to', 'The account is in DB already.', 'Choose another database.'],
    ])
    await env.DB.prepare("update accounts set data_jurisdiction = 'eu'").run()
    expect(await refusal('acme', 'DB_2')).toEqual([
      ...[422, '/to'],
      'DB_2 has no jurisdiction, and the account belongs to eu.',
      'Choose a database of the same jurisdiction.',
    ])
    await env.DB.prepare('update accounts set data_jurisdiction = null, storage_quota = 9e9').run()
    await env.DB.prepare(
      "insert into storage (account, bytes, until_hour) values ('acme', 5e9, 0)",
    ).run()
    expect(await refusal('acme', 'DB_2')).toEqual([
      ...[422, '/to', expect.stringContaining('5.00 GB'), 'Choose another one, or add one.'],
    ])
    expect((await askAdmin('accounts/acme/moves')).status).toBe(200)
    expect(await latestMove('acme')).toBeUndefined()
  })

  test('is refused for a database without the same tables', async () => {
    await partner('forex', { account: 'acme' })
    await env.DB_2.prepare('alter table customers add column other text').run()
    expect(await refusal('acme', 'DB_2')).toEqual([
      422,
      '/to',
      'The tables of DB_2 and DB differ.',
      'Apply the migrations to both databases.',
    ])
    await env.DB_2.prepare('alter table customers drop column other').run()
    const table = "select sql from sqlite_schema where name = 'fraud_notes'"
    const { sql } = (await env.DB_2.prepare(table).first<{ sql: string }>())!
    await env.DB_2.prepare('drop table fraud_notes').run()
    expect(await refusal('acme', 'DB_2')).toEqual([
      ...[422, '/to', 'The tables of DB_2 and DB differ.'],
      'Apply the migrations to both databases.',
    ])
    await env.DB_2.prepare(sql).run()
  })

  test('is refused while records are deleted, or while the account moves elsewhere', async () => {
    await partner('forex', { account: 'acme' })
    await env.DB.prepare(`insert into resets values ('acme', '2026-11-01')`).run()
    expect(await refusal('acme', 'DB_2')).toEqual([
      409,
      undefined,
      expect.stringContaining('deleted'),
    ])
    await env.DB.prepare('delete from resets').run()
    await storeMove('acme')
    await env.DB.prepare(`update account_moves set target = 'DB_3'`).run()
    expect(await refusal('acme', 'DB_2')).toEqual([
      ...[409, undefined, 'The account is already being moved to DB_3.'],
    ])
  })

  test('that is repeated returns the move', async () => {
    await partner('forex', { account: 'acme' })
    const { move } = await storeMove('acme')
    expect(await json(startMove('acme'))).toMatchObject({ move, status: 'copying' })
  })
})

describe('an export of an account that moves', () => {
  const limits = { ...EXPORT_LIMITS }
  beforeEach(emptyBucket)
  afterEach(() => {
    Object.assign(EXPORT_LIMITS, limits)
  })

  const IDS = Array.from({ length: 6 }, (_, i) => `t-${i}`)

  /** An account with files to write, several messages of one export, and a move. */
  async function exporting() {
    const acme = await issuedPartner('forex', { account: 'warehouse' })
    await acme.post('customers', [ada])
    const transactions = IDS.map((transaction_id, i) => ({
      ...{ ...deposit, transaction_id, customer_id: ada.customer_id },
      transaction_date: `2026-${i < 3 ? '09' : '10'}-0${i + 1}T09:00:00.000Z`,
    }))
    expect((await acme.post('transactions', transactions)).status).toBe(200)
    await turnOn('warehouse')
    Object.assign(EXPORT_LIMITS, { rows: 2, queries: 1 })
    const turn = await storeMove('warehouse')
    const sent: Sent[] = []
    const world = overriding(env as Env, { ACCOUNT_JOBS: listing(sent) })
    await listing(sent).send({ job: 'export', account: 'warehouse', at: Date.now() })
    /** Delivers the next message. Returns whether it is delivered again; null if there is none. */
    const deliver = async () => {
      const next = sent.shift()
      if (!next) return null
      const isRetried = await deliverJob(next.body, world)
      if (isRetried) sent.unshift(next)
      return isRetried
    }
    return { turn, deliver }
  }

  /** Checks that the account has each record in one file, and nothing that is not complete. */
  async function expectComplete() {
    const ids = (await rowsOf('warehouse', 'forex', 'transactions')).map(
      (row) => row.transaction_id,
    )
    expect(ids.sort()).toEqual(IDS)
    expect(await rowsOf('warehouse', 'forex', 'customers')).toHaveLength(1)
    const [{ results: pending }, { results: runs }] = await Promise.all([
      env.DB_2.prepare('select id from exports where part < 0 or replaced_at is not null').all(),
      env.DB_2.prepare('select ended_at is not null as has_ended from export_runs').all(),
    ])
    expect([pending, runs]).toEqual([[], [{ has_ended: 1 }]])
    const before = await filesOf('warehouse')
    await runExport('warehouse', { isWhole: true })
    expect(await filesOf('warehouse')).toEqual(before)
  }

  test('goes on while its account moves; a message in the pause is delivered again', async () => {
    const { turn, deliver } = await exporting()
    const messages = { beforeSwitch: 0, afterSwitch: 0 }
    while ((await stateOf(turn)).status !== 'switching') {
      await advanceMove(env as Env, turn)
      if ((await deliver()) === false) messages.beforeSwitch += 1
      expect(await stateOf(turn)).toMatchObject({ waits_for: null })
    }
    await closeWrites(env.DB, 'warehouse', 1)
    expect(await deliver()).toBe(true)
    await openWrites(env.DB, 'warehouse', 1)
    expect(await end(turn)).toMatchObject({ status: 'switched', waits_for: null })
    while ((await deliver()) === false) messages.afterSwitch += 1
    expect(Math.min(...Object.values(messages))).toBeGreaterThan(0)
    await expectComplete()
  })

  test('that begins and ends while rows are copied is in the other database, too', async () => {
    const { turn, deliver } = await exporting()
    Object.assign(COPY_LIMITS, { rows: 1, pagesPerBatch: 1, pages: 1 })
    await advanceMove(env as Env, turn)
    while ((await deliver()) === false);
    expect(await stateOf(turn)).toMatchObject({ status: 'copying' })
    Object.assign(COPY_LIMITS, STEP_LIMITS)
    expect(await end(turn)).toMatchObject({ status: 'switched' })
    await expectComplete()
  })
})

describe('while an account moves', () => {
  test('a reset is refused; after the switch, it and an erasure have the old copy deleted', async () => {
    const acme = await issuedPartner('forex', { account: 'acme' })
    await acme.post('customers', [ada])
    const turn = await storeMove('acme')
    const reset = await askAdmin('accounts/acme/reset', 'POST')
    expect([reset.status, (await json(reset)).detail]).toEqual([
      409,
      'The account is being moved to DB_2. Reset it after that, or cancel the move.',
    ])
    const { switched_at } = await end(turn)
    const dropAfter = async () =>
      Date.parse((await stateOf(turn)).drop_at) - Date.parse(switched_at)
    expect(await dropAfter()).toBe(MOVE_LIMITS.keptMs)
    await askAdmin('accounts/acme/customers/c-1/personal-data', 'DELETE')
    expect(await dropAfter()).toBe(MOVE_LIMITS.leastMs)
    expect((await askAdmin('accounts/acme/reset', 'POST')).status).toBe(204)
  })

  test('the result of an event that was sent before the pause is stored after it', async () => {
    const { account } = await issuedPartner('forex', { account: 'sends' })
    await askAdmin(`accounts/${account}/webhooks`, 'POST', { url: 'https://hooks.example/' })
    await env.DB.prepare(
      `insert into webhook_events values (?, 'evt_1', 'feed.late', '', 0, '{}', null)`,
    )
      .bind(account)
      .run()
    const turn = await storeMove(account)
    await stepUntil(turn, 'switching')
    const sent: string[] = []
    const fetching = vi.spyOn(globalThis, 'fetch').mockImplementation(async (url) => {
      sent.push(String(url))
      // The account moves while the receiver answers.
      await end(turn)
      return new Response(null, { status: 200 })
    })
    const message = await env.DB.prepare(
      'select account, event, endpoint, 0 as attempts from webhook_messages',
    ).first()
    await consume('tributary-webhooks', { ...message, binding: 'DB' })
    // Neither copy sends it again.
    await runCron('* * * * *', Date.now() + HOUR_MS)
    await settle()
    fetching.mockRestore()
    expect(sent).toHaveLength(1)
    const state = 'select status, attempts from webhook_messages'
    expect(await env.DB_2.prepare(state).first()).toEqual({ status: 'delivered', attempts: 1 })
  })

  test('events and clicks of other accounts of the database go on', async () => {
    const [acme, other] = [
      await issuedPartner('forex', { account: 'acme' }),
      await issuedPartner('forex', { account: 'other' }),
    ]
    for (const { account } of [acme, other]) {
      await askAdmin(`accounts/${account}/webhooks`, 'POST', { url: 'https://hooks.example/' })
      await env.DB.prepare(
        `insert into webhook_events values (?, 'evt_1', 'feed.late', '', 0, '{}', null)`,
      )
        .bind(account)
        .run()
    }
    const turn = await storeMove('acme')
    await stepUntil(turn, 'switching')
    await closeWrites(env.DB, 'acme', Date.now())
    const { results } = await env.DB.prepare(
      'select account, event, endpoint, 0 as attempts from webhook_messages',
    ).all()
    for (const message of results)
      await consume('tributary-webhooks', { ...message, binding: 'DB' })
    const attempts = await env.DB.prepare('select account from webhook_attempts').all()
    expect(attempts.results).toEqual([{ account: 'other' }])
  })

  test('the settings of the account show the move, and approvers cancel or confirm it', async () => {
    await issuedPartner('forex', { account: 'acme' })
    const at = '/console/accounts/acme/account'
    const browser = await signedIn()
    const page = async () => (await browser.get(at)).text()
    expect(await page()).not.toContain('Move from')
    const turn = await storeMove('acme')
    expect(await page()).toContain('Its records are being copied.')
    const csrf = await browser.csrf(at)
    const change = async (name: string) =>
      (await browser.post(at, { csrf, change: name, move: turn.move })).status
    expect(await change('cancel_move')).toBe(303)
    await end(turn)
    expect(await page()).toContain('The move was cancelled. The account has stayed in DB.')
    const failed = await storeMove('acme', { id: 'mov_2' })
    await failMove(env as Env, failed)
    await end(failed)
    expect(await page()).toMatch(
      /<span class="badge bad">Failed<\/span> The account has stayed in DB\./,
    )
    const next = await storeMove('acme', { id: 'mov_3' })
    await end(next)
    expect(await page()).toMatch(/The account is in DB_2.*Delete the old copy now/s)
    const confirm = { csrf, change: 'confirm_move', move: 'mov_3' }
    expect((await browser.post(at, confirm)).status).toBe(303)
    expect(await stateOf(next)).toMatchObject({ status: 'switched' })
  })
})
