import { beforeEach, describe, expect, test } from 'vitest'
import { askAdmin, register } from '../partner.ts'
import { eventsOf } from '../webhooks/webhook-events.ts'
import { changeCase, storeCases } from './stored-cases.ts'

const ACCOUNT = 'acme-forex'

const webhook = (...events: string[]) =>
  askAdmin(`accounts/${ACCOUNT}/webhooks`, 'POST', {
    ...{ url: 'https://hooks.example/tributary', ...(events.length > 0 && { events }) },
  })

beforeEach(async () => {
  await register('forex', { affiliates: ['a', 'b'] })
})

const CASE = {
  ...{ case_id: 'case_1', affiliate_id: 'a', subject: { affiliate_id: 'a' }, rule: 'minimum' },
  ...{ version: 1, kind: 'minimum_deposit', severity: 'high', action: 'hold' },
  ...{ opened_for: '2024-10-04' },
  sentence: '12 of 15 customers who qualified deposited the minimum.',
}

describe('a case', () => {
  test('that opens sends `case.opened` with its subject', async () => {
    await webhook('case.opened')
    await storeCases(
      { id: 'case_1' },
      { id: 'case_2', customers: ['c-1'] },
      { id: 'case_3', customers: ['c-1', 'c-2'] },
    )
    const events = await eventsOf(ACCOUNT)
    expect(events.sort((a, b) => (a.case_id < b.case_id ? -1 : 1))).toEqual([
      { type: 'case.opened', ...CASE },
      { type: 'case.opened', ...CASE, case_id: 'case_2', subject: { customer_id: 'c-1' } },
      {
        ...{ type: 'case.opened', ...CASE, case_id: 'case_3' },
        subject: { customer_ids: ['c-1', 'c-2'] },
      },
    ])
  })

  test('that is not open when it is found sends nothing', async () => {
    await webhook()
    await storeCases({ id: 'case_1', status: 'expired' }, { id: 'case_2', account: 'other' })
    expect(await eventsOf(ACCOUNT)).toEqual([])
  })

  test('that opens again after it expired sends another event', async () => {
    await webhook()
    await storeCases({ id: 'case_1' })
    await changeCase('case_1', 'status', 'expired')
    await changeCase('case_1', 'last_day', 20_095)
    await changeCase('case_1', 'status', 'open')
    expect(await eventsOf(ACCOUNT)).toEqual([
      { type: 'case.opened', ...CASE },
      { type: 'case.opened', ...CASE },
    ])
  })

  test.each([
    ['confirmed', true],
    ['dismissed', false],
  ] as const)('that is %s sends `case.decided`, once', async (status, isKept) => {
    await webhook('case.decided')
    await storeCases({ id: 'case_1' })
    if (isKept) await changeCase('case_1', 'keep_hold', 1)
    await changeCase('case_1', 'status', status)
    await changeCase('case_1', 'status', status)
    expect(await eventsOf(ACCOUNT)).toEqual([
      { type: 'case.decided', ...CASE, decision: status, keep_hold: isKept },
    ])
  })

  test('sends nothing to a webhook that does not want it, and all to one that wants all', async () => {
    await webhook('feed.late')
    await storeCases({ id: 'case_1' })
    expect(await eventsOf(ACCOUNT)).toEqual([])
    await webhook('*')
    await changeCase('case_1', 'status', 'dismissed')
    await storeCases({ id: 'case_2', rule: 'other' })
    const types = (await eventsOf(ACCOUNT)).map(({ type }) => type)
    expect(types.sort()).toEqual(['case.decided', 'case.opened'])
  })
})
