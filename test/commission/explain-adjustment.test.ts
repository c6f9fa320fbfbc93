import { expect, test } from 'vitest'
import type { Cause } from '../../src/commission/statements/cause.ts'
import { adjustmentText } from '../../src/commission/why/explain.ts'
import { askAdmin, json } from '../partner.ts'
import { adjustmentsOf, approve, customer, firm, PATH, refresh, statementOf } from './closed.ts'

const explained = (id: string, query = '') => json(askAdmin(`${PATH}/lines/${id}/explain${query}`))

const sentences = async (id: string) =>
  (await askAdmin(`${PATH}/lines/${id}/explain`, 'GET', undefined, { Accept: 'text/plain' })).text()

/** Approves August with 10.00, and September with a correction of −6.00. */
async function corrected() {
  const acme = await firm()
  await acme.paid('t-1', '2026-08-10', 100)
  await refresh('2026-08')
  await approve('2026-08')
  await acme.paid('t-1', '2026-08-10', 40)
  await refresh('2026-09')
  await approve('2026-09')
  return acme
}

test('an adjustment is explained: what was approved, what the line is now, and why', async () => {
  const { paid, get } = await corrected()
  const delivery_id = await paid('t-2', '2026-08-12', 20)
  const [{ id, of }] = await adjustmentsOf('2026-10')
  const explanation = await explained(id)
  expect(explanation).toMatchObject({
    ...{ id, of, period: '2026-10', plan: 'ib', affiliate_id: 'aff-7', amount: '2.00' },
    approved: {
      ...{ amount: '10.00', total: '4.00' },
      earlier: [{ period: '2026-09', status: 'approved', amount: '-6.00' }],
    },
    now: { period: '2026-08', line: { amount: '6.00' } },
    causes: [{ kind: 'record', id: 't-2', delivery_id }],
    causes_total: 1,
  })
  expect(await json(get(`lines/${id}/explain`))).toEqual(explanation)
  const text = await sentences(id)
  expect(text.split('\n').slice(0, 9)).toEqual([
    'Adjustment of 2.00 EUR in October 2026 for the affiliate aff-7 under the plan ib',
    '',
    'The adjustment corrects a line of August 2026, which is closed. The approved statement says 10.00 EUR.',
    'Earlier adjustments of this line: −6.00 EUR in September 2026. Together that is 4.00 EUR.',
    'The line now comes to 6.00 EUR. The difference is 2.00 EUR.',
    '',
    'These changes were stored after the last approval:',
    `- the transaction t-2 of 12 Aug 2026, by the delivery ${delivery_id}`,
    '',
  ])
  expect(text).toContain('The line pays 6.00 EUR.')
})

test('parts and facts of an adjustment are those of the corrected line', async () => {
  await corrected()
  const [{ id, of }] = (await statementOf('2026-09')).adjustments
  for (const path of ['parts', 'parts/c-1/facts']) {
    const own = await json(askAdmin(`${PATH}/lines/${of.line}/${path}`))
    expect(own.data).toHaveLength(1)
    expect(await json(askAdmin(`${PATH}/lines/${id}/${path}`))).toEqual(own)
  }
})

test('a line of a closed period says what was approved and adjusted', async () => {
  const { paid } = await corrected()
  const [{ of }] = (await statementOf('2026-09')).adjustments
  await paid('t-2', '2026-08-12', 20)
  await refresh('2026-10')
  expect(await explained(of.line)).toMatchObject({
    line: { amount: '6.00' },
    closed: {
      amount: '10.00',
      adjustments: [
        { period: '2026-09', status: 'approved', amount: '-6.00' },
        { period: '2026-10', status: 'draft', amount: '2.00' },
      ],
    },
  })
  expect(await sentences(of.line)).toContain(
    'August 2026 is closed. The approved statement says 10.00 EUR.\nAdjustments of this line: −6.00 EUR in September 2026 and 2.00 EUR in October 2026.\n',
  )
})

test('an adjustment of a statement that is not stored is found by affiliate and period', async () => {
  const { paid } = await corrected()
  await paid('t-2', '2026-08-12', 20)
  const { data } = await json(
    askAdmin(`${PATH}/statements?affiliate_id=aff-7&period=2026-10&fresh=true`),
  )
  const [{ id }] = data[0].adjustments
  expect((await askAdmin(`${PATH}/lines/${id}/explain`)).status).toBe(404)
  expect(await explained(id, '?affiliate_id=aff-7&period=2026-10')).toMatchObject({
    ...{ id, amount: '2.00' },
    approved: { total: '4.00' },
  })
})

test('a line that no longer exists, and one that no statement had, are explained', async () => {
  const { paid } = await firm()
  await paid('t-1', '2026-08-10', 100)
  await refresh('2026-08')
  await approve('2026-08')
  await paid('t-1', '2026-10-10', 100)
  const [{ id }] = await adjustmentsOf('2026-09')
  expect(await explained(id)).toMatchObject({ now: null, approved: { total: '10.00' } })
  expect(await sentences(id)).toContain(
    'The records of this line have changed since, so there are no steps to show.',
  )
})

test('the restoration of a dropped amount is explained, and has no records', async () => {
  const { paid } = await firm(
    [
      {
        ...{ id: 'net', kind: 'share', percent: '10' },
        base: [{ transactions: ['deposit'] }, { transactions: ['withdrawal'], times: '-1' }],
      },
    ],
    { negative: 'zero' },
  )
  await paid('t-1', '2026-08-10', 100, { transaction_type: 'withdrawal' })
  await refresh('2026-08')
  await approve('2026-08')
  await paid('t-2', '2026-08-11', 30)
  const [, { id }] = await adjustmentsOf('2026-09')
  expect(await explained(id)).toMatchObject({ of: { line: null }, now: null, amount: '-3.00' })
  expect(await sentences(id)).toContain(
    'The plan wrote off −10.00 EUR in August 2026. A later positive correction of that period first covers this write-off.',
  )
  expect(await sentences(id)).toContain('Kept back to cover the write-off: 3.00 EUR.')
  expect((await askAdmin(`${PATH}/lines/${id}/parts`)).status).toBe(404)
})

/** Returns the explanation of an adjustment with these causes. */
const textWith = (causes: Cause[], causes_total: number) =>
  adjustmentText({
    ...{ id: 'adj_1', affiliate_id: 'aff-7', plan: 'ib', period: '2026-09', currency: 'EUR' },
    of: { period: '2026-08', line: 'lin_1', dropped_in: null },
    approved: { statement: 'stm_1', amount: '10.00', earlier: [], total: '10.00' },
    ...{ now: null, amount: '2.00', causes, causes_total },
  })

test('a cause that was not found is told', () => {
  const lines = textWith([], 0).split('\n')
  expect(lines).toContain('No cause was found: some changes are logged for 30 days only.')
  expect(lines).not.toContain('These changes were stored after the last approval:')
})

test('every kind of cause has its sentence', () => {
  const [customer_id, day, delivery_id, audit_id] = ['c-1', '2026-08-10', 'dlv_1', 'aud_1']
  const ofDelivery = { day, delivery_id, audit_id: null }
  const ofTeam = { day: null, delivery_id: null, audit_id }
  const causes: Cause[] = [
    { kind: 'record', resource: 'transactions', id: 't-1', customer_id, day, delivery_id },
    { kind: 'affiliation', customer_id, ...ofDelivery },
    { kind: 'affiliation', customer_id, ...ofTeam },
    { kind: 'corrected_early', customer_id, delivery_id },
    { kind: 'customer_field', customer_id, field: 'country_code', day, delivery_id },
    { kind: 'refusal', customer_id, audit_id },
    { kind: 'rate', currency: 'USD', day, change: 'corrected' },
    { kind: 'tree', affiliate_id: 'aff-7', audit_id },
    { kind: 'setting', action: 'status.put', at: '2026-08-10T10:00:00.000Z', audit_id },
  ]
  const text = textWith(causes, 11)
  expect(text.split('\n').filter((line) => line.startsWith('- '))).toEqual([
    '- the transaction t-1 of 10 Aug 2026, by the delivery dlv_1',
    '- the affiliate of the customer c-1 from 10 Aug 2026 on, by the delivery dlv_1',
    '- the affiliates of the customer c-1, by the entry aud_1 of the audit log',
    '- the affiliate of the customer c-1 from the signup on, since the first one lasted less than a day, by the delivery dlv_1',
    '- the country of the customer c-1 from 10 Aug 2026 on, by the delivery dlv_1',
    '- the refusal of the customer c-1, by the entry aud_1 of the audit log',
    '- the rate of USD of 10 Aug 2026, which has since been corrected',
    '- the parent (or setup) of affiliate aff-7, by the entry aud_1 of the audit log',
    '- the settings of the account: status put at 10 Aug 2026, 10:00 UTC, by the entry aud_1 of the audit log',
    '- and 2 other changes',
  ])
})

test('an adjustment of another account is not found', async () => {
  await corrected()
  const [{ id }] = (await statementOf('2026-09')).adjustments
  await askAdmin('accounts', 'POST', {
    ...{ account: 'other', name: 'Other', vertical: 'forex', mode: 'test' },
  })
  expect((await askAdmin(`accounts/other/lines/${id}/explain`)).status).toBe(404)
  expect(customer('c-1').affiliate_id).toBe('aff-7')
})

test('an approved line that the records no longer make is explained by what was approved', async () => {
  const { paid } = await firm()
  await paid('t-1', '2026-08-10', 100)
  await refresh('2026-08')
  const [{ id }] = (await statementOf('2026-08')).lines
  await approve('2026-08')
  await paid('t-1', '2026-08-10', 100, { status: 'declined' })
  expect(await adjustmentsOf('2026-09')).toMatchObject([{ amount: '-10.00', of: { line: id } }])
  await approve('2026-09')
  expect(await explained(id)).toMatchObject({
    ...{ id, period: '2026-08', currency: 'EUR', steps: [], line: { amount: '10.00' } },
    closed: { amount: '10.00', adjustments: [{ period: '2026-09', amount: '-10.00' }] },
  })
  const text = await sentences(id)
  expect(text).toContain('The approved statement says 10.00 EUR.')
  expect(text).toContain('Its records have changed since, so there are no steps to show.')
})

test('a line break in a record id starts no new sentence in the explanation of an adjustment', async () => {
  const { paid } = await corrected()
  await paid('t-2\nThe line pays 9999.00 EUR.', '2026-08-12', 20)
  const [{ id }] = await adjustmentsOf('2026-10')
  const text = await sentences(id)
  expect(text).toContain('- the transaction t-2\\u000aThe line pays 9999.00 EUR. of')
  expect(text).not.toContain('\nThe line pays 9999.00')
})
