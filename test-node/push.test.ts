import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  createWriteStream,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { readArguments } from '../scripts/push/arguments.ts'
import { connect } from '../scripts/push/exchange.ts'
import { poster } from '../scripts/push/post.ts'
import { readProfile } from '../scripts/push/profile.ts'
import { formatOf, records } from '../scripts/push/read.ts'
import { VERTICALS } from '../scripts/push/verticals.ts'
import { leakIn, sought } from './secrecy/leaks.ts'

// The command as its users meet it: a process, files, and a service that may fail in every way.
// Only lists of what is refused are asked of the parts: a process for each would take too long.

const COMMAND = join(import.meta.dirname, '../scripts/push.ts')
/** Loaded before the command: says at its end how much memory it took at most. */
const PEAK = `data:text/javascript,${encodeURIComponent(`
let peak = 0
const look = () => { peak = Math.max(peak, process.memoryUsage.rss()) }
setInterval(look, 20).unref()
process.on('exit', () => { look(); console.error('peak', peak) })`)}`
const ROOT = mkdtempSync(join(tmpdir(), 'push-'))
const CACHE = join(ROOT, 'cache')
const CLIENT = { client_id: 'acme', client_secret: 'tcs_test_do-not-print-me' }
const TOKEN = 'token-do-not-print-me'
const BRAND_TOKEN = 'tbt_test_do-not-print-me'
const SECRETS = sought({ client_secret: CLIENT.client_secret, TOKEN, BRAND_TOKEN })

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
  rmSync(ROOT, { recursive: true })
})

/** A service that answers bulks as told, and all else as the real one does. */
async function service(handler: Handler = stored, token: () => Reply = grant()) {
  const bulks: Seen[] = []
  const tokens: string[] = []
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const raw = await buffer(request)
    if (request.url === '/oauth/token') {
      tokens.push(String(raw))
      await respond(response, token())
      return
    }
    const seen: Seen = {
      url: request.url!,
      headers: request.headers,
      get text() {
        return String(gunzipSync(raw))
      },
      get records() {
        return JSON.parse(this.text)
      },
      at: Date.now(),
      nth: bulks.length,
      token: String(request.headers.authorization).replace('Bearer ', ''),
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
  if (reset) {
    response.destroy()
    return
  }
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
function directory(files: Record<string, string | Uint8Array>) {
  const path = mkdtempSync(join(ROOT, 'files-'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text)
  return path
}

interface Run {
  args?: string[]
  env?: Record<string, string>
  vertical?: string
  resource?: string
  /** Called with the process as soon as it runs. */
  meanwhile?: (kill: (signal: NodeJS.Signals) => void) => void
}

/** Runs the command on files in a directory; whatever it prints, a secret is not in it. */
async function run(base: string, cwd: string, files: string[], options: Run = {}) {
  const { args = [], env, vertical = 'forex', resource = 'transactions', meanwhile } = options
  const credentials = {
    TRIBUTARY_BASE_URL: base,
    TRIBUTARY_CLIENT_ID: CLIENT.client_id,
    TRIBUTARY_CLIENT_SECRET: CLIENT.client_secret,
  }
  const all = ['--vertical', vertical, '--resource', resource, ...args, ...files]
  const child = spawn(process.execPath, ['--import', PEAK, COMMAND, ...all], {
    cwd,
    env: { NODE_COMPILE_CACHE: CACHE, ...(env ?? credentials) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  meanwhile?.((signal) => child.kill(signal))
  const [stdout, stderr, [code]] = await Promise.all([
    buffer(child.stdout).then(String),
    buffer(child.stderr).then(String),
    once(child, 'exit'),
  ])
  assert.equal(leakIn(stdout + stderr, SECRETS), null)
  const peak = Number(/peak (\d+)/.exec(stderr)?.[1]) / 2 ** 20
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

const json = (text: string) => JSON.parse(text)

const [transactions] = VERTICALS[1]!.resources.filter(({ name }) => name === 'transactions')

/** The records of a file of transactions, as they would be sent. */
async function read(name: string, text: string | Uint8Array) {
  const cwd = directory({ [name]: text })
  const source = { file: join(cwd, name), position: { bytes: 0, lines: 0 } }
  const found: string[] = []
  try {
    for await (const { text } of records(source, await formatOf(source.file), transactions!)) {
      found.push(text)
    }
  } catch (error) {
    const { message, exitCode } = error as { message: string; exitCode: number }
    throw Object.assign(new Error(message.replace(`${cwd}/`, '')), { exitCode })
  }
  return found
}

/** NDJSON of transactions with these ids. */
const ndjson = (ids: Iterable<unknown>) =>
  Array.from(ids, (id) => `{"transaction_id":"${id}"}\n`).join('')

const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, i) => from + i)

const ids = ({ records }: Seen) => records.map(({ transaction_id }) => transaction_id)

describe('reading', { concurrency: 4 }, () => {
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
    'a.csv': `\uFEFF${csv.join('\r\n')}\r\n`,
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

  const untold = {
    'a.jsonl': lines.join('\n'),
    'json-without-ending': `\n[${lines.join(',')}]`,
    'ndjson-without-ending': lines.join('\n'),
    'csv-without-ending': csv.join('\n'),
  }
  for (const [name, text] of Object.entries(untold)) {
    test(`${name}: the file itself says how it is written`, async () => {
      assert.deepEqual(await read(name, text), lines)
    })
  }

  test('--format comes before the ending', async () => {
    const { base, bulks } = await service()
    await push(base, 'a.json', lines.join('\n'), { args: ['--format', 'ndjson'] })
    assert.equal(bulks[0]!.text, `[${lines.join(',')}]`)
  })

  test('a CSV cell that should be a number and is none is sent as text', async () => {
    const cells = ['1,000.00', '01', '+5', ' 5', '1.', 'NaN', 'true']
    const rows = cells.map((cell, i) => `T-${i},"${cell}"\n`)
    const texts = await read('a.csv', `transaction_id,amount_currency\n${rows.join('')}`)
    const sent = texts.map((text) => json(text).amount_currency)
    assert.deepEqual(sent, cells)
  })

  test('what is no record is left to the service to refuse', async () => {
    const strange = ['1.0', 'null', '"x"', '[[]]', '{}']
    assert.deepEqual(await read('a.json', `[${strange}]`), strange)
    assert.deepEqual(await read('a.ndjson', strange.join('\n')), strange)
  })

  const malformed = {
    'truncated.json': [
      '[{"a":1},\n{"a":',
      /^truncated\.json, line 2, column 6: .* \(record 1\)\.$/,
    ],
    'object.json': ['{"data":[]}', /^object\.json: this is not a JSON array/],
    'after.json': ['[]\n{}', /^after\.json, line 2/],
    'empty.json': ['', /^empty\.json, line 1/],
    'broken.ndjson': ['{"a":1}\n\n{"a":}\n', /^broken\.ndjson, line 3: this is not JSON/],
    'long.ndjson': [`{}\n${'x'.repeat(9_000_000)}`, /^long\.ndjson, line 2: .* longer than 8 MiB/],
    'ragged.csv': [
      'transaction_id,note\nT-1,a\nT-2\n',
      /^ragged\.csv: .* on line 3\. Fields are separated by commas\.$/,
    ],
    'quote.csv': [
      'transaction_id,note\nT-1,"a\n',
      /^quote\.csv: .* at line 2\. Fields are separated by commas\.$/,
    ],
    'no-header.csv': ['T-1,5\nT-2,6\n', /^no-header\.csv, line 1: this names no field/],
    'twice.csv': ['note,note\n', /^twice\.csv, line 1: the field "note" is there twice/],
    'latin.ndjson': [
      Buffer.from('{"note":"a"}\n{"note":"\xe9"}\n', 'latin1'),
      /^latin\.ndjson, line 2: this is not UTF-8\.$/,
    ],
    'latin.json': [Buffer.from('[\n"a",\n"\xe9"]', 'latin1'), /^latin\.json, line 3: .* not UTF-8/],
    'latin.csv': [Buffer.from('note\na\n\xe9\n', 'latin1'), /^latin\.csv, line 3: .* not UTF-8/],
  } as const
  for (const [name, [text, message]] of Object.entries(malformed)) {
    test(`${name}: it is said where it is malformed`, async () => {
      await assert.rejects(read(name, text), { exitCode: 2, message })
    })
  }

  test('a malformed file is one line, and exit code 2', async () => {
    const { base, bulks } = await service()
    const { code, stdout, stderr } = await push(base, 'a.json', '[{}')
    assert.deepEqual([code, stdout, bulks.length], [2, '', 0])
    assert.match(stderr, /^push: a\.json, line 1, .*\n$/)
  })

  test('what was read before the malformed place is answered and reported', async () => {
    const { base, bulks } = await service()
    const { code, stdout } = await push(base, 'a.ndjson', `${ndjson(numbers(1500))}{`)
    assert.deepEqual([code, bulks.length], [2, 1])
    assert.match(stdout, /a\.ndjson +1,000 +1,000 /)
    assert.match(stdout, /nothing was sent from record 1000 on/)
  })
})

describe('bulks', { concurrency: 4 }, () => {
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
      await sleep(300)
      now--
      return stored(seen)
    })
    await push(base, 'a.ndjson', ndjson(numbers(8000)), { args: ['--in-flight', '3'] })
    assert.equal(most, 3)
  })

  test('a file is read no faster than the service takes it', async () => {
    const { base } = await service(() => ({ ...problem(403, 'wrong_vertical'), after: 500 }))
    const text = `${ndjson(numbers(9000))}{`
    const { code, stderr } = await push(base, 'a.ndjson', text, { args: ['--in-flight', '1'] })
    assert.equal(code, 1, 'the malformed end was not read')
    assert.match(stderr, /403/)
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
    assert.deepEqual(taken.flatMap(ids), numbers(1000).map(String))
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

describe('faults', { concurrency: 8 }, () => {
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

  test('without a terminal, a line every few seconds says how far it is and what holds it', async () => {
    const { base } = await service((seen) =>
      seen.nth === 1
        ? { ...problem(429, 'rate_limited'), headers: { 'Retry-After': '4' } }
        : stored(seen),
    )
    const record = { transaction_id: 'T', note: 'n'.repeat(300) }
    const lines = numbers(3000).map((id) => JSON.stringify({ ...record, transaction_id: `${id}` }))
    const { stderr } = await push(base, 'a.ndjson', lines.join('\n'), {
      args: ['--in-flight', '1'],
    })
    const wait = '429: the service asks to wait 4 s'
    assert.match(stderr, new RegExp(`^1,000 records · \\d+/s · \\d+.* left · ${wait}$`, 'm'))
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
    assert.match(stderr, /push: The access token was refused: 401 The title of invalid_token/)
  })

  test('a token is renewed before it expires', async () => {
    const { base, bulks } = await service((seen) => ({ ...stored(seen), after: 600 }), grant(2))
    await push(base, 'a.ndjson', ndjson(numbers(3000)), { args: ['--in-flight', '1'] })
    const used = bulks.map(({ token }) => token)
    assert.equal(used[0], `${TOKEN}-0`)
    assert.notEqual(used[2], `${TOKEN}-0`)
  })

  test('a refused token request ends the run, and says why without the secret', async () => {
    const body = { error: 'invalid_client', error_description: 'The client is unknown.' }
    const { base, bulks, tokens } = await service(stored, () => ({ status: 401, body }))
    const { code, stderr } = await push(base, 'a.ndjson', ndjson([1]))
    assert.deepEqual([code, bulks.length, tokens.length], [1, 0, 1])
    assert.match(stderr, /401 invalid_client – The client is unknown\./)
  })

  for (const status of [302, 400, 401, 403, 404, 405, 415]) {
    test(`${status}: it is not repeated; title, detail and hint are said`, async () => {
      const said = { detail: 'The detail.', errors: [{ hint: 'The hint.' }] }
      const headers = { Location: '/oauth/token' }
      const { base, bulks } = await service(() => ({ ...problem(status, 'no', said), headers }))
      const keyring = {
        headers: async () => ({ Authorization: 'x' }),
        refused: () => assert.fail(),
        unwelcome: 'Unwelcome',
      }
      const exchange = connect(150, new AbortController().signal, assert.fail)
      const what = status === 401 ? 'Unwelcome' : 'Stopped'
      const message = `${what}: ${status} The title of no – The detail. – The hint.`
      const post = poster({ url: base, prefer: '', headersOf: () => ({}) }, keyring, exchange)
      await assert.rejects(post({ first: 0, texts: ['{}'] }), { exitCode: 1, message })
      assert.equal(bulks.length, 1)
    })
  }

  test('such an answer ends the run', async () => {
    const { base, bulks } = await service(() => ({ ...problem(403, 'wrong_vertical'), after: 50 }))
    const { code, stderr } = await push(base, 'a.ndjson', ndjson(numbers(9000)), {
      args: ['--in-flight', '2'],
    })
    assert.equal(code, 1)
    assert.ok(bulks.length <= 3, `${bulks.length} bulks were sent`)
    assert.match(stderr, /push: Stopped: 403 The title of wrong_vertical\n$/)
  })

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
    assert.ok(Date.now() - started < 30_000)
  })
})

describe('answers', { concurrency: 4 }, () => {
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
    assert.match(stdout, /currency +once, e\.g\. \/currency "EUX" is not a currency\. Mean EUR\?/)
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
      {
        index: 2,
        record: { transaction_id: '2' },
        errors: [{ pointer: '/currency', ...currency }],
      },
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

describe('arguments and profile', { concurrency: 4 }, () => {
  const fine = ['--vertical', 'forex', '--resource', 'customers', 'a.csv']
  const wrong: [string[], string][] = [
    [
      ['--vertical', 'forx'],
      'There is no vertical "forx"; known are: prop-trading, forex, igaming.',
    ],
    [
      ['--resource', 'trades'],
      'There is no resource "trades"; known are: customers, transactions, trading-activity.',
    ],
    [['--format', 'xml'], '--format is one of: json, ndjson, csv.'],
    [
      ['--vertical', 'igaming', '--resource', 'transactions'],
      'There is no resource "transactions"; known are: customers, activities.',
    ],
    [['--in-flight', '0'], '--in-flight is a whole number from 1 on.'],
    [['--retry-for', 'long'], '--retry-for is a whole number from 0 on.'],
    [['--lenint'], "Unknown option '--lenint'."],
  ]
  for (const [args, message] of wrong) {
    test(`${args.join(' ')} is refused`, () => {
      assert.throws(() => readArguments([...fine, ...args]), { exitCode: 2, message })
    })
  }
  const incomplete: [string[], string][] = [
    [fine.slice(2), '--vertical is missing; known are: prop-trading, forex, igaming.'],
    [fine.slice(0, 4), 'Name a file to send.'],
  ]
  for (const [args, message] of incomplete) {
    test(`${args.join(' ')} is not enough`, () => {
      assert.throws(() => readArguments(args), { exitCode: 2, message })
    })
  }

  test('wrong arguments are one line, and exit code 2', async () => {
    const files = { '.': /^push: \. is no file\.\n$/, x: /^push: There is no file x\.\n$/ }
    const said = Object.entries(files).map(async ([file, message]) => {
      const { code, stdout, stderr } = await run('http://127.0.0.1:1', directory({}), [file])
      assert.deepEqual([code, stdout], [2, ''])
      assert.match(stderr, message)
    })
    await Promise.all(said)
  })

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
    const own = { TRIBUTARY_CLIENT_ID: 'env', TRIBUTARY_CLIENT_SECRET: CLIENT.client_secret }
    const halved = await run('', cwd, ['a.ndjson'], { args, env: own })
    assert.deepEqual([halved.code, tokens.length], [2, 1], 'a secret goes to no other address')
    const env = { ...own, TRIBUTARY_BASE_URL: base }
    await run('', cwd, ['a.ndjson'], { args, env })
    assert.match(tokens[1]!, /client_id=env&/)
  })

  const cwd = directory({ text: `{"client_secret":"${CLIENT.client_secret}",`, empty: '{}' })
  const id = { TRIBUTARY_CLIENT_ID: 'a' }
  const both = { ...id, TRIBUTARY_CLIENT_SECRET: CLIENT.client_secret }
  const at = (TRIBUTARY_BASE_URL: string) => ({ ...both, TRIBUTARY_BASE_URL })
  const broken: Record<string, [string | null, Record<string, string>, string]> = {
    'a profile that is missing': ['none', {}, 'none cannot be read (ENOENT).'],
    'a profile that is no JSON': ['text', {}, 'text is not JSON.'],
    'half of the credentials': [
      null,
      id,
      'Set all of it or none: TRIBUTARY_CLIENT_ID is there, TRIBUTARY_BASE_URL, TRIBUTARY_CLIENT_SECRET not.',
    ],
    'no address': [
      'empty',
      both,
      'Set all of it or none: TRIBUTARY_CLIENT_ID, TRIBUTARY_CLIENT_SECRET is there, TRIBUTARY_BASE_URL not.',
    ],
    'plain HTTP to elsewhere': [
      null,
      at('http://example.com'),
      'The base address is an https:// one (http:// on this machine only).',
    ],
    'a password in the address': [
      null,
      at('https://a:b@example.com'),
      'The base address must not have a password in it.',
    ],
  }
  test('a secret that no header could have is refused, and not shown', () => {
    const env = { TRIBUTARY_BASE_URL: 'https://x', TRIBUTARY_BRAND_TOKEN: `${BRAND_TOKEN}\n…` }
    const message = 'The brand_token of igaming has characters that no secret has.'
    const chosen = { profile: null, account: null }
    assert.throws(() => readProfile(VERTICALS[2]!, chosen, env), { exitCode: 2, message })
  })

  for (const [name, [profile, env, message]] of Object.entries(broken)) {
    test(`${name}: refused, and no secret is shown`, () => {
      const path = profile && join(cwd, profile)
      const chosen = { profile: path, account: null }
      assert.throws(() => readProfile(VERTICALS[1]!, chosen, env), {
        exitCode: 2,
        message: message.replace(/^(none|text)/, `${path}`),
      })
    })
  }
})

describe('brands', { concurrency: 4 }, () => {
  const brand = (base: string): Run => ({
    vertical: 'igaming',
    resource: 'activities',
    env: { TRIBUTARY_BASE_URL: base, TRIBUTARY_BRAND_TOKEN: BRAND_TOKEN },
  })
  const lines = (records: object[]) =>
    records.map((record) => `${JSON.stringify(record)}\n`).join('')
  const spin = (id: number) => ({ eventname: 'spin', customerid: 'C', Value: String(id) })
  const keyOf = ({ headers }: Seen) => headers['idempotency-key']

  test('the Brand Token is in x-api-key, and no token is asked for', async () => {
    const { base, bulks, tokens } = await service()
    const { code } = await push(base, 'a.ndjson', lines([spin(1)]), brand(base))
    assert.deepEqual([code, tokens.length], [0, 0])
    const { url, headers } = bulks[0]!
    assert.equal(url, '/tracking/events/activities')
    assert.equal(headers['x-api-key'], BRAND_TOKEN)
    assert.equal(headers.authorization, undefined)
  })

  test('the account of the profile has it, too', async () => {
    const { base, bulks } = await service()
    const account = { name: 'B', vertical: 'igaming', brand_token: BRAND_TOKEN }
    const demo = JSON.stringify({ base_url: base, accounts: [account] })
    const cwd = directory({ 'a.ndjson': '{"customerId":"C"}', '.demo.json': demo })
    const { code } = await run('', cwd, ['a.ndjson'], {
      ...brand(base),
      resource: 'customers',
      env: {},
    })
    assert.equal(code, 0)
    assert.equal(bulks[0]!.url, '/tracking/events/customers')
    assert.equal(bulks[0]!.headers['x-api-key'], BRAND_TOKEN)
  })

  test('401: it is said what was refused, once', async () => {
    const { base, bulks } = await service(() => problem(401, 'invalid_api_key'))
    const { code, stderr } = await push(base, 'a.ndjson', lines([spin(1)]), brand(base))
    assert.deepEqual([code, bulks.length], [1, 1])
    assert.match(stderr, /^push: The Brand Token was refused: 401 The title of invalid_api_key\n$/m)
  })

  test('what is held is counted, and said', async () => {
    const { base } = await service(({ records: { length } }) => {
      const summary = { ...NOTHING, received: length, created: 1, held: length - 1 }
      return { body: { summary, results: [] } }
    })
    const text = lines(numbers(3).map(spin))
    const { code, stdout } = await push(base, 'a.ndjson', text, brand(base))
    assert.equal(code, 0)
    assert.match(stdout, /a\.ndjson +3 +1 +0 +0 +0 +2 +0 +0\n/)
    assert.match(stdout, /^2 records are held: to be counted once the customer is known\.$/m)
  })

  test('a repeated bulk keeps its Idempotency-Key, and no other bulk has it', async () => {
    const faults: Reply[] = [
      problem(503, 'unavailable'),
      { reset: true },
      { ...problem(429, 'rate_limited'), headers: { 'Retry-After': '1' } },
    ]
    const { base, bulks } = await service((seen) => faults[seen.nth] ?? stored(seen))
    // The second thousand says the same as the first: these are other events all the same.
    const text = lines([...numbers(1000), ...numbers(1000)].map(spin))
    const options = brand(base)
    const { code } = await push(base, 'a.ndjson', text, { ...options, args: ['--in-flight', '1'] })
    assert.equal(code, 0)
    const [first, ...others] = bulks.map(keyOf)
    assert.match(String(first), /^[0-9a-f]{64}$/)
    assert.deepEqual(others.slice(0, 3), [first, first, first])
    assert.notEqual(others[3], first)
    assert.equal(bulks.length, 5)
  })

  test('another run of the same file has the same keys, an enlarged one has others', async () => {
    const { base, bulks } = await service()
    const of = (count: number) => lines(numbers(count).map(spin))
    const options = { ...brand(base), args: ['--in-flight', '1'] }
    for (const count of [1500, 1500, 1501]) await push(base, 'a.ndjson', of(count), options)
    const keys = bulks.map(keyOf)
    assert.deepEqual(keys.slice(2, 4), keys.slice(0, 2))
    assert.equal(keys[4], keys[0])
    assert.ok(!keys.slice(0, 4).includes(keys[5]))
  })

  test('413: each half has a key of its own', async () => {
    const { base, bulks } = await service((seen) =>
      seen.records.length > 2 ? problem(413, 'payload_too_large') : stored(seen),
    )
    await push(base, 'a.ndjson', lines(numbers(4).map(spin)), brand(base))
    assert.equal(new Set(bulks.map(keyOf)).size, 3)
  })

  test('customers are known by their ids: they need no Idempotency-Key', async () => {
    const { base, bulks } = await service()
    const options = { ...brand(base), resource: 'customers' }
    await push(base, 'a.ndjson', lines([{ customerId: 'C' }]), options)
    assert.equal(keyOf(bulks[0]!), undefined)
  })

  test('a CSV file may have any column, and every cell is text', async () => {
    const texts = {
      customers: 'customerId,vip,level\n7,true,1.50\n8,,\n',
      activities: 'eventname,customerid,Value,GGR\nspin,7,1.50,"1,000.00"\n',
    }
    const { base, bulks } = await service()
    for (const [resource, text] of Object.entries(texts)) {
      const { code } = await push(base, 'a.csv', text, { ...brand(base), resource })
      assert.equal(code, 0)
    }
    assert.deepEqual(
      bulks.map(({ records }) => records),
      [
        [{ customerId: '7', vip: 'true', level: '1.50' }, { customerId: '8' }],
        [{ eventname: 'spin', customerid: '7', Value: '1.50', GGR: '1,000.00' }],
      ],
    )
    const { code, stderr } = await push(base, 'a.csv', '7,true\n', brand(base))
    assert.equal(code, 2)
    assert.match(stderr, /this names no field of activities\. They are: customerid,eventname,/)
  })

  test('records of one key share a bulk, but are never under way in two', async () => {
    let now = 0
    let most = 0
    const { base, bulks } = await service(async (seen) => {
      most = Math.max(most, ++now)
      await sleep(200)
      now--
      return stored(seen)
    })
    await push(base, 'a.ndjson', lines(numbers(2500).map(spin)), brand(base))
    assert.deepEqual(
      bulks.map(({ records }) => records.length),
      [1000, 1000, 500],
    )
    assert.equal(most, 1)
  })

  const [customers, activities] = VERTICALS[2]!.resources
  const day = { eventname: 'day', customerid: 'C', createtime: '2026-10-01', product: 'casino' }
  const same: [object, object][] = [
    [{ eventid: '1', ...day }, { eventid: '1' }],
    [day, { ...day, GGR: '2', Currency: null }],
    [day, { ...day, createtime: '2026-10-01 08:30' }],
    [day, { ...day, createtime: '2026-10-01 23:30:15' }],
    [
      { ...day, createtime: '2026-10-01T23:30:00Z' },
      { ...day, createtime: '2026-10-02T00:30:00+02:00' },
    ],
  ]
  const others: [object, object][] = [
    [
      { eventid: '1', ...day },
      { eventid: '2', ...day },
    ],
    [{ eventid: '1', ...day }, day],
    ...Object.keys(day).map((name): [object, object] => [day, { ...day, [name]: '2026-10-02' }]),
    [day, { ...day, Currency: 'EUR' }],
  ]
  for (const [pairs, compare] of [
    [same, assert.equal],
    [others, assert.notEqual],
  ] as const) {
    for (const [a, b] of pairs) {
      test(`${JSON.stringify([a, b])}: ${pairs === same ? 'one key' : 'two keys'}`, () => {
        assert.ok(activities!.keyOf(a))
        compare(activities!.keyOf(a), activities!.keyOf(b))
      })
    }
  }

  test('a customer is kept in order by its id, and what has no key is in none', () => {
    const key = (record: unknown) => customers!.keyOf(record)
    assert.equal(key({ customerId: 'C', country: 'DE' }), key({ customerId: 'C' }))
    assert.notEqual(key({ customerId: 'C' }), key({ customerId: 'D' }))
    for (const record of [null, 'x', [], {}, { customerId: 7 }]) {
      assert.equal(key(record), undefined)
      assert.equal(activities!.keyOf(record), undefined)
    }
  })
})

describe('memory', { concurrency: 3 }, () => {
  // Loading the resources takes most of it: what matters is that a larger file takes no more.
  const GROWTH_MB = 100
  const cwd = directory({ 'small.ndjson': ndjson([1]) })
  const summary = { ...NOTHING, received: 1000, created: 1000 }
  const small = service().then(({ base }) => run(base, cwd, ['small.ndjson']))

  for (const format of ['ndjson', 'json', 'csv'] as const) {
    test(`200,000 records of ${format} take hardly more memory than one`, async () => {
      const { base } = await service(() => ({ body: { summary, results: [] } }))
      await write(join(cwd, `large.${format}`), format)
      const large = await run(base, cwd, [`large.${format}`])
      assert.match(large.stdout, /200,000 +200,000 /)
      const { peak } = await small
      assert.ok(large.peak - peak < GROWTH_MB, `${peak} MB, then ${large.peak} MB`)
    })
  }

  /** Writes 200 thousands of transactions, 70 MB of them. */
  async function write(path: string, format: 'json' | 'ndjson' | 'csv') {
    const file = createWriteStream(path)
    const note = 'n'.repeat(280)
    const line = (id: number) =>
      format === 'csv'
        ? `${id},1.50,${note}`
        : `{"transaction_id":"${id}","amount_currency":1.50,"note":"${note}"}`
    const between = format === 'json' ? ',\n' : '\n'
    const head = { json: '[', ndjson: '', csv: 'transaction_id,amount_currency,note\n' }
    file.write(head[format])
    for (let thousand = 0; thousand < 200; thousand++) {
      const lines = numbers(1000, 1000 * thousand)
        .map(line)
        .join(between)
      file.write((thousand > 0 ? between : '') + lines)
    }
    file.end(format === 'json' ? ']' : '')
    await finished(file)
  }
})
