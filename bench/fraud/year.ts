import type { Seen, Vertical } from '../../src/fraud/kind.ts'
import type { Affiliate, Campaign } from './affiliate.ts'
import { YEAR } from './days.ts'
import type { Draw } from './draw.ts'
import { LIVES } from './lives.ts'
import { signUp } from './signup.ts'

// An honest year. Its distributions are assumptions: none was measured on records of a firm, and other ones give
// other figures.
// - Affiliates bring 400 customers on average; in the published figures 50 bring 20,000. Their sizes are
//   lognormal (sigma 1), so that a few bring most.
// - Signups of a day: a Poisson number whose mean follows the season (summer 0.75, spring and autumn 1.15), the
//   day of the week (weekends 0.7), one or two quiet months of each affiliate (0.25), and a daily noise
//   (lognormal, sigma 0.35).
// - A fifth of the affiliates begin during the year, and reach their size within 30 days.
// - A tenth have a campaign of 4 days that brings 3 to 9 times their usual signups, two of five in a country
//   that is new to them.
// - The main country of an affiliate has 35 to 75 % of its signups.
// - 2 to 8 % of the visitors of a link sign up; visitors are no records. 60 % of the customers come by a link of the
//   service, after a lognormal time (median 4 minutes, sigma 1.1).
// - 15 to 40 % of the customers pay, by affiliate. What they do then: `lives.ts`.
// - 0.02 % of the customers register a second time with a variant of their e-mail.
// - 1 to 5 % of the payments are reversed later, by affiliate; 4 % are declined, and mostly tried again.

/** The customers of an affiliate on average, and one of how many affiliates begins late or has a campaign. */
const CUSTOMERS = 400
const LATE = 5
const CAMPAIGN = 10

const COUNTRIES = ['DE', 'FR', 'ES', 'IT', 'PL', 'AT', 'NL', 'PT', 'SE', 'CZ', 'GR', 'RO'] as const
const SEASON = [1.1, 1.05, 1.15, 1.15, 1, 0.85, 0.75, 0.8, 1.05, 1.15, 1.15, 0.95]
const RAMP_DAYS = 30
const QUIET = 0.25

/** Returns the affiliates of a year. */
export function affiliatesOf(draw: Draw, count: number): Affiliate[] {
  const sizes = Array.from({ length: count }, () => draw.lognormal(1, 1))
  const starts = sizes.map((_, i) =>
    i < count / LATE ? draw.integer(YEAR.first + 30, YEAR.last - 60) : YEAR.opened,
  )
  const total = sizes.reduce(
    (sum, size, i) => sum + size * (YEAR.last - Math.max(starts[i] ?? 0, YEAR.first) + 1),
    0,
  )
  return sizes.map((size, i) => {
    const countries = shuffled(draw, COUNTRIES).slice(0, 6)
    const firstDay = starts[i] ?? YEAR.opened
    // Season, weekends, quiet months and noise together come to 0.9.
    const perDay = (size * CUSTOMERS * count) / total / 0.9
    return {
      id: `A-${String(i + 1).padStart(2, '0')}`,
      plan: i % 2 === 0 ? 'customers' : 'share',
      firstDay,
      perDay,
      conversion: draw.between(0.15, 0.4),
      reversed: draw.between(0.01, 0.05),
      quality: draw.lognormal(1, 0.3),
      countries,
      mainShare: draw.between(0.35, 0.75),
      quiet: Array.from({ length: draw.integer(1, 2) }, () => draw.integer(0, 11)),
      campaign: i >= count - count / CAMPAIGN ? campaignOf(draw, i, countries[0] ?? 'DE') : null,
    }
  })
}

function campaignOf(draw: Draw, i: number, main: string): Campaign {
  const first = draw.integer(YEAR.first + 60, YEAR.last - 30)
  const country = i % 5 < 2 ? 'BR' : main
  return { first, last: first + 3, times: draw.between(3, 9), country }
}

function shuffled<T>(draw: Draw, values: readonly T[]): T[] {
  return values
    .map((value) => ({ value, at: draw.uniform() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value)
}

const monthOf = (day: number): number => new Date(day * 86_400_000).getUTCMonth()
const isWeekend = (day: number): boolean => [0, 6].includes(new Date(day * 86_400_000).getUTCDay())

/** Returns the mean signups of an affiliate on a day, without its campaign. */
export function usualSignups(affiliate: Affiliate, day: number): number {
  const month = monthOf(day)
  const ramp = Math.min(1, (day - affiliate.firstDay + 5) / RAMP_DAYS)
  return (
    affiliate.perDay *
    (SEASON[month] ?? 1) *
    (isWeekend(day) ? 0.7 : 1.1) *
    (affiliate.quiet.includes(month) ? QUIET : 1) *
    (affiliate.firstDay > YEAR.opened ? ramp : 1)
  )
}

/** Returns the honest customers of an affiliate. */
export function customersOf(draw: Draw, vertical: Vertical, affiliate: Affiliate): Seen[] {
  const customers: Seen[] = []
  for (let day = affiliate.firstDay; day <= YEAR.last; day++) {
    const { campaign } = affiliate
    const usual = usualSignups(affiliate, day) * draw.lognormal(1, 0.35)
    const isPeak = campaign !== null && day >= campaign.first && day <= campaign.last
    const count = draw.poisson(usual)
    const more = isPeak ? draw.poisson(usual * (campaign.times - 1)) : 0
    for (let n = 0; n < count + more; n++) {
      const own = draw.chance(affiliate.mainShare)
        ? (affiliate.countries[0] ?? 'DE')
        : draw.pick(affiliate.countries)
      const country = n >= count && campaign && draw.chance(0.7) ? campaign.country : own
      const id = `${affiliate.id}-${String(customers.length + 1).padStart(5, '0')}`
      customers.push(signUp(draw, id, affiliate, day, country, LIVES[vertical]))
    }
  }
  return customers.map((one, i) => {
    const earlier = draw.chance(0.0002) ? customers[draw.integer(0, Math.max(0, i - 1))] : undefined
    if (!earlier || earlier === one) return one
    const { customer_id, signupDay } = earlier
    return { ...one, sameEmail: [{ customer_id, signupDay }] }
  })
}
