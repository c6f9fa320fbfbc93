import { env } from 'cloudflare:workers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RateTable } from '../../src/commission/db/rates.ts'
import { parseEcb } from '../../src/commission/rates/parse-ecb.ts'
import ecb from '../../src/data/ecb-euro-reference-rates.csv?raw'
import type { ApiError } from '../../src/platform/errors.ts'
import { brand } from '../brand.ts'
import { fetchWith } from '../checked-fetch.ts'
import { overriding } from '../ingest/watched.ts'
import { ask, askAdmin, json, ORIGIN, partner } from '../partner.ts'
import { ANY_CHARACTER } from '../platform/any-character.ts'
import { CURABLE, faulty } from '../platform/faulty.ts'
import { csvOf, putRates, storedRates, TWO_DAYS } from './rate-files.ts'

// §11: the table of exchange rates, its import and its reads.

const show = async (day: string) => json(askAdmin(`fx-rates?day=${day}`))

const imported = (counts: object) => ({
  source: 'ECB',
  first_day: '2026-10-01',
  last_day: '2026-10-02',
  ...{ created: 0, unchanged: 0, corrected: 0, ...counts },
})

const audited = async () =>
  (await json(askAdmin('audit-log'))).data.filter(
    ({ action }: { action: string }) => action === 'fx-rates.put',
  )

describe('an import', () => {
  test('stores the rates of each day as decimal text', async () => {
    const response = await putRates(TWO_DAYS)
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual(imported({ created: 5 }))
    const known = { known_from: expect.any(Number), known_until: null }
    expect(await storedRates()).toEqual([
      { ...known, day: 20727, rates: { USD: '1.1711', JPY: '186.43', HUF: '366.9' } },
      { ...known, day: 20728, rates: { USD: '1.1684', JPY: '186.75' } },
    ])
  })

  test('stores the whole file of the ECB', async () => {
    const { created, first_day, last_day } = await json(putRates(ecb))
    expect([first_day, last_day]).toEqual(['2025-01-02', '2026-04-13'])
    expect(created).toBe(325 * 29 + 325 - 70)
    const rates = (await show('2026-04-12')).rates
    expect(rates).toContainEqual({ currency: 'USD', rate: '1.1711', day: '2026-04-10' })
  })

  test('is in the audit log with its counts and its days', async () => {
    await putRates(TWO_DAYS)
    expect(await audited()).toMatchObject([
      { actor: 'root-key', account: null, details: imported({ created: 5 }) },
    ])
  })

  test('treats zeros at either end as the same rate', async () => {
    await putRates(csvOf('Date,USD', '2026-10-01,01.50'))
    expect(await json(putRates(csvOf('Date,USD', '2026-10-01,1.5000')))).toMatchObject({
      unchanged: 1,
    })
    expect(await storedRates()).toMatchObject([{ rates: { USD: '1.5' } }])
  })

  test('keeps a stored rate where the file has none', async () => {
    await putRates(csvOf('Date,USD', '2026-10-01,1.5'))
    const empty = csvOf('Date,USD,JPY', '2026-10-01,,186.43')
    expect(await json(putRates(empty, '?correct=true'))).toMatchObject({ created: 1, corrected: 0 })
    expect((await show('2026-10-01')).rates).toHaveLength(2)
  })

  test('is stored once if its answer is lost', async () => {
    const { env: world, seen } = faulty([null, { message: CURABLE[0]!, after: true }])
    const request = new Request(`${ORIGIN}/admin/v1/fx-rates`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${env.ADMIN_KEY}`, 'Content-Type': 'text/csv' },
      body: TWO_DAYS,
    })
    expect(await json(fetchWith(world, request))).toEqual(imported({ created: 5 }))
    expect(seen.tries).toBe(4)
    expect(await storedRates()).toHaveLength(2)
    expect(await audited()).toHaveLength(1)
  })
})

describe('another rate for a stored currency and day', () => {
  const OTHER = csvOf('Date,JPY,USD', '2026-10-01,186.43,1.17', '2026-10-02,187,1.1684')

  test('refuses the whole file and names each rate', async () => {
    await putRates(TWO_DAYS)
    const before = await storedRates()
    const response = await putRates(OTHER)
    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({
      code: 'validation_failed',
      detail: 'Nothing was changed.',
      errors_total: 2,
      errors: [
        {
          pointer: '/rows/0/USD',
          code: 'rate_differs',
          message: '`1.17` differs from 1.1711, the rate of 2026-10-01, which is stored.',
          hint: 'Send `?correct=true` to replace the stored rate.',
        },
        { pointer: '/rows/1/JPY', code: 'rate_differs' },
      ],
    })
    expect(await storedRates()).toEqual(before)
  })

  test('replaces the stored one with correct=true, which keeps it with the time it was known', async () => {
    await putRates(TWO_DAYS)
    expect(await json(putRates(OTHER, '?correct=true'))).toEqual(
      imported({ unchanged: 2, corrected: 2 }),
    )
    const [old, current] = (await storedRates()).filter(({ day }) => day === 20728)
    expect([old!.rates.JPY, current!.rates.JPY]).toEqual(['186.75', '187'])
    expect(old!.known_until).toBe(current!.known_from)
    expect(old!.known_until).toBeGreaterThan(old!.known_from)
    expect(current!.known_until).toBeNull()
    expect((await show('2026-10-02')).rates).toContainEqual({
      ...{ currency: 'JPY', rate: '187', day: '2026-10-02' },
    })
  })

  test('that was imported meanwhile is never overwritten', async () => {
    const importMeanwhile = (csv: string, query: string) => {
      let isFirst = true
      const DB = overriding(env.DB, {
        batch: async (list: D1PreparedStatement[]) => {
          const results = await env.DB.batch(list)
          if (isFirst) {
            isFirst = false
            await putRates(csv, query)
          }
          return results
        },
      })
      const request = new Request(`${ORIGIN}/admin/v1/fx-rates`, {
        method: 'PUT',
        headers: { Authorization: `Bearer ${env.ADMIN_KEY}`, 'Content-Type': 'text/csv' },
        body: TWO_DAYS,
      })
      return fetchWith({ ...env, DB } as Env, request)
    }
    expect((await importMeanwhile(csvOf('Date,USD', '2026-10-01,9.9'), '')).status).toBe(409)
    expect(await storedRates()).toHaveLength(1)
  })
})

test('rows of separators at the end of a file are skipped', async () => {
  expect((await putRates(`${TWO_DAYS}\r\n,,\r\n,\r\n\r\n`)).status).toBe(200)
  expect((await putRates(`${TWO_DAYS}\r\n${',\r\n'.repeat(100_000)}`)).status).toBe(200)
})

describe('a refused file stores nothing', () => {
  const refuse = async (csv: BodyInit, query = '?correct=true') => {
    const response = await putRates(csv, query)
    expect(response.status).toBe(422)
    expect(await storedRates()).toEqual([])
    const { errors, errors_total } = await json(response)
    expect(errors.every(({ message }: { message: string }) => message !== '')).toBe(true)
    return {
      errors_total,
      errors: errors.map(({ message: _, ...error }: object & { message: string }) => error),
    }
  }
  const NO_RATE = 'Where there is no rate, leave the cell blank or write `N/A`.'
  const CUT = 'The file may have been cut off here. Download it again.'
  const good = '2026-10-01,1.1711,186.43'

  test.each([
    ['a rate of 0', '2026-10-02,0,1', '/rows/1/USD', 'number', NO_RATE],
    ['a rate of 0.000', '2026-10-02,0.000,1', '/rows/1/USD', 'number', NO_RATE],
    ['a negative rate', '2026-10-02,1.1,-186', '/rows/1/JPY', 'number', NO_RATE],
    ['text', '2026-10-02,n/a,1', '/rows/1/USD', 'number', NO_RATE],
    ['an exponent', '2026-10-02,1e5,1', '/rows/1/USD', 'number', NO_RATE],
    ['a decimal comma in quotes', '2026-10-02,"1,5",1', '/rows/1/USD', 'number', NO_RATE],
    ['13 decimal places', '2026-10-02,1.1234567890123,1', '/rows/1/USD', 'number', NO_RATE],
    ['an impossible day', '2026-02-30,1.1,1', '/rows/1/Date', 'date', undefined],
    ['no day', ',1.1,1', '/rows/1/Date', 'date', undefined],
    ['a day in another order', '02/10/2026,1.1,1', '/rows/1/Date', 'date', undefined],
    ['a day beyond its month', '30 February 2026,1.1,1', '/rows/1/Date', 'date', undefined],
    ['a day twice', good, '/rows/1/Date', 'duplicate_key', 'Send each day once.'],
    ['a row that is cut', '2026-10-02,1.1', '/rows/1', 'length', CUT],
    ['a row with more fields', '2026-10-02,1.1,1,1', '/rows/1', 'length', CUT],
  ])('with %s in a row', async (_, row, pointer, code, hint) => {
    const { errors, errors_total } = await refuse(csvOf('Date,USD,JPY', good, row))
    expect(errors).toEqual([{ pointer, code, ...(hint && { hint }) }])
    expect(errors_total).toBe(1)
  })

  test.each([
    ['an unknown currency', 'Date,UDS', '/header/UDS', 'currency', 'Did you mean `USD`?'],
    [
      'the euro',
      'Date,EUR',
      '/header/EUR',
      'currency',
      'Leave it out: rates are units of a currency for one euro.',
    ],
    ['a column without name', 'Date,', '/header/', 'currency', undefined],
    ['a currency twice', 'USD,Date,USD', '/header/USD', 'duplicate_key', 'Send each column once.'],
    [
      'no Date',
      'Day,USD',
      '/header/Date',
      'required',
      'Begin with the header of the ECB: `Date,USD,JPY,…`.',
    ],
  ])('with %s in its header', async (_, header, pointer, code, hint) => {
    const count = header.split(',').length - 1
    const row = header.startsWith('USD')
      ? '1.1,2026-10-01,1.1'
      : `2026-10-01${',1.1'.repeat(count)}`
    const { errors } = await refuse(
      csvOf(header === 'Date,' ? 'Date,,USD' : header, header === 'Date,' ? `${row},1` : row),
    )
    expect(errors).toEqual([{ pointer, code, ...(hint && { hint }) }])
  })

  test('without rows, and an empty one', async () => {
    for (const [csv, pointer, code] of [
      ['Date,USD\n', '/rows', 'record_count'],
      ['Date,USD\n2026-10-01,"1', '/header/Date', 'required'],
      ['\n', '/header/Date', 'required'],
      ['', '/header/Date', 'required'],
    ]) {
      expect((await refuse(csv!)).errors).toMatchObject([{ pointer, code }])
    }
  })

  test('with too many rows', async () => {
    const days = Array.from({ length: 10_001 }, () => '2026-10-01,1.1')
    expect((await refuse(csvOf('Date,USD', ...days))).errors).toEqual([
      { pointer: '/rows', code: 'record_count' },
    ])
  })

  test('cut at any byte within a row', async () => {
    const file = ecb.split('\r\n').slice(0, 4).join('\r\n')
    for (const length of [file.length - 10, file.length - 60, file.length - 170]) {
      expect((await refuse(file.slice(0, length))).errors).toMatchObject([{ code: 'length' }])
    }
  })

  test('that is not text/csv, not UTF-8 or too large', async () => {
    const status = async (body: BodyInit, headers = {}) =>
      (await putRates(body, '', headers)).status
    expect(await status(TWO_DAYS, { 'Content-Type': 'application/json' })).toBe(415)
    expect(await status(TWO_DAYS, { 'Content-Type': 'text/csv; charset=latin1' })).toBe(415)
    expect(await status(TWO_DAYS, { 'Content-Type': 'text/csv; header=present' })).toBe(200)
    expect(await status(new Uint8Array([0xff, 0xfe, 0x41]))).toBe(400)
    expect(await status('x'.repeat(7 * 1024 * 1024))).toBe(413)
    expect(await status('x'.repeat(9 * 1024 * 1024))).toBe(413)
  })
})

describe('the forms of the file', () => {
  const stored = { USD: '1.1684', JPY: '186.75' }
  test.each([
    ['columns in another order', csvOf('JPY,USD,Date', '186.75,1.1684,2026-10-02')],
    ['a trailing comma', csvOf('Date,USD,JPY,', '2026-10-02,1.1684,186.75,')],
    ['the form of the daily one', csvOf('Date, USD, JPY, ', '02 October 2026, 1.1684, 186.75, ')],
    ['a day of one digit', csvOf('Date, USD, JPY', '2 October 2026, 1.1684, 186.75')],
    ['semicolons', csvOf('Date;USD;JPY', '2026-10-02;1.1684;186.75')],
    ['CRLF and blank lines at the end', 'Date,USD,JPY\r\n2026-10-02,1.1684,186.75\r\n\r\n'],
    ['a byte order mark', `\ufeff${csvOf('Date,USD,JPY', '2026-10-02,1.1684,186.75')}`],
    ['N/A and blanks', csvOf('Date,HUF,USD,CZK,JPY', '2026-10-02,N/A,1.1684,,186.75')],
    ['currencies of the past', csvOf('Date,USD,JPY,CYP,BGN', '2026-10-02,1.1684,186.75,,')],
  ])('a file with %s is read', async (_, csv) => {
    const response = await putRates(csv)
    expect(response.status).toBe(200)
    expect((await storedRates()).map(({ rates }) => rates)).toEqual([stored])
  })

  test.each([
    ['no line break at the end', 'Date,USD\n2026-10-01,1.1\n2026-10-02,1.16', '/rows/1', 'length'],
  ])('a file with %s is refused', async (_, csv, pointer, code) => {
    const response = await putRates(csv)
    expect(response.status).toBe(422)
    const { errors } = await response.json<{ errors: object[] }>()
    expect(errors).toEqual([expect.objectContaining({ pointer, code })])
    expect(await storedRates()).toEqual([])
  })

  test('a file with a day in the future is refused', async () => {
    const response = await putRates(csvOf('Date,USD', '9999-01-04,1.1'))
    expect(response.status).toBe(422)
    const { errors } = await response.json<{ errors: object[] }>()
    const message = '`9999-01-04` is in the future.'
    const hint = 'Rates have days up to today.'
    expect(errors).toEqual([{ pointer: '/rows/0/Date', code: 'date', message, hint }])
    expect(await storedRates()).toEqual([])
  })

  test('a compressed body', async () => {
    const gzip = new Response(TWO_DAYS).body!.pipeThrough(new CompressionStream('gzip'))
    const body = await new Response(gzip).arrayBuffer()
    expect(await json(putRates(body, '', { 'Content-Encoding': 'gzip' }))).toMatchObject({
      created: 5,
    })
  })
})

describe('any file', () => {
  const day = fc.integer({ min: 0, max: 400 }).map((i) => {
    return new Date(Date.UTC(2026, 0, 1 + i)).toISOString().slice(0, 10)
  })
  const rate = fc.oneof(
    fc.constantFrom('', 'N/A', '0', '-1', '1.', '.5', '1e5', '007.700', '12345678901234567'),
    fc.double({ min: 0.001, max: 99_999, noNaN: true }).map((n) => n.toFixed(4)),
  )
  const line = fc.oneof(
    { weight: 9, arbitrary: fc.tuple(day, rate, rate).map((cells) => cells.join()) },
    fc.string({ unit: ANY_CHARACTER, maxLength: 30 }),
  )
  const header = fc.constantFrom(
    'Date,USD,JPY',
    'Date,USD,JPY,',
    'JPY,Date,USD',
    'Date,USX,JPY',
    '',
  )

  test('is parsed to rates above 0 of different days, or refused with a pointer', () => {
    const files = fc.tuple(header, fc.array(line, { maxLength: 8 }))
    const property = fc.property(files, ([first, lines]) => {
      let table: RateTable
      try {
        table = parseEcb(`${[first, ...lines].join('\n')}\n`, '9999-12-31')
      } catch (error) {
        const { code, details } = error as ApiError
        expect(code).toBe('validation_failed')
        for (const { pointer } of details.errors as { pointer: string }[]) {
          expect(pointer).toMatch(/^\/(header|rows)/)
        }
        return
      }
      expect(new Set(table.map(({ day }) => day)).size).toBe(table.length)
      for (const one of table.flatMap(({ rates }) => Object.values(rates))) {
        expect(one).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/)
        expect(Number(one)).toBeGreaterThan(0)
      }
    })
    fc.assert(property, { seed: env.SEED, numRuns: 600 })
  })
})

describe('the rates of a day', () => {
  test('are the last ones published on or before it, at most 7 days back', async () => {
    await putRates(
      csvOf('Date,USD,JPY', '2026-10-01,1.1,180', '2026-10-08,,181', '2026-10-20,1.2,'),
    )
    expect(await show('2026-10-08')).toEqual({
      source: 'ECB',
      day: '2026-10-08',
      last_day: '2026-10-20',
      rates: [
        { currency: 'JPY', rate: '181', day: '2026-10-08' },
        { currency: 'USD', rate: '1.1', day: '2026-10-01' },
      ],
    })
    expect((await show('2026-10-09')).rates).toMatchObject([{ currency: 'JPY', day: '2026-10-08' }])
    expect((await show('2026-09-30')).rates).toEqual([])
  })

  test('are pending while nothing is published for it or a later day', async () => {
    await putRates(csvOf('Date,USD,JPY', '2026-10-01,1.1,180', '2026-10-02,,181'))
    expect(await show('2026-10-03')).toMatchObject({ last_day: '2026-10-02', rates: [] })
    await putRates(csvOf('Date,USD', '2026-10-05,1.2'))
    expect((await show('2026-10-03')).rates).toEqual([
      { currency: 'JPY', rate: '181', day: '2026-10-02' },
      { currency: 'USD', rate: '1.1', day: '2026-10-01' },
    ])
  })

  test('are read by partners and brands, and are the same for all', async () => {
    await putRates(TWO_DAYS)
    const expected = await show('2026-10-02')
    const firms = [await partner('forex'), await partner('prop-trading'), await brand()]
    for (const { get } of firms) {
      const response = await get('fx-rates?day=2026-10-02')
      expect(response.status).toBe(200)
      expect(await response.json()).toEqual(expected)
    }
  })

  test('cannot be imported by partners or brands', async () => {
    const [acme, casino] = [await partner('forex'), await brand()]
    const put = { method: 'PUT', body: TWO_DAYS }
    const type = { 'Content-Type': 'text/csv' }
    const bearer = { Authorization: `Bearer ${acme.access_token}`, ...type }
    const key = { 'x-api-key': casino.brand_token, ...type }
    for (const [path, headers, status] of [
      ['/api/v1/forex/fx-rates', bearer, 405],
      ['/tracking/events/fx-rates', key, 405],
      ['/admin/v1/fx-rates', bearer, 401],
      ['/admin/v1/fx-rates', key, 401],
    ] as const) {
      expect((await ask(path, { ...put, headers })).status).toBe(status)
    }
    expect(await storedRates()).toEqual([])
  })
})
