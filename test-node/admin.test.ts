import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { after, describe, test } from 'node:test'
import fc from 'fast-check'
import { readArguments } from '../scripts/admin/arguments.ts'
import { confirm } from '../scripts/admin/confirm.ts'
import { roughDuration } from '../scripts/admin/format.ts'
import { parentsFirst } from '../scripts/admin/import-affiliates.ts'
import { nameOf } from '../scripts/admin/operation.ts'
import { OPERATIONS } from '../scripts/admin/operations.ts'
import { readProfile } from '../scripts/admin/profile.ts'
import { runAdmin } from '../scripts/admin/run.ts'
import { bundleCommand } from './bundle.ts'
import { leakIn, sought } from './secrecy/leaks.ts'

// Runs the command against a fake service that can fail in every way. Only the tests of what a process
// adds start one: environment, working folder, streams and exit codes.

const ROOT = mkdtempSync(join(tmpdir(), 'admin-'))
const COMMAND = bundleCommand('admin', ROOT)
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

/** Returns a page of a back-test with one case. */
function backTest(next_cursor: string | null) {
  const would_hold = [{ currency: 'EUR', amount: '12.00', statements: 1 }]
  const one = {
    ...{
      subject: { customer_id: 'C-1' },
      affiliate_id: 'A-1',
      version: 2,
      action: 'hold',
      status: 'open',
    },
    ...{ opened_for: '2026-09-03', last_evidence_for: '2026-09-03', figures: [] },
    ...{ sentence: 'The customer paid 5 fees.', evidence: [], evidence_total: 5, would_hold },
    outcome: 'dismissed',
  }
  return {
    ...{ rule: 'r', from: '2026-09-01', to: '2026-09-30', kind: 'resets' },
    ...{ data: [one], opened: [], would_hold, affiliates: 1, skipped: [], meta: { next_cursor } },
    outcomes: { confirmed: 0, dismissed: 1, reversed: 0 },
    compared_with: { version: 3, cases: 2, same: 1, would_hold: [] },
  }
}

/** Returns a page of a simulation with one affiliate that earns nothing yet, and one left out. */
function simulated([affiliate_id, simulated]: [string, string], next_cursor: string | null) {
  const amounts = {
    currency: 'EUR',
    current: '0.00',
    simulated,
    difference: simulated,
    payable_current: '0.00',
    payable_simulated: simulated,
  }
  return {
    plan: 'p',
    periods: ['2026-10'],
    currency: 'EUR',
    data: [{ affiliate_id, plan: 'p', ...amounts }],
    total: [amounts],
    unchanged: 4,
    skipped: next_cursor === null ? [{ affiliate_id: 'BIG-1', reason: 'too_many_records' }] : [],
    warnings: [],
    meta: { next_cursor },
  }
}

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
const MOVE = {
  ...{ move: 'm', account: 'a', from: 'DB', to: 'DB_2', status: 'copying', waits_for: null },
  ...{ reason: null, started_at: '2026-11-27T10:00:00.000Z', switched_at: null, drop_at: null },
}
const MONTH = { month: '2024-03', resources: ['transactions'] }
const RULE_VERSION = {
  ...{ rule: 'r', version: 2, effective_from: '2026-12-01' },
  terms: {
    ...{ name: 'Resets', kind: 'resets', severity: 'low', action: 'flag', disabled: false },
    ...{ scope: { affiliates: ['*'] }, parameters: { count: 4, days: 14 } },
    effective_from: '2026-12-01',
  },
}
const CASE = { case_id: 'case_1', figures: [] }
const THING = { account: 'a', policies: { unknown_customer: 'hold' }, disabled: false }
const SPAN = ['--from', '2026-10-01', '--to', '2026-10-31']
const IN_SPAN = '?from=2026-10-01&to=2026-10-31'
const IMPORT = file('a.csv', 'affiliate_id,parent\nA-1,A-2\nA-2,\n')
const PLAN = file('p.json', '{"name": "P"}')
const RULE = file('r.json', '{"kind": "resets"}')
const ASSIGNMENTS = file('s.csv', 'affiliate_id,plan,from,customers\n*,p,2026-12-01,new\n')
const RATES = file('fx.csv', 'Date,USD\n2026-10-01,1.1711\n')

/** The command line, the request, its body and the response body; undefined: a 204. */
const WEBHOOK = { id: 'w', url: 'U', events: ['*'], disabled: false }

const CALLS: [string[], string, object | string | undefined, object | undefined][] = [
  [['accounts', 'list'], 'GET accounts?per_page=500', undefined, ONE],
  [['accounts', 'get', 'a'], 'GET accounts/a', undefined, THING],
  [
    [
      'accounts',
      'create',
      'a',
      '--name',
      'N',
      '--vertical',
      'igaming',
      '--mode',
      'test',
      '--time-zone',
      'UTC',
      '--unknown-customer',
      'hold',
      '--unknown-affiliate',
      'warn',
      '--database',
      'B',
      '--storage-quota',
      '1',
    ],
    'POST accounts',
    {
      account: 'a',
      name: 'N',
      vertical: 'igaming',
      mode: 'test',
      time_zone: 'UTC',
      unknown_customer: 'hold',
      unknown_affiliate: 'warn',
      binding: 'B',
      storage_quota: 1,
    },
    THING,
  ],
  [
    ['accounts', 'change', 'a', '--name=-', '--storage-quota', '8000000000', '--book-zone', 'Z'],
    'PATCH accounts/a',
    { name: '-', storage_quota: 8e9, book_zone: 'Z' },
    THING,
  ],
  [['accounts', 'disable', 'a'], 'PATCH accounts/a', { disabled: true }, THING],
  [
    ['accounts', 'view', 'a', '--customers', 'none', '--amounts', 'no', '--drafts', 'yes'],
    'PATCH accounts/a',
    { affiliate_view: { customer_ids: 'none', amounts: false, drafts: true } },
    THING,
  ],
  [['accounts', 'enable', 'a'], 'PATCH accounts/a', { disabled: false }, THING],
  [['accounts', 'reset', 'a', '--yes'], 'POST accounts/a/reset', undefined, undefined],
  [
    ['accounts', 'move', 'a', '--to', 'DB_2', '--confirm'],
    'POST accounts/a/moves',
    { to: 'DB_2', confirm: true },
    MOVE,
  ],
  [['accounts', 'moves', 'a'], 'GET accounts/a/moves?per_page=500', undefined, page([MOVE])],
  [['accounts', 'show-move', 'a', 'm'], 'GET accounts/a/moves/m', undefined, MOVE],
  [['accounts', 'cancel-move', 'a', 'm'], 'POST accounts/a/moves/m/cancel', {}, MOVE],
  [['accounts', 'confirm-move', 'a', 'm'], 'POST accounts/a/moves/m/confirm', {}, MOVE],
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
  [
    ['brand-token', 'regenerate', 'a'],
    'POST accounts/a/brand-tokens',
    { overlap: '24h' },
    { brand_token: 's' },
  ],
  [['brand-token', 'revoke', 'a', 'i'], 'DELETE accounts/a/brand-tokens/i', undefined, undefined],
  [['affiliate-keys', 'list', 'a', 'b'], 'GET accounts/a/affiliates/b/keys', undefined, LIST],
  [
    ['affiliate-keys', 'make', 'a', 'b', '--name', 'N', '--links', '--replaces', 'i'],
    'POST accounts/a/affiliates/b/keys',
    { name: 'N', scope: 'read links', replaces: 'i' },
    { affiliate_key: 's' },
  ],
  [
    ['affiliate-keys', 'end', 'a', 'b', 'i'],
    'DELETE accounts/a/affiliates/b/keys/i',
    undefined,
    undefined,
  ],
  [['affiliates', 'list', 'a'], 'GET accounts/a/affiliates?per_page=500', undefined, ONE],
  [
    ['affiliates', 'figures', 'a'],
    'GET accounts/a/affiliates/figures?per_page=500',
    undefined,
    ONE,
  ],
  [
    ['affiliates', 'import', 'a', IMPORT],
    'PUT accounts/a/affiliates',
    [
      { affiliate_id: 'A-2', parent: null },
      { affiliate_id: 'A-1', parent: 'A-2' },
    ],
    { received: 2, changed: 1 },
  ],
  [
    ['affiliates', 'parents', 'a', '--affiliate', 'A-1'],
    'GET accounts/a/affiliates/parents?affiliate_id=A-1&per_page=500',
    undefined,
    ONE,
  ],
  [
    ['affiliates', 'set', 'a', '..', '--note', 'none', '--status', 'suspended'],
    'PUT accounts/a/affiliates',
    [{ affiliate_id: '..', note: null, status: 'suspended' }],
    { received: 1, changed: 1 },
  ],
  [
    ['members', 'invite', 'a', 'A-1', '--member', 'm-1'],
    'POST accounts/a/affiliates/A-1/invitations',
    { member: 'm-1' },
    { id: 'i-1', invitation_url: 'https://x.test/portal/a/invitation#secret' },
  ],
  [
    ['members', 'invitations', 'a', 'A-1'],
    'GET accounts/a/affiliates/A-1/invitations',
    undefined,
    LIST,
  ],
  [
    ['members', 'uninvite', 'a', 'A-1', 'i-1'],
    'DELETE accounts/a/affiliates/A-1/invitations/i-1',
    undefined,
    undefined,
  ],
  [
    ['questions', 'list', 'a', '--status', 'open', '--affiliate', 'A-1', '--statement', 's-1'],
    'GET accounts/a/questions?status=open&affiliate_id=A-1&statement=s-1&per_page=500',
    undefined,
    ONE,
  ],
  [['questions', 'show', 'a', 'q-1'], 'GET accounts/a/questions/q-1', undefined, ONE],
  [
    ['questions', 'answer', 'a', 'q-1', '--text', 'Yes', '--status', 'open'],
    'POST accounts/a/questions/q-1/answers',
    { text: 'Yes', status: 'open' },
    ONE,
  ],
  [
    ['questions', 'set', 'a', 'q-1', '--status', 'closed'],
    'PATCH accounts/a/questions/q-1',
    { status: 'closed' },
    ONE,
  ],
  [['postbacks', 'list', 'a', 'A-1'], 'GET accounts/a/affiliates/A-1/postbacks', undefined, LIST],
  [
    ['postbacks', 'pause', 'a', 'A-1', 'p-1'],
    'PATCH accounts/a/affiliates/A-1/postbacks/p-1',
    { disabled: true },
    THING,
  ],
  [
    ['postbacks', 'resume', 'a', 'A-1', 'p-1'],
    'PATCH accounts/a/affiliates/A-1/postbacks/p-1',
    { disabled: false },
    THING,
  ],
  [['members', 'list', 'a', 'A-1'], 'GET accounts/a/affiliates/A-1/members', undefined, LIST],
  [
    ['members', 'remove', 'a', 'A-1', 'm-1'],
    'DELETE accounts/a/affiliates/A-1/members/m-1',
    undefined,
    undefined,
  ],
  [
    ['affiliates', 'delete', 'a', '..'],
    'DELETE accounts/a/affiliates?affiliate_id=..',
    undefined,
    undefined,
  ],
  [['affiliates', 'unconfigured', 'a'], 'GET accounts/a/affiliates/unconfigured', undefined, LIST],
  [['events', 'list', 'a'], 'GET accounts/a/events', undefined, LIST],
  [
    [
      'events',
      'put',
      'a',
      'Net',
      '--granularity',
      'day',
      '--eventid',
      'ignored',
      '--kpi',
      'GGR',
      '--kpi',
      'NGR',
      '--product-field',
      'Line',
      '--product',
      'Slots=casino',
      '--product',
      'Bets=sports',
      '--currency',
      'EUR',
    ],
    'PUT accounts/a/events/Net',
    {
      granularity: 'day',
      eventid: 'ignored',
      kpis: ['GGR', 'NGR'],
      currency: 'EUR',
      product: { field: 'Line', map: { Slots: 'casino', Bets: 'sports' } },
    },
    THING,
  ],
  [['events', 'delete', 'a', 'Net'], 'DELETE accounts/a/events/Net', undefined, undefined],
  [['status-map', 'get', 'a'], 'GET accounts/a/status-map', undefined, { status: {} }],
  [['status-map', 'unmapped', 'a'], 'GET accounts/a/status-map/unmapped', undefined, LIST],
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
  [['plans', 'list', 'a'], 'GET accounts/a/plans', undefined, LIST],
  [['plans', 'show', 'a', 'p'], 'GET accounts/a/plans/p', undefined, THING],
  [['plans', 'versions', 'a', 'p'], 'GET accounts/a/plans/p/versions?per_page=500', undefined, ONE],
  [['plans', 'version', 'a', 'p', '2'], 'GET accounts/a/plans/p/versions/2', undefined, THING],
  [['plans', 'put', 'a', 'p', PLAN], 'PUT accounts/a/plans/p', { name: 'P' }, THING],
  [
    ['plans', 'simulate', 'a', 'p', PLAN, '--period', '2026-10'],
    'POST accounts/a/plans/p/simulate',
    { period: '2026-10', version: { name: 'P' } },
    simulated(['A-1', '1.00'], null),
  ],
  [
    ['fraud', 'simulate', 'a', 'r', RULE, '--from', '2026-09-01', '--to', '2026-09-30'],
    'POST accounts/a/fraud-rules/r/simulate',
    { from: '2026-09-01', to: '2026-09-30', version: { kind: 'resets' } },
    backTest(null),
  ],
  [
    ['plans', 'withdraw', 'a', 'p', '2'],
    'DELETE accounts/a/plans/p/versions/2',
    undefined,
    undefined,
  ],
  [['fraud', 'rules', 'a'], 'GET accounts/a/fraud-rules', undefined, LIST],
  [
    [
      ...['fraud', 'cases', 'a', '--status', 'open', '--affiliate', 'A-1', '--from', '2026-09-01'],
      ...['--needs', 'decision', '--opened-since', '2026-09-01T00:00:00Z'],
    ],
    'GET accounts/a/cases?status=open&affiliate_id=A-1&from=2026-09-01&needs=decision&opened_since=2026-09-01T00%3A00%3A00Z&per_page=500',
    undefined,
    ONE,
  ],
  [
    ['exports', 'list', 'a', '--resource', 'ledger', '--month', '2026-10'],
    'GET accounts/a/exports?resource=ledger&month=2026-10&per_page=500',
    undefined,
    ONE,
  ],
  [['exports', 'start', 'a'], 'POST accounts/a/exports', {}, THING],
  [['archive', 'list', 'a'], 'GET accounts/a/archives?per_page=500', undefined, ONE],
  [['archive', 'kept', 'a'], 'GET accounts/a/archives/kept', undefined, THING],
  [['archive', 'run', 'a', '2024-03'], 'POST accounts/a/archives', { month: '2024-03' }, MONTH],
  [['archive', 'restore', 'a', '2024-03'], 'POST accounts/a/archives/2024-03/restore', {}, MONTH],
  [['fraud', 'case', 'a', 'case_1'], 'GET accounts/a/cases/case_1', undefined, CASE],
  [
    ['fraud', 'evidence', 'a', 'case_1'],
    'GET accounts/a/cases/case_1/evidence?per_page=500',
    undefined,
    ONE,
  ],
  [
    [
      ...['fraud', 'decide', 'a', 'case_1', '--decision', 'confirmed', '--reason', 'One device'],
      ...['--refuse', 'c-1', '--refuse', 'c-2', '--from', '2026-11-01', '--keep-hold'],
    ],
    'POST accounts/a/cases/case_1/decide',
    {
      ...{ decision: 'confirmed', reason: 'One device', from: '2026-11-01' },
      ...{ refuse: ['c-1', 'c-2'], keep_hold: true },
    },
    THING,
  ],
  [
    ['fraud', 'customers', 'a', 'case_1'],
    'GET accounts/a/cases/case_1/customers?per_page=500',
    undefined,
    ONE,
  ],
  [['fraud', 'ended-holds', 'a'], 'GET accounts/a/ended-holds?per_page=500', undefined, ONE],
  [
    ['fraud', 'acknowledge', 'a', 'case_1', '--reason', 'Moved'],
    'POST accounts/a/ended-holds/case_1/acknowledge',
    { reason: 'Moved' },
    THING,
  ],
  [
    ['fraud', 'note', 'a', 'case_1', '--text', 'Asked.'],
    'POST accounts/a/cases/case_1/note',
    { text: 'Asked.' },
    THING,
  ],
  [['fraud', 'run', 'a'], 'POST accounts/a/fraud-rules/run', undefined, THING],
  [['fraud', 'show', 'a', 'r'], 'GET accounts/a/fraud-rules/r', undefined, THING],
  [
    ['fraud', 'versions', 'a', 'r'],
    'GET accounts/a/fraud-rules/r/versions?per_page=500',
    undefined,
    ONE,
  ],
  [
    ['fraud', 'version', 'a', 'r', '2'],
    'GET accounts/a/fraud-rules/r/versions/2',
    undefined,
    RULE_VERSION,
  ],
  [['fraud', 'put', 'a', 'r', RULE], 'PUT accounts/a/fraud-rules/r', { kind: 'resets' }, THING],
  [['fraud', 'disable', 'a', 'r'], 'DELETE accounts/a/fraud-rules/r', undefined, undefined],
  [
    ['fraud', 'withdraw', 'a', 'r', '2'],
    'DELETE accounts/a/fraud-rules/r/versions/2',
    undefined,
    undefined,
  ],
  [
    ['assignments', 'list', 'a', '--affiliate', 'A-1'],
    'GET accounts/a/assignments?affiliate_id=A-1&per_page=500',
    undefined,
    ONE,
  ],
  [
    ['assignments', 'import', 'a', ASSIGNMENTS],
    'PUT accounts/a/assignments',
    [{ affiliate_id: '*', plan: 'p', from: '2026-12-01', customers: 'new' }],
    { received: 1, changed: 1, warnings: [], warnings_total: 0 },
  ],
  [
    ['assignments', 'delete', 'a', '--affiliate', '..', '--from', '2026-12-01'],
    'DELETE accounts/a/assignments?affiliate_id=..&from=2026-12-01',
    undefined,
    undefined,
  ],
  [
    ['links', 'list', 'a', '--affiliate', '..'],
    'GET accounts/a/links?affiliate_id=..&per_page=500',
    undefined,
    ONE,
  ],
  [
    ['links', 'create', 'a', '--affiliate', 'A-1', '--landing-page', 'https://x.test/?a=1'],
    'POST accounts/a/links',
    { affiliate_id: 'A-1', landing_page: 'https://x.test/?a=1' },
    THING,
  ],
  [
    ['links', 'change', 'a', 'l', '--name', 'N', '--pass-query', 'true'],
    'PATCH accounts/a/links/l',
    { name: 'N', pass_query: true },
    THING,
  ],
  [['links', 'disable', 'a', 'l'], 'PATCH accounts/a/links/l', { disabled: true }, THING],
  [['links', 'enable', 'a', 'l'], 'PATCH accounts/a/links/l', { disabled: false }, THING],
  [['customers', 'list', 'a'], 'GET accounts/a/customers?per_page=500', undefined, ONE],
  [
    ['customers', 'erase', 'a', 'C/1 ü?', '--yes'],
    'DELETE accounts/a/customers/personal-data?customer_id=C%2F1+%C3%BC%3F',
    undefined,
    { customer_id: 'C/1 ü?' },
  ],
  [
    ['customers', 'affiliations', 'a', '..'],
    'GET accounts/a/customers/affiliations?customer_id=..',
    undefined,
    THING,
  ],
  [
    ['customers', 'correct', 'a', '..', 'beginning=none', '2026-10-02=A-1', '--reason', 'R s'],
    'PUT accounts/a/customers/affiliations?customer_id=..',
    {
      reason: 'R s',
      affiliations: [
        { from: null, affiliate_id: null },
        { from: '2026-10-02', affiliate_id: 'A-1' },
      ],
    },
    THING,
  ],
  [
    ['customers', 'fields', 'a', '..'],
    'GET accounts/a/customers/fields?customer_id=..',
    undefined,
    THING,
  ],
  [
    ['customers', 'refuse', 'a', '..', '--reason', 'R', '--from', '2026-10-02'],
    'PUT accounts/a/customers/refusal?customer_id=..',
    { reason: 'R', from: '2026-10-02' },
    THING,
  ],
  [
    ['customers', 'end-refusal', 'a', '..'],
    'DELETE accounts/a/customers/refusal?customer_id=..',
    undefined,
    undefined,
  ],
  [['attribution', 'a', ...SPAN], `GET accounts/a/attribution${IN_SPAN}`, undefined, LIST],
  [['clicks', 'a', ...SPAN], `GET accounts/a/clicks${IN_SPAN}`, undefined, LIST],
  [['erasures', 'list', 'a'], 'GET accounts/a/erasures?per_page=500', undefined, ONE],
  [
    ['erasures', 'replay', '--account', 'a&b'],
    'POST erasures/replay?account=a%26b',
    undefined,
    { erased: 1, next: null },
  ],
  [['fx', 'import', RATES], 'PUT fx-rates', 'Date,USD\n2026-10-01,1.1711\n', { created: 1 }],
  [['fx', 'show', '2026-10-04'], 'GET fx-rates?day=2026-10-04', undefined, { rates: [] }],
  [
    [
      'statements',
      'list',
      'a',
      '--affiliate',
      '..',
      '--period',
      '2026-W41',
      '--plan',
      'p',
      '--status',
      'draft',
    ],
    'GET accounts/a/statements?affiliate_id=..&period=2026-W41&plan=p&status=draft&per_page=500',
    undefined,
    ONE,
  ],
  [
    ['statements', 'totals', 'a', '--period', '2026-10', '--status', 'draft'],
    'GET accounts/a/statements/totals?period=2026-10&status=draft',
    undefined,
    LIST,
  ],
  [['statements', 'periods', 'a'], 'GET accounts/a/periods', undefined, LIST],
  [
    ['statements', 'show', 'a', 'stm_1', '--part', '2'],
    'GET accounts/a/statements/stm_1?part=2',
    undefined,
    { id: 'stm_1', lines: [{ id: 'lin_1', fx: [] }] },
  ],
  [
    ['statements', 'export', 'a', '--period', '2026-10', '--format', 'json'],
    'GET accounts/a/statements?period=2026-10&per_page=500',
    undefined,
    ONE,
  ],
  [
    ['statements', 'compute', 'a', '--affiliate', 'A-1', '--period', '2026-10'],
    'GET accounts/a/statements?affiliate_id=A-1&period=2026-10&fresh=true',
    undefined,
    LIST,
  ],
  [
    ['lines', 'explain', 'a', 'lin_1', '--affiliate', 'A-1', '--period', '2026-10'],
    'GET accounts/a/lines/lin_1/explain?affiliate_id=A-1&period=2026-10',
    undefined,
    { id: 'lin_1', steps: [{ step: 'amount', amount: '1.00' }] },
  ],
  [
    ['lines', 'parts', 'a', 'lin_1'],
    'GET accounts/a/lines/lin_1/parts?per_page=500',
    undefined,
    ONE,
  ],
  [
    ['records', 'find', 'a', 'T/1', '--match', 'beginning'],
    'GET accounts/a/records?match=beginning&id=T%2F1',
    undefined,
    LIST,
  ],
  [['records', 'earnings', 'a', 'T-1'], 'GET accounts/a/records?id=T-1', undefined, { data: [] }],
  [
    ['unearned', 'show', 'a', '--period', '2026-10', '--affiliate', 'A-1'],
    'GET accounts/a/unearned?period=2026-10&affiliate_id=A-1',
    undefined,
    LIST,
  ],
  [
    ['unearned', 'list', 'a', '--period', '2026-10', '--customer', 'C', '--reason', 'held'],
    'GET accounts/a/unearned/facts?period=2026-10&customer_id=C&reason=held&per_page=500',
    undefined,
    ONE,
  ],
  [
    [
      'qualifications',
      'list',
      'a',
      '--period',
      '2026-W41',
      '--status',
      'failed',
      '--plan',
      'p',
      '--rule',
      'cpa',
    ],
    'GET accounts/a/qualifications?period=2026-W41&plan=p&rule=cpa&status=failed&per_page=500',
    undefined,
    ONE,
  ],
  [
    ['statements', 'approve', 'a', 'stm_1', '--hash', 'f'.repeat(64), '--leave-out-holds'],
    'POST accounts/a/statements/stm_1/approve',
    { leave_out_holds: true, hash: 'f'.repeat(64) },
    { id: 'stm_1', status: 'approved' },
  ],
  [
    ['statements', 'pay', 'a', 'stm_1', '--reference', 'R-1', '--on', '2026-11-16'],
    'POST accounts/a/statements/stm_1/pay',
    { reference: 'R-1', paid_on: '2026-11-16' },
    { id: 'stm_1', status: 'paid' },
  ],
  [
    [
      ...['statements', 'return', 'a', 'stm_1', '--reference', 'R-1', '--on', '2026-11-18'],
      ...['--reason', 'Account closed'],
    ],
    'POST accounts/a/statements/stm_1/return',
    { reference: 'R-1', returned_on: '2026-11-18', reason: 'Account closed' },
    { id: 'stm_1', status: 'approved' },
  ],
  [
    ['periods', 'approve', 'a', '2026-10', '--plan', 'p'],
    'POST accounts/a/periods/2026-10/approve',
    { plan: 'p' },
    { period: '2026-10', closed: true, open_total: 0, approved: 1, waiting: 0, refused: [] },
  ],
  [
    [
      'manual',
      'add',
      'a',
      '--affiliate',
      'A-1',
      '--plan',
      'p',
      '--amount',
      '5.00',
      '--reason',
      'Bonus',
      '--reference',
      'B-1',
    ],
    'POST accounts/a/manual-entries',
    { affiliate_id: 'A-1', plan: 'p', amount: '5.00', reason: 'Bonus', reference: 'B-1' },
    { id: 'man_1' },
  ],
  [
    ['manual', 'list', 'a', '--affiliate', 'A-1'],
    'GET accounts/a/manual-entries?affiliate_id=A-1&per_page=500',
    undefined,
    ONE,
  ],
  [
    ['ledger', 'show', 'a', 'A-1'],
    'GET accounts/a/affiliates/ledger?affiliate_id=A-1&per_page=500',
    undefined,
    ONE,
  ],
  [
    ['ledger', 'balance', 'a', 'A-1'],
    'GET accounts/a/affiliates/balance?affiliate_id=A-1',
    undefined,
    { affiliate_id: 'A-1', balances: [{ currency: 'EUR', balance: '1.00', due: '0.00' }] },
  ],
  [
    ['payouts', 'list', 'a', '--csv', '--payable-on', '2026-11-15'],
    'GET accounts/a/payouts?payable_on=2026-11-15&per_page=500',
    undefined,
    ONE,
  ],
  [
    ['payouts', 'import', 'a', RATES],
    'POST accounts/a/payouts',
    'Date,USD\n2026-10-01,1.1711\n',
    { received: 1, paid: 1 },
  ],
  [['runs', 'start', 'a', '2026-10'], 'POST accounts/a/periods/2026-10/run', undefined, THING],
  [['runs', 'show', 'a', 'run_1'], 'GET accounts/a/runs/run_1', undefined, THING],
  [['webhooks', 'list', 'a'], 'GET accounts/a/webhooks', undefined, LIST],
  [
    ['webhooks', 'create', 'a', '--url', 'U', '--event', 'feed.late', '--event', 'all'],
    'POST accounts/a/webhooks',
    { url: 'U', events: ['feed.late', '*'] },
    WEBHOOK,
  ],
  [['webhooks', 'show', 'a', 'w'], 'GET accounts/a/webhooks/w', undefined, WEBHOOK],
  [
    ['webhooks', 'change', 'a', 'w', '--description', 'D'],
    'PATCH accounts/a/webhooks/w',
    { description: 'D' },
    WEBHOOK,
  ],
  [['webhooks', 'disable', 'a', 'w'], 'PATCH accounts/a/webhooks/w', { disabled: true }, WEBHOOK],
  [['webhooks', 'enable', 'a', 'w'], 'PATCH accounts/a/webhooks/w', { disabled: false }, WEBHOOK],
  [['webhooks', 'delete', 'a', 'w'], 'DELETE accounts/a/webhooks/w', undefined, undefined],
  [
    ['webhooks', 'rotate', 'a', 'w'],
    'POST accounts/a/webhooks/w/rotate',
    { overlap: '24h' },
    { id: 'w', secret: 'whsec_1' },
  ],
  [['webhooks', 'test', 'a', 'w'], 'POST accounts/a/webhooks/w/test', {}, { event_id: 'evt_1' }],
  [
    ['webhooks', 'replay', 'a', 'w', '--from', 'F', '--only-dead'],
    'POST accounts/a/webhooks/w/replay',
    { from: 'F', only_dead: true },
    { replayed: 1 },
  ],
  [
    ['webhooks', 'attempts', 'a', 'w'],
    'GET accounts/a/webhooks/w/attempts?per_page=500',
    undefined,
    ONE,
  ],
  [
    ['webhooks', 'events', 'a', 'w', '--status', 'dead'],
    'GET accounts/a/webhooks/w/events?status=dead&per_page=500',
    undefined,
    ONE,
  ],
  [['deliveries', 'list', 'a'], 'GET accounts/a/deliveries?per_page=500', undefined, ONE],
  [
    ['deliveries', 'get', 'a', 'dlv_1'],
    'GET accounts/a/deliveries/dlv_1',
    undefined,
    { delivery_id: 'dlv_1', errors: [{ pointer: '/0', key: { customer_id: 'C' } }] },
  ],
  [
    ['deliveries', 'refused', 'a', 'dlv_1'],
    'GET accounts/a/deliveries/dlv_1/refused?per_page=500',
    undefined,
    { data: [{ index: 0, errors: [{ pointer: '/0' }] }], meta: ONE.meta },
  ],
  [
    ['deliveries', 'errors', 'a', ...SPAN],
    `GET accounts/a/delivery-errors${IN_SPAN}`,
    undefined,
    LIST,
  ],
  [['deliveries', 'days', 'a'], 'GET accounts/a/arrivals', undefined, LIST],
  [['attention', 'a'], 'GET accounts/a/attention', undefined, LIST],
  [['changes', 'a'], 'GET accounts/a/changes', undefined, {}],
  [['search', 'C/1'], 'GET search?id=C%2F1', undefined, LIST],
  [
    ['customers', 'unattributed', 'a', ...SPAN],
    `GET accounts/a/customers?unattributed=true&${IN_SPAN.slice(1)}&per_page=500`,
    undefined,
    ONE,
  ],
  [
    ['customers', 'lines', 'a', 'C', '--period', '2026-10'],
    'GET accounts/a/customers/C/lines?period=2026-10',
    undefined,
    LIST,
  ],
  [
    ['customers', 'records', 'a', 'transactions', '--customer', 'C'],
    'GET accounts/a/records/transactions?customer_id=C&per_page=500',
    undefined,
    ONE,
  ],
  [['totals', 'a', ...SPAN], `GET accounts/a/totals${IN_SPAN}`, undefined, LIST],
  [
    ['reports', 'a', ...SPAN, '--by', 'day,link', '--currency', 'EUR', '--metrics', 'lots'],
    `GET accounts/a/reports${IN_SPAN}&group_by=day%2Clink&currency=EUR&metrics=lots`,
    undefined,
    { group_by: [], data: [], totals: { metrics: { lots: '1' }, unconverted: [] }, notes: [] },
  ],
  [['held', 'a'], 'GET accounts/a/held?per_page=500', undefined, ONE],
  [['feeds'], 'GET feeds?per_page=500', undefined, ONE],
  [['databases', 'list'], 'GET databases', undefined, { data: [{ binding: 'DB' }], pools: [] }],
  [['feed', 'a'], 'GET accounts/a/feed', undefined, LIST],
  [
    ['audit-log', '--account', 'a', '--limit', '7'],
    'GET audit-log?account=a&per_page=7',
    undefined,
    ONE,
  ],
]

describe('operations', { concurrency: 4 }, () => {
  test('every operation has one row in the table', () => {
    const names = CALLS.map(([args]) => readArguments(args)).map((call) => {
      return 'help' in call ? call.help : nameOf(call.operation)
    })
    // Commands that follow have a test file of their own.
    const sent = OPERATIONS.filter(({ isLocal, follow }) => !isLocal && !follow)
    assert.deepEqual(names.toSorted(), sent.map(nameOf).toSorted())
  })

  test('accounts move --wait: exits with 1 unless the account is in the other database', async () => {
    const ends: [object, number, RegExp][] = [
      [{ status: 'failed', reason: 'Why.' }, 1, /^admin: The move m has failed\. Why\.$/m],
      [
        { status: 'cancelled' },
        1,
        /^admin: The move m was cancelled\. The account has stayed in DB\.$/m,
      ],
      [
        { status: 'switched', switched_at: '2026-11-27T10:00:00.000Z' },
        0,
        /^The old copy is deleted/m,
      ],
    ]
    const args = ['accounts', 'move', 'a', '--to', 'DB_2', '--wait']
    const checks = ends.map(async ([end, code, stderr]) => {
      const { base } = await service(({ nth }) => ({ body: { ...MOVE, ...(nth > 0 && end) } }))
      const ended = await admin(base, args)
      assert.equal(ended.code, code)
      assert.match(ended.stderr, stderr)
    })
    await Promise.all(checks)
  })

  test('plans simulate: follows the cursor, and prints a table with the sum of all pages', async () => {
    const { base, requests } = await service(({ nth }) => ({
      body: simulated(nth === 0 ? ['A-1', '0.10'] : ['A-2', '-12.20'], nth === 0 ? 'next' : null),
    }))
    const args = ['plans', 'simulate', 'a', 'p', PLAN, '--from', '2026-08', '--to', '2026-10']
    const { code, stdout } = await admin(base, args)
    assert.equal(code, 0)
    assert.match(stdout, /│ A-1 +│ p +│ EUR +│ 0\.00 +│ 0\.10 +│ 0\.10 +│/)
    assert.match(stdout, /│ total +│ – +│ EUR +│ 0\.00 +│ -12\.10 +│ -12\.10 +│/)
    assert.match(stdout, /\nAffiliates without a difference: 8\.\n/)
    assert.match(stdout, /\nBIG-1 was left out: it depends on too many records\.\n/)
    const body = { from: '2026-08', to: '2026-10', version: { name: 'P' } }
    const line = 'POST accounts/a/plans/p/simulate'
    const sent = requests.map((one) => [one.line, one.body])
    assert.deepEqual(sent, [
      [line, body],
      [`${line}?cursor=next`, body],
    ])
  })

  test('fraud simulate: without a file, the stored versions are tested', async () => {
    const { base, requests } = await service(() => ({ body: backTest(null) }))
    const days = ['--from', '2026-09-01', '--to', '2026-10-31']
    const { code } = await admin(base, ['fraud', 'simulate', 'a', 'r', ...days])
    assert.equal(code, 0)
    assert.deepEqual(requests[0]?.body, { from: '2026-09-01', to: '2026-10-31' })
  })

  test('fraud simulate: follows the cursor, and prints a table of all cases', async () => {
    const { base, lines } = await service(({ nth }) => ({
      body: backTest(nth === 0 ? 'next' : null),
    }))
    const args = ['fraud', 'simulate', 'a', 'r', RULE, '--from', '2026-09-01', '--to', '2026-09-30']
    const { code, stdout } = await admin(base, args)
    assert.equal(code, 0)
    assert.match(
      stdout,
      /│ 2026-09-03 +│ A-1 +│ C-1 +│ open +│ dismissed +│ 12\.00 EUR +│ The customer paid/,
    )
    assert.match(stdout, /\n2 cases of 2 affiliates\.\n/)
    assert.match(stdout, /confirmed 0, dismissed 2, and confirmed but released 0 of them\./)
    assert.ok(
      stdout.includes(
        'Compared with version 3, which is in force: 2 cases instead of 4; 2 are the same; 24.00 EUR held instead of 0.00 EUR.\nStatements that nobody has approved yet are not counted.\n',
      ),
    )
    const line = 'POST accounts/a/fraud-rules/r/simulate'
    assert.deepEqual(lines(), [line, `${line}?cursor=next`])
  })

  test('plans simulate --csv: prints the rows, and the affiliates that were left out', async () => {
    const { base, lines } = await service(() => ({ body: simulated(['=A', '-1.00'], null) }))
    const options = ['--period', '2026-10', '--affiliate', '=A', '--all', '--csv']
    const { stdout } = await admin(base, ['plans', 'simulate', 'a', 'p', PLAN, ...options])
    assert.deepEqual(stdout.split('\n').slice(1), [
      "'=A,p,EUR,0.00,-1.00,-1.00,0.00,-1.00,",
      'BIG-1,,,,,,,,too_many_records',
      '',
    ])
    assert.deepEqual(lines(), ['POST accounts/a/plans/p/simulate?affiliate_id=%3DA&all=true'])
  })

  test('plans simulate: reads what plans version --json printed', async () => {
    const { base, requests } = await service(() => ({ body: simulated(['A-1', '0.10'], null) }))
    const terms = { name: 'P', terms: 'signup', rules: [] }
    const file = join(mkdtempSync(join(tmpdir(), 'admin-')), 'version.json')
    writeFileSync(file, JSON.stringify({ plan: 'p', version: 2, terms }))
    await admin(base, ['plans', 'simulate', 'a', 'p', file, '--period', '2026-10'])
    assert.deepEqual(requests[0]?.body, { period: '2026-10', version: terms })
  })

  test('lines explain: prints the sentences, and with --json the steps', async () => {
    const { base, requests } = await service(({ accept }) =>
      accept
        ? { body: 'Rule r\n\nThe line pays 1.00 EUR.\n', headers: { 'Content-Type': 'text/plain' } }
        : { body: { id: 'lin_1' } },
    )
    const args = ['lines', 'explain', 'a', 'lin_1']
    assert.equal((await admin(base, args)).stdout, 'Rule r\n\nThe line pays 1.00 EUR.\n')
    assert.deepEqual(JSON.parse((await admin(base, [...args, '--json'])).stdout), { id: 'lin_1' })
    assert.deepEqual(
      requests.map(({ accept }) => accept),
      ['text/plain', undefined],
    )
  })

  const TERMS = {
    ...{ name: 'Standard IB', currency: 'EUR', period: 'month', rules: [] as object[] },
  }
  TERMS.rules.push({
    ...{ id: 'cpa', kind: 'once', amount: '200', trigger: { transactions: ['deposit'] } },
    qualify: [{ sum: [{ activity: 'lots_traded' }], min: '5', within_days: 30 }],
  })
  const WAITS = {
    ...{ reason: 'not_qualified', plan: 'ib', version: 2, rule: 'cpa', condition: 'qualify/0' },
  }
  const LINE = {
    ...{ affiliate_id: 'A-1', plan: 'ib', version: 2, rule: 'cpa', period: '2026-10' },
    ...{ line_id: 'lin_1', as: 'trigger', base: null, units: null, currency: 'EUR' },
  }

  /** Starts a service with a deposit that earns what is given. */
  const withDeposit = (earnings: object) =>
    service(({ line }) => {
      if (line.includes('/versions/2')) return { body: { terms: TERMS } }
      if (line.includes('/earnings'))
        return { body: { affiliate_id: 'A-1', lines: [], ...earnings } }
      if (line.includes('id=none')) return { body: { data: [] } }
      const record = { transaction_type: 'deposit', currency: 'EUR' }
      const found = { resource: 'transactions', id: 'T/1', customer_id: 'C', day: '2026-10-05' }
      return { body: { data: [{ ...found, record }] } }
    })

  test('records earnings: says why a record earned nothing, and what to do next', async () => {
    const state = { ...WAITS, reached: '3', min: '5', until: '2020-01-31' }
    const { base, requests } = await withDeposit({ state })
    const { stdout } = await admin(base, ['records', 'earnings', 'a', 'T/1'])
    assert.equal(
      stdout,
      'transactions T/1\n  It earned nothing. The customer had 3 of 5 lots when the time was over, on 31 Jan 2020. See what the customer has done.\n',
    )
    assert.deepEqual(
      requests.map(({ line }) => line),
      [
        'GET accounts/a/records?id=T%2F1',
        'GET accounts/a/transactions/T%2F1/earnings',
        'GET accounts/a/plans/ib/versions/2',
      ],
    )
    assert.equal(
      (await admin(base, ['records', 'earnings', 'a', 'none'])).stdout,
      'No record is stored under this id.\n',
    )
  })

  test('records earnings: says what each line counts of a record', async () => {
    const { base } = await withDeposit({ state: { ...WAITS, reason: 'counted' }, lines: [LINE] })
    const { stdout } = await admin(base, ['records', 'earnings', 'a', 'T/1'])
    assert.match(
      stdout,
      /200\.00 EUR once for the customer, by the rule “cpa” of Standard IB, for the affiliate A-1 in October 2026: lin_1/,
    )
  })

  test('unearned show: says why in words, and with --json prints what the API returned', async () => {
    const group = { ...WAITS, resource: 'transactions', transaction_type: 'deposit', count: 9 }
    const body = { data: [{ ...group, eventname: null, currency: 'EUR' }] }
    const { base } = await service(({ line }) => ({
      body: line.includes('/versions/2') ? { terms: TERMS } : body,
    }))
    const args = ['unearned', 'show', 'a', '--period', '2026-10']
    assert.match(
      (await admin(base, args)).stdout,
      /9 deposits .*The rule “cpa” waits until lots traded reach 5 within 30 days of the signup\./,
    )
    assert.deepEqual(JSON.parse((await admin(base, [...args, '--json'])).stdout), body)
  })

  for (const [open_total, note] of [
    [0, ''],
    [1, 'Closed for all but 1 affiliate.\n'],
    [2, 'Closed for all but 2 affiliates.\n'],
  ] as const) {
    test(`periods approve: names ${open_total} affiliates that stay open`, async () => {
      const detail = 'Or approve it with `"leave_out_holds": true`.'
      const refused = open_total === 0 ? [] : [{ id: 'stm_1', code: 'holds', detail }]
      const body = { closed: true, open_total, approved: 1, waiting: 0, refused }
      const { base } = await service(() => ({ body }))
      const { code, stdout, stderr } = await admin(base, ['periods', 'approve', 'a', '2026-10'])
      assert.deepEqual([code, stderr], [0, note])
      assert.equal(stdout.includes('`--leave-out-holds`'), open_total > 0)
      assert.doesNotMatch(stdout, /leave_out_holds/)
    })
  }

  test('statements approve: names the option that leaves out holds', async () => {
    const detail = 'Approve it with `"leave_out_holds": true`.'
    const { base } = await service(() => problem(409, { detail }))
    const args = ['statements', 'approve', 'a', 'stm_1', '--hash', 'f'.repeat(64)]
    assert.match((await admin(base, args)).stderr, /Approve it with `--leave-out-holds`\./)
  })

  test('plans templates: lists the templates without an address or a key', async () => {
    const { code, stdout } = await start('', ['plans', 'templates'], { env: {}, cwd: '.' })
    assert.equal(code, 0)
    for (const file of readdirSync('examples/plans')) {
      assert.ok(stdout.includes(`│ ${file.replace('.json', '')} `), file)
    }
    assert.match(stdout, /│ hybrid +│ Hybrid: .* │ EUR +│ month +│ once, share +│/)
  })

  test('plans templates --print: prints a file that plans put reads', async () => {
    const { base, requests } = await service(() => ({ body: THING }))
    const { stdout } = await admin('', ['plans', 'templates', '--print', 'cpa'])
    await admin(base, ['plans', 'put', 'a', 'p', file('cpa.json', stdout)])
    const template = JSON.parse(readFileSync('examples/plans/cpa.json', 'utf8'))
    assert.deepEqual(requests[0]?.body, template)
    const json = await admin('', ['plans', 'templates', '--print', 'cpa', '--json'])
    assert.deepEqual(JSON.parse(json.stdout), template)
  })

  test('plans templates --print: names the templates if there is no such one', async () => {
    const { code, stderr } = await admin('', ['plans', 'templates', '--print', '../plans/cpa'])
    assert.equal(code, 2)
    assert.match(
      stderr,
      /^admin: There is no template `\.\.\/plans\/cpa`\. Use cpa, first-deposit-cpa, hybrid, /,
    )
  })

  test('fraud sets: lists the rules of each set without an address or a key', async () => {
    const { code, stdout } = await start('', ['fraud', 'sets'], { env: {}, cwd: '.' })
    assert.equal(code, 0)
    for (const vertical of ['forex', 'igaming', 'prop-trading']) {
      const rules = JSON.parse(readFileSync(`examples/fraud-rules/${vertical}.json`, 'utf8'))
      for (const rule of Object.keys(rules)) {
        assert.match(stdout, new RegExp(`│ ${vertical} +│ ${rule} +│`))
      }
    }
  })

  test('fraud version: says the rule in words', async () => {
    const { base } = await service(() => ({ body: RULE_VERSION }))
    const { stdout } = await admin(base, ['fraud', 'version', 'a', 'r', '2'])
    assert.deepEqual(stdout.split('\n').slice(0, 4), [
      'Opens a case when a customer paid at least 4 fees for challenges and resets in 14 days.',
      'It reads the records of all affiliates.',
      'Its cases are of low severity.',
      '',
    ])
    assert.equal(stdout.match(/effective_from/g)?.length, 1)
  })

  test('fraud case: what figures are made of, and what they leave out, are tables', async () => {
    const figure = { name: 'payout', value: '9', comparison: 'more_than', threshold: '8' }
    const made_of = [{ name: 'profit', value: '8', unit: 'EUR' }]
    const left_out = [{ currency: 'XOF', amounts: 2 }]
    const withParts = { ...figure, unit: 'EUR', made_of, left_out }
    const whole = { case_id: 'case_1', figures: [withParts, { ...figure, unit: 'EUR' }] }
    const { base } = await service(() => ({ body: whole }))
    const { stdout } = await admin(base, ['fraud', 'case', 'a', 'case_1'])
    assert.match(stdout, /\nfigures:\n.*│ payout │ 9 +│ more_than +│ 8 +│ EUR +│\n/s)
    assert.match(stdout, /\nmade_of:\n.*│ payout │ profit │ 8 +│ EUR +│\n/s)
    assert.match(stdout, /\nleft_out:\n.*│ payout │ XOF +│ +2 │\n/s)
    const { base: plain } = await service(() => ({ body: { ...whole, figures: [figure] } }))
    const { stdout: without } = await admin(plain, ['fraud', 'case', 'a', 'case_1'])
    assert.doesNotMatch(without, /made_of|left_out/)
  })

  test('fraud put: reads a rule of a set, and what fraud version --json printed', async () => {
    const { base, requests } = await service(() => ({ body: THING }))
    const { stdout } = await admin('', ['fraud', 'sets', '--print', 'forex'])
    const set = file('set.json', stdout)
    const rules = JSON.parse(readFileSync('examples/fraud-rules/forex.json', 'utf8'))
    await admin(base, ['fraud', 'put', 'a', 'lot-churn', set])
    const terms = { kind: 'resets', name: 'R' }
    const printed = file('version.json', JSON.stringify({ rule: 'r', version: 2, terms }))
    await admin(base, ['fraud', 'put', 'a', 'r', printed])
    const bodies = requests.map(({ body }) => body)
    assert.deepEqual(bodies, [rules['lot-churn'], terms])
    const { code, stderr } = await admin(base, ['fraud', 'put', 'a', 'other', set])
    assert.equal(code, 2)
    assert.match(stderr, /has no rule `other`\. It has shared-identity, /)
  })

  test('runs start: says how to see the progress', async () => {
    const { base } = await service(() => ({ status: 202, body: { id: 'run_1' } }))
    const { stderr } = await admin(base, ['runs', 'start', 'a', '2026-10'])
    assert.equal(stderr, 'The run continues in the background. `runs show` shows its progress.\n')
  })

  test('statements list: has a column for each figure', async () => {
    const money = { opening: '0.00', total: '6.00', payable: '0.00', closing: '6.00' }
    const statement = { id: 'stm_1', affiliate_id: 'A-1', ...money, holds: [{ count: 1 }] }
    const { base } = await service(() => ({ body: page([statement]) }))
    const { stdout } = await admin(base, ['statements', 'list', 'a'])
    assert.match(stdout, /│ id .* │ opening │ total │ payable │ closing │/)
    assert.match(stdout, /│ 0\.00 {4}│ 6\.00 {2}│ 0\.00 {4}│ 6\.00 {4}│/)
    const { code } = await admin(base, ['statements', 'list', 'a', '--period', '2026'])
    assert.equal(code, 2)
  })

  /** Serves two pages of a text, which `Link` connects. */
  const twoPages = (type: string, pages: readonly [string, string]) => (seen: Seen) => {
    const isSecond = seen.line.includes('cursor=')
    const link = `<https://x.example/admin/v1/accounts/a/statements?per_page=200&cursor=two>; rel="next"`
    const headers = { 'Content-Type': type, ...(!isSecond && { Link: link }) }
    return { headers, body: pages[isSecond ? 1 : 0] }
  }

  test('statements export: joins the pages of CSV under one header', async () => {
    const { base, requests, lines } = await service(
      twoPages('text/csv', ['id,amount\r\nstm_1,-5.00\r\n', 'id,amount\r\nstm_2,1.00\r\n']),
    )
    const args = ['statements', 'export', 'a', '--period', '2026-10', '--format', 'csv']
    const { stdout } = await admin(base, args)
    assert.equal(stdout, 'id,amount\nstm_1,-5.00\nstm_2,1.00\n')
    assert.deepEqual(lines(), [
      'GET accounts/a/statements?per_page=200&period=2026-10',
      'GET accounts/a/statements?per_page=200&cursor=two',
    ])
    assert.deepEqual(new Set(requests.map(({ accept }) => accept)), new Set(['text/csv']))
  })

  test('--excel stands for the format CSV, and refuses another', async () => {
    const { base, requests } = await service(
      twoPages('text/csv', ['id,amount\r\nstm_1,-5.00\r\n', 'id,amount\r\nstm_2,1.00\r\n']),
    )
    const command = ['statements', 'export', 'a', '--period', '2026-10', '--excel']
    const { stdout } = await admin(base, command)
    assert.equal(stdout, '\ufeffid,amount\nstm_1,-5.00\nstm_2,1.00\n')
    assert.equal(requests[0]!.accept, 'text/csv')
    const message = '`--excel` prints CSV: leave `--format` out.'
    assert.throws(() => readArguments([...command, '--format', 'html']), { exitCode: 2, message })
  })

  test('statements export: joins printable pages, with the style sheet in the file', async () => {
    const pageWith = (notice: string, article: string) =>
      `<head><link rel="stylesheet" href="https://x.example/assets/statement.css"></head>\n<header>\n<h1>S</h1>\n${notice}</header>\n<main>\n${article}</main>\n</body>\n`
    const { base } = await service(
      twoPages('text/html', [
        pageWith('<p class="notice">1 of 2</p>\n', '<article>one $& \u001b</article>\n'),
        pageWith('', '<article>two</article>\n'),
      ]),
    )
    const { stdout } = await admin(base, ['statements', 'export', 'a', '--format', 'html'])
    const style = readFileSync('public/assets/statement.css', 'utf8')
    const articles = '<article>one $& \\u001b</article>\n<article>two</article>\n'
    const expected = pageWith('', articles).replace(
      /<link[^>]*>/,
      () => `<style>\n${style}</style>`,
    )
    assert.equal(stdout, expected)
  })

  test('statements export --statement: requests all parts', async () => {
    const { base, lines } = await service(({ line }) => ({
      body: { hash: 'h', lines: [{ id: line.slice(-1) }], adjustments: [], parts: 2 },
    }))
    const args = ['statements', 'export', 'a', '--statement', 'stm_1', '--format', 'json']
    const { stdout } = await admin(base, args)
    assert.deepEqual(JSON.parse(stdout).lines, [{ id: '1' }, { id: '2' }])
    assert.deepEqual(lines(), [
      'GET accounts/a/statements/stm_1',
      'GET accounts/a/statements/stm_1?part=2',
    ])
    const { code, stderr } = await admin(base, [...args, '--plan', 'p'])
    assert.equal(code, 2)
    assert.match(stderr, /Leave the other filters out/)
  })

  for (const [args, line, body, answer] of CALLS) {
    test(`${args.slice(0, 2).join(' ')}: sends its request, prints the JSON of the API`, async () => {
      const reply = answer ? { body: answer } : { status: 204 }
      const { base, requests } = await service(() => reply)
      const { code, stdout } = await admin(base, [...args, '--json'])
      assert.deepEqual([code, stdout], [0, answer ? `${JSON.stringify(answer)}\n` : ''])
      assert.deepEqual(requests, [{ line, body, key: `Bearer ${KEY}`, nth: 0 }])
    })
  }

  test('a process prints the same, and sends the same request', async () => {
    const [[args, line]] = CALLS as [(typeof CALLS)[number]]
    const { base, requests } = await service(() => ({ body: ONE }))
    const { code, stdout, stderr } = await start(base, [...args, '--json'])
    assert.deepEqual([code, stdout, stderr], [0, `${JSON.stringify(ONE)}\n`, ''])
    assert.deepEqual(requests, [{ line, body: undefined, key: `Bearer ${KEY}`, nth: 0 }])
  })

  test('prints a list as a table', async () => {
    const account = { account: 'acme', name: 'Acme', policies: { unknown_customer: 'hold' } }
    const { base } = await service(() => ({ body: page([{ ...account, disabled: true }]) }))
    const { stdout } = await admin(base, ['accounts', 'list'])
    assert.match(stdout, /│ account │ name │ .* │ unknown_customer │ .* │ disabled │/)
    assert.match(stdout, /│ acme {4}│ Acme │ .* │ hold {13}│ .* │ yes {6}│/)
  })

  test('prints an object as one line per member, and its lists as tables', async () => {
    const errors = [{ index: 0, key: { customer_id: 'C' }, pointer: '/0/currency' }]
    const body = { delivery_id: 'dlv_1', summary: { received: 3 }, errors }
    const { base } = await service(() => ({ body }))
    const { stdout } = await admin(base, ['deliveries', 'get', 'a', 'dlv_1'])
    assert.match(stdout, /^delivery_id {7}dlv_1\nsummary.received {2}3\nerrors:\n/)
    assert.match(stdout, /│ {5}0 │ customer_id=C │ \/0\/currency │\n/)
  })

  test('warns if the quotas of a database are larger than the database', async () => {
    const overcommitted = { accounts: 3, storage_quotas: 12_884_901_888, database_limit: 1e10 }
    const body = { account: 'a', binding: 'DB', overcommitted }
    const { base } = await service(() => ({ status: 201, body }))
    for (const typed of ['create a --name N --vertical forex', 'change a --storage-quota 9']) {
      const { code, stderr } = await admin(base, ['accounts', ...typed.split(' ')])
      assert.equal(code, 0)
      assert.match(stderr, /3 accounts in DB are 12\.88 GB together, .* has 10\.00 GB/)
    }
  })

  test('names the book zone of control totals', async () => {
    const days = ['--from', '2026-10-01', '--to', '2026-10-01']
    const totalsOf = async (body: object) => {
      const { base } = await service(() => ({ body: { data: [], ...body } }))
      return (await admin(base, ['totals', 'a', ...days])).stderr
    }
    assert.match(await totalsOf({ book_zone: 'Asia/Tokyo' }), /on their day in Asia\/Tokyo/)
    assert.equal(await totalsOf({}), '')
  })

  test('prints a report as a table with its totals, and what the figures lack', async () => {
    const lacking = { metric: 'lots', currency: null, reason: 'no_currency', amount: '5' }
    const body = {
      group_by: ['day'],
      data: [{ groups: { day: '2026-10-01' }, metrics: { lots: '1' }, unconverted: [] }],
      totals: { metrics: { lots: '1' }, unconverted: [lacking] },
      notes: [{ metric: 'clicks', reason: 'not_kept', detail: 'Clicks are kept for 30 days.' }],
    }
    const { base } = await service(() => ({ body }))
    const { stdout, stderr } = await admin(base, ['reports', 'a', ...SPAN, '--by', 'day'])
    assert.match(stdout, /day .* lots .*\n.*\n.* 2026-10-01 .* 1 .*\n.* total .* 1 /)
    assert.equal(
      stderr,
      'lots lacks 5 without a currency (no_currency). clicks: Clicks are kept for 30 days.\n',
    )
  })

  test('prints a sentence for a response without a body', async () => {
    const { base } = await service(() => ({ status: 204 }))
    const { stdout } = await admin(base, ['clients', 'revoke', 'acme', 'c-1'])
    assert.equal(stdout, 'Revoked client c-1 of account acme.\n')
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

  const created_at = '2026-10-01T08:00:00.000Z'
  const notes: [string, object, string][] = [
    [
      'clients rotate a c',
      { client_secret: 's', previous_secret_until: '2026-10-02T08:00:00.000Z' },
      'The previous secret works until 2026-10-02T08:00:00.000Z.',
    ],
    [
      'clients rotate a c --overlap none --yes',
      { client_secret: 's', previous_secret_until: null },
      'The previous secret has ended.',
    ],
    [
      'brand-token regenerate a',
      { brand_token: 's', created_at },
      'Any other Brand Token of account a works until 2026-10-02T08:00:00.000Z at the latest.',
    ],
    [
      'brand-token regenerate a --overlap 1h --json',
      { brand_token: 's', created_at },
      'Any other Brand Token of account a works until 2026-10-01T09:00:00.000Z at the latest.',
    ],
    [
      'brand-token regenerate a --overlap none --yes',
      { brand_token: 's', created_at },
      'Any other Brand Token of account a has ended.',
    ],
  ]
  for (const [typed, body, note] of notes) {
    test(`${typed}: says when the previous secret ends`, async () => {
      const { base } = await service(() => ({ status: 201, body }))
      const { code, stderr } = await admin(base, typed.split(' '))
      assert.deepEqual([code, stderr.split('\n').slice(1)], [0, [note, '']])
    })
  }

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

  test('does not warn about a secret if there was no connection', async () => {
    // No server listens on port 2, and no other test can be given it meanwhile.
    const { code, stderr } = await admin('http://127.0.0.1:2', ['clients', 'issue', 'a'])
    assert.equal(code, 1)
    assert.equal(stderr, 'admin: the service cannot be reached (ECONNREFUSED).\n')
  })

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
      '500 customers so far. To continue from here: --from one',
      '500 customers so far. To continue from here: --from two',
    ])
    assert.deepEqual(lines(), [
      'POST erasures/replay',
      'POST erasures/replay?cursor=one',
      'POST erasures/replay?cursor=two',
    ])
  })

  test('an interrupted replay names the cursor that --from continues from', async () => {
    const { base, lines } = await service(replayed(true))
    const { code, stderr } = await admin(base, ['erasures', 'replay', '--account', 'a'])
    assert.equal(code, 1)
    assert.match(stderr, /^500 customers so far. To continue from here: --from one\n/)
    const again = ['erasures', 'replay', '--account', 'a', '--from', 'two', '--json']
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

  test('prints a sentence for an empty list', async () => {
    const { base } = await service(paged(0, 3))
    assert.equal((await admin(base, ['held', 'a'])).stdout, 'The list is empty.\n')
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
    const { code, stdout, stderr } = await start(base, ['accounts', 'disable', 'a', '--json'])
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

  test('prints only the status for the page of a proxy', async () => {
    const { base } = await service(() => ({ status: 404, body: '<html>' }))
    const { code, stderr } = await admin(base, ['feeds'])
    assert.deepEqual([code, stderr], [1, 'admin: 404 The response does not come from Tributary.\n'])
  })

  for (const args of [['feeds'], ['labels', 'set', 'a', 'kyc_status_id', '1=x']]) {
    test(`${args[0]}: retries a 503 after Retry-After`, async () => {
      const body = args[0] === 'feeds' ? ONE : { kyc_status_id: {} }
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
    'accounts disable a': /may have taken effect\. Repeat the command: that is safe\.\n$/,
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
  const confirmed = [
    'accounts reset acme',
    'customers erase acme acme',
    'clients rotate acme acme --overlap none',
    'brand-token regenerate acme --overlap none',
  ]
  test('a process without a terminal needs --yes', async () => {
    const { base, requests } = await service(() => ({ status: 204 }))
    const { code, stderr } = await start(base, ['accounts', 'reset', 'acme'])
    assert.deepEqual([code, requests], [2, []])
    assert.match(stderr, /Add --yes to confirm/)
  })

  for (const typed of confirmed) {
    test(`${typed}: needs --yes without a terminal`, async () => {
      const { base, requests } = await service(() => ({ body: { client_secret: 's' } }))
      const { code, stderr } = await admin(base, typed.split(' '))
      assert.deepEqual([code, requests], [2, []])
      assert.match(stderr, /^admin: [^\n]+ acme [^\n]+ Add --yes to confirm: [^\n]+\n$/)
      const { code: withYes } = await admin(base, [...typed.split(' '), '--yes'])
      assert.deepEqual([withYes, requests.length], [0, 1])
    })
  }

  const overlaps: Record<string, object> = {
    'clients rotate a c': { overlap: '24h' },
    'clients rotate a c --overlap 7d': { overlap: '7d' },
    'brand-token regenerate a': { overlap: '24h' },
    'brand-token regenerate a --overlap none --yes': { overlap: 'none' },
  }
  for (const [typed, body] of Object.entries(overlaps)) {
    test(`${typed}: sends ${JSON.stringify(body)}`, async () => {
      const { base, requests } = await service(() => ({ body: { brand_token: 's' } }))
      const { code } = await admin(base, typed.split(' '))
      assert.deepEqual([code, requests[0]?.body], [0, body])
    })
  }

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

describe('durations', { concurrency: 4 }, () => {
  const feed = (lag_seconds: number | null) => ({ resource: 'customers', lag_seconds })

  test('a table shows lag_seconds in the largest unit', async () => {
    const data = [209, 45, 7_300, 180_000, null].map(feed)
    const { base } = await service(() => ({ body: { data } }))
    const { stdout } = await admin(base, ['feed', 'a'])
    assert.match(stdout, /│ resource {2}│ +lag │\n/)
    for (const lag of ['3 min', '45 s', '2 h', '2 days', '–']) {
      assert.match(stdout, new RegExp(`│ customers │ +${lag} │\n`))
    }
    const { stdout: json } = await admin(base, ['feed', 'a', '--json'])
    assert.deepEqual(JSON.parse(json), { data })
  })

  const durations = { 0: '0 s', 59: '59 s', 60: '1 min', 3599: '59 min', 86400: '1 day' }
  for (const [seconds, text] of Object.entries(durations)) {
    test(`${seconds} seconds are ${text}`, () => assert.equal(roughDuration(Number(seconds)), text))
  }
})

describe('fx', { concurrency: 4 }, () => {
  const CSV = 'Date,USD\r\n2026-10-01,1.1711\r\n'
  const counts = { source: 'ECB', first_day: '2026-10-01', last_day: '2026-10-01', created: 1 }

  test('fx import sends the file as it is', async () => {
    const { base, requests } = await service(() => ({ body: counts }))
    const path = file('rates.csv', CSV)
    const { code, stdout } = await admin(base, ['fx', 'import', path])
    assert.equal(code, 0)
    assert.match(stdout, /created +1\n/)
    await admin(base, ['fx', 'import', path, '--correct'])
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

  test('fx import of a file that does not exist sends nothing', async () => {
    const { base, requests } = await service(() => ({ body: counts }))
    const { code } = await admin(base, ['fx', 'import', 'nowhere.csv'])
    assert.deepEqual([code, requests], [2, []])
  })

  test('fx show asks for the day', async () => {
    const body = {
      day: '2026-10-04',
      rates: [{ currency: 'USD', rate: '1.1684', day: '2026-10-02' }],
      missing: [{ currency: 'BGN', reason: 'fx_missing' }],
    }
    const { base, requests } = await service(() => ({ body }))
    const { stdout } = await admin(base, ['fx', 'show', '2026-10-04'])
    assert.equal(requests[0]!.line, 'GET fx-rates?day=2026-10-04')
    assert.match(stdout, /│ USD +│ 1\.1684 │ 2026-10-02 │/)
    assert.match(stdout, /│ BGN +│ fx_missing │/)
  })
})

describe('payouts', { concurrency: 4 }, () => {
  const PAYOUTS =
    'affiliate_id,currency,amount,reference\r\n\'=1+1,EUR,5.00,R-1\r\n"b,c",EUR,1,R-2\r\n'

  test('import adds the day of --on as a column', async () => {
    const { base, requests } = await service(() => ({ body: { received: 2, paid: 2 } }))
    const path = file('payouts.csv', PAYOUTS)
    const { code } = await admin(base, ['payouts', 'import', 'a', path, '--on', '2026-11-16'])
    assert.equal(code, 0)
    assert.deepEqual(
      requests.map(({ line, body }) => [line, body]),
      [
        [
          'POST accounts/a/payouts',
          'affiliate_id,currency,amount,reference,paid_on\r\n\'=1+1,EUR,5.00,R-1,2026-11-16\r\n"b,c",EUR,1,R-2,2026-11-16\r\n',
        ],
      ],
    )
  })

  test('import leaves it to the service to refuse a file that is not CSV', async () => {
    const { base, requests } = await service(() => ({ body: { received: 0 } }))
    for (const text of ['affiliate_id,"x', '']) {
      const path = file('wrong-payouts.csv', text)
      await admin(base, ['payouts', 'import', 'a', path, '--on', '2026-11-16'])
      assert.equal(requests.at(-1)!.body ?? '', text)
    }
  })

  test('import fills in the days that the file does not have', async () => {
    const { base, requests } = await service(() => ({ body: { received: 2 } }))
    const path = file('paid.csv', 'affiliate_id,paid_on\na,2026-11-15\nb,\n')
    await admin(base, ['payouts', 'import', 'a', path, '--on', '2026-11-16'])
    assert.equal(requests.at(-1)!.body, 'affiliate_id,paid_on\r\na,2026-11-15\r\nb,2026-11-16\r\n')
  })

  test('list --csv has the rows of all pages', async () => {
    const row = { currency: 'EUR', amount: '1.00', statements: 1, payable_on: '2026-11-14' }
    const { base } = await service(({ line }) => {
      const isLast = line.includes('cursor=2')
      const affiliate_id = isLast ? 'B' : 'A'
      return { body: page([{ ...row, affiliate_id, reference: 'R' }], isLast ? null : '2') }
    })
    const { stdout } = await admin(base, ['payouts', 'list', 'a', '--csv'])
    assert.deepEqual(stdout.trimEnd().split('\r\n').slice(1), [
      'A,EUR,1.00,1,2026-11-14,R,,',
      'B,EUR,1.00,1,2026-11-14,R,,',
    ])
    const excel = await admin(base, ['payouts', 'list', 'a', '--excel'])
    assert.equal(excel.stdout, `\ufeff${stdout}`)
  })

  test('list has a row for each due day, and names open cases', async () => {
    const { base } = await service(() => ({
      body: page([
        {
          ...{ affiliate_id: 'A', currency: 'EUR', amount: '3.00', statements: 2 },
          ...{ payable_on: '2026-12-14', reference: 'R' },
          due_days: [
            { payable_on: '2026-11-14', amount: '1.00', statements: 1, reference: 'R1' },
            { payable_on: '2026-12-14', amount: '2.00', statements: 1, reference: 'R2' },
          ],
          open_cases: [{ case_id: 'case_1' }, { case_id: 'case_2' }],
        },
      ]),
    }))
    const { stdout } = await admin(base, ['payouts', 'list', 'a', '--csv'])
    assert.deepEqual(stdout.trimEnd().split('\r\n').slice(1), [
      'A,EUR,1.00,1,2026-11-14,R1,case_1 case_2,',
      'A,EUR,2.00,1,2026-12-14,R2,case_1 case_2,',
    ])
    const table = await admin(base, ['payouts', 'list', 'a'])
    assert.match(table.stdout, /2026-11-14 │ R1 +│ case_1 case_2[^\n]*\n.*2026-12-14 │ R2/)
  })

  test('list --csv leaves out what is held, and says how much that is', async () => {
    const row = { currency: 'EUR', payable_on: '2026-11-14', held_by: [] as string[] }
    const held = { amount: '0.00', statements: 0, amount_held: '4.00', held_by: ['case_1'] }
    const { base } = await service(() => ({
      body: page([
        { ...row, affiliate_id: 'A', amount: '1.00', statements: 1, amount_held: '0.00' },
        { ...row, affiliate_id: 'B', ...held },
      ]),
    }))
    const { stdout, stderr } = await admin(base, ['payouts', 'list', 'a', '--csv'])
    assert.deepEqual(stdout.trimEnd().split('\r\n').slice(1), ['A,EUR,1.00,1,2026-11-14,,,'])
    assert.match(stderr, /Cases hold 1 payout: 4\.00 EUR \(B\)\./)
    const table = await admin(base, ['payouts', 'list', 'a'])
    assert.match(table.stdout, /case_1/)
  })
})

const verbOf = ({ line }: Seen) => line.split(' ')[0]
const isRead = (seen: Seen) => verbOf(seen) === 'GET'

describe('affiliates import', { concurrency: 4 }, () => {
  const counted = ({ body }: Seen) => ({
    body: { received: (body as object[]).length, changed: 1, parents_removed: 2 },
  })

  const listed = (seen: Seen) => (isRead(seen) ? { body: page([]) } : counted(seen))

  test('sends parents first, in requests of 1000, and adds up the counts', async () => {
    const { base, requests } = await service(listed)
    // Chains of 50: each affiliate is below the next one of the file.
    const lines = Array.from(
      { length: 2500 },
      (_, i) => `A-${i},${i % 50 < 49 ? `A-${i + 1}` : ''}`,
    )
    const path = file('a.csv', `\uFEFFaffiliate_id,parent\r\n${lines.join('\r\n')}\r\n`)
    const { code, stdout } = await admin(base, ['affiliates', 'import', 'a', path, '--json'])
    assert.deepEqual([code, stdout], [0, '{"received":2500,"changed":3,"parents_removed":6}\n'])
    const [list, ...puts] = requests
    assert.equal(list && verbOf(list), 'GET')
    const bulks = puts.map(({ body }) => body as { affiliate_id: string }[])
    assert.deepEqual(
      bulks.map(({ length }) => length),
      [1000, 1000, 500],
    )
    const ids = bulks.flat().map(({ affiliate_id }) => affiliate_id)
    assert.deepEqual(
      ids,
      Array.from({ length: 2500 }, (_, i) => `A-${i - (i % 50) + 49 - (i % 50)}`),
    )
    assert.deepEqual(bulks[0]!.slice(0, 2), [
      // An empty cell removes the parent.
      { affiliate_id: 'A-49', parent: null },
      { affiliate_id: 'A-48', parent: 'A-49' },
    ])
  })

  test('sorts parents first and loses no affiliate, in any order of the file', () => {
    const trees = fc
      .array(fc.nat(), { maxLength: 40 })
      .map((ups) => ups.map((up, i) => ({ id: `${i}`, parent: i > 0 ? `${up % i}` : 'stranger' })))
      .chain((tree) => fc.shuffledSubarray(tree, { minLength: tree.length }))
    const property = fc.property(trees, (tree) => {
      const sent = tree.map(({ id, parent }) => ({ affiliate_id: id, parent }))
      const ordered = parentsFirst(sent, 'f')
      assert.deepEqual(new Set(ordered), new Set(sent))
      for (const [i, { parent }] of ordered.entries()) {
        assert.ok(ordered.findIndex(({ affiliate_id }) => affiliate_id === parent) < i)
      }
    })
    fc.assert(property, { seed: Number(process.env.TEST_SEED ?? 3) })
  })

  const malformed: Record<string, [string, RegExp]> = {
    'a repeated affiliate': ['affiliate_id\nA\nB\nA\n', /affiliate `A` occurs twice/],
    'a cycle': ['affiliate_id,parent\nA,B\nB,C\nC,A\n', /affiliate `A` is its own ancestor/],
    'an affiliate that is its own parent': [
      'affiliate_id,parent\nA,A\n',
      /affiliate `A` is its own ancestor/,
    ],
    'no affiliates': ['affiliate_id,parent\n', /has no affiliates/],
    'no header': ['A,B\n', /the header has no field of affiliates/],
  }
  for (const [name, [text, message]] of Object.entries(malformed)) {
    test(`${name} is refused before anything is sent`, async () => {
      const { base, requests } = await service(counted)
      const { code, stderr } = await admin(base, ['affiliates', 'import', 'a', file('a.csv', text)])
      assert.deepEqual([code, requests], [2, []])
      assert.match(stderr, message)
    })
  }

  const twelveHundred = (last: string) =>
    file(
      'a.csv',
      `affiliate_id,parent,from\n${[...Array(1199).keys()].map((i) => `A-${i},,`).join('\n')}\n${last}\n`,
    )

  const unfit: Record<string, [string, RegExp]> = {
    'an unknown parent': ['Z,X,', /affiliate Z \/parent {2}.*`X`/],
    'an invalid day': ['Z,A-1,soon', /affiliate Z \/from {2}.*`soon`/],
    'a circle with what is stored': ['S,T,', /affiliate S \/parent {2}/],
  }
  for (const [name, [last, message]] of Object.entries(unfit)) {
    test(`a file of several requests with ${name} stores nothing`, async () => {
      const parents = [{ from: null, parent: 'S' }]
      const stored = page([
        { affiliate_id: 'T', parents },
        { affiliate_id: 'S', parents: [] },
      ])
      const { base, requests } = await service((seen) =>
        isRead(seen) ? { body: stored } : counted(seen),
      )
      const { code, stderr } = await admin(base, ['affiliates', 'import', 'a', twelveHundred(last)])
      assert.deepEqual([code, requests.map(verbOf)], [2, ['GET']])
      assert.match(stderr, /nothing was changed\./)
      assert.match(stderr, message)
    })
  }

  test('names the affiliate of an error, and counts those set before', async () => {
    const refusal = {
      detail: 'Nothing was changed.',
      errors: [{ pointer: '/1/parent', message: 'No affiliate "X" is configured.', hint: 'H.' }],
    }
    const { base } = await service((seen) =>
      seen.nth === 2 ? problem(422, refusal) : listed(seen),
    )
    const lines = Array.from({ length: 1500 }, (_, i) => `A-${i}`)
    const path = file('a.csv', `affiliate_id\n${lines.join('\n')}\n`)
    const { code, stderr } = await admin(base, ['affiliates', 'import', 'a', path])
    assert.equal(code, 1)
    assert.match(stderr, /This request changed nothing\.\n/)
    assert.match(stderr, /\n {2}affiliate A-1001 \/parent {2}No affiliate "X" is .*\. {2}H\.\n/)
    assert.match(stderr, /1000 affiliates of the file were set before\. Import the file again\.\n$/)
  })
})

describe('assignments import', { concurrency: 4 }, () => {
  const rows = Array.from({ length: 1100 }, (_, i) => `A-${i},p,2026-12-01,new`)
  const answer = ({ body }: Seen) => {
    if (!body) return { body: { data: [{ plan: 'p' }] } }
    const received = (body as object[]).length
    return { body: { received, changed: received, warnings: [], warnings_total: 0 } }
  }
  const path = (...more: string[]) =>
    file('s.csv', `affiliate_id,plan,from,customers\n${[...rows, ...more].join('\n')}\n`)

  const unfit: Record<string, [string, RegExp]> = {
    'a plan that does not exist': ['Z,nope,2026-12-01,new', /affiliate Z \/plan {2}.*`nope`/],
    'an invalid day': ['Z,p,soon,new', /affiliate Z \/from {2}.*`soon`/],
    'an assignment of an earlier request': ['A-1,p,2026-12-01,all', /affiliate A-1 /],
  }
  for (const [name, [last, message]] of Object.entries(unfit)) {
    test(`a file of several requests with ${name} stores nothing`, async () => {
      const { base, requests } = await service(answer)
      const { code, stderr } = await admin(base, ['assignments', 'import', 'a', path(last)])
      assert.deepEqual([code, requests.map(verbOf)], [2, ['GET']])
      assert.match(stderr, /nothing was changed\./)
      assert.match(stderr, message)
    })
  }

  test('sends requests of 1000 and adds up the counts', async () => {
    const { base, requests } = await service(answer)
    const { code, stdout } = await admin(base, ['assignments', 'import', 'a', path(), '--json'])
    const sum = '{"received":1100,"changed":1100,"warnings":[],"warnings_total":0}\n'
    assert.deepEqual([code, stdout], [0, sum])
    assert.deepEqual(requests.map(verbOf), ['GET', 'PUT', 'PUT'])
  })
})

describe('arguments', { concurrency: 4 }, () => {
  const create = 'accounts create a --name N --vertical'
  const put = 'events put a E --granularity day'
  const product = '--product-field and --product must be used together.'
  const clear = 'Add every word as word=Label, or --clear: the whole map is replaced.'
  const wrong: Record<string, string> = {
    'acounts list': 'Unknown command `acounts`. Did you mean accounts?',
    clients: 'Missing command. See --help.',
    'clients rotate a c --overlap 2d': 'Invalid --overlap `2d`. Use none, 1h, 24h or 7d.',
    'accounts get ..': 'Invalid account `..`.',
    'accounts get . --json': 'Invalid account `.`.',
    [`${create} forx`]: 'Invalid --vertical `forx`. Use prop-trading, forex or igaming.',
    [`${create} forex --name M`]: '--name is given twice.',
    [`${create} --mode live`]: 'Invalid --vertical `--mode`. Use prop-trading, forex or igaming.',
    'accounts change a --name --json': 'Missing value of `--name`.',
    'accounts list --limit 0': 'Invalid --limit `0`. Use a whole number of at least 1.',
    'accounts change a':
      'Nothing to change. Add at least one of --name, --address, --locale, --time-zone, --book-zone, --amount-signs, --unknown-customer, --unknown-affiliate, --storage-quota, --approvals, --landing-pages, --exports, --archive-after, --unattributed-threshold, --region, --accent-color, --logo.',
    'accounts change a --storage-quota 1GB':
      'Invalid --storage-quota `1GB`. Use a whole number of bytes.',
    'statements approve a s --hash abc': 'Invalid --hash `abc`. Use 64 hexadecimal digits.',
    'manual add a --amount 1,00': 'Invalid --amount `1,00`. Use a decimal such as 1.00.',
    'unearned show a --period May':
      'Invalid --period `May`. Use a month such as 2026-10 or a week such as 2026-W41.',
    'links change a l':
      'Nothing to change. Add at least one of --landing-page, --name, --pass-query.',
    'totals a --from 2026-10-01 --to tomorrow': 'Invalid --to `tomorrow`. Use YYYY-MM-DD.',
    'labels get a kyc_status_ids':
      'Invalid field `kyc_status_ids`. Use kyc_status_id or sales_status_id.',
    'labels set a kyc_status_id': clear,
    'labels set a kyc_status_id 1=x --clear': clear,
    'labels set a kyc_status_id 1': 'Invalid pair `1`. Use word=Label.',
    'labels set a kyc_status_id 1=x 1=y': '`1` is given twice.',
    [`${put} --product a=casino`]: product,
    [`${put} --product-field F`]: product,
    [`accounts list --admin-key ${KEY}`]: 'Unknown option `--admin-key`.',
    [`accounts list --admin-key=${KEY}`]: 'Unknown option `--admin-key`.',
  }
  for (const [typed, message] of Object.entries(wrong)) {
    test(`"${typed}" is refused in one line`, () => {
      const words = typed === '' ? [] : typed.split(' ')
      assert.throws(() => readArguments(words), { exitCode: 2, message })
    })
  }

  test('an empty argument, such as an unset variable, is missing', () => {
    const message = 'Missing argument `client_id`.'
    assert.throws(() => readArguments(['clients', 'revoke', 'a', '']), { exitCode: 2, message })
  })

  test('after -- a word that begins with a dash is an argument', () => {
    const call = readArguments(['customers', 'erase', '--yes', 'a', '--', '--5'])
    assert.ok('request' in call)
    assert.deepEqual(call.request.query, { customer_id: '--5' })
  })

  test('a customer whose id no path can hold is erased by query parameter', () => {
    for (const customer_id of ['.', '..']) {
      const call = readArguments(['customers', 'erase', '--yes', 'a', customer_id])
      assert.ok('request' in call)
      assert.equal(call.request.path, 'accounts/a/customers/personal-data')
      assert.deepEqual(call.request.query, { customer_id })
    }
  })

  test('wrong arguments send no request, and the exit code is 2', async () => {
    const { base, requests } = await service(() => ({ body: ONE }))
    const { code, stdout, stderr } = await start(base, ['accounts', 'lst'])
    assert.deepEqual([code, stdout, requests], [2, '', []])
    assert.equal(stderr, 'admin: Unknown command `lst`. Did you mean list?\n')
  })

  test('an option that npm consumed is reported before any request', async () => {
    const { base, requests } = await service(() => ({ body: ONE }))
    const env = {
      TRIBUTARY_BASE_URL: base,
      TRIBUTARY_ADMIN_KEY: KEY,
      npm_lifecycle_event: 'admin',
      npm_config_limit: 'true',
    }
    const { code, stderr } = await start('', ['accounts', 'list'], { env })
    assert.deepEqual([code, requests], [2, []])
    assert.match(stderr, /^admin: npm took --limit for itself\. [^\n]+\n$/)
  })

  const helpOf = (words: string[]) => {
    const call = readArguments([...words, '--help'])
    assert.ok('help' in call)
    const tooLong = call.help.split('\n').filter(({ length }) => length > 100)
    // The longest example is a command line, which is not wrapped.
    assert.deepEqual(
      tooLong.filter((line) => !line.startsWith('  npm run admin -- ')),
      [],
    )
    return call.help
  }

  test('--help lists every command, the environment and the exit codes', async () => {
    const { code, stdout } = await start('', ['--help'])
    assert.equal(code, 0)
    for (const { noun } of OPERATIONS) assert.ok(stdout.includes(`\n  ${noun} `), noun)
    assert.match(stdout, /TRIBUTARY_ADMIN_KEY[\s\S]*Exit codes:[\s\S]*Examples:\n/)
    assert.equal(stdout, `${helpOf([])}\n`)
  })

  for (const operation of OPERATIONS) {
    const name = nameOf(operation)
    test(`${name} --help has usage, options and an example`, () => {
      const help = helpOf(name.split(' '))
      assert.ok(help.startsWith(`Usage: npm run admin -- ${name} [options]`), help)
      assert.ok(help.includes(operation.summary))
      for (const option of Object.keys(operation.options ?? {})) {
        assert.match(help, new RegExp(`\n  --${option} `))
      }
      assert.ok(help.endsWith(`Example:\n  npm run admin -- ${name} ${operation.example}`))
    })

    test(`the example of ${name} is a valid command line`, () => {
      const call = readArguments([...name.split(' '), ...operation.example.split(' ')])
      assert.ok('operation' in call)
      assert.equal(call.operation, operation)
    })
  }

  for (const { noun } of OPERATIONS.filter(({ verb }) => verb === 'list')) {
    test(`${noun} --help lists its commands with examples`, () => {
      const help = helpOf([noun])
      for (const operation of OPERATIONS.filter((one) => one.noun === noun)) {
        assert.match(help, new RegExp(`\n  ${operation.verb} \\[options\\]`))
        assert.ok(help.includes(`\n  npm run admin -- ${nameOf(operation)} ${operation.example}`))
      }
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

  test('without an address it says what to do', async () => {
    const { code, stderr } = await start('', ['feeds'], { env: {} })
    assert.equal(code, 2)
    assert.match(stderr, /Run npm run dev, or set TRIBUTARY_BASE_URL and TRIBUTARY_ADMIN_KEY/)
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
