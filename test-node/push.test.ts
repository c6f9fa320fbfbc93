import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'

// The command as its users meet it: a process, files, and a service that may fail in every way.

const COMMAND = join(import.meta.dirname, '../scripts/push.ts')
const PEAK = `data:text/javascript,process.on('exit',()=>console.error('peak',process.resourceUsage().maxRSS))`
const CLIENT = { client_id: 'acme', client_secret: 'tcs_test_do-not-print-me' }
const TOKEN = 'token-do-not-print-me'

/** A bulk as the service saw it. */
interface Seen {
  url: string
  headers: IncomingMessage['headers']
  text: string
  records: Record<string, unknown>[]
  at: number
  /** Its place among all bulks, and the token it came with. */
  nth: number
  token: string
}

interface Reply {
  status?: number
  headers?: Record<string, string>
  body?: object
  /** Milliseconds to wait before answering. */
  after?: number
  reset?: true
}

type Handler = (seen: Seen) => Reply | Promise<Reply>

const servers: ReturnType<typeof createServer>[] = []
after(() => {
  for (const server of servers) server.close()
})

/** A service that answers bulks as told, and all else as the real one does. */
async function service(handler: Handler = stored, token: () => Reply = grant()) {
  const bulks: Seen[] = []
  const tokens: string[] = []
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const raw = await buffer(request)
    if (request.url === '/oauth/token') {
      tokens.push(String(raw))
      return respond(response, token())
    }
    const text = String(gunzipSync(raw))
    const seen: Seen = {
      url: request.url!,
      headers: request.headers,
      text,
      records: JSON.parse(text),
      at: Date.now(),
      nth: bulks.length,
      token: request.headers.authorization!.replace('Bearer ', ''),
    }
    bulks.push(seen)
    await respond(response, await handler(seen))
  }).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { base, bulks, tokens }
}

async function respond(response: ServerResponse, reply: Reply) {
  const { status = 200, headers = {}, body, after: wait, reset } = reply
  if (wait) await sleep(wait)
  if (reset) return response.destroy()
  const type = status < 400 ? 'application/json' : 'application/problem+json'
  response.writeHead(status, { 'Content-Type': type, ...headers }).end(JSON.stringify(body))
}

/** Tokens in a row, so that one can be told from the next. */
function grant(expires_in = 3600) {
  let nth = 0
  return (): Reply => ({
    body: { access_token: `${TOKEN}-${nth++}`, token_type: 'Bearer', expires_in },
  })
}

const NOTHING = { created: 0, updated: 0, unchanged: 0, stale: 0, held: 0, rejected: 0 }

/** Everything is new. */
function stored({ records: { length } }: Seen): Reply {
  const summary = { ...NOTHING, received: length, created: length }
  return { body: { delivery_id: 'dlv_1', dry_run: false, summary, results: [] } }
}

const problem = (status: number, code: string, more: object = {}): Reply => ({
  status,
  body: { type: 'about:blank', title: `The title of ${code}`, status, code, ...more },
})

/** A new directory with the files, and a profile of the account. */
function directory(files: Record<string, string>) {
  const path = mkdtempSync(join(tmpdir(), 'push-'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text)
  return path
}

interface Run {
  args?: string[]
  env?: Record<string, string>
  resource?: string
  /** Called with the process as soon as it runs. */
  meanwhile?: (kill: (signal: NodeJS.Signals) => void) => void
}

/** Runs the command on files in a directory; whatever it prints, a secret is not in it. */
async function run(base: string, cwd: string, files: string[], options: Run = {}) {
  const { args = [], env, resource = 'transactions', meanwhile } = options
  const credentials = {
    TRIBUTARY_BASE_URL: base,
    TRIBUTARY_CLIENT_ID: CLIENT.client_id,
    TRIBUTARY_CLIENT_SECRET: CLIENT.client_secret,
  }
  const all = ['--vertical', 'forex', '--resource', resource, ...args, ...files]
  const child = spawn(process.execPath, ['--import', PEAK, COMMAND, ...all], {
    cwd,
    env: { PATH: process.env.PATH, ...(env ?? credentials) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  meanwhile?.((signal) => child.kill(signal))
  const [stdout, stderr, [code]] = await Promise.all([
    buffer(child.stdout).then(String),
    buffer(child.stderr).then(String),
    once(child, 'exit'),
  ])
  for (const secret of [CLIENT.client_secret, TOKEN]) {
    assert.ok(!(stdout + stderr).includes(secret), 'a secret was printed')
  }
  const peak = Number(/peak (\d+)/.exec(stderr)?.[1]) / 1024
  return { code: code as number, stdout, stderr: stderr.replace(/peak \d+\n/, ''), peak }
}

/** Runs the command on one file. */
async function push(base: string, name: string, text: string, options: Run = {}) {
  const cwd = directory({ [name]: text })
  const rejectedFile = join(cwd, `${name}.rejected.ndjson`)
  const result = await run(base, cwd, [name], options)
  const rejected = existsSync(rejectedFile)
    ? readFileSync(rejectedFile, 'utf8').trimEnd().split('\n')
    : null
  return { ...result, rejected }
}

const json = (stdout: string) => JSON.parse(stdout)

/** NDJSON of transactions with these ids. */
const ndjson = (ids: Iterable<unknown>) =>
  Array.from(ids, (id) => `{"transaction_id":"${id}"}\n`).join('')

const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, i) => from + i)

const ids = ({ records }: Seen) => records.map(({ transaction_id }) => transaction_id)

describe('reading', { concurrency: 3 }, () => {
  const lines = [
    '{"transaction_id":"T-1","amount_currency":19.990000000000000001,"note":"a \\"b\\", ü"}',
    '{"transaction_id":"T-2","amount_currency":1.50,"amount_usd":-0.0}',
    '{"transaction_id":"T-3","amount_currency":1e400,"note":"007"}',
  ]
  const csv = [
    'transaction_id,amount_currency,amount_usd,note',
    'T-1,19.990000000000000001,,"a ""b"", ü"',
    'T-2,1.50,-0.0,',
    'T-3,1e400,,007',
  ]
  const files = {
    'a.json': `\uFEFF [\n${lines.join(',\n')}\n]\n`,
    'a.ndjson': `\uFEFF${lines.join('\r\n\r\n')}`,
    'a.jsonl': lines.join('\n'),
    'a.csv': `\uFEFF${csv.join('\r\n')}\r\n`,
    'json-without-ending': `\n[${lines.join(',')}]`,
    'ndjson-without-ending': lines.join('\n'),
    'csv-without-ending': csv.join('\n'),
  }
  for (const [name, text] of Object.entries(files)) {
    test(`${name}: the same body, and numbers as they are written`, async () => {
      const { base, bulks } = await service()
      const { code } = await push(base, name, text)
      assert.equal(code, 0)
      assert.deepEqual(
        bulks.map(({ text }) => text),
        [`[${lines.join(',')}]`],
      )
    })
  }

  test('--format comes before the ending', async () => {
    const { base, bulks } = await service()
    await push(base, 'a.json', lines.join('\n'), { args: ['--format', 'ndjson'] })
    assert.equal(bulks[0]!.text, `[${lines.join(',')}]`)
  })

  test('a CSV cell that should be a number and is none is sent as text', async () => {
    const { base, bulks } = await service()
    const cells = ['"1,000.00"', '01', '+5', ' 5', '1.', 'NaN', 'true']
    const rows = cells.map((cell, i) => `T-${i},${cell}\n`)
    await push(base, 'a.csv', `transaction_id,amount_currency\n${rows.join('')}`)
    const sent = bulks[0]!.records.map(({ amount_currency }) => amount_currency)
    assert.deepEqual(sent, ['1,000.00', '01', '+5', ' 5', '1.', 'NaN', 'true'])
  })

  test('what is no record is left to the service to refuse', async () => {
    const { base, bulks } = await service()
    await push(base, 'a.json', '[1.0,null,"x",[[]],{}]')
    assert.equal(bulks[0]!.text, '[1.0,null,"x",[[]],{}]')
  })

  const malformed = {
    'truncated.json': ['[{"a":1},\n{"a":', /truncated\.json, line 2/],
    'object.json': ['{"data":[]}', /object\.json: this is not a JSON array/],
    'after.json': ['[]\n{}', /after\.json, line 2/],
    'empty.json': ['', /empty\.json, line 1/],
    'broken.ndjson': ['{"a":1}\n\n{"a":}\n', /broken\.ndjson, line 3/],
    'ragged.csv': ['transaction_id,note\nT-1,a\nT-2\n', /ragged\.csv: .* on line 3/],
    'quote.csv': ['transaction_id,note\nT-1,"a\n', /quote\.csv: .* at line 2/],
    'no-header.csv': ['T-1,5\nT-2,6\n', /no-header\.csv, line 1: this names no field/],
    'twice.csv': ['note,note\n', /twice\.csv, line 1: the field "note" is there twice/],
  } as const
  for (const [name, [text, message]] of Object.entries(malformed)) {
    test(`${name}: one line says what is wrong`, async () => {
      const { base, bulks } = await service()
      const { code, stdout, stderr } = await push(base, name, text)
      assert.deepEqual([code, stdout, bulks.length], [2, '', 0])
      assert.match(stderr, /^push: .*\n$/)
      assert.match(stderr, message)
    })
  }

  test('what is not UTF-8 is refused, not mangled', async () => {
    const { base, bulks } = await service()
    const cwd = directory({})
    writeFileSync(join(cwd, 'latin.ndjson'), Buffer.from('{"note":"a"}\n{"note":"\xe9"}\n', 'latin1'))
    const { code, stderr } = await run(base, cwd, ['latin.ndjson'])
    assert.deepEqual([code, bulks.length], [2, 0])
    assert.equal(stderr, 'push: latin.ndjson, line 2: this is not UTF-8.\n')
  })

  test('what was read before the malformed place is answered and reported', async () => {
    const { base, bulks } = await service()
    const { code, stdout } = await push(base, 'a.ndjson', `${ndjson(numbers(1500))}{`)
    assert.deepEqual([code, bulks.length], [2, 1])
    assert.match(stdout, /a\.ndjson +1,000 +1,000 /)
    assert.match(stdout, /nothing was sent from record 1000 on/)
  })
})

describe('bulks', { concurrency: 3 }, () => {
  test('a bulk is gzip, says what is preferred, and has at most 1000 records', async () => {
    const { base, bulks } = await service()
    const { code } = await push(base, 'a.ndjson', ndjson(numbers(2500)), {
      args: ['--in-flight', '1'],
    })
    assert.equal(code, 0)
    assert.deepEqual(
      bulks.map(({ records }) => records.length),
      [1000, 1000, 500],
    )
    const { url, headers } = bulks[0]!
    assert.equal(url, '/api/v1/forex/transactions')
    assert.equal(headers['content-encoding'], 'gzip')
    assert.equal(headers['content-type'], 'application/json')
    assert.equal(headers.prefer, 'return=minimal')
  })

  test('a bulk stays below 8 MiB', async () => {
    const { base, bulks } = await service()
    const note = 'x'.repeat(1024 * 1024)
    const text = numbers(9).map((id) => `{"transaction_id":"${id}","note":"${note}"}\n`)
    await push(base, 'a.ndjson', text.join(''), { args: ['--in-flight', '1'] })
    assert.deepEqual(
      bulks.map(({ records }) => records.length),
      [7, 2],
    )
  })

  test('a few requests are under way at once, and never more than --in-flight', async () => {
    let now = 0
    let most = 0
    const { base } = await service(async (seen) => {
      most = Math.max(most, ++now)
      await sleep(100)
      now--
      return stored(seen)
    })
    await push(base, 'a.ndjson', ndjson(numbers(8000)), { args: ['--in-flight', '3'] })
    assert.equal(most, 3)
  })

  test('two versions of one record are never under way together, and keep their order', async () => {
    const now = new Set<unknown>()
    const versions: unknown[] = []
    let most = 0
    const { base, bulks } = await service(async (seen) => {
      for (const id of ids(seen)) assert.ok(!now.has(id), `${id} is under way twice`)
      for (const id of ids(seen)) now.add(id)
      most = Math.max(most, now.size)
      await sleep(150 - 20 * seen.nth)
      for (const { transaction_id, note } of seen.records) {
        now.delete(transaction_id)
        if (transaction_id === 'X') versions.push(note)
      }
      return stored(seen)
    })
    const version = (note: string) => `{"transaction_id":"X","note":"${note}"}\n`
    const text = [
      version('1'),
      ndjson(numbers(10)),
      version('2'),
      ndjson(numbers(999, 1000)),
      ndjson(numbers(1000, 3000)),
      version('3'),
    ]
    const { code } = await push(base, 'a.ndjson', text.join(''))
    assert.equal(code, 0)
    assert.deepEqual(
      bulks.map(({ records }) => records.length),
      [11, 1000, 1000, 1],
    )
    assert.deepEqual(versions, ['1', '2', '3'])
    assert.ok(most > 1000, 'bulks without a key in common go together')
  })

  test('the order holds across files, too', async () => {
    const order: string[] = []
    const { base } = await service(async (seen) => {
      order.push(`begin ${seen.records[0]!.note}`)
      await sleep(seen.nth === 0 ? 200 : 0)
      order.push(`end ${seen.records[0]!.note}`)
      return stored(seen)
    })
    const line = (note: string) => `{"transaction_id":"X","note":"${note}"}`
    const cwd = directory({ 'a.ndjson': line('a'), 'b.ndjson': line('b') })
    await run(base, cwd, ['a.ndjson', 'b.ndjson'])
    assert.deepEqual(order, ['begin a', 'end a', 'begin b', 'end b'])
  })

  test('413: the bulk goes in halves, in order', async () => {
    const { base, bulks } = await service((seen) =>
      seen.records.length > 300 ? problem(413, 'payload_too_large') : stored(seen),
    )
    const { code, stdout } = await push(base, 'a.ndjson', ndjson(numbers(1000)), {
      args: ['--json'],
    })
    assert.equal(code, 0)
    const taken = bulks.filter(({ records }) => records.length <= 300)
    assert.deepEqual(
      taken.flatMap(ids),
      numbers(1000).map(String),
    )
    assert.equal(json(stdout).total.created, 1000)
  })

  test('413 for one record: it is rejected, the others are stored', async () => {
    const detail = 'A body has at most 8 MiB once decompressed.'
    const { base } = await service((seen) =>
      ids(seen).includes('2') ? problem(413, 'payload_too_large', { detail }) : stored(seen),
    )
    const { code, rejected, stdout } = await push(base, 'a.ndjson', ndjson(numbers(4)))
    assert.equal(code, 1)
    const reason = `not stored: ${detail}`
    assert.deepEqual(rejected?.map(json), [
      { index: 2, record: { transaction_id: '2' }, errors: [], reason },
    ])
    assert.match(stdout, /a\.ndjson +4 +3 +0 +0 +0 +0 +1 +0\n/)
  })
})

describe('faults', { concurrency: 3 }, () => {
  test('429: nothing is sent before Retry-After is over, and it is no failed try', async () => {
    const { base, bulks } = await service((seen) =>
      seen.nth === 0
        ? { ...problem(429, 'rate_limited'), headers: { 'Retry-After': '2' } }
        : { ...stored(seen), after: 50 },
    )
    const { code } = await push(base, 'a.ndjson', ndjson(numbers(6000)), {
      args: ['--retry-for', '0', '--in-flight', '2'],
    })
    assert.equal(code, 0)
    assert.equal(bulks.length, 7)
    const [refused, ...others] = bulks.map(({ at }) => at)
    const early = others.filter((at) => at - refused! < 1950)
    assert.ok(early.length <= 1, 'only what was under way already')
  })

  const passing: Record<string, Reply> = {
    '503 with Retry-After': { ...problem(503, 'unavailable'), headers: { 'Retry-After': '2' } },
    '500': problem(500, 'internal_error'),
    '502 of a proxy': { status: 502, headers: { 'Content-Type': 'text/html' } },
    'a reset connection': { reset: true },
    'an answer that is no JSON': { status: 200 },
  }
  for (const [name, reply] of Object.entries(passing)) {
    test(`${name}: the same bulk is sent again`, async () => {
      const { base, bulks } = await service((seen) => (seen.nth === 0 ? reply : stored(seen)))
      const { code, stdout } = await push(base, 'a.ndjson', ndjson(numbers(3)))
      assert.equal(code, 0)
      assert.equal(bulks.length, 2)
      assert.equal(bulks[1]!.text, bulks[0]!.text)
      assert.match(stdout, /a\.ndjson +3 +3 /)
      const waited = bulks[1]!.at - bulks[0]!.at
      assert.ok(waited >= (reply.headers?.['Retry-After'] ? 1950 : 450), `waited ${waited} ms`)
    })
  }

  test('what fails for --retry-for seconds is given up, and named', async () => {
    const { base, bulks } = await service((seen) =>
      ids(seen).includes('1000') ? problem(503, 'unavailable') : stored(seen),
    )
    const { code, stdout, stderr } = await push(base, 'a.ndjson', ndjson(numbers(9000)), {
      args: ['--retry-for', '1', '--in-flight', '1'],
    })
    assert.equal(code, 1)
    assert.ok(bulks.length >= 3)
    assert.match(stdout, /a\.ndjson: records 1000 to 1999 are not known to be stored/)
    assert.match(stdout, /a\.ndjson: nothing was sent from record 2000 on/)
    assert.match(stderr, /push: Given up after 1 s: the service answers 503\.\n$/)
  })

  test('401 invalid_token: one new token serves all that wait for it', async () => {
    const { base, bulks, tokens } = await service(async (seen) => {
      if (seen.token !== `${TOKEN}-0`) return stored(seen)
      return { ...problem(401, 'invalid_token'), after: 40 * seen.nth }
    })
    const { code } = await push(base, 'a.ndjson', ndjson(numbers(6000)))
    assert.equal(code, 0)
    assert.equal(tokens.length, 2)
    assert.equal(bulks.filter(({ token }) => token === `${TOKEN}-1`).length, 6)
  })

  test('a token that is refused again and again ends the run', async () => {
    const { base, tokens } = await service(() => problem(401, 'invalid_token'))
    const { code, stderr } = await push(base, 'a.ndjson', ndjson([1]))
    assert.deepEqual([code, tokens.length], [1, 3])
    assert.match(stderr, /401 The title of invalid_token/)
  })

  test('a token is renewed before it expires', async () => {
    const { base, bulks } = await service((seen) => ({ ...stored(seen), after: 600 }), grant(2))
    await push(base, 'a.ndjson', ndjson(numbers(3000)), { args: ['--in-flight', '1'] })
    const used = bulks.map(({ token }) => token)
    assert.deepEqual(used, [`${TOKEN}-0`, `${TOKEN}-0`, `${TOKEN}-1`])
  })

  test('a refused token request ends the run, and says why without the secret', async () => {
    const body = { error: 'invalid_client', error_description: 'The client is unknown.' }
    const { base, bulks, tokens } = await service(stored, () => ({ status: 401, body }))
    const { code, stderr } = await push(base, 'a.ndjson', ndjson([1]))
    assert.deepEqual([code, bulks.length, tokens.length], [1, 0, 1])
    assert.match(stderr, /401 invalid_client – The client is unknown\./)
  })

  for (const status of [400, 401, 403, 404, 405, 415]) {
    test(`${status}: it stops at once, with title, detail and hint`, async () => {
      const said = { detail: 'The detail.', errors: [{ hint: 'The hint.' }] }
      const { base, bulks } = await service(() => ({ ...problem(status, 'no', said), after: 50 }))
      const { code, stderr } = await push(base, 'a.ndjson', ndjson(numbers(9000)), {
        args: ['--in-flight', '2'],
      })
      assert.equal(code, 1)
      assert.ok(bulks.length <= 3, `${bulks.length} bulks were sent`)
      assert.match(stderr, new RegExp(`${status} The title of no – The detail. – The hint.`))
    })
  }

  test('Ctrl-C: what is under way is answered and counted, nothing else is sent', async () => {
    let kill: (signal: NodeJS.Signals) => void
    const { base, bulks } = await service(async (seen) => {
      if (seen.nth === 1) kill('SIGINT')
      return { ...stored(seen), after: 400 }
    })
    const { code, stdout, stderr } = await push(base, 'a.ndjson', ndjson(numbers(20000)), {
      args: ['--in-flight', '2', '--json'],
      meanwhile: (killer) => {
        kill = killer
      },
    })
    assert.equal(code, 130)
    assert.equal(bulks.length, 2)
    const { total, files, halted } = json(stdout)
    assert.equal(total.created, 2000)
    assert.equal(files[0].not_sent_from, 2000)
    assert.equal(halted, 'Interrupted.')
    assert.match(stderr, /Stopping/)
  })

  test('Ctrl-C while the service asks to wait: it does not wait for it', async () => {
    let kill: (signal: NodeJS.Signals) => void
    const { base } = await service(() => {
      setTimeout(() => kill('SIGINT'), 200)
      return { ...problem(429, 'rate_limited'), headers: { 'Retry-After': '60' } }
    })
    const started = Date.now()
    const { code } = await push(base, 'a.ndjson', ndjson([1]), {
      meanwhile: (killer) => {
        kill = killer
      },
    })
    assert.equal(code, 130)
    assert.ok(Date.now() - started < 10_000)
  })
})

describe('answers', { concurrency: 3 }, () => {
  const currency = { code: 'currency', message: '"EUX" is not a currency.', hint: 'Mean EUR?' }
  const wrong = (index: number) => ({
    index,
    key: { transaction_id: 'T' },
    pointer: `/${index}/currency`,
    ...currency,
  })

  test('422: every record of the bulk is written down, and the others go on', async () => {
    const { base, bulks } = await service((seen) =>
      ids(seen).includes('1001')
        ? problem(422, 'validation_failed', { errors_total: 1, errors: [wrong(1)] })
        : stored(seen),
    )
    const exact = '{"transaction_id":"1000","amount_currency":1.50}\n'
    const text = `${ndjson(numbers(1000))}${exact}${ndjson(numbers(1999, 1001))}`
    const { code, rejected, stdout } = await push(base, 'a.ndjson', text)
    assert.deepEqual([code, bulks.length, rejected?.length], [1, 3, 1000])
    const reason = '"reason":"not stored: its bulk was refused"'
    assert.equal(rejected![0], `{"index":1000,"record":${exact.trim()},"errors":[],${reason}}`)
    assert.deepEqual(json(rejected![1]!), {
      index: 1001,
      record: { transaction_id: '1001' },
      errors: [{ pointer: '/currency', ...currency }],
    })
    assert.match(stdout, /a\.ndjson +3,000 +2,000 +0 +0 +0 +0 +1,000 +0\n/)
    assert.match(stdout, /currency +1 times, e\.g\. \/currency "EUX" is not a currency\./)
    assert.match(stdout, /Rejected records: a\.ndjson\.rejected\.ndjson/)
    assert.match(stdout, /999 records were refused only with their bulks: --lenient/)
  })

  test('422 with more errors than an answer has room for: nobody is called innocent', async () => {
    const errors = [wrong(0), wrong(1)]
    const { base } = await service(() =>
      problem(422, 'validation_failed', { errors_total: 4, errors }),
    )
    const { rejected, stdout } = await push(base, 'a.ndjson', ndjson(numbers(4)))
    const reasons = rejected!.map(json).map(({ reason }) => reason)
    const reason = 'not stored: its bulk was refused; the answer has no room for all errors'
    assert.deepEqual(reasons, [undefined, undefined, reason, reason])
    assert.ok(!stdout.includes('--lenient'))
  })

  test('207: the rejected records are written down, the others counted', async () => {
    const { index: _, key, ...error } = wrong(2)
    const { base, bulks } = await service(() => ({
      status: 207,
      headers: { 'Preference-Applied': 'handling=lenient' },
      body: {
        summary: { ...NOTHING, received: 4, created: 1, updated: 1, stale: 1, rejected: 1 },
        results: [{ index: 2, key, outcome: 'rejected', errors: [error] }],
      },
    }))
    const { code, rejected, stdout } = await push(base, 'a.ndjson', ndjson(numbers(4)), {
      args: ['--lenient'],
    })
    assert.equal(code, 1)
    assert.equal(bulks[0]!.headers.prefer, 'return=minimal, handling=lenient')
    assert.deepEqual(rejected?.map(json), [
      { index: 2, record: { transaction_id: '2' }, errors: [{ pointer: '/currency', ...currency }] },
    ])
    assert.match(stdout, /a\.ndjson +4 +1 +1 +0 +1 +0 +1 +0\n/)
    assert.ok(!stdout.includes('--lenient'))
  })

  test('warnings are counted by code, with one example', async () => {
    const { base } = await service((seen) => {
      const warning = (index: number) => ({
        index,
        outcome: 'created',
        warnings: [{ code: 'withdrawn_currency', pointer: `/${index}/currency`, message: 'HRK.' }],
      })
      const { body } = stored(seen)
      return { body: { ...body, results: [warning(0), warning(2)] } }
    })
    const { code, stdout } = await push(base, 'a.ndjson', ndjson(numbers(4)))
    assert.equal(code, 0)
    assert.match(stdout, /Warnings:\n {2}withdrawn_currency {2}2 times, e\.g\. \/currency HRK\./)
  })

  test('what an earlier run rejected is gone, and nothing is written without need', async () => {
    const { base } = await service()
    const cwd = directory({ 'a.ndjson': ndjson([1]), 'a.ndjson.rejected.ndjson': 'old' })
    await run(base, cwd, ['a.ndjson'])
    assert.ok(!existsSync(join(cwd, 'a.ndjson.rejected.ndjson')))
  })

  test('a file that this run would replace is not sent', async () => {
    const { base } = await service()
    const files = { 'a.ndjson': ndjson([1]), 'a.ndjson.rejected.ndjson': ndjson([2]) }
    const cwd = directory(files)
    const { code } = await run(base, cwd, Object.keys(files))
    assert.equal(code, 2)
    assert.ok(existsSync(join(cwd, 'a.ndjson.rejected.ndjson')))
  })

  test('--dry-run asks for judgement only, and says so', async () => {
    const { base, bulks } = await service()
    const { stdout } = await push(base, 'a.ndjson', ndjson([1]), { args: ['--dry-run'] })
    assert.equal(bulks[0]!.url, '/api/v1/forex/transactions?dry_run=true')
    assert.match(stdout, /Dry run, nothing was stored/)
  })

  test('--json prints one object, the same numbers in it', async () => {
    const { base } = await service()
    const cwd = directory({ 'a.ndjson': ndjson(numbers(3)), 'b.csv': 'transaction_id\n7\n' })
    const { stdout } = await run(base, cwd, ['a.ndjson', 'b.csv'], { args: ['--json'] })
    const { total, files, halted } = json(stdout)
    assert.deepEqual(total, { ...NOTHING, received: 4, created: 4, not_sent: 0 })
    assert.deepEqual(
      files.map(({ file, received }: { file: string; received: number }) => [file, received]),
      [
        ['a.ndjson', 3],
        ['b.csv', 1],
      ],
    )
    assert.equal(halted, null)
  })
})

describe('arguments and profile', { concurrency: 3 }, () => {
  const wrong: [string[], RegExp][] = [
    [['--vertical', 'forx'], /There is no vertical "forx"; known are: prop-trading, forex\./],
    [['--resource', 'trades'], /There is no resource "trades"; known are: customers/],
    [['--format', 'xml'], /--format is one of: json, ndjson, csv/],
    [['--in-flight', '0'], /--in-flight is a whole number from 1 on/],
    [['--retry-for', 'long'], /--retry-for is a whole number from 0 on/],
    [['--lenint'], /Unknown option '--lenint'/],
    [['missing.csv'], /There is no file missing\.csv/],
    [['.'], /\. is no file/],
  ]
  for (const [args, message] of wrong) {
    test(`${args.join(' ')}: exit code 2 and one line`, async () => {
      const { code, stdout, stderr } = await push('http://127.0.0.1:1', 'a.csv', '', { args })
      assert.deepEqual([code, stdout], [2, ''])
      assert.match(stderr, /^push: .*\n$/)
      assert.match(stderr, message)
    })
  }

  test('--help says what it does, and the exit codes', async () => {
    const { code, stdout } = await run('', directory({}), [], { args: ['--help'] })
    assert.equal(code, 0)
    assert.match(stdout, /--lenient[\s\S]*Exit code/)
  })

  const account = { name: 'A', vertical: 'forex', ...CLIENT }
  const profile = (base_url: string, ...accounts: object[]) =>
    JSON.stringify({ base_url, admin_key: 'do-not-print-me-either', accounts })

  test('without a word, .demo.json is the profile', async () => {
    const { base, tokens } = await service()
    const demo = profile(base, { ...account, vertical: 'prop-trading', client_id: 'no' }, account)
    const cwd = directory({ 'a.ndjson': ndjson([1]), '.demo.json': demo })
    assert.equal((await run('', cwd, ['a.ndjson'], { env: {} })).code, 0)
    assert.match(tokens[0]!, /client_id=acme/)
  })

  test('--account chooses, the environment comes before the profile', async () => {
    const { base, tokens } = await service()
    const demo = profile(base, account, { ...account, name: 'B', client_id: 'b' })
    const cwd = directory({ 'a.ndjson': ndjson([1]), 'p.json': demo })
    const args = ['--profile', 'p.json']
    const unclear = await run('', cwd, ['a.ndjson'], { args, env: {} })
    assert.deepEqual([unclear.code, tokens.length], [2, 0])
    assert.match(unclear.stderr, /choose with --account one of: A, B/)
    await run('', cwd, ['a.ndjson'], { args: [...args, '--account', 'B'], env: {} })
    assert.match(tokens[0]!, /client_id=b&/)
    const env = { TRIBUTARY_CLIENT_ID: 'env', TRIBUTARY_CLIENT_SECRET: CLIENT.client_secret }
    await run('', cwd, ['a.ndjson'], { args, env })
    assert.match(tokens[1]!, /client_id=env&/)
  })

  const broken: Record<string, [Run, RegExp]> = {
    'no profile': [{ env: {} }, /No address or credentials/],
    'a profile that is missing': [{ args: ['--profile', 'x'], env: {} }, /x cannot be read/],
    'a profile that is no JSON': [{ args: ['--profile', 'p'], env: {} }, /p is not JSON/],
    'half of the credentials': [
      { env: { TRIBUTARY_CLIENT_ID: 'a' } },
      /TRIBUTARY_CLIENT_ID is set, but TRIBUTARY_CLIENT_SECRET is not/,
    ],
    'plain HTTP to elsewhere': [
      {
        env: {
          TRIBUTARY_BASE_URL: 'http://example.com',
          TRIBUTARY_CLIENT_ID: 'a',
          TRIBUTARY_CLIENT_SECRET: 'b',
        },
      },
      /The base address is an https:\/\/ one/,
    ],
  }
  for (const [name, [options, message]] of Object.entries(broken)) {
    test(`${name}: exit code 2, and no secret is shown`, async () => {
      const cwd = directory({ 'a.ndjson': ndjson([1]), p: `{"client_secret":"${TOKEN}",` })
      const { code, stderr } = await run('', cwd, ['a.ndjson'], options)
      assert.equal(code, 2)
      assert.match(stderr, /^push: .*\n$/)
      assert.match(stderr, message)
    })
  }
})

describe('memory', () => {
  // Loading the resources takes most of it: what matters is that a larger file takes no more.
  const GROWTH_MB = 120

  for (const format of ['ndjson', 'json', 'csv'] as const) {
    test(`200,000 records of ${format} take hardly more than one bulk`, async () => {
      const { base } = await service(stored)
      const cwd = directory({})
      const write = async (name: string, count: number) => {
        const file = createWriteStream(join(cwd, name))
        const note = 'n'.repeat(300)
        if (format === 'json') file.write('[')
        if (format === 'csv') file.write('transaction_id,amount_currency,note\n')
        for (const id of numbers(count)) {
          const record = `{"transaction_id":"${id}","amount_currency":1.50,"note":"${note}"}`
          const line = format === 'csv' ? `${id},1.50,${note}` : record
          const comma = format === 'json' && id > 0 ? ',' : ''
          if (!file.write(`${comma}${line}\n`)) await once(file, 'drain')
        }
        file.end(format === 'json' ? ']' : '')
        await finished(file)
      }
      await write(`small.${format}`, 1000)
      await write(`large.${format}`, 200_000)
      const small = await run(base, cwd, [`small.${format}`])
      const large = await run(base, cwd, [`large.${format}`])
      assert.match(large.stdout, /200,000 +200,000 /)
      console.log(format, small.peak, large.peak)
      assert.ok(large.peak - small.peak < GROWTH_MB, `${small.peak} MB, then ${large.peak} MB`)
    })
  }
})
