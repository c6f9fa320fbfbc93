import { wholeNumber } from '../../commission/plans/decimals.ts'
import { counted, figure } from '../../commission/words/english.ts'
import { objectOf } from '../../platform/validation/shapes.ts'
import { signedUp } from '../db/candidates.ts'
import { atLeast, percentFigure, reachesPercent } from '../figures.ts'
import { aboutAffiliate, defineKind, signupsOf } from '../kind.ts'
import { count, days, parameter, shareOfAll } from '../parameters.ts'

const SECOND_MS = 1000

/** Most signups came a few seconds after their clicks. */
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
  }),
  words: ({ min_signups, days: window, share_percent, seconds }) => ({
    when: `${figure(share_percent)} % of at least ${counted(min_signups, 'signup')} in ${counted(window, 'day')} came less than ${counted(seconds, 'second')} after the click`,
  }),
  reach: ({ days: window }) => ({ customers: window, clicks: true }),
  candidates: ({ days: window }) => ({
    sql: signedUp(`t.verdict = 'attributed' and t.tracking_data is not null`),
    days: window,
  }),
  glance: () => ({}),
  find(view, day, { min_signups, days: window, share_percent, seconds }) {
    const timed = signupsOf(view, day - window + 1, day).filter(
      ({ fact, customer }) => !fact.wholeDay && customer.clickedAt !== null,
    )
    const soon = timed.filter(
      ({ fact, customer }) => fact.at - (customer.clickedAt ?? 0) < seconds * SECOND_MS,
    )
    const [part, whole] = [soon.length, timed.length]
    if (whole < min_signups || !reachesPercent(part, whole, share_percent)) return []
    const figures = [
      atLeast('signups_with_a_click', whole, min_signups, 'signups'),
      percentFigure('signups_soon_after_the_click', part, whole, share_percent),
    ]
    const sentence = `${part} of ${counted(whole, 'signup')} came less than ${counted(seconds, 'second')} after the click.`
    return [aboutAffiliate(view, figures, sentence, soon)]
  },
  sees: 'The time of the click in the signed code of a link, and the time of the signup.',
  cannotSee: 'A signup without a link of the service, or without a time of day, is left out.',
})
