// Days and periods in words.

const DAY = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
})

const MONTH = new Intl.DateTimeFormat('en-GB', { month: 'long', timeZone: 'UTC' })

/** Returns a day (`YYYY-MM-DD`) in words: `5 Oct 2026`. */
export const dayWords = (day: string): string => DAY.format(new Date(day))

/** Returns a period in words: `October 2026` for `2026-10`, `Week 41 of 2026` for `2026-W41`. */
export function periodWords(period: string): string {
  const [year = '', part = ''] = period.split('-')
  if (part.startsWith('W')) return `Week ${Number(part.slice(1))} of ${year}`
  return `${MONTH.format(new Date(`${period}-01`))} ${year}`
}
