import { expect, test } from 'vitest'
import { nextTargetDay, warningsOf } from '../../src/payouts/target-days.ts'
import { dayNumber, dayText } from '../../src/platform/db/column-types.ts'

// The closing days that the European Central Bank has published for TARGET, without weekends.
const CLOSED = [
  '2024-01-01 2024-03-29 2024-04-01 2024-05-01 2024-12-25 2024-12-26',
  '2025-01-01 2025-04-18 2025-04-21 2025-05-01 2025-12-25 2025-12-26',
  '2026-01-01 2026-04-03 2026-04-06 2026-05-01 2026-12-25',
  '2027-01-01 2027-03-26 2027-03-29',
  '2038-01-01 2038-04-23 2038-04-26',
].flatMap((line) => line.split(' '))

const isClosed = (day: string) => nextTargetDay(day) !== null

test('§20.2 TARGET is closed at weekends, and on the days that its calendar names', () => {
  for (const year of [2024, 2025, 2026, 2027, 2038]) {
    const first = dayNumber(`${year}-01-01`)
    const days = Array.from({ length: 365 }, (_, n) => dayText(first + n))
    const working = days.filter((day) => ![0, 6].includes(new Date(day).getUTCDay()))
    expect(days.filter((day) => !working.includes(day)).every(isClosed)).toBe(true)
    expect(working.filter(isClosed)).toEqual(CLOSED.filter((day) => day.startsWith(`${year}`)))
  }
  expect(['2026-04-03', '2026-12-25', '2026-12-28'].map(nextTargetDay)).toEqual([
    '2026-04-07',
    '2026-12-28',
    null,
  ])
  const sepa = { method: 'sepa', currency: 'EUR', execute_on: '2026-12-26' } as const
  expect(warningsOf(sepa)).toEqual([{ code: 'bank_holiday', next_open_day: '2026-12-28' }])
  for (const other of [
    { method: 'bank' },
    { currency: 'GBP' },
    { execute_on: '2026-12-24' },
  ] as const)
    expect(warningsOf({ ...sepa, ...other })).toEqual([])
})
