import { describe, expect, test } from 'vitest'
import { readAmount, readDay } from '../../src/platform/money/typed.ts'

describe('amounts', () => {
  test.each([
    ['1234.50', '1234.50'],
    ['1,234.50', '1234.50'],
    ['1.234,50', '1234.50'],
    ['1 234,5', '1234.5'],
    ["1'234.50", '1234.50'],
    ['1\u202f234\u202f567,89', '1234567.89'],
    ['12,5', '12.5'],
    ['1,234,567', '1234567'],
    ['1.234.567', '1234567'],
    ['-1.234.567,89', '-1234567.89'],
    ['−5', '-5'],
    ['1234,567', '1234.567'],
    [' 7 ', '7'],
  ])('%s is %s', (text, value) => {
    expect(readAmount(text, 2)).toEqual({ value })
  })

  test.each(['1,234', '1.234', '-12.345'])('%s may be two amounts', (text) => {
    expect(readAmount(text, 2)).toEqual({ problem: expect.stringContaining(' can be ') })
  })

  test('a point before three digits is a decimal point where the currency has three', () => {
    expect(readAmount('1.234', 3)).toEqual({ value: '1.234' })
    expect(readAmount('1,234', 3)).toHaveProperty('problem')
  })

  test.each(['', 'ten', '1,23,4', '1.2.3', '1,2.3,4', '12 EUR', '1e5', '--1', '1,234.567,8', '5.'])(
    '%j is no amount',
    (text) => {
      expect(readAmount(text, 2)).toEqual({ problem: expect.stringContaining('is not an amount') })
    },
  )
})

describe('days', () => {
  test.each([
    ['2026-10-05', '2026-10-05'],
    ['5.10.2026', '2026-10-05'],
  ])('%s is %s', (text, value) => {
    expect(readDay(text)).toEqual({ value })
  })

  test.each(['', 'today', '25/10/2026', '31.2.2026', '2026-13-01', '5.10.26'])(
    '%j is no day',
    (text) => {
      expect(readDay(text)).toEqual({ problem: expect.stringContaining('is not a day') })
    },
  )
})
