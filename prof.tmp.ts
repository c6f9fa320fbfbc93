import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Miniflare } from 'miniflare'
import { bundleService } from './scripts/bundle.ts'
import { serve, migrate, newSecrets } from './chaos/service.ts'
import { newSender } from './bench/compete.ts'
import { RECORDS } from './bench/records.ts'
import { expectOk } from './chaos/ask.ts'
import { cpuOf } from './chaos/workerd.ts'
const mf: any = await import('miniflare')
// inspector through env of the config
const orig = process.env.INSPECT
const state = mkdtempSync(join(tmpdir(), 'prof-'))
const script = await bundleService()
const service: any = await serve({ script, state, secrets: await newSecrets() })
await migrate(service)
const ask = await newSender(service, 'acct')
const headers = { 'Content-Type': 'application/json', Prefer: 'return=minimal' }
const send = (k: number, ch: boolean) => expectOk(ask('POST', 'transactions', { body: JSON.stringify(Array.from({ length: 1000 }, (_, i) => RECORDS.transactions(k * 1000 + i, { customers: 300, isChanged: ch }))), headers } as any))
const wsTargets = async () => (await (await fetch('http://127.0.0.1:9333/json')).json()) as any[]
const noprof = process.argv[2] === "no"
const targets = noprof ? [] : await wsTargets().catch(() => [])

const conns: any[] = []
for (const t of targets) {
  const ws = new WebSocket(t.webSocketDebuggerUrl.replace('localhost', '127.0.0.1'))
  await new Promise((r) => (ws.onopen = r))
  let id = 0; const pending = new Map()
  ws.onmessage = (m) => { const d = JSON.parse(String(m.data)); if (d.id) pending.get(d.id)?.(d) }
  const call = (method: string, params = {}) => new Promise<any>((r) => { pending.set(++id, r); ws.send(JSON.stringify({ id, method, params })) })
  conns.push({ t, call, ws })
}
for (let k = 0; k < 10; k++) { await send(k, false); await send(k, true); await send(k, true) }
for (const phase of ['insert', 'update', 'replay']) {
  for (const c of conns) { await c.call('Profiler.enable'); await c.call('Profiler.setSamplingInterval', { interval: 200 }); await c.call('Profiler.start') }
  const c0 = cpuOf(service.pids), t0 = Date.now()
  const base = 100
  for (let k = base; k < base + 20; k++) await send(k, phase !== 'insert')
  console.log(phase, 'cpu/bulk', (cpuOf(service.pids) - c0) / 20, 'ms/bulk', (Date.now() - t0) / 20)
  for (const c of conns) {
    const { result } = await c.call('Profiler.stop')
    const p = result.profile; const self: any = {}; const idx = new Map(p.nodes.map((n: any) => [n.id, n]))
    p.samples.forEach((s: any, i: number) => { const n: any = idx.get(s); const key = n.callFrame.functionName + ':' + n.callFrame.lineNumber; self[key] = (self[key] || 0) + p.timeDeltas[i] })
    const tot = Object.values(self).reduce((a: any, b: any) => a + b, 0) as number
    console.log('  target', c.t.title, c.t.id, (tot / 20000).toFixed(2), 'ms/bulk')
    for (const [k, v] of (Object.entries(self) as any).sort((a: any, b: any) => b[1] - a[1]).slice(0, 25)) if (k !== '(idle):-1') console.log('    ', (v / 20000).toFixed(2), k)
  }
}
for (const c of conns) c.ws.close()
await service.end()
process.exit(0)
