import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { brand, eve } from '../brand.ts'
import { fetchWith } from '../checked-fetch.ts'
import { watchMarks } from '../marks.ts'
import { overriding } from '../overriding.ts'
import { ada, askAdmin, deposit, json, ORIGIN, partner, traded } from '../partner.ts'

watchMarks()

// A delivery reads what is stored, decides, and writes. Whatever happens between the two trips, the answer and the
// records are those of one of the two orders.

type Partner = Awaited<ReturnType<typeof partner>>

/** Returns an environment that calls a function after each of the first `times` reads of a delivery. */
function afterRead(change: (round: number) => Promise<unknown>, times = 1): Env {
  let rounds = 0
  return {
    ...env,
    DB: overriding(env.DB, {
      withSession: (constraint: string) => {
        const session = env.DB.withSession(constraint)
        let batches = 0
        return overriding(session, {
          batch: async (statements: D1PreparedStatement[]) => {
            const results = await session.batch(statements)
            // Reads and writes take turns.
            batches += 1
            if (batches <= 2 * times && results.some(({ results: [row] }) => hasFound(row))) {
              rounds += 1
              await change(rounds)
            }
            return results
          },
        })
      },
    }),
  } as Env
}

const hasFound = (row: unknown) => typeof row === 'object' && row !== null && 'found' in row

const sendTo = (acme: Partner, resource: string, body: unknown, world: Env) =>
  fetchWith(
    world,
    new Request(new URL(`/api/v1/${acme.vertical}/${resource}`, ORIGIN), {
      method: 'POST',
      headers: { Authorization: `Bearer ${acme.access_token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    }),
  )

const outcomesOf = async (response: Promise<Response>) => {
  const { results = [] } = await json(response)
  return results.map(({ outcome }: { outcome: string }) => outcome)
}

describe('between the trips of a delivery', () => {
  test('another one stores the same record: this one updates it', async () => {
    const acme = await partner()
    await acme.post('customers', ada)
    const world = afterRead(() => acme.post('transactions', { ...deposit, amount_currency: 1 }))
    expect(await outcomesOf(sendTo(acme, 'transactions', [deposit], world))).toEqual(['updated'])
    expect(await json(acme.get('transactions/t-1'))).toMatchObject({ amount_currency: 100.25 })
    expect(await json(acme.get('totals?from=2026-10-01&to=2026-10-31'))).toMatchObject({
      data: [{ count: 1 }, { count: 1 }],
    })
  })

  test('another one stores the same content: this one changes nothing', async () => {
    const acme = await partner()
    await acme.post('customers', ada)
    const world = afterRead(() => acme.post('transactions', deposit))
    expect(await outcomesOf(sendTo(acme, 'transactions', [deposit], world))).toEqual(['unchanged'])
  })

  test('the customer of a record arrives: it is not held', async () => {
    const acme = await partner('forex', { unknown_customer: 'hold' })
    const world = afterRead(() => acme.post('customers', ada))
    const sent = sendTo(acme, 'trading-activity', [traded], world)
    expect(await outcomesOf(sent)).toEqual(['created'])
    expect(await json(acme.get('held'))).toMatchObject({ meta: { total: 0 } })
  })

  test('the customer is erased: nothing personal is stored', async () => {
    const acme = await partner()
    await acme.post('customers', ada)
    const path = `accounts/${acme.account}/customers/${ada.customer_id}/personal-data`
    const world = afterRead(() => askAdmin(path, 'DELETE'))
    const sent = sendTo(acme, 'customers', [{ ...ada, first_name: 'Augusta' }], world)
    await sent
    expect(JSON.stringify(await json(acme.get('customers/c-1')))).not.toMatch('Augusta')
  })

  test('the account is reset: nothing is left of the delivery', async () => {
    const acme = await partner()
    await acme.post('customers', ada)
    const world = afterRead(() => askAdmin(`accounts/${acme.account}/reset`, 'POST'))
    await sendTo(acme, 'transactions', [deposit], world)
    expect(await json(acme.get('transactions'))).toMatchObject({ data: [] })
  })

  test('others keep changing the record: the answer is 503, and nothing is stored', async () => {
    const acme = await partner()
    await acme.post('customers', ada)
    let rounds = 0
    const world = afterRead((round) => {
      rounds = round
      return acme.post('transactions', { ...deposit, amount_currency: round })
    }, 20)
    const response = await sendTo(acme, 'transactions', [deposit], world)
    expect([response.status, response.headers.get('Retry-After')]).toEqual([503, '5'])
    expect(await json(acme.get('transactions/t-1'))).toMatchObject({ amount_currency: rounds })
  })

  test('the customer of a brand grows: the limit of all fields holds', async () => {
    const acme = await brand()
    const field = (name: string) => [{ ...eve, [name]: 'x'.repeat(16_000) }]
    for (const name of 'abc') await acme.post('customers', field(name))
    const world = afterRead(() => acme.post('customers', field('d')))
    const request = new Request(new URL('/tracking/events/customers', ORIGIN), {
      method: 'POST',
      headers: { 'x-api-key': acme.brand_token, 'Content-Type': 'application/json' },
      body: JSON.stringify(field('e')),
    })
    expect((await fetchWith(world, request)).status).toBe(422)
  })
})

test('ten senders of one record at once are all answered', async () => {
  const acme = await partner()
  await acme.post('customers', ada)
  const sent = await Promise.all(
    Array.from({ length: 10 }, (_, i) =>
      acme.post('transactions', { ...deposit, amount_currency: i + 1 }),
    ),
  )
  expect(new Set(sent.map(({ status }) => status < 300))).toEqual(new Set([true]))
})
