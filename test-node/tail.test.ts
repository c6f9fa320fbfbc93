import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { after, test } from 'node:test'
import { runAdmin } from '../scripts/admin/run.ts'
import { bundleCommand } from './bundle.ts'

// `npm run admin -- tail` against a service that stores deliveries while it is requests, out of order.

const ROOT = mkdtempSync(join(tmpdir(), 'tail-'))
const servers: ReturnType<typeof createServer>[] = []
after(() => {
  for (const server of servers) server.close()
  rmSync(ROOT, { recursive: true })
})

const at = (second: number) => new Date(Date.UTC(2030, 9, 2, 10, 0, second)).toISOString()

/** A delivery that was received at a second, and is stored at the nth request for the list. */
const delivery = (second: number, stored: number, errors_total = 0) => ({
  stored,
  body: {
    delivery_id: `dlv_${second}`,
    received_at: at(second),
    resource: 'transactions',
    status: errors_total > 0 ? 422 : 200,
    dry_run: false,
    summary: { received: 2, created: errors_total > 0 ? 0 : 2, rejected: errors_total },
    errors_total,
  },
})

const errors = [
  {
    code: 'currency',
    pointer: '/1/currency',
    index: 1,
    key: { transaction_id: 'T-9' },
    message: 'It is not a currency.',
    hint: 'EUR?',
  },
]

/** Starts a service with these deliveries. `fails` are the numbers of requests that get 503. */
async function service(deliveries: ReturnType<typeof delivery>[], fails: readonly number[] = []) {
  const requests: string[] = []
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://127.0.0.1')
    requests.push(request.url!.replace('/admin/v1/accounts/acme/', ''))
    const send = (status: number, body: object) => {
      response.writeHead(status, { 'Content-Type': 'application/json', 'Retry-After': '0' })
      response.end(JSON.stringify(body))
    }
    const one = deliveries.find(({ body }) => pathname.endsWith(body.delivery_id))
    if (one) return send(200, { ...one.body, errors })
    const nth = requests.filter((line) => line.startsWith('deliveries?')).length
    if (fails.includes(nth)) return send(503, { title: 'T', status: 503, code: 'unavailable' })
    const data = deliveries
      .filter(
        ({ stored, body }) => stored <= nth && body.received_at >= (searchParams.get('from') ?? ''),
      )
      .map(({ body }) => body)
      .sort((a, b) => (a.received_at < b.received_at ? 1 : -1))
    send(200, { data, meta: { total: data.length, next_cursor: null } })
  }).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { requests, env: { TRIBUTARY_BASE_URL: base, TRIBUTARY_ADMIN_KEY: 'key' } }
}

/** Follows until so many deliveries are printed, and returns what was printed. */
async function follow(env: Record<string, string>, count: number, options: string[] = []) {
  const controller = new AbortController()
  const printed: string[] = []
  const errors: string[] = []
  const code = await runAdmin(['tail', 'acme', '--interval', '1', ...options], {
    env,
    terminal: { input: new PassThrough(), output: new PassThrough() } as never,
    print(text) {
      printed.push(text)
      if (printed.length === count) controller.abort()
    },
    printError: (text) => errors.push(text),
    interruption: () => controller.signal,
  })
  return { code, printed, errors }
}

test('prints each delivery once, oldest first, also one that is stored late', async () => {
  const { env, requests } = await service([
    delivery(1, 1),
    delivery(5, 1, 2),
    delivery(9, 2),
    delivery(7, 3),
  ])
  const { code, printed } = await follow(env, 4)

  assert.equal(code, 0)
  assert.deepEqual(printed, [
    `${at(1)}  dlv_1  200 transactions  received 2, created 2`,
    `${at(5)}  dlv_5  422 transactions  received 2, rejected 2\n    currency at /1/currency transaction_id=T-9: It is not a currency. EUR?`,
    `${at(9)}  dlv_9  200 transactions  received 2, created 2`,
    `${at(7)}  dlv_7  200 transactions  received 2, created 2`,
  ])
  // The first request asks for the last ten, later ones for what is newer than 30 s before the last.
  assert.equal(requests[0], 'deliveries?per_page=10')
  assert.equal(requests[1], 'deliveries/dlv_5')
  assert.equal(
    requests[2],
    `deliveries?${new URLSearchParams({ from: at(5 - 30), per_page: '500' })}`,
  )
})

test('--json prints an object a line, and options narrow the list', async () => {
  const { env, requests } = await service([delivery(1, 1), delivery(5, 1, 2)])
  const { printed } = await follow(env, 2, ['--json', '--status', 'refused'])
  const objects = printed.map((line) => JSON.parse(line))

  assert.deepEqual(
    objects.map(({ delivery_id, errors }) => [delivery_id, errors?.length]),
    [
      ['dlv_1', undefined],
      ['dlv_5', 1],
    ],
  )
  assert.equal(requests[0], 'deliveries?status=refused&per_page=10')
})

test('Ctrl-C ends the command with exit code 0', { timeout: 120_000 }, async () => {
  const { env } = await service([delivery(1, 1)])
  const command = bundleCommand('admin', ROOT)
  const child = spawn(process.execPath, [command, 'tail', 'acme', '--json'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(child.stdout, 'data')
  assert.equal(JSON.parse(String(line)).delivery_id, 'dlv_1')
  child.kill('SIGINT')
  const [code] = await once(child, 'exit')
  assert.equal(code, 0)
})
