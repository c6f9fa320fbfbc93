import * as v from 'valibot'
import { affiliatesByLink } from '../../attribution/db/links.ts'
import { unconfiguredAmong } from '../../platform/directory/affiliates.ts'
import { list } from '../../platform/http/operation.ts'
import { invalidQuery, readDayRange } from '../../platform/http/query.ts'
import { day, daysWanted } from '../../platform/validation/answer-fields.ts'
import { component, described } from '../../platform/validation/described.ts'
import { member, nullable, optional, said } from '../../platform/validation/fields.ts'
import * as rows from '../db/attribution.ts'

interface CustomerFilter {
  readonly customer_id?: string | undefined
  readonly unattributed?: boolean | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** Returns the filter of a list of customers. Those without an affiliate are searched by signup day, which others may be. */
function filterOf(query: CustomerFilter): rows.AttributionFilter {
  const { customer_id, unattributed = false, from, to } = query
  if (!unattributed && from === undefined && to === undefined) return { customer_id }
  if (customer_id !== undefined) {
    const other = unattributed === false ? 'from' : 'unattributed'
    throw invalidQuery(`\`${other}\` and \`customer_id\` cannot be combined.`)
  }
  return { days: readDayRange({ from, to }), isUnattributed: unattributed }
}

const isText = (value: string | null | undefined): value is string => typeof value === 'string'

export const listAttributed = list({
  id: 'listAttributed',
  shows: 'affiliate',
  topic: 'affiliates',
  path: '/customers',
  params: {
    customer_id: optional(v.string(), said('Returns only this customer.', 'C-1001')),
    unattributed: optional(
      v.boolean(),
      said(
        'Returns only customers without an affiliate, in the order of their signup days. `from` and `to` are then required. These alone return all customers who signed up on these days.',
        true,
      ),
    ),
    ...daysWanted,
  },
  words: described(() => ({
    description:
      'Lists customers with the verdict on their origin and the affiliate that is paid: all of them, one, or with `unattributed` those who signed up from `from` to `to` and have no affiliate.',
    answer: component('Attributed', () => ({
      customer_id: member(v.string(), 'The id of the customer.'),
      day: member(day, 'The day of the registration.'),
      attribution: v.object({
        verdict: v.picklist([
          'attributed',
          'organic',
          'altered',
          'foreign',
          'unrecognised',
          'conflict',
        ]),
        link_id: nullable(v.string(), 'The link that the customer followed.'),
        affiliate_id: nullable(v.string(), 'The affiliate that is paid. Null if none is.'),
        affiliate_configured: member(v.boolean(), 'Whether that affiliate is configured.'),
      }),
    })),
    command: {
      name: 'customers list',
      columns: [
        'customer_id',
        'day',
        'attribution.verdict',
        'attribution.link_id',
        'attribution.affiliate_id',
        'attribution.affiliate_configured',
      ],
    },
  })),
  // The paid affiliate is looked up now, so an affiliate that is configured later also has its earlier customers.
  async list({ env, account: { id }, db }, query, page) {
    const customers = await rows.listAttributions(db, id, page, filterOf(query))
    const links = customers.data.map(({ link }) => link).filter(isText)
    const linkAffiliates =
      links.length > 0 ? await affiliatesByLink(env.DB, id, links) : new Map<string, string>()
    // Partners name the paid affiliate; for brands it is the affiliate of the link.
    const paid = customers.data.map(
      ({ affiliate_id, link }) => affiliate_id ?? linkAffiliates.get(link ?? '') ?? null,
    )
    const unconfigured = await unconfiguredAmong(db, id, paid.filter(isText))
    const data = customers.data.map(({ customer_id, day, verdict, link }, i) => {
      const affiliate_id = paid[i] ?? null
      const affiliate_configured = affiliate_id !== null && !unconfigured.has(affiliate_id)
      const attribution = { verdict, link_id: link, affiliate_id, affiliate_configured }
      return { customer_id, day, attribution }
    })
    return { ...customers, data }
  },
})
