import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readlinkSync, renameSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { copyRepository, has, startIn } from './service.ts'

// What the README promises of `npm run dev`, over real HTTP, in a folder of its own.

const root = copyRepository()

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

describe('npm run dev', { timeout: 180_000 }, () => {
  let service: Awaited<ReturnType<typeof startIn>>
  before(async () => {
    service = await startIn(root)
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

  const again = (port: number) => {
    const env = { ...process.env, PORT: String(port) }
    const options = { cwd: root, env, encoding: 'utf8' } as const
    const { status, stderr } = spawnSync(process.execPath, ['scripts/dev.ts'], options)
    return [status, stderr]
  }

  test('does not run twice in one clone, at whichever port', () => {
    const { base_url } = service.demo
    for (const port of [service.port, service.port + 1]) {
      assert.deepEqual(again(port), [
        1,
        `The service runs already, at ${base_url}. End it first, or use another clone.\n`,
      ])
    }
  })

  test('says which port is taken, and how to choose another', () => {
    const [demo, away] = [`${root}/.demo.json`, `${root}/.demo.json.away`]
    renameSync(demo, away)
    const { port } = service
    assert.deepEqual(again(port), [
      1,
      `Port ${port} cannot be used (EADDRINUSE). Choose another: PORT=8788 npm run dev\n`,
    ])
    renameSync(away, demo)
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

  test('takes a large body in any number of chunks', async () => {
    const { brand_token } = service.demo.accounts.find(({ vertical }) => vertical === 'igaming')!
    const text = JSON.stringify([{ customerId: 'chunked' }]) + ' '.repeat(1_300_000)
    const status = await new Promise((done, fail) => {
      const sending = request(
        `${service.demo.base_url}/tracking/events/customers?dry_run=true`,
        {
          method: 'POST',
          headers: { 'x-api-key': brand_token, 'Content-Type': 'application/json' },
        },
        (response) => response.resume().on('end', () => done(response.statusCode)),
      ).on('error', fail)
      // Beyond its first megabyte it is read chunk by chunk.
      sending.write(text.slice(0, 1_100_000))
      for (let i = 1_100_000; i < text.length; i += 15) sending.write(text.slice(i, i + 15))
      sending.end()
    })
    assert.equal(status, 200)
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
    service = await startIn(root)
    assert.equal(await totalOf(), 1)
    assert.deepEqual(service.demo.accounts, accounts)

    await service.end('SIGTERM')
    assert.deepEqual(processes(), [])
    service = await startIn(root, '--reset')
    assert.equal(await totalOf(), 0)
  })
})
