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
import { readArguments, type SendArguments } from '../scripts/push/arguments.ts'
import { createClient } from '../scripts/push/client.ts'
import { createExchange } from '../scripts/push/exchange.ts'
import { readProfile } from '../scripts/push/profile.ts'
import { readRecords } from '../scripts/push/read.ts'
import { startResults } from '../scripts/push/result.ts'
import { runPush } from '../scripts/push/run.ts'
import { sendFile } from '../scripts/push/send.ts'
import { VERTICALS } from '../scripts/push/verticals.ts'
import { bundleCommand } from './bundle.ts'
import { leakIn, sought } from './secrecy/leaks.ts'

// Runs the command on files, against a fake service that can fail in every way. Only the tests of what
// a process adds start one: working folder, environment, memory. Tables of wrong input call the parts.

/** Loaded before the command: prints the most bytes in buffers, outside the heap, at its end. */
const PEAK = `data:text/javascript,${encodeURIComponent(`
let peak = 0
const look = () => { peak = Math.max(peak, process.memoryUsage().external) }
setInterval(look, 20).unref()
process.on('exit', () => { look(); console.error('peak', peak) })`)}`
const ROOT = mkdtempSync(join(tmpdir(), 'push-'))
const COMMAND = await bundleCommand('push', ROOT)
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
    stderr: output,
    print: (text) => (stdout += `${text}\n`),
    printError: (text) => (stderr += `${text}\n`),
  })
  assert.equal(leakIn(stdout + stderr, SECRETS), null)
  const [printed, errors] = [stdout, stderr].map((text) => text.replaceAll(`${cwd}/`, ''))
  return { code, stdout: printed!, stderr: errors! }
}

/** Runs the command as a process in a directory. Asserts that the output has no secret. */
async function start(base: string, cwd: string, files: string[], options: Run = {}) {
  const { nodeArgs = [], env = credentials(base) } = options
  const all = [...commonArguments(options), ...files]
  const child = spawn(process.execPath, [...nodeArgs, COMMAND, ...all], {
    cwd,
    env: { NODE_COMPILE_CACHE: join(ROOT, 'cache'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
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
  const file = join(cwd, name)
  const found: string[] = []
  try {
    for await (const { text } of readRecords(file, transactions!, new Map(renames)))
      found.push(text)
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
    'list-answer': `{ "data": [${lines.join(',')}], "meta": {"next_cursor": null} }`,
    'csv-without-ending': csv.join('\n'),
  }
  for (const [name, text] of Object.entries(undeclared)) {
    test(`${name}: detects the format`, async () => {
      assert.deepEqual(await read(name, text), lines)
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

  const renames: [string, string][] = [
    ['Deal ID', 'transaction_id'],
    ['Amount', 'amount_currency'],
  ]
  test('--map renames the columns of CSV, and is refused for JSON', async () => {
    const found = await read('a.csv', 'Deal ID;Amount;note\nT-1;1.50;x\n', renames)
    assert.deepEqual(found, ['{"transaction_id":"T-1","amount_currency":1.50,"note":"x"}'])
    const message = '--map renames the columns of CSV files alone.'
    await assert.rejects(read('a.json', '[]', renames), { exitCode: 2, message })
  })

  const malformed = {
    'truncated.json': ['[{"a":1},\n{"a":', /^truncated\.json, line 2: not valid JSON\.$/],
    'unended.json': ['[{"a":1}', /^unended\.json: the array does not end\.$/],
    'broken.json': ['[{"a":1},\n\n{"a":]}]', /^broken\.json, line 3: not valid JSON\.$/],
    'empty.json': ['', /^empty\.json is empty\.$/],
    'broken.ndjson': ['{"a":1}\n\n{"a":}\n', /^broken\.ndjson, line 3: not valid JSON/],
    'long.ndjson': [`{}\n${'x'.repeat(9_000_000)}`, /^long\.ndjson, line 2: longer than 8 MiB\.$/],
    'ragged.csv': [
      'transaction_id,note\nT-1,a\nT-2\n',
      /^ragged\.csv, line 3: the row has 1 of 2 cells\. Columns are separated by commas\.$/,
    ],
    'no-header.csv': [
      'T-1,5\nT-2,6\n',
      /^no-header\.csv, line 1: the header has no field of transactions\. Fields: transaction_id,/,
    ],
    'twice.csv': ['note,note\n', /^twice\.csv, line 1: the column `note` occurs twice\.$/],
    'latin.csv': [
      Buffer.from('note\na\n\xe9\n', 'latin1'),
      /^latin\.csv is not valid UTF-8\. Save it in that encoding\.$/,
    ],
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
      assert.match(stdout, /^a\.ndjson: 3 records, 3 created$/m)
      const waited = bulks[1]!.at - bulks[0]!.at
      assert.ok(waited >= (reply.headers?.['Retry-After'] ? 1950 : 450), `waited ${waited} ms`)
    })
  }

  test('gives up after --retry-for seconds, and says to send the file again', async () => {
    const { base, bulks } = await service((seen) =>
      ids(seen).includes('1000') ? problem(503, 'unavailable') : stored(seen),
    )
    const { code, stdout, stderr } = await push(base, 'a.ndjson', ndjson(numbers(9000)), {
      args: ['--retry-for', '1', '--in-flight', '1'],
    })
    assert.equal(code, 1)
    assert.ok(bulks.length >= 3)
    assert.match(stdout, /^a\.ndjson: 1,000 records, 1,000 created\n {2}Not all records were sent/)
    assert.match(stderr, /push: Gave up after 1 s: the service answers 503\.\n$/)
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

  for (const status of [302, 400, 401, 403, 404, 405, 415]) {
    test(`${status}: does not retry, and prints title, detail and hint`, async () => {
      const details = { detail: 'The detail.', errors: [{ hint: 'The hint.' }] }
      const headers = { Location: '/oauth/token' }
      const { base, bulks } = await service(() => ({ ...problem(status, 'no', details), headers }))
      const exchange = createExchange(150, assert.fail)
      const client = createClient({ base, secrets: { brand_token: BRAND_TOKEN } }, exchange)
      const cwd = directory({ 'a.ndjson': '{}' })
      const summary = status === 401 ? 'The credential was refused' : 'Stopped'
      const message = `${summary}: ${status} The title of no – The detail. – The hint.`
      const args = readArguments([...commonArguments({}), join(cwd, 'a.ndjson')]) as SendArguments
      const [result] = startResults(args.files)
      await assert.rejects(
        sendFile(args, client, result!, () => {}),
        { exitCode: 1, message },
      )
      assert.equal(bulks.length, 1)
    })
  }
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
    assert.equal(rejected![0], `{"line":1001,"record":${exact.trim()},"errors":[],${reason}}`)
    assert.deepEqual(json(rejected![1]!), {
      line: 1002,
      record: { transaction_id: '1001' },
      errors: [{ pointer: '/currency', ...currency }],
    })
    assert.match(stdout, /^a\.ndjson: 3,000 records, 2,000 created, 999 not stored, 1 rejected$/m)
    assert.match(
      stdout,
      /currency: \/currency "EUX" is not a currency\. Mean EUR\? \(once: line 1002\)/,
    )
    assert.match(stdout, /Rejected records: a\.ndjson\.rejected\.ndjson/)
    assert.match(
      stdout,
      /Valid records were refused with their bulks: add --lenient to store them\./,
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
        line: 3,
        record: { transaction_id: '2' },
        errors: [{ pointer: '/currency', ...currency }],
      },
    ])
    assert.match(stdout, /^a\.ndjson: 4 records, 1 created, 1 updated, 1 stale, 1 rejected$/m)
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
    assert.match(stdout, /warning withdrawn_currency: \/currency HRK\. \(2 times: line 1, 3\)/)
  })

  test('--dry-run only validates', async () => {
    const { base, bulks } = await service()
    const { stdout } = await push(base, 'a.ndjson', ndjson([1]), { args: ['--dry-run'] })
    assert.equal(bulks[0]!.url, '/api/v1/forex/transactions?dry_run=true')
    assert.match(stdout, /Dry run, nothing was stored/)
  })
})

describe('places and ids', { concurrency: 4 }, () => {
  const header = 'transaction_id,note,currency'

  test('repeated ids are named with their lines, and fail the run', async () => {
    const repeats = [header, 'T-1,a,EUR', 'T-1,a,EUR', 'T-2,a,EUR', 'T-1,b,EUR'].join('\n')
    const { base } = await service()
    const { code, stdout } = await push(base, 'a.csv', repeats)
    assert.equal(code, 1)
    assert.match(
      stdout,
      /Ids repeat 2 times \(line 3 repeats line 2, line 5 repeats line 2\): the last one counts\. Add --allow-repeats/,
    )
    const allowed = await push(base, 'a.csv', repeats, { args: ['--allow-repeats'] })
    assert.equal(allowed.code, 0)
  })

  test('an id that a spreadsheet has shortened is refused', async () => {
    const { base, bulks } = await service()
    const { code, stderr } = await push(base, 'a.csv', `${header}\n1.23457E+15,a,EUR`)
    assert.deepEqual([code, bulks.length], [2, 0])
    assert.match(stderr, /^push: a\.csv, line 2: a spreadsheet has shortened the id /)
  })

  test('activities repeat by their id alone, customers of brands by theirs', async () => {
    const { base } = await service()
    const env = { TRIBUTARY_BASE_URL: base, TRIBUTARY_BRAND_TOKEN: BRAND_TOKEN }
    const options = { env, vertical: 'igaming' }
    const daily = '{"eventname":"deposit","customerid":"C","createtime":"2026-10-01"}\n'
    const once = '{"eventid":"E","eventname":"deposit","customerid":"C"}\n'
    const activities = { ...options, resource: 'activities' }
    const one = await push(base, 'a.ndjson', daily + daily + once + once, activities)
    assert.match(one.stdout, /Ids repeat once \(line 4 repeats line 3\): the last one counts\./)
    const players = { ...options, resource: 'customers' }
    const two = await push(base, 'a.ndjson', '{"customerId":"C"}\n{"customerId":"C"}', players)
    assert.match(two.stdout, /Ids repeat once .*: their fields are merged\./)
    assert.equal(two.code, 1)
  })

  const rows = ['{"transaction_id":"T-1"}', '{"transaction_id":"X","note":"[{,\\"a\\n"}']
  const files: Record<string, [text: string, line: number]> = {
    'a.ndjson': [`${rows[0]}\n\n${rows[1]}\n`, 3],
    'a.json': [`[\n${rows[0]}\n,\n\n${rows[1]}]`, 5],
    'list.json': [`{\n"data":[${rows[0]},\n${rows[1]}\n],"meta":{}}`, 3],
    'a.csv': [`\uFEFF${header}\r\nT-1,"a\r\nb\n","c\r\n"\r\n,,\r\n\r\nX,d,EUR\r\n`, 8],
    'unix.csv': [`${header}\nT-1,"a\n\n",\n\nX,d,EUR\n`, 6],
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
      assert.match(stdout, new RegExp(`currency: /currency No\\. \\(once: line ${line}\\)`))
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

describe('a bulk of which every record is refused', { concurrency: 4 }, () => {
  const refuse = ({ records }: Seen): Reply => {
    const errors = records.map((_, index) => ({
      index,
      code: 'unknown_customer',
      pointer: `/${index}/customer_id`,
      message: 'No such customer.',
    }))
    return problem(422, 'validation_failed', { errors, errors_total: errors.length })
  }
  const five = ndjson(numbers(5000))

  test('stops before the next bulk, and names the flag', async () => {
    const { base, bulks } = await service(refuse)
    const { code, stdout, stderr } = await push(base, 'a.ndjson', five)
    assert.deepEqual([code, bulks.length], [1, 1])
    assert.equal(
      stderr,
      'push: Every record of a bulk was refused. Add --keep-going to send the others.\n',
    )
    assert.match(stdout, /unknown_customer: \/customer_id No such customer\. \(1,000 times: /)
  })

  test('--keep-going sends the other bulks', async () => {
    const { base, bulks } = await service(refuse)
    const { code } = await push(base, 'a.ndjson', five, { args: ['--keep-going'] })
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
  ]
  for (const [args, message] of wrong) {
    test(`${args.join(' ')} is refused`, () => {
      assert.throws(() => readArguments([...fine, ...args]), { exitCode: 2, message })
    })
  }
  test('wrong arguments are one line on stderr, and exit code 2', async () => {
    const missing = / does not exist, or is not a file\.\n$/
    const files = { '.': missing, x: missing }
    const runs = Object.entries(files).map(async ([file, message]) => {
      const { code, stdout, stderr } = await start('http://127.0.0.1:1', directory({}), [file])
      assert.deepEqual([code, stdout], [2, ''])
      assert.match(stderr, message)
    })
    await Promise.all(runs)
  })

  const account = { name: 'A', vertical: 'forex', ...CLIENT }

  test('reads .demo.json by default', async () => {
    const { base, tokens } = await service()
    const accounts = [{ ...account, vertical: 'prop-trading', client_id: 'no' }, account]
    const demo = JSON.stringify({ base_url: base, admin_key: 'do-not-print-me-either', accounts })
    const cwd = directory({ 'a.ndjson': ndjson([1]), '.demo.json': demo })
    assert.equal((await start('', cwd, ['a.ndjson'], { env: {} })).code, 0)
    assert.match(tokens[0]!, /client_id=acme/)
  })

  const id = { TRIBUTARY_CLIENT_ID: 'a' }
  const both = { ...id, TRIBUTARY_CLIENT_SECRET: CLIENT.client_secret }
  const at = (TRIBUTARY_BASE_URL: string) => ({ ...both, TRIBUTARY_BASE_URL })
  const broken: Record<string, [Record<string, string>, string]> = {
    'half of the credentials': [
      id,
      'No address or credential. Set TRIBUTARY_BASE_URL, TRIBUTARY_CLIENT_SECRET, or run npm run dev.',
    ],
    'plain HTTP to another machine': [
      at('http://example.com'),
      'The base address must begin with https:// (http:// only for this machine).',
    ],
    'a password in the address': [
      at('https://a:b@example.com'),
      'The base address must not contain a password.',
    ],
    'a secret that no header can have': [
      { ...at('https://example.com'), TRIBUTARY_CLIENT_SECRET: 'ü' },
      'The client_secret for forex is missing or has invalid characters.',
    ],
  }
  for (const [name, [env, message]] of Object.entries(broken)) {
    test(`${name} is refused without showing a secret`, () => {
      assert.throws(() => readProfile(VERTICALS[1]!, env), { exitCode: 2, message })
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
      assert.match(large.stdout, /10,000 records, 10,000 created/)
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
