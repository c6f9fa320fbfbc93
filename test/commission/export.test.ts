import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { type Presented, partsFrom } from '../../src/commission/export/read.ts'
import { brand } from '../brand.ts'
import { ask, askAdmin, json, partner } from '../partner.ts'
import { adjustmentOf, HASH, idOf, lineOf, storeStatement } from './exported.ts'
import { monthly, storePlan } from './stored.ts'

const AT = 'accounts/acme-forex/statements'
const CSV = { Accept: 'text/csv' }
const HTML = { Accept: 'text/html' }

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
    ...{ total: '4.02', closing: '0.00', dropped: '-0.98' },
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
      'attachment; filename="statements-acme-forex-2026-10.csv"',
    )
    expect(await response.text()).toBe(
      [
        'id,affiliate_id,plan,period,status,currency,opening,lines_sum,adjustments_sum,manual_sum,total,payable,closing,dropped,transferred,transferred_to,received,held_records,lines_total,adjustments_total,payable_on,approved_at,paid_reference,paid_on,computed_at,hash,returned_on\r\n',
        `${idOf(HOSTILE, '2026-10')},"'=cmd(),""x""",ib,2026-10,draft,EUR,-5.00,10.02,-5.00,-1.00,4.02,0.00,0.00,-0.98,0.00,'+other,-1.50,3,2,2,2026-11-14,,,,2026-11-01T06:00:00.000Z,${HASH},\r\n`,
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
        'statement_id,affiliate_id,plan,period,currency,kind,id,rule,version,rule_kind,scope,base,units,measure,step,rate,carried_in,carried_out,capped,recouped,deficit,amount,of_period,of_line,causes,reason,reference,at\r\n',
        `${own},line,lin_1,tenth,1,share,customer:${SCRIPT},100.25,,,,10,-2.50,0.00,0.00,0.00,0.00,10.02,,,,,,\r\n`,
        `${own},line,lin_2,"'=cmd(),""x""",1,unit,affiliate,,7,7,"[{""from"":""0"",""part"":""5"",""rate"":""1""}]",,0.00,0.00,0.00,0.00,0.00,10.02,,,,,,\r\n`,
        `${own},adjustment,adj_1,tenth,1,,affiliate,,,,,,,,,,,-5.00,2026-09,lin_9,3,,,\r\n`,
        `${own},adjustment,adj_2,,,,,,,,,,,,,,,2.00,2026-08,,0,dropped,,\r\n`,
        `${own},manual,man_1,,,,,,,,,,,,,,,-1.00,,,,'@${SCRIPT},"'-r\n1",2026-10-03T10:00:00.000Z\r\n`,
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

describe('a printable page', () => {
  test('shows every member of a statement', async () => {
    await partner()
    const id = await storeStatement(FULL)
    const text = (await textAs(`${AT}/${id}`, HTML)).replaceAll(/<[^>]+>\s*/g, ' ')
    for (const shown of [
      ...['To aff-7', 'Plan ib', 'for October 2026', 'Draft', 'payable from 14 Nov 2026 on'],
      ...[
        'Carried in What earlier periods and other plans left -5.00 EUR',
        'b September 2026 1.50',
      ],
      ...['Earned What the rules pay 10.02 EUR', 'Corrections Of closed periods -5.00 EUR'],
      ...['Manual entries Of the team -1.00 EUR', 'carried -0.98 EUR', 'Payable 0.00 EUR'],
      'Reason Reference Entered Amount',
      'For Based on Rate Amount',
      // The notes leave out amounts of 0.
      ...['carried in -2.50 EUR 100.25 EUR', '5 at 1.00 EUR'],
      'September 2026: -5.00 EUR by the rule tenth, since ',
      'August 2026: 2.00 EUR, to cover the balance of',
      ...['there is no exchange rate', '12.50 XAG', '-r 1 3 Oct 2026 -1.00 EUR'],
      ...[id, HASH],
    ]) {
      expect(text.replaceAll(/\s+/g, ' ')).toContain(shown)
    }
    expect(text).not.toContain('NaN')
  })
})

test('CSV and the printable page say when a statement was approved, and how it was paid', async () => {
  await partner()
  const id = await storeStatement()
  await env.DB.batch(
    [
      `update statements set status = 'approved', approval = 'apr_1', approved_at = 0`,
      `insert into payments (account, reference, affiliate_id, currency, amount, paid_on, statements,
         actor, at, folded_reference) values ('acme-forex', 'PAY-17', 'aff-7', 'EUR', '1.00', '2026-11-16', '[]', 'x', '',
         'pay-17')`,
      `update statements set status = 'paid', payment = 'PAY-17'`,
    ].map((text) => env.DB.prepare(text)),
  )
  expect(await textAs(AT, CSV)).toContain(
    ',2026-11-14,1970-01-01T00:00:00.000Z,PAY-17,2026-11-16,2026-11-01T06:00:00.000Z,',
  )
  const text = await textAs(`${AT}/${id}`, HTML)
  expect(text).toContain('<dd>1 Jan 1970, 00:00 UTC</dd>')
  expect(text).toContain('Paid on 16 Nov 2026, reference PAY-17')
})

test('the printable page is a letter of the account: its name, address and locale, the rules in words', async () => {
  await partner()
  const percent = '10'
  const rule = {
    id: 'tenth',
    kind: 'share' as const,
    percent,
    base: [{ activity: 'pnl' as const }],
  }
  const name = 'N'.repeat(200)
  await storePlan('acme-forex', 'ib', monthly([rule], { name, minimum_payout: '1000' }))
  const address = ' Acme GmbH \r\n\r\n  Weg 1\n10115 Berlin'
  const changed = await askAdmin('accounts/acme-forex', 'PATCH', { address, locale: 'de-de' })
  expect(await json(changed)).toMatchObject({
    address: 'Acme GmbH\nWeg 1\n10115 Berlin',
    locale: 'de-DE',
  })
  const lines = Array.from({ length: 30 }, (_, n) =>
    lineOf(n, { base: `1234567.${n}`, amount: '1234.50' }),
  )
  const head = { lines_sum: '37035.00', total: '37035.00', payable: '37035.00' }
  const id = await storeStatement({ parts: [lines], head })
  const text = (await textAs(`${AT}/${id}`, HTML)).replaceAll(/<[^>]+>\s*/g, ' ')
  for (const shown of [
    ...['The acme-forex Acme GmbH Weg 1 10115 Berlin', 'Oktober 2026', '1.–31. Okt. 2026', name],
    ...[
      '37.035,00 EUR',
      'zahlbar ab 14. Nov. 2026',
      '1.234.567,24 EUR',
      '10 % von Gewinn und Verlust der Kunden.',
    ],
    '5 weitere Zeilen 6.172,50 EUR',
  ]) {
    expect(text.replaceAll(/\s+/g, ' ')).toContain(shown)
  }
  expect(text).not.toMatch(/lin_|T\d\d:/)
  const csv = await textAs(`${AT}/${id}`, CSV)
  expect(csv).toContain(',1234567.29,')
})

test.each([
  [{ locale: 'xx-klingon-1' }, '/locale'],
  [{ locale: 'zz' }, '/locale'],
  [{ address: 'a\u202eb' }, '/address'],
  [{ address: ' ' }, '/address'],
  [{ address: 'a\n'.repeat(9) }, '/address'],
])('%o is refused as a setting of printed statements', async (change, pointer) => {
  await partner()
  const response = await askAdmin('accounts/acme-forex', 'PATCH', change)
  expect([response.status, (await json(response)).errors[0].pointer]).toEqual([422, pointer])
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
  expect(await typeOf(BROWSER)).toBe('text/html')
})

test.each([CSV, HTML])('accounts export their own statements only: %o', async (headers) => {
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

test('a part is refused if the statement has changed', async () => {
  await partner()
  const id = await storeStatement({ parts: [[], []] })
  const books = { db: env.DB, account: 'acme-forex' }
  const read = async (hash: string) => {
    const first = { hash, lines: [], adjustments: [], part: 1, parts: 2 }
    let count = 0
    for await (const _ of partsFrom(books, { id } as Presented, first, 5)) count++
    return count
  }
  expect(await read(HASH)).toBe(2)
  await expect(read('of another state')).rejects.toMatchObject({ code: 'unavailable' })
})
