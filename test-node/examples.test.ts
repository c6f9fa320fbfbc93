import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { has, startService } from './service.ts'

// The examples as a partner runs them, against the real service, and when it is in trouble.

const EXAMPLES = join(import.meta.dirname, '../examples')

/** How one is run, what it sends, and the answers it is to live through before the good one. */
interface Example {
  file: string
  command: string[]
  input: string
  outcomes: RegExp[]
  breaks: [from: string, to: string]
  told: RegExp
  troubles: number[]
}

const DELIVERY = {
  input: 'first-delivery.json',
  outcomes: [/^customers C-200[12]$/, /^transactions T-200[123]$/],
  breaks: ['"USD"', '"EUX"'] as [string, string],
  told: /^record 2 \/2\/currency currency: .+ Did you mean `EUR`\?/m,
  troubles: [401, 503, 429],
}
const ACTIVITY = {
  input: 'first-activity.json',
  outcomes: [/^customers P-2001$/, /^activities ds-P-2001-2026090[23]-casino$/],
  breaks: ['"NGR": "-7.07"', '"NGR": "much"'] as [string, string],
  told: /^record 1 \/1\/NGR number: /m,
  troubles: [503, 429],
}
const LIST: Example[] = [
  { file: 'curl/first-delivery.sh', command: ['sh'], ...DELIVERY },
  { file: 'typescript/first-delivery.ts', command: [process.execPath], ...DELIVERY },
  { file: 'python/first_delivery.py', command: ['python3'], ...DELIVERY },
  { file: 'php/first-delivery.php', command: ['php'], ...DELIVERY },
  { file: 'curl/first-activity.sh', command: ['sh'], ...ACTIVITY },
]

/** Why an example cannot be run on this machine, if it cannot. */
function missing({ file }: Example): string | false {
  const needed = file.startsWith('curl/') ? ['sh', 'curl', 'jq'] : []
  if (file.endsWith('.py')) needed.push('python3')
  if (file.endsWith('.php')) needed.push('php')
  const absent = needed.filter((command) => !has(command))
  if (absent.length > 0) return `there is no ${absent.join(' or ')} here`
  if (!file.endsWith('.php')) return false
  const suits = "exit(PHP_VERSION_ID >= 80200 && extension_loaded('curl') ? 0 : 1);"
  return spawnSync('php', ['-r', suits]).status === 0 ? false : 'php here is older, or has no curl'
}

type Variables = Record<string, string>

/** Runs an example to its end, with these variables and none of ours. */
const run = ({ command: [program = '', ...args], file }: Example, variables: Variables) =>
  new Promise<{ code: number; stdout: string; stderr: string }>((done) => {
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...variables }
    execFile(program, [...args, join(EXAMPLES, file)], { env }, (error, stdout, stderr) =>
      done({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    )
  })

/** What is told of records, as `customers C-2001`, and of all of them the one outcome. */
function toldOf(stdout: string, outcome: string): string[] {
  const line = /^((?:customers|transactions|activities) \S+) (created|unchanged|updated)\b/gm
  return [...stdout.matchAll(line)].map(([, record = '', what]) => {
    assert.equal(what, outcome, record)
    return record
  })
}

/** The service behind a line that is bad: it answers what goes to customers with `troubles` first. */
async function badLine(target: string, troubles: number[]) {
  const seen: { path: string; body: string; at: number }[] = []
  const server = createServer(async (req, res) => {
    const body = (await buffer(req)).toString()
    const path = req.url ?? ''
    seen.push({ path, body, at: performance.now() })
    const trouble = path.endsWith('/customers') ? troubles.shift() : undefined
    if (trouble) {
      res.writeHead(trouble, trouble === 401 ? {} : { 'Retry-After': '1' }).end('{}')
      return
    }
    const { authorization, 'x-api-key': key, 'content-type': type } = req.headers
    const answer = await fetch(target + path, {
      method: req.method ?? 'GET',
      headers: {
        ...(authorization && { authorization }),
        ...(type && { 'content-type': type }),
        ...(typeof key === 'string' && { 'x-api-key': key }),
      },
      ...(req.method === 'POST' && { body }),
    })
    res.writeHead(answer.status).end(await answer.text())
  }).listen(0, '127.0.0.1')
  await new Promise((done) => server.once('listening', done))
  const { port } = server.address() as AddressInfo
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { base: `http://127.0.0.1:${port}`, seen, close }
}

describe('examples', { timeout: 240_000 }, () => {
  let service: Awaited<ReturnType<typeof startService>>
  const folder = mkdtempSync(join(tmpdir(), 'examples-'))
  before(async () => {
    service = await startService()
  })
  after(async () => {
    await service?.stop()
    rmSync(folder, { recursive: true })
  })

  /** A firm or brand of its own, since all examples send the same records. */
  async function newSender({ file, input }: Example): Promise<Variables> {
    const { base_url, admin_key } = service.demo
    const isBrand = input === ACTIVITY.input
    const account = file.replace(/\W|_/g, '-').toLowerCase()
    const ask = async (method: string, path: string, body?: unknown) => {
      const response = await fetch(`${base_url}/admin/v1/accounts${path}`, {
        method,
        headers: { Authorization: `Bearer ${admin_key}`, 'Content-Type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      assert.ok(response.ok, `${path} was answered ${response.status}`)
      return (await response.json()) as Record<string, string>
    }
    const vertical = isBrand ? 'igaming' : 'forex'
    await ask('POST', '', { account, name: account, vertical, mode: 'test' })
    if (isBrand) {
      const kpis = ['GGR', 'NGR', 'Bets', 'Games']
      await ask('PUT', `/${account}/events/DailyStats`, {
        granularity: 'day',
        eventid: 'used',
        kpis,
      })
      const { brand_token = '' } = await ask('POST', `/${account}/brand-tokens`)
      return { TRIBUTARY_BASE_URL: base_url, TRIBUTARY_BRAND_TOKEN: brand_token }
    }
    const affiliates = ['IB-07', 'IB-08'].map((affiliate_id) => ({ affiliate_id }))
    await ask('PUT', `/${account}/affiliates`, affiliates)
    const { client_id = '', client_secret = '' } = await ask('POST', `/${account}/clients`)
    return {
      TRIBUTARY_BASE_URL: base_url,
      TRIBUTARY_CLIENT_ID: client_id,
      TRIBUTARY_CLIENT_SECRET: client_secret,
    }
  }

  const skip = has('sh') ? false : 'there is no sh here'
  test('the README tells how to run each, and sets what they read', { skip }, () => {
    const readme = readFileSync(join(EXAMPLES, 'README.md'), 'utf8')
    const rows = [...readme.matchAll(/^\|.*\((\S+)\).*\| `\S+ examples\/(\S+)` \|$/gm)]
    assert.deepEqual(
      rows.map(([, link]) => link),
      LIST.map(({ file }) => file),
    )
    for (const [, link, file] of rows) assert.equal(file, link)
    writeFileSync(join(folder, '.demo.json'), JSON.stringify(service.demo))
    const [line] = /^export [\s\S]+?(?=\n```)/m.exec(readme) ?? []
    const { stdout } = spawnSync('sh', ['-c', `${line}; env`], { cwd: folder, encoding: 'utf8' })
    const [, firm, brand] = service.demo.accounts
    for (const set of [
      `BASE_URL=${service.demo.base_url}`,
      `CLIENT_ID=${firm!.client_id}`,
      `CLIENT_SECRET=${firm!.client_secret}`,
      `BRAND_TOKEN=${brand!.brand_token}`,
    ])
      assert.ok(stdout.split('\n').includes(`TRIBUTARY_${set}`), set)
  })

  for (const example of LIST) {
    test(`${example.file} sends, sends again, and tells what is wrong`, {
      skip: missing(example),
    }, async () => {
      const sender = await newSender(example)
      const target = sender.TRIBUTARY_BASE_URL!
      const input = readFileSync(join(EXAMPLES, example.input), 'utf8')

      // The first run meets every trouble that a repetition cures.
      const bad = await badLine(target, [...example.troubles])
      const first = await run(example, { ...sender, TRIBUTARY_BASE_URL: bad.base })
      bad.close()
      assert.equal(first.code, 0, first.stderr)
      const created = toldOf(first.stdout, 'created')
      assert.equal(created.length, example.input === ACTIVITY.input ? 3 : 5)
      for (const record of created)
        assert.ok(
          example.outcomes.some((form) => form.test(record)),
          record,
        )
      assert.match(first.stdout, /^reconciled$/m)
      const posts = bad.seen.filter(({ path }) => path.endsWith('/customers'))
      assert.equal(posts.length, example.troubles.length + 1)
      assert.equal(new Set(posts.map(({ body }) => body)).size, 1, 'it repeats the same request')
      const [last, before] = [posts.at(-1)!, posts.at(-2)!]
      assert.ok(last.at - before.at > 900, 'it waits as long as it is told')
      const tokens = bad.seen.filter(({ path }) => path === '/oauth/token').length
      assert.equal(tokens, example.input === ACTIVITY.input ? 0 : 2)

      const second = await run(example, sender)
      assert.equal(second.code, 0, second.stderr)
      assert.deepEqual(toldOf(second.stdout, 'unchanged'), created)
      assert.match(second.stdout, /^reconciled$/m)

      const broken = join(folder, `${example.file.replace('/', '-')}.json`)
      writeFileSync(broken, input.replace(...example.breaks))
      const third = await run(example, { ...sender, EXAMPLE_INPUT: broken })
      assert.equal(third.code, 1)
      assert.match(third.stderr, example.told)
      assert.doesNotMatch(third.stdout, /reconciled/)

      // Totals of fewer days than were sent do not come to the same.
      writeFileSync(broken, input.replace('"from": "2026-09-01"', '"from": "2026-09-03"'))
      const fourth = await run(example, { ...sender, EXAMPLE_INPUT: broken })
      assert.notEqual(fourth.code, 0)
      assert.doesNotMatch(fourth.stdout, /^reconciled$/m)
    })

    test(`${example.file} gives up on what does not pass`, {
      skip: missing(example),
    }, async () => {
      for (const status of example.troubles.slice(0, 2)) {
        const { base_url, accounts } = service.demo
        const [, firm, brand] = accounts
        const bad = await badLine(base_url, Array(20).fill(status))
        const { code, stderr, stdout } = await run(example, {
          TRIBUTARY_BASE_URL: bad.base,
          TRIBUTARY_CLIENT_ID: firm!.client_id,
          TRIBUTARY_CLIENT_SECRET: firm!.client_secret,
          TRIBUTARY_BRAND_TOKEN: brand!.brand_token,
        })
        bad.close()
        assert.notEqual(code, 0)
        assert.match(stderr, new RegExp(`${status}`))
        assert.equal(stdout, '')
        const posts = bad.seen.filter(({ path }) => path.endsWith('/customers'))
        assert.ok(posts.length > 1 && posts.length <= 5, `${posts.length} tries`)
      }
    })
  }
})
