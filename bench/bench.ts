import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { newKeySet } from '../scripts/keys.ts'
import { breakdown, verifying } from './breakdown.ts'
import { buildOurs, buildPeer } from './build.ts'
import { compete, timeRoute } from './compete.ts'
import { ours, peer, raw } from './contestants.ts'
import { newBulks } from './records.ts'
import { report } from './report.ts'
import { start } from './worker.ts'

// Records a second in bulks of 1000, next to what the platform could do at most:
// `npm run bench [-- --rounds 5 --bulks 8]`.

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    bulks: { type: 'string', default: '8' },
  },
})

/** Within the limits that the service sets: 60 tokens an hour, 1000 requests a minute for each. */
function count(name: keyof typeof values, most: number): number {
  const n = Number(values[name])
  if (Number.isInteger(n) && n >= 1 && n <= most) return n
  console.error(`--${name} is a whole number from 1 to ${most}.`)
  process.exit(2)
}
const rounds = count('rounds', 50)
const bulks = count('bulks', 200)

const folder = mkdtempSync(join(tmpdir(), 'tributary-bench-'))
const ends: (() => unknown)[] = []
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

/** Starts a Worker that ends with this process. */
async function serve(name: string, script: string, more?: Parameters<typeof start>[2]) {
  const running = await start(script, join(folder, name), more)
  ends.push(running.end)
  return running
}

try {
  const issuer = { BASE_URL: 'http://127.0.0.1', SIGNING_KEYS: await newKeySet() }
  const service = await serve('ours', await buildOurs(join(folder, 'build')), {
    env: {
      BASE_URL: { type: 'text', value: issuer.BASE_URL },
      SIGNING_KEYS: { type: 'text', value: issuer.SIGNING_KEYS },
      ADMIN_KEY: { type: 'text', value: 'admin-key-of-the-bench' },
      TOKEN_GATE: { type: 'durable-object', exportName: 'TokenGate', worker: 'bench' },
      CLIENT_GATE: { type: 'durable-object', exportName: 'ClientGate', worker: 'bench' },
    },
    exports: {
      TokenGate: { type: 'durable-object', storage: 'sqlite' },
      ClientGate: { type: 'durable-object', storage: 'sqlite' },
    },
  })
  const us = ours(service)
  const limit = raw(join(folder, 'raw'))
  ends.push(limit.end)
  const rival = async (name: string, file: string) =>
    peer(name, await serve(file, await buildPeer(`bench/peers/${file}.ts`)))
  const contestants = [
    us,
    await rival('bare platform', 'bare'),
    await rival('bare, rows by place', 'bare-by-place'),
    await rival('naive Worker', 'naive'),
    limit,
  ]
  const set = newBulks(bulks)
  const results = await compete(contestants, set, rounds)
  const empty = await timeRoute(us, new URL('/healthz', service.url))
  const query = new URL('/api/v1/forex/transactions?unknown', service.url)
  const gate = await timeRoute(us, query, { Authorization: `Bearer ${us.bearer()}` })
  const verify = await verifying(us.bearer(), issuer)
  report({ results, empty, gate, verify, parts: await breakdown(us, service, set), rounds, bulks })
} finally {
  for (const end of ends.reverse()) await end()
}
