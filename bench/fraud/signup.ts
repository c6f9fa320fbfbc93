import { DAY_MS } from '../../src/durations.ts'
import type { Seen } from '../../src/fraud/kind.ts'
import { customer } from '../../test/fraud/view.ts'
import type { Affiliate } from './affiliate.ts'
import type { Draw } from './draw.ts'
import type { Life } from './lives.ts'

/** The share of the customers who come by a link of the service. */
const BY_LINK = 0.6

/** Returns a customer who signs up on a day, with all that they do until the year ends. */
export function signUp(
  draw: Draw,
  id: string,
  affiliate: Affiliate,
  day: number,
  country_code: string,
  life: Life,
): Seen {
  const time = draw.integer(6 * 3600, 23 * 3600) * 1000
  const clicked = draw.chance(BY_LINK) ? draw.lognormal(240, 1.1) * 1000 : null
  const { facts, phases = [] } = life(draw, id, day, affiliate)
  const one = customer(id, day, {
    facts,
    time,
    clickedAt: clicked === null ? null : day * DAY_MS + time - clicked,
    affiliates: [{ from: null, value: affiliate.id }],
    fields: { country_code },
  })
  const [{ value }] = one.fields as [Seen['fields'][number]]
  return phases.length === 0
    ? one
    : {
        ...one,
        fields: [
          ...one.fields,
          ...phases.map(({ from, phase }) => ({ from, value: { ...value, phase } })),
        ],
      }
}
