import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { brand } from '../brand.ts'
import { ask, askAdmin, partner } from '../partner.ts'
import { adjustmentOf, HASH, idOf, lineOf, storeStatement } from './exported.ts'

const AT = 'accounts/acme-forex/statements'
const CSV = { Accept: 'text/csv' }

/** What a browser accepts. */
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8'

const askAs = (path: string, headers: Record<string, string>) =>
  askAdmin(path, 'GET', undefined, headers)
const textAs = async (path: string, headers: Record<string, string>) =>
  (await askAs(path, headers)).text()

/** A statement with every kind of row, and ids that try to be formulas and HTML. */
const HOSTILE = '=cmd(),"x"'
const SCRIPT = '<script>alert(1)</script>'
const FULL = {
  head: {
    ...{ opening: '-5.00', lines_sum: '10.02', adjustments_sum: '-5.00', manual_sum: '-1.00' },
    ...{ earned: '5.02', total: '4.02', closing: '0.00', dropped: '-0.98' },
    transferred: { to: '+other', period: '2026-11', amount: '0.00' },
    received: [
      { from: SCRIPT, period: '2026-09', amount: '-3.00' },
      { from: 'b', period: '2026-09', amount: '1.50' },
    ],
    holds: [
      { rule: SCRIPT, version: 2, reason: 'fx_missing', currency: 'XAG', count: 3, sum: '12.5' },
    ],
    manual: [
      {
        ...{ id: 'man_1', amount: '-1.00', reason: `@${SCRIPT}`, reference: '-r\n1' },
        at: '2026-10-03T10:00:00.000Z',
      },
    ],
  },
  parts: [
    [
      lineOf(1, { scope: `customer:${SCRIPT}`, carried_in: '-2.50' }),
      lineOf(2, {
        ...{ rule: HOSTILE, kind: 'unit', base: null, units: '7', measure: '7', rate: null },
        step: [{ from: '0', part: '5', rate: '1' }],
      }),
    ],
    [
      adjustmentOf(1, {
        causes: [
          {
            ...{ kind: 'record', resource: 'transactions', id: SCRIPT, customer_id: 'c-1' },
            ...{ day: '2026-09-30', delivery_id: 'dlv_1' },
          },
        ],
        causes_total: 3,
      }),
      adjustmentOf(2, {
        ...{ of: { period: '2026-08', line: null }, rule: null, version: null, scope: null },
        amount: '2.00',
      }),
    ],
  ],
}

describe('CSV', () => {
  test('a list has one row for each statement', async () => {
    await partner()
    await storeStatement({ affiliate: HOSTILE, ...FULL })
    const response = await askAs(`${AT}?period=2026-10`, CSV)
    expect(response.headers.get('Content-Type')).toBe('text/csv; charset=utf-8')
    expect(response.headers.get('Content-Disposition')).toBe(
      'attachment; filename="statements-acme-forex.csv"',
    )
    expect(await response.text()).toBe(
      [
        'id,affiliate_id,plan,period,status,currency,opening,lines_sum,adjustments_sum,earned,manual_sum,total,payable,closing,dropped,transferred,received,holds,lines_total,adjustments_total,payable_on,approved_at,reference,paid_on,returned,computed_at,hash\r\n',
        `${idOf(HOSTILE, '2026-10')},"'=cmd(),""x""",ib,2026-10,draft,EUR,-5.00,10.02,-5.00,5.02,-1.00,4.02,0.00,0.00,-0.98,`,
        `to: +other; period: 2026-11; amount: 0.00,from: ${SCRIPT}; period: 2026-09; amount: -3.00; from: b; period: 2026-09; amount: 1.50,`,
        `rule: ${SCRIPT}; version: 2; reason: fx_missing; currency: XAG; count: 3; sum: 12.5,2,2,2026-11-14,,,,,2026-11-01T06:00:00.000Z,${HASH}\r\n`,
      ].join(''),
    )
  })

  test('a statement has one row for each line, adjustment and manual entry of all parts', async () => {
    await partner()
    const id = await storeStatement({ affiliate: HOSTILE, ...FULL })
    const response = await askAs(`${AT}/${id}`, CSV)
    expect(response.headers.get('Content-Disposition')).toBe(
      `attachment; filename="statement-acme-forex-2026-10-${id}.csv"`,
    )
    const own = `${id},"'=cmd(),""x""",ib,2026-10,EUR`
    expect(await response.text()).toBe(
      [
        'statement_id,affiliate_id,plan,period,currency,entry,id,rule,version,kind,scope,base,units,measure,step,rate,carried_in,carried_out,capped,recouped,deficit,amount,of,causes_total,reason,reference,at\r\n',
        `${own},line,lin_1,tenth,1,share,customer:${SCRIPT},100.25,,,,10,-2.50,0.00,0.00,0.00,0.00,10.02,,,,,\r\n`,
        `${own},line,lin_2,"'=cmd(),""x""",1,unit,affiliate,,7,7,from: 0; part: 5; rate: 1,,0.00,0.00,0.00,0.00,0.00,10.02,,,,,\r\n`,
        `${own},adjustment,adj_1,tenth,1,,affiliate,,,,,,,,,,,-5.00,period: 2026-09; line: lin_9,3,,,\r\n`,
        `${own},adjustment,adj_2,,,,,,,,,,,,,,,2.00,period: 2026-08; line: ,0,,,\r\n`,
        `${own},manual,man_1,,,,,,,,,,,,,,,-1.00,,,'@${SCRIPT},"'-r\n1",2026-10-03T10:00:00.000Z\r\n`,
      ].join(''),
    )
  })

  test('a page of a list links the next one', async () => {
    await partner()
    for (const affiliate of ['a', 'b', 'c']) await storeStatement({ affiliate })
    const response = await askAs(`${AT}?per_page=2`, CSV)
    expect((await response.text()).trimEnd().split('\r\n')).toHaveLength(3)
    const next = linkOf(response)
    expect(
      (await (await ask(next, { headers: { ...CSV, ...admin } })).text()).split(',ib,'),
    ).toHaveLength(2)
  })
})

const admin = { Authorization: `Bearer ${env.ADMIN_KEY}` }

const linkOf = (response: Response) => {
  const [, next = ''] = /^<(.*)>; rel="next"$/.exec(response.headers.get('Link') ?? '') ?? []
  return next
}

test('CSV says when a statement was approved, and how it was paid', async () => {
  await partner()
  await storeStatement()
  await env.DB.batch(
    [
      `update statements set status = 'approved', approval = 'apr_1', approved_at = 0`,
      `insert into payments (account, reference, affiliate_id, currency, amount, paid_on, statements,
         actor, at) values ('acme-forex', 'PAY-17', 'aff-7', 'EUR', '1.00', '2026-11-16', '[]', 'x', '')`,
      `update statements set status = 'paid', payment = 'PAY-17'`,
    ].map((text) => env.DB.prepare(text)),
  )
  expect(await textAs(AT, CSV)).toContain(
    ',2026-11-14,1970-01-01T00:00:00.000Z,PAY-17,2026-11-16,,2026-11-01T06:00:00.000Z,',
  )
})

test('`Accept` decides by its weights; JSON is the default', async () => {
  await partner()
  const id = await storeStatement()
  const typeOf = async (Accept: string) => {
    const response = await askAs(`${AT}/${id}`, { Accept })
    await response.body?.cancel()
    return response.headers.get('Content-Type')?.split(';')[0]
  }
  expect(await typeOf('*/*')).toBe('application/json')
  expect(await typeOf('application/json')).toBe('application/json')
  expect(await typeOf('image/png')).toBe('application/json')
  expect(await typeOf('text/csv;q=0.5, application/json')).toBe('application/json')
  expect(await typeOf('text/csv, application/json;q=0.5')).toBe('text/csv')
  expect(await typeOf(BROWSER)).toBe('application/json')
})

test('accounts export their own statements only', async () => {
  const headers = CSV
  const acme = await partner('forex')
  const other = await partner('forex', { account: 'other' })
  const casino = await brand({ account: 'casino' })
  const ids = {
    acme: await storeStatement({ affiliate: 'of-acme' }),
    other: await storeStatement({ affiliate: 'of-other', account: 'other' }),
    casino: await storeStatement({ affiliate: 'of-casino', account: 'casino' }),
  }
  const callers = {
    acme: (path: string) => acme.get(path, headers),
    other: (path: string) => other.get(path, headers),
    casino: (path: string) =>
      ask(`/tracking/events/${path}`, {
        headers: { 'x-api-key': casino.brand_token, ...headers },
      }),
  }
  for (const [name, get] of Object.entries(callers)) {
    const text = await (await get('statements')).text()
    expect(text.match(/of-\w+/g)).toEqual(expect.arrayContaining([`of-${name}`]))
    expect(new Set(text.match(/of-\w+/g)).size).toBe(1)
    for (const [owner, id] of Object.entries(ids)) {
      const response = await get(`statements/${id}`)
      expect([owner, response.status]).toEqual([owner, owner === name ? 200 : 404])
      await response.text()
    }
  }
})
