import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { OUTCOME } from '../scripts/docs/explained/outcomes.ts'
import { RULE } from '../scripts/docs/explained/rules.ts'
import { WARNING } from '../scripts/docs/explained/warnings.ts'
import { readArguments } from '../scripts/push/arguments.ts'
import { changedTime } from '../scripts/push/sample/clock.ts'
import type { Report } from '../scripts/push/sample/report.ts'
import { bundleCommand } from './bundle.ts'
import { type Shared, shareService } from './shared-service.ts'

// Runs the samples of each vertical against the service, with accounts like those of the demo.

interface Account {
  account: string
  client_id?: string
  client_secret?: string
  brand_token?: string
}

const root = mkdtempSync(join(tmpdir(), 'sample-'))
let demo: { base_url: string; admin_key: string; accounts: Account[] }

/** Runs the samples of a vertical. Asserts that the output has no secret. */
async function run(vertical: string, args: string[] = [], own: Record<string, string> = {}) {
  const env = Object.entries(process.env).filter(([name]) => !name.startsWith('TRIBUTARY_'))
  const command = [join(root, 'push.mjs'), '--sample', vertical, ...args]
  const ran = await new Promise<{ code: number; stdout: string; stderr: string }>((done) => {
    const options = { cwd: root, env: { ...Object.fromEntries(env), ...own } }
    const child = execFile(process.execPath, command, options, (_, stdout, stderr) =>
      done({ code: child.exitCode!, stdout, stderr }),
    )
  })
  const secrets = demo.accounts.flatMap(({ client_secret, brand_token }) => [
    client_secret,
    brand_token,
  ])
  for (const secret of [demo.admin_key, ...secrets, ...Object.values(own)]) {
    if (secret && !secret.startsWith('http') && secret.length > 36) {
      assert.ok(!(ran.stdout + ran.stderr).includes(secret))
    }
  }
  return ran
}

async function report(vertical: string, own: Record<string, string> = {}): Promise<Report> {
  const { code, stdout, stderr } = await run(vertical, ['--json'], own)
  assert.equal(code, 0, stdout + stderr)
  return JSON.parse(stdout)
}

async function admin<T>(method: string, path: string, body: object): Promise<T> {
  const response = await fetch(`${demo.base_url}/admin/v1/accounts${path}`, {
    method,
    headers: { Authorization: `Bearer ${demo.admin_key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  assert.ok(response.ok, await response.clone().text())
  return (await response.json()) as T
}

/** Returns the codes of all results, sorted and with repetitions. */
const codesOf = ({ steps }: Report) =>
  steps
    .flatMap(({ records }) => records)
    .flatMap(({ answered: { errors, warnings } }) => [
      ...errors.map(({ code }) => `error ${code}`),
      ...warnings.map(({ code }) => `warning ${code}`),
    ])
    .sort()

/** Returns all codes except those that this vertical never receives. */
function allCodesExcept(never: string[]): string[] {
  const codes = [
    ...Object.keys(RULE).map((code) => `error ${code}`),
    ...Object.keys(WARNING).map((code) => `warning ${code}`),
  ]
  for (const code of never) assert.ok(codes.includes(code), `${code} is not a code`)
  return codes.filter((code) => !never.includes(code)).sort()
}

const outcomes = ({ steps }: Report) =>
  [...new Set(steps.flatMap(({ records }) => records.map((one) => one.answered.outcome)))].filter(
    (outcome) => outcome !== undefined,
  )

const notShown = ({ not_shown }: Report) => not_shown.map(({ shows }) => shows)

/** Codes for the integrations team only: those of affiliates, plans and exchange rates. */
const FOR_TEAM = [
  'error amount_differs',
  'error choice',
  'error circle',
  'error duplicate',
  'error fixed_by_plan',
  'error held_by_case',
  'error maximum',
  'error not_applicable',
  'error nothing_due',
  'error not_paid',
  'error order',
  'error rate_differs',
  'error reference_used',
  'error unknown_reference',
]

/** Codes for the team or for brands only. */
const NOT_FOR_PARTNERS = [
  ...FOR_TEAM,
  'error field_case',
  'error no_kpi',
  'error idempotency_key_reused',
  'warning unattributed',
  'warning unrecognised',
  'warning not_a_number',
  'warning not_deduplicated',
  'warning no_createtime',
  'warning skipped_time',
  'warning ambiguous_time',
  'warning unmapped_product',
  'warning field_case',
  'warning unknown_event',
  'warning no_regtime',
  'warning repeated_key',
  'warning changed_event',
]

/** Codes for the team or for partners only. */
const NOT_FOR_BRANDS = [
  ...FOR_TEAM,
  'error unknown_field',
  'error date',
  'error pattern',
  'error email',
  'error decimals',
  'error minimum',
  'error enum',
  'error duplicate_key',
  'error unknown_affiliate',
  'warning unknown_affiliate',
  'warning conflict',
  'warning amount_usd',
]

/** Returns all outcomes except one: brands never receive `stale`, for example. */
const outcomesExcept = (one: string) => Object.keys(OUTCOME).filter((name) => name !== one)

describe('npm run push -- --sample', { timeout: 600_000 }, () => {
  let service: Shared
  before(async () => {
    service = await shareService('sample')
    bundleCommand('push', root)
    demo = service.demo
    writeFileSync(join(root, '.demo.json'), JSON.stringify(demo))
  })
  after(async () => {
    rmSync(root, { recursive: true })
    await service?.stop()
  })

  for (const vertical of ['forex', 'prop-trading']) {
    test(`${vertical}: shows each code once with the policies of a new account`, async () => {
      const sampleRun = await report(vertical)
      const missing = ['error unknown_affiliate', 'warning erased']
      assert.deepEqual(codesOf(sampleRun), allCodesExcept([...NOT_FOR_PARTNERS, ...missing]))
      assert.deepEqual(outcomes(sampleRun).sort(), outcomesExcept('held').sort())
      assert.deepEqual(notShown(sampleRun), [missing[0], 'outcome held', missing[1]])
    })
  }

  test('igaming: shows each code once in a time zone with daylight saving time', async () => {
    await admin('PATCH', '/sample-brand', { time_zone: 'Europe/Berlin' })
    const sampleRun = await report('igaming')
    const missing = [
      'error unknown_customer',
      'warning affiliation_changed',
      'warning erased',
      'warning negative_amount',
      'warning unmapped_status',
      'warning unknown_event',
    ]
    assert.deepEqual(codesOf(sampleRun), allCodesExcept([...NOT_FOR_BRANDS, ...missing]))
    assert.deepEqual(outcomes(sampleRun).sort(), outcomesExcept('stale').sort())
    assert.deepEqual(notShown(sampleRun), missing)
  })

  test('shows results that need another policy under that policy', async () => {
    const policies = { unknown_customer: 'hold', unknown_affiliate: 'reject' }
    await admin('PATCH', '/sample-forex', policies)
    const sampleRun = await report('forex')
    const missing = ['warning unknown_affiliate', 'error unknown_customer', 'warning erased']
    assert.deepEqual(codesOf(sampleRun), allCodesExcept([...NOT_FOR_PARTNERS, ...missing]))
    assert.deepEqual(outcomes(sampleRun).sort(), Object.keys(OUTCOME).sort())
    assert.deepEqual(notShown(sampleRun).sort(), missing.sort())
  })

  test('stores nothing in a live account, and shows the other results', async () => {
    const account = { account: 'live-forex', name: 'Live', vertical: 'forex', mode: 'live' }
    await admin('POST', '', account)
    const client = await admin<Record<string, string>>('POST', '/live-forex/clients', {})
    const env = {
      TRIBUTARY_BASE_URL: demo.base_url,
      TRIBUTARY_CLIENT_ID: client.client_id!,
      TRIBUTARY_CLIENT_SECRET: client.client_secret!,
    }
    const sampleRun = await report('forex', env)
    assert.ok(sampleRun.steps.every(({ stored }) => !stored))
    assert.ok(codesOf(sampleRun).includes('error email'))
    for (const shows of ['outcome updated', 'error currency', 'warning conflict']) {
      assert.ok(notShown(sampleRun).includes(shows), shows)
    }
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: client.client_id!,
      client_secret: client.client_secret!,
    })
    const token = await fetch(`${demo.base_url}/oauth/token`, { method: 'POST', body })
    const { access_token } = (await token.json()) as { access_token: string }
    const headers = { Authorization: `Bearer ${access_token}` }
    const list = await fetch(`${demo.base_url}/api/v1/forex/customers`, { headers })
    assert.equal(((await list.json()) as { meta: { total: number } }).meta.total, 0)
  })

  test('stores nothing with --dry-run', async () => {
    const { code, stdout } = await run('igaming', ['--json', '--dry-run'])
    assert.equal(code, 0)
    const sampleRun: Report = JSON.parse(stdout)
    assert.ok(sampleRun.steps.every(({ stored }) => !stored))
    assert.ok(notShown(sampleRun).includes('error idempotency_key_reused'))
  })

  test('prints each record with its result, the cause and the fix', async () => {
    const { code, stdout } = await run('prop-trading')
    assert.equal(code, 0)
    assert.match(
      stdout,
      /✓ error enum → rejected\n +sent +"transaction_type":"challenge-fee"\n +answered .*\n[^✓]*hint +Did you mean `challenge_fee`\?\n +why [^✓]*fix /,
    )
    assert.match(stdout, /Not shown:[\s\S]*warning erased +because/)
    assert.match(stdout, /\nEvery response is the expected one\.\n$/)
  })

  test('marks an unexpected response, with exit code 1', async () => {
    // With this definition only Value is a KPI, so the event has none.
    const definition = { granularity: 'event', kpis: [] }
    await admin('PUT', '/sample-brand/events/sample_bet', definition)
    const { code, stdout } = await run('igaming')
    assert.equal(code, 1)
    assert.match(stdout, /✗ warning not_a_number → rejected\n[\s\S]*answered +no_kpi/)
    assert.match(stdout, /\nUnexpected responses, marked with ✗: 1\.\n$/)
  })
})

describe('--sample', () => {
  test('cannot be combined with files or a resource', () => {
    const wrong = [['a.csv'], ['--vertical', 'forex'], ['--resource', 'customers']]
    for (const args of wrong) {
      assert.throws(() => readArguments(['--sample', 'forex', ...args]), { exitCode: 2 })
    }
    assert.throws(() => readArguments(['--sample', 'forx']), { exitCode: 2 })
  })

  test('finds a local time that a clock change skipped or repeated', () => {
    const now = Date.parse('2026-11-20T12:00:00Z')
    assert.equal(changedTime('Europe/Berlin', true, now), '2026-03-29 02:30')
    assert.equal(changedTime('Europe/Berlin', false, now), '2026-10-25 02:30')
    assert.equal(changedTime('Australia/Lord_Howe', true, now), '2026-10-04 02:15')
    assert.equal(changedTime('UTC', true, now), null)
    assert.equal(changedTime('Asia/Tokyo', false, now), null)
  })
})
