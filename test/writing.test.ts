import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { ada, deposit, json, partner, traded } from './partner.ts'

test('a record comes back as it was sent', async () => {
  const acme = await partner()
  const r = await acme.post('customers', [ada])
  console.log(await r.clone().text())
  expect(r.status).toBe(200)
  expect(await json(acme.get('customers'))).toEqual({data:[ada],meta:{total:1,page:1,per_page:50,next_cursor:null}})
  const t = await acme.post('transactions', [deposit, {...deposit, transaction_id:'t-2', customer_id:'nobody'}])
  expect(t.status).toBe(422)
  expect(await json(t)).toEqual(1)
})
test('tx', async () => {
  const acme = await partner()
  await acme.post('customers', [ada])
  const t = await acme.post('transactions', [deposit])
  expect(t.status).toBe(200)
  expect((await acme.post('trading-activity', traded)).status).toBe(201)
  expect([...t.headers]).toEqual(1)
})
test('totals', async () => {
  const acme = await partner()
  await acme.post('customers', [ada])
  const t = await acme.post('transactions', [deposit])
  expect((await acme.post('trading-activity', traded)).status).toBe(201)
  expect(await json(acme.get('totals?from=2026-10-01&to=2026-10-03'))).toEqual(1)
})
