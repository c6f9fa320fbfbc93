import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { startFlakyProxy } from './flaky-proxy.ts'
import { has } from './service.ts'
import { type Shared, shareService } from './shared-service.ts'

// The examples as a partner runs them, against the service and behind a proxy that fails at times.

const EXAMPLES = join(import.meta.dirname, '../examples')

/** An example: how it runs, what it sends, and the failures that it must retry. */
interface Example {
  file: string
  command: string[]
  input: string
  outcomes: RegExp[]
  /** The change that makes a record invalid, and the output that it must cause. */
  invalid: [from: string, to: string]
  refusal: RegExp
  failures: number[]
}

const DELIVERY = {
  input: 'first-delivery.json',
  outcomes: [/^customers C-200[12]$/, /^transactions T-200[123]$/],
  invalid: ['"USD"', '"EUX"'] as [string, string],
  refusal: /^record 2 \/2\/currency currency: .+ Did you mean `EUR`\?/m,
  failures: [401, 503, 429],
}
const ACTIVITY = {
  input: 'first-activity.json',
  outcomes: [/^customers P-2001$/, /^activities ds-P-2001-2024090[23]-casino$/],
  invalid: ['"NGR": "-7.07"', '"NGR": "much"'] as [string, string],
  refusal: /^record 1 \/1\/NGR number: /m,
  failures: [503, 429],
}
const LIST: Example[] = [
  { file: 'curl/first-delivery.sh', command: ['sh'], ...DELIVERY },
  { file: 'python/first_delivery.py', command: ['python3'], ...DELIVERY },
  { file: 'php/first-delivery.php', command: ['php'], ...DELIVERY },
  { file: 'curl/first-activity.sh', command: ['sh'], ...ACTIVITY },
]

/** Returns why an example cannot run on this machine, or false if it can. */
function whySkipped({ file }: Example): string | false {
  const needed = file.startsWith('curl/') ? ['sh', 'curl', 'jq'] : []
  if (file.endsWith('.py')) needed.push('python3')
  if (file.endsWith('.php')) needed.push('php')
  const absent = needed.filter((command) => !has(command))
  if (absent.length > 0) return `${absent.join(' and ')} not installed`
  if (!file.endsWith('.php')) return false
  const suits = "exit(PHP_VERSION_ID >= 80200 && extension_loaded('curl') ? 0 : 1);"
  return spawnSync('php', ['-r', suits]).status === 0
    ? false
    : 'php is older than 8.2 or has no curl extension'
}

type Variables = Record<string, string>

/** Runs an example with these environment variables alone. */
const run = ({ command: [program = '', ...args], file }: Example, variables: Variables) =>
  new Promise<{ code: number; stdout: string; stderr: string }>((done) => {
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...variables }
    execFile(program, [...args, join(EXAMPLES, file)], { env }, (error, stdout, stderr) =>
      done({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    )
  })

/** Returns the records that the output reports, as `customers C-2001`, all with this outcome. */
function reportedRecords(stdout: string, outcome: string): string[] {
  const line = /^((?:customers|transactions|activities) \S+) (created|unchanged|updated)\b/gm
  return [...stdout.matchAll(line)].map(([, record = '', what]) => {
    assert.equal(what, outcome, record)
    return record
  })
}

const isCustomers = (path: string) => path.endsWith('/customers')

// They run at the same time, because most of their time passes in waiting for `Retry-After`.
describe('examples', { timeout: 600_000, concurrency: true }, () => {
  let service: Shared
  const folder = mkdtempSync(join(tmpdir(), 'examples-'))
  before(async () => {
    service = await shareService('examples')
  })
  after(async () => {
    await service?.stop()
    rmSync(folder, { recursive: true })
  })

  /** Creates an account for an example, because all examples send the same records. */
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

  const skip = has('sh') ? false : 'sh is not installed'
  test('the README has the command of each example and sets their variables', { skip }, () => {
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

  test('§6 examples compare a month that the demo, which plants a year until today, never reaches', () => {
    for (const { input } of [DELIVERY, ACTIVITY]) {
      const { to } = JSON.parse(readFileSync(join(EXAMPLES, input), 'utf8'))
      assert.ok(Date.now() - Date.parse(to) > 400 * 86_400_000, input)
    }
  })

  for (const example of LIST) {
    const skip = whySkipped(example)
    test(`${example.file} sends, sends again, and reports an invalid record`, {
      skip,
    }, async () => {
      const sender = await newSender(example)
      const target = sender.TRIBUTARY_BASE_URL!
      const input = readFileSync(join(EXAMPLES, example.input), 'utf8')

      // The first run meets every failure that a retry cures.
      const proxy = await startFlakyProxy(target, [...example.failures], isCustomers)
      const first = await run(example, { ...sender, TRIBUTARY_BASE_URL: proxy.base })
      proxy.close()
      assert.equal(first.code, 0, first.stderr)
      const created = reportedRecords(first.stdout, 'created')
      assert.equal(created.length, example.input === ACTIVITY.input ? 3 : 5)
      for (const record of created)
        assert.ok(
          example.outcomes.some((form) => form.test(record)),
          record,
        )
      assert.match(first.stdout, /^reconciled$/m)
      const posts = proxy.seen.filter(({ path }) => path.endsWith('/customers'))
      assert.equal(posts.length, example.failures.length + 1)
      assert.equal(new Set(posts.map(({ body }) => body)).size, 1, 'repeats the same request')
      const [last, before] = [posts.at(-1)!, posts.at(-2)!]
      assert.ok(last.at - before.at > 900, 'waits for Retry-After')
      const tokens = proxy.seen.filter(({ path }) => path === '/oauth/token').length
      assert.equal(tokens, example.input === ACTIVITY.input ? 0 : 2)

      const broken = join(folder, `${example.file.replace('/', '-')}.json`)
      writeFileSync(broken, input.replace(...example.invalid))
      const refused = await run(example, { ...sender, EXAMPLE_INPUT: broken })
      assert.equal(refused.code, 1)
      assert.match(refused.stderr, example.refusal)
      assert.doesNotMatch(refused.stdout, /reconciled/)

      // The totals of fewer days than were sent differ.
      writeFileSync(broken, input.replace('"from": "2024-09-01"', '"from": "2024-09-03"'))
      const again = await run(example, { ...sender, EXAMPLE_INPUT: broken })
      assert.deepEqual(reportedRecords(again.stdout, 'unchanged'), created)
      assert.notEqual(again.code, 0)
      assert.doesNotMatch(again.stdout, /^reconciled$/m)
    })

    test(`${example.file} gives up on a failure that lasts`, { skip }, async () => {
      const [status] = example.failures
      const { base_url, accounts } = service.demo
      const [, firm, brand] = accounts
      const proxy = await startFlakyProxy(base_url, Array(20).fill(status), isCustomers)
      const { code, stderr, stdout } = await run(example, {
        TRIBUTARY_BASE_URL: proxy.base,
        TRIBUTARY_CLIENT_ID: firm!.client_id,
        TRIBUTARY_CLIENT_SECRET: firm!.client_secret,
        TRIBUTARY_BRAND_TOKEN: brand!.brand_token,
      })
      proxy.close()
      assert.notEqual(code, 0)
      assert.match(stderr, new RegExp(`${status}`))
      assert.equal(stdout, '')
      const posts = proxy.seen.filter(({ path }) => path.endsWith('/customers'))
      assert.ok(posts.length > 1 && posts.length <= 5, `${posts.length} attempts`)
    })
  }
})
