import { describe, expect, test } from 'vitest'
import { brand, deposited, eve } from '../brand.ts'
import { ada, askAdmin, deposit, json, partner, traded } from '../partner.ts'

const LENIENT = { Prefer: 'handling=lenient' }

type Partner = Awaited<ReturnType<typeof partner>>

/** Creates a partner with one customer. */
const acmeWithAda = async (...settings: Parameters<typeof partner>) => {
  const acme = await partner(...settings)
  await acme.post('customers', ada)
  return acme
}

const search = (acme: Pick<Partner, 'get'>, query: string) => json(acme.get(`deliveries?${query}`))

const idsOf = ({ data }: { data: { delivery_id: string }[] }) =>
  data.map(({ delivery_id }) => delivery_id)

const deliver = async (sent: Response | Promise<Response>) => (await json(sent)).delivery_id

describe('GET deliveries', () => {
  test('finds by resource and status, alone and together', async () => {
    const acme = await acmeWithAda()
    const ok = await deliver(acme.post('transactions', deposit))
    const same = await deliver(acme.post('transactions', [deposit]))
    const wrong = { ...deposit, transaction_id: 't-2', currency: 'EUX' }
    const unknown = { ...deposit, transaction_id: 't-3', customer_id: 'nobody' }
    const refused = await deliver(acme.post('transactions', [wrong]))
    const partial = await deliver(acme.post('transactions', [deposit, wrong, unknown], LENIENT))
    const traded422 = await deliver(acme.post('trading-activity', { ...traded, customer_id: 'n' }))
    const dry = await deliver(acme.post('transactions?dry_run=true', [unknown]))
    const cases = {
      'resource=transactions': [dry, partial, refused, same, ok],
      'resource=trading-activity': [traded422],
      'outcome=refused': [dry, traded422, partial, refused],
      'outcome=stored&resource=transactions': [same, ok],
      'resource=transactions&outcome=refused': [dry, partial, refused],
      'resource=customers&outcome=refused': [],
    }
    for (const [query, expected] of Object.entries(cases)) {
      const found = await search(acme, query)
      expect([query, idsOf(found)]).toEqual([query, expected])
      expect(found.meta).toMatchObject({ total: expected.length, next_cursor: null })
      const walked: string[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const page = await search(acme, `${query}&${cursor ? `cursor=${cursor}` : 'per_page=1'}`)
        walked.push(...idsOf(page))
        cursor = page.meta.next_cursor
      }
      expect([query, walked]).toEqual([query, expected])
    }
  })

  test.each([
    ['outcome=refuse', /`outcome` cannot be `refuse`. Did you mean `refused`/],
    ['status=refused', /is not a parameter/],
    [
      'resource=activities',
      /must be `customers`, `transactions` or `trading-activity`, not `activities`/,
    ],
    ['from=yesterday', /`from` must be a valid date/],
    ['from=2026-10-02&to=2026-10-01', /`from` must not be after `to`/],
    ['record=x', /is not a parameter/],
  ])('%s is refused with what to send instead', async (query, detail) => {
    const acme = await partner()
    const answer = await acme.get(`deliveries?${query}`)
    expect(answer.status).toBe(400)
    expect((await json(answer)).detail).toMatch(detail)
  })
})

describe('a record by its id', () => {
  test('§6 the deliveries that refused it, with its errors, and the one that stored it', async () => {
    const acme = await acmeWithAda()
    const other = { ...deposit, transaction_id: 't-other', currency: 'EUX' }
    const refused = await deliver(
      acme.post('transactions', [other, { ...deposit, transaction_id: 't-9', currency: 'EUX' }]),
    )
    const unknown = await deliver(
      acme.post('transactions', { ...deposit, transaction_id: 't-9', customer_id: 'nobody' }),
    )
    const stored = await deliver(
      acme.post('transactions', [deposit, { ...deposit, transaction_id: 't-9' }, other], LENIENT),
    )
    const found = await search(acme, 'record_id=t-9')

    expect(found.data).toMatchObject([
      {
        delivery_id: stored,
        status: 207,
        records: [{ index: 1, key: { transaction_id: 't-9' }, outcome: 'created', errors: [] }],
      },
      {
        delivery_id: unknown,
        records: [
          {
            index: 0,
            key: { transaction_id: 't-9' },
            outcome: 'rejected',
            errors: [{ pointer: '/customer_id', code: 'unknown_customer' }],
          },
        ],
      },
      { delivery_id: refused, records: [{ index: 1, errors: [{ pointer: '/1/currency' }] }] },
    ])
    expect(found.data.map(({ records }: { records: [] }) => records.length)).toEqual([1, 1, 1])
    const again = await deliver(
      acme.post('transactions', { ...deposit, transaction_id: 't-9', amount_currency: 7 }),
    )
    const search9 = (query: string) => search(acme, `record_id=t-9&${query}`)
    expect(idsOf(await search9(''))).toEqual([again, unknown, refused])
    expect((await search9('outcome=stored')).data).toMatchObject([
      { delivery_id: again, records: [{ index: 0, outcome: 'updated', errors: [] }] },
    ])
    expect(idsOf(await search9('outcome=refused'))).toEqual([unknown, refused])
    expect(idsOf(await search9('resource=customers'))).toEqual([])
    expect(idsOf(await search9('per_page=1'))).toEqual([again])
    const { meta } = await search9('per_page=1')
    expect(idsOf(await search9(`cursor=${meta.next_cursor}`))).toEqual([unknown])
    expect(idsOf(await search9('to=2026-01-01'))).toEqual([])
    expect(await search(acme, `record_id=${ada.customer_id}`)).toMatchObject({
      data: [
        {
          resource: 'customers',
          records: [{ key: { customer_id: ada.customer_id }, outcome: 'created', errors: [] }],
        },
      ],
    })
    expect(await search(acme, 'record_id=T-9')).toMatchObject({ data: [] })
  })

  test('a brand finds events by eventid, and others by customer', async () => {
    const casino = await brand({ unknown_customer: 'reject' })
    const event = { ...deposited, eventid: 'e-1', customerid: 'nobody' }
    const unknown = await deliver(casino.post('activities', event))
    const wrong = await deliver(casino.post('activities', { ...event, Value: 'x' }))
    await casino.post('customers', { ...eve, customerId: 'nobody' })
    const stored = await deliver(casino.post('activities', event))
    const found = await json(casino.get('deliveries?record_id=e-1'))

    expect(idsOf(found)).toEqual([stored, wrong, unknown])
    expect(found.data[0].records).toEqual([
      { index: 0, key: { eventid: 'e-1' }, outcome: 'created', errors: [] },
    ])
    const long = { ...event, eventid: 'l'.repeat(300) }
    const refused = await deliver(casino.post('activities', { ...long, Value: 'x' }))
    const byLongId = await json(casino.get(`deliveries?record_id=${long.eventid}`))
    expect(idsOf(byLongId)).toEqual([refused])
    const { eventid: _, ...unnamed } = event
    const daily = { ...unnamed, customerid: 'p-7', createtime: '2026-10-02' }
    const named = await deliver(casino.post('activities', daily))
    expect(idsOf(await json(casino.get('deliveries?record_id=p-7')))).toEqual([named])
  })

  test('another account finds nothing, the team finds the same', async () => {
    const acme = await acmeWithAda()
    const other = await partner('forex', { account: 'other' })
    const id = await deliver(acme.post('transactions', { ...deposit, currency: 'EUX' }))
    const query = `deliveries?record_id=${deposit.transaction_id}`

    expect((await json(other.get(query))).data).toEqual([])
    expect(idsOf(await json(askAdmin(`accounts/${acme.account}/${query}`)))).toEqual([id])
    expect((await other.get(`deliveries/${id}`)).status).toBe(404)
  })
})
