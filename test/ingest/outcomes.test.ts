import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { toJsonChunks } from '../../src/platform/db/json-chunks.ts'
import { ada, deposit, json, partner } from '../partner.ts'

describe('a dry run answers like a real request', () => {
  const stale = { ...ada, last_modified_date: '2026-01-01T00:00:00Z' }
  const bulk = [
    stale,
    { ...ada, customer_id: 'c-2', affiliate_id: 'nobody' },
    { ...ada, customer_id: 'c-3', lang_id: 'wrong' },
    { ...ada, customer_id: 'c-4' },
    { ...ada, customer_id: 'c-5', first_name: 'Eve' },
    { ...ada, customer_id: 'c-6' },
  ]
  const stored = [
    { ...ada, last_modified_date: '2026-02-01T00:00:00Z' },
    { ...ada, customer_id: 'c-4' },
    { ...ada, customer_id: 'c-5' },
  ]

  test.each(
    ['', 'handling=lenient', 'return=minimal', 'handling=lenient, return=minimal'].flatMap(
      (Prefer) =>
        (['warn', 'reject'] as const).map((unknown_affiliate) => ({ Prefer, unknown_affiliate })),
    ),
  )(
    'response and log are equal for Prefer "$Prefer", unknown_affiliate $unknown_affiliate',
    async ({ Prefer, ...policy }) => {
      const acme = await partner('forex', policy)
      await acme.post('customers', stored)
      const deliver = async (query: string) => {
        const response = await acme.post(`customers${query}`, bulk, { Prefer })
        const {
          delivery_id,
          delivery_url: _url,
          dry_run,
          request_id,
          ...body
        } = await json(response)
        const log = await json(acme.get(`deliveries/${delivery_id}`))
        const { received_at, dry_run: _, delivery_id: __, days: ___, ...logged } = log
        return { status: response.status, body, logged }
      }
      const predicted = await deliver('?dry_run=true')
      const real = await deliver('')

      expect(predicted).toEqual(real)
      const { received, ...outcomes } = real.logged.summary
      const sum = Object.values(outcomes as Record<string, number>).reduce((a, b) => a + b)
      if (real.status === 207) expect(sum).toBe(received)
      expect(Math.min(...Object.values(outcomes as Record<string, number>))).toBe(0)
    },
  )
})

test('the response to a bulk has the documented shape', async () => {
  const acme = await partner()
  await acme.post('customers', { ...ada, customer_id: 'c-2' })
  const unknownAffiliate = { ...ada, affiliate_id: 'nobody' }
  const response = await acme.post('customers', [unknownAffiliate, { ...ada, customer_id: 'c-2' }])

  expect(response.status).toBe(200)
  expect(await json(response)).toEqual({
    delivery_id: expect.stringMatching(/^dlv_/),
    delivery_url: expect.stringMatching(
      /^https:\/\/api\.example\/api\/v1\/forex\/deliveries\/dlv_/,
    ),
    dry_run: false,
    summary: {
      ...{ received: 2, created: 1, updated: 0, unchanged: 1, stale: 0, held: 0, rejected: 0 },
      not_stored: 0,
      warnings: 1,
    },
    results: [
      {
        index: 0,
        key: { customer_id: 'c-1' },
        outcome: 'created',
        warnings: [
          {
            code: 'unknown_affiliate',
            pointer: '/0/affiliate_id',
            message: 'Affiliate `nobody` is not configured.',
          },
        ],
      },
      { index: 1, key: { customer_id: 'c-2' }, outcome: 'unchanged' },
    ],
  })
})

test('a change of the customer alone updates the delivery and the revision', async () => {
  const acme = await partner()
  await acme.post('customers', [ada, { ...ada, customer_id: 'c-2' }])
  await acme.post('transactions', deposit)
  const moved = { ...deposit, customer_id: 'c-2' }
  const { delivery_id, summary, results } = await json(acme.post('transactions', [moved]))

  expect(summary).toMatchObject({ updated: 1, unchanged: 0 })
  expect(results).toMatchObject([{ outcome: 'updated' }])
  const row = await env.DB.prepare('select delivery, revision from transactions').first()
  expect(row).toEqual({ delivery: delivery_id, revision: 2 })
})

describe('handling=lenient', () => {
  const lenient = { Prefer: 'handling=lenient' }
  const invalid = { ...deposit, transaction_id: 't-2', currency: 'EUX' }
  const unknownCustomer = { ...deposit, transaction_id: 't-3', customer_id: 'nobody' }

  test('§4 a 207 has `errors` as a 422 has, and its summary counts the warnings', async () => {
    const acme = await partner()
    const bulk = [
      { ...ada, affiliate_id: 'nobody' },
      { ...ada, customer_id: 'c-2', lang_id: 'x' },
    ]
    const { summary, errors, errors_total, results } = await json(
      acme.post('customers', bulk, lenient),
    )
    expect(summary).toMatchObject({ received: 2, created: 1, rejected: 1, warnings: 1 })
    expect([errors, errors_total]).toEqual([
      [{ index: 1, key: { customer_id: 'c-2' }, ...results[1].errors[0] }],
      1,
    ])
    const refused = await json(acme.post('customers', bulk))
    expect(refused).toMatchObject({ errors, errors_total, summary: { warnings: 0 } })
    expect(await json(acme.post('customers', [bulk[0]]))).toMatchObject({
      summary: { warnings: 1 },
    })
  })

  test.each<[string, unknown, Record<string, string>, number, number]>([
    ['an invalid object', invalid, {}, 1, 1],
    ['an invalid object with lenient handling', invalid, lenient, 1, 1],
    ['an array with one invalid record', [deposit, invalid], {}, 2, 1],
    ['an array of invalid records', [invalid, unknownCustomer], {}, 2, 2],
    ['invalid records with lenient handling', { data: [invalid, unknownCustomer] }, lenient, 2, 2],
    ['an array of arrays', [[], []], {}, 2, 2],
  ])(
    '§4 a 422 for %s has the numbers that log and feed show',
    async (_, body, headers, received, rejected) => {
      const acme = await partner()
      await acme.post('customers', ada)
      const response = await acme.post('transactions', body, headers)
      expect(response.status).toBe(422)
      const { summary, delivery_id } = await json(response)
      expect(summary).toEqual({
        ...{ received, rejected, not_stored: received - rejected },
        ...{ created: 0, updated: 0, unchanged: 0, stale: 0, held: 0, warnings: 0 },
      })
      const logged = await json(acme.get(`deliveries/${delivery_id}`))
      expect(summary).toEqual({ ...logged.summary, warnings: 0 })
      const { data } = await json(acme.get('feed'))
      expect(
        data.find(({ resource }: { resource: string }) => resource === 'transactions'),
      ).toMatchObject({
        received_last_day: received,
        rejected_last_day: rejected,
        not_stored_last_day: received - rejected,
        refused_share_last_day: 1,
      })
    },
  )
})

test.each<[string, unknown[][], number, string[]]>([
  ['no rows', [], 100, []],
  ['rows that fit exactly', [[1], [2], [3]], 13, ['[[1],[2],[3]]']],
  ['rows that do not fit', [[1], [2], [3]], 12, ['[[1],[2]]', '[[3]]']],
  ['rows of which two fit', [[1], [2], [3]], 10, ['[[1],[2]]', '[[3]]']],
  ['rows of which one fits', [[1], [2], [3]], 9, ['[[1]]', '[[2]]', '[[3]]']],
  ['a row that is too large', [[1], ['xxxxxxxx'], [3]], 9, ['[[1]]', '[["xxxxxxxx"]]', '[[3]]']],
  ['characters of three bytes', [['€'], ['€']], 17, ['[["€"],["€"]]']],
  ['too many characters of three bytes', [['€'], ['€']], 16, ['[["€"]]', '[["€"]]']],
])('%s are split into the fewest JSON arrays', (_, rows, maxBytes, chunks) => {
  expect(toJsonChunks(rows, maxBytes)).toEqual(chunks)
})

test('an invalid record in the last chunk rejects the whole bulk', async () => {
  const acme = await partner()
  await acme.post('customers', ada)
  const note = '€'.repeat(500)
  const transactions = Array.from({ length: 440 }, (_, i) => ({
    ...deposit,
    transaction_id: `${i}-${note.slice(4)}`,
    note,
    status: note,
  }))
  const unknownCustomer = { ...deposit, customer_id: 'nobody' }

  expect(
    (await acme.post('transactions', [...transactions.slice(1), unknownCustomer])).status,
  ).toBe(422)
  expect((await json(acme.get('transactions'))).meta.total).toBe(0)
  expect(await json(acme.post('transactions', transactions))).toMatchObject({
    summary: { created: 440 },
  })
  const resent = transactions.map((sent, i) => (i === 439 ? { ...sent, amount_currency: 1 } : sent))
  expect(await json(acme.post('transactions?dry_run=true', resent))).toMatchObject({
    summary: { updated: 1, unchanged: 439 },
  })
  expect(await json(acme.post('transactions', resent))).toMatchObject({
    summary: { updated: 1, unchanged: 439 },
  })
  expect((await json(acme.get('transactions'))).meta.total).toBe(440)
})
