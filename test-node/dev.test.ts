import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  globSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sampleRequest } from '../scripts/dev/banner.ts'
import { DEMO_PERIOD } from '../scripts/dev/commissions/records.ts'
import { ACCOUNTS } from '../scripts/dev/demo-accounts.ts'
import { patternsUntil, YEAR } from '../scripts/dev/patterns.ts'
import { monthsUntil } from '../scripts/dev/year.ts'
import { copyServed, type Demo, has, serveIn, startIn } from './service.ts'

// `npm run dev` over real HTTP, in a copy of the repository.

const root = copyServed()

/** Returns the path of the database. */
function databasePath(): string {
  const found = globSync(join(root, '.wrangler/state/v3/d1/miniflare-*/*.sqlite'))
  const path = found.find((file) => !file.includes('metadata'))
  assert.ok(path)
  return path
}

/** Stores an account, as if the service had run before. */
function storeAccount() {
  const database = new DatabaseSync(databasePath())
  database.exec(`
    insert into accounts (id, name, vertical, mode, binding, unknown_customer, created_at)
    values ('left-over', 'Left over', 'forex', 'test', 'DB', 'hold', '2026-01-01T00:00:00.000Z')`)
  database.close()
}

/** Returns the number of rows of the forex account in a table; null if there is no such table yet. */
function countStored(table: string): number | null {
  try {
    const database = new DatabaseSync(databasePath(), { readOnly: true })
    const counted = database
      .prepare(`select count(*) as n from ${table} where account = 'demo-forex'`)
      .get()
    database.close()
    return Number(counted?.n)
  } catch {
    return null
  }
}

/** Returns the processes that were started in the copy, or none on a system without /proc. */
const processes = () =>
  (existsSync('/proc') ? readdirSync('/proc') : [])
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`) === root
      } catch {
        return false // The process has ended, or belongs to another user.
      }
    })

describe('npm run dev', { timeout: 600_000 }, () => {
  let service: Awaited<ReturnType<typeof startIn>>
  let earlier: Demo['accounts']
  const readAccounts = (): Demo['accounts'] =>
    JSON.parse(readFileSync(join(root, ACCOUNTS), 'utf8'))
  before(async () => {
    // Without setup.ts the service has not run yet.
    if (!existsSync(join(root, ACCOUNTS))) await (await serveIn(root)).end('SIGTERM')
    earlier = readAccounts()
    storeAccount()
    service = await startIn(root)
  })
  after(async () => {
    await service?.end('SIGTERM')
    rmSync(root, { recursive: true, force: true })
  })

  /**
   * Requests a token, like a client that repeats a request without a response: wrangler's proxy loses a
   * `POST` if the connection that it kept to the Worker has just been closed, after 5 idle seconds.
   */
  async function tokenOf({ demo }: typeof service): Promise<string> {
    const { client_id, client_secret } = demo.accounts[1]!
    const form = { grant_type: 'client_credentials', client_id, client_secret }
    for (let i = 0; i < 10; i++) {
      const body = new URLSearchParams(form)
      const init = { method: 'POST', body }
      const response = await fetch(`${demo.base_url}/oauth/token`, init).catch(() => undefined)
      if (response?.ok) return ((await response.json()) as { access_token: string }).access_token
      await sleep(100)
    }
    return assert.fail('no token')
  }

  const demoCustomers = 5
  /** Returns the number of customers of the forex account. */
  async function totalOf(): Promise<number> {
    const headers = { Authorization: `Bearer ${await tokenOf(service)}` }
    const url = `${service.demo.base_url}/api/v1/forex/customers`
    const response = await fetch(url, { headers })
    return ((await response.json()) as { meta: { total: number } }).meta.total
  }

  /** Returns the ids of all accounts. */
  async function accountIds(): Promise<string[]> {
    const { base_url, admin_key } = service.demo
    const response = await fetch(`${base_url}/admin/v1/accounts`, {
      headers: { Authorization: `Bearer ${admin_key}` },
    })
    const { data } = (await response.json()) as { data: { account: string }[] }
    return data.map(({ account }) => account).sort()
  }
  const demoIds = () =>
    [YEAR.account, ...service.demo.accounts.map(({ account }) => account)].sort()

  test('keeps the data of an earlier run', async () => {
    if (existsSync('/proc')) assert.notDeepEqual(processes(), [])
    assert.deepEqual(service.demo.accounts, earlier)
    assert.deepEqual(await accountIds(), [...demoIds(), 'left-over'])
    assert.equal(await totalOf(), demoCustomers)
  })

  test('writes .demo.json: the address, the admin key and an account of each vertical', () => {
    const { demo, port } = service
    assert.equal(demo.base_url, `http://127.0.0.1:${port}`)
    assert.ok(demo.admin_key.length >= 32)
    assert.deepEqual(
      demo.accounts.map(({ vertical }) => vertical),
      ['prop-trading', 'forex', 'igaming'],
    )
  })

  const skip = has('curl') && has('bash') ? false : 'curl or bash is not installed'
  /** Returns the output once a part of it has this form. */
  async function outputWith(form: RegExp): Promise<string> {
    for (let i = 0; i < 600 && !form.test(service.output()); i++) await sleep(100)
    assert.match(service.output(), form)
    return service.output()
  }
  /** Returns what is printed before the banner, and the banner to its last line. */
  async function startAndBanner(): Promise<[start: string, banner: string]> {
    const output = await outputWith(/^Press Ctrl-C to stop\.\n/m)
    const [start = '', ready = ''] = output.split(/^(?=Tributary is ready at )/m)
    // Other lines of the Worker may follow.
    const [banner = ''] = ready.split(/(?<=^Press Ctrl-C to stop\.\n)/m)
    return [start, banner]
  }

  test('imports the exchange rates of the European Central Bank', async () => {
    const { base_url, admin_key } = service.demo
    const response = await fetch(`${base_url}/admin/v1/fx-rates?day=2026-04-12`, {
      headers: { Authorization: `Bearer ${admin_key}` },
    })
    const { rates } = (await response.json()) as { rates: object[] }
    assert.equal(rates.length, 29)
    assert.deepEqual(rates[0], { currency: 'AUD', rate: '1.6561', day: '2026-04-10' })
  })

  test('prints twelve lines, with the keys in its links, and a curl that works when pasted', {
    skip,
  }, async () => {
    const [start, banner] = await startAndBanner()
    const { base_url, member_keys, accounts } = service.demo
    assert.doesNotMatch(start, /bindings|wrangler:info/)
    assert.ok(banner.split('\n').filter((line) => line !== '').length <= 12, banner)
    for (const key of Object.values(member_keys))
      assert.ok(banner.includes(`${base_url}/console/sign-in#key=${key}\n`))
    const [forex, brand] = accounts.slice(1)
    for (const key of [forex!.client_secret, brand!.brand_token])
      assert.match(banner, new RegExp(`/docs/start#\\S+=${key}&`))
    assert.match(banner, /^BASE=\S+ CLIENT_ID=\S+ CLIENT_SECRET=/m)
    const lines = accounts.map((account) => sampleRequest(base_url, account))
    assert.ok(banner.includes(lines[1]!))
    for (const line of lines) {
      const answer = JSON.parse(execFileSync('bash', ['-c', line], { encoding: 'utf8' }))
      assert.equal(answer.summary.created, 1, line)
      // A brand's customer without attribution would be answered with a warning.
      assert.equal(answer.results[0].warnings, undefined)
    }
    assert.doesNotMatch(service.output(), /request_id|^Subject: /m)
  })

  test('the statements of the demo accounts have every status', async () => {
    const { base_url, admin_key, accounts } = service.demo
    const headers = { Authorization: `Bearer ${admin_key}` }
    const read = async (path: string) =>
      (await (await fetch(`${base_url}/admin/v1/accounts/${path}`, { headers })).json()) as {
        data: Record<string, string>[]
      }
    const statuses = accounts.map(async ({ account }) =>
      (await read(`${account}/statements?period=${DEMO_PERIOD}`)).data.map(({ status }) => status),
    )
    assert.deepEqual(await Promise.all(statuses), [
      ['paid', 'approved'],
      ['draft', 'draft', 'draft'],
      ['draft'],
    ])
    const { data } = await read('demo-prop/payouts')
    assert.deepEqual(
      data.map(({ affiliate_id, amount, paid_on }) => [affiliate_id, amount, paid_on]),
      [['AFF-1', '100.00', '2026-04-30']],
    )
  })

  test('the account of a year has twelve months that end today: paid, approved and drafts', async () => {
    const { base_url, admin_key } = service.demo
    const headers = { Authorization: `Bearer ${admin_key}` }
    const read = async (path: string) => {
      const url = `${base_url}/admin/v1/accounts/${YEAR.account}/${path}`
      return (await (await fetch(url, { headers })).json()) as { data: Record<string, string>[] }
    }
    const { data } = await read('periods')
    const months = monthsUntil(Math.floor(Date.now() / 86_400_000)).map(({ period }) => period)
    const ofStatus = (status: string) =>
      [...new Set(data.flatMap((one) => (one.status === status ? [one.period] : [])))].sort()
    assert.deepEqual(ofStatus('paid'), months.slice(0, 10))
    assert.equal(ofStatus('approved').at(-1), months[9])
    assert.deepEqual(ofStatus('draft'), months.slice(10))
    assert.deepEqual([...new Set(data.map(({ currency }) => currency))].sort(), ['EUR', 'USD'])
    const { data: drafts } = await read(`statements?period=${months[10]}`)
    const held = drafts.filter(({ holds }) => holds!.length > 0)
    assert.deepEqual(
      held.map(({ affiliate_id }) => affiliate_id),
      ['IB-4'],
    )
    // A deposit of a paid month was taken back.
    assert.ok(drafts.some(({ adjustments_total }) => Number(adjustments_total) > 0))
  })

  test('each fraud rule of the demo has found the affiliate with its pattern', async () => {
    const { base_url, admin_key } = service.demo
    const headers = { Authorization: `Bearer ${admin_key}` }
    const url = `${base_url}/admin/v1/accounts/${YEAR.account}/cases?per_page=500`
    const { data } = (await (await fetch(url, { headers })).json()) as {
      data: { rule: string; affiliate_id: string }[]
    }
    const found = data.map(({ rule, affiliate_id }) => `${rule} ${affiliate_id}`)
    for (const { rule, affiliate } of patternsUntil(Math.floor(Date.now() / 86_400_000)))
      assert.ok(found.includes(`${rule} ${affiliate}`), `${rule}: no case of ${affiliate}`)
  })

  const startAgain = (port: number, ...args: string[]) => {
    const env = { ...process.env, PORT: String(port) }
    const options = { cwd: root, env, encoding: 'utf8' } as const
    const { status, stderr } = spawnSync(process.execPath, ['scripts/dev.ts', ...args], options)
    return [status, stderr]
  }

  test('reports a port that is in use, and how to choose another', () => {
    const [demo, away] = [`${root}/.demo.json`, `${root}/.demo.json.away`]
    renameSync(demo, away)
    const { port } = service
    const inUse = [1, `Port ${port} is not available. Choose another: npm run dev -- --port 8788\n`]
    // The option precedes the variable.
    assert.deepEqual(startAgain(1, '--port', String(port)), inUse)
    renameSync(away, demo)
  })

  test('Ctrl-C leaves the records in the database, and no process', async () => {
    await service.end('SIGINT')
    assert.deepEqual(processes(), [])
    // The banner's command has sent one more.
    assert.equal(countStored('customers'), demoCustomers + 1)
  })

  test('--reset deletes the databases and the demo accounts', async () => {
    const options = { cwd: root, env: { ...process.env, PORT: String(service.port) } }
    const args = ['scripts/dev.ts', '--reset']
    const child = spawn(process.execPath, args, { ...options, detached: true })
    const ended = once(child, 'exit')
    for (let i = 0; i < 600 && existsSync(join(root, ACCOUNTS)); i++) await sleep(20)
    assert.equal(existsSync(join(root, ACCOUNTS)), false)
    assert.ok(!countStored('customers'))
    // It is a group of its own with wrangler, which would make the tables.
    process.kill(-child.pid!, 'SIGKILL')
    await ended
  })
})
