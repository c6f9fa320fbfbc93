import { parsePeriod } from '../commission/engine/calendar.ts'
import { ApiError } from '../errors.ts'
import type { Page, RefusedFilter, View, Visit } from './page.ts'
import { visible } from './parts/data.tsx'
import { plainWords } from './parts/plain-words.ts'
import { readDay } from './typed.ts'

// Filters of an address with wrong values. The page is shown without them, and says so.

const quoted = (value: string) => `“${visible(value)}”`

const isDay = (text: string) => 'value' in readDay(text) && /^\d{4}-\d\d-\d\d$/.test(text)

/** What the value of a filter must be, by its name, and what is wrong with any other. */
const FORMS: Readonly<
  Record<string, readonly [isValid: (value: string) => boolean, problem: string]>
> = {
  // Lists of statements have all periods, too.
  period: [
    (text) => text === 'all' || parsePeriod(text) !== null,
    'is not a month or a week of the calendar.',
  ],
  from: [isDay, 'is not a day of the calendar.'],
  to: [isDay, 'is not a day of the calendar.'],
  day: [isDay, 'is not a day of the calendar.'],
  payable_on: [isDay, 'is not a day of the calendar.'],
}

/** Returns the filters whose values cannot be what they must be, without asking the API. */
function misformed(query: Visit['query']): RefusedFilter[] {
  return Object.entries(FORMS).flatMap(([name, [isValid, problem]]) => {
    const value = query[name]
    if (value === undefined || isValid(value)) return []
    return [{ name, value, message: `${quoted(value)} ${problem}` }]
  })
}

/** Returns the days of a query if the first is after the last. */
function reversed({ from, to }: Visit['query']): RefusedFilter[] {
  if (!from || !to || from <= to) return []
  const [first, last] = ['from', 'to'].map((name) => ({ name, value: name === 'from' ? from : to }))
  const message = 'The first day is after the last day.'
  return first && last
    ? [
        { ...first, message },
        { ...last, message },
      ]
    : []
}

/** Returns the sentence of the API about a filter in words. */
function messageOf(name: string, value: string, detail: string): string {
  if (name === 'cursor') return 'This part of the list no longer exists. The list begins again.'
  if (name === 'currency') {
    return `${quoted(value)} is not a currency. Write its code of three letters, such as EUR.`
  }
  const isList = name === 'metrics' || name === 'group_by'
  const isChoice = isList || / (?:must be `[^`]*`(?:, | or )|cannot be `)/.test(detail)
  if (isChoice) return `${quoted(value)} is not one of the choices.`
  return plainWords(detail)
}

/** Returns the filters that an error of the API names; empty if it names none of the query. */
function namedBy(error: unknown, query: Visit['query']): RefusedFilter[] {
  if (!(error instanceof ApiError) || error.code !== 'invalid_query') return []
  const detail = error.details.detail ?? ''
  // The first name is what the sentence is about. Others are quoted values or names beside it.
  const name = [...detail.matchAll(/`(\w+)`/g)].map(([, one = '']) => one)[0] ?? ''
  const value = query[name]
  return value === undefined ? [] : [{ name, value, message: messageOf(name, value, detail) }]
}

const without = (visit: Visit, refused: readonly RefusedFilter[]): Visit => ({
  ...visit,
  query: Object.fromEntries(
    Object.entries(visit.query).filter(([name]) => !refused.some((one) => one.name === name)),
  ),
  refusedFilters: [...visit.refusedFilters, ...refused],
})

/**
 * Renders a page. Filters with wrong values are left out, and the visit of the result has them, so that the
 * page keeps its forms.
 *
 * @throws ApiError for anything else that the API refuses.
 */
export async function renderFiltered(
  page: Page,
  visit: Visit,
): Promise<{ readonly view: View; readonly refusedFilters: readonly RefusedFilter[] }> {
  const wrong = misformed(visit.query)
  let kept = without(visit, wrong.length > 0 ? wrong : reversed(visit.query))
  for (;;) {
    try {
      return { view: await page.render(kept), refusedFilters: kept.refusedFilters }
    } catch (thrown) {
      const refused = namedBy(thrown, kept.query)
      if (refused.length === 0) throw thrown
      kept = without(kept, refused)
    }
  }
}
