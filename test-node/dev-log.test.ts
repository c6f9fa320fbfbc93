import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { formatLine } from '../scripts/dev/format-log.ts'
import { sendLocal } from '../scripts/dev/send-local.ts'

// The lines that `npm run dev` shows of what wrangler and the Worker print.

const logged = (line: object) => JSON.stringify({ request_id: 'r', ...line })

const SHOWN: Record<string, [line: string, shown: string]> = {
  'a request': [
    logged({ method: 'GET', route: '/healthz', status: 200, ms: 3 }),
    'GET  /healthz  200  3 ms',
  ],
  'a path with control characters, which are escaped': [
    logged({ method: 'GET', route: '/\u001b[31mx\n/fake', status: 401, ms: 0 }),
    'GET  /\\u001b[31mx\\u000a/fake  401  0 ms',
  ],
  'a delivery with the outcomes that occur': [
    logged({
      account: 'acme',
      method: 'POST',
      route: '/api/v1/forex/customers',
      status: 207,
      ms: 12,
      delivery_id: 'dlv_1',
      outcomes: { received: 5, created: 3, updated: 0, rejected: 2 },
    }),
    'POST  /api/v1/forex/customers  207  12 ms  acme  3 created, 2 rejected',
  ],
  'a fault': [logged({ fault: 'Error', at: ['here'] }), logged({ fault: 'Error', at: ['here'] })],
  'an error of wrangler, without its colours': [
    '\u001B[31m✘ \u001B[41m[ERROR]\u001B[0m no such file',
    '✘ [ERROR] no such file',
  ],
  'a message of the build command': [
    '\u001B[34m[custom build]\u001B[39m Applied 0006_notes.sql.',
    'Applied 0006_notes.sql.',
  ],
}

for (const [title, [line, shown]] of Object.entries(SHOWN)) {
  test(`${title} is shown`, () => assert.equal(formatLine(line), shown))
}

const HIDDEN = [
  '',
  '[wrangler:info] GET /healthz 200 OK (5ms)',
  '\u001B[2m⎔ Reloading local server...\u001B[22m',
  'Your Worker has access to the following bindings:',
  'Binding                                     Resource                  Mode',
  'env.DB (tributary)                          D1 Database               local',
  'The file migrations/0006_notes.sql changed, restarting build...',
  '[custom build] Running: node scripts/build.ts',
  '[custom build] ',
]

for (const line of HIDDEN) {
  test(`\`${line}\` is hidden`, () => assert.equal(formatLine(line), null))
}

test('a request to the local service is sent again after a lost connection and after a fault', async () => {
  let requests = 0
  const server = createServer((request, response) => {
    requests += 1
    if (requests === 1) request.socket.destroy()
    else response.writeHead(requests === 2 ? 503 : 201).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  try {
    const { port } = server.address() as AddressInfo
    const { status } = await sendLocal(`http://127.0.0.1:${port}/`)
    assert.deepEqual([status, requests], [201, 3])
  } finally {
    server.close()
  }
})
