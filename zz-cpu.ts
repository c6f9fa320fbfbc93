import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { newRequestSender, expectBody } from './stress/ask.ts'
import { asFirm, newFirm, newToken, newClient } from './stress/parties.ts'
import { migrate, newSecrets, serve } from './stress/service.ts'
const [oldScript, newScript] = process.argv.slice(2).map((p) => readFileSync(p, 'utf8'))
const dir = mkdtempSync('/tmp/h4x/cpu-')
async function make(script: string, name: string) {
  const service = await serve(script, `${dir}/${name}`, await newSecrets())
  await migrate(service)
  const firm = await newFirm(service, name, 'forex', 'reject')
  const asks = []
  for (let i = 0; i < 5; i++) { const c = { ...firm, ...(await newClient(service.admin, name)) }; asks.push(asFirm(service, c, await newToken(service, c))) }
  await expectBody(201, asks[0]!('POST', 'customers', { body: { customer_id: 'C-1', signup_date: '2026-10-01T08:00:00.000Z', affiliate_id: 'IB-07', tracking_data: 'x' } }))
  return { service, asks, sent: 0 }
}
const record = (i: number) => ({ transaction_id: `t-${i}`, customer_id: 'C-1', transaction_type: 'deposit', amount_currency: 5.25, currency: 'EUR', transaction_date: '2026-10-02T09:30:00.000Z', status: 'ok', note: 'a note of some words' })
const N = Number(process.env.N ?? 200), PER = Number(process.env.PER ?? 1), ROUNDS = Number(process.env.ROUNDS ?? 10)
async function run(m: Awaited<ReturnType<typeof make>>) {
  const before = m.service.cpu()!
  for (let i = 0; i < N; i++) { const k = m.sent++; await expectBody(PER === 1 ? 201 : 200, m.asks[k % 5]!('POST', 'transactions?dry_run=true', { body: PER === 1 ? record(k) : Array.from({length: PER}, (_, j) => record(j)) }).then((a) => ({ ...a, status: a.status === 200 ? (PER === 1 ? 201 : 200) : a.status }))) }
  return (m.service.cpu()! - before) / N
}
const a = await make(oldScript!, 'old'), b = await make(newScript!, 'new')
await run(a); await run(b)
let x = 0, y = 0; const ratios = []
for (let r = 0; r < ROUNDS; r++) { const p = r % 2 ? [await run(a), await run(b)] : [await run(b), await run(a)].reverse(); x += p[0]!; y += p[1]!; ratios.push((p[1]! / p[0]!).toFixed(2)) }
console.log(`per request: old ${(x / ROUNDS).toFixed(3)} ms, new ${(y / ROUNDS).toFixed(3)} ms, ratio ${(y / x).toFixed(3)}`, ratios.join(' '))
await a.service.end(); await b.service.end()
