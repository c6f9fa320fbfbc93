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
import fc from 'fast-check'
import { parentsFirst } from '../scripts/admin/affiliates.ts'
import { readArguments } from '../scripts/admin/arguments.ts'
import { nameOf } from '../scripts/admin/command.ts'
import { COMMANDS } from '../scripts/admin/commands.ts'
import { confirm } from '../scripts/admin/confirm.ts'
import { readProfile } from '../scripts/admin/profile.ts'
import { leakIn, sought } from './secrecy/leaks.ts'

// The command as its users meet it: a process, and a service that may fail in every way.
// Only lists of what is refused are asked of the parts: a process for each would take too long.

const COMMAND = join(import.meta.dirname, '../scripts/admin.ts')
const ROOT = mkdtempSync(join(tmpdir(), 'admin-'))
const CACHE = join(ROOT, 'cache')
const KEY = 'key-do-not-print-me'
const SECRETS = sought({ KEY })

/** A request as the service saw it. */
interface Seen {
  /** Method and address below `/admin/v1/`. */
  line: string
  body: unknown
  key: string | undefined
  nth: number
}

interface Reply {
  status?: number
  headers?: Record<string, string>
  /** Text is answered as it is. */
  body?: object | string
  reset?: true
}

const servers: ReturnType<typeof createServer>[] = []
after(() => {
  for (const server of servers) server.close()
  rmSync(ROOT, { recursive: true })
})

/** A service that answers as told. */
async function service(reply: (seen: Seen) => Reply) {
  const requests: Seen[] = []
  const server = createServer(async (request, response) => {
    const text = String(await buffer(request))
    const seen = {
      line: `${request.method} ${request.url!.replace('/admin/v1/', '')}`,
      body: text === '' ? undefined : JSON.parse(text),
      key: request.headers.authorization,
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

/** Runs the command; whatever it prints, the key is not in it, nor what moves the cursor. */
async function admin(base: string, args: string[], options: { env?: object; cwd?: string } = {}) {
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
  assert.equal(leakIn(stdout + stderr, SECRETS), null)
  assert.doesNotMatch(stdout + stderr, /[^\P{Cc}\n]/u, 'a control character was printed')
  return { code: code as number, stdout, stderr }
}

/** A file in a directory of its own. */
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
const IN_SPAN = '?from=2026-10-01&to=2026-10-31'
const IMPORT = file('a.csv', 'affiliate_id,parent\nA-1,A-2\nA-2,\n')

/** What is typed, what is asked for, its body, and the answer; 204 where there is none. */
const ASKED: [string[], string, object | undefined, object | undefined][] = [
  [['accounts', 'list'], 'GET accounts?per_page=500', undefined, ONE],
  [['accounts', 'get', 'a'], 'GET accounts/a', undefined, THING],
  [
    [
      ...['accounts', 'create', 'a', '--name', 'N', '--vertical', 'igaming', '--mode', 'test'],
      ...['--time-zone', 'UTC', '--unknown-customer', 'hold', '--unknown-affiliate', 'warn'],
      ...['--binding', 'B'],
    ],
    'POST accounts',
    {
      ...{ account: 'a', name: 'N', vertical: 'igaming', mode: 'test', time_zone: 'UTC' },
      ...{ unknown_customer: 'hold', unknown_affiliate: 'warn', binding: 'B' },
    },
    THING,
  ],
  [['accounts', 'change', 'a', '--name=-'], 'PATCH accounts/a', { name: '-' }, THING],
  [['accounts', 'disable', 'a'], 'PATCH accounts/a', { disabled: true }, THING],
  [['accounts', 'enable', 'a'], 'PATCH accounts/a', { disabled: false }, THING],
  [['accounts', 'reset', 'a', '--yes'], 'POST accounts/a/reset', undefined, undefined],
  [['clients', 'list', 'a'], 'GET accounts/a/clients', undefined, LIST],
  [['clients', 'issue', 'a'], 'POST accounts/a/clients', undefined, { client_secret: 's' }],
  [
    ['clients', 'rotate', 'a', 'c', '--overlap', '24h'],
    'POST accounts/a/clients/c/rotate',
    { overlap: '24h' },
    { client_secret: 's' },
  ],
  [['clients', 'revoke', 'a', 'c'], 'DELETE accounts/a/clients/c', undefined, undefined],
  [['brand-token', 'list', 'a'], 'GET accounts/a/brand-tokens', undefined, LIST],
  [['brand-token', 'regenerate', 'a'], 'POST accounts/a/brand-tokens', {}, { brand_token: 's' }],
  [['brand-token', 'revoke', 'a', 'i'], 'DELETE accounts/a/brand-tokens/i', undefined, undefined],
  [['affiliates', 'list', 'a'], 'GET accounts/a/affiliates?per_page=500', undefined, ONE],
  [
    ['affiliates', 'import', 'a', IMPORT],
    'PUT accounts/a/affiliates',
    [{ affiliate_id: 'A-2' }, { affiliate_id: 'A-1', parent: 'A-2' }],
    { received: 2, changed: 1 },
  ],
  [['affiliates', 'unconfigured', 'a'], 'GET accounts/a/affiliates/unconfigured', undefined, LIST],
  [['events', 'list', 'a'], 'GET accounts/a/events', undefined, LIST],
  [
    [
      ...['events', 'put', 'a', 'Net', '--granularity', 'day', '--eventid', 'ignored'],
      ...['--kpi', 'GGR', '--kpi', 'NGR', '--product-field', 'Line', '--product', 'Slots=casino'],
      ...['--product', 'Bets=sports', '--currency', 'EUR'],
    ],
    'PUT accounts/a/events/Net',
    {
      ...{ granularity: 'day', eventid: 'ignored', kpis: ['GGR', 'NGR'], currency: 'EUR' },
      product: { field: 'Line', map: { Slots: 'casino', Bets: 'sports' } },
    },
    THING,
  ],
  [['events', 'delete', 'a', 'Net'], 'DELETE accounts/a/events/Net', undefined, undefined],
  [['status-map', 'get', 'a'], 'GET accounts/a/status-map', undefined, { status: {} }],
  [
    ['status-map', 'set', 'a', 'done=approved', 'a b=pending'],
    'PUT accounts/a/status-map',
    { done: 'approved', 'a b': 'pending' },
    { status: { done: 'approved', 'a b': 'pending' } },
  ],
  [
    ['labels', 'get', 'a', 'kyc_status_id'],
    'GET accounts/a/labels/kyc_status_id',
    undefined,
    { kyc_status_id: { 1: 'Open' } },
  ],
  [
    ['labels', 'set', 'a', 'sales_status_id', '--clear'],
    'PUT accounts/a/labels/sales_status_id',
    {},
    { sales_status_id: {} },
  ],
  [['links', 'list', 'a'], 'GET accounts/a/links?per_page=500', undefined, ONE],
  [
    ['links', 'create', 'a', '--affiliate', 'A-1', '--landing-page', 'https://x.test/?a=1'],
    'POST accounts/a/links',
    { affiliate_id: 'A-1', landing_page: 'https://x.test/?a=1' },
    THING,
  ],
  [['links', 'change', 'a', 'l', '--name', 'N'], 'PATCH accounts/a/links/l', { name: 'N' }, THING],
  [['links', 'disable', 'a', 'l'], 'PATCH accounts/a/links/l', { disabled: true }, THING],
  [['links', 'enable', 'a', 'l'], 'PATCH accounts/a/links/l', { disabled: false }, THING],
  [['customers', 'list', 'a'], 'GET accounts/a/customers?per_page=500', undefined, ONE],
  [
    ['customers', 'erase', 'a', 'C/1 ü?', '--yes'],
    'DELETE accounts/a/customers/C%2F1%20%C3%BC%3F/personal-data',
    undefined,
    { customer_id: 'C/1 ü?' },
  ],
  [['attribution', 'a', ...SPAN], `GET accounts/a/attribution${IN_SPAN}`, undefined, LIST],
  [['clicks', 'a', ...SPAN], `GET accounts/a/clicks${IN_SPAN}`, undefined, LIST],
  [['erasures', 'list', 'a'], 'GET accounts/a/erasures?per_page=500', undefined, ONE],
  [
    ['erasures', 'replay', '--account', 'a&b'],
    'POST erasures/replay?account=a%26b',
    undefined,
    { erased: 1 },
  ],
  [['deliveries', 'list', 'a'], 'GET accounts/a/deliveries?per_page=500', undefined, ONE],
  [
    ['deliveries', 'get', 'a', 'dlv_1'],
    'GET accounts/a/deliveries/dlv_1',
    undefined,
    { delivery_id: 'dlv_1', errors: [{ pointer: '/0', key: { customer_id: 'C' } }] },
  ],
  [['totals', 'a', ...SPAN], `GET accounts/a/totals${IN_SPAN}`, undefined, LIST],
  [['held', 'a'], 'GET accounts/a/held?per_page=500', undefined, ONE],
  [['feeds'], 'GET feeds?per_page=500', undefined, ONE],
  [['feed', 'a'], 'GET accounts/a/feed', undefined, LIST],
  [
    ['audit-log', '--account', 'a', '--limit', '7'],
    'GET audit-log?account=a&per_page=7',
    undefined,
    ONE,
  ],
]

describe('commands', { concurrency: 4 }, () => {
  test('each command of the table is tried here, and once', () => {
    const tried = ASKED.map(([args]) => readArguments(args)).map((errand) => {
      return 'command' in errand ? nameOf(errand.command) : errand.help
    })
    assert.deepEqual(tried.toSorted(), COMMANDS.map(nameOf).toSorted())
  })

  for (const [args, line, body, answer] of ASKED) {
    test(`${args.slice(0, 2).join(' ')}: asks for its address, prints the JSON of the API`, async () => {
      const reply = answer ? { body: answer } : { status: 204 }
      const { base, requests } = await service(() => reply)
      const { code, stdout } = await admin(base, [...args, '--json'])
      assert.deepEqual([code, stdout], [0, answer ? `${JSON.stringify(answer)}\n` : ''])
      assert.deepEqual(requests, [{ line, body, key: `Bearer ${KEY}`, nth: 0 }])
    })
  }

  test('a list is a table for its reader', async () => {
    const account = { account: 'acme', name: 'Acme', policies: { unknown_customer: 'hold' } }
    const { base } = await service(() => ({ body: page([{ ...account, disabled: true }]) }))
    const { stdout } = await admin(base, ['accounts', 'list'])
    assert.match(stdout, /│ account │ name │ .* │ unknown_customer │ .* │ disabled │/)
    assert.match(stdout, /│ acme {4}│ Acme │ .* │ hold {13}│ .* │ yes {6}│/)
  })

  test('an object is a line a member, its lists are tables', async () => {
    const errors = [{ index: 0, key: { customer_id: 'C' }, pointer: '/0/currency' }]
    const body = { delivery_id: 'dlv_1', summary: { received: 3 }, errors }
    const { base } = await service(() => ({ body }))
    const { stdout } = await admin(base, ['deliveries', 'get', 'a', 'dlv_1'])
    assert.match(stdout, /^delivery_id {7}dlv_1\nsummary.received {2}3\nerrors:\n/)
    assert.match(stdout, /│ {5}0 │ customer_id=C │ \/0\/currency │\n/)
  })

  test('what is answered without a body is said in a sentence', async () => {
    const { base } = await service(() => ({ status: 204 }))
    const { stdout } = await admin(base, ['clients', 'revoke', 'acme', 'c-1'])
    assert.equal(stdout, 'Client c-1 of acme is revoked.\n')
  })

  test('text of others cannot move the cursor, and is the same JSON', async () => {
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

  test('a secret is printed plainly, with a line that says that it is shown once', async () => {
    const { base } = await service(() => ({ status: 201, body: issued }))
    const { stdout, stderr } = await admin(base, ['clients', 'issue', 'a'])
    assert.equal(stdout, 'client_id      c-1\nclient_secret  tcs_live_x\n')
    assert.match(stderr, /^Keep the client_secret now: it is shown this once/)
  })

  test('--json: nothing but the JSON is on stdout', async () => {
    const { base } = await service(() => ({ status: 201, body: issued }))
    const { stdout, stderr } = await admin(base, ['clients', 'issue', 'a', '--json'])
    assert.equal(stdout, `${JSON.stringify(issued)}\n`)
    assert.match(stderr, /shown this once/)
  })

  const makers = {
    'clients issue a': /revoke the client that nobody knows first/,
    'clients rotate a c --overlap 24h': /would end at once if the client is rotated again/,
    'brand-token regenerate a': /revoke the token that nobody knows first/,
  }
  const failures = {
    'a 503': problem(503, {}, { 'Retry-After': '0' }),
    'a 500': problem(500),
    'no answer': { reset: true },
    'a page that is not JSON': { status: 201, body: '<html>' },
  } as const
  for (const [typed, advice] of Object.entries(makers)) {
    test(`${typed}: a failure is not repeated, and says what to do`, async () => {
      for (const reply of Object.values(failures)) {
        const { base, requests } = await service(() => reply)
        const { code, stdout, stderr } = await admin(base, typed.split(' '))
        assert.deepEqual([code, stdout, requests.length], [1, '', 1])
        assert.match(stderr, /Whether it was done is not known: it may have been made/)
        assert.match(stderr, advice)
      }
    })
  }

  test('where nobody was there to take it, nothing was made', async () => {
    const probe = createServer().listen(0, '127.0.0.1')
    await once(probe, 'listening')
    const { port } = probe.address() as AddressInfo
    probe.close()
    const { code, stderr } = await admin(`http://127.0.0.1:${port}`, ['clients', 'issue', 'a'])
    assert.equal(code, 1)
    assert.equal(stderr, 'admin: the service cannot be reached (ECONNREFUSED).\n')
  })

  test('a redirect does not get the key', async () => {
    const elsewhere = await service(() => ({ body: LIST }))
    const { base } = await service(() => ({
      status: 302,
      headers: { Location: `${elsewhere.base}/admin/v1/accounts` },
    }))
    const { code, stderr } = await admin(base, ['accounts', 'list'])
    assert.deepEqual([code, elsewhere.requests], [1, []])
    assert.match(stderr, /^admin: 302 That is no answer of Tributary\.\n$/)
  })
})

describe('pages', { concurrency: 4 }, () => {
  const items = (count: number) => Array.from({ length: count }, (_, i) => ({ id: i }))

  /** A list that gives 3 at most, and knows where it was. */
  const paged = (total: number, most: number) => (seen: Seen) => {
    const query = new URLSearchParams(seen.line.split('?')[1])
    const from = Number(query.get('cursor') ?? 0)
    const size = Math.min(most, Number(query.get('per_page')))
    const data = items(total).slice(from, from + size)
    const next = from + size < total ? String(from + size) : null
    const meta = { total, page: 1, per_page: size, next_cursor: next }
    return { body: { data, meta } }
  }

  test('a list is walked to its end by its cursors, with its filters', async () => {
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

  test('--limit asks for so many and no more, and says where the rest is', async () => {
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

  test('an empty list says so', async () => {
    const { base } = await service(paged(0, 3))
    assert.equal((await admin(base, ['held', 'a'])).stdout, 'There are none.\n')
  })
})

describe('failures', { concurrency: 4 }, () => {
  test('detail, every error with its hint, and the request id are told; exit code 1', async () => {
    const errors = [
      { pointer: '/time_zone', code: 'pattern', message: 'No zone.', hint: 'Write Europe/Rome.' },
      { pointer: '', code: 'type', message: 'This must be an object.' },
    ]
    const more = { detail: 'Nothing was changed.', errors, errors_total: 5 }
    const { base } = await service(() => problem(422, more))
    const { code, stdout, stderr } = await admin(base, ['accounts', 'disable', 'a', '--json'])
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

  test('a page of a proxy is a failure without words', async () => {
    const { base } = await service(() => ({ status: 404, body: '<html>' }))
    const { code, stderr } = await admin(base, ['feeds'])
    assert.deepEqual([code, stderr], [1, 'admin: 404 That is no answer of Tributary.\n'])
  })

  for (const args of [['feeds'], ['labels', 'set', 'a', 'kyc_status_id', '1=x']]) {
    test(`${args[0]}: a 503 is asked again when it says, and then obeyed`, async () => {
      const body = args[0] === 'feeds' ? ONE : { kyc_status_id: {} }
      const { base, requests } = await service(({ nth }) =>
        nth < 2 ? problem(503, {}, { 'Retry-After': '1' }) : { body },
      )
      const { code, stderr } = await admin(base, args)
      assert.deepEqual([code, requests.length], [0, 3])
      assert.match(stderr, /^(The service asks to wait 1 s; trying again then\.\n){2}$/)
    })
  }

  test('a 503 that stays is told in the end, and what asks for an hour at once', async () => {
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
    'accounts disable a': /is not known: Repeat the command: it does no harm\.\n$/,
    'clients revoke a c': /is not known: Repeat the command: it does no harm\.\n$/,
    'links create a --affiliate A --landing-page L': /See "links list" before you repeat/,
    'accounts create a --name N --vertical forex': /answered that it exists already/,
  }
  for (const [typed, advice] of Object.entries(once)) {
    test(`${typed}: a 503 is not repeated blindly`, async () => {
      const { base, requests } = await service(() => problem(503, {}, { 'Retry-After': '0' }))
      const { code, stderr } = await admin(base, typed.split(' '))
      assert.deepEqual([code, requests.length], [1, 1])
      assert.match(stderr, advice)
    })
  }
})

describe('what is lost for good', { concurrency: 4 }, () => {
  for (const typed of ['accounts reset acme', 'customers erase acme acme']) {
    test(`${typed}: nobody is there to be asked, so it needs --yes`, async () => {
      const { base, requests } = await service(() => ({ status: 204 }))
      const { code, stderr } = await admin(base, typed.split(' '))
      assert.deepEqual([code, requests], [2, []])
      assert.match(stderr, /of acme (are|is) lost for good\. Say --yes/)
    })
  }

  const answers = { 'acme\n': true, ' acme \n': true, 'y\n': false, '\n': false, '': false }
  for (const [typed, isMeant] of Object.entries(answers)) {
    test(`on a terminal ${JSON.stringify(typed)} is ${isMeant ? 'a yes' : 'a no'}`, async () => {
      const input = Object.assign(new PassThrough(), { isTTY: true })
      const output = Object.assign(new PassThrough(), { isTTY: true })
      input.end(typed)
      const asked = confirm('All is lost.', 'acme', { input, output })
      if (isMeant) await asked
      else await assert.rejects(asked, { exitCode: 1, message: 'Nothing was done.' })
      assert.match(String(output.read()), /All is lost\.\nType acme to go on: /)
    })
  }
})

describe('affiliates import', { concurrency: 4 }, () => {
  const counted = ({ body }: Seen) => ({
    body: { received: (body as object[]).length, changed: 1 },
  })

  test('parents come first, in bulks of 1000, and the numbers are of all', async () => {
    const { base, requests } = await service(counted)
    const lines = Array.from({ length: 2500 }, (_, i) => `A-${i},${i < 2499 ? `A-${i + 1}` : ''}`)
    const path = file('a.csv', `\uFEFFaffiliate_id,parent\r\n${lines.join('\r\n')}\r\n`)
    const { code, stdout } = await admin(base, ['affiliates', 'import', 'a', path, '--json'])
    assert.deepEqual([code, stdout], [0, '{"received":2500,"changed":3}\n'])
    const bulks = requests.map(({ body }) => body as { affiliate_id: string }[])
    assert.deepEqual(
      bulks.map(({ length }) => length),
      [1000, 1000, 500],
    )
    const ids = bulks.flat().map(({ affiliate_id }) => affiliate_id)
    assert.deepEqual(
      ids,
      Array.from({ length: 2500 }, (_, i) => `A-${2499 - i}`),
    )
    assert.deepEqual(bulks[0]!.slice(0, 2), [
      { affiliate_id: 'A-2499' },
      { affiliate_id: 'A-2498', parent: 'A-2499' },
    ])
  })

  test('whatever the order of the file, none comes before its parent and none is lost', () => {
    const trees = fc
      .array(fc.nat(), { maxLength: 40 })
      .map((ups) => ups.map((up, i) => ({ id: `${i}`, parent: i > 0 ? `${up % i}` : 'stranger' })))
      .chain((tree) => fc.shuffledSubarray(tree, { minLength: tree.length }))
    const law = fc.property(trees, (tree) => {
      const sent = tree.map(({ id, parent }) => ({ affiliate_id: id, parent }))
      const ordered = parentsFirst(sent, 'f')
      assert.deepEqual(new Set(ordered), new Set(sent))
      for (const [i, { parent }] of ordered.entries()) {
        assert.ok(ordered.findIndex(({ affiliate_id }) => affiliate_id === parent) < i)
      }
    })
    fc.assert(law)
  })

  const malformed: Record<string, [string, RegExp]> = {
    'an affiliate that is there twice': ['affiliate_id\nA\nB\nA\n', /"A" is there twice/],
    'a circle': ['affiliate_id,parent\nA,B\nB,C\nC,A\n', /"A" is above and below itself/],
    'its own parent': ['affiliate_id,parent\nA,A\n', /"A" is above and below itself/],
    'no affiliate': ['affiliate_id,parent\n', /names no affiliate/],
    'no header': ['A,B\n', /this names no field of affiliates/],
  }
  for (const [name, [text, message]] of Object.entries(malformed)) {
    test(`${name}: refused before anything is sent`, async () => {
      const { base, requests } = await service(counted)
      const { code, stderr } = await admin(base, ['affiliates', 'import', 'a', file('a.csv', text)])
      assert.deepEqual([code, requests], [2, []])
      assert.match(stderr, message)
    })
  }

  test('what is refused is called by its id, and what was set before is counted', async () => {
    const refusal = {
      detail: 'Nothing was changed.',
      errors: [{ pointer: '/1/parent', message: 'No affiliate "X" is configured.', hint: 'H.' }],
    }
    const { base } = await service((seen) =>
      seen.nth === 1 ? problem(422, refusal) : counted(seen),
    )
    const lines = Array.from({ length: 1500 }, (_, i) => `A-${i},${i === 1001 ? 'X' : ''}`)
    const path = file('a.csv', `affiliate_id,parent\n${lines.join('\n')}\n`)
    const { code, stderr } = await admin(base, ['affiliates', 'import', 'a', path])
    assert.equal(code, 1)
    assert.match(stderr, /\n {2}affiliate A-1001 \/parent {2}No affiliate "X" is .*\. {2}H\.\n/)
    assert.match(stderr, /1000 affiliates of the file were set before it; import it again\.\n$/)
  })
})

describe('arguments', { concurrency: 4 }, () => {
  const create = 'accounts create a --name N --vertical'
  const put = 'events put a E --granularity day'
  const wrong: Record<string, string> = {
    '': 'Say which command; known are: accounts, clients, brand-token, affiliates, events, status-map, labels, links, customers, attribution, clicks, erasures, deliveries, totals, held, feeds, feed, audit-log.',
    'acounts list': '"acounts" is no command; did you mean accounts?',
    'clients ishue a': '"ishue" is no clients command; did you mean issue?',
    clients: 'Say which clients command; known are: list, issue, rotate, revoke.',
    'clients rotate a': 'CLIENT_ID is missing.',
    'accounts get a b': 'There is nothing that "b" could be.',
    'accounts get ..': 'A URL cannot name ".." as ACCOUNT.',
    'accounts get . --json': 'A URL cannot name "." as ACCOUNT.',
    'accounts create a --vertical forex': '--name is missing.',
    [`${create} forx`]: '"forx" is no --vertical; did you mean forex?',
    [`${create} forex --mod test`]: '"--mod" is no option; did you mean --mode?',
    [`${create} forex --name M`]: '--name is there twice.',
    [`${create} --mode live`]:
      '--vertical needs a value; one that begins with a dash is --vertical=-x.',
    [`${create} forex --yes`]:
      '"--yes" is no option; known are: --name, --vertical, --mode, --time-zone, --unknown-customer, --unknown-affiliate, --binding, --json.',
    'accounts list --json=no': '--json takes no value.',
    'accounts list --limit 0':
      '--limit is written N: a whole number from 1 on; without it all pages are walked.',
    'accounts change a': 'There is nothing to change: say a setting.',
    'links change a l': 'There is nothing to change: say a setting.',
    'totals a --from 2026-10-01 --to tomorrow':
      '--to is written YYYY-MM-DD: the last day; at most 366 in all.',
    'labels get a kyc_status_ids':
      '"kyc_status_ids" is no kyc_status_id|sales_status_id; did you mean kyc_status_id?',
    'labels set a kyc_status_id':
      'Say each word as word=Label, or --clear: the whole map is replaced.',
    'labels set a kyc_status_id 1=x --clear':
      'Say each word as word=Label, or --clear: the whole map is replaced.',
    'labels set a kyc_status_id 1': '"1" is not written word=Label.',
    'labels set a kyc_status_id 1=x 1=y': '"1" is there twice.',
    [`${put} --product a=casino`]: '--product-field and --product need each other.',
    [`${put} --product-field F`]: '--product-field and --product need each other.',
    [`accounts list --admin-key ${KEY}`]: '"--admin-key" is no option; known are: --limit, --json.',
  }
  for (const [typed, message] of Object.entries(wrong)) {
    test(`"${typed}" is refused, with the usage line`, () => {
      const words = typed === '' ? [] : typed.split(' ')
      const expected = new RegExp(`^${RegExp.escape(message)}\nUsage: npm run admin -- `)
      assert.throws(() => readArguments(words), { exitCode: 2, message: expected })
    })
  }

  test('an operand that is empty, as a variable that is not set, is none', () => {
    assert.throws(() => readArguments(['clients', 'revoke', 'a', '']), {
      message: /^CLIENT_ID is missing/,
    })
  })

  test('what begins with a dash is an operand behind --', () => {
    const errand = readArguments(['customers', 'erase', '--yes', 'a', '--', '--5'])
    assert.ok('request' in errand)
    assert.equal(errand.request.path, 'accounts/a/customers/--5/personal-data')
  })

  test('wrong usage asks the service nothing, and is exit code 2', async () => {
    const { base, requests } = await service(() => ({ body: ONE }))
    const { code, stdout, stderr } = await admin(base, ['accounts', 'lst'])
    assert.deepEqual([code, stdout, requests], [2, '', []])
    assert.equal(
      stderr,
      'admin: "lst" is no accounts command; did you mean list?\n' +
        'Usage: npm run admin -- accounts list [--limit N]\n',
    )
  })

  test('--help names every command, the environment and the exit codes', async () => {
    const { code, stdout } = await admin('', ['--help'])
    assert.equal(code, 0)
    for (const command of COMMANDS) assert.ok(stdout.includes(`\n  ${nameOf(command)} `))
    assert.match(stdout, /TRIBUTARY_ADMIN_KEY[\s\S]*Exit code/)
    assert.deepEqual(
      stdout.split('\n').filter(({ length }) => length > 100),
      [],
    )
  })

  for (const noun of new Set(COMMANDS.map((one) => one.noun))) {
    test(`${noun} --help says how each of its commands is written`, () => {
      const errand = readArguments([noun, '--help'])
      assert.ok('help' in errand)
      for (const command of COMMANDS.filter((one) => one.noun === noun)) {
        assert.ok(errand.help.includes(`npm run admin -- ${nameOf(command)}`))
        const options = Object.keys(command.options ?? {})
        for (const name of options) assert.match(errand.help, new RegExp(`\n +--${name} `))
      }
    })
  }
})

describe('profile', { concurrency: 4 }, () => {
  test('without a word, .demo.json says where and who', async () => {
    const { base, requests } = await service(() => ({ body: LIST }))
    const demo = file('.demo.json', JSON.stringify({ base_url: base, admin_key: KEY }))
    const cwd = join(demo, '..')
    const { code } = await admin('', ['feed', 'a'], { env: {}, cwd })
    assert.deepEqual([code, requests[0]?.key], [0, `Bearer ${KEY}`])
  })

  test('without any address the command says what to do', async () => {
    const { code, stderr } = await admin('', ['feeds'], { env: {} })
    assert.equal(code, 2)
    assert.match(stderr, /run npm run dev, or set TRIBUTARY_BASE_URL and TRIBUTARY_ADMIN_KEY/)
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
    'a key that no header can carry': [
      at('https://x.test', `${KEY}\n`),
      'The admin key has a blank or another character that no key has.',
    ],
    'plain HTTP to elsewhere': [
      at('http://x.test'),
      'The base address is an https:// one (http:// on this machine only).',
    ],
  }
  for (const [name, [env, message]] of Object.entries(broken)) {
    test(`${name}: refused, and the key is not shown`, () => {
      assert.throws(() => readProfile(env), { exitCode: 2, message })
    })
  }
})
