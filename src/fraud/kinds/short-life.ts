import { integer } from '../../commission/engine/decimal.ts'
import { counted, figure } from '../../commission/engine/reasons.ts'
import { objectOf } from '../../commission/plans/shapes.ts'
import { said } from '../../validation/fields.ts'
import {
  countFigure,
  partOf,
  percentFigure,
  reachesPercent,
  underFigure,
  withParts,
} from '../figures.ts'
import { defineKind, evidenceOf, qualifiedOn } from '../kind.ts'
import { EVENTS_LABEL, eventNames, eventWords, isPlay } from '../money-records.ts'
import { count, days, SHARE_LABEL, share } from '../parameters.ts'
import { qualifyingCandidates } from '../qualifications.ts'

/** Customers who qualify, and stop after a few days. */
export const shortLife = defineKind({
  kind: 'short_life',
  name: 'Customers who stop after qualifying',
  severity: 'medium',
  verticals: ['forex', 'igaming'],
  parameters: objectOf({
    min_customers: count(10, said('The fewest customers who qualified that are compared.')),
    share_percent: share(
      '80',
      said('The share of these customers, in percent, from which a case opens.'),
    ),
    active_days: count(3, said('Customers with fewer active days count.')),
    days: days(30, said('The days after qualifying.')),
    events: eventNames,
  }),
  labels: {
    min_customers: { label: 'Fewest customers who qualified', is: 'whole', unit: 'customers' },
    share_percent: SHARE_LABEL,
    active_days: {
      label: 'Active days',
      is: 'whole',
      unit: 'days',
      hint: 'A customer with fewer counts.',
    },
    days: { label: 'Days after qualifying', is: 'whole', unit: 'days' },
    events: EVENTS_LABEL,
  },
  words: ({ min_customers, share_percent, active_days, days: window, events }) => ({
    when: `${figure(share_percent)} % of at least ${counted(min_customers, 'customer')} who qualified in ${counted(window, 'day')} were active on fewer than ${active_days} of the ${counted(window, 'day')} after`,
    more: eventWords(events),
  }),
  reach: ({ days: window }) => ({
    'trading-activity': 2 * window,
    activities: 2 * window,
    qualified: true,
  }),
  ofPlans: 'once',
  candidates: ({ days: window, active_days }, source) =>
    qualifyingCandidates(source, window, active_days),
  // One customer who is found on the day is enough to look at the affiliate.
  glance: (parameters) => ({
    parameters: { ...parameters, min_customers: 1, share_percent: '0.000001' },
  }),
  find(view, day, { min_customers, share_percent, active_days, days: window, events }) {
    const last = day - window
    const lives = view.customers.flatMap((customer) => {
      const qualified = qualifiedOn(customer, day).find(
        (one) => one.day <= last && one.day > last - window,
      )
      if (!qualified) return []
      const active = customer.facts.filter(
        (fact) =>
          fact.day > qualified.day && fact.day <= qualified.day + window && isPlay(fact, events),
      )
      return [{ customer, qualified, active: new Set(active.map((fact) => fact.day)).size }]
    })
    if (lives.length < min_customers) return []
    const short = lives.filter(({ active }) => active < active_days)
    if (!short.some(({ qualified }) => qualified.day === last)) return []
    const [part, whole] = [integer(short.length), integer(lives.length)]
    if (!reachesPercent(part, whole, share_percent)) return []
    return [
      {
        subject: { affiliate_id: view.affiliate_id },
        figures: [
          countFigure('customers_who_qualified', lives.length, min_customers, 'customers'),
          withParts(percentFigure('share_who_stopped', part, whole, share_percent), [
            partOf('customers_who_stopped', part, 'customers'),
          ]),
          underFigure(
            'most_active_days',
            integer(Math.max(0, ...short.map(({ active }) => active))),
            integer(active_days),
            'days',
          ),
        ],
        sentence: `${short.length} of ${counted(lives.length, 'customer')} were active on fewer than ${active_days} of the ${counted(window, 'day')} after they qualified.`,
        evidence: evidenceOf(
          short.flatMap(({ customer, qualified }) =>
            qualified.facts.map((fact) => ({ customer, fact })),
          ),
        ),
      },
    ]
  },
  titles: {
    most_active_days: 'Most active days of these customers',
  },
  sees: 'When customers qualified, and on which days they traded or bet in the days after.',
  cannotSee: 'Why customers stop. A poor product looks the same.',
})
