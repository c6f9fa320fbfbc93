import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import type { Rule } from '../../src/commission/engine/plan.ts'
import { brand, dailyStats, day, eve } from '../brand.ts'
import { linkOf } from '../dated.ts'
import { askAdmin, json } from '../partner.ts'
import { monthly } from './stored.ts'
import { storeDrafts } from './stored-runs.ts'

const ACCOUNT = 'acme-casino'
const NGR: Rule = {
  ...{ id: 'ngr', kind: 'share', percent: '50' },
  base: [{ event: 'DailyStats', kpi: 'NGR' }],
}

const refresh = (period: string) => storeDrafts(ACCOUNT, period, ['aff-1'])

async function causesIn(period: string) {
  await refresh(period)
  const { data } = await json(askAdmin(`accounts/${ACCOUNT}/statements?period=${period}`))
  const { adjustments } = await json(askAdmin(`accounts/${ACCOUNT}/statements/${data[0].id}`))
  return adjustments
}

type Binding = 'DB' | 'DB_2'

/** Creates a brand with a plan, a customer and the activity of a day, and computes August. */
async function withDraft(binding: Binding = 'DB') {
  const events = { DailyStats: dailyStats }
  const casino = await brand({ account: ACCOUNT, binding, events })
  const { tracking_data } = await linkOf(ACCOUNT, 'aff-1')
  await askAdmin(`accounts/${ACCOUNT}/plans/ib`, 'PUT', monthly([NGR]))
  await askAdmin(`accounts/${ACCOUNT}/assignments`, 'PUT', [
    { affiliate_id: '*', plan: 'ib', from: '2026-01-01', customers: 'new' },
  ])
  await casino.post('customers', { ...eve, regtime: '2026-08-01 08:30', tracking_data })
  await casino.post('activities', { ...day, createtime: '2026-08-02' })
  await refresh('2026-08')
  return casino
}

async function approveAll(binding: Binding = 'DB') {
  await env[binding]
    .prepare(`update statements set status = 'approved', approval = 'a', approved_at = ?`)
    .bind(Date.now())
    .run()
  await scheduler.wait(2)
}

test('an event definition that changed before the approval is a cause, if a rule reads its event', async () => {
  const { post } = await withDraft()
  const define = async (eventname: string) => {
    const path = `accounts/${ACCOUNT}/events/${eventname}`
    const kpis = [...dailyStats.kpis, 'Turnover']
    expect((await askAdmin(path, 'PUT', { ...dailyStats, kpis })).ok).toBe(true)
  }
  await define('DailyStats')
  await define('Other')
  await approveAll()
  await post('activities', { ...day, createtime: '2026-08-03' })
  expect(await causesIn('2026-09')).toMatchObject([
    { causes: [{ kind: 'record' }, { action: 'event-definition.put' }], causes_total: 2 },
  ])
})

test.each(['DB', 'DB_2'] as const)(
  'a late activity of a brand is a cause (%s)',
  async (binding) => {
    const { post } = await withDraft(binding)
    await approveAll(binding)
    const { delivery_id } = await json(post('activities', { ...day, createtime: '2026-08-03' }))
    expect(await causesIn('2026-09')).toMatchObject([
      {
        amount: '4.50',
        causes: [{ kind: 'record', resource: 'activities', day: '2026-08-03', delivery_id }],
        causes_total: 1,
      },
    ])
    await askAdmin(`accounts/${ACCOUNT}/customers/p-1/refusal`, 'PUT', { reason: 'Fraud' })
    expect(await causesIn('2026-09')).toMatchObject([
      { amount: '-4.50', causes: [{ kind: 'record' }, { kind: 'refusal', customer_id: 'p-1' }] },
    ])
  },
)
