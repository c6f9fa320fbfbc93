import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test } from 'vitest'
import { findCustomersOf, SEARCH_LIMITS } from '../../src/commission/db/customers-of.ts'
import { readHistories } from '../../src/ingest/db/histories.ts'
import { brand, eve } from '../brand.ts'
import { affiliatesOf, at, datedPartner, linkOf } from '../days.ts'
import { restoring } from '../limits.ts'
import { ada, askAdmin, json, issuedPartner as partner } from '../partner.ts'

const issuesOf = async (response: Response | Promise<Response>) => {
  const { errors } = await json(response)
  return errors.map(({ pointer, code, message }: Record<string, string>) => [
    pointer,
    code,
    message,
  ])
}
const lastAction = async () => (await json(askAdmin('audit-log?per_page=1'))).data[0]

describe('a correction of the affiliates', () => {
  const PATH = 'accounts/acme-forex/customers/c-1/affiliations'
  const affiliations = [
    { from: null, affiliate_id: null },
    { from: '2096-10-03', affiliate_id: 'x' },
    { from: '2096-10-05', affiliate_id: 'y' },
  ]
  const setUp = async () => {
    const send = await datedPartner()
    await send('2096-10-05T10:00:00Z', ada)
    return send
  }

  test('it replaces the history, with its reason in the audit log', async () => {
    await setUp()
    const response = await askAdmin(PATH, 'PUT', { reason: 'Wrong link', affiliations })
    expect(await response.json()).toEqual({
      customer_id: 'c-1',
      affiliations: affiliations.map((part) => ({ ...part, link_id: null, delivery_id: null })),
      refusal: null,
      warnings: [],
    })
    expect(await json(askAdmin(PATH))).toMatchObject({ affiliations })
    expect(await lastAction()).toMatchObject({
      action: 'affiliations.put',
      account: 'acme-forex',
      details: { customer_id: 'c-1', reason: 'Wrong link' },
      changes: [
        {
          field: 'affiliations',
          before: [{ from: null, affiliate_id: 'aff-7' }],
          after: affiliations,
        },
      ],
    })
  })

  test('it holds while the account sends the same, and later changes follow it', async () => {
    const send = await setUp()
    await askAdmin(PATH, 'PUT', { reason: 'Wrong link', affiliations })
    await send('2096-10-06T10:00:00Z', { ...ada, first_name: 'Ada' })
    expect(await affiliatesOf('acme-forex', 'c-1')).toHaveLength(3)
    await send('2096-10-07T10:00:00Z', { ...ada, affiliate_id: 'aff-8' })
    expect(await affiliatesOf('acme-forex', 'c-1')).toEqual([
      ...affiliations.map(({ from, affiliate_id }) => [from, affiliate_id]),
      ['2096-10-07', 'aff-8'],
    ])
  })

  test.each([
    [[], '/affiliations', 'length', /1 to 1000 items/],
    [
      Array.from({ length: 1001 }, () => affiliations[0]),
      ...(['/affiliations', 'length', /1 to 1000 items/] as const),
    ],
    [[{ from: '2096-10-01', affiliate_id: 'x' }], '/affiliations/0/from', 'pattern', /null in/],
    [
      [affiliations[0], { from: null, affiliate_id: 'x' }],
      '/affiliations/1/from',
      'pattern',
      /a d/,
    ],
    [
      [...affiliations, { from: '2096-10-05', affiliate_id: 'x' }],
      ...(['/affiliations/3/from', 'pattern', /a day after `2096-10-05`/] as const),
    ],
    [
      [affiliations[0], { from: '2096-10-06', affiliate_id: 'x' }],
      ...(['/affiliations/1/from', 'pattern', /up to today, `2096-10-05`/] as const),
    ],
    [
      [affiliations[0], { from: '0000-01-01', affiliate_id: 'x' }],
      ...(['/affiliations/1/from', 'pattern', /a day after `0000-01-01`/] as const),
    ],
    [[{ from: null }], '/affiliations/0/affiliate_id', 'required', /is required/],
    [[{ from: null, affiliate_id: '' }], '/affiliations/0/affiliate_id', 'length', /1 to 500/],
    [[{ from: null, affiliate_id: 'x', to: 1 }], '/affiliations/0/to', 'unknown_field', /`to`/],
    [[5], '/affiliations/0', 'type', /object/],
  ])('%j is refused', async (sent, pointer, code, message) => {
    await setUp()
    const body = { reason: 'x', affiliations: sent }
    expect(await issuesOf(askAdmin(PATH, 'PUT', body))).toEqual([
      [pointer, code, expect.stringMatching(message)],
    ])
    expect(await affiliatesOf('acme-forex', 'c-1')).toEqual([[null, 'aff-7']])
  })

  test('it needs a reason, and a customer who is stored', async () => {
    await setUp()
    expect(await issuesOf(askAdmin(PATH, 'PUT', { affiliations }))).toMatchObject([
      ['/reason', 'required', '`reason` is required.'],
    ])
    const nobody = 'accounts/acme-forex/customers/nobody'
    const body = { reason: 'x', affiliations }
    expect((await askAdmin(`${nobody}/affiliations`, 'PUT', body)).status).toBe(404)
    expect((await askAdmin(`${nobody}/affiliations`)).status).toBe(404)
    expect((await askAdmin(`${nobody}/refusal`, 'PUT', { reason: 'x' })).status).toBe(404)
  })

  test('a brand corrects by affiliate, and later links follow', async () => {
    at('2096-10-05T10:00:00Z')
    const { post, account } = await brand()
    const links = [await linkOf(account, 'A-1'), await linkOf(account, 'A-2')] as const
    await post('customers', { ...eve, tracking_data: links[0].tracking_data })
    const path = `accounts/${account}/customers/p-1/affiliations`
    await askAdmin(path, 'PUT', {
      reason: 'x',
      affiliations: [{ from: null, affiliate_id: 'A-9' }],
    })
    await post('customers', { ...eve, tracking_data: 'nonsense' })
    expect(await affiliatesOf(account, 'p-1')).toEqual([[null, 'A-9']])
    at('2096-10-06T10:00:00Z')
    await post('customers', { ...eve, tracking_data: links[1].tracking_data })
    expect(await affiliatesOf(account, 'p-1')).toEqual([
      [null, 'A-9'],
      ['2096-10-06', 'A-2'],
    ])
  })
})

describe('a refusal', () => {
  const PATH = 'accounts/acme-forex/customers/c-1/refusal'
  const refusalOf = async () =>
    (await readHistories({ db: env.DB, directory: env.DB }, 'acme-forex', ['c-1'])).get('c-1')!
      .refusal

  test('it counts from a day or from the beginning, until it is ended', async () => {
    const acme = await partner()
    await acme.post('customers', ada)
    expect((await askAdmin(PATH, 'DELETE')).status).toBe(404)
    const from = '2026-10-03'
    const refused = await json(askAdmin(PATH, 'PUT', { reason: 'Fraud', from }))
    expect(refused).toMatchObject({ customer_id: 'c-1', refusal: { from, reason: 'Fraud' } })
    expect(await refusalOf()).toMatchObject({ from, reason: 'Fraud' })
    expect(await lastAction()).toMatchObject({
      action: 'refusal.put',
      details: { customer_id: 'c-1', from },
      changes: [{ field: 'reason', before: null, after: 'Fraud' }],
    })

    await askAdmin(PATH, 'PUT', { reason: 'Duplicate' })
    expect((await lastAction()).changes).toEqual([
      { field: 'from', before: from, after: null },
      { field: 'reason', before: 'Fraud', after: 'Duplicate' },
    ])
    expect(await refusalOf()).toMatchObject({ from: null, reason: 'Duplicate' })
    expect(await json(askAdmin('accounts/acme-forex/customers/c-1/affiliations'))).toMatchObject({
      refusal: { from: null, reason: 'Duplicate' },
    })

    expect((await askAdmin(PATH, 'DELETE')).status).toBe(204)
    expect(await refusalOf()).toBeNull()
    expect(await lastAction()).toMatchObject({
      action: 'refusal.delete',
      details: { reason: 'Duplicate' },
    })
  })

  test('the same again changes nothing, and a reason is required', async () => {
    const acme = await partner()
    await acme.post('customers', ada)
    const first = await json(askAdmin(PATH, 'PUT', { reason: 'Fraud' }))
    expect(await json(askAdmin(PATH, 'PUT', { reason: 'Fraud' }))).toEqual(first)
    expect(await issuesOf(askAdmin(PATH, 'PUT', {}))).toMatchObject([
      ['/reason', 'required', '`reason` is required.'],
    ])
    expect(await issuesOf(askAdmin(PATH, 'PUT', { reason: 'x', from: 'x' }))).toMatchObject([
      ['/from', 'date', expect.stringContaining('`x`')],
    ])
  })
})

describe('the customers of affiliates', () => {
  restoring(SEARCH_LIMITS)
  beforeEach(() => {
    SEARCH_LIMITS.ids = 3
  })

  /** Returns the ids of the customers that affiliates ever had. */
  const search = async (affiliates: string[] | null, account = 'acme-forex') => {
    const databases = { db: env.DB, directory: env.DB }
    const found: string[] = []
    for await (const { ids } of findCustomersOf(databases, account, affiliates, 2)) {
      expect(ids.length).toBeLessThanOrEqual(2)
      found.push(...ids)
    }
    return found
  }
  const setUp = async () => {
    const send = await datedPartner()
    const customers = ['a', 'b', 'c'].flatMap((affiliate_id, n) =>
      Array.from({ length: 5 }, (_, i) => ({
        ...{ ...ada, affiliate_id, customer_id: `${affiliate_id}-${i}` },
        signup_date: `2026-10-0${1 + ((i + n) % 3)}T10:00:00Z`,
      })),
    )
    await send('2096-09-20T10:00:00Z', customers)
    await send('2096-10-10T10:00:00Z', { ...customers[0]!, affiliate_id: 'b' })
    await send('2096-10-20T10:00:00Z', { ...customers[0]!, affiliate_id: 'c' })
    await send('2096-11-10T10:00:00Z', { ...customers[1]!, affiliate_id: 'c' })
  }
  const ids = (affiliate: string) => Array.from({ length: 5 }, (_, i) => `${affiliate}-${i}`)

  test('they are found by what is stored and by the history', async () => {
    await setUp()
    expect(await search(['a'])).toEqual(ids('a'))
    expect(await search(['b'])).toEqual(['a-0', ...ids('b')])
    expect(await search(['c'])).toEqual(['a-0', 'a-1', ...ids('c')])
    expect(await search(['b', 'c'])).toEqual(['a-0', 'a-1', ...ids('b'), ...ids('c')])
    expect(await search(['nobody'])).toEqual([])
    expect(await search(null)).toEqual([...ids('a'), ...ids('b'), ...ids('c')])
  })

  test('customers of a brand are found by the links of the affiliates', async () => {
    at('2096-10-05T10:00:00Z')
    const { post, account } = await brand()
    const links = [await linkOf(account, 'A-1'), await linkOf(account, 'A-2')] as const
    await post('customers', { ...eve, tracking_data: links[0].tracking_data })
    await post('customers', { customerId: 'p-2', tracking_data: links[1].tracking_data })
    await post('customers', { customerId: 'p-3' })
    await post('customers', { customerId: 'p-2', tracking_data: 'nonsense' })
    expect(await search(['A-1'], account)).toEqual(['p-1'])
    expect(await search(['A-2'], account)).toEqual(['p-2'])
    expect(await search(null, account)).toEqual(['p-1', 'p-2', 'p-3'])
  })

  test('the affiliate that a partner names wins over that of the link', async () => {
    at('2096-10-05T10:00:00Z')
    const send = await datedPartner('firm')
    const { tracking_data } = await linkOf('firm', 'X')
    await send('2096-10-05T10:00:00Z', { ...ada, affiliate_id: 'Y', tracking_data })
    expect(await search(['X'], 'firm')).toEqual([])
    expect(await search(['Y'], 'firm')).toEqual(['c-1'])
    expect(await affiliatesOf('firm', 'c-1')).toEqual([[null, 'Y']])
  })
})

describe('parents of affiliates by day', () => {
  const PATH = 'accounts/acme-forex/affiliates'
  const put = (time: string, affiliates: object[]) => {
    at(time)
    return askAdmin(PATH, 'PUT', affiliates)
  }
  const parentsOf = async (id: string) =>
    (await json(askAdmin(`${PATH}/parents?affiliate_id=${id}`))).data[0].parents.map(
      ({ from, parent }: Record<string, string>) => [from, parent],
    )
  const setUp = async () => {
    const send = await datedPartner()
    await put('2096-10-05T10:00:00Z', [
      { affiliate_id: 'top' },
      { affiliate_id: 'mid', parent: 'top' },
      { affiliate_id: 'low', parent: 'mid', from: '2096-09-01' },
    ])
    return send
  }

  test('a parent counts from the day it was set, or from a given day', async () => {
    await setUp()
    expect(await parentsOf('top')).toEqual([[null, null]])
    expect(await parentsOf('mid')).toEqual([
      [null, null],
      ['2096-10-05', 'top'],
    ])
    expect(await parentsOf('low')).toEqual([
      [null, null],
      ['2096-09-01', 'mid'],
    ])
    expect(
      await json(put('2096-10-08T10:00:00Z', [{ affiliate_id: 'low', parent: null }])),
    ).toEqual({ received: 1, changed: 1 })
    expect((await parentsOf('low'))[2]).toEqual(['2096-10-08', null])
  })

  test('a later day keeps what is before it, an earlier one replaces what is after it', async () => {
    await setUp()
    await put('2096-10-08T10:00:00Z', [{ affiliate_id: 'low', parent: 'top', from: '2096-12-01' }])
    expect((await parentsOf('low')).slice(1)).toEqual([
      ['2096-09-01', 'mid'],
      ['2096-12-01', 'top'],
    ])
    await put('2096-10-08T10:00:00Z', [{ affiliate_id: 'low', parent: 'top', from: '2096-10-01' }])
    expect((await parentsOf('low')).slice(1)).toEqual([
      ['2096-09-01', 'mid'],
      ['2096-10-01', 'top'],
    ])
    const { data } = await json(askAdmin(PATH))
    expect(data).toContainEqual(expect.objectContaining({ affiliate_id: 'low', parent: 'top' }))
  })

  test('an affiliate that is sent without a parent, or with the same one, changes nothing', async () => {
    await setUp()
    const same = [{ affiliate_id: 'mid', parent: 'top' }, { affiliate_id: 'low' }]
    expect(await json(put('2096-10-08T10:00:00Z', same))).toEqual({ received: 2, changed: 0 })
    expect(await parentsOf('mid')).toHaveLength(2)
    const orphan = [{ affiliate_id: 'mid', from: '2096-10-01' }]
    expect(await issuesOf(put('2096-10-08T10:00:00Z', orphan))).toMatchObject([
      ['/0/parent', 'required', '`parent` is required.'],
    ])
  })

  test('a parent of the past that is sent again counts from today', async () => {
    await setUp()
    const from = (day: string, parent: string | null) =>
      put('2096-10-08T10:00:00Z', [{ affiliate_id: 'mid', parent, from: day }])
    await from('2096-10-01', 'top')
    await from('2096-10-03', null)
    await put('2096-10-08T10:00:00Z', [{ affiliate_id: 'mid', parent: 'top' }])
    expect((await parentsOf('mid')).slice(-3)).toEqual([
      ['2096-10-01', 'top'],
      ['2096-10-03', null],
      ['2096-10-08', 'top'],
    ])
  })

  test('a circle on any day is refused', async () => {
    await setUp()
    // From the 20th on `low` is no longer below `mid`, but on the days before it is.
    await put('2096-10-08T10:00:00Z', [{ affiliate_id: 'low', parent: null, from: '2096-10-20' }])
    const below = (from: string) => [{ affiliate_id: 'top', parent: 'low', from }]
    expect(await issuesOf(put('2096-10-08T10:00:00Z', below('2096-10-19')))).toMatchObject([
      ['/0/parent', 'circle', expect.stringContaining('`low`')],
    ])
    expect((await put('2096-10-08T10:00:00Z', below('2096-10-20'))).status).toBe(200)
  })

  test('simultaneous changes never make a circle on any day', async () => {
    at('2096-10-05T10:00:00Z')
    await datedPartner()
    await put('2096-10-05T10:00:00Z', [{ affiliate_id: 'a' }, { affiliate_id: 'b' }])
    const statuses = await Promise.all(
      [
        [{ affiliate_id: 'a', parent: 'b', from: '2096-10-01' }],
        [{ affiliate_id: 'b', parent: 'a', from: '2096-10-09' }],
      ].map(async (body) => (await askAdmin(PATH, 'PUT', body)).status),
    )
    expect(statuses.sort()).not.toEqual([200, 200])
  })

  test('the audit log has the parents that a request replaces', async () => {
    await setUp()
    await put('2096-10-08T10:00:00Z', [
      { affiliate_id: 'low', parent: 'top' },
      { affiliate_id: 'mid', parent: 'top' },
      { affiliate_id: 'new' },
    ])
    expect((await lastAction()).details).toEqual({
      ...{ affiliates: 3, added: ['new'] },
      ids: ['low', 'mid', 'new'],
      before: [
        {
          affiliate_id: 'low',
          parents: [
            { from: null, parent: null },
            { from: '2096-09-01', parent: 'mid' },
          ],
        },
      ],
    })
  })
})

describe('the depth of the tree', () => {
  const PATH = 'accounts/acme-forex/affiliates'
  const TODAY = '2096-10-05T10:00:00Z'
  const put = (affiliates: object[]) => askAdmin(PATH, 'PUT', affiliates)
  /** A chain of affiliates, the first without a parent. */
  const chain = (name: string, length: number) =>
    Array.from({ length }, (_, i) => ({
      affiliate_id: `${name}-${i + 1}`,
      ...(i > 0 && { parent: `${name}-${i}`, from: '2096-01-01' }),
    }))
  const isRefused = async (sent: object[]) => {
    const response = await put(sent)
    const { detail } = await json(response)
    expect([response.status, detail]).toEqual([
      409,
      expect.stringContaining('A chain of parents would have more than 64 affiliates'),
    ])
  }
  const setUp = async () => {
    await datedPartner()
    at(TODAY)
  }

  test('a chain has at most 64 affiliates, also within one request', async () => {
    await setUp()
    expect((await put(chain('a', 64))).status).toBe(200)
    const [, deepest] = chain('b', 2)
    const below = { ...deepest, affiliate_id: 'b', parent: 'a-64' }
    await isRefused([below])
    await isRefused(chain('b', 66))
    expect((await put([{ ...below, parent: 'a-63' }])).status).toBe(200)
  })

  test('a parent counts with all affiliates below, on every day', async () => {
    await setUp()
    await put([...chain('a', 40), ...chain('b', 40)])
    const move = { affiliate_id: 'b-1', parent: 'a-25' }
    await isRefused([{ affiliate_id: 'c' }, move])
    await isRefused([{ ...move, from: '2097-01-01' }])
    expect((await put([{ ...move, parent: 'a-24' }])).status).toBe(200)
    // The chain of 64 ends before the day on which another affiliate is put below its last one.
    await put([{ affiliate_id: 'b-40', parent: null, from: '2097-01-01' }])
    const low = { affiliate_id: 'low', parent: 'b-40' }
    await isRefused([{ ...low, from: '2096-12-31' }])
    expect((await put([{ ...low, from: '2097-01-01' }])).status).toBe(200)
  })

  test('simultaneous changes never make a deeper tree', async () => {
    await setUp()
    await put([...chain('a', 40), ...chain('b', 24), ...chain('c', 24)])
    const sent = [{ affiliate_id: 'b-1', parent: 'a-40' }]
    const below = [{ affiliate_id: 'c-1', parent: 'b-24' }]
    const statuses = await Promise.all([sent, below].map(async (body) => (await put(body)).status))
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    const [loser] = statuses[0] === 200 ? [below] : [sent]
    await isRefused(loser!)
  })
})
