import { describe, expect, test, vi } from 'vitest'
import { readTime } from '../../src/ingest/brand/time.ts'
import { brand, deposited, eve } from '../brand.ts'
import { askAdmin, json } from '../partner.ts'

const read = (text: string, zone = 'UTC') => {
  const time = readTime(text, zone, '/createtime')
  return time && [time.instant, time.day]
}

describe('times', () => {
  test.each([
    '2026-02-30 10:00',
    '2026-10-02 24:00',
    '2026-10-02 10:60',
    '2026-10-02 10:00:60',
    '2026-10-02 10',
    '2026-10-02 1:00',
    '2026-10-02  10:00',
    '2026-10-02t10:00',
    '2026-10-02 10:00Z',
    '2026-10-02 10:00.5',
    '2026-10-02 10:00:00.',
    '02.10.2026 10:00',
    '10/02/2026',
    '20261002',
    '2026-10-2',
    '2026-02-29',
    '1760000000',
    ' 2026-10-02',
    '0000-01-01 00:00:00 ',
  ])('%j is not a valid date or date-time', (text) => {
    expect(read(text)).toBeNull()
  })

  test.each([
    ['2026-10-02T10:00', '00.000'],
    ['2026-10-02T10:00:05', '05.000'],
    ['2026-10-02 10:00:05.5', '05.500'],
    ['2026-10-02T10:00:05.123456789', '05.123'],
  ])('§7 %s is read in the zone of the account', (text, seconds) => {
    expect(read(text, 'Europe/Berlin')).toEqual([`2026-10-02T08:00:${seconds}Z`, '2026-10-02'])
  })

  test('a time outside the years 0000 to 9999 is invalid', () => {
    expect(read('9999-12-31T23:59:59Z', 'Asia/Tokyo')).toBeNull()
    expect(read('0000-01-01 00:00', 'Asia/Tokyo')).toBeNull()
    expect(read('9999-12-31T23:59:59-23:59', 'UTC')).toBeNull()
    expect(read('9999-12-31 23:59', 'UTC')).toEqual(['9999-12-31T23:59:00.000Z', '9999-12-31'])
  })
})

describe('daylight saving', () => {
  test('a skipped or ambiguous time gets a warning and keeps its day', async () => {
    const acme = await brand({ time_zone: 'Europe/Berlin' })
    const sent = { ...eve, regtime: '2026-03-29 02:30' }
    const { warnings } = (await json(acme.post('customers', [sent]))).results[0]
    expect(warnings[0]).toEqual({
      code: 'skipped_time',
      pointer: '/0/regtime',
      message:
        "Daylight saving time skips `2026-03-29 02:30` in the account's time zone. It was read as `2026-03-29T03:30:00+02:00`.",
    })
    const twice = { ...deposited, createtime: '2026-10-25 02:30' }
    expect(await json(acme.post('activities', [twice]))).toMatchObject({
      results: [{ warnings: [{ code: 'ambiguous_time', pointer: '/0/createtime' }] }],
    })
    expect((await json(acme.get('activities?from=2026-10-25&to=2026-10-25'))).data).toEqual([twice])
    expect((await json(acme.get('customers'))).data).toEqual([sent])
  })
})

describe('days', () => {
  test("an RFC 3339 time counts on its day in the account's zone", async () => {
    const acme = await brand({ time_zone: 'Asia/Tokyo' })
    await acme.post('customers', eve)
    await acme.post('activities', [
      { ...deposited, eventid: 'a', createtime: '2026-10-02T23:30:00Z' },
      { ...deposited, eventid: 'b', createtime: '2026-10-02 23:30' },
    ])
    const idsOf = async (day: string) =>
      (await json(acme.get(`activities?from=${day}&to=${day}`))).data.map(
        ({ eventid }: { eventid: string }) => eventid,
      )
    expect([await idsOf('2026-10-02'), await idsOf('2026-10-03')]).toEqual([['b'], ['a']])
  })

  test('an event without createtime counts on its arrival day with a warning', async () => {
    const acme = await brand()
    await acme.post('customers', eve)
    const { createtime: _, ...withoutTime } = deposited
    const response = await json(acme.post('activities', [withoutTime]))
    expect(response.results[0].warnings).toMatchObject([
      { code: 'no_createtime', pointer: '/0/createtime' },
    ])
    const today = new Date().toISOString().slice(0, 10)
    const total = async (day: string) =>
      (await json(acme.get(`activities?from=${day}&to=${day}`))).meta.total
    expect(await total(today)).toBe(1)
    await acme.post('activities', [deposited])
    expect([await total(today), await total('2026-10-02')]).toEqual([0, 1])
    await acme.post('activities', [withoutTime])
    expect([await total(today), await total('2026-10-02')]).toEqual([1, 0])
    await acme.post('activities', [deposited, withoutTime])
    expect([await total(today), await total('2026-10-02')]).toEqual([1, 0])

    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 86_400_000 })
    try {
      expect(await json(acme.post('activities', [{ ...withoutTime, Value: 7 }]))).toMatchObject({
        summary: { updated: 1 },
      })
      await acme.post('activities', [deposited])
      await acme.post('activities', [withoutTime])
      expect(await total(today)).toBe(1)
      await acme.post('activities', [deposited, withoutTime])
      expect(await total(today)).toBe(1)
    } finally {
      vi.useRealTimers()
    }
  })

  test('a changed time zone applies only to later arrivals', async () => {
    const acme = await brand()
    await acme.post('customers', eve)
    const at = (eventid: string) => ({ ...deposited, eventid, createtime: '2026-10-02T23:30:00Z' })
    await acme.post('activities', at('a'))
    await askAdmin(`accounts/${acme.account}`, 'PATCH', { time_zone: 'Asia/Tokyo' })
    await acme.post('activities', at('b'))

    const { data } = await json(acme.get('totals?from=2026-10-02&to=2026-10-03'))
    expect(data).toMatchObject([
      { day: '2026-10-02', count: 1 },
      { day: '2026-10-03', count: 1 },
    ])
  })
})
