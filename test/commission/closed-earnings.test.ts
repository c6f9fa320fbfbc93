import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { askAdmin, json } from '../partner.ts'
import { adjustmentsOf, approve, firm, PATH, refresh, statementOf } from './closed.ts'
import { publish } from './stored.ts'

const earningsOf = (id: string) => json(askAdmin(`${PATH}/transactions/${id}/earnings`))

/** Replaces the rate of the dollar on 2026-08-10. */
async function correct(rate: string) {
  await env.DB.prepare('update fx_rates set known_until = ?').bind(Date.now()).run()
  await publish('2026-08-10', { USD: rate }, Date.now())
}

/** Closes August with a deposit of 100 USD at 2 USD for 1 EUR, and then corrects the rate. */
async function closeAugust() {
  const acme = await firm()
  await publish('2026-08-10', { USD: '2' })
  await acme.paid('t-1', '2026-08-10', 100, { currency: 'USD' })
  await refresh('2026-08')
  await approve('2026-08')
  const { id } = await statementOf('2026-08')
  await correct('4')
  return { ...acme, august: id }
}

test('a record of a closed period earns what was approved for it, at the rate of the approval', async () => {
  const { paid, august } = await closeAugust()
  expect(await earningsOf('t-1')).toMatchObject({
    state: { reason: 'counted' },
    lines: [
      {
        ...{ rule: 'tenth', period: '2026-08', base: '50' },
        closed: { statement: august, amount: '5.00', adjustments: [] },
      },
    ],
    adjustments: [],
  })
  await paid('t-9', '2026-09-10', 100)
  const [{ closed: open }] = (await earningsOf('t-9')).lines
  expect(open).toBe(undefined)
})

test('a late record is shown with the adjustment that it caused', async () => {
  const { paid } = await closeAugust()
  await paid('t-2', '2026-08-10', 10)
  const [adjustment] = await adjustmentsOf('2026-09')
  const correction = { id: adjustment.id, period: '2026-09', status: 'draft', amount: '1.00' }
  expect(await earningsOf('t-2')).toMatchObject({
    lines: [{ base: '10', closed: { amount: '5.00', adjustments: [correction] } }],
    adjustments: [
      {
        ...{ ...correction, affiliate_id: 'aff-7', plan: 'ib' },
        of: { period: '2026-08', line: adjustment.of.line },
      },
    ],
  })
  expect((await earningsOf('t-1')).adjustments).toEqual([])
})

test('what earned nothing in a closed period is not frozen', async () => {
  const { paid } = await closeAugust()
  const unearned = async () => (await json(askAdmin(`${PATH}/unearned?period=2026-08`))).data
  expect(await unearned()).toEqual([])
  await paid('t-1', '2026-08-10', 100, { currency: 'USD', status: 'declined' })
  expect(await unearned()).toMatchObject([{ reason: 'declined', count: 1 }])
})

test('a record that lines no longer count is shown with the adjustment that it caused', async () => {
  const { paid } = await closeAugust()
  await paid('t-1', '2026-08-10', 100, { currency: 'USD', status: 'declined' })
  const [adjustment] = await adjustmentsOf('2026-09')
  expect(await earningsOf('t-1')).toMatchObject({
    state: { reason: 'declined' },
    lines: [],
    adjustments: [{ id: adjustment.id, amount: '-5.00' }],
  })
})
