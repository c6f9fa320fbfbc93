import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import type { Rule } from '../../src/commission/plans/types.ts'
import { readCustomers } from '../../src/commission/run/customers.ts'
import { readAccount } from '../../src/commission/run/stored-account.ts'
import { findAccount } from '../../src/platform/directory/accounts.ts'
import { brand, deposited } from '../brand.ts'
import { at, linkOf } from '../days.ts'
import { json } from '../partner.ts'
import { assign, draftsOf, monthly, storePlan } from './stored.ts'

// A brand's customer without `regtime` signed up at the earliest time of the events that waited for them,
// else when first received (contract §16.27).

const ACCOUNT = 'acme-casino'

const CPA: Rule = {
  ...{ id: 'cpa', kind: 'once', amount: '200.00' },
  trigger: { event: 'Deposit', kpi: 'Value', min: '100' },
  qualify: [{ sum: [{ event: 'Deposit', kpi: 'Value' }], min: '50', within_days: 30 }],
} as Rule

const NOW = '2096-10-05T09:30:15.250Z'

const open = async (time_zone = 'UTC') => {
  at('2096-10-01T10:00:00Z')
  const casino = await brand({ time_zone })
  const { tracking_data } = await linkOf(ACCOUNT, 'aff-1')
  at(NOW)
  const deposit = (customerid: string, createtime: string | undefined, more: object = {}) =>
    casino.post('activities', {
      ...deposited,
      eventid: crypto.randomUUID(),
      customerid,
      createtime,
      Value: '100.00',
      ...more,
    })
  return { ...casino, tracking_data, deposit }
}

/** Returns when a customer signed up, as the engine reads it, and the day in control totals. */
async function signupOf(customer_id: string) {
  const source = await readAccount(env as Env, (await findAccount(env.DB, ACCOUNT))!)
  const [{ signup, signupDay } = { signup: 0, signupDay: 0 }] = await readCustomers(source, [], {
    ids: [customer_id],
    share: 0,
  })
  const day = new Date(signupDay * 86_400_000).toISOString().slice(0, 10)
  return [new Date(signup).toISOString(), day]
}

test('a deposit that waited for its customer earns as it does beside a regtime', async () => {
  const { post, deposit, tracking_data } = await open()
  await storePlan(ACCOUNT, 'ib', monthly([CPA]))
  await assign(ACCOUNT, 'ib')
  await deposit('p-1', '2096-10-04 20:00')
  await deposit('p-2', '2096-10-04 20:00')
  await post('customers', [
    { customerId: 'p-1', tracking_data },
    { customerId: 'p-2', tracking_data, regtime: '2096-10-04 19:55' },
  ])
  const [draft] = await draftsOf(ACCOUNT, '2096-10', ['aff-1'])
  expect(draft!.lines.map(({ amount, scope }) => [scope, amount])).toEqual([
    ['customer:p-1', '200.00'],
    ['customer:p-2', '200.00'],
  ])
})

test.each<[string, string, (string | undefined)[], [instant: string, day: string]]>([
  ['no event', 'UTC', [], [NOW, '2096-10-05']],
  ['no event, in another zone', 'America/Los_Angeles', [], [NOW, '2096-10-05']],
  [
    'the earliest of several events',
    'UTC',
    ['2096-10-04 20:00', '2096-10-03 08:00', '2096-10-03 07:59:59', '2096-10-05 09:00'],
    ['2096-10-03T07:59:59.000Z', '2096-10-03'],
  ],
  [
    'an event of the same day',
    'UTC',
    ['2096-10-05 09:00'],
    ['2096-10-05T09:00:00.000Z', '2096-10-05'],
  ],
  [
    'an event in the zone of the account',
    'America/Los_Angeles',
    ['2096-10-04 22:00'],
    ['2096-10-05T05:00:00.000Z', '2096-10-04'],
  ],
  ['an event of a whole day', 'UTC', ['2096-10-04'], ['2096-10-04T00:00:00.000Z', '2096-10-04']],
  [
    'an event without a time, which counts from the beginning of its day',
    'UTC',
    [undefined, '2096-10-05 08:00'],
    ['2096-10-05T00:00:00.000Z', '2096-10-05'],
  ],
  ['an event that is yet to come', 'UTC', ['2096-10-06 10:00'], [NOW, '2096-10-05']],
  [
    'a time before 2000',
    'UTC',
    ['1970-01-01 00:00', '2096-10-05 09:00'],
    ['2096-10-05T09:00:00.000Z', '2096-10-05'],
  ],
])('the signup of a customer with %s', async (_, zone, times, expected) => {
  const { post, get, deposit } = await open(zone)
  for (const time of times) await deposit('p-1', time)
  // Events of others do not count.
  await deposit('p-2', '2096-09-09 09:00')
  await post('customers', [{ customerId: 'p-1' }, { customerId: 'p-3' }])
  expect(await signupOf('p-1')).toEqual(expected)
  expect((await signupOf('p-3'))[0]).toBe(NOW)

  // Whatever comes later changes nothing, but a regtime.
  at('2096-10-07T10:00:00Z')
  await post('customers', [{ customerId: 'p-1' }, { customerId: 'p-1', country: 'DE' }])
  await deposit('p-1', '2096-09-01 10:00')
  expect(await signupOf('p-1')).toEqual(expected)
  const { data } = await json(get('totals?from=2096-09-01&to=2096-10-07'))
  // Control totals count them on the day on which they were first received.
  expect(data.filter(({ resource }: { resource: string }) => resource === 'customers')).toEqual([
    { day: '2096-10-05', resource: 'customers', count: 2, sums: {} },
  ])
  await post('customers', { customerId: 'p-1', regtime: '2096-10-02 10:00' })
  expect((await signupOf('p-1'))[1]).toBe('2096-10-02')
})

test('a daily total of the day before the customer counts, and the signup itself on its own day', async () => {
  const { post, deposit, tracking_data } = await open()
  const lead = { id: 'lead', kind: 'once', trigger: { signup: true }, amount: '7.00' } as Rule
  await storePlan(ACCOUNT, 'ib', monthly([CPA, lead]))
  await assign(ACCOUNT, 'ib')
  at('2096-11-01T05:00:00Z')
  await deposit('p-1', '2096-10-31', { eventid: undefined })
  await post('customers', { customerId: 'p-1', tracking_data })
  const amounts = async (period: string) =>
    (await draftsOf(ACCOUNT, period, ['aff-1'])).flatMap(({ lines }) =>
      lines.map(({ rule, amount }) => [rule, amount]),
    )
  expect(await amounts('2096-10')).toEqual([['cpa', '200.00']])
  expect(await amounts('2096-11')).toEqual([['lead', '7.00']])
})

test('the signups are the same, however customers and events are grouped into requests', async () => {
  const { post, deposit } = await open()
  for (const i of [1, 2, 3]) await deposit(`p-${i}`, `2096-10-0${i} 10:00`)
  await post(
    'customers',
    [1, 2].map((i) => ({ customerId: `p-${i}` })),
  )
  await post('customers', { customerId: 'p-3' })
  expect(await Promise.all(['p-1', 'p-2', 'p-3'].map(signupOf))).toEqual(
    [1, 2, 3].map((i) => [`2096-10-0${i}T10:00:00.000Z`, `2096-10-0${i}`]),
  )
})
