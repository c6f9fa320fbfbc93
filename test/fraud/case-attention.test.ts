import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test } from 'vitest'
import { DAY_MS } from '../../src/durations.ts'
import { askAdmin, json, register } from '../partner.ts'
import { storeCases } from './stored-cases.ts'

const ACCOUNT = 'acme-forex'
const CODES = ['open_cases', 'ending_holds', 'too_large_affiliates']

interface Item {
  code: string
  count: number
  names: string[]
  detail: string
}

const attention = async (account = ACCOUNT) => {
  const { data } = await json(askAdmin(`accounts/${account}/attention`))
  return (data as Item[]).filter(({ code }) => CODES.includes(code))
}

/** The last complete day. */
const yesterday = () => Math.floor(Date.now() / DAY_MS) - 1

const dayText = (days: number) => new Date(days * DAY_MS).toISOString().slice(0, 10)

beforeEach(async () => {
  await register('forex', { affiliates: ['a', 'b'] })
})

describe('attention', () => {
  test('names open cases of high severity with their affiliates', async () => {
    const lastDay = yesterday()
    await storeCases(
      { id: 'case_1', affiliate: 'b', lastDay },
      { id: 'case_2', affiliate: 'a', lastDay },
      { id: 'case_3', affiliate: 'a', rule: 'other', lastDay },
      { id: 'case_4', affiliate: 'c', severity: 'medium', lastDay },
      { id: 'case_5', affiliate: 'd', status: 'dismissed', lastDay },
      { id: 'case_6', affiliate: 'e', account: 'other', lastDay },
    )
    expect(await attention()).toEqual([
      {
        ...{ code: 'open_cases', count: 3, names: ['a', 'b'] },
        detail: 'Cases of high severity are open, of the affiliates `a`, `b`. Decide them.',
      },
    ])
  })

  test('names cases whose hold ends within seven days', async () => {
    const low = { severity: 'low' } as const
    await storeCases(
      { ...low, id: 'case_1', affiliate: 'a', lastDay: yesterday() - 83 },
      { ...low, id: 'case_2', affiliate: 'b', lastDay: yesterday() - 82 },
      { ...low, id: 'case_3', affiliate: 'c', lastDay: yesterday() - 90, action: 'flag' },
      { ...low, id: 'case_4', affiliate: 'd', lastDay: yesterday() - 91, status: 'expired' },
    )
    expect(await attention()).toEqual([
      {
        ...{ code: 'ending_holds', count: 1, names: ['a'] },
        detail: `Cases that hold payouts expire, the first one after ${dayText(yesterday() + 7)}: their payouts are then no longer held. They are of the affiliates \`a\`. Decide them before.`,
      },
    ])
  })

  test('names affiliates that are too large to be evaluated', async () => {
    await env.DB.prepare(
      `insert into fraud_progress (account, through, inputs, too_large)
       values (?, 20000, '{}', '{"b":19000,"a":20000}')`,
    )
      .bind(ACCOUNT)
      .run()
    expect(await attention()).toMatchObject([
      { code: 'too_large_affiliates', count: 2, names: ['a', 'b'] },
    ])
  })

  test('of an account without cases has none of it', async () => {
    expect(await attention()).toEqual([])
  })
})
