import { counted, figure } from '../../commission/words/english.ts'
import { objectOf } from '../../platform/validation/shapes.ts'
import { atLeast, lessThan, percentFigure, reachesPercent } from '../figures.ts'
import { aboutAffiliate, anyCustomer, defineKind } from '../kind.ts'
import { eventNames, isPlay } from '../money-records.ts'
import { count, days, shareOfAll } from '../parameters.ts'
import { qualifyingCandidates } from '../qualifications.ts'

/** Customers who qualify, and stop after a few days. */
export const shortLife = defineKind({
  kind: 'short_life',
  name: 'Customers who stop after qualifying',
  severity: 'medium',
  verticals: ['forex', 'igaming'],
  parameters: objectOf({
    min_customers: count(10, 'Fewest customers who qualified', '', 'customers'),
    share_percent: shareOfAll('80'),
    active_days: count(3, 'Active days', 'A customer with fewer counts.', 'days'),
    days: days(30, 'Days after qualifying'),
    events: eventNames,
  }),
  words: ({ min_customers, share_percent, active_days, days: window }) => ({
    when: `${figure(share_percent)} % of at least ${counted(min_customers, 'customer')} who qualified in ${counted(window, 'day')} were active on fewer than ${active_days} of the ${counted(window, 'day')} after`,
  }),
  reach: ({ days: window }) => ({
    'trading-activity': 2 * window,
    activities: 2 * window,
    qualified: true,
  }),
  ofPlans: 'once',
  candidates: ({ days: window, active_days }, source) =>
    qualifyingCandidates(source, window, active_days),
  glance: anyCustomer,
  find(view, day, { min_customers, share_percent, active_days, days: window, events }) {
    const last = day - window
    const lives = view.customers.flatMap((customer) => {
      const qualified = customer.qualified.find((one) => one.day <= last && one.day > last - window)
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
    const [part, whole] = [short.length, lives.length]
    if (!reachesPercent(part, whole, share_percent)) return []
    const most = Math.max(...short.map(({ active }) => active))
    const figures = [
      atLeast('customers_who_qualified', whole, min_customers, 'customers'),
      percentFigure('share_who_stopped', part, whole, share_percent),
      lessThan('most_active_days', most, active_days, 'days'),
    ]
    const sentence = `${part} of ${counted(whole, 'customer')} were active on fewer than ${active_days} of the ${counted(window, 'day')} after they qualified.`
    const records = short.flatMap(({ customer, qualified }) =>
      qualified.facts.map((fact) => ({ customer, fact })),
    )
    return [aboutAffiliate(view, figures, sentence, records)]
  },
  titles: {
    most_active_days: 'Most active days of these customers',
  },
  sees: 'When customers qualified, and on which days they traded or bet in the days after.',
  cannotSee: 'Why customers stop. A poor product looks the same.',
})
