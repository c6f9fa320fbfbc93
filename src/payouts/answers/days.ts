import { readDay } from '../../platform/money/typed.ts'

/** Which number stands first in days such as `05/11/2026`. */
export const DAY_ORDERS = ['day_first', 'month_first'] as const

/** Which number stands first in days such as `05/11/2026`. */
export type DayOrder = (typeof DAY_ORDERS)[number]

/** The parts of a day, and what stands between them. A time may follow. */
const DAY = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d\d)\b/

/** Returns the readings of a day (`YYYY-MM-DD`): none, one, or two if no order is given and both exist. */
export function readDays(text: string | null, order?: DayOrder): string[] {
  const [, first = '', sign, second = '', year = ''] = DAY.exec(text ?? '') ?? []
  if (!sign) return exact(text?.slice(0, 10) ?? '')
  const at = (day: string, month: string) => exact(`${day}.${month}.${year.padStart(4, '20')}`)
  const dayFirst = at(first, second)
  if (sign === '.' || order === 'day_first') return dayFirst
  const monthFirst = at(second, first)
  return order ? monthFirst : [...new Set([...dayFirst, ...monthFirst])]
}

function exact(text: string): string[] {
  const read = readDay(text)
  return 'value' in read ? [read.value] : []
}
