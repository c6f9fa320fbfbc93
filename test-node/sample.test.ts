import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, describe, test } from 'node:test'
import { OUTCOME } from '../scripts/docs/explained/outcomes.ts'
import { RULE } from '../scripts/docs/explained/rules.ts'
import { WARNING } from '../scripts/docs/explained/warnings.ts'
import { readArguments } from '../scripts/push/arguments.ts'
import { oddTime } from '../scripts/push/sample/clock.ts'
import type { Report } from '../scripts/push/sample/tell.ts'
import { startService } from './service.ts'

// The first lesson of each vertical, sent to the service as `npm run dev` starts it.

interface Account {
  account: string
  client_id?: string
  client_secret?: string
  brand_token?: string
}

let root: string
let demo: { base_url: string; admin_key: string; accounts: Account[] }

/** Runs the lesson; whatever it prints, no secret is in it. */
async function run(vertical: string, args: string[] = [], own: Record<string, string> = {}) {
  const env = Object.entries(process.env).filter(([name]) => !name.startsWith('TRIBUTARY_'))
  const command = ['scripts/push.ts', '--sample', vertical, ...args]
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

/** Every code that was answered, as often as it was, and in order. */
const answered = ({ steps }: Report) =>
  steps
    .flatMap(({ records }) => records)
    .flatMap(({ answered: { errors, warnings } }) => [
      ...errors.map(({ code }) => `error ${code}`),
      ...warnings.map(({ code }) => `warning ${code}`),
    ])
    .sort()

/** Every code there is, less those that this vertical is never answered. */
function all(never: string[]): string[] {
  const codes = [
    ...Object.keys(RULE).map((code) => `error ${code}`),
    ...Object.keys(WARNING).map((code) => `warning ${code}`),
  ]
  for (const code of never) assert.ok(codes.includes(code), `${code} is no code`)
  return codes.filter((code) => !never.includes(code)).sort()
}

const outcomes = ({ steps }: Report) =>
  [...new Set(steps.flatMap(({ records }) => records.map((one) => one.answered.outcome)))].filter(
    (outcome) => outcome !== undefined,
  )

const notShown = ({ not_shown }: Report) => not_shown.map(({ shows }) => shows)

/** Of affiliates, or of brands only. */
const NO_PARTNER = [
  'error circle',
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
]

/** Of affiliates, or of partners only. */
const NO_BRAND = [
  'error circle',
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
]

/** Where every outcome is met but `held`, or but `stale`, which no brand is answered. */
const outcomesBut = (left: string) => Object.keys(OUTCOME).filter((name) => name !== left)

describe('npm run push -- --sample', { timeout: 180_000 }, () => {
  let service: Awaited<ReturnType<typeof startService>>
  before(async () => {
    service = await startService()
    root = service.root
    demo = service.demo
  })
  after(() => service?.stop())

  for (const vertical of ['forex', 'prop-trading']) {
    test(`${vertical}: each code once, by the policies of a new account`, async () => {
      const lesson = await report(vertical)
      const missing = ['error unknown_affiliate', 'warning erased']
      assert.deepEqual(answered(lesson), all([...NO_PARTNER, ...missing]))
      assert.deepEqual(outcomes(lesson).sort(), outcomesBut('held').sort())
      assert.deepEqual(notShown(lesson), [missing[0], 'outcome held', missing[1]])
    })
  }

  test('igaming: each code once, on a clock that is set twice a year', async () => {
    await admin('PATCH', '/demo-brand', { time_zone: 'Europe/Berlin' })
    const lesson = await report('igaming')
    const missing = ['error unknown_customer', 'warning erased']
    assert.deepEqual(answered(lesson), all([...NO_BRAND, ...missing]))
    assert.deepEqual(outcomes(lesson).sort(), outcomesBut('stale').sort())
    assert.deepEqual(notShown(lesson), missing)
  })

  test('what depends on a policy is shown under the other one', async () => {
    const policies = { unknown_customer: 'hold', unknown_affiliate: 'reject' }
    await admin('PATCH', '/demo-forex', policies)
    const lesson = await report('forex')
    const missing = ['warning unknown_affiliate', 'error unknown_customer', 'warning erased']
    assert.deepEqual(answered(lesson), all([...NO_PARTNER, ...missing]))
    assert.deepEqual(outcomes(lesson).sort(), Object.keys(OUTCOME).sort())
    assert.deepEqual(notShown(lesson).sort(), missing.sort())
  })

  test('in a live account nothing is stored, and the rest is shown all the same', async () => {
    const account = { account: 'live-forex', name: 'Live', vertical: 'forex', mode: 'live' }
    await admin('POST', '', account)
    const client = await admin<Record<string, string>>('POST', '/live-forex/clients', {})
    const env = {
      TRIBUTARY_BASE_URL: demo.base_url,
      TRIBUTARY_CLIENT_ID: client.client_id!,
      TRIBUTARY_CLIENT_SECRET: client.client_secret!,
    }
    const lesson = await report('forex', env)
    assert.ok(lesson.steps.every(({ stored }) => !stored))
    assert.ok(answered(lesson).includes('error email'))
    for (const shows of ['outcome updated', 'error currency', 'warning conflict']) {
      assert.ok(notShown(lesson).includes(shows), shows)
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

  test('with --dry-run nothing is stored in any account', async () => {
    const { code, stdout } = await run('igaming', ['--json', '--dry-run'])
    assert.equal(code, 0)
    const lesson: Report = JSON.parse(stdout)
    assert.ok(lesson.steps.every(({ stored }) => !stored))
    assert.ok(notShown(lesson).includes('error idempotency_key_reused'))
  })

  test('for a reader it says what was sent, answered, why, and how to mend it', async () => {
    const { code, stdout } = await run('prop-trading')
    assert.equal(code, 0)
    assert.match(
      stdout,
      /✓ error enum → rejected\n +sent +"transaction_type":"challenge-fee"\n +answered .*\n[^✓]*hint +Did you mean challenge_fee\?\n +why [^✓]*mend /,
    )
    assert.match(stdout, /Not shown here:[\s\S]*warning erased +because/)
    assert.match(stdout, /\nEvery answer was the one that the lesson expects\.\n$/)
  })

  test('an answer that is not the one expected is marked, and the exit code is 1', async () => {
    // The lesson's event has a definition: its Value alone is a KPI, so what would be one is none.
    const definition = { granularity: 'event', kpis: [] }
    await admin('PUT', '/demo-brand/events/lesson_bet', definition)
    const { code, stdout } = await run('igaming')
    assert.equal(code, 1)
    assert.match(stdout, /✗ warning not_a_number → rejected\n[\s\S]*answered +no_kpi/)
    assert.match(stdout, /\nNot as the lesson expects, see ✗: 1\.\n$/)
  })
})

describe('--sample', () => {
  test('goes with no file and no resource', () => {
    const wrong = [['a.csv'], ['--vertical', 'forex'], ['--resource', 'customers']]
    for (const args of wrong) {
      assert.throws(() => readArguments(['--sample', 'forex', ...args]), { exitCode: 2 })
    }
    const message = 'There is no vertical "forx"; known are: prop-trading, forex, igaming.'
    assert.throws(() => readArguments(['--sample', 'forx']), { exitCode: 2, message })
  })

  test('a time that a clock skipped, or showed twice, is found where there is one', () => {
    const now = Date.parse('2026-11-20T12:00:00Z')
    assert.equal(oddTime('Europe/Berlin', true, now), '2026-03-29 02:30')
    assert.equal(oddTime('Europe/Berlin', false, now), '2026-10-25 02:30')
    assert.equal(oddTime('Australia/Lord_Howe', true, now), '2026-10-04 02:15')
    assert.equal(oddTime('UTC', true, now), null)
    assert.equal(oddTime('Asia/Tokyo', false, now), null)
  })
})
