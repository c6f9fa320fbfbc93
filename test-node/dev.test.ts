import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'

// What the README promises of `npm run dev`, over real HTTP, in a folder of its own.

interface Demo {
  base_url: string
  admin_key: string
  accounts: {
    name: string
    vertical: string
    client_id: string
    client_secret: string
    brand_token: string
  }[]
}

const root = mkdtempSync(join(tmpdir(), 'tributary-dev-'))
const NEEDED = ['package.json', 'wrangler.toml', 'tsconfig.json', 'src', 'migrations', 'scripts']
for (const name of NEEDED) cpSync(name, join(root, name), { recursive: true })
symlinkSync(resolve('node_modules'), join(root, 'node_modules'))

const demoPath = join(root, '.demo.json')
const wait = (ms: number) => new Promise((done) => setTimeout(done, ms))

const freePort = () =>
  new Promise<number>((done) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => done(port))
    })
  })

/** Processes that were started in this folder; where the system does not tell, none. */
const processes = () =>
  (existsSync('/proc') ? readdirSync('/proc') : [])
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`) === root
      } catch {
        return false // It has ended meanwhile, or is another user's.
      }
    })

const has = (command: string) =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, command)))

async function start(...args: string[]) {
  const port = await freePort()
  const child = spawn(process.execPath, ['scripts/dev.ts', ...args], {
    cwd: root,
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  child.stdout.on('data', (data) => (said += data))
  child.stderr.on('data', (data) => (said += data))
  rmSync(demoPath, { force: true })
  for (let i = 0; i < 600 && !existsSync(demoPath) && child.exitCode === null; i++) await wait(100)
  assert.ok(existsSync(demoPath), said)
  const demo: Demo = JSON.parse(readFileSync(demoPath, 'utf8'))
  const ended = new Promise<void>((done) => child.on('exit', () => done()))
  return {
    port,
    demo,
    said: async () => {
      for (let i = 0; i < 50 && !said.includes('Ctrl-C ends it'); i++) await wait(100)
      return said
    },
    end: async (signal: NodeJS.Signals) => {
      child.kill(signal)
      await ended
    },
  }
}

describe('npm run dev', { timeout: 180_000 }, () => {
  let service: Awaited<ReturnType<typeof start>>
  before(async () => {
    service = await start()
  })
  after(async () => {
    await service.end('SIGTERM')
    rmSync(root, { recursive: true, force: true })
  })

  test('writes .demo.json whole: address, admin key, an account of each vertical', () => {
    const { demo, port } = service
    assert.equal(demo.base_url, `http://127.0.0.1:${port}`)
    assert.ok(demo.admin_key.length >= 32)
    assert.deepEqual(
      demo.accounts.map(({ vertical }) => vertical),
      ['prop-trading', 'forex', 'igaming'],
    )
  })

  const skip = has('curl') && has('bash') ? false : 'there is no curl or bash here'
  test('prints curl lines that work as they stand, for each account', { skip }, async () => {
    const said = await service.said()
    for (const { name, vertical } of service.demo.accounts) {
      const lines = said
        .slice(said.indexOf(`# ${name}`))
        .split('\n')
        .filter((line) => /^(BASE=|curl )/.test(line))
        .slice(0, 5)
      assert.match(lines[0]!, /^BASE=\S+ (BRAND_)?TOKEN=/)
      const printed = execFileSync('bash', ['-c', lines.join('; echo;')], { encoding: 'utf8' })
      const answers = printed
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      assert.equal(answers[0].summary.created, 1, vertical)
      assert.equal(answers[1].summary.created, 1)
      assert.equal(answers[2].meta.total, 1)
      assert.equal(answers[3].data.length, 2)
      // The link was followed, and what it gave out came back: the customer is attributed.
      if (vertical === 'igaming') assert.equal(answers[0].results[0].warnings, undefined)
    }
  })

  const tokenOf = async ({ demo }: typeof service) => {
    const { client_id, client_secret } = demo.accounts[1]!
    const form = { grant_type: 'client_credentials', client_id, client_secret }
    const body = new URLSearchParams(form)
    const response = await fetch(`${demo.base_url}/oauth/token`, { method: 'POST', body })
    return ((await response.json()) as { access_token: string }).access_token
  }

  test('says which port is taken, and how to choose another', () => {
    const { port } = service
    const { status, stderr } = spawnSync(process.execPath, ['scripts/dev.ts'], {
      cwd: root,
      env: { ...process.env, PORT: String(port) },
      encoding: 'utf8',
    })
    assert.equal(status, 1)
    assert.equal(
      stderr,
      `Port ${port} cannot be used (EADDRINUSE). Choose another: PORT=8788 npm run dev\n`,
    )
  })

  test('answers refused bodies of any size, and the next request on the same connection', async () => {
    const token = await tokenOf(service)
    const big = ' '.repeat(9_000_000)
    const json = { 'Content-Type': 'application/json' }
    const chunked = () => new Blob([big]).stream()
    const at = `${service.demo.base_url}/api/v1/forex/customers`
    for (const [status, url, headers, body] of [
      [413, at, { ...json, Authorization: `Bearer ${token}` }, big],
      [413, at, { ...json, Authorization: `Bearer ${token}` }, chunked()],
      [401, at, { ...json, Authorization: 'Bearer x.y.z' }, big],
      [401, at, { ...json, Authorization: 'Bearer x.y.z' }, chunked()],
      [415, at, { 'Content-Type': 'text/plain', Authorization: `Bearer ${token}` }, big],
      [
        403,
        at.replace('forex', 'prop-trading'),
        { ...json, Authorization: `Bearer ${token}` },
        big,
      ],
      [404, `${service.demo.base_url}/nowhere`, json, big],
      [400, `${service.demo.base_url}/oauth/token`, json, big],
    ] as const) {
      const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit
      assert.equal((await fetch(url, init)).status, status)
      assert.equal((await fetch(`${service.demo.base_url}/healthz`)).status, 200)
    }
  })

  test('keeps its data when it runs again, and --reset starts over; nothing is left behind', async () => {
    const totalOf = async () => {
      const headers = { Authorization: `Bearer ${await tokenOf(service)}` }
      const url = `${service.demo.base_url}/api/v1/forex/customers`
      const response = await fetch(url, { headers })
      return ((await response.json()) as { meta: { total: number } }).meta.total
    }
    const { accounts } = service.demo
    assert.equal(await totalOf(), 1)

    if (existsSync('/proc')) assert.notDeepEqual(processes(), [])
    await service.end('SIGINT')
    assert.deepEqual(processes(), [])
    service = await start()
    assert.equal(await totalOf(), 1)
    assert.deepEqual(service.demo.accounts, accounts)

    await service.end('SIGTERM')
    assert.deepEqual(processes(), [])
    service = await start('--reset')
    assert.equal(await totalOf(), 0)
  })
})
