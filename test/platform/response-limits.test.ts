import { describe, expect, test } from 'vitest'
import { TOTALS_LIMITS } from '../../src/ingest/db/totals.ts'
import { storedBrand as brand, day } from '../brand.ts'
import { restoring } from '../limits.ts'
import { json } from '../partner.ts'

// Limits on the size of one response. Concurrent requests share the 128 MB of an isolate.

restoring(TOTALS_LIMITS)

const NOTE_LENGTH = 15_000
const COUNT = 150
const ids = Array.from({ length: COUNT }, (_, i) => `p-${i}`)

/** Asserts that 200 records are too large for a page, and that the suggested page size works. */
async function expectBoundedPages(get: (query: string) => Promise<Response>) {
  const response = await get('per_page=200')
  const { code, detail } = await json(response.clone())
  expect([response.status, code]).toEqual([400, 'invalid_query'])
  const [, suggestedSize] = /^`per_page` is too large: .+ 2 MiB\. Use at most (\d+)\.$/.exec(
    detail,
  )!
  expect(Number(suggestedSize)).toBeGreaterThan(100)

  const walked = []
  let query = `per_page=${suggestedSize}`
  for (;;) {
    const { data, meta } = await json(get(query))
    walked.push(...data)
    if (meta.next_cursor === null) break
    query = `cursor=${meta.next_cursor}`
  }
  expect(walked).toHaveLength(COUNT)
}

describe('a page above 2 MiB', () => {
  test('a page of customers is refused with a size that fits', async () => {
    const acme = await brand()
    const bulk = ids.map((customerId) => ({ customerId, note: 'x'.repeat(NOTE_LENGTH) }))
    expect((await acme.post('customers', bulk)).status).toBe(200)
    await expectBoundedPages((query) => acme.get(`customers?${query}`))
  })

  test('a page of filtered events is refused likewise', async () => {
    const acme = await brand()
    await acme.post('customers', { customerId: 'p-1' })
    const bulk = ids.map((id) => ({
      ...day,
      customerid: 'p-1',
      eventid: id,
      x: 'x'.repeat(NOTE_LENGTH),
    }))
    expect((await acme.post('activities', bulk)).status).toBe(200)
    await expectBoundedPages((query) => acme.get(`activities?customerid=p-1&${query}`))
  })
})

test('too many totals are refused with advice to request fewer days', async () => {
  TOTALS_LIMITS.totals = 50
  const acme = await brand()
  await acme.post('customers', { customerId: 'p-1' })
  const events = ['2026-10-02', '2026-10-03'].map((createtime, i) => ({
    ...{ eventname: 'E', customerid: 'p-1', eventid: `e-${i}`, createtime, Currency: 'EUR' },
    ...Object.fromEntries(Array.from({ length: 30 }, (_, k) => [`${i}-${k}`, '1'])),
  }))
  expect((await acme.post('activities', events)).status).toBe(200)
  const twoDays = await acme.get('totals?from=2026-10-02&to=2026-10-03')
  expect([twoDays.status, (await json(twoDays)).detail]).toEqual([
    422,
    'From `from` to `to`, there are more than 50,000 totals, or 2 MiB of them. Ask for fewer days.',
  ])
  const { data } = await json(acme.get('totals?from=2026-10-02&to=2026-10-02'))
  expect(Object.keys(data[0].sums)).toHaveLength(30)
})
