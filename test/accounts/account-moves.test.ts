import { introspectWorkflow } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { MOVE_LIMITS } from '../../src/admin/move-limits.ts'
import { advanceMove } from '../../src/admin/move-steps.ts'
import { ACCOUNT_TABLES } from '../../src/db/account-tables.ts'
import { insertMove } from '../../src/db/directory/account-moves.ts'
import { closeWrites } from '../../src/db/move/follow.ts'
import { COPY_LIMITS } from '../../src/db/move/place.ts'
import { limitQueries } from '../../src/db/query-limit.ts'
import { DAY_MS, HOUR_MS } from '../../src/durations.ts'
import { eve, storedBrand } from '../brand.ts'
import { ada, ask, askAdmin, askToken, issuedPartner, json, partner } from '../partner.ts'
import { runCron } from '../platform/crons.ts'

/** Names another database as that of an account, as the end of a move does, without its rows. */
async function renameDatabase(account: string, binding: 'DB' | 'DB_2') {
  await env.DB.prepare('update accounts set binding = ?, version = version + 1 where id = ?')
    .bind(binding, account)
    .run()
}

const customersIn = async (binding: 'DB' | 'DB_2') =>
  (await env[binding].prepare('select customer_id from customers').all()).results

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

const customer = (n: number) => ({ ...ada, customer_id: `c-${n}` })

describe('§19.2 a move', () => {
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
    await env.DB.prepare("update accounts set jurisdiction = 'eu'").run()
    expect(await refusal('acme', 'DB_2')).toEqual([
      ...[422, '/to'],
      'DB_2 has no jurisdiction, and the account belongs to eu.',
      'Choose a database of the same jurisdiction.',
    ])
    await env.DB.prepare('update accounts set jurisdiction = null, storage_quota = 9e9').run()
    await env.DB.prepare(
      "insert into storage (account, bytes, until_hour) values ('acme', 5e9, 0)",
    ).run()
    expect(await refusal('acme', 'DB_2')).toEqual([
      ...[422, '/to', expect.stringContaining('5.00 GB'), 'Choose another one, or add one.'],
    ])
    expect((await askAdmin('accounts/acme/moves')).status).toBe(200)
    expect(await latestMove('acme')).toBeUndefined()
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
})
