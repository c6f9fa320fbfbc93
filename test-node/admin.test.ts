import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { after, describe, test } from 'node:test'
import { readArguments } from '../scripts/admin/arguments.ts'
import { confirm } from '../scripts/admin/confirm.ts'
import { nameOf } from '../scripts/admin/operation.ts'
import { OPERATIONS } from '../scripts/admin/operations.ts'
import { readProfile } from '../scripts/admin/profile.ts'
import { runAdmin } from '../scripts/admin/run.ts'
import { bundleCommand } from './bundle.ts'
import { leakIn, sought } from './secrecy/leaks.ts'

// Runs the command against a fake service that can fail in every way. Only the tests of what a process
// adds start one: environment, working folder, streams and exit codes.

const ROOT = mkdtempSync(join(tmpdir(), 'admin-'))
const COMMAND = await bundleCommand('admin', ROOT)
const CACHE = join(ROOT, 'cache')
const KEY = 'key-do-not-print-me'
const SECRETS = sought({ KEY })

/** A request as the service received it. */
interface Seen {
  /** The method, and the path below `/admin/v1/`. */
  line: string
  body: unknown
  key: string | undefined
  /** The media type that a text was asked for with. */
  accept?: string
  nth: number
}

interface Reply {
  status?: number
  headers?: Record<string, string>
  /** A string is sent as it is. */
  body?: object | string
  reset?: true
}

const servers: ReturnType<typeof createServer>[] = []
after(() => {
  for (const server of servers) server.close()
  rmSync(ROOT, { recursive: true })
})

/** Starts a service with the given replies. */
async function service(reply: (seen: Seen) => Reply) {
  const requests: Seen[] = []
  const server = createServer(async (request, response) => {
    const text = String(await buffer(request))
    const isCsv = request.headers['content-type'] === 'text/csv'
    const { accept = '' } = request.headers
    const seen = {
      line: `${request.method} ${request.url!.replace('/admin/v1/', '')}`,
      // Parsed, unless it is CSV.
      body: text === '' || isCsv ? text || undefined : JSON.parse(text),
      key: request.headers.authorization,
      ...(accept.startsWith('text/') && { accept }),
      nth: requests.length,
    }
    requests.push(seen)
    const { status = 200, headers = {}, body, reset } = reply(seen)
    if (reset) response.destroy()
    else {
      const type = status < 400 ? 'application/json' : 'application/problem+json'
      response.writeHead(status, { 'Content-Type': type, ...headers })
      response.end(typeof body === 'string' ? body : JSON.stringify(body))
    }
  }).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const lines = () => requests.map(({ line }) => line)
  return { base, requests, lines }
}

const problem = (status: number, more: object = {}, headers: Record<string, string> = {}) => ({
  status,
  headers,
  body: { type: 'about:blank', title: 'The title', status, code: 'c', request_id: 'R-1', ...more },
})

/** Runs the command in this process, without a terminal. */
async function admin(base: string, args: string[]) {
  let [stdout, stderr] = ['', '']
  const code = await runAdmin(args, {
    env: { TRIBUTARY_BASE_URL: base, TRIBUTARY_ADMIN_KEY: KEY },
    terminal: { input: new PassThrough(), output: new PassThrough() },
    print: (text) => (stdout += `${text}\n`),
    printError: (text) => (stderr += `${text}\n`),
  })
  // Lines of CSV end with both.
  assertPrintable((stdout + stderr).replaceAll('\r\n', '\n'))
  return { code, stdout, stderr }
}

/** Asserts that the output has neither the key nor control characters. */
function assertPrintable(output: string) {
  assert.equal(leakIn(output, SECRETS), null)
  assert.doesNotMatch(output, /[^\P{Cc}\n]/u, 'a control character was printed')
}

/** Runs the command as a process. */
async function start(base: string, args: string[], options: { env?: object; cwd?: string } = {}) {
  const { env = { TRIBUTARY_BASE_URL: base, TRIBUTARY_ADMIN_KEY: KEY }, cwd = ROOT } = options
  const child = spawn(process.execPath, [COMMAND, ...args], {
    cwd,
    env: { NODE_COMPILE_CACHE: CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr, [code]] = await Promise.all([
    buffer(child.stdout).then(String),
    buffer(child.stderr).then(String),
    once(child, 'exit'),
  ])
  assertPrintable(stdout + stderr)
  return { code: code as number, stdout, stderr }
}

/** Writes a file in a new directory. */
function file(name: string, text: string): string {
  const path = join(mkdtempSync(join(ROOT, 'files-')), name)
  writeFileSync(path, text)
  return path
}

const page = (data: object[], next_cursor: string | null = null) => ({
  data,
  meta: { total: data.length, page: 1, per_page: 500, next_cursor },
})

const ONE = page([{ account: 'a', n: 1, feeds: [{ resource: 'customers' }] }])
const LIST = { data: [{ id: 'x', n: 1 }] }
const THING = { account: 'a', policies: { unknown_customer: 'hold' }, disabled: false }
const SPAN = ['--from', '2026-10-01', '--to', '2026-10-31']
describe('operations', { concurrency: 4 }, () => {
  test('a body is JSON or a file with it: as it is, or as --json printed it', async () => {
    const { base, requests } = await service(() => ({ body: THING }))
    const terms = { kind: 'resets', name: 'R' }
    const printed = file('version.json', JSON.stringify({ rule: 'r', version: 2, terms }))
    for (const typed of [printed, JSON.stringify(terms)]) {
      await admin(base, ['fraud', 'put', 'a', 'lot-churn', typed, '--after', '1'])
    }
    const bodies = requests.map(({ body }) => body)
    assert.deepEqual(bodies, [terms, terms])
    assert.equal(requests[0]?.line, 'PUT accounts/a/fraud-rules/lot-churn?after=1')
    const { code, stderr } = await admin(base, ['fraud', 'put', 'a', 'r', 'nowhere.json'])
    assert.equal(code, 2)
    assert.match(stderr, /`nowhere\.json` is neither JSON nor a file with JSON/)
  })

  test('what is a word or JSON is sent as typed', async () => {
    const { base, requests } = await service(() => ({ body: { id: 'm' } }))
    await admin(base, ['members', 'change', 'm', '--accounts', 'all', '--affiliates', 'all'])
    const some = ['--accounts', '["acme"]', '--affiliates', '{"own": true}']
    await admin(base, ['members', 'change', 'm', ...some])
    const bodies = requests.map(({ body }) => body)
    const own = { accounts: ['acme'], affiliates: { own: true } }
    assert.deepEqual(bodies, [{ accounts: 'all', affiliates: 'all' }, own])
  })

  /** Serves two pages of a text, which `Link` connects. */
  const twoPages = (type: string, pages: readonly [string, string]) => (seen: Seen) => {
    const isSecond = seen.line.includes('cursor=')
    const link = `<https://x.example/admin/v1/accounts/a/statements?per_page=200&cursor=two>; rel="next"`
    const headers = { 'Content-Type': type, ...(!isSecond && { Link: link }) }
    return { headers, body: pages[isSecond ? 1 : 0] }
  }

  test('statements list --csv: joins the pages of CSV under one header', async () => {
    const { base, requests, lines } = await service(
      twoPages('text/csv', ['id,amount\r\nstm_1,-5.00\r\n', 'id,amount\r\nstm_2,1.00\r\n']),
    )
    const args = ['statements', 'list', 'a', '--period', '2026-10', '--csv']
    const { stdout } = await admin(base, args)
    assert.equal(stdout, 'id,amount\nstm_1,-5.00\nstm_2,1.00\n')
    assert.deepEqual(lines(), [
      'GET accounts/a/statements?per_page=200&period=2026-10',
      'GET accounts/a/statements?per_page=200&cursor=two',
    ])
    assert.deepEqual(new Set(requests.map(({ accept }) => accept)), new Set(['text/csv']))
  })

  test('a process prints the same, and sends the same request', async () => {
    const [args, line] = [['accounts', 'list'], 'GET accounts?per_page=500'] as const
    const { base, requests } = await service(() => ({ body: ONE }))
    const { code, stdout, stderr } = await start(base, [...args, '--json'])
    assert.deepEqual([code, stdout, stderr], [0, `${JSON.stringify(ONE)}\n`, ''])
    assert.deepEqual(requests, [{ line, body: undefined, key: `Bearer ${KEY}`, nth: 0 }])
  })

  test('prints a list as a table', async () => {
    const account = { account: 'acme', name: 'Acme', policies: { unknown_customer: 'hold' } }
    const { base } = await service(() => ({ body: page([{ ...account, disabled: true }]) }))
    const { stdout } = await admin(base, ['accounts', 'list'])
    assert.match(stdout, /│ account │ name │ unknown_customer │ disabled │/)
    assert.match(stdout, /│ acme {4}│ Acme │ hold {13}│ yes {6}│/)
  })

  test('prints an answer with a list as lines and a table', async () => {
    const data = [{ groups: { day: '2026-10-01' }, metrics: { lots: '1' }, unconverted: [] }]
    const { base } = await service(() => ({ body: { currency: 'EUR', data } }))
    const { stdout } = await admin(base, ['reports', 'a', ...SPAN, '--group-by', 'day'])
    assert.match(stdout, /^currency +EUR\ndata:\n.+\n│ day +│ lots │\n.+\n│ 2026-10-01 │ 1 /)
  })

  test('escapes control characters, also in JSON', async () => {
    const name = 'a\u001b[31m\u009b2J\u202e\r\n\tb'
    const { base } = await service(() => ({ body: page([{ account: 'a', name }]) }))
    const { stdout } = await admin(base, ['accounts', 'list'])
    assert.match(stdout, /│ a\\u001b\[31m\\u009b2J\\u202e\\u000d\\u000a\\u0009b │/)
    const { stdout: json } = await admin(base, ['accounts', 'list', '--json'])
    assert.ok(!json.includes('\u202e'))
    assert.equal(JSON.parse(json).data[0].name, name)
    const bad = await service(() => problem(409, { detail: name }))
    const { stderr } = await admin(bad.base, ['accounts', 'list'])
    assert.match(stderr, /a\\u001b\[31m/)
  })
})

describe('secrets', { concurrency: 4 }, () => {
  const issued = { client_id: 'c-1', client_secret: 'tcs_live_x' }

  test('prints a secret once, with a note on stderr', async () => {
    const { base } = await service(() => ({ status: 201, body: issued }))
    const { stdout, stderr } = await admin(base, ['clients', 'issue', 'a'])
    assert.equal(stdout, 'client_id      c-1\nclient_secret  tcs_live_x\n')
    assert.match(stderr, /^Store the client_secret now: it cannot be shown again\.\n$/)
  })

  test('--json: prints only the JSON on stdout', async () => {
    const { base } = await service(() => ({ status: 201, body: issued }))
    const { stdout, stderr } = await start(base, ['clients', 'issue', 'a', '--json'])
    assert.equal(stdout, `${JSON.stringify(issued)}\n`)
    assert.match(stderr, /cannot be shown again/)
  })

  const makers = {
    'clients issue a': /run `clients list`, and first revoke the unknown client/,
    'clients rotate a c --overlap 24h': /another rotation would end it at once/,
    'brand-token regenerate a': /run `brand-token list`, and first revoke the unknown token/,
    'affiliate-keys make a b --name N': /run `affiliate-keys list`, and first end the unknown key/,
  }
  const failures = {
    'a 503': problem(503, {}, { 'Retry-After': '0' }),
    'a 500': problem(500),
    'no answer': { reset: true },
    'a page that is not JSON': { status: 201, body: '<html>' },
  } as const
  for (const [typed, advice] of Object.entries(makers)) {
    test(`${typed}: does not retry a failure, and says what to do`, async () => {
      for (const reply of Object.values(failures)) {
        const { base, requests } = await service(() => reply)
        const { code, stdout, stderr } = await admin(base, typed.split(' '))
        assert.deepEqual([code, stdout, requests.length], [1, '', 1])
        assert.match(stderr, /The request may have taken effect\. A secret may have been created/)
        assert.match(stderr, advice)
      }
    })
  }

  test('does not follow redirects', async () => {
    const elsewhere = await service(() => ({ body: LIST }))
    const { base } = await service(() => ({
      status: 302,
      headers: { Location: `${elsewhere.base}/admin/v1/accounts` },
    }))
    const { code, stderr } = await admin(base, ['accounts', 'list'])
    assert.deepEqual([code, elsewhere.requests], [1, []])
    assert.match(stderr, /^admin: 302 The response does not come from Tributary\.\n$/)
  })
})

describe('pages', { concurrency: 4 }, () => {
  const items = (count: number) => Array.from({ length: count }, (_, i) => ({ id: i }))

  /** Serves a list in pages of limited size. */
  const paged = (total: number, most: number) => (seen: Seen) => {
    const query = new URLSearchParams(seen.line.split('?')[1])
    const from = Number(query.get('cursor') ?? 0)
    const size = Math.min(most, Number(query.get('per_page')))
    const data = items(total).slice(from, from + size)
    const next = from + size < total ? String(from + size) : null
    const meta = { total, page: 1, per_page: size, next_cursor: next }
    return { body: { data, meta } }
  }

  test('reads all pages of a list, with its filters', async () => {
    const { base, lines } = await service(paged(7, 3))
    const { stdout } = await admin(base, ['audit-log', '--account', 'a', '--json'])
    assert.deepEqual(lines(), [
      'GET audit-log?account=a&per_page=500',
      'GET audit-log?account=a&per_page=500&cursor=3',
      'GET audit-log?account=a&per_page=500&cursor=6',
    ])
    const meta = { total: 7, page: 1, per_page: 3, next_cursor: null }
    assert.deepEqual(JSON.parse(stdout), { data: items(7), meta })
  })

  /** Repeats erasures in three requests; the second one can fail. */
  const replayed = (secondFails: boolean) => (seen: Seen) => {
    const cursor = new URLSearchParams(seen.line.split('?')[1]).get('cursor')
    if (cursor === null) return { body: { erased: 500, next: 'one' } }
    if (cursor !== 'one') return { body: { erased: 7, next: null } }
    return secondFails ? problem(503) : { body: { erased: 0, next: 'two' } }
  }

  test('erasures replay follows the cursor to the end, and shows its progress', async () => {
    const { base, lines } = await service(replayed(false))
    const { code, stdout, stderr } = await admin(base, ['erasures', 'replay', '--json'])
    assert.deepEqual([code, JSON.parse(stdout)], [0, { erased: 507, next: null }])
    assert.deepEqual(stderr.trim().split('\n'), [
      'To continue from here: --cursor one',
      'To continue from here: --cursor two',
    ])
    assert.deepEqual(lines(), [
      'POST erasures/replay',
      'POST erasures/replay?cursor=one',
      'POST erasures/replay?cursor=two',
    ])
  })

  test('an interrupted replay names the cursor to continue from', async () => {
    const { base, lines } = await service(replayed(true))
    const { code, stderr } = await admin(base, ['erasures', 'replay', '--account', 'a'])
    assert.equal(code, 1)
    assert.match(stderr, /^To continue from here: --cursor one\n/)
    const again = ['erasures', 'replay', '--account', 'a', '--cursor', 'two', '--json']
    assert.deepEqual(JSON.parse((await admin(base, again)).stdout), { erased: 7, next: null })
    assert.deepEqual(lines(), [
      'POST erasures/replay?account=a',
      'POST erasures/replay?account=a&cursor=one',
      'POST erasures/replay?account=a&cursor=two',
    ])
  })

  test('--limit reads no further, and prints the total', async () => {
    const { base, lines } = await service(paged(900, 500))
    const { stdout } = await admin(base, ['held', 'a', '--limit', '600', '--json'])
    const { data, meta } = JSON.parse(stdout)
    assert.deepEqual([data.length, meta.next_cursor], [600, '600'])
    assert.deepEqual(lines(), [
      'GET accounts/a/held?per_page=500',
      'GET accounts/a/held?per_page=100&cursor=500',
    ])
    const { stdout: table } = await admin(base, ['held', 'a', '--limit', '2'])
    assert.match(table, /\n2 of 900\.\n$/)
  })
})

describe('failures', { concurrency: 4 }, () => {
  test('prints detail, errors with hints, and request id; exit code 1', async () => {
    const errors = [
      { pointer: '/time_zone', code: 'pattern', message: 'No zone.', hint: 'Write Europe/Rome.' },
      { pointer: '', code: 'type', message: 'This must be an object.' },
    ]
    const more = { detail: 'Nothing was changed.', errors, errors_total: 5 }
    const { base } = await service(() => problem(422, more))
    const { code, stdout, stderr } = await start(base, ['clients', 'issue', 'a', '--json'])
    assert.deepEqual([code, stdout], [1, ''])
    assert.deepEqual(stderr.split('\n'), [
      'admin: 422 The title – Nothing was changed.',
      '  /time_zone  No zone.  Write Europe/Rome.',
      '  (the whole body)  This must be an object.',
      '  … and 3 more',
      '  request id: R-1',
      '',
    ])
  })

  for (const args of [['feeds'], ['status-map', 'set', 'a', '{"1": "approved"}']]) {
    test(`${args[0]}: retries a 503 after Retry-After`, async () => {
      const body = args[0] === 'feeds' ? ONE : { status: {} }
      const { base, requests } = await service(({ nth }) =>
        nth < 2 ? problem(503, {}, { 'Retry-After': '1' }) : { body },
      )
      const { code, stderr } = await admin(base, args)
      assert.deepEqual([code, requests.length], [0, 3])
      assert.match(stderr, /^(The service asks to wait 1 s\. Retrying after that\.\n){2}$/)
    })
  }

  test('gives up after 4 attempts, or at once if the wait is an hour', async () => {
    for (const [wait, tries] of [
      ['0', 4],
      ['3600', 1],
    ] as const) {
      const { base, requests } = await service(() => problem(503, {}, { 'Retry-After': wait }))
      const { code, stderr } = await admin(base, ['feeds'])
      assert.deepEqual([code, requests.length], [1, tries])
      assert.match(stderr, new RegExp(`503 The title\n  retry after: ${wait}\n  request id: R-1`))
    }
  })

  const once: Record<string, RegExp> = {
    'accounts change a --disabled true':
      /may have taken effect\. Repeat the command: that is safe\.\n$/,
    'clients revoke a c': /may have taken effect\. Repeat the command: that is safe\.\n$/,
    'links create a --affiliate A --landing-page L': /Run `links list` before you repeat/,
    'accounts create a --name N --vertical forex': /the response is that it exists/,
  }
  for (const [typed, advice] of Object.entries(once)) {
    test(`${typed}: does not retry a 503`, async () => {
      const { base, requests } = await service(() => problem(503, {}, { 'Retry-After': '0' }))
      const { code, stderr } = await admin(base, typed.split(' '))
      assert.deepEqual([code, requests.length], [1, 1])
      assert.match(stderr, advice)
    })
  }
})

describe('confirmation', { concurrency: 4 }, () => {
  test('a process without a terminal needs --yes', async () => {
    const { base, requests } = await service(() => ({ status: 204 }))
    const { code, stderr } = await start(base, ['accounts', 'reset', 'acme'])
    assert.deepEqual([code, requests], [2, []])
    assert.match(stderr, /Add --yes to confirm/)
  })

  const answers = { 'acme\n': true, ' acme \n': true, 'y\n': false, '\n': false, '': false }
  for (const [typed, isConfirmed] of Object.entries(answers)) {
    test(`on a terminal ${JSON.stringify(typed)} ${isConfirmed ? 'confirms' : 'cancels'}`, async () => {
      const input = Object.assign(new PassThrough(), { isTTY: true })
      const output = Object.assign(new PassThrough(), { isTTY: true })
      input.end(typed)
      const confirmed = confirm('This deletes everything.', 'acme', { input, output })
      const message = 'Cancelled. Nothing was changed.'
      if (isConfirmed) await confirmed
      else await assert.rejects(confirmed, { exitCode: 1, message })
      assert.match(String(output.read()), /This deletes everything\.\nType acme to continue: /)
    })
  }
})

describe('fx', { concurrency: 4 }, () => {
  const CSV = 'Date,USD\r\n2026-10-01,1.1711\r\n'
  const counts = { source: 'ECB', first_day: '2026-10-01', last_day: '2026-10-01', created: 1 }

  test('fx import sends the file as it is', async () => {
    const warnings = [
      { code: 'partial_day', pointer: '', message: '2026-10-01 has no rate of GBP.' },
    ]
    const { base, requests } = await service(() => ({ body: { ...counts, warnings } }))
    const path = file('rates.csv', CSV)
    const { code, stdout } = await admin(base, ['fx', 'import', path])
    assert.equal(code, 0)
    assert.match(stdout, /created +1\n/)
    assert.match(stdout, /2026-10-01 has no rate of GBP\./)
    await admin(base, ['fx', 'import', path, '--correct', 'true'])
    assert.deepEqual(
      requests.map(({ line, body }) => [line, body]),
      [
        ['PUT fx-rates', CSV],
        ['PUT fx-rates?correct=true', CSV],
      ],
    )
  })

  test('fx import names the line and the currency of each error', async () => {
    const errors = [
      { pointer: '/rows/0/USD', code: 'minimum', message: 'Too small.' },
      { pointer: '/rows/12', code: 'length', message: 'Too short.' },
      { pointer: '/header/USX', code: 'currency', message: 'Unknown.' },
      { pointer: '', code: 'record_count', message: 'Empty.' },
    ]
    const problem = { title: 'Validation failed', errors, errors_total: 4 }
    const { base } = await service(() => ({ status: 422, body: problem }))
    const { code, stderr } = await admin(base, ['fx', 'import', file('wrong.csv', CSV)])
    assert.equal(code, 1)
    for (const line of [
      '  line 2 USD  Too small.',
      '  line 14  Too short.',
      '  line 1 USX  Unknown.',
      '  (the whole body)  Empty.',
    ]) {
      assert.ok(stderr.includes(`${line}\n`), stderr)
    }
  })
})

describe('bodies of files', { concurrency: 4 }, () => {
  const answer = { received: 2, changed: 1 }

  test('rows of CSV are objects; an empty cell is null if its member can be, else absent', async () => {
    const { base, requests } = await service(() => ({ body: answer }))
    const csv = '\uFEFFaffiliate_id;parent;from;x\r\nA-1;A-2;2026-12-01;y\r\nA-2;;;\r\n'
    const { code } = await admin(base, ['affiliates', 'import', 'a', file('a.csv', csv)])
    const rows = [
      { affiliate_id: 'A-1', parent: 'A-2', from: '2026-12-01', x: 'y' },
      { affiliate_id: 'A-2', parent: null },
    ]
    assert.deepEqual([code, requests[0]?.line], [0, 'PUT accounts/a/affiliates'])
    assert.deepEqual(requests[0]?.body, rows)
    await admin(base, ['affiliates', 'import', 'a', JSON.stringify(rows), '--dry-run', 'true'])
    assert.equal(requests[1]?.line, 'PUT accounts/a/affiliates?dry_run=true')
    assert.deepEqual(requests[1]?.body, rows)
  })

  const broken = {
    'a missing cell': 'affiliate_id,plan\nA-1,p\nA-2\n',
    'one cell too many': 'affiliate_id\nA-1,p\n',
    'a column twice': 'affiliate_id,plan,plan\nA-1,p,q\n',
    'an open quote': 'affiliate_id\n"A-1\n',
  }
  for (const [name, csv] of Object.entries(broken)) {
    test(`CSV with ${name} sends nothing`, async () => {
      const { base, requests } = await service(() => ({ body: answer }))
      const { code } = await admin(base, ['assignments', 'import', 'a', file('s.csv', csv)])
      assert.deepEqual([code, requests], [2, []])
    })
  }

  test('a text is printed as sentences, and --json asks for JSON', async () => {
    const { base, requests } = await service(({ accept }) => ({
      body: accept ? 'One step.\n\u001b[31m\n' : { steps: [] },
    }))
    const args = ['lines', 'explain', 'a', 'lin_1']
    assert.equal((await admin(base, args)).stdout, 'One step.\n\\u001b[31m\n')
    assert.equal((await admin(base, [...args, '--json'])).stdout, '{"steps":[]}\n')
    assert.deepEqual(
      requests.map(({ accept }) => accept),
      ['text/plain', undefined],
    )
  })
})

describe('arguments', { concurrency: 4 }, () => {
  test('wrong arguments send no request, and the exit code is 2', async () => {
    const { base, requests } = await service(() => ({ body: ONE }))
    const { code, stdout, stderr } = await start(base, ['accounts', 'lst'])
    assert.deepEqual([code, stdout, requests], [2, '', []])
    assert.equal(stderr, 'admin: Unknown command `lst`. Did you mean list?\n')
  })

  for (const operation of OPERATIONS) {
    const name = nameOf(operation)
    test(`the example of ${name} is a valid command line`, () => {
      const words = `${name} ${operation.example}`.matchAll(/'([^']*)'|\S+/g)
      const call = readArguments([...words].map(([word, quoted]) => quoted ?? word))
      assert.ok('operation' in call)
      assert.equal(call.operation, operation)
    })
  }
})

describe('profile', { concurrency: 4 }, () => {
  test('reads .demo.json by default', async () => {
    const { base, requests } = await service(() => ({ body: LIST }))
    const demo = file('.demo.json', JSON.stringify({ base_url: base, admin_key: KEY }))
    const cwd = join(demo, '..')
    const { code } = await start('', ['feed', 'a'], { env: {}, cwd })
    assert.deepEqual([code, requests[0]?.key], [0, `Bearer ${KEY}`])
  })

  const at = (TRIBUTARY_BASE_URL: string, TRIBUTARY_ADMIN_KEY = KEY) => ({
    TRIBUTARY_BASE_URL,
    TRIBUTARY_ADMIN_KEY,
  })
  const broken: Record<string, [Record<string, string>, string]> = {
    'an address without a key': [
      { TRIBUTARY_BASE_URL: 'https://x.test' },
      'TRIBUTARY_BASE_URL is set, but TRIBUTARY_ADMIN_KEY is not.',
    ],
    'a key without an address': [
      { TRIBUTARY_ADMIN_KEY: KEY },
      'TRIBUTARY_ADMIN_KEY is set, but TRIBUTARY_BASE_URL is not.',
    ],
    'a key that is not a header value': [
      at('https://x.test', `${KEY}\n`),
      'The admin key contains a space or another invalid character.',
    ],
    'plain HTTP to another machine': [
      at('http://x.test'),
      'The base address must begin with https:// (http:// only for this machine).',
    ],
  }
  for (const [name, [env, message]] of Object.entries(broken)) {
    test(`${name} is refused without showing the key`, () => {
      assert.throws(() => readProfile(env), { exitCode: 2, message })
    })
  }
})
