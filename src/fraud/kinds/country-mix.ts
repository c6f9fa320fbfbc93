import { valueOn } from '../../commission/engine/facts.ts'
import { counted, figure } from '../../commission/words/english.ts'
import { ENGLISH } from '../../commission/words/words.ts'
import { compareText } from '../../platform/compare-text.ts'
import {
  compare,
  decimal,
  integer,
  multiply,
  plainText,
  quotient,
  subtract,
} from '../../platform/money/decimal.ts'
import { objectOf } from '../../platform/validation/shapes.ts'
import { signedUp } from '../db/candidates.ts'
import { atLeast, moreThan } from '../figures.ts'
import { aboutAffiliate, defineKind, type OwnFact, signupsOf } from '../kind.ts'
import { count, days, parameter, percentage } from '../parameters.ts'

/** The days before the window that its countries are compared with. */
const COMPARED = 90

/** A country whose share of the signups has grown far above what the affiliate usually brings. */
export const countryMix = defineKind({
  kind: 'country_mix',
  name: 'Signups from an unusual country',
  severity: 'low',
  verticals: ['prop-trading', 'forex', 'igaming'],
  parameters: objectOf({
    min_signups: count(20, 'Fewest signups', '', 'signups'),
    days: days(7, 'Days whose signups are compared'),
    points: parameter(percentage, '40', {
      label: 'Percentage points',
      is: 'amount',
      unit: 'points',
      hint: 'By which the share of one country must have grown.',
    }),
  }),
  words: ({ min_signups, days: window, points }) => ({
    when: `the share of one country among at least ${counted(min_signups, 'signup')} in ${counted(window, 'day')} is more than ${figure(points)} percentage points above its share in the ${COMPARED} days before`,
  }),
  reach: ({ days: window }) => ({ customers: window + COMPARED }),
  candidates: ({ days: window }) => ({ sql: signedUp(), days: window }),
  glance: ({ min_signups, days: window }) => ({
    reach: { customers: window },
    isSuspect: (view, day) =>
      withCountry(signupsOf(view, day - window + 1, day)).length >= min_signups,
  }),
  find(view, day, { min_signups, days: window, points }) {
    const first = day - window + 1
    const now = withCountry(signupsOf(view, first, day))
    const before = withCountry(signupsOf(view, first - COMPARED, first - 1))
    if (now.length < min_signups || before.length === 0) return []
    const earlier = Map.groupBy(before, ({ country }) => country)
    return [...Map.groupBy(now, ({ country }) => country)]
      .sort(([a], [b]) => compareText(a, b))
      .flatMap(([country, signups]) => {
        const usual = earlier.get(country)?.length ?? 0
        // a ÷ n − b ÷ m in percentage points, compared without a division.
        const difference = integer(100 * (signups.length * before.length - usual * now.length))
        const whole = integer(now.length * before.length)
        if (compare(difference, multiply(whole, decimal(points))) <= 0) return []
        const share = quotient(integer(100 * signups.length), integer(now.length), 2)
        const usualShare = quotient(integer(100 * usual), integer(before.length), 2)
        const figures = [
          atLeast('signups_with_a_country', now.length, min_signups, 'signups'),
          moreThan('growth_of_the_share', subtract(share, usualShare), points, 'points'),
        ]
        const sentence = `${figure(plainText(share))} % of the signups came from ${ENGLISH.country(country)}; ${figure(plainText(usualShare))} % are usual.`
        return [aboutAffiliate(view, figures, sentence, signups)]
      })
  },
  titles: {
    growth_of_the_share: 'Growth of the share of a country',
  },
  sees: 'The country of each customer as it was at the signup, by day.',
  cannotSee:
    'A customer without a country is left out. Senders may take the country from an address that is wrong.',
})

/** Returns signups with the country of their customers on the day; those without one are left out. */
const withCountry = (signups: readonly OwnFact[]) =>
  signups.flatMap((own) => {
    const country = valueOn(own.customer.fields, own.fact.day)?.country_code
    return country ? [{ ...own, country }] : []
  })
