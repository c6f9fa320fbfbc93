import { describe, expect, test } from 'vitest'
import { rateFinder, rateLookup } from '../../src/platform/money/exchange.ts'

// §11 and §16.2: which rate the engine converts by.

const DAY = 20727

const row = (day: number, rates: Record<string, string>) => ({
  ...{ day, rates, known_from: 0, known_until: null },
})

const lookUp = rateFinder({
  rows: [row(DAY, { USD: '1.1711', IDR: '20082' }), row(DAY + 4, { USD: '1.17' })],
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
    const early = rateFinder({ rows: [row(DAY, { USD: '1.1711' })], lastDay: DAY })
    // However young the rates before are.
    expect(early('USD', DAY + 1)).toBe('fx_pending')
    expect(rateFinder({ rows: [], lastDay: null })('USD', DAY)).toBe('fx_pending')
  })

  test('is always 1 for the euro', () => {
    expect(lookUp('EUR', DAY + 99)).toEqual(rate(1n, 0, DAY + 99))
    expect(rateFinder({ rows: [], lastDay: null })('EUR', DAY)).toEqual(rate(1n, 0, DAY))
  })

  test('has all digits', () => {
    const rows = [row(DAY, { USD: '0.000000000001', IDR: '123456789012345' })]
    const at = rateLookup(rateFinder({ rows, lastDay: DAY }))
    expect(at('USD', DAY)).toEqual({ units: 1n, scale: 12 })
    expect(at('IDR', DAY)).toEqual({ units: 123456789012345n, scale: 0 })
    expect(at('USD', DAY + 1)).toBe('fx_pending')
  })

  test('at a time is the one that was known then', () => {
    const rows = [
      { ...row(DAY, { USD: '1.1' }), known_from: 10, known_until: 20 },
      { ...row(DAY, { USD: '1.2' }), known_from: 20 },
    ]
    const at = (time?: number) => rateFinder({ rows, lastDay: DAY }, time)('USD', DAY)
    expect([at(9), at(19), at(20), at()]).toEqual([
      ...['fx_missing', rate(11n, 1, DAY), rate(12n, 1, DAY), rate(12n, 1, DAY)],
    ])
  })
})
