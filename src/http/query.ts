import * as v from 'valibot'
import { ApiError } from '../errors.ts'
import { day } from '../validation/fields.ts'
import { suggest } from '../validation/suggest.ts'

/** A query that cannot be understood; the sentence names the parameter. */
export const invalidQuery = (detail: string) => new ApiError('invalid_query', { detail })

/**
 * The parameters of a query, each at most once and each known: one that is misspelt would be
 * ignored otherwise, and a `dryrun=true` would store.
 */
export function readQuery<const N extends string>(
  url: string,
  ...known: N[]
): Partial<Record<N, string>> {
  const read: Partial<Record<N, string>> = {}
  const { search, searchParams } = new URL(url)
  checkPercentEncoding(search)
  for (const [name, value] of searchParams) {
    if (!known.includes(name as N)) {
      const near = suggest(name, known)
      const hint = near ? `did you mean ${near}?` : `known are: ${known.join(', ') || 'none'}.`
      throw invalidQuery(`There is no parameter ${JSON.stringify(name.slice(0, 40))}; ${hint}`)
    }
    if (Object.hasOwn(read, name)) throw invalidQuery(`${name} is there twice.`)
    if (value === '') throw invalidQuery(`${name} is empty; leave it out, or say something.`)
    read[name as N] = value
  }
  return read
}

/** What reads an address keeps a stray `%`, or replaces what is no UTF-8: another thing would be named. */
export function checkPercentEncoding(part: string): void {
  try {
    decodeURIComponent(part)
  } catch {
    throw invalidQuery('After each % follow two hexadecimal digits, of UTF-8.')
  }
}

/** Whether a request is only to be judged. */
export function readDryRun(url: string): boolean {
  const { dry_run = 'false' } = readQuery(url, 'dry_run')
  if (dry_run !== 'true' && dry_run !== 'false') throw invalidQuery('dry_run is true or false.')
  return dry_run === 'true'
}

/** Two days of a query, checked: each of the calendar, and in order. */
export function readDays<Q extends { from?: string; to?: string }>(query: Q): Q {
  for (const name of ['from', 'to'] as const) {
    const said = query[name]
    if (said !== undefined && !v.is(day, said)) {
      throw invalidQuery(`${name} is a day of the calendar, written YYYY-MM-DD.`)
    }
  }
  if (query.from && query.to && query.from > query.to) throw invalidQuery('from is after to.')
  return query
}

/** The contract: totals span at most so many days. */
const MAX_DAYS = 366

/** Two days that must both be there, not too far apart. */
export function readDayRange(query: { from?: string; to?: string }): { from: string; to: string } {
  const { from, to } = readDays(query)
  if (!from || !to) throw invalidQuery('from and to are needed: the first and the last day.')
  const days = (Date.parse(to) - Date.parse(from)) / 86_400_000 + 1
  if (days > MAX_DAYS) throw invalidQuery(`from and to span at most ${MAX_DAYS} days.`)
  return { from, to }
}
