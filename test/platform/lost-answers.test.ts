import { describe, expect, test } from 'vitest'
import { brand, deposited, eve } from '../brand.ts'
import { fetchWith } from '../checked-fetch.ts'
import { ada, json, ORIGIN, partner } from '../partner.ts'
import { CURABLE, faulty } from './faulty.ts'

// The database commits a batch, and its answer is lost. The service reads that it was stored, and the
// caller gets the answer that was decided before.

type Brand = Awaited<ReturnType<typeof brand>>

const LOST = { message: CURABLE[0]!, after: true }

const postIn = (
  world: { env: Env },
  path: string,
  credentials: Record<string, string>,
  body: unknown,
) =>
  json(
    fetchWith(
      world.env,
      new Request(new URL(path, ORIGIN), {
        method: 'POST',
        headers: { ...credentials, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      }),
    ),
  )

const postAsBrand = (world: { env: Env }, { brand_token }: Brand, path: string, body: unknown) =>
  postIn(world, `/tracking/events/${path}`, { 'x-api-key': brand_token }, body)

describe('a request that repeats keys', () => {
  const deposits = [
    deposited,
    { ...deposited, Value: '50.00' },
    { ...deposited, eventid: 'e-2' },
    { ...deposited, Value: '50.00' },
    { ...deposited, Value: '75.00' },
  ]
  const customers = [
    { ...eve, country: 'FR' },
    { ...eve, customerId: 'p-2' },
    { customerId: 'p-1', firstName: 'Eve' },
    { customerId: 'p-1', firstName: 'Eve' },
    { customerId: 'p-2', country: 'FR' },
  ]

  test.each([
    ['activities', deposits, Array(5).fill('created')],
    ['customers', customers, ['updated', 'created', 'updated', 'updated', 'created']],
  ])(
    'each repeated record of %s has the outcome of the merged one after a retry',
    async (path, body, outcomes) => {
      const answers: object[] = []
      for (const [account, faults] of [
        ['brand-lost', [null, LOST]],
        ['brand-fine', []],
      ] as const) {
        const casino = await brand({ account })
        await casino.post('customers', eve)
        const world = faulty([...faults])
        const answered = await postAsBrand(world, casino, path, body)
        const { delivery_id: _, delivery_url: _url, ...answer } = answered
        answers.push(answer)
        expect(world.seen.tries).toBe(faults.length > 0 ? 3 : 2)
      }

      expect(answers[0]).toEqual(answers[1])
      const { results } = answers[0] as { results: { outcome: string }[] }
      expect(results.map(({ outcome }) => outcome)).toEqual(outcomes)
    },
  )
})

test('an event that replaced another one has the warning after a retry', async () => {
  const casino = await brand()
  await casino.post('customers', eve)
  await casino.post('activities', deposited)
  const world = faulty([null, LOST])
  const withdrawal = { ...deposited, eventname: 'Withdrawal' }
  expect(await postAsBrand(world, casino, 'activities', [withdrawal])).toMatchObject({
    results: [{ outcome: 'updated', warnings: [{ code: 'changed_event' }] }],
  })
})

test('a corrected affiliate has the warning after a retry', async () => {
  const acme = await partner()
  await acme.post('customers', ada)
  const other = { ...ada, affiliate_id: 'aff-8' }
  const credentials = { Authorization: `Bearer ${acme.access_token}` }
  const world = faulty([null, LOST])
  const answer = await postIn(world, '/api/v1/forex/customers', credentials, [other])
  expect(answer.results).toMatchObject([
    { outcome: 'updated', warnings: [{}, { code: 'affiliation_changed', from: '2026-10-01' }] },
  ])
})
