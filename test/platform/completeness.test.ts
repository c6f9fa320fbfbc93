import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { brand as newBrand } from '../brand.ts'
import { ada, askAdmin, deposit, json, partner } from '../partner.ts'

const DAY = 86_400_000

describe('what needs attention', () => {
  const attentionOf = async ({ get }: Pick<Awaited<ReturnType<typeof partner>>, 'get'>) =>
    (await json(get('account'))).attention

  test('an account in order needs none', async () => {
    const acme = await partner()
    await acme.post('customers', ada)
    await acme.post('transactions', { ...deposit, status: 'approved' })
    const codes = (await attentionOf(acme)).map(({ code }: { code: string }) => code)
    expect(codes).not.toContain('unmapped_statuses')
    expect(codes).toEqual([])
  })

  test('statuses without a meaning and affiliates that are not configured are named', async () => {
    const acme = await partner()
    await acme.post('customers', [
      { ...ada, affiliate_id: 'aff-9' },
      { ...ada, customer_id: 'c-2', affiliate_id: 'aff-9' },
    ])
    await acme.post('transactions', [
      { ...deposit, status: 'Cleared' },
      { ...deposit, transaction_id: 't-2', status: 'Bounced' },
    ])
    expect(await attentionOf(acme)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ code: 'unmapped_statuses', names: ['Bounced', 'Cleared'] }),
        expect.objectContaining({
          code: 'unconfigured_affiliates',
          count: 1,
          detail: expect.stringContaining('`aff-9`'),
        }),
      ]),
    )
    await askAdmin(`accounts/${acme.account}/status-map`, 'PUT', {
      Cleared: 'approved',
      Bounced: 'declined',
    })
    const codes = (await attentionOf(acme)).map(({ code }: { code: string }) => code)
    expect(codes).not.toContain('unmapped_statuses')
  })

  test('a feed of which more than 5 % is refused is named, with the number of records', async () => {
    const acme = await partner()
    const many = Array.from({ length: 19 }, (_, i) => ({ ...ada, customer_id: `c-${i}` }))
    await acme.post('customers', many)
    await acme.post('customers', {})
    const refused = (found: { code: string }[]) =>
      found.filter(({ code }) => code === 'refused_records')
    expect(refused(await attentionOf(acme))).toEqual([])

    await acme.post('customers', [{}, {}])
    expect(refused(await attentionOf(acme))).toEqual([
      {
        ...{ code: 'refused_records', count: 3, names: ['customers'] },
        detail: expect.stringContaining('`customers`'),
        url: 'https://api.example/api/v1/forex/deliveries?outcome=refused',
      },
    ])
  })

  const named = async (acme: Pick<Awaited<ReturnType<typeof partner>>, 'get'>, code: string) =>
    (await attentionOf(acme)).find((one: { code: string }) => one.code === code)

  test('events of a state without a meaning', async () => {
    const events = {
      Deposit: { granularity: 'event', status_member: 'state' },
    }
    const acme = await newBrand({ events })
    await acme.post('customers', { customerId: 'p-1', regtime: '2026-10-01 08:00' })
    const event = {
      customerid: 'p-1',
      createtime: '2026-10-02 09:30',
      Value: '1.00',
      Currency: 'EUR',
    }
    await acme.post('activities', [
      { ...event, eventid: 'e-1', eventname: 'Deposit', state: 'done' },
      { ...event, eventid: 'e-3', eventname: 'Bet' },
    ])
    expect(await named(acme, 'unmapped_statuses')).toMatchObject({
      count: 1,
      detail: expect.stringContaining('`done`'),
    })
  })

  test('a client secret that ends within a day is named', async () => {
    const acme = await partner()
    await askAdmin(`accounts/${acme.account}/clients/${acme.client_id}/rotate`, 'POST', {
      overlap: '24h',
    })
    expect(await attentionOf(acme)).toContainEqual(
      expect.objectContaining({
        ...{ code: 'expiring_credentials', count: 1 },
        detail: expect.stringMatching(/^A previous client secret ends at /),
      }),
    )
  })

  test('held records and ends of credentials are named', async () => {
    const casino = await newBrand()
    await casino.post('activities', {
      eventname: 'Bet',
      customerid: 'nobody',
      eventid: 'e-1',
      Value: 1,
    })
    await env.DB.prepare(
      `insert into brand_tokens (account, digest, id, ends_at, created_at)
       values (?, printf('%064x', 1), 'b', ?, '2026-01-01T00:00:00.000Z')`,
    )
      .bind(casino.account, Date.now() + DAY)
      .run()

    const found = await attentionOf(casino)
    expect(found).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          code: 'held_records',
          count: 1,
          url: 'https://api.example/tracking/events/held',
        }),
        expect.objectContaining({
          ...{ code: 'expiring_credentials', count: 1 },
          detail: expect.stringMatching(
            /^A previous Brand Token ends at .* Switch to the new one before then\.$/,
          ),
        }),
      ]),
    )
  })
})
