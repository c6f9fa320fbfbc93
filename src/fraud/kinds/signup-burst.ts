import { counted, figure } from '../../commission/words/english.ts'
import { HOUR_MS } from '../../platform/durations.ts'
import { compare, decimal, integer, multiply, plainText } from '../../platform/money/decimal.ts'
import { objectOf } from '../../platform/validation/shapes.ts'
import { signedUp } from '../db/candidates.ts'
import { atLeast, median, moreThan } from '../figures.ts'
import { aboutAffiliate, defineKind, type OwnFact, signupsOf } from '../kind.ts'
import { above0, count, MAX_DAYS } from '../parameters.ts'

/** The days with signups that a day is compared with: the latest before it. */
const COMPARED = 28

/** Far more signups on a day, or within an hour of it, than the affiliate usually has. */
export const signupBurst = defineKind({
  kind: 'signup_burst',
  name: 'A burst of signups',
  severity: 'medium',
  verticals: ['prop-trading', 'forex', 'igaming'],
  parameters: objectOf({
    min: count(20, 'Fewest signups', 'Of a day, or of an hour.', 'signups'),
    times: above0('5', 'Times what is usual', '', 'times'),
  }),
  words: ({ min, times }) => ({
    when: `at least ${counted(min, 'customer')} signed up on one day or within an hour, more than ${figure(times)} times what is usual`,
    more: [`Usual is the median of the affiliate’s last ${COMPARED} days with signups.`],
  }),
  reach: () => ({ customers: MAX_DAYS }),
  candidates: () => ({ sql: signedUp() }),
  glance: ({ min }) => ({
    reach: { customers: 1 },
    isSuspect: (view, day) => signupsOf(view, day, day).length >= min,
  }),
  find(view, day, { min, times }) {
    const today = signupsOf(view, day, day)
    if (today.length < min) return []
    const earlier = Map.groupBy(
      signupsOf(view, day - MAX_DAYS + 1, day - 1),
      ({ fact }) => fact.day,
    )
    const latest = [...earlier].sort(([a], [b]) => b - a).slice(0, COMPARED)
    const found = SPANS.flatMap(({ name, within, signupsIn }) => {
      const value = signupsIn(today)
      const usual = median(
        latest
          .map(([, signups]) => signupsIn(signups))
          .filter((one) => one > 0)
          .map(integer),
      )
      if (usual === null || value < min) return []
      const threshold = multiply(usual, decimal(times))
      if (compare(integer(value), threshold) <= 0) return []
      return [
        {
          figures: [
            moreThan(name, value, threshold, 'signups', `${times} times the usual`),
            atLeast(name, value, min, 'signups'),
          ],
          sentence: `${counted(value, 'signup')} came within ${within}; ${figure(plainText(usual))} are usual.`,
        },
      ]
    })
    const [first] = found
    if (!first) return []
    const figures = found.flatMap((one) => one.figures)
    return [aboutAffiliate(view, figures, first.sentence, today)]
  },
  sees: 'How many customers signed up on each day and, where the time of day was sent, in each hour.',
  cannotSee:
    'The first day with signups cannot be compared with earlier ones. A planned campaign looks the same.',
})

/** Returns the most signups of a clock hour. A signup without a time of day is in none. */
function mostInAnHour(signups: readonly OwnFact[]): number {
  const timed = signups.filter(({ fact }) => !fact.wholeDay)
  const hours = Map.groupBy(timed, ({ fact }) => Math.floor(fact.at / HOUR_MS))
  return Math.max(0, ...[...hours.values()].map((one) => one.length))
}

/** The spans of time whose signups are counted. */
const SPANS = [
  {
    name: 'signups_of_a_day',
    within: 'a day',
    signupsIn: (signups: readonly OwnFact[]) => signups.length,
  },
  { name: 'signups_of_an_hour', within: 'an hour', signupsIn: mostInAnHour },
] as const
