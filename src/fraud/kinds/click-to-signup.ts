import * as v from 'valibot'
import { counted, figure } from '../../commission/engine/reasons.ts'
import { wholeNumber } from '../../commission/plans/decimals.ts'
import { HOUR_MS } from '../../platform/durations.ts'
import { objectOf } from '../../platform/validation/shapes.ts'
import { signedUp } from '../db/candidates.ts'
import { atLeast, percentFigure, reachesPercent } from '../figures.ts'
import { aboutAffiliate, defineKind, signupsOf } from '../kind.ts'
import { count, days, documented, MAX_DAYS, parameter, shareOfAll } from '../parameters.ts'

const SECOND_MS = 1000

const HOURS = {
  label: 'Hours after the click',
  is: 'whole',
  unit: 'hours',
  hint: 'A signup that comes later counts, too. If empty, none does.',
} as const

/** Most signups came a few seconds after their clicks, or a long time after them. */
export const clickToSignup = defineKind({
  kind: 'click_to_signup',
  name: 'Signups seconds after the click',
  severity: 'medium',
  verticals: ['prop-trading', 'forex', 'igaming'],
  parameters: objectOf({
    min_signups: count(10, 'Fewest signups with a click', '', 'signups'),
    days: days(7, 'Days whose signups are compared'),
    share_percent: shareOfAll('50'),
    seconds: parameter(wholeNumber(1, 3600), 10, {
      label: 'Seconds after the click',
      is: 'whole',
      unit: 'seconds',
      hint: 'A signup that comes sooner counts.',
    }),
    hours: {
      ...v.exactOptional(documented(wholeNumber(1, 24 * MAX_DAYS), HOURS, 72)),
      label: HOURS,
    },
  }),
  words: ({ min_signups, days: window, share_percent, seconds, hours }) => ({
    when: `${figure(share_percent)} % of at least ${counted(min_signups, 'signup')} in ${counted(window, 'day')} came less than ${counted(seconds, 'second')} after the click${hours === undefined ? '' : `, or ${figure(share_percent)} % more than ${counted(hours, 'hour')} after it`}`,
  }),
  reach: ({ days: window }) => ({ customers: window, clicks: true }),
  candidates: ({ days: window }) => ({
    sql: signedUp(`t.verdict = 'attributed' and t.tracking_data is not null`),
    days: window,
  }),
  glance: () => ({}),
  find(view, day, { min_signups, days: window, share_percent, seconds, hours }) {
    const timed = signupsOf(view, day - window + 1, day).flatMap((own) => {
      const { clickedAt } = own.customer
      return own.fact.wholeDay || clickedAt === null
        ? []
        : [{ ...own, after: own.fact.at - clickedAt }]
    })
    if (timed.length < min_signups) return []
    const groups = [
      {
        name: 'signups_soon_after_the_click',
        signups: timed.filter(({ after }) => after < seconds * SECOND_MS),
        when: `less than ${counted(seconds, 'second')}`,
      },
      {
        name: 'signups_long_after_the_click',
        signups: timed.filter(({ after }) => hours !== undefined && after > hours * HOUR_MS),
        when: `more than ${counted(hours ?? 0, 'hour')}`,
      },
    ]
    return groups
      .filter(({ signups }) => reachesPercent(signups.length, timed.length, share_percent))
      .map(({ name, signups, when }) => {
        const figures = [
          atLeast('signups_with_a_click', timed.length, min_signups, 'signups'),
          percentFigure(name, signups.length, timed.length, share_percent),
        ]
        const sentence = `${signups.length} of ${counted(timed.length, 'signup')} came ${when} after the click.`
        return aboutAffiliate(view, figures, sentence, signups)
      })
  },
  sees: 'The time of the click in the signed code of a link, and the time of the signup.',
  cannotSee: 'A signup without a link of the service, or without a time of day, is left out.',
})
