import { env } from 'cloudflare:workers'
import { describe, expect, test, vi } from 'vitest'
import { closedRateFinder, rateFinder, rateLookup } from '../../src/commission/engine/convert.ts'
import { loadRates } from '../../src/db/commission/rates.ts'
import { countCalls } from '../watched.ts'
import { csvOf, putRates } from './rate-files.ts'

// §11 and §16.2: which rate the engine converts by.

const DAY = 20727

const lookUp = rateFinder({
  rates: [
    { currency: 'USD', day: DAY, rate: '1.1711' },
    { currency: 'USD', day: DAY + 4, rate: '1.17' },
    { currency: 'IDR', day: DAY, rate: '20082' },
  ],
  lastDay: DAY + 20,
})
const rate = (units: bigint, scale: number, day: number) => ({ rate: { units, scale }, day })

describe('the rate that applies', () => {
  test('is exact, and the last one on or before the day', () => {
    expect(lookUp('USD', DAY)).toEqual(rate(11711n, 4, DAY))
    expect(lookUp('USD', DAY + 3)).toEqual(rate(11711n, 4, DAY))
    expect(lookUp('USD', DAY + 4)).toEqual(rate(117n, 2, DAY + 4))
    expect(lookUp('IDR', DAY)).toEqual(rate(20082n, 0, DAY))
  })

  test('is at most 7 days old', () => {
    expect(lookUp('USD', DAY + 11)).toEqual(rate(117n, 2, DAY + 4))
    expect(lookUp('USD', DAY + 12)).toBe('fx_missing')
    expect(lookUp('USD', DAY - 1)).toBe('fx_missing')
    expect(lookUp('GBP', DAY)).toBe('fx_missing')
  })

  test('is pending while the source has published nothing for the day or a later one', () => {
    expect(lookUp('USD', DAY + 20)).toBe('fx_missing')
    expect(lookUp('USD', DAY + 21)).toBe('fx_pending')
    const rates = [{ currency: 'USD', day: DAY, rate: '1.1711' }]
    const early = rateFinder({ rates, lastDay: DAY })
    // However young the rates before are.
    expect(early('USD', DAY + 1)).toBe('fx_pending')
    expect(rateFinder({ rates: [], lastDay: null })('USD', DAY)).toBe('fx_pending')
  })

  test('is always 1 for the euro', () => {
    expect(lookUp('EUR', DAY + 99)).toEqual(rate(1n, 0, DAY + 99))
    expect(rateFinder({ rates: [], lastDay: null })('EUR', DAY)).toEqual(rate(1n, 0, DAY))
  })

  test('has all digits', () => {
    const rates = [
      { currency: 'USD', day: DAY, rate: '0.000000000001' },
      { currency: 'IDR', day: DAY, rate: '123456789012345' },
    ]
    const at = rateLookup(rateFinder({ rates, lastDay: DAY }))
    expect(at('USD', DAY)).toEqual({ units: 1n, scale: 12 })
    expect(at('IDR', DAY)).toEqual({ units: 123456789012345n, scale: 0 })
    expect(at('USD', DAY + 1)).toBe('fx_pending')
  })
})

const range = (from: number, to: number, at: number | null = null) => ({
  ...{ currencies: ['USD', 'JPY'], days: [{ first: from, last: to }], at },
})

describe('loading', () => {
  test('reads the chosen currencies of the days and of the 7 days before', async () => {
    const days = Array.from({ length: 28 }, (_, i) => `2026-10-${String(i + 1).padStart(2, '0')}`)
    const rows = days.map((day) => `${day},1.1,180,0.9,366`)
    await putRates(csvOf('Date,USD,JPY,GBP,HUF', ...rows))
    const { rates, lastDay } = await loadRates(env.DB, range(DAY + 10, DAY + 12))
    expect(lastDay).toBe(DAY + 27)
    const dayList = Array.from({ length: 10 }, (_, i) => DAY + 3 + i)
    expect(rates).toEqual([
      ...dayList.map((day) => ({ currency: 'USD', day, rate: '1.1' })),
      ...dayList.map((day) => ({ currency: 'JPY', day, rate: '180' })),
    ])
  })

  test('reads several ranges, near ones together, and each rate once', async () => {
    const days = Array.from({ length: 250 }, (_, i) => DAY - 250 + i)
    const textOf = (day: number) => new Date(day * 86_400_000).toISOString().slice(0, 10)
    await putRates(csvOf('Date,USD', ...days.map((day) => `${textOf(day)},1.1`)))
    const first = DAY - 240
    const { rates } = await loadRates(env.DB, {
      currencies: null,
      days: [first + 200, first + 37, first, first + 3].map((day) => ({ first: day, last: day })),
      at: null,
    })
    const read = (from: number, to: number) => days.filter((day) => day >= from && day <= to)
    expect(rates.map(({ day }) => day)).toEqual([
      ...read(first - 7, first + 37),
      ...read(first + 193, first + 200),
    ])
    expect((await loadRates(env.DB, { currencies: null, days: [], at: null })).lastDay).toBe(
      DAY - 1,
    )
  })

  test('tells the last day of the source over all currencies', async () => {
    await putRates(csvOf('Date,USD,GBP', '2026-10-01,1.1,', '2026-10-06,,0.9'))
    const stored = await loadRates(env.DB, range(DAY, DAY + 3))
    expect(stored.lastDay).toBe(DAY + 5)
    expect(rateFinder(stored)('USD', DAY + 3)).toEqual(rate(11n, 1, DAY))
    expect((await loadRates(env.DB, range(DAY, DAY, 0))).lastDay).toBeNull()
  })

  test('is one statement that reads rows along the key', async () => {
    const days = Array.from({ length: 400 }, (_, i) => {
      const day = new Date(Date.UTC(2025, 8, 10 + i)).toISOString().slice(0, 10)
      return `${day},1.1,180,0.9,366,24.3,4.2`
    })
    const answer = await putRates(csvOf('Date,USD,JPY,GBP,HUF,CZK,PLN', ...days))
    expect(answer.ok).toBe(true)
    const headers = { Authorization: `Bearer ${env.ADMIN_KEY}` }
    const { trips, rowsRead } = await countCalls('/admin/v1/fx-rates?day=2026-10-01', { headers })
    expect(trips).toBe(1)
    // For each of 6 currencies its 8 days, and 9 rows that find the currency and its last day.
    expect(rowsRead).toBe(6 * 17 + 1)
  })
})

/** A time after the days of the rates. */
const NOW = Date.parse('2026-11-01')

describe('a closed period', () => {
  const ratesOfClosed = async (approved: number, from: number, to: number) =>
    closedRateFinder(
      rateFinder(await loadRates(env.DB, range(from, to, NOW + approved))),
      rateFinder(await loadRates(env.DB, range(from, to))),
    )
  const put = (at: number, ...lines: string[]) => {
    vi.setSystemTime(NOW + at)
    return putRates(csvOf('Date,USD,JPY', ...lines), '?correct=true')
  }

  test('keeps the rate that applied at its approval', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    await put(1000, '2026-10-01,1.1,180', '2026-10-05,1.5,')
    await put(3000, '2026-10-01,1.2,180', '2026-10-02,1.3,190')
    const before = await loadRates(env.DB, range(DAY, DAY, NOW + 2000))
    const after = await loadRates(env.DB, range(DAY, DAY))
    expect(before.rates).toContainEqual({ currency: 'USD', day: DAY, rate: '1.1' })
    expect(after.rates).toContainEqual({ currency: 'USD', day: DAY, rate: '1.2' })
    expect([before.rates.length, after.rates.length]).toEqual([2, 2])
    const at = await ratesOfClosed(2000, DAY, DAY + 4)
    expect(at('USD', DAY)).toEqual(rate(11n, 1, DAY))
    // A rate of the day itself, which was not published in time, changes nothing.
    expect(at('USD', DAY + 1)).toEqual(rate(11n, 1, DAY))
    expect((await ratesOfClosed(3000, DAY, DAY + 4))('USD', DAY)).toEqual(rate(12n, 1, DAY))
  })

  test('takes the rate that applies now for a fact that had none', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    await put(1000, '2026-10-01,1.1,')
    await put(3000, '2026-10-02,1.3,190', '2026-10-05,,195')
    const at = await ratesOfClosed(2000, DAY, DAY + 4)
    // It was pending on the 2nd, although the rate of the 1st was known.
    expect(at('USD', DAY + 1)).toEqual(rate(13n, 1, DAY + 1))
    expect(at('JPY', DAY + 1)).toEqual(rate(190n, 0, DAY + 1))
    expect(at('JPY', DAY)).toBe('fx_missing')
    expect(at('USD', DAY + 5)).toBe('fx_pending')
  })
})
