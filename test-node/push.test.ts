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
import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { readArguments } from '../scripts/push/arguments.ts'
import { createExchange } from '../scripts/push/exchange.ts'
import { createPost } from '../scripts/push/post.ts'
import { readProfile } from '../scripts/push/profile.ts'
import { detectFormat, readRecords } from '../scripts/push/read.ts'
import { runPush } from '../scripts/push/run.ts'
import { VERTICALS } from '../scripts/push/verticals.ts'
import { bundleCommand } from './bundle.ts'
import { leakIn, sought } from './secrecy/leaks.ts'

// Runs the command on files, against a fake service that can fail in every way. Only the tests of what
// a process adds start one: working folder, environment, signals, streams, memory. Tables of wrong
// input call the parts.

/** Loaded before the command: prints the most bytes in buffers, outside the heap, at its end. */
const PEAK = `data:text/javascript,${encodeURIComponent(`
let peak = 0
const look = () => { peak = Math.max(peak, process.memoryUsage().external) }
setInterval(look, 20).unref()
process.on('exit', () => { look(); console.error('peak', peak) })`)}`
const ROOT = mkdtempSync(join(tmpdir(), 'push-'))
const COMMAND = bundleCommand('push', ROOT)
const CLIENT = { client_id: 'acme', client_secret: 'tcs_test_do-not-print-me' }
const TOKEN = 'token-do-not-print-me'
const BRAND_TOKEN = 'tbt_test_do-not-print-me'
const SECRETS = sought({ client_secret: CLIENT.client_secret, TOKEN, BRAND_TOKEN })

/** A bulk as the service received it. */
interface Seen {
  url: string
  headers: IncomingMessage['headers']
  text: string
  records: Record<string, unknown>[]
  at: number
  /** The index among all bulks, and the token of the request. */
  nth: number
  token: string
}

interface Reply {
  status?: number
  headers?: Record<string, string>
  body?: object
  /** Milliseconds to wait before the response. */
  after?: number
  reset?: true
}

type Handler = (seen: Seen) => Reply | Promise<Reply>

const servers: ReturnType<typeof createServer>[] = []
after(() => {
  for (const server of servers) server.close()
  rmSync(ROOT, { recursive: true })
})

/** Starts a service with the given replies to bulks and to token requests. */
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
    let text: string | undefined
    let records: Seen['records'] | undefined
    const seen: Seen = {
      url: request.url!,
      headers: request.headers,
      get text() {
        text ??= String(gunzipSync(raw))
        return text
      },
      get records() {
        records ??= JSON.parse(this.text)
        return records!
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

/** Issues numbered tokens. */
function grant(expires_in = 3600) {
  let nth = 0
  return (): Reply => ({
    body: { access_token: `${TOKEN}-${nth++}`, token_type: 'Bearer', expires_in },
  })
}

const NOTHING = { created: 0, updated: 0, unchanged: 0, stale: 0, held: 0, rejected: 0 }

/** Replies that every record is created. */
function stored({ records: { length } }: Seen): Reply {
  const summary = { ...NOTHING, received: length, created: length }
  return { body: { delivery_id: 'dlv_1', dry_run: false, summary, results: [] } }
}

const problem = (status: number, code: string, more: object = {}): Reply => ({
  status,
  body: { type: 'about:blank', title: `The title of ${code}`, status, code, ...more },
})

/** Writes files in a new directory. */
function directory(files: Record<string, string | Uint8Array>) {
  const path = mkdtempSync(join(ROOT, 'files-'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text)
  return path
}

interface Run {
  /** Arguments of Node itself. */
  nodeArgs?: string[]
  args?: string[]
  env?: Record<string, string>
  vertical?: string
  resource?: string
  /** Called with a function that sends a signal to the process. */
  meanwhile?: (kill: (signal: NodeJS.Signals) => void) => void
}

const credentials = (base: string) => ({
  TRIBUTARY_BASE_URL: base,
  TRIBUTARY_CLIENT_ID: CLIENT.client_id,
  TRIBUTARY_CLIENT_SECRET: CLIENT.client_secret,
})

const commonArguments = ({ args = [], vertical = 'forex', resource = 'transactions' }: Run) => [
  '--vertical',
  vertical,
  '--resource',
  resource,
  ...args,
]

/** Runs the command in this process on files in a directory, whose path it removes from the output. */
async function run(base: string, cwd: string, files: string[], options: Run = {}) {
  let [stdout, stderr] = ['', '']
  const paths = files.map((name) => join(cwd, name))
  const output = new PassThrough().on('data', (data) => (stderr += data))
  const code = await runPush([...commonArguments(options), ...paths], {
    env: options.env ?? credentials(base),
    stdin: new PassThrough(),
    stderr: output,
    print: (text) => (stdout += `${text}\n`),
    printError: (text) => (stderr += `${text}\n`),
    onStart: () => {},
  })
  assert.equal(leakIn(stdout + stderr, SECRETS), null)
  const [printed, errors] = [stdout, stderr].map((text) => text.replaceAll(`${cwd}/`, ''))
  return { code, stdout: printed!, stderr: errors! }
}

/** Runs the command as a process in a directory. Asserts that the output has no secret. */
async function start(base: string, cwd: string, files: string[], options: Run = {}) {
  const { nodeArgs = [], env = credentials(base), meanwhile } = options
  const all = [...commonArguments(options), ...files]
  const child = spawn(process.execPath, [...nodeArgs, COMMAND, ...all], {
    cwd,
    env: { NODE_COMPILE_CACHE: join(ROOT, 'cache'), ...env },
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

/** Runs the command on one file, by default in this process. */
async function push(base: string, name: string, text: string, options: Run = {}, how = run) {
  const cwd = directory({ [name]: text })
  const rejectedFile = join(cwd, `${name}.rejected.ndjson`)
  const result = await how(base, cwd, [name], options)
  const rejected = existsSync(rejectedFile)
    ? readFileSync(rejectedFile, 'utf8').trimEnd().split('\n')
    : null
  return { ...result, rejected }
}

const json = (text: string) => JSON.parse(text)

const [transactions] = VERTICALS[1]!.resources.filter(({ name }) => name === 'transactions')

/** Reads a file of transactions into the texts that would be sent. */
async function read(name: string, text: string | Uint8Array, renames: [string, string][] = []) {
  const cwd = directory({ [name]: text })
  const position = { bytes: 0, lines: 0 }
  const source = { file: join(cwd, name), position, renames: new Map(renames) }
  const found: string[] = []
  try {
    const format = await detectFormat(source.file)
    for await (const { text } of readRecords(source, format, transactions!)) found.push(text)
  } catch (error) {
    const { message, exitCode } = error as { message: string; exitCode: number }
    throw Object.assign(new Error(message.replace(`${cwd}/`, '')), { exitCode })
  }
  return found
}

/** Returns NDJSON of transactions with these ids. */
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
    test(`${name}: sends the same body, with numbers as they are written`, async () => {
      const { base, bulks } = await service()
      const { code } = await push(base, name, text)
      assert.equal(code, 0)
      assert.deepEqual(
        bulks.map(({ text }) => text),
        [`[${lines.join(',')}]`],
      )
    })
  }

  const undeclared = {
    'a.jsonl': lines.join('\n'),
    'json-without-ending': `\n[${lines.join(',')}]`,
    'list-answer-without-ending': `{ "data": [${lines.join(',')}], "meta": {} }`,
    'ndjson-without-ending': lines.join('\n'),
    'csv-without-ending': csv.join('\n'),
  }
  for (const [name, text] of Object.entries(undeclared)) {
    test(`${name}: detects the format`, async () => {
      assert.deepEqual(await read(name, text), lines)
    })
  }

  const listAnswers = {
    'with meta': `{"data":[${lines.join(',')}],"meta":{"total":3,"data":[{"x":[1]}]}}`,
    'with meta first': `{"meta":{"next_cursor":null},"data":[${lines.join(',')}]}`,
    'with meta that is not an object': `{"meta":"x","data":[${lines.join(',')}]}`,
  }
  for (const [name, text] of Object.entries(listAnswers)) {
    test(`sends the records of a saved list answer ${name}`, async () => {
      assert.deepEqual(await read('a.json', text), lines)
    })
  }

  test('a record may have a member `data`, and be empty', async () => {
    const records = ['{"data":[{}]}', '{}']
    assert.deepEqual(await read('a.json', `[${records}]`), records)
    assert.deepEqual(await read('a.json', `{"data":[${records}]}`), records)
    assert.deepEqual(await read('a.json', '{"data":[]}'), [])
  })

  test('sends a cell of a numeric field as text if it is not a number', async () => {
    const cells = ['1,000.00', '01', '+5', ' 5', '1.', 'NaN', 'true']
    const rows = cells.map((cell, i) => `T-${i},"${cell}"\n`)
    const texts = await read('a.csv', `transaction_id,amount_currency\n${rows.join('')}`)
    const sent = texts.map((text) => json(text).amount_currency)
    assert.deepEqual(sent, cells)
  })

  const separators = { commas: ',', semicolons: ';', tabs: '\t' }
  for (const [name, separator] of Object.entries(separators)) {
    test(`recognizes ${name} as separators`, async () => {
      const rows = [
        ['transaction_id', 'amount_currency', '"note"', 'status'],
        ['T-1', '1.50', '"a,b;c\td"', ''],
      ]
      const text = rows.map((cells) => cells.join(separator)).join('\n')
      const expected = '{"transaction_id":"T-1","amount_currency":1.50,"note":"a,b;c\\td"}'
      for (const file of ['a.csv', 'a.tsv']) assert.deepEqual(await read(file, text), [expected])
    })
  }

  const renames: [string, string][] = [
    ['Deal ID', 'transaction_id'],
    ['Amount', 'amount_currency'],
  ]
  const theirs = {
    'a.csv': 'Deal ID;Amount;note\nT-1;1.50;x\n',
    'a.ndjson': '{"Deal ID":"T-1","Amount":1.50,"note":"x"}\n',
    'a.json': '[{"Deal ID":"T-1","Amount":1.50,"note":"x"}]',
  }
  for (const [name, text] of Object.entries(theirs)) {
    test(`--map renames the fields of ${name}`, async () => {
      const expected = ['{"transaction_id":"T-1","amount_currency":1.50,"note":"x"}']
      assert.deepEqual(await read(name, text, renames), expected)
    })
  }

  const malformed = {
    'truncated.json': [
      '[{"a":1},\n{"a":',
      /^truncated\.json, line 2, column 6: .* \(record 1\)\.$/,
    ],
    'number.json': [
      '1',
      /^number\.json: not a JSON array of records, nor an object whose `data` is one\. For NDJSON add --format ndjson\.$/,
    ],
    'no-data.json': ['{"meta":{}}', /^no-data\.json: not a JSON array of records, nor an object/],
    'data-object.json': ['{"data":{}}', /^data-object\.json: not a JSON array of records, nor/],
    'data-twice.json': [
      '{"data":[],"meta":{},"data":[]}',
      /^data-twice\.json: the object has `data` twice\.$/,
    ],
    'record.json': [
      '{"transaction_id":"T-1"}',
      /^record\.json: the object has the member `transaction_id`\. .* Write one record as \[\{…\}\]\./,
    ],
    'other-member.json': ['{"data":[],"more":1}', /: the object has the member `more`\. /],
    'two-objects.json': ['{"data":[]}\n{"data":[]}', /^two-objects\.json, line 2, column 1: not/],
    'after.json': ['[]\n{}', /^after\.json, line 2/],
    'empty.json': [
      '',
      /^empty\.json is empty: the JSON array is missing\. Write \[\] for no records\.$/,
    ],
    'blank.json': [' \n', /^blank\.json is empty: the JSON array is missing\./],
    'empty.csv': ['', /^empty\.csv is empty: the header row is missing\.$/],
    'blank.csv': ['\n\n', /^blank\.csv is empty: the header row is missing\.$/],
    'broken.ndjson': ['{"a":1}\n\n{"a":}\n', /^broken\.ndjson, line 3: not valid JSON/],
    'long.ndjson': [`{}\n${'x'.repeat(9_000_000)}`, /^long\.ndjson, line 2: longer than 8 MiB\.$/],
    'ragged.csv': [
      'transaction_id,note\nT-1,a\nT-2\n',
      /^ragged\.csv, line 3: 1 cell, but the header has 2\. Columns are separated by commas\.$/,
    ],
    'quote.csv': [
      'transaction_id,note\nT-1,"a\n',
      /^quote\.csv, line 2: Quote Not Closed: .* Columns are separated by commas\.$/,
    ],
    'no-header.csv': [
      'T-1,5\nT-2,6\n',
      /^no-header\.csv, line 1: the header has no field of transactions\. Fields: transaction_id,/,
    ],
    'unnamed.csv': ['note,,\n', /^unnamed\.csv, line 1: column 2 has no name\.$/],
    'twice.csv': ['note,note\n', /^twice\.csv, line 1: the column `note` occurs twice\.$/],
    'latin.ndjson': [
      Buffer.from('{"note":"a"}\n{"note":"\xe9"}\n', 'latin1'),
      /^latin\.ndjson, line 2: not valid UTF-8\.$/,
    ],
    'latin.json': [
      Buffer.from('[\n"a",\n"\xe9"]', 'latin1'),
      /^latin\.json, line 3: not valid UTF-8/,
    ],
    'latin.csv': [Buffer.from('note\na\n\xe9\n', 'latin1'), /^latin\.csv, line 3: not valid UTF-8/],
  } as const
  for (const [name, [text, message]] of Object.entries(malformed)) {
    test(`${name}: names the malformed place`, async () => {
      await assert.rejects(read(name, text), { exitCode: 2, message })
    })
  }
})

describe('bulks', { concurrency: 4 }, () => {
  test('a bulk is compressed, has a Prefer header and at most 1000 records', async () => {
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

  test('a bulk has less than 8 MiB', async () => {
    const { base, bulks } = await service()
    const note = 'x'.repeat(1024 * 1024)
    const text = numbers(9).map((id) => `{"transaction_id":"${id}","note":"${note}"}\n`)
    await push(base, 'a.ndjson', text.join(''), { args: ['--in-flight', '1'] })
    assert.deepEqual(
      bulks.map(({ records }) => records.length),
      [7, 2],
    )
  })

  test('sends --in-flight requests at once, and never more', async () => {
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

  test('never has two versions of a record in flight, and keeps their order', async () => {
    const now = new Set<unknown>()
    const versions: unknown[] = []
    let most = 0
    const { base, bulks } = await service(async (seen) => {
      for (const id of ids(seen)) assert.ok(!now.has(id), `${id} is in flight twice`)
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
    const args = ['--allow-repeats']
    const { code } = await push(base, 'a.ndjson', text.join(''), { args })
    assert.equal(code, 0)
    assert.deepEqual(
      bulks.map(({ records }) => records.length),
      [11, 1000, 1000, 1],
    )
    assert.deepEqual(versions, ['1', '2', '3'])
    assert.ok(most > 1000, 'bulks without a common key are in flight together')
  })

  test('413: splits the bulk in half, in order', async () => {
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

  test('413 for one record: rejects it and stores the others', async () => {
    const detail = 'A body has at most 8 MiB once decompressed.'
    const { base } = await service((seen) =>
      ids(seen).includes('2') ? problem(413, 'payload_too_large', { detail }) : stored(seen),
    )
    const { code, rejected, stdout } = await push(base, 'a.ndjson', ndjson(numbers(4)))
    assert.equal(code, 1)
    const reason = `not stored: ${detail}`
    assert.deepEqual(rejected?.map(json), [
      { index: 2, line: 3, record: { transaction_id: '2' }, errors: [], reason },
    ])
    assert.match(stdout, /a\.ndjson +4 +3 +0 +0 +0 +0 +1 +0\n/)
  })
})

describe('faults', { concurrency: 8 }, () => {
  test('429: sends nothing until Retry-After is over, and does not count it as a failure', async () => {
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
    assert.ok(early.length <= 1, 'only the request in flight')
  })

  const passing: Record<string, Reply> = {
    '503 with Retry-After': { ...problem(503, 'unavailable'), headers: { 'Retry-After': '2' } },
    '500': problem(500, 'internal_error'),
    '502 of a proxy': { status: 502, headers: { 'Content-Type': 'text/html' } },
    'a reset connection': { reset: true },
    'a response that is not JSON': { status: 200 },
  }
  for (const [name, reply] of Object.entries(passing)) {
    test(`${name}: sends the same bulk again`, async () => {
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

  test('gives up after --retry-for seconds, and names the records', async () => {
    const { base, bulks } = await service((seen) =>
      ids(seen).includes('1000') ? problem(503, 'unavailable') : stored(seen),
    )
    const { code, stdout, stderr } = await push(base, 'a.ndjson', ndjson(numbers(9000)), {
      args: ['--retry-for', '1', '--in-flight', '1'],
    })
    assert.equal(code, 1)
    assert.ok(bulks.length >= 3)
    assert.match(stdout, /a\.ndjson: records 1000 to 1999 may not be stored/)
    assert.match(stdout, /a\.ndjson: sending stopped before record 2000\./)
    assert.match(stderr, /push: Gave up after 1 s: the service responds with 503\.\n$/)
  })

  test('401 invalid_token: requests one new token for all bulks', async () => {
    const { base, bulks, tokens } = await service(async (seen) => {
      if (seen.token !== `${TOKEN}-0`) return stored(seen)
      return { ...problem(401, 'invalid_token'), after: 40 * seen.nth }
    })
    const { code } = await push(base, 'a.ndjson', ndjson(numbers(6000)))
    assert.equal(code, 0)
    assert.equal(tokens.length, 2)
    assert.equal(bulks.filter(({ token }) => token === `${TOKEN}-1`).length, 6)
  })

  test('renews a token before it expires', async () => {
    const { base, bulks } = await service((seen) => ({ ...stored(seen), after: 600 }), grant(2))
    await push(base, 'a.ndjson', ndjson(numbers(3000)), { args: ['--in-flight', '1'] })
    const used = bulks.map(({ token }) => token)
    assert.equal(used[0], `${TOKEN}-0`)
    assert.notEqual(used[2], `${TOKEN}-0`)
  })

  for (const status of [302, 400, 401, 403, 404, 405, 415]) {
    test(`${status}: does not retry, and prints title, detail and hint`, async () => {
      const details = { detail: 'The detail.', errors: [{ hint: 'The hint.' }] }
      const headers = { Location: '/oauth/token' }
      const { base, bulks } = await service(() => ({ ...problem(status, 'no', details), headers }))
      const authenticator = {
        headers: async () => ({ Authorization: 'x' }),
        invalidate: () => assert.fail(),
        refusedMessage: 'Refused',
      }
      const exchange = createExchange(150, new AbortController().signal, assert.fail)
      const summary = status === 401 ? 'Refused' : 'Stopped'
      const message = `${summary}: ${status} The title of no – The detail. – The hint.`
      const options = { url: base, prefer: '', headersOf: () => ({}) }
      const post = createPost(options, authenticator, exchange)
      await assert.rejects(post({ first: 0, texts: ['{}'] }), { exitCode: 1, message })
      assert.equal(bulks.length, 1)
    })
  }

  test('stops after such a response', async () => {
    const { base, bulks } = await service(() => ({ ...problem(403, 'wrong_vertical'), after: 50 }))
    const { code, stdout, stderr } = await push(base, 'a.ndjson', ndjson(numbers(9000)), {
      args: ['--in-flight', '2'],
    })
    assert.equal(code, 1)
    assert.ok(bulks.length <= 3, `${bulks.length} bulks were sent`)
    assert.match(stderr, /push: Stopped: 403 The title of wrong_vertical\n$/)
    assert.match(
      stdout,
      /^"not sent" counts records that were read and not sent, or whose request/m,
    )
  })

  test('Ctrl-C: finishes the requests in flight and sends no others', async () => {
    let kill: (signal: NodeJS.Signals) => void
    const { base, bulks } = await service(async (seen) => {
      // The first bulk travels alone; then two are in flight.
      if (seen.nth === 2) kill('SIGINT')
      return { ...stored(seen), after: 400 }
    })
    const options: Run = {
      args: ['--in-flight', '2', '--json'],
      meanwhile: (killer) => {
        kill = killer
      },
    }
    const text = ndjson(numbers(20000))
    const { code, stdout, stderr } = await push(base, 'a.ndjson', text, options, start)
    assert.equal(code, 130)
    assert.equal(bulks.length, 3)
    const { total, files, halted } = json(stdout)
    assert.equal(total.created, 3000)
    assert.equal(files[0].not_sent_from, 3000)
    assert.equal(halted, 'Interrupted.')
    assert.match(stderr, /Stopping/)
  })
})

describe('responses', { concurrency: 4 }, () => {
  const currency = { code: 'currency', message: '"EUX" is not a currency.', hint: 'Mean EUR?' }
  const wrong = (index: number) => ({
    index,
    key: { transaction_id: 'T' },
    pointer: `/${index}/currency`,
    ...currency,
  })

  test('422: writes all records of the bulk to a file, and sends the other bulks', async () => {
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
    assert.equal(
      rejected![0],
      `{"index":1000,"line":1001,"record":${exact.trim()},"errors":[],${reason}}`,
    )
    assert.deepEqual(json(rejected![1]!), {
      index: 1001,
      line: 1002,
      record: { transaction_id: '1001' },
      errors: [{ pointer: '/currency', ...currency }],
    })
    assert.match(stdout, /a\.ndjson +3,000 +2,000 +0 +0 +0 +0 +1,000 +0\n/)
    assert.match(stdout, /currency +once, e\.g\. \/currency "EUX" is not a currency\. Mean EUR\?/)
    assert.match(stdout, /Rejected records: a\.ndjson\.rejected\.ndjson/)
    assert.match(
      stdout,
      /999 valid records were refused with their bulks: add --lenient to store them\./,
    )
  })

  test('207: writes the rejected records to a file, and counts the others', async () => {
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
        line: 3,
        record: { transaction_id: '2' },
        errors: [{ pointer: '/currency', ...currency }],
      },
    ])
    assert.match(stdout, /a\.ndjson +4 +1 +1 +0 +1 +0 +1 +0\n/)
    assert.ok(!stdout.includes('--lenient'))
  })

  test('counts warnings by code, with an example', async () => {
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
    assert.match(
      stdout,
      /Warnings:\n {2}withdrawn_currency {2}2 times, e\.g\. \/currency HRK\. \(lines 1, 3\)/,
    )
  })

  describe('a CSV cell of a numeric field that is not a number', () => {
    const cells = ['0010.5', '+5', '.5', ' 5 ', '1,000.00']
    const rows = cells.map((cell, i) => `T-${i},"${cell}"`)
    // Empty lines and line breaks in a cell move the lines of the rows behind them.
    const text = ['transaction_id,amount_currency', '', '"T\r\n1",1.50', ...rows].join('\r\n')
    const typeError = (index: number) => ({
      index,
      code: 'type',
      pointer: `/${index}/amount_currency`,
      message: 'Expected a number, not a string.',
    })
    const refuse = ({ records }: Seen): Reply => {
      const wrong = records.flatMap(({ amount_currency }, i) =>
        typeof amount_currency === 'string' ? [typeError(i)] : [],
      )
      return problem(422, 'validation_failed', { errors: wrong, errors_total: wrong.length })
    }
    const refuseLeniently = ({ records: { length } }: Seen): Reply => ({
      status: 207,
      body: {
        summary: { ...NOTHING, received: length, created: 1, rejected: length - 1 },
        results: numbers(length - 1, 1).map((index) => {
          const { index: _, ...error } = typeError(index)
          return { index, outcome: 'rejected', errors: [error] }
        }),
      },
    })
    const replies: Record<string, Handler> = {
      'a refused bulk': refuse,
      'rejected records': refuseLeniently,
      'a bulk that is split': (seen) =>
        seen.records.length > 2 ? problem(413, 'payload_too_large') : refuse(seen),
    }
    for (const [name, reply] of Object.entries(replies)) {
      test(`is named with its line and the accepted form: ${name}`, async () => {
        const { base } = await service(reply)
        const { stdout, rejected } = await push(base, 'a.csv', text)
        const hints = rejected!.map(json).flatMap(({ errors: [error] }) => error?.hint ?? [])
        const form = 'Write digits without leading zeros, spaces or separators of thousands'
        for (const [i, cell] of cells.entries()) {
          const hint = `The cell \`${cell}\` on line ${i + 5} is not a number. ${form}`
          assert.ok(hints[i].startsWith(hint), hints[i])
        }
        assert.equal(hints.length, cells.length)
        assert.match(
          stdout,
          /type +5 times, e\.g\. .+ The cell `0010\.5` on line 5 is not a number\./,
        )
      })
    }
  })

  test('--dry-run only validates', async () => {
    const { base, bulks } = await service()
    const { stdout } = await push(base, 'a.ndjson', ndjson([1]), { args: ['--dry-run'] })
    assert.equal(bulks[0]!.url, '/api/v1/forex/transactions?dry_run=true')
    assert.match(stdout, /Dry run, nothing was stored/)
  })

  test('--json prints one object with the same numbers', async () => {
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

describe('places and ids', { concurrency: 4 }, () => {
  const header = 'transaction_id,note,currency'

  /** Stores by id, as the service does: `created` once, then `updated` or `unchanged`. */
  function store(isDry = false): Handler {
    const kept = new Map<unknown, string>()
    return ({ records, headers }) => {
      const summary: Record<string, number> = { ...NOTHING, received: records.length }
      const results = records.map((record, index) => {
        const text = JSON.stringify(record)
        const before = kept.get(record.transaction_id)
        const outcome = before === undefined ? 'created' : before === text ? 'unchanged' : 'updated'
        summary[outcome]! += 1
        if (!isDry) kept.set(record.transaction_id, text)
        return { index, outcome }
      })
      const isMinimal = headers.prefer!.includes('return=minimal')
      return { body: { summary, results: isMinimal ? [] : results } }
    }
  }
  const shortened = numbers(5, 1).map((n) => `1.23457E+15,deposit ${n},EUR`)
  const repeats = [header, ...shortened, 'T-1,a,EUR', 'T-1,a,EUR'].join('\n')

  test('repeated ids are named with their lines, and fail the run', async () => {
    const { base } = await service(store())
    const { code, stdout } = await push(base, 'a.csv', repeats)
    assert.equal(code, 1)
    assert.match(
      stdout,
      /^a\.csv: 5 rows have the id of an earlier row of this file \(line 3 repeats line 2, line 4 repeats line 2, .*line 8 repeats line 7\); the last one counts\. Add --allow-repeats/m,
    )
    assert.match(stdout, /^a\.csv: 5 rows have ids of the form 1\.23E\+15 \(lines 2, 3, 4, 5, 6\)/m)
    const allowed = await push((await service(store())).base, 'a.csv', repeats, {
      args: ['--allow-repeats', '--json'],
    })
    assert.equal(allowed.code, 0)
    const [file] = json(allowed.stdout).files
    assert.deepEqual(file.repeated_ids.lines.at(-1), { line: 8, first: 7 })
    assert.equal(file.repeated_ids.count, 5)
  })

  test('activities repeat by their id alone, customers of brands by theirs', async () => {
    const { base } = await service()
    const env = { TRIBUTARY_BASE_URL: base, TRIBUTARY_BRAND_TOKEN: BRAND_TOKEN }
    const options = { env, vertical: 'igaming', args: ['--json'] }
    const daily = '{"eventname":"deposit","customerid":"C","createtime":"2026-10-01"}\n'
    const once = '{"eventid":"E","eventname":"deposit","customerid":"C"}\n'
    const activities = { ...options, resource: 'activities' }
    const one = await push(base, 'a.ndjson', daily + daily + once + once, activities)
    assert.deepEqual(json(one.stdout).files[0].repeated_ids.lines, [{ line: 4, first: 3 }])
    const players = { ...options, resource: 'customers' }
    const two = await push(base, 'a.ndjson', '{"customerId":"C"}\n{"customerId":"C"}', players)
    assert.equal(json(two.stdout).files[0].repeated_ids.count, 1)
    assert.equal(two.code, 1)
  })

  const rows = ['{"transaction_id":"T-1"}', '{"transaction_id":"X","note":"[{,\\"a\\n"}']
  const files: Record<string, [text: string, line: number]> = {
    'a.ndjson': [`${rows[0]}\n\n${rows[1]}\n`, 3],
    'a.json': [`[\n${rows[0]}\n,\n\n${rows[1]}]`, 5],
    'list.json': [`{"meta":{"data":[\n[1]]},\n"data":[${rows[0]},\n${rows[1]}\n]}`, 4],
    'a.csv': [`\uFEFF${header}\r\nT-1,"a\r\nb\n","c\r\n"\r\n,,\r\n\r\nX,d,EUR\r\n`, 8],
    'declared.csv': ['sep=;\r\ntransaction_id;note\r\nT-1;"a\r\n;"\r\n ;\r\nX;b\r\n', 6],
  }
  for (const [name, [text, line]] of Object.entries(files)) {
    test(`${name}: errors and warnings have the line of the file`, async () => {
      const { base, bulks } = await service((seen) => {
        const index = ids(seen).indexOf('X')
        return problem(422, 'validation_failed', {
          errors_total: 1,
          errors: [{ index, pointer: `/${index}/currency`, code: 'currency', message: 'No.' }],
        })
      })
      const { rejected, stdout } = await push(base, name, text)
      assert.equal(bulks[0]!.records.length, 2)
      assert.equal(json(rejected![1]!).line, line)
      assert.match(
        stdout,
        new RegExp(`currency  once, e\\.g\\. /currency No\\. \\(line ${line}\\)`),
      )
    })
  }

  test('a file of rejected records can be corrected and sent', async () => {
    const exact = '{"transaction_id":"T-2","amount_currency":1.50}'
    const { base, bulks } = await service((seen) =>
      seen.text.includes('"note":"bad"')
        ? problem(422, 'validation_failed', {
            errors_total: 1,
            errors: [{ index: 0, pointer: '/0/note', code: 'text', message: 'No.' }],
          })
        : stored(seen),
    )
    const first = '{"transaction_id":"T-1","note":"bad"}'
    const { rejected } = await push(base, 'a.ndjson', `${first}\n${exact}\n`)
    const corrected = rejected!.join('\n').replace('"note":"bad"', '"note":"good"')
    const { code } = await push(base, 'a.ndjson.rejected.ndjson', corrected)
    assert.equal(code, 0)
    assert.equal(bulks[1]!.text, `[${first.replace('bad', 'good')},${exact}]`)
  })
})

describe('a bulk refused for one reason', { concurrency: 4 }, () => {
  const issue = (index: number, code = 'unknown_customer', pointer = 'customer_id') => ({
    index,
    code,
    pointer: `/${index}/${pointer}`,
    message: 'No such customer.',
  })
  const refusal = (errors: object[], errors_total = errors.length) =>
    problem(422, 'validation_failed', { errors, errors_total })
  const five = ndjson(numbers(5000))
  const args = ['--in-flight', '1']

  test('stops before the next bulk, and names the reason and the flag', async () => {
    const { base, bulks } = await service(({ records }) =>
      refusal(records.flatMap((_, i) => [issue(i), issue(i, 'required', `f${i % 2}`)])),
    )
    const { code, stdout, stderr } = await push(base, 'a.ndjson', five, {}, start)
    assert.deepEqual([code, bulks.length], [1, 1])
    const reason = 'unknown_customer at /customer_id: No such customer.'
    assert.equal(
      stderr,
      `push: Every record of a bulk was refused with ${reason} Stopped. ` +
        'Add --keep-going to send the other records.\n',
    )
    assert.match(stdout, /a\.ndjson: sending stopped before record 1000\./)
  })

  test('--keep-going sends the other bulks', async () => {
    const { base, bulks } = await service(({ records }) => refusal(records.map((_, i) => issue(i))))
    const { code } = await push(base, 'a.ndjson', five, { args: [...args, '--keep-going'] })
    assert.deepEqual([code, bulks.length], [1, 5])
  })
})

describe('arguments and profile', { concurrency: 4 }, () => {
  const fine = ['--vertical', 'forex', '--resource', 'customers', 'a.csv']
  const wrong: [string[], string][] = [
    [
      ['--resource', 'trades'],
      'Invalid --resource `trades`. Use customers, transactions or trading-activity.',
    ],
    [
      ['--vertical', 'igaming', '--resource', 'transactions'],
      'Invalid --resource `transactions`. Use customers or activities.',
    ],
    [['--lenint'], 'Unknown option `--lenint`. Did you mean --lenient?'],
    [['--map', 'Deal'], 'Invalid --map `Deal`. Use theirs=ours.'],
    [['--map', 'a=b', '--map', 'a=c'], '--map renames `a` twice.'],
  ]
  for (const [args, message] of wrong) {
    test(`${args.join(' ')} is refused`, () => {
      assert.throws(() => readArguments([...fine, ...args]), { exitCode: 2, message })
    })
  }
  test('wrong arguments are one line on stderr, and exit code 2', async () => {
    const files = { '.': /^push: \. is not a file\.\n$/, x: /^push: x does not exist\.\n$/ }
    const runs = Object.entries(files).map(async ([file, message]) => {
      const { code, stdout, stderr } = await start('http://127.0.0.1:1', directory({}), [file])
      assert.deepEqual([code, stdout], [2, ''])
      assert.match(stderr, message)
    })
    await Promise.all(runs)
  })

  const account = { name: 'A', vertical: 'forex', ...CLIENT }
  const profile = (base_url: string, ...accounts: object[]) =>
    JSON.stringify({ base_url, admin_key: 'do-not-print-me-either', accounts })

  test('reads .demo.json by default', async () => {
    const { base, tokens } = await service()
    const demo = profile(base, { ...account, vertical: 'prop-trading', client_id: 'no' }, account)
    const cwd = directory({ 'a.ndjson': ndjson([1]), '.demo.json': demo })
    assert.equal((await start('', cwd, ['a.ndjson'], { env: {} })).code, 0)
    assert.match(tokens[0]!, /client_id=acme/)
  })

  const cwd = directory({ text: `{"client_secret":"${CLIENT.client_secret}",`, empty: '{}' })
  const id = { TRIBUTARY_CLIENT_ID: 'a' }
  const both = { ...id, TRIBUTARY_CLIENT_SECRET: CLIENT.client_secret }
  const at = (TRIBUTARY_BASE_URL: string) => ({ ...both, TRIBUTARY_BASE_URL })
  const broken: Record<string, [string | null, Record<string, string>, string]> = {
    'a profile that is missing': ['none', {}, 'Cannot read none (ENOENT).'],
    'a profile that is not JSON': ['text', {}, 'text is not valid JSON.'],
    'half of the credentials': [
      null,
      id,
      'Set all of these variables or none. Set: TRIBUTARY_CLIENT_ID. Not set: TRIBUTARY_BASE_URL, TRIBUTARY_CLIENT_SECRET.',
    ],
    'no address': [
      'empty',
      both,
      'Set all of these variables or none. Set: TRIBUTARY_CLIENT_ID, TRIBUTARY_CLIENT_SECRET. Not set: TRIBUTARY_BASE_URL.',
    ],
    'plain HTTP to another machine': [
      null,
      at('http://example.com'),
      'The base address must begin with https:// (http:// only for this machine).',
    ],
    'a password in the address': [
      null,
      at('https://a:b@example.com'),
      'The base address must not contain a password.',
    ],
  }
  for (const [name, [profile, env, message]] of Object.entries(broken)) {
    test(`${name} is refused without showing a secret`, () => {
      const path = profile && join(cwd, profile)
      const chosen = { profile: path, account: null }
      assert.throws(() => readProfile(VERTICALS[1]!, chosen, env), {
        exitCode: 2,
        message: message.replace(/\b(none|text)(?= is| \()/, `${path}`),
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
  const idempotencyKeyOf = ({ headers }: Seen) => headers['idempotency-key']

  test('sends the Brand Token in x-api-key, and requests no token', async () => {
    const { base, bulks, tokens } = await service()
    const { code } = await push(base, 'a.ndjson', lines([spin(1)]), brand(base))
    assert.deepEqual([code, tokens.length], [0, 0])
    const { url, headers } = bulks[0]!
    assert.equal(url, '/tracking/events/activities')
    assert.equal(headers['x-api-key'], BRAND_TOKEN)
    assert.equal(headers.authorization, undefined)
  })

  test('a retried bulk keeps its Idempotency-Key, which no other bulk has', async () => {
    const faults: Reply[] = [
      problem(503, 'unavailable'),
      { reset: true },
      { ...problem(429, 'rate_limited'), headers: { 'Retry-After': '1' } },
    ]
    const { base, bulks } = await service((seen) => faults[seen.nth] ?? stored(seen))
    // The second thousand equals the first, but they are other events.
    const text = lines([...numbers(1000), ...numbers(1000)].map(spin))
    const options = brand(base)
    const { code } = await push(base, 'a.ndjson', text, { ...options, args: ['--in-flight', '1'] })
    assert.equal(code, 0)
    const [first, ...others] = bulks.map(idempotencyKeyOf)
    assert.match(String(first), /^[0-9a-f]{64}$/)
    assert.deepEqual(others.slice(0, 3), [first, first, first])
    assert.notEqual(others[3], first)
    assert.equal(bulks.length, 5)
  })

  test('the same file has the same keys in another run, a larger one has others', async () => {
    const { base, bulks } = await service()
    const of = (count: number) => lines(numbers(count).map(spin))
    const options = { ...brand(base), args: ['--in-flight', '1'] }
    for (const count of [1500, 1500, 1501]) await push(base, 'a.ndjson', of(count), options)
    const keys = bulks.map(idempotencyKeyOf)
    assert.deepEqual(keys.slice(2, 4), keys.slice(0, 2))
    assert.equal(keys[4], keys[0])
    assert.ok(!keys.slice(0, 4).includes(keys[5]))
  })

  test('413: each half has its own key', async () => {
    const { base, bulks } = await service((seen) =>
      seen.records.length > 2 ? problem(413, 'payload_too_large') : stored(seen),
    )
    await push(base, 'a.ndjson', lines(numbers(4).map(spin)), brand(base))
    assert.equal(new Set(bulks.map(idempotencyKeyOf)).size, 3)
  })

  test('customers have no Idempotency-Key: their ids identify them', async () => {
    const { base, bulks } = await service()
    const options = { ...brand(base), resource: 'customers' }
    await push(base, 'a.ndjson', lines([{ customerId: 'C' }]), options)
    assert.equal(idempotencyKeyOf(bulks[0]!), undefined)
  })

  test('sends every column and every cell as text', async () => {
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
    assert.match(stderr, /the header has no field of activities\. Fields: customerid,eventname,/)
  })

  test('records with one key share a bulk, but are never in flight in two', async () => {
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

  const activities = VERTICALS[2]!.resources[1]
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
      test(`${JSON.stringify([a, b])}: ${pairs === same ? 'the same key' : 'different keys'}`, () => {
        assert.ok(activities!.identityOf(a))
        compare(activities!.identityOf(a), activities!.identityOf(b))
      })
    }
  }
})

describe('memory', { concurrency: 3 }, () => {
  // Node ends a process whose heap would be larger. All records of a file would take 9 MB more of it,
  // or of buffers.
  const nodeArgs = ['--max-old-space-size=20', '--import', PEAK]
  const BUFFERS_MB = 8
  const cwd = directory({})
  const summary = { ...NOTHING, received: 1000, created: 1000 }
  const RECORDS = 10_000

  // The array of a list answer is read like a bare one.
  const shapes = {
    'large.ndjson': { head: '', between: '\n', tail: '' },
    'list.json': { head: '{"data":[', between: ',\n', tail: '],"meta":{}}' },
    'large.csv': { head: 'transaction_id,amount_currency,note\n', between: '\n', tail: '' },
  }
  for (const [name, shape] of Object.entries(shapes)) {
    test(`reads 10,000 records of ${name} in constant memory`, async () => {
      const { base } = await service(() => ({ body: { summary, results: [] } }))
      await write(join(cwd, name), shape)
      const large = await start(base, cwd, [name], { nodeArgs, args: ['--in-flight', '1'] })
      assert.match(large.stdout, /10,000 +10,000 /)
      assert.ok(large.peak < BUFFERS_MB, `${large.peak} MB`)
    })
  }

  /** Writes transactions, 9 MB. */
  async function write(path: string, { head, between, tail }: (typeof shapes)['large.csv']) {
    const file = createWriteStream(path)
    const note = 'n'.repeat(820)
    const line = (id: number) =>
      path.endsWith('.csv')
        ? `${id},1.50,${note}`
        : `{"transaction_id":"${id}","amount_currency":1.50,"note":"${note}"}`
    file.write(head)
    for (let first = 0; first < RECORDS; first += 1000) {
      const lines = numbers(1000, first).map(line).join(between)
      file.write((first > 0 ? between : '') + lines)
    }
    file.end(tail)
    await finished(file)
  }
})
