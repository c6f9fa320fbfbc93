import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { startFlakyProxy } from './flaky-proxy.ts'
import { type Shared, shareService } from './shared-service.ts'

// The client in examples/client, whose types openapi-typescript derives from openapi.json.

const FOLDER = 'examples/client'

let service: Shared
before(async () => {
  service = await shareService('client')
  await run('node_modules/.bin/openapi-typescript', ['../../openapi.json', '-o', 'tributary.d.ts'])
})
after(async () => {
  rmSync(join(FOLDER, 'dist'), { recursive: true, force: true })
  await service?.stop()
})

/** Runs a program in the folder of the client. */
const run = (program: string, args: string[], base = service.demo.base_url) =>
  promisify(execFile)(program, args, { cwd: FOLDER, env: environment(base) })

function environment(base: string) {
  const firm = service.demo.accounts.find(({ vertical }) => vertical === 'forex')!
  return {
    ...process.env,
    TRIBUTARY_BASE_URL: base,
    TRIBUTARY_CLIENT_ID: firm.client_id,
    TRIBUTARY_CLIENT_SECRET: firm.client_secret,
  }
}

/** Returns the nodes of this machine that have this major version. */
const nodesOf = (major: number) =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'node'))
    .filter((path) => existsSync(path))
    .filter((path) =>
      execFileSync(path, ['--version'], { encoding: 'utf8' }).startsWith(`v${major}.`),
    )

/** Sends 2,000 customers to the demo account of the client. */
async function sendCustomers(): Promise<string[]> {
  const { TRIBUTARY_CLIENT_ID: id, TRIBUTARY_CLIENT_SECRET: secret } = environment('')
  const issued = await fetch(`${service.demo.base_url}/oauth/token`, {
    method: 'POST',
    headers: { Authorization: `Basic ${btoa(`${id}:${secret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  })
  const { access_token } = (await issued.json()) as { access_token: string }
  const ids = Array.from({ length: 2000 }, (_, i) => `W-${String(i).padStart(4, '0')}`)
  for (const part of [ids.slice(0, 1000), ids.slice(1000)]) {
    const sent = await fetch(`${service.demo.base_url}/api/v1/forex/customers`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${access_token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(part.map(customerOf)),
    })
    assert.equal(sent.status, 200)
  }
  return ids
}

const customerOf = (customer_id: string) => ({
  customer_id,
  signup_date: '2026-09-01T08:30:00Z',
  affiliate_id: 'IB-07',
  tracking_data: 'click-42',
})

test('the generated types have no errors of their own', async () => {
  // The TypeScript of the repository takes a fifth of the time of the version that the client names.
  const checked = ['--skipLibCheck', 'false', '--skipDefaultLibCheck', 'true']
  await run('../../node_modules/.bin/tsc', ['--noEmit', ...checked])
})

test('npm start compiles the generated client, which gets a token, sends a bulk and lists it', async () => {
  const first = await run('npm', ['start', '--silent'])
  assert.match(first.stdout, /^C-2201 created\nC-2202 created\n/)
  assert.match(first.stdout, /listed C-2201\nlisted C-2202\n/)
  const second = await run(process.execPath, ['dist/first-delivery.js'])
  assert.match(second.stdout, /^C-2201 unchanged\nC-2202 unchanged\n/)
})

test('the client lists 2,000 records once each, and waits out 429 and 503 on its way', async () => {
  const ids = await sendCustomers()
  const isSlow = (path: string) => path.startsWith('/api/v1/forex/customers?')
  const proxy = await startFlakyProxy(service.demo.base_url, [429, 503, 429], isSlow)
  const { stdout } = await run(process.execPath, ['dist/first-delivery.js'], proxy.base).finally(
    proxy.close,
  )
  const listed = [...stdout.matchAll(/^listed (\S+)$/gm)].map(([, id = '']) => id)
  const ofDemo = /^C-33/
  assert.deepEqual(listed.filter((id) => !ofDemo.test(id)).toSorted(), ['C-2201', 'C-2202', ...ids])
  const pages = proxy.seen.filter(({ path }) => isSlow(path))
  assert.equal(pages.length, 3 + Math.ceil(listed.length / 500))
  assert.ok(pages[1]!.at - pages[0]!.at > 900, 'waits for Retry-After')
})

const [node20] = nodesOf(20)
test('the client runs on Node 20', {
  skip: node20 ? false : 'Node 20 is not installed',
}, async () => {
  const { stdout } = await run(node20!, ['dist/first-delivery.js'])
  assert.match(stdout, /^listed C-2202$/m)
})
