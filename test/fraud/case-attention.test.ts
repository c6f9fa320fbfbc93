import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test } from 'vitest'
import { DAY_MS } from '../../src/platform/durations.ts'
import { askAdmin, json, register } from '../partner.ts'
import { storeCases, storeRule } from './stored-cases.ts'

const ACCOUNT = 'acme-forex'
const CODES = ['open_cases', 'waiting_cases']

interface Item {
  code: string
  count: number
  names: string[]
  detail: string
}

/** The lists of cases that have what needs attention. */
const NEEDS: readonly (readonly [code: string, needs: string])[] = [
  ['open_cases', 'decision'],
  ['waiting_cases', 'second_person'],
]

/** Returns what needs attention, and checks that the lists of cases have as many. */
const attention = async (account = ACCOUNT) => {
  const { data } = await json(askAdmin(`accounts/${account}/attention`))
  const items = data as Item[]
  for (const [code, needs] of NEEDS) {
    const { meta, ...list } = await json(askAdmin(`accounts/${account}/cases?needs=${needs}`))
    const item = items.find((one) => one.code === code)
    const listed = [...new Set(list.data.map((one: { affiliate_id: string }) => one.affiliate_id))]
    expect([code, meta.total, listed.sort()]).toEqual([code, item?.count ?? 0, item?.names ?? []])
  }
  return items.filter(({ code }) => CODES.includes(code))
}

/** The last complete day. */
const yesterday = () => Math.floor(Date.now() / DAY_MS) - 1

beforeEach(async () => {
  await register('forex', { affiliates: ['a', 'b'] })
  await storeRule()
  await storeRule(ACCOUNT, 'other')
})

describe('attention', () => {
  test('names open cases of high severity with their affiliates', async () => {
    const lastDay = yesterday()
    await storeCases(
      { id: 'case_1', affiliate: 'b', lastDay },
      { id: 'case_2', affiliate: 'a', lastDay },
      { id: 'case_3', affiliate: 'a', rule: 'other', lastDay },
      { id: 'case_4', affiliate: 'c', severity: 'medium', action: 'flag', lastDay },
      { id: 'case_5', affiliate: 'd', status: 'dismissed', lastDay },
      { id: 'case_6', affiliate: 'e', account: 'other', lastDay },
    )
    expect(await attention()).toEqual([
      {
        ...{ code: 'open_cases', count: 3, names: ['a', 'b'] },
        detail:
          'To decide, because of a high severity or a held payout: 2 cases of `a`, 1 case of `b`.',
      },
    ])
  })

  test('names cases that hold payouts whatever their severity, and those that wait for a second person', async () => {
    const low = { severity: 'low', lastDay: yesterday() } as const
    await storeCases(
      { ...low, id: 'case_1', affiliate: 'a' },
      { ...low, id: 'case_2', affiliate: 'b', action: 'flag' },
      { ...low, id: 'case_3', affiliate: 'c', action: 'flag' },
      { ...low, id: 'case_4', affiliate: 'd', status: 'confirmed', keepHold: true },
      { ...low, id: 'case_5', affiliate: 'e', status: 'confirmed', keepHold: true },
    )
    const decide = (id: string, position: number, keep: number) =>
      env.DB.prepare(
        `insert into fraud_decisions (account, case_id, position, decision, reason, keep_hold, refuse,
           shown, actor, at)
         values (?, ?, ?, 'confirmed', 'R', ?, '[]', 0, 'one', '2026-01-01T00:00:00.000Z')`,
      ).bind(ACCOUNT, id, position, keep)
    await env.DB.batch([
      ...[decide('case_2', 0, 0), decide('case_4', 0, 1), decide('case_4', 1, 0)],
      decide('case_5', 0, 1),
    ])
    expect(await attention()).toMatchObject([
      { code: 'open_cases', count: 1, names: ['a'] },
      { code: 'waiting_cases', count: 2, names: ['b', 'd'] },
    ])
  })

  test('of an account without cases has none of it', async () => {
    expect(await attention()).toEqual([])
  })
})
