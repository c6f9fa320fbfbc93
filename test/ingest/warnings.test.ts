import { describe, expect, test } from 'vitest'
import { brand, deposited } from '../brand.ts'
import {
  ada,
  ask,
  askAdmin,
  deposit,
  issuedPartner,
  json,
  traded,
  type Vertical,
} from '../partner.ts'

/** A response to a delivery. */
interface Answer {
  results: { warnings?: { code: string; pointer: string; message: string }[] }[]
}

/** Returns the warnings of each record of a response, as `code pointer`. */
const warningsOf = ({ results }: Answer) =>
  results.map(({ warnings = [] }) => warnings.map(({ code, pointer }) => `${code} ${pointer}`))

/** Returns the messages of the first record of a response. */
const messagesOf = ({ results }: Answer) => results[0]!.warnings!.map(({ message }) => message)

/** Returns a firm with the customer of the records, and a function that returns the warnings of records. */
async function firm(vertical: Vertical = 'forex') {
  const acme = await issuedPartner(vertical)
  await acme.post('customers', ada)
  const send = async (resource: string, ...records: object[]) =>
    warningsOf(await json(acme.post(resource, records)))
  return { ...acme, send }
}

/** Returns a brand with a customer, and a function that returns the warnings of records. */
async function casino(events: Record<string, object> = {}) {
  const acme = await brand({ events })
  await acme.post('customers', { customerId: 'p-1', regtime: '2026-10-01 08:00' })
  const send = async (resource: string, ...records: object[]) =>
    warningsOf(await json(acme.post(resource, records)))
  return { ...acme, send }
}

/** Returns the records with changed members under ids of their own. */
const each = <T extends object>(name: string, record: T, ...changes: object[]) =>
  changes.map((changed, i) => ({ ...record, [name]: `${name}-${i}`, ...changed }))

const hoursAhead = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()

describe('negative_amount', () => {
  test.each([
    ['forex', ['deposit', 'ib_rebate'], ['withdrawal'], ['bonus', 'adjustment', 'other']],
    ['prop-trading', ['challenge_fee', 'reset_fee'], ['payout', 'refund'], ['adjustment', 'other']],
  ] as const)(
    '%s: inflows are positive, outflows follow the setting, and the sign of others is free',
    async (vertical, inflows, outflows, either) => {
      const acme = await firm(vertical)
      const types = [...inflows, ...outflows, ...either]
      const warned = async (amount_currency: number) => {
        const sent = types.map((transaction_type) => ({ transaction_type, amount_currency }))
        const found = await acme.send('transactions', ...each('transaction_id', deposit, ...sent))
        return types.filter((_, i) => found[i]?.includes(`negative_amount /${i}/amount_currency`))
      }
      expect([await warned(-5), await warned(5)]).toEqual([[...inflows, ...outflows], []])
      await askAdmin(`accounts/${acme.account}`, 'PATCH', { amount_signs: 'signed' })
      expect([await warned(-5), await warned(5)]).toEqual([inflows, outflows])
    },
  )

  test('the warning names the type; the record is stored as sent', async () => {
    const acme = await firm()
    const sent = { ...deposit, transaction_type: 'withdrawal', amount_currency: -75.5 }

    expect(messagesOf(await json(acme.post('transactions', sent)))).toEqual([
      '`amount_currency` does not have the sign with which this account sends amounts of `withdrawal`.',
    ])
    expect((await json(acme.get('transactions'))).data).toEqual([sent])
  })

  test('of events, outflows alone have an expected sign', async () => {
    const definition = { granularity: 'event', kpis: ['GGR'] }
    const acme = await casino({ Deposit: definition, Cashout: { ...definition, outflow: true } })
    const sent = (Value: number) =>
      each(
        'eventid',
        deposited,
        { Value },
        { Value, eventname: 'Cashout' },
        { Value, eventname: 'GGR' },
      )
    const warned = [[], ['negative_amount /1/Value'], []]

    expect(await acme.send('activities', ...sent(-5))).toEqual(warned)
    expect(await acme.send('activities', ...sent(5))).toEqual([[], [], []])
    await askAdmin(`accounts/${acme.account}`, 'PATCH', { amount_signs: 'signed' })
    expect(await acme.send('activities', ...sent(-5))).toEqual([[], [], []])
    expect(await acme.send('activities', ...sent(5))).toEqual(warned)
  })
})

describe('implausible_time', () => {
  const times = [
    ['1999-12-31T23:59:59Z', true],
    ['2000-01-01T00:00:00Z', false],
    [hoursAhead(35), false],
    [hoursAhead(37), true],
    ['9999-12-31T23:59:59Z', true],
  ] as const

  test.each(['signup_date', 'last_modified_date'])('customers of firms: %s', async (name) => {
    const { send } = await firm()
    const sent = each('customer_id', ada, ...times.map(([time]) => ({ [name]: time })))

    expect(await send('customers', ...sent)).toEqual(
      times.map(([, warned], i) => (warned ? [`implausible_time /${i}/${name}`] : [])),
    )
  })

  test('transactions: transaction_date', async () => {
    const { send } = await firm()
    const sent = each(
      'transaction_id',
      deposit,
      ...times.map(([transaction_date]) => ({ transaction_date })),
    )

    expect(codesOf(await send('transactions', ...sent), 'implausible_time')).toEqual(
      times.map(([, warned], i) => (warned ? [`implausible_time /${i}/transaction_date`] : [])),
    )
  })

  const days = [
    ['1999-12-31', true],
    ['2000-01-01', false],
    [hoursAhead(24).slice(0, 10), false],
    [hoursAhead(61).slice(0, 10), true],
  ] as const

  test('trading activity: date', async () => {
    const { send } = await firm()
    const sent = each('instrument', traded, ...days.map(([date]) => ({ date })))

    expect(codesOf(await send('trading-activity', ...sent), 'implausible_time')).toEqual(
      days.map(([, warned], i) => (warned ? [`implausible_time /${i}/date`] : [])),
    )
  })

  test.each([
    ['customers', 'regtime', 'customerId', { tracking_data: '' }],
    ['activities', 'createtime', 'eventid', deposited],
  ])('brands: %s, %s, in any form', async (resource, name, key, record) => {
    const { send } = await casino()
    const all = [...times, ...days, ['1970-01-01 00:00', true] as const]
    const sent = each(key, record, ...all.map(([time]) => ({ [name]: time })))

    expect(codesOf(await send(resource, ...sent), 'implausible_time')).toEqual(
      all.map(([, warned], i) => (warned ? [`implausible_time /${i}/${name}`] : [])),
    )
  })
})

/** Returns only the warnings with a code. */
const codesOf = (warnings: string[][], code: string) =>
  warnings.map((all) => all.filter((one) => one.startsWith(`${code} `)))

describe('unmapped_status', () => {
  test('a status that neither the contract nor the status map knows', async () => {
    const acme = await firm()
    const sent = each(
      'transaction_id',
      deposit,
      { status: 'pending' },
      { status: 'done' },
      { status: 'Approved' },
    )
    const unmapped = (...at: number[]) =>
      sent.map((_, i) => (at.includes(i) ? [`unmapped_status /${i}/status`] : []))

    expect(await acme.send('transactions', ...sent)).toEqual(unmapped(1, 2))
    await askAdmin(`accounts/${acme.account}/status-map`, 'PUT', { done: 'approved' })
    expect(await acme.send('transactions', ...sent)).toEqual(unmapped(2))
    await askAdmin(`accounts/${acme.account}/status-map`, 'PUT', {})
    expect(await acme.send('transactions', ...sent)).toEqual(unmapped(1, 2))
  })

  test('a token that is issued later knows the map', async () => {
    const acme = await firm()
    await askAdmin(`accounts/${acme.account}/status-map`, 'PUT', { done: 'approved' })
    const form = {
      grant_type: 'client_credentials',
      client_id: acme.client_id,
      client_secret: acme.client_secret,
    }
    const { access_token } = await json(
      ask('/oauth/token', { method: 'POST', body: new URLSearchParams(form) }),
    )
    const answer = await ask('/api/v1/forex/transactions', {
      method: 'POST',
      headers: { Authorization: `Bearer ${access_token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify([
        { ...deposit, status: 'done' },
        { ...deposit, transaction_id: 't-2', status: 'odd' },
      ]),
    })

    expect(warningsOf(await json(answer))).toEqual([[], ['unmapped_status /1/status']])
  })

  test('the status member of an event', async () => {
    const acme = await casino({ Deposit: { granularity: 'event', status_member: 'state' } })
    const sent = each(
      'eventid',
      deposited,
      {},
      { state: 'approved' },
      { state: 'done' },
      { state: 'done', eventname: 'Bet' },
    )

    expect(await acme.send('activities', ...sent)).toEqual([
      [],
      [],
      ['unmapped_status /2/state'],
      [],
    ])
  })
})

/** Names of events, and the known one that each means. */
const MEANT = [
  ['deposit', 'Deposit'],
  ['DEPOSIT', 'Deposit'],
  ['Deposit ', 'Deposit'],
  [' de posit', 'Deposit'],
  ['Depsoit', 'Deposit'],
  ['Deposits', 'Deposit'],
  ['Withdrawal', null],
  ['Bet', null],
  ['__proto__', null],
] as const

test('unknown_event: a name that is close to a known one means that', async () => {
  const { post } = await casino({
    Deposit: { granularity: 'event' },
    DailyStats: { granularity: 'day', kpis: ['GGR'] },
  })
  const sent = each('eventid', deposited, ...MEANT.map(([eventname]) => ({ eventname })))
  const { results } = await json(post('activities', sent))

  for (const [i, [eventname, meant]] of MEANT.entries()) {
    expect([eventname, results[i].warnings ?? []]).toEqual([
      eventname,
      meant === null
        ? []
        : [
            {
              code: 'unknown_event',
              pointer: `/${i}/eventname`,
              message: `Event \`${eventname}\` has no definition. Did you mean \`${meant}\`?`,
            },
          ],
    ])
  }
})

describe('whitespace', () => {
  test.each([
    ['customers', ada, ['customer_id', 'affiliate_id']],
    ['transactions', deposit, ['transaction_id', 'customer_id']],
    ['trading-activity', traded, ['customer_id', 'instrument']],
  ])('firms: around the ids of %s', async (resource, record, ids) => {
    const { send } = await firm()
    await send('customers', { ...ada, customer_id: 'c-1\t' })
    const spaced = Object.fromEntries(ids.map((name) => [name, `${Reflect.get(record, name)}\t`]))

    expect(codesOf(await send(resource, { ...record, ...spaced }), 'whitespace')).toEqual([
      ids.map((name) => `whitespace /0/${name}`),
    ])
  })

  test('brands: around the ids of customers and events', async () => {
    const { send } = await casino()

    expect(codesOf(await send('customers', { customerId: ' p-1' }), 'whitespace')).toEqual([
      ['whitespace /0/customerId'],
    ])
    expect(
      await send('activities', { ...deposited, customerid: 'p-1 ', eventid: '\u00a0e' }),
    ).toEqual([['whitespace /0/customerid', 'whitespace /0/eventid']])
  })

  test('white space inside an id is none of its business', async () => {
    const { send } = await firm()
    expect(await send('transactions', { ...deposit, transaction_id: 't 1' })).toEqual([[]])
  })
})

describe('country', () => {
  test('brands: what is no alpha-2 code, with the code that it is recognized as', async () => {
    const { post } = await casino()
    const countries = ['DE', 'de', ' DE', 'Germany', 'DEU', '49', 'UK', null]
    const { results } = await json(
      post('customers', each('customerId', {}, ...countries.map((country) => ({ country })))),
    )
    const recognized = (code: string) =>
      `\`country\` is not an ISO 3166-1 alpha-2 code. It is read as \`${code}\`.`
    const messages = (results as Answer['results']).map(({ warnings = [] }) =>
      warnings.filter(({ code }) => code === 'country').map(({ message }) => message),
    )

    expect(messages).toEqual([
      [],
      ...Array.from({ length: 4 }, () => [recognized('DE')]),
      ['`country` is not an ISO 3166-1 alpha-2 code. It is read as `no country`.'],
      [recognized('GB')],
      [],
    ])
  })

  test('firms: two letters that are no code', async () => {
    const { send } = await firm()
    const sent = each(
      'customer_id',
      ada,
      ...['DE', 'UK', 'EU', 'ZZ', 'XK'].map((country_code) => ({ country_code })),
    )

    expect(await send('customers', ...sent)).toEqual([
      [],
      ['country /1/country_code'],
      ['country /2/country_code'],
      ['country /3/country_code'],
      [],
    ])
  })
})

const USD = [
  [{ amount_usd: 0 }, true],
  [{ amount_usd: -110 }, true],
  [{ amount_usd: 110 }, false],
  [{ amount_usd: 99.99, currency: 'USD' }, true],
  [{ amount_usd: 100.25, currency: 'USD' }, false],
  [{ amount_usd: 0, amount_currency: 0 }, false],
  [{ amount_usd: 5, amount_currency: 0 }, true],
] as const

test('amount_usd: one that the amount cannot come to', async () => {
  const { send } = await firm()
  const sent = each('transaction_id', deposit, ...USD.map(([changes]) => changes))

  expect(await send('transactions', ...sent)).toEqual(
    USD.map(([, warned], i) => (warned ? [`amount_usd /${i}/amount_usd`] : [])),
  )
})

test('of the warnings of a record 10 are listed', async () => {
  const { post } = await casino()
  const kpis = Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`KPI${i}`, '1,000']))
  const sent = {
    eventname: 'Stats',
    customerid: 'p-1',
    eventid: ' e',
    createtime: '1970-01-01',
    Amount: 1,
  }
  const { results } = await json(post('activities', [{ ...sent, ...kpis }]))

  expect(results[0].warnings).toHaveLength(10)
})
