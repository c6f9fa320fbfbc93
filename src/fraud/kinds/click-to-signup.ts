import * as v from 'valibot'
import { integer, quotient } from '../../commission/engine/decimal.ts'
import { counted, figure } from '../../commission/engine/reasons.ts'
import { wholeNumber } from '../../commission/plans/decimals.ts'
import { objectOf } from '../../commission/plans/shapes.ts'
import { signedUp } from '../../db/fraud/candidates.ts'
import { HOUR_MS } from '../../durations.ts'
import { member, said } from '../../validation/fields.ts'
import {
  countFigure,
  overFigure,
  partOf,
  percentFigure,
  reachesPercent,
  underFigure,
  withParts,
} from '../figures.ts'
import { defineKind, evidenceOf, type Figure, signupsOf } from '../kind.ts'
import { count, days, MAX_DAYS, SHARE_LABEL, share } from '../parameters.ts'

const SECOND_MS = 1000

/** Most signups came a few seconds after their clicks, or a long time after them. */
export const clickToSignup = defineKind({
  kind: 'click_to_signup',
  name: 'Signups seconds after the click',
  severity: 'medium',
  verticals: ['prop-trading', 'forex', 'igaming'],
  parameters: objectOf({
    min_signups: count(10, said('The fewest signups with a click that are compared.')),
    days: days(7, said('The days whose signups are compared.')),
    share_percent: share(
      '50',
      said('The share of these signups, in percent, from which a case opens.'),
    ),
    seconds: v.optional(
      member(wholeNumber(1, 3600), said('A signup sooner after its click counts.', 10)),
      10,
    ),
    hours: v.exactOptional(
      member(
        wholeNumber(1, 24 * MAX_DAYS),
        said('A signup longer after its click counts, too. Left out: none does.', 72),
      ),
    ),
  }),
  labels: {
    min_signups: { label: 'Fewest signups with a click', is: 'whole', unit: 'signups' },
    days: { label: 'Days whose signups are compared', is: 'whole', unit: 'days' },
    share_percent: SHARE_LABEL,
    seconds: {
      label: 'Seconds after the click',
      is: 'whole',
      unit: 'seconds',
      hint: 'A signup that comes sooner counts.',
    },
    hours: {
      label: 'Hours after the click',
      is: 'whole',
      unit: 'hours',
      hint: 'A signup that comes later counts, too. If empty, none does.',
    },
  },
  words: ({ min_signups, days: window, share_percent, seconds, hours }) => ({
    when: `${figure(share_percent)} % of at least ${counted(min_signups, 'signup')} in ${counted(window, 'day')} came less than ${counted(seconds, 'second')} after the click${hours === undefined ? '' : `, or ${figure(share_percent)} % more than ${counted(hours, 'hour')} after it`}`,
  }),
  reach: ({ days: window }) => ({ customers: window, clicks: window }),
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
    const fast = timed.filter(({ after }) => after < seconds * SECOND_MS)
    const slow = hours === undefined ? [] : timed.filter(({ after }) => after > hours * HOUR_MS)
    const groups = [
      {
        name: 'signups_soon_after_the_click',
        signups: fast,
        when: `less than ${counted(seconds, 'second')}`,
        limit: () => slowest(fast, seconds),
      },
      {
        name: 'signups_long_after_the_click',
        signups: slow,
        when: `more than ${counted(hours ?? 0, 'hour')}`,
        limit: () => fastest(slow, hours ?? 0),
      },
    ]
    return groups
      .filter(({ signups }) =>
        reachesPercent(integer(signups.length), integer(timed.length), share_percent),
      )
      .map(({ name, signups, when, limit }) => ({
        subject: { affiliate_id: view.affiliate_id },
        figures: [
          countFigure('signups_with_a_click', timed.length, min_signups, 'signups'),
          withParts(
            percentFigure(name, integer(signups.length), integer(timed.length), share_percent),
            [partOf('signups_that_count', integer(signups.length), 'signups')],
          ),
          limit(),
        ],
        sentence: `${signups.length} of ${counted(timed.length, 'signup')} came ${when} after the click.`,
        evidence: evidenceOf(signups),
      }))
  },
  titles: {
    longest_time_after_the_click: 'Longest time after the click',
    shortest_time_after_the_click: 'Shortest time after the click',
    signups_that_count: 'Signups that came so',
  },
  sees: 'The time of the click in the signed code of a link, and the time of the signup.',
  cannotSee: 'A signup without a link of the service, or without a time of day, is left out.',
})

/** A signup, and how long after its click it came, in milliseconds. */
interface Timed {
  readonly after: number
}

/** Returns a figure of the signup that came last after its click, in whole milliseconds. */
const slowest = (timed: readonly Timed[], seconds: number): Figure =>
  underFigure(
    'longest_time_after_the_click',
    quotient(
      integer(Math.floor(Math.max(...timed.map(({ after }) => after)))),
      integer(SECOND_MS),
      3,
    ),
    integer(seconds),
    'seconds',
  )

const HUNDREDTH_OF_AN_HOUR_MS = HOUR_MS / 100

/** Returns a figure of the signup that came first after its click, in hundredths of an hour that are rounded up. */
const fastest = (timed: readonly Timed[], hours: number): Figure =>
  overFigure(
    'shortest_time_after_the_click',
    quotient(
      integer(Math.ceil(Math.min(...timed.map(({ after }) => after)) / HUNDREDTH_OF_AN_HOUR_MS)),
      integer(100),
      2,
    ),
    integer(hours),
    'hours',
  )
