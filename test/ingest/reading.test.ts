import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { newDeliveryId } from '../../src/ingest/delivery-id.ts'
import { ada, ask, askAdmin, deposit, json, partner } from '../partner.ts'
import { asLogged, type LoggedError } from '../results.ts'
import { countCalls } from './watched.ts'

/** Creates a partner with customers c-1 and c-2 and `count` transactions over three days. */
const withTransactions = async (count: number) => {
  const acme = await partner()
  await acme.post('customers', [ada, { ...ada, customer_id: 'c-2' }])
  await acme.post(
    'transactions',
    Array.from({ length: count }, (_, i) => transactionOf(i)),
  )
  return acme
}

const transactionOf = (i: number) => ({
  ...deposit,
  transaction_id: `t-${String(i).padStart(3, '0')}`,
  customer_id: i % 2 ? 'c-2' : 'c-1',
  transaction_date: `2026-10-0${(i % 3) + 1}T12:00:00.000Z`,
})

const idsOf = ({ data }: { data: { transaction_id: string }[] }) =>
  data.map(({ transaction_id }) => transaction_id)

const idsBetween = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => transactionOf(from + i).transaction_id)

/** Returns an error as the log of deliveries has it: with at most 40 characters of an id. */
const withShortKey = (error: { index: number; key?: Record<string, string> } | undefined) => ({
  ...error,
  key: Object.fromEntries(
    Object.entries(error?.key ?? {}).map(([name, id]) => [
      name,
      id.length > 40 ? `${id.slice(0, 40)}…` : id,
    ]),
  ),
})

const expectInvalidQuery = async (response: Response, name: string) => {
  expect(response.status).toBe(400)
  const { code, detail } = await json(response)
  expect(code).toBe('invalid_query')
  expect(detail).toContain(name)
}

describe('pagination', () => {
  test('a page has 50 records by default, in key order', async () => {
    const acme = await withTransactions(120)
    const { data, meta } = await json(acme.get('transactions'))

    expect(idsOf({ data })).toEqual(idsBetween(0, 50))
    expect(meta).toEqual({ total: 120, page: 1, per_page: 50, next_cursor: expect.any(String) })
  })

  test('pages start at 1, have up to 500 records, and end without a cursor', async () => {
    const acme = await withTransactions(120)
    const page = (query: string) => acme.get(`transactions?${query}`).then(json)

    expect(idsOf(await page('page=3'))).toEqual(idsBetween(100, 120))
    expect((await page('page=3')).meta.next_cursor).toBeNull()
    expect((await page('page=2&per_page=60')).meta.next_cursor).toBeNull()
    expect((await page('per_page=500')).data).toHaveLength(120)
    expect(await page('page=4')).toMatchObject({ data: [], meta: { total: 120, page: 4 } })
  })

  test('a cursor continues after the previous page, and so does Link', async () => {
    const acme = await withTransactions(25)
    const walked: string[] = []
    let next: string | null = '/api/v1/forex/transactions?per_page=10'
    for (let number = 1; next; number++) {
      const response = await ask(next, {
        headers: { Authorization: `Bearer ${acme.access_token}` },
      })
      const link = response.headers.get('Link')
      const body = await json(response)
      expect(body.meta).toMatchObject({ total: 25, page: number, per_page: 10 })
      walked.push(...idsOf(body))
      const { next_cursor } = body.meta
      next = next_cursor && `/api/v1/forex/transactions?per_page=10&cursor=${next_cursor}`
      expect(link).toBe(next && `<https://api.example${next}>; rel="next"`)
    }
    expect(walked).toEqual(idsBetween(0, 25))
  })

  test('a wrong query is 400 invalid_query, with its name', async () => {
    const acme = await partner()
    for (const [name, query] of [
      ['page', 'page=0'],
      ['page', 'page=1.5'],
      ['page', 'page=x'],
      ['page', 'page=1000001'],
      ['per_page', 'per_page=0'],
      ['per_page', 'per_page=5e1'],
      ['cursor', 'cursor='],
      ['customer_id', 'customer_id='],
      ['%', 'customer_id=%ff'],
      ['%', 'customer_id=%ed%a0%80'],
      ['%', 'customer_id=50%'],
      ['cursor', 'cursor=eA.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'],
      ['from', 'from=2026-02-30'],
      ['to', 'to=yesterday'],
      ['`perpage`', 'perpage=5'],
      ['`status`', 'status=approved'],
    ] as const) {
      await expectInvalidQuery(await acme.get(`transactions?${query}`), name)
    }
  })

  test('a cursor of another account, resource or filter is refused', async () => {
    const acme = await withTransactions(3)
    const other = await partner('forex', { account: 'other' })
    const { next_cursor: cursor } = (await json(acme.get('transactions?per_page=1'))).meta

    expect((await acme.get(`transactions?cursor=${cursor}`)).status).toBe(200)
    await expectInvalidQuery(await other.get(`transactions?cursor=${cursor}`), 'cursor')
    await expectInvalidQuery(await acme.get(`customers?cursor=${cursor}`), 'cursor')
    await expectInvalidQuery(await acme.get(`trading-activity?cursor=${cursor}`), 'cursor')
    await expectInvalidQuery(
      await acme.get(`transactions?cursor=${cursor}&customer_id=c-1`),
      'cursor',
    )
    await expectInvalidQuery(await acme.get(`transactions?cursor=${cursor}&page=2`), 'page')
    const days = 'from=2026-10-01&to=2026-10-31'
    const filtered = (await json(acme.get(`transactions?per_page=1&${days}`))).meta.next_cursor
    const reordered = 'to=2026-10-31&from=2026-10-01'
    expect((await acme.get(`transactions?${reordered}&cursor=${filtered}`)).status).toBe(200)
    for (const other of ['from=2026-10-01', 'to=2026-10-31', 'from=2026-10-01&to=2026-10-30']) {
      await expectInvalidQuery(await acme.get(`transactions?${other}&cursor=${filtered}`), 'cursor')
    }
    const log = (await json(acme.get('deliveries?per_page=1'))).meta.next_cursor
    expect((await acme.get(`deliveries?cursor=${log}`)).status).toBe(200)
    await expectInvalidQuery(await other.get(`deliveries?cursor=${log}`), 'cursor')
    await expectInvalidQuery(await other.get(`held?cursor=${log}`), 'cursor')
  })
})

describe('a single record', () => {
  test('a record is found by any id', async () => {
    const acme = await partner()
    for (const id of ['a/b', '50%', '%41', '%2F', 'naïve', '😀', 'a?b#c', 'a b', 'x+y', '"', "'"]) {
      const sent = { ...ada, customer_id: id }
      await acme.post('customers', sent)

      const response = await acme.get(`customers/${encodeURIComponent(id)}`)
      expect(await json(response)).toEqual(sent)
      const { data } = await json(acme.get(`customers?customer_id=${encodeURIComponent(id)}`))
      expect(data).toEqual([sent])
    }
    for (const id of ['nobody', '%25', '%EF%BF%BD', 'x'.repeat(5000)]) {
      const response = await acme.get(`customers/${id}`)
      expect([id, response.status]).toEqual([id, 404])
      expect(await json(response)).toMatchObject({ code: 'not_found' })
    }
  })

  test.each(['%', '%zz', '%ff', '%E0%A4', 'a%2'])(
    'an id that is not percent-encoded UTF-8 is 400 invalid_query, in the path and in the query: %s',
    async (id) => {
      const acme = await partner()
      const [inPath, inQuery] = await Promise.all([
        acme.get(`customers/${id}`),
        acme.get(`transactions?customer_id=${id}`),
      ])

      expect([inPath.status, inQuery.status]).toEqual([400, 400])
      const { request_id: _, ...body } = await json(inPath)
      expect(body).toMatchObject({
        code: 'invalid_query',
        detail: expect.stringMatching(/Write `%` itself as `%25`/),
      })
      expect(await json(inQuery)).toMatchObject(body)
      expect((await acme.get(`transactions/${id}`)).status).toBe(400)
    },
  )
})

describe('GET account', () => {
  test('returns the identity and the configuration of the caller', async () => {
    const acme = await partner('forex', { affiliates: ['b', 'a'], unknown_customer: 'hold' })
    expect(await json(acme.get('account'))).toEqual({
      account: 'acme-forex',
      client_id: acme.client_id,
      name: 'The acme-forex',
      vertical: 'forex',
      mode: 'test',
      time_zone: 'UTC',
      book_zone: 'UTC',
      amount_signs: 'magnitude',
      scope: 'read write',
      policies: { unknown_customer: 'hold', unknown_affiliate: 'warn' },
      affiliates: ['a', 'b'],
      attention: [],
    })
  })

  test('lists the first 1000 affiliates and tells that there are more', async () => {
    const ids = (count: number) =>
      Array.from({ length: count }, (_, i) => `a-${String(i).padStart(4, '0')}`)
    const acme = await partner('forex', { affiliates: ids(1000) })
    const first = await json(acme.get('account'))
    expect([first.affiliates.length, first.more_affiliates]).toEqual([1000, undefined])
    await askAdmin(`accounts/${acme.account}/affiliates`, 'PUT', [{ affiliate_id: 'b' }])
    const { affiliates, more_affiliates } = await json(acme.get('account'))
    expect([affiliates, more_affiliates]).toEqual([ids(1000), true])
  })
})

test('§6 a list of customers has those who signed up on these days, by their day', async () => {
  const acme = await partner()
  const of = (customer_id: string, day: string) => ({
    ...ada,
    customer_id,
    signup_date: `${day}T23:59:59.000Z`,
  })
  const sent = [of('c-1', '2026-10-03'), of('c-3', '2026-10-01'), of('c-2', '2026-10-01')]
  await acme.post('customers', sent)
  const ids = async (query: string) => {
    const { data, meta } = await json(acme.get(`customers?${query}`))
    return [meta.total, ...data.map(({ customer_id }: { customer_id: string }) => customer_id)]
  }
  expect(await ids('from=2026-10-01&to=2026-10-01')).toEqual([2, 'c-2', 'c-3'])
  expect(await ids('from=2026-10-02')).toEqual([1, 'c-1'])
  expect(await ids('to=2026-10-02')).toEqual([2, 'c-2', 'c-3'])
  expect(await ids('to=2026-10-02&customer_id=c-2')).toEqual([1, 'c-2'])
  expect(await ids('from=2026-10-02&customer_id=c-2')).toEqual([0])
  await acme.post('customers', of('c-2', '2026-10-03'))
  expect(await ids('from=2026-10-01')).toEqual([3, 'c-3', 'c-1', 'c-2'])
  const early = Array.from({ length: 1000 }, (_, i) => of(`early-${i}`, '2026-09-01'))
  expect((await acme.post('customers', early)).status).toBe(200)
  const headers = { Authorization: `Bearer ${acme.access_token}` }
  const { rowsRead, response } = await countCalls('/api/v1/forex/customers?from=2026-10-01', {
    headers,
  })
  expect((await json(response)).data).toHaveLength(3)
  expect(rowsRead).toBeLessThan(50)
})

describe('GET deliveries', () => {
  test('lists deliveries, newest first, with their outcomes', async () => {
    const acme = await partner()
    const created = await json(acme.post('customers', ada))
    const dry = await json(acme.post('customers?dry_run=true', { ...ada, email: 'a@b.org' }))
    const refused = await json(acme.post('customers', [ada, { ...ada, lang_id: 'x', phase: 1 }]))
    await acme.postText('customers', '{')
    await acme.get('customers')

    const { data, meta } = await json(acme.get('deliveries'))
    expect(meta).toEqual({ total: 3, page: 1, per_page: 50, next_cursor: null })
    const noOutcomes = {
      ...{ created: 0, updated: 0, unchanged: 0, stale: 0, held: 0, rejected: 0 },
      not_stored: 0,
    }
    const common = { received_at: expect.any(String), resource: 'customers', errors_total: 0 }
    expect(data).toEqual([
      {
        ...common,
        delivery_id: refused.delivery_id,
        status: 422,
        dry_run: false,
        summary: { ...noOutcomes, received: 2, rejected: 1, not_stored: 1 },
        errors_total: 3,
      },
      {
        ...common,
        delivery_id: dry.delivery_id,
        status: 200,
        dry_run: true,
        summary: { ...noOutcomes, received: 1, updated: 1 },
      },
      {
        ...common,
        delivery_id: created.delivery_id,
        status: 201,
        dry_run: false,
        summary: { ...noOutcomes, received: 1, created: 1 },
      },
    ])
    expect(Date.now() - Date.parse(data[0].received_at)).toBeLessThan(10_000)
  })

  test('a single delivery has the errors of its response', async () => {
    const acme = await partner()
    await acme.post('customers', ada)
    const body = [
      { ...deposit, transaction_id: 't-1', customer_id: 'nobody' },
      { ...deposit, transaction_id: 't-2', currency: 'EUX' },
      { ...deposit, transaction_id: 't-3', customer_id: 'no one' },
    ]
    for (const sent of [body, { data: body }]) {
      const refused = await json(acme.post('transactions', sent))
      const found = await json(acme.get(`deliveries/${refused.delivery_id}`))

      expect(found.errors).toEqual(refused.errors.map(asLogged))
      expect(found).toMatchObject({ status: 422, errors_total: 3, summary: { rejected: 3 } })
    }
    const { delivery_id } = await json(
      acme.post('transactions', [deposit, body[2], deposit], { Prefer: 'handling=lenient' }),
    )
    expect(await json(acme.get(`deliveries/${delivery_id}`))).toMatchObject({
      status: 207,
      errors: [{ code: 'unknown_customer' }, { code: 'duplicate_key' }],
    })
  })

  test('a delivery keeps at most 100 errors and 64 KiB', async () => {
    const acme = await partner()
    await acme.post('customers', ada)
    const unknownCustomers = (id: string) =>
      Array.from({ length: 300 }, (_, i) => ({
        ...deposit,
        transaction_id: `${i}-${id}`,
        customer_id: `nobody-${id}`,
      }))
    const short = await json(acme.post('transactions', unknownCustomers('')))
    const long = await json(acme.post('transactions', unknownCustomers('€'.repeat(480))))
    const errorsOf = async (id: string) => (await json(acme.get(`deliveries/${id}`))).errors

    expect(await errorsOf(short.delivery_id)).toHaveLength(100)
    const stored = await (await acme.get(`deliveries/${long.delivery_id}`)).arrayBuffer()
    expect(stored.byteLength).toBeLessThan(66_000)
    const logged = await errorsOf(long.delivery_id)
    expect(logged.length).toBeGreaterThan(10)
    expect(logged).toEqual(long.errors.slice(0, logged.length).map(withShortKey))
    const alternating = unknownCustomers('€'.repeat(480)).map((sent, i) =>
      i % 2 ? sent : { ...sent, currency: 'XXQ' },
    )
    const mixed = await json(acme.post('transactions', [deposit, ...alternating]))
    const mixedLog = await errorsOf(mixed.delivery_id)
    // The log has the first error of each record and no room for a second.
    const first = Map.groupBy(
      mixed.errors as (LoggedError & { index: number })[],
      ({ index }) => index,
    )
    const firstOfEach = [...first.values()].map(([error]) => error)
    expect(mixedLog.length).toBeGreaterThan(10)
    expect(mixedLog).toEqual(
      firstOfEach.slice(0, mixedLog.length).map((error) => withShortKey(asLogged(error!))),
    )
  })

  test('deliveries older than 30 days are hidden, unknown ones are 404', async () => {
    const acme = await partner()
    const { delivery_id } = await json(acme.post('customers', ada))
    const daysAgo = (days: number) => newDeliveryId(Date.now() - days * 86_400_000)
    const rename = (id: string) => env.DB.prepare('update deliveries set id = ?').bind(id).run()
    const recent = daysAgo(29.9)
    await rename(recent)
    expect((await json(acme.get('deliveries'))).meta.total).toBe(1)
    expect((await acme.get(`deliveries/${recent}`)).status).toBe(200)

    const old = daysAgo(30.1)
    await rename(old)
    expect((await json(acme.get('deliveries'))).meta.total).toBe(0)
    for (const id of [delivery_id, old, 'x', '~']) {
      expect((await acme.get(`deliveries/${id}`)).status).toBe(404)
    }
  })
})

describe('GET totals', () => {
  test('totals span at most 366 days, both ends included', async () => {
    const acme = await partner()
    await acme.post('customers', [
      ada,
      { ...ada, customer_id: 'c', signup_date: '2027-10-01T00:00:00Z' },
    ])

    const { data } = await json(acme.get('totals?from=2026-10-01&to=2027-10-01'))
    expect(data.map(({ day }: { day: string }) => day)).toEqual(['2026-10-01', '2027-10-01'])
    await expectInvalidQuery(await acme.get('totals?from=2026-10-01&to=2027-10-02'), '366')
  })

  test.each([
    ['from', ''],
    ['from', 'from=x&to=2026-10-01'],
    ['from', 'from=2026-10-02&to=2026-10-01'],
    ['`page`', 'from=2026-10-01&to=2026-10-01&page=1'],
  ])('the error names %s for the query %j', async (name, query) => {
    const acme = await partner()

    await expectInvalidQuery(await acme.get(`totals?${query}`), name)
  })
})
